"""The lobby's screen: keys become wishes, and the visit carries them out."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import ClassVar, Final

from textual import events
from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.session.join import TableWanted
from saratoga_client.session.lobby import (
    Entry,
    LobbyState,
    Purpose,
    more_seats,
    next_cap,
    next_game,
    other_publicity,
)
from saratoga_client.tui.base_screen import BaseScreen
from saratoga_client.tui.canvas_view import CanvasView
from saratoga_client.tui.keys import key_of
from saratoga_client.tui.lines import Guide, title_line
from saratoga_client.tui.pages.lobby import lobby_page
from saratoga_client.tui.ports import LobbyActions
from saratoga_rules.games import GAMES

CURSOR: Final = "_"

CHANGES: Final[Mapping[str, Callable[[TableWanted], TableWanted]]] = MappingProxyType(
    {
        "g": next_game,
        "c": next_cap,
        "p": other_publicity,
        "+": partial(more_seats, by=1),
        "-": partial(more_seats, by=-1),
    }
)
"""What keys change at a table that is about to be opened."""

HELP: Final = (
    "Up and down choose a table, enter sits down, w watches it. c creates one, j joins by code or "
    "URL, as does pasting an invitation. h opens a house here, o goes to another. n takes a name, "
    "p practises, t changes the colours, q quits."
)

ENTRIES: Final[Mapping[str, Purpose]] = MappingProxyType(
    {"n": Purpose.NAME, "j": Purpose.TABLE, "w": Purpose.WATCH, "o": Purpose.HOUSE}
)
"""Keys that ask for a line."""

NEED_HOUSE: Final = frozenset({"n", "c", "w", "b", "enter"})
"""Keys of what only a house can do."""


class LobbyScreen(BaseScreen):
    """Shows the lobby as it is, and hears keys, clicks and pasted invitations."""

    DEFAULT_CSS = "LobbyScreen #page { height: 1fr; }"
    ALWAYS: ClassVar[Guide] = (("?", "help"), ("q", "quit"))
    TICK = 0

    def __init__(
        self, actions: LobbyActions, lobby: LobbyState, form: TableWanted, notice: str = ""
    ) -> None:
        """`form` is the table that is offered first; `notice` is said at once."""
        super().__init__()
        self.lobby = lobby
        self._actions = actions
        self._offered = form
        self._notice = notice

    def body(self) -> Iterable[Widget]:
        yield CanvasView(self._draw, id="page")

    def begin(self) -> None:
        self.say(self._notice)

    def show(self, change: Callable[[LobbyState], LobbyState]) -> None:
        """The lobby has changed."""
        self.lobby = change(self.lobby)
        if self.is_mounted and self.is_current:
            self.redraw()

    def draw_title(self, width: int, height: int) -> Canvas:
        lobby, marks = self.lobby, self.signs
        if lobby.is_open:
            state = (f"{marks.link} open", Role.MONEY_UP)
        else:
            state = (f"{marks.broken_link} {'no house' if lobby.is_met else '...'}", Role.WARNING)
        return title_line(["SARATOGA", "lobby", lobby.server], [state], width)

    def _draw(self, width: int, height: int) -> Canvas:
        return lobby_page(self.lobby, self.signs, width, height)

    def redraw(self) -> None:
        super().redraw()
        self.query_one("#page", CanvasView).redraw()
        entry = self.lobby.entry
        if entry is not None:
            self.say(f"{entry.prompt}: {entry.text}{CURSOR}")

    def guide(self) -> Guide:
        lobby = self.lobby
        if lobby.entry is not None:
            return (("enter", "take it"), ("escape", "never mind"))
        if lobby.form is not None:
            return (("enter", "open it"), ("escape", "never mind"), ("g c + - p", "change it"))
        if lobby.is_practice:
            return (("1-5", "practise it"), ("escape", "never mind"))
        if not lobby.is_open:
            return (
                ("h", "host here"),
                ("j", "join by URL"),
                ("o", "other house"),
                ("p", "practice"),
                ("t", "colours"),
            )
        seat = (("b", "back to your seat"),) if lobby.seat else ()
        table = (("enter", "join"), ("w", "watch")) if lobby.tables else ()
        return (
            *seat,
            *table,
            ("c", "create"),
            ("j", "join by code"),
            ("n", "name"),
            ("p", "practice"),
            ("o", "other house"),
            ("h", "host here"),
            ("t", "colours"),
        )

    def always(self) -> Guide:
        # every other key is part of what is typed
        return self.ALWAYS if self.lobby.entry is None else ()

    # Keys

    def on_key(self, event: events.Key) -> None:
        entry = self.lobby.entry
        if entry is None:
            super().on_key(event)
            return
        event.stop()
        event.prevent_default()
        sign = event.character
        # a capital is a letter here, and not what a key is called
        self._type(entry, sign if sign is not None and sign.isprintable() else key_of(event))

    def on_paste(self, event: events.Paste) -> None:
        """An invitation pasted anywhere is one; in a line that is being typed it is part of that."""
        event.stop()
        entry = self.lobby.entry or Entry(Purpose.TABLE)
        self.lobby = replace(self.lobby, entry=entry.pasted(event.text), form=None)
        self.redraw()

    def _type(self, entry: Entry, key: str) -> None:
        if key not in ("enter", "escape"):
            self.lobby = replace(self.lobby, entry=entry.typed(key))
            self.redraw()
            return
        self.lobby = replace(self.lobby, entry=None)
        self.say("" if key == "enter" else "Nothing was done.")
        if key == "enter" and entry.text.strip():
            take = {
                Purpose.NAME: self._actions.take_name,
                Purpose.TABLE: self._actions.join,
                Purpose.WATCH: self._actions.watch,
                Purpose.HOUSE: self._actions.go_to_server,
            }[entry.purpose]
            take(entry.text.strip())
        self.redraw()

    def press(self, key: str) -> None:
        if self.lobby.form is not None:
            self._press_in_form(self.lobby.form, key)
        elif self.lobby.is_practice:
            self._press_in_practice(key)
        else:
            self._press(key)

    def _press(self, key: str) -> None:
        lobby = self.lobby
        if key in NEED_HOUSE and not lobby.is_open:
            self.say("No house answers. h opens one here, o goes to another.", Role.WARNING)
        elif key in ("enter", "w") and lobby.chosen:
            (self._actions.join if key == "enter" else self._actions.watch)(lobby.chosen)
        elif key in ENTRIES:
            self.lobby = replace(lobby, entry=Entry(ENTRIES[key]))
        elif key in ("c", "h"):
            self.lobby = replace(lobby, form=self._offered, is_here=key == "h")
            self.say("")
        else:
            self._press_any_time(key)

    def _press_any_time(self, key: str) -> None:
        lobby = self.lobby
        match key:
            case "up" | "down":
                self.lobby = lobby.with_next_table(-1 if key == "up" else 1)
            case "enter":
                self.say("No public table is open: c opens one, j joins by a code.")
            case "b" if lobby.seat:
                self._actions.join(lobby.seat)
            case "p":
                self.lobby = replace(lobby, is_practice=True)
                self.say("Which game? It is offline, with undo and hints, and counts for nothing.")
            case "q":
                self._actions.quit()
            case "?":
                self.say(HELP)
            case _:
                super().press(key)

    def _press_in_form(self, form: TableWanted, key: str) -> None:
        changed = CHANGES.get(key)
        match key:
            case "enter":
                self.lobby = replace(self.lobby, form=None)
                wish = self._actions.host_here if self.lobby.is_here else self._actions.open_table
                wish(form)
            case "escape" | "q":
                self.lobby = replace(self.lobby, form=None)
                self.say("Nothing was done.")
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
            self.say("Nothing was done.")
