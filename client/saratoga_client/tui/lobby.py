"""The lobby of one server: public tables, today's leaders, and what the player may do next.

The lobby and the tables opened from it share one connection. The lobby's screen stays open below them.
Texts from a server are kept as they were sent; `Ink` sanitises them.
"""

import asyncio
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec import structs
from rich.console import Group, RenderableType
from textual import events as textual_events
from textual import on
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import Worker, WorkerError

from saratoga_client.board_view.roles import Role, money_role
from saratoga_client.local.hosting import local_server
from saratoga_client.local.origins import bad_address
from saratoga_client.local.settings import Settings, last_choices, remember, remember_server
from saratoga_client.net.connection import Connection, LinkState
from saratoga_client.net.errors import ClientClosed, CommandRefused, RequestTimedOut
from saratoga_client.practice.deals import drawn_seed, from_seed
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.error_messages import CONNECTION_ERRORS, problem_for
from saratoga_client.session.invitation import Destination, destination, inviter_for
from saratoga_client.session.join import (
    NAME_REFUSALS,
    claim_name,
    give_up,
    is_racing_at,
    is_seated_at,
    kept_table,
    kept_table_text,
    look_at,
    stop_watching,
    take_seat,
    way_back,
)
from saratoga_client.session.open_connection import open_connection
from saratoga_client.session.state import MOST_SEATS
from saratoga_client.session.table_session import TableSession
from saratoga_client.text import fitted
from saratoga_client.tui.app import Flow, SaratogaApp, practice_flow, table_flow
from saratoga_client.tui.base_screen import BaseScreen, Key, Keys
from saratoga_client.tui.line_input import LineInput, one_line
from saratoga_client.tui.rich_view import Ink, RichView, ScrollPage
from saratoga_client.tui.screens.gathering import changed_setting
from saratoga_client.wording import cap_words, counted, dollars, game_title, match_words, rivals
from saratoga_protocol import events
from saratoga_protocol.commands import GetLeaderboard
from saratoga_protocol.events import LeaderboardRow, TableSettings, TableSummary
from saratoga_rules.games import GAMES

if TYPE_CHECKING:
    from saratoga_client.cli.host import OwnServer

LEADERS_EVERY: Final = 20.0
"""The interval between requests for the leaders, in seconds."""
RETRY_EVERY: Final = 3.0
"""The interval between attempts to reach a server that does not answer, in seconds."""

CORRECTABLE: Final = NAME_REFUSALS | {"no_such_table"}
"""Codes of refusals after which the player may correct the typed line."""


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


@dataclass(frozen=True, slots=True)
class Leaving:
    """The reason for leaving the lobby of one server: another server, one on this machine, or the end of the program."""

    server: str = ""
    """The address of another server."""
    here: TableSettings | None = None
    """The new table at a server on this machine."""
    first: "Entry | TableSettings | None" = None
    """The table at the other server to join, watch or create."""


NO_SERVER: Final = "No server answers. h runs one here, o goes to another."

COLUMNS: Final = (2, 19, 21, 8, 10, 6)
"""Widths in cells of the list's columns: mark, code, game, time limit, phase, seats. The host has the rest."""

NAME: Final = 21
"""Width in cells of a leader's name."""


class LobbyScreen(BaseScreen):
    """The screen of the lobby of one server; call `show` after a change of its attributes.

    If the server is the one given as `hosting`, it closes when the player leaves
    the lobby, so the player is asked first if other people are at the table there. `friends` is its address for friends.
    """

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
        self,
        settings: Settings,
        notice: str = "",
        first: Entry | TableSettings | None = None,
        hosting: "OwnServer | None" = None,
        friends: str = "",
    ) -> None:
        """Show `notice` at once, and go to the table `first` as soon as the server answers."""
        super().__init__()
        self._settings = settings
        self._notice = notice
        self._first = first
        self._hosting = hosting
        self._friends = friends
        self._open: Connection | None = None
        """The open connection; `None` while no server answers."""
        self._entering: Worker[None] | None = None
        """The last command that goes to a table."""
        self._left: asyncio.Future[Leaving] = asyncio.get_running_loop().create_future()
        self._is_shown, self._is_hidden = asyncio.Event(), asyncio.Event()
        """One of them is set: the list of tables is followed only while no other screen covers the lobby."""
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
        self._entry: Entry | None = None
        """The line that the player is typing."""
        self._form: TableSettings | None = None
        """The settings of the new table that the player prepares; `None` without one."""
        self._is_local = False
        """True if the new table will be on a server on this machine."""
        self._is_practice = False
        """True while the player chooses a game for practice."""

    def body(self) -> Iterable[Widget]:
        with Vertical(id="body"):
            yield RichView(self._draw_player, id="player")
            with Vertical(id="list"):
                yield RichView(self._draw_heading)
                with ScrollPage():
                    yield RichView(self._draw_tables, id="tables")
            yield RichView(self._draw_choices, id="choices")
            yield RichView(self._draw_leaders, id="leaders")
        yield LineInput()

    def begin(self) -> None:
        self.say(self._notice)

    def show(self) -> None:
        """Show changed attributes."""
        codes = [table.code for table in self.tables or ()]
        if self.chosen not in codes:
            self.chosen = codes[0] if codes else ""
        if self.can_draw and self.is_current:
            self.redraw()

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
        super().redraw()

    # Drawing

    def facts(self) -> list[str]:
        return ["SARATOGA", "lobby", self._settings.server_url]

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
        dots, widths = self.symbols.dots, (*COLUMNS, max(1, self.size.width - sum(COLUMNS)))
        grid = ink.grid(*widths)
        for table in self.tables or ():
            is_chosen = table.code == self.chosen
            cells = (
                (self.symbols.mark if is_chosen else "", Role.YOU),
                (table.code, Role.YOU if is_chosen else Role.TEXT),
                (game_title(table.game), Role.TEXT),
                (f"{table.cap} min" if table.cap else "untimed", Role.DIM),
                (table.phase, Role.DIM),
                (f"{table.seated}/{table.seats}", Role.COUNT),
                (table.host, Role.DIM),
            )
            shown = zip(cells, widths, strict=True)
            grid.add_row(
                *(ink.text(fitted(text, width - 1, dots), role) for (text, role), width in shown)
            )
        return grid

    def _draw_choices(self, ink: Ink) -> RenderableType:
        """Draw the keys of a new table's form, of practice, or without a server."""
        above: list[RenderableType] = []
        if self._form is not None:
            where = " ON A SERVER ON THIS MACHINE" if self._is_local else ""
            heading, keys = f"A NEW TABLE{where}", self._form_keys(self._form)
        elif self._is_practice:
            heading, keys = "PRACTICE", self._practice_keys()
        elif self.is_open or self.tables or not self.has_tried:
            return ""
        else:
            heading, keys = "WHAT YOU CAN DO", self._usual_keys()
            above = [ink.indented(self.wrong), ""]
        grid = ink.grid(2, 6, None)
        for each in keys:
            if each.help and each.when:
                grid.add_row("", ink.text(each.shown or each.names, Role.KEY), ink.text(each.help))
        return Group(*above, ink.text(f" {heading}", Role.LABEL), grid)

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
        if self._entry is not None:
            # every other key is part of the typed line
            done = Key("enter", "done", "", self._cancel)
            return (done, Key("escape", "cancel", "", self._cancel))
        if self._form is not None:
            return self._form_keys(self._form)
        if self._is_practice:
            return self._practice_keys()
        return self._usual_keys()

    def _usual_keys(self) -> Keys:
        served = partial(Key, when=self.is_open, why=NO_SERVER)
        back = "go back to the table where you have a seat, or to your last one"
        hosts = "run a server on this machine, for yourself and your friends"
        here, table = (
            partial(self._open_form, is_local=True),
            partial(self._open_form, is_local=False),
        )
        asks = {purpose: partial(self._ask, Entry(purpose)) for purpose in Purpose}
        seat, chosen, up = self.seat, self.chosen, partial(self._choose, -1)
        join = partial(self.join, chosen) if chosen else asks[Purpose.TABLE]
        watch = partial(self.watch_table, chosen) if chosen else asks[Purpose.WATCH]
        go_back = partial(self.join, seat) if seat else asks[Purpose.TABLE]
        return (
            served("b", f"back to {seat}" if seat else "", back, go_back),
            served("enter", "join" if chosen else "", "join the chosen table", join),
            served("w", "watch" if chosen else "", "watch a table", watch),
            served("c", "create", "create a table", table),
            Key("h", "host here", hosts, here),
            Key("j", "join by code", "join a friend: paste their line", asks[Purpose.TABLE]),
            Key("o", "other server", "go to a server by its address", asks[Purpose.SERVER]),
            served("n", "name", "choose a name", asks[Purpose.NAME]),
            Key("p", "practice", "practise by yourself, offline", self._open_practice),
            Key("up", "", "choose a table", up, bool(chosen), shown="up  down"),
            Key("down", "", "", partial(self._choose, 1)),
            *super().keys(),
        )

    def _form_keys(self, form: TableSettings) -> Keys:
        change = partial(partial, self._change_form, form)
        opens = "open it; a server is started if none runs" if self._is_local else ""
        private = "private: friends need the code"
        public = "public: in the list of every lobby" if form.public else private
        return (
            Key("g", "", game_title(form.game), change("g")),
            Key("c", "", cap_words(form.cap), change("c")),
            Key("+", "", counted(form.seats, "seat"), change("+"), shown="+-"),
            Key("-", "", "", change("-")),
            Key("m", "", match_words(form.races), change("m")),
            Key("p", "", public, change("p")),
            Key("enter", "create it", opens, partial(self._create, form)),
            Key("escape q", "cancel", "", self._cancel),
        )

    def _practice_keys(self) -> Keys:
        games = enumerate(GAMES.values(), 1)
        return (
            Key(f"1-{len(GAMES)}", "practise it", "", self._cancel),
            *(
                Key(f"{at}", "", game.title, partial(self._practise, game.name))
                for at, game in games
            ),
            Key("escape", "cancel", "", self._cancel),
        )

    # Keys

    def takes_key(self, key: str) -> bool:
        # every other key is part of the typed line
        return self._entry is None or key == "escape"

    def type_key(self, event: textual_events.Key) -> None:
        self.query_one(LineInput).type_key(event)

    def on_paste(self, event: textual_events.Paste) -> None:
        """Treat pasted text as an invitation, unless the player is typing a line."""
        event.stop()
        self._form = None
        self._ask(Entry(Purpose.TABLE, one_line(event.text)))
        self.redraw()

    def _ask(self, entry: Entry) -> None:
        """Ask the player for a line, unless the player is typing one already."""
        if self._entry is None and self.can_draw:
            self._entry = entry
            self.query_one(LineInput).open(entry.purpose.value, entry.text)
            self.say(entry.wrong, Role.WARNING)
            self.redraw()

    def _close_entry(self) -> None:
        self._entry = None
        self.query_one(LineInput).close()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        entry, text = self._entry, event.value.strip()
        self._close_entry()
        self.say("")
        self.redraw()
        if entry is not None and text:
            {
                Purpose.NAME: self.take_name,
                Purpose.TABLE: self.join,
                Purpose.WATCH: self.watch_table,
                Purpose.SERVER: self.go_to_server,
            }[entry.purpose](text)

    @on(textual_events.Click, "#tables")
    def _clicked(self, event: textual_events.Click) -> None:
        for table in (self.tables or [])[event.y : event.y + 1]:
            self.chosen = table.code
        self.redraw()

    def press_in_body(self, key: str) -> None:
        if self._is_practice:
            self._cancel()
        else:
            super().press_in_body(key)

    def _cancel(self) -> None:
        self._close_entry()
        self._form, self._is_practice = None, False
        self.say("Cancelled.")

    def _choose(self, step: int) -> None:
        codes = [table.code for table in self.tables or ()]
        if codes:
            self.chosen = codes[(codes.index(self.chosen) + step) % len(codes)]

    def _open_form(self, *, is_local: bool) -> None:
        chosen, self._is_local = self._settings, is_local
        self._form = TableSettings(
            game=chosen.game, cap=chosen.cap, seats=MOST_SEATS, public=False, races=chosen.races
        )
        self.say("")

    def _change_form(self, form: TableSettings, key: str) -> None:
        change = changed_setting(form, key)
        if key == "p" and not form.cap:
            # a public table has a time limit
            change["cap"] = 10
        self._form = structs.replace(form, **change)

    def _create(self, form: TableSettings) -> None:
        self._form = None
        (self.host_here if self._is_local else self.open_table)(form)

    def _open_practice(self) -> None:
        self._is_practice = True
        self.say("Which game? Practice is offline, has undo and hints, and never counts.")

    def _practise(self, game: str) -> None:
        self._is_practice = False
        self.say("")
        self.practise(game)

    # The flow

    async def run(self, app: SaratogaApp) -> Leaving:
        """Show the lobby, and the screens opened from it, until the player leaves the lobby."""
        await app.push_screen(self)
        self._is_shown.set()
        connecting = app.run_worker(self._keep(), group="connection")
        try:
            return await self._left
        finally:
            for worker in filter(None, (connecting, self._entering)):
                worker.cancel()
                with suppress(WorkerError):
                    await worker.wait()
            if app.is_running and self in app.screen_stack:
                await app.pop_screen()

    @property
    def _is_free(self) -> bool:
        """True while the player neither leaves the lobby nor is at a table or in practice."""
        return self._is_shown.is_set() and not self._left.done()

    async def _visit(self, flow: Flow) -> None:
        """Show other screens over the lobby until they close, and then the lobby with what went wrong."""
        self._is_shown.clear()
        self._is_hidden.set()
        notice = ""
        try:
            await flow(self.program)
        except Problem as problem:
            notice = str(problem)
        finally:
            self._is_hidden.clear()
            self._is_shown.set()
        self._close_entry()
        self._form, self._is_practice = None, False
        self.drop_question()
        self.say(notice)
        self.show()
        if self._open is not None:
            self._do(self._offer_return(self._open))
        if self._hosting is not None and self._hosting.session is not None:
            # the server on this machine is open for this one table
            self.leave()

    # The connection

    async def _keep(self) -> None:
        """Keep a connection to the server open; retry while no server answers.

        After any other `Problem`, show it and do nothing more.
        """
        while True:
            try:
                async with open_connection(
                    self._settings.server_url, reports_link=False
                ) as connection:
                    await self._use(connection)
            except Problem as problem:
                self._open = None
                # The page itself shows the remedy when no server answers.
                is_away = problem.code == Exit.UNREACHABLE
                self.wrong = problem.what if is_away else str(problem)
                self.is_open, self.has_tried = False, True
                self.tables, self.leaders = None, {}
                self.show()
                if not is_away:
                    # Another attempt would fail in the same way.
                    return
            await asyncio.sleep(RETRY_EVERY)

    async def _use(self, connection: Connection) -> None:
        welcome = connection.welcome
        self.is_open, self.has_tried, self.wrong = True, True, ""
        self.player_name, self.seat = welcome.name or "", welcome.table or ""
        self.is_seated = bool(self.seat)
        self._open = connection
        stop = connection.subscribe(self._link_changed)
        try:
            self.show()
            self._connected(connection)
            await self._follow_tables(connection)
        finally:
            stop()

    def _link_changed(self, state: LinkState) -> None:
        self.is_open = state is LinkState.CONNECTED
        self.show()
        if not self.is_open:
            self._tell("The connection is lost; reconnecting ...", Role.WARNING)

    async def _follow_tables(self, connection: Connection) -> None:
        """Follow the tables while the lobby is shown, and ask for the leaders, which change less often."""
        while True:
            await self._is_shown.wait()
            with suppress(CommandRefused, RequestTimedOut):
                await connection.follow_tables(self._show_tables)
                while self._is_shown.is_set():
                    await self._request_leaders(connection)
                    with suppress(TimeoutError):
                        async with asyncio.timeout(LEADERS_EVERY):
                            await self._is_hidden.wait()
                await connection.unfollow_tables()
                continue
            await asyncio.sleep(RETRY_EVERY)

    def _show_tables(self, found: events.Tables) -> None:
        self.tables = found.tables
        self.show()

    async def _request_leaders(self, connection: Connection) -> None:
        for game in connection.welcome.games:
            request = partial(GetLeaderboard, game=game, limit=1)
            rows = (await connection.ask(request, events.Leaderboard)).rows
            self.leaders[game] = rows[0] if rows else None
            self.show()

    @property
    def _connection(self) -> Connection:
        if self._open is None:
            raise Problem(
                "Can't reach the server, so the table can't be looked up.",
                "h starts a server here, o goes to another.",
                Exit.UNREACHABLE,
            )
        return self._open

    def _connected(self, connection: Connection) -> None:
        """Go to the first table; ask a player without a name for one first, except to watch."""
        first = self._first
        remember_server(self._settings.server_url)
        if first is None:
            self._do(self._offer_return(connection))
        entry = first if isinstance(first, Entry) else None
        is_watching = entry is not None and entry.purpose is Purpose.WATCH
        if connection.welcome.name is not None or is_watching:
            self._go_to_first_table()
        elif self._settings.name:
            self.take_name(self._settings.name)
        elif entry is not None:
            self._do(self._ask_name_for(entry), entry)
        else:
            self._ask(Entry(Purpose.NAME))

    async def _ask_name_for(self, first: Entry | TableSettings) -> None:
        """Ask for a name, and then go to a table; an unknown code is reported before."""
        self._first = None
        if isinstance(first, Entry):
            await look_at(self._connection, first.text)
        self._first = first
        self._tell("Choose a name first.", Role.WARNING)
        self._ask(Entry(Purpose.NAME))

    def _go_to_first_table(self) -> None:
        first, self._first = self._first, None
        if isinstance(first, Entry):
            self._follow(first)
        elif first is not None:
            self._do(self._open_or_return(first))

    async def _open_or_return(self, wanted: TableSettings) -> None:
        """Create a table; ask first if the player has one where friends wait."""
        connection = self._connection
        kept = await kept_table(connection, last_choices().last_table_at(self._settings.server_url))
        if kept is None:
            self.open_table(wanted)
            return
        self._show_way_back(kept, connection.player)
        self.ask(
            f"{kept_table_text(kept, connection.player)} Return there? (y/n)",
            y=("return", lambda: self.join(kept.code)),
            n=("new table", lambda: self.open_table(wanted)),
        )
        self.redraw()

    async def _offer_return(self, connection: Connection) -> None:
        """Offer the table where the player has a seat, or else the last one here, if it is open."""
        table = await way_back(connection, last_choices().last_table_at(self._settings.server_url))
        self._show_way_back(table, connection.player)

    def _show_way_back(self, table: events.Table | None, player: str) -> None:
        code = "" if table is None else table.code
        is_seated = table is not None and is_seated_at(table, player)
        self.seat, self.is_seated = code, is_seated
        self.show()

    # Names

    def take_name(self, name: str) -> None:
        self._do(self._take_name(name), Entry(Purpose.NAME, name))

    async def _take_name(self, name: str) -> None:
        claimed = await claim_name(self._connection, name)
        self.player_name = claimed
        self.show()
        self._tell(f"You are {claimed}.")
        self._go_to_first_table()

    # Tables

    def join(self, text: str) -> None:
        self._follow(Entry(Purpose.TABLE, text))

    def watch_table(self, text: str) -> None:
        self._follow(Entry(Purpose.WATCH, text))

    def _follow(self, entry: Entry) -> None:
        """Join or watch the table of a typed code or URL; ask again if the text names no table."""
        found, is_watching = destination(entry.text), entry.purpose is Purpose.WATCH
        if found is None or not (found.code or self._is_elsewhere(found)):
            wrong = "That names no table; a code looks like mint-otter-42."
            self._ask(replace(entry, wrong=wrong))
        elif self._is_elsewhere(found):
            self._go_elsewhere(found, entry.purpose)
        else:
            self._enter((self._watch if is_watching else self._take_seat)(found.code), entry)

    def open_table(self, table: TableSettings) -> None:
        remember(game=table.game, cap=table.cap, races=table.races)
        self._enter(self._take_seat(table))

    def _enter(self, action: Coroutine[Any, Any, None], entry: Entry | None = None) -> None:
        """Run a command that goes to a table, unless one is running or another screen opens already."""
        is_running = self._entering is not None and not self._entering.is_finished
        if is_running or not self._is_free:
            action.close()
        else:
            self._entering = self._do(action, entry)

    async def _take_seat(self, table: str | TableSettings) -> None:
        connection = self._connection
        if not self.player_name:
            entry = Entry(Purpose.TABLE, table) if isinstance(table, str) else table
            await self._ask_name_for(entry)
            return
        session, joined = await take_seat(connection, table, self._tell)
        await self._go_to_table(session, joined)

    async def _watch(self, code: str) -> None:
        session = TableSession(self._connection)
        await self._go_to_table(session, await session.watch(code))

    async def _go_to_table(self, session: TableSession, table: events.Table) -> None:
        """Show a table, unless the player opened another screen before the server answered.

        Its seat is then given up, except in a running race.
        """
        if self._is_free:
            await self._visit(partial(self._play, session, table.code))
        elif not is_racing_at(table, self._connection.player):
            await give_up(self._connection, table.code)

    async def _play(self, session: TableSession, code: str, app: SaratogaApp) -> None:
        """Show a table until the player leaves it; raises `Problem` if the seat is lost."""
        if self._hosting is not None:
            self._hosting.session = session
        server = self._settings.server_url
        remember_server(server, code)
        inviter = await inviter_for(self._settings, self._friends)
        try:
            await table_flow(session, server, inviter)(app)
        finally:
            self.seat, self.is_seated = "", False
            if self._open is not None:
                await stop_watching(self._open, code)

    def _is_elsewhere(self, found: Destination) -> bool:
        """Return whether the destination is at another server."""
        return found.server not in ("", self._settings.server_url.rstrip("/"))

    # Leaving

    def host_here(self, table: TableSettings) -> None:
        """Open the table on this machine: in this lobby, if its server is the one that runs here."""
        if self._hosting is not None:
            self.open_table(table)
            return
        remember(game=table.game, cap=table.cap, races=table.races)
        self._leave(Leaving(here=table))

    def go_to_server(self, text: str) -> None:
        found = destination(text)
        if found is None or not found.server:
            self._ask(Entry(Purpose.SERVER, text, str(bad_address(text))))
        else:
            self._go_elsewhere(found, Purpose.TABLE)

    def _go_elsewhere(self, found: Destination, purpose: Purpose) -> None:
        """Leave for another server, and for the table there if one is named."""
        self._leave(Leaving(found.server, first=Entry(purpose, found.code) if found.code else None))

    def practise(self, game: str) -> None:
        remember(game=game)
        flow = practice_flow(from_seed(GAMES[game], drawn_seed()))
        self._is_shown.clear()
        self._do(self._visit(flow))

    def leave(self) -> None:
        self._leave(Leaving())

    def _leave(self, step: Leaving) -> None:
        """Leave the lobby; ask first if this closes the server on this machine while others are at the table."""
        go = partial(self._left.set_result, step)
        others = "" if self._hosting is None else self._hosting.still_here()
        if others:
            question = f"{others} Close this machine's server? (y/n)"
            self.ask(question, y=("close it", go))
            self.redraw()
        elif not self._left.done():
            go()

    # Commands

    def _do(self, action: Coroutine[Any, Any, None], entry: Entry | None = None) -> Worker[None]:
        """Run a command in the background; report errors, and let the player correct `entry`."""
        return self.app.run_worker(self._run(action, entry), group="lobby commands")

    async def _run(self, action: Coroutine[Any, Any, None], entry: Entry | None) -> None:
        try:
            await action
        except ClientClosed:
            # The player has gone to another server in the meantime.
            return
        except (*CONNECTION_ERRORS, Problem) as error:
            server = self._settings.server_url
            problem = error if isinstance(error, Problem) else problem_for(server, error)
            if entry is not None and problem.refusal in CORRECTABLE:
                self._ask(replace(entry, wrong=problem.what))
            else:
                self._tell(str(problem), Role.WARNING)

    def _tell(self, text: str, role: Role = Role.TEXT) -> None:
        if self.can_draw:
            self.say(text, role)


def lobby_flow(settings: Settings, hosting: "OwnServer", notice: str = "") -> Flow:
    """Return the flow of the lobby; it returns when the player quits the program."""

    async def flow(app: SaratogaApp) -> None:
        at, leaving = settings, await LobbyScreen(settings, notice).run(app)
        while leaving != Leaving():
            shown = ""
            if leaving.here is not None:
                shown, leaving = await _host_here(app, at, hosting, leaving.here)
                if leaving != Leaving():
                    continue
            else:
                at = at.given(server=leaving.server)
            leaving = await LobbyScreen(at, shown, leaving.first).run(app)

    return flow


async def _host_here(
    app: SaratogaApp, settings: Settings, hosting: "OwnServer", table: TableSettings
) -> tuple[str, Leaving]:
    """Open a table at a server on this machine; return a notice and the reason for leaving."""
    try:
        server = hosting.server or await hosting.open(local_server(report=app.show_progress))
        here = settings.given(server=server.own)
        own = hosting if server.is_ours else None
        leaving = await LobbyScreen(here, server.warning, table, own, server.friends).run(app)
    except Problem as problem:
        if others := hosting.still_here():
            return f"{problem} {others} Your server here stays open.", Leaving()
        await hosting.close()
        return str(problem), Leaving()
    await hosting.close()
    return "Your server on this machine has been closed." if server.is_ours else "", leaving
