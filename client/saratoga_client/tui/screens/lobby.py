"""The lobby's screen: it shows the public tables and passes the player's keys on as actions."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final

from rich.console import RenderableType
from textual import events, on
from textual.containers import Vertical
from textual.widget import Widget

from saratoga_client.board_view.roles import Role
from saratoga_client.session.lobby import (
    LONGEST_ENTRY,
    PROMPTS,
    Entry,
    LobbyState,
    Purpose,
    more_seats,
    next_cap,
    next_game,
    next_races,
    one_line,
    other_publicity,
)
from saratoga_client.tui.base_screen import BaseScreen, Guide
from saratoga_client.tui.line_input import LineInput
from saratoga_client.tui.pages.lobby import choices_part, leaders_part, player_part, tables_heading
from saratoga_client.tui.rich_view import Ink, RichView
from saratoga_client.tui.table_list import TableList
from saratoga_protocol.events import TableSettings
from saratoga_rules.games import GAMES

if TYPE_CHECKING:
    from saratoga_client.tui.lobby_flow import LobbyFlow

CHANGES: Final[Mapping[str, Callable[[TableSettings], TableSettings]]] = MappingProxyType(
    {
        "g": next_game,
        "c": next_cap,
        "m": next_races,
        "p": other_publicity,
        "+": partial(more_seats, by=1),
        "-": partial(more_seats, by=-1),
    }
)
"""The keys of the form of a new table, each with the change that it makes."""

HELP: Final = (
    "Up and down choose a table, enter joins it, w watches it. c creates a table, j joins one by "
    "code or URL, or paste an invitation. h runs a server here, o goes to another. n chooses a name, "
    "p practises, t changes the colours, q quits."
)

ENTRIES: Final[Mapping[str, Purpose]] = MappingProxyType(
    {"n": Purpose.NAME, "j": Purpose.TABLE, "w": Purpose.WATCH, "o": Purpose.SERVER}
)
"""Keys that ask for a line of text, each with the purpose of the line."""

NEED_SERVER: Final = frozenset({"n", "c", "w", "b", "enter"})
"""Keys that work only while the lobby is connected to a server."""


class LobbyScreen(BaseScreen):
    """The screen of the lobby: public tables, leaders, and the player's choices."""

    DEFAULT_CSS = """
    LobbyScreen #body { height: 1fr; overflow: hidden hidden; }
    LobbyScreen #player { margin: 1 0; }
    LobbyScreen #list { height: 1fr; overflow: hidden hidden; }
    LobbyScreen #choices { margin-top: 1; display: none; }
    LobbyScreen #leaders { margin-top: 1; }
    LobbyScreen.-choosing #choices { display: block; }
    LobbyScreen.-no-tables #tables { display: none; }
    LobbyScreen.-no-server #list, LobbyScreen.-no-server #leaders { display: none; }
    """
    ALWAYS: ClassVar[Guide] = (("?", "help"), ("q", "quit"))
    TICK = 0

    def __init__(
        self, actions: "LobbyFlow", lobby: LobbyState, form: TableSettings, notice: str = ""
    ) -> None:
        """Use `form` as the initial settings of a new table, and show `notice` at once."""
        super().__init__()
        self.lobby = lobby
        self._actions = actions
        self._offered = form
        self._notice = notice
        self._entry: Entry | None = None
        """The request for a line that the input field shows now."""

    def body(self) -> Iterable[Widget]:
        with Vertical(id="body"):
            yield RichView(self._draw_player, id="player")
            with Vertical(id="list"):
                yield RichView(self._draw_heading, id="heading")
                yield TableList(id="tables")
            yield RichView(self._draw_choices, id="choices")
            yield RichView(self._draw_leaders, id="leaders")
        yield LineInput(LONGEST_ENTRY, one_line)

    def _draw_player(self, ink: Ink) -> RenderableType:
        return player_part(self.lobby, ink)

    def _draw_heading(self, ink: Ink) -> RenderableType:
        return tables_heading(self.lobby, ink)

    def _draw_choices(self, ink: Ink) -> RenderableType:
        return choices_part(self.lobby, ink)

    def _draw_leaders(self, ink: Ink) -> RenderableType:
        return leaders_part(self.lobby, self.symbols, ink)

    def begin(self) -> None:
        self.say(self._notice)

    def show(self, change: Callable[[LobbyState], LobbyState]) -> None:
        """Apply a change to the lobby's state and redraw."""
        self.lobby = change(self.lobby)
        if self.can_draw and self.is_current:
            self.redraw()

    def facts(self) -> list[str]:
        return ["SARATOGA", "lobby", self.lobby.server]

    def status(self) -> list[tuple[str, Role]]:
        lobby, symbols = self.lobby, self.symbols
        if lobby.is_open:
            return [(f"{symbols.link} open", Role.MONEY_UP)]
        state = "no server" if lobby.has_tried else "..."
        return [(f"{symbols.broken_link} {state}", Role.WARNING)]

    def redraw(self) -> None:
        lobby = self.lobby
        has_server = lobby.is_open or bool(lobby.tables)
        is_choosing = lobby.form is not None or lobby.is_practice
        self.set_class(not has_server, "-no-server")
        self.set_class(is_choosing or (lobby.has_tried and not has_server), "-choosing")
        self.set_class(not lobby.tables, "-no-tables")
        for view in self.query_one("#body").query(RichView):
            view.redraw()
        self.query_one(TableList).show(lobby.tables, lobby.chosen, self.symbols)
        self._show_entry()
        super().redraw()

    def _show_entry(self) -> None:
        """Open the input field for the line that the lobby asks for, or close it."""
        entry = self.lobby.entry
        if entry is self._entry:
            return
        self._entry = entry
        field = self.query_one(LineInput)
        if entry is None:
            field.close()
        else:
            field.open(PROMPTS[entry.purpose], entry.text)
            self.say(entry.wrong, Role.WARNING)

    def guide(self) -> Guide:
        lobby = self.lobby
        if lobby.entry is not None:
            return (("enter", "done"), ("escape", "cancel"))
        if lobby.form is not None:
            return (("enter", "create it"), ("escape", "cancel"), ("g c + - p", "change it"))
        if lobby.is_practice:
            return ((f"1-{len(GAMES)}", "practise it"), ("escape", "cancel"))
        if not lobby.is_open:
            return (
                ("h", "host here"),
                ("j", "join by URL"),
                ("o", "other server"),
                ("p", "practice"),
                ("t", "colours"),
            )
        seat = (("b", f"back to {lobby.seat}"),) if lobby.seat else ()
        table = (("enter", "join"), ("w", "watch")) if lobby.tables else ()
        return (
            *seat,
            *table,
            ("c", "create"),
            ("j", "join by code"),
            ("n", "name"),
            ("p", "practice"),
            ("o", "other server"),
            ("h", "host here"),
            ("t", "colours"),
        )

    def always(self) -> Guide:
        # every other key is part of the typed line
        return self.ALWAYS if self.lobby.entry is None else ()

    # Keys

    def takes_key(self, key: str) -> bool:
        # every other key is part of the typed line
        return self.lobby.entry is None or key == "escape"

    def type_key(self, event: events.Key) -> None:
        self.query_one(LineInput).type_key(event)

    def on_paste(self, event: events.Paste) -> None:
        """Treat pasted text as an invitation, unless the player is typing a line."""
        event.stop()
        entry = Entry(Purpose.TABLE, one_line(event.text))
        self.lobby = replace(self.lobby, entry=entry, form=None)
        self.redraw()

    @on(LineInput.Entered)
    def _entered(self, event: LineInput.Entered) -> None:
        entry, text = self.lobby.entry, event.text.strip()
        self.lobby = replace(self.lobby, entry=None)
        self.say("")
        self.redraw()
        if entry is not None and text:
            action = {
                Purpose.NAME: self._actions.take_name,
                Purpose.TABLE: self._actions.join,
                Purpose.WATCH: self._actions.watch,
                Purpose.SERVER: self._actions.go_to_server,
            }[entry.purpose]
            action(text)

    @on(TableList.RowClicked)
    def _clicked(self, event: TableList.RowClicked) -> None:
        for table in self.lobby.tables[event.row : event.row + 1]:
            self.lobby = replace(self.lobby, chosen=table.code)
        self.redraw()

    def press(self, key: str) -> None:
        if self.lobby.entry is not None:
            self.lobby = replace(self.lobby, entry=None)
            self.say("Cancelled.")
        elif self.lobby.form is not None:
            self._press_in_form(self.lobby.form, key)
        elif self.lobby.is_practice:
            self._press_in_practice(key)
        else:
            self._press(key)

    def _press(self, key: str) -> None:
        lobby = self.lobby
        if key in NEED_SERVER and not lobby.is_open:
            self.say("No server answers. h runs one here, o goes to another.", Role.WARNING)
        elif key in ("enter", "w") and lobby.chosen:
            (self._actions.join if key == "enter" else self._actions.watch)(lobby.chosen)
        elif key in ENTRIES:
            self.lobby = replace(lobby, entry=Entry(ENTRIES[key]))
        elif key in ("c", "h"):
            is_local = key == "h"
            self.lobby = replace(lobby, form=self._offered, is_local=is_local, runs_here=None)
            self.say("")
            if is_local:
                self._actions.look_here()
        else:
            self._press_any_time(key)

    def _press_any_time(self, key: str) -> None:
        lobby = self.lobby
        match key:
            case "up" | "down":
                self.lobby = lobby.with_next_table(-1 if key == "up" else 1)
            case "enter":
                self.say("There is no public table: c creates one, j joins by a code.")
            case "b" if lobby.seat:
                self._actions.join(lobby.seat)
            case "p":
                self.lobby = replace(lobby, is_practice=True)
                self.say("Which game? Practice is offline, has undo and hints, and never counts.")
            case "q":
                self._actions.quit()
            case "?":
                self.say(HELP)
            case _:
                super().press(key)

    def _press_in_form(self, form: TableSettings, key: str) -> None:
        changed = CHANGES.get(key)
        match key:
            case "enter":
                self.lobby = replace(self.lobby, form=None)
                action = (
                    self._actions.host_here if self.lobby.is_local else self._actions.open_table
                )
                action(form)
            case "escape" | "q":
                self.lobby = replace(self.lobby, form=None)
                self.say("Cancelled.")
            case _ if changed is not None:
                self.lobby = replace(self.lobby, form=changed(form))
            case _:
                super().press(key)

    def _press_in_practice(self, key: str) -> None:
        self.lobby = replace(self.lobby, is_practice=False)
        games = list(GAMES)
        if key.isdecimal() and 1 <= int(key) <= len(games):
            self.say("")
            self._actions.practise(games[int(key) - 1])
        else:
            self.say("Cancelled.")
