"""The lobby's screen: public tables, today's leaders, and what the player may do next.

The screen shows its attributes, which the lobby's flow changes, and passes the player's choices on to the flow.
Texts from a server are kept as they were sent; `Ink` sanitises them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace
from rich.console import Group, RenderableType
from rich.text import Text
from textual import events, on
from textual.containers import Vertical
from textual.widget import Widget

from saratoga_client.board_view.roles import Role, money_role
from saratoga_client.text import fitted
from saratoga_client.tui.base_screen import BaseScreen, Key, Keys
from saratoga_client.tui.line_input import LineInput
from saratoga_client.tui.rich_view import Ink, RichView, ScrollPage
from saratoga_client.tui.screens.gathering import SETTING_KEYS, changed_setting
from saratoga_client.wording import cap_words, counted, dollars, game_title, match_words, rivals
from saratoga_protocol.events import LeaderboardRow, TableSettings, TableSummary
from saratoga_rules.games import GAMES

if TYPE_CHECKING:
    from saratoga_client.tui.lobby_flow import LobbyFlow

LONGEST_ENTRY: Final = 300
"""Maximum characters of a typed or pasted line; an invitation is shorter."""


class Purpose(Enum):
    """The purpose of a line that the player types, with its prompt."""

    NAME = "Your name"
    TABLE = "Code or URL of the table"
    WATCH = "Code or URL of the table to watch"
    SERVER = "Address of the server"


@dataclass(frozen=True, slots=True)
class Entry:
    """A request for a line of text from the player."""

    purpose: Purpose
    text: str = ""
    """The initial text of the field, such as a refused name."""
    wrong: str = ""
    """The reason why the previous text was not accepted; empty the first time."""


def one_line(text: str) -> str:
    r"""Return a pasted text as one line without control characters, at most `LONGEST_ENTRY` long.

    >>> one_line("race me:\n\x1b saratoga join mint-otter-42\n")
    'race me:  saratoga join mint-otter-42 '
    """
    line = "".join(sign for sign in " ".join(text.split("\n")) if sign.isprintable())
    return line[:LONGEST_ENTRY]


WITHOUT_SERVER: Final = (
    ("h", "host: run a server on this machine, for yourself and your friends"),
    ("j", "join a friend: paste the line that they sent you"),
    ("o", "go to another server by its address"),
    ("p", "practise by yourself, offline"),
)
"""The choices while no server answers."""

OPENS_HERE: Final = {
    None: "Looking for a server on this machine ...",
    True: "Enter opens the table on the server that runs on this machine.",
    False: "Enter starts a server on this machine, which runs until you leave.",
}
"""What Enter does, by whether a server runs on this machine."""

ASKS_FIRST: Final = "If you have a seat at a table there, or friends wait at your last one, it asks whether to return."

NO_SERVER: Final = "No server answers. h runs one here, o goes to another."

COLUMNS: Final = (1, 18, 20, 7, 9, 5)
"""Widths in cells of the list's columns: mark, code, game, time limit, phase, seats. The host has the rest."""

NAME: Final = 21
"""Width in cells of a leader's name."""


class LobbyScreen(BaseScreen):
    """The screen of the lobby of one server; call `show` after a change of its attributes."""

    DEFAULT_CSS = """
    LobbyScreen #body { height: 1fr; overflow: hidden hidden; }
    LobbyScreen #player { margin: 1 0; }
    LobbyScreen #list { height: 1fr; overflow: hidden hidden; }
    LobbyScreen #choices { margin-top: 1; display: none; }
    LobbyScreen #leaders { margin-top: 1; }
    LobbyScreen.-choosing #choices { display: block; }
    LobbyScreen.-no-server #list, LobbyScreen.-no-server #leaders { display: none; }
    """
    LEAVE = ("quit", "quit")
    HEADING = "KEYS IN THE LOBBY"
    TICK = 0

    def __init__(
        self, actions: "LobbyFlow", server: str, offered: TableSettings, notice: str = ""
    ) -> None:
        """Use `offered` as the initial settings of a new table, and show `notice` at once."""
        super().__init__()
        self._actions = actions
        self._offered = offered
        self._notice = notice
        self.server = server
        self.is_open = False
        """True while connected to the server."""
        self.has_tried = False
        """True after the first attempt to connect, successful or not."""
        self.wrong = ""
        """The reason why no server answers; empty without a failure."""
        self.player_name = ""
        """The player's name at this server; empty for none."""
        self.seat = ""
        """The code of the table where the player still has a seat, or of the last one if it is open."""
        self.is_seated = False
        """True if the player has a seat at the table `seat`."""
        self.tables: list[TableSummary] | None = None
        """The public tables; `None` until the server has sent them."""
        self.chosen = ""
        """The code of the selected table, which the key `enter` joins."""
        self.leaders: dict[str, LeaderboardRow | None] = {}
        """Today's leader of each game; `None` if there is none."""
        self.entry: Entry | None = None
        """The line that the player is asked for."""
        self._shown_entry: Entry | None = None
        self._form: TableSettings | None = None
        """The settings of the new table that the player prepares; `None` without one."""
        self._is_practice = False
        """True while the player chooses a game for practice."""
        self._is_local = False
        """True if the new table will be on a server on this machine."""
        self.runs_here: bool | None = None
        """Whether a server runs on this machine; `None` until the lobby knows it."""

    def body(self) -> Iterable[Widget]:
        with Vertical(id="body"):
            yield RichView(self._draw_player, id="player")
            with Vertical(id="list"):
                yield RichView(self._draw_heading)
                with ScrollPage():
                    yield RichView(self._draw_tables, id="tables")
            yield RichView(self._draw_choices, id="choices")
            yield RichView(self._draw_leaders, id="leaders")
        yield LineInput(LONGEST_ENTRY, one_line)

    def begin(self) -> None:
        self.say(self._notice)

    def show(self) -> None:
        """Show changed attributes."""
        codes = [table.code for table in self.tables or ()]
        if self.chosen not in codes:
            self.chosen = codes[0] if codes else ""
        if self.can_draw and self.is_current:
            self.redraw()

    def rest(self, notice: str) -> None:
        """Close every form and question after another screen was shown, and say a notice."""
        self.entry = self._form = None
        self._is_practice = False
        self.drop_question()
        self.say(notice)
        self.show()

    def redraw(self) -> None:
        has_server = self.is_open or bool(self.tables)
        is_choosing = self._form is not None or self._is_practice
        self.set_class(not has_server, "-no-server")
        self.set_class(is_choosing or (self.has_tried and not has_server), "-choosing")
        for row, table in enumerate(self.tables or ()):
            if table.code == self.chosen:
                page, tables = self.query_one(ScrollPage), self.query_one("#tables")
                # the height of the list is known only after the layout
                self.call_after_refresh(page.show_line, tables, row)
        self._show_entry()
        super().redraw()

    def _show_entry(self) -> None:
        """Open the input field for the line that the player is asked for, or close it."""
        if self.entry is self._shown_entry:
            return
        self._shown_entry = self.entry
        field = self.query_one(LineInput)
        if self.entry is None:
            field.close()
        else:
            field.open(self.entry.purpose.value, self.entry.text)
            self.say(self.entry.wrong, Role.WARNING)

    # Drawing

    def facts(self) -> list[str]:
        return ["SARATOGA", "lobby", self.server]

    def status(self) -> list[tuple[str, Role]]:
        if self.is_open:
            return [(f"{self.symbols.link} open", Role.MONEY_UP)]
        state = "no server" if self.has_tried else "..."
        return [(f"{self.symbols.away} {state}", Role.WARNING)]

    def _draw_player(self, ink: Ink) -> RenderableType:
        if not self.has_tried:
            return ink.text(" Connecting to the server ...", Role.DIM)
        if not self.is_open:
            return ink.text(" The server does not answer.", Role.WARNING)
        if not self.player_name:
            return ink.text(" You have no name on this server yet; n chooses one.")
        line = ink.line((" You are ", Role.TEXT), (self.player_name, Role.YOU))
        if self.seat:
            before, after = (
                (", and you have a seat at ", "; b goes back")
                if self.is_seated
                else ("; your last table: ", ", b goes back")
            )
            line += ink.line((before, Role.TEXT), (self.seat, Role.YOU), (after, Role.TEXT))
        return line

    def _draw_heading(self, ink: Ink) -> RenderableType:
        heading = ink.text(" PUBLIC TABLES", Role.LABEL)
        if self.tables:
            return heading + ink.text(f"  {len(self.tables)}", Role.DIM)
        if self.tables is None:
            return Group(heading, ink.text("  loading ...", Role.DIM))
        none = ink.text("  none now: c creates one, j joins a private one by its code", Role.DIM)
        return Group(heading, none)

    def _draw_tables(self, ink: Ink) -> RenderableType:
        return Group(*(self._row(table, ink) for table in self.tables or ()))

    def _row(self, table: TableSummary, ink: Ink) -> Text:
        is_chosen, dots = table.code == self.chosen, self.symbols.dots
        line = Text(no_wrap=True, overflow="crop")
        cells = (
            (self.symbols.mark if is_chosen else "", Role.YOU),
            (table.code, Role.YOU if is_chosen else Role.TEXT),
            (game_title(table.game), Role.TEXT),
            (f"{table.cap} min" if table.cap else "untimed", Role.DIM),
            (table.phase, Role.DIM),
            (f"{table.seated}/{table.seats}", Role.COUNT),
        )
        for (text, role), width in zip(cells, COLUMNS, strict=True):
            cell = ink.text(fitted(text, width, dots), role)
            cell.pad_right(width + 1 - cell.cell_len)
            line += cell
        room = max(1, self.size.width - sum(COLUMNS) - len(COLUMNS) - 1)
        return line + ink.text(fitted(table.host, room, dots), Role.DIM)

    def _draw_choices(self, ink: Ink) -> RenderableType:
        """Draw the form of a new table, the games, or the keys that need no server."""
        if self._form is not None:
            return Group(*self._draw_form(self._form, ink))
        if self._is_practice:
            games = tuple((str(number), game_title(game)) for number, game in enumerate(GAMES, 1))
            return _choices("PRACTICE", games, ink)
        if self.is_open or self.tables or not self.has_tried:
            return ""
        return Group(ink.indented(self.wrong), "", _choices("WHAT YOU CAN DO", WITHOUT_SERVER, ink))

    def _draw_form(self, form: TableSettings, ink: Ink) -> Iterator[RenderableType]:
        is_local, private = self._is_local, "private: friends need the code"
        yield _choices(
            "A NEW TABLE ON A SERVER ON THIS MACHINE" if is_local else "A NEW TABLE",
            (
                ("g", game_title(form.game)),
                ("c", cap_words(form.cap)),
                ("+-", counted(form.seats, "seat")),
                ("m", match_words(form.races)),
                ("p", "public: in the list of every lobby" if form.public else private),
            ),
            ink,
        )
        if is_local:
            yield ""
            yield ink.indented(OPENS_HERE[self.runs_here], Role.DIM)
            yield ink.indented(ASKS_FIRST, Role.DIM)

    def _draw_leaders(self, ink: Ink) -> RenderableType:
        grid = ink.grid(2, 22, NAME + 1, 10, 7, 1, 15, right={4})
        for game in GAMES:
            leader = self.leaders.get(game)
            if leader is None:
                absent = "none yet" if game in self.leaders else ""
                grid.add_row("", ink.text(game_title(game)), ink.text(absent, Role.DIM))
                continue
            grid.add_row(
                "",
                ink.text(game_title(game)),
                ink.text(fitted(leader.name, NAME, self.symbols.dots), Role.LEADER),
                ink.text(f"{leader.value} banked", Role.COUNT),
                ink.text(dollars(leader.net), money_role(leader.net)),
                "",
                ink.text(f"vs {rivals(leader.rivals)}", Role.DIM),
            )
        return Group(ink.text(" TODAY'S LEADERS", Role.LABEL), grid)

    def keys(self) -> Keys:
        if self.entry is not None:
            # every other key is part of the typed line
            done = Key("enter", "done", "", self._cancel)
            return (done, Key("escape", "cancel", "", self._cancel))
        if self._form is not None:
            return self._form_keys(self._form)
        if self._is_practice:
            return self._practice_keys()
        served = partial(Key, when=self.is_open, why=NO_SERVER)
        table = bool(self.tables)
        back = "go back to the table where you have a seat, or to your last one"
        return (
            served("b", f"back to {self.seat}" if self.seat else "", back, self._go_back),
            served("enter", "join" if table else "", "join the chosen table", self._join_chosen),
            served("w", "watch" if table else "", "watch the chosen table", self._watch_chosen),
            served("c", "create", "create a table", partial(self._open_form, is_local=False)),
            Key("h", "host here", "run a server here", partial(self._open_form, is_local=True)),
            Key("j", "join by code", "join a table by its code or URL", self._asks(Purpose.TABLE)),
            Key("o", "other server", "go to another server", self._asks(Purpose.SERVER)),
            served("n", "name", "choose a name", self._asks(Purpose.NAME)),
            Key("p", "practice", "practise by yourself, offline", self._open_practice),
            Key("up", "", "choose a table", partial(self._choose, -1), shown="up  down"),
            Key("down", "", "", partial(self._choose, 1)),
            *super().keys(),
        )

    def _form_keys(self, form: TableSettings) -> Keys:
        changes = (Key(key, "", "", partial(self._change_form, form, key)) for key in SETTING_KEYS)
        return (
            Key("enter", "create it", "create the table", partial(self._create, form)),
            Key("escape q", "cancel", "", self._cancel),
            *changes,
        )

    def _practice_keys(self) -> Keys:
        games = enumerate(GAMES, 1)
        return (
            Key(f"1-{len(GAMES)}", "practise it", "", self._cancel),
            *(Key(str(place), "", "", partial(self._practise, game)) for place, game in games),
            Key("escape", "cancel", "", self._cancel),
        )

    # Keys

    def takes_key(self, key: str) -> bool:
        # every other key is part of the typed line
        return self.entry is None or key == "escape"

    def type_key(self, event: events.Key) -> None:
        self.query_one(LineInput).type_key(event)

    def on_paste(self, event: events.Paste) -> None:
        """Treat pasted text as an invitation, unless the player is typing a line."""
        event.stop()
        self.entry, self._form = Entry(Purpose.TABLE, one_line(event.text)), None
        self.redraw()

    @on(LineInput.Entered)
    def _entered(self, event: LineInput.Entered) -> None:
        entry, text = self.entry, event.text.strip()
        self.entry = None
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

    @on(events.Click, "#tables")
    def _clicked(self, event: events.Click) -> None:
        for table in (self.tables or [])[event.y : event.y + 1]:
            self.chosen = table.code
        self.redraw()

    def press_in_body(self, key: str) -> None:
        if self._is_practice:
            self._cancel()
        else:
            super().press_in_body(key)

    def _cancel(self) -> None:
        self.entry = self._form = None
        self._is_practice = False
        self.say("Cancelled.")

    def _asks(self, purpose: Purpose) -> Callable[[], None]:
        def ask() -> None:
            self.entry = Entry(purpose)

        return ask

    def _choose(self, step: int) -> None:
        codes = [table.code for table in self.tables or ()]
        if codes:
            self.chosen = codes[(codes.index(self.chosen) + step) % len(codes)]

    def _go_back(self) -> None:
        if self.seat:
            self._actions.join(self.seat)
        else:
            self.say("You have no seat at a table, and your last table is not open.")

    def _join_chosen(self) -> None:
        if self.chosen:
            self._actions.join(self.chosen)
        else:
            self.say("There is no public table: c creates one, j joins by a code.")

    def _watch_chosen(self) -> None:
        if self.chosen:
            self._actions.watch(self.chosen)
        else:
            self.entry = Entry(Purpose.WATCH)

    def _open_form(self, *, is_local: bool) -> None:
        self._form, self._is_local, self.runs_here = self._offered, is_local, None
        self.say("")
        if is_local:
            self._actions.look_here()

    def _change_form(self, form: TableSettings, key: str) -> None:
        change = changed_setting(form, key)
        if key == "p" and not form.cap:
            # a public table has a time limit
            change["cap"] = 10
        self._form = replace(form, **change)

    def _create(self, form: TableSettings) -> None:
        self._form = None
        (self._actions.host_here if self._is_local else self._actions.open_table)(form)

    def _open_practice(self) -> None:
        self._is_practice = True
        self.say("Which game? Practice is offline, has undo and hints, and never counts.")

    def _practise(self, game: str) -> None:
        self._is_practice = False
        self.say("")
        self._actions.practise(game)

    def leave(self) -> None:
        self._actions.quit()


def _choices(heading: str, choices: tuple[tuple[str, str], ...], ink: Ink) -> RenderableType:
    grid = ink.grid(2, 4, None)
    for key, text in choices:
        grid.add_row("", ink.text(key, Role.KEY), ink.text(text))
    return Group(ink.text(f" {heading}", Role.LABEL), grid)
