"""Open races on the screen: what one is, the player's run, and how it compares: place, histogram, climb, results."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Final

from rich.console import Group, RenderableType
from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import LETTERS, RACERS, Role, Symbols
from saratoga_client.net.connection import Connection
from saratoga_client.review.boards import Climb, OpenBoard, open_boards, par_sentence
from saratoga_client.session.invitation import Inviter
from saratoga_client.session.open_connection import CONNECTION_ERRORS, problem_for
from saratoga_client.session.open_race import (
    NOT_YET,
    closed_record,
    day_before,
    ended,
    have_run,
    headline,
    histogram,
    link,
    look,
    notes,
    open_challenge,
    own_result,
    par_of,
    remember,
    result_line,
    share,
    title,
    until_over,
)
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.run_watch import OpenBook
from saratoga_client.session.table_session import TableSession
from saratoga_client.tui.app import Flow, SaratogaApp, table_flow
from saratoga_client.tui.base_screen import BaseScreen, Key, Keys
from saratoga_client.tui.chart import Line, draw_chart
from saratoga_client.tui.widgets import Ink, RichView, ScrollPage
from saratoga_client.wording import capitalised, counted, money_meter
from saratoga_protocol.events import OpenRace
from saratoga_rules.games import GAMES
from saratoga_rules.records.record import RaceRecord

CHART: Final = 9
WIDEST_CHART: Final = 100
MOST: Final = 40
"""The most results on the page."""


def open_race_page(
    race: OpenRace, player: str, symbols: Symbols, ink: Ink, width: int
) -> RenderableType:
    """Return the page of an open race as the player may see it."""
    own = own_result(race, player)
    return Group(
        ink.indented(headline(race, player).upper(), Role.TITLE, 3),
        *(ink.indented(text, Role.DIM, 3) for text in notes(race, player)),
        *_histogram(race, None if own is None else own.banked, symbols, ink),
        *_climbs(race, symbols, ink, width),
        *_results(race, player, ink),
    )


def _histogram(
    race: OpenRace, own: int | None, symbols: Symbols, ink: Ink
) -> Iterable[RenderableType]:
    if sum(race.counts) < 2:
        return
    grid = ink.grid(3, 9, None)
    for counts, signs, is_own in histogram(race.counts, own):
        bar = "#" * len(signs) if symbols is LETTERS else signs
        role = Role.YOU if is_own else Role.TEXT
        grid.add_row("", ink.text(counts, Role.DIM), ink.text(f"{bar}{'  you' * is_own}", role))
    yield ""
    yield ink.text("   CARDS BANKED", Role.LABEL)
    yield grid


def _climbs(race: OpenRace, symbols: Symbols, ink: Ink, width: int) -> Iterable[RenderableType]:
    """Return the chart of the player's climb and the middle one."""
    if not race.climb or not race.middle or race.game not in GAMES:
        return
    pairs = [(race.climb, "YOU", Role.YOU)]
    if race.middle != race.climb:
        pairs.append((race.middle, "the middle run", RACERS[0]))
    end = max(race.climb[-1], race.middle[-1])
    lines = [
        Line(
            at,
            f"{name} {len(climb)}",
            Climb(0, tuple((ms, n) for n, ms in enumerate(sorted(climb), 1)), end),
            role,
        )
        for at, (climb, name, role) in enumerate(pairs, 1)
    ]
    canvas = Canvas(min(width, WIDEST_CHART), CHART)
    box = (1, 0, canvas.width - 2, canvas.height)
    draw_chart(canvas, box, lines, money_meter(GAMES[race.game], 0), symbols)
    yield ""
    yield ink.canvas(canvas)


def _results(race: OpenRace, player: str, ink: Ink) -> Iterable[RenderableType]:
    yield ""
    yield ink.text("   RESULTS" if race.digest else "   RESULTS SO FAR", Role.LABEL)
    for result in race.results[:MOST]:
        role = Role.YOU if result.player == player else Role.TEXT
        yield ink.indented(result_line(result), role, 3)


class OpenRaceScreen(BaseScreen):
    """An open race after the player's run."""

    HEADING = "KEYS AFTER A RUN"
    TICK = 0

    def __init__(
        self,
        race: OpenRace,
        player: str,
        link: str,
        *,
        alarms: Iterable[str] = (),
        record: RaceRecord | None = None,
        challenge: Callable[[], object] | None = None,
    ) -> None:
        """`link` leads to the race's page; `record` is there once it is closed; `challenge` opens a challenge."""
        super().__init__()
        self.race = race
        self._player = player
        self._link = link
        self._alarms = list(alarms)
        self._challenge = challenge
        self.wants_before = False
        """True if the player wants to see the day before."""
        self._par = ""
        self._boards: tuple[OpenBoard, ...] = () if record is None else open_boards(record)

    def body(self) -> Iterable[Widget]:
        with ScrollPage():
            yield RichView(self._draw)

    def begin(self) -> None:
        if self._alarms:
            self.say(f"ALARM: {'; '.join(self._alarms)}", Role.ALARM)

    def _draw(self, ink: Ink) -> RenderableType:
        page = open_race_page(self.race, self._player, self.symbols, ink, self.size.width)
        return Group(page, *([ink.indented(self._par, Role.TEXT, 3)] if self._par else []))

    def show_par(self, par: OpenBoard) -> None:
        """Say what the deal could have banked, and show its board among the others."""
        self._par = par_sentence(par, self._boards)
        self._boards += (par,)
        if self.can_draw:
            self.redraw()

    def _go_before(self) -> None:
        self.wants_before = True
        self.dismiss()

    def facts(self) -> list[str]:
        return [title(self.race).upper(), counted(len(ended(self.race)), "run")]

    def status(self) -> list[tuple[str, Role]]:
        fair = [(f"{self.symbols.ready} fair deal", Role.MONEY_UP)]
        return fair if self._boards and not self._alarms else []

    def keys(self) -> Keys:
        sealed = "The boards open when the race has closed."
        text = share(self.race, self._player, self._link)
        copy = partial(self.copy, "Your result", text)
        challenge = self._challenge
        return (
            Key("v", "boards", "see all boards", self._review, bool(self._boards), sealed),
            Key("y", "share", "copy your result for friends, without a card", copy),
            Key("c", "challenge", "challenge friends on a fresh deal", challenge or self.leave, challenge is not None),
            Key("b", "day before", "see the day before", self._go_before, self.race.kind == "day"),
            Key("enter escape", "", "", self.leave),
            *super().keys(),
        )  # fmt: skip

    def _review(self) -> None:
        from saratoga_client.tui.screens.review import ReviewScreen

        text = share(self.race, self._player, self._link)
        self.cover(ReviewScreen(self.race.id, self._boards, self._player, text))


class OpenRaceIntro(BaseScreen):
    """An open race before the player's run: opening it never starts the clock."""

    HEADING = "KEYS BEFORE A RUN"
    TICK = 0

    def __init__(self, race: OpenRace, words: Iterable[str]) -> None:
        super().__init__()
        self.race = race
        self._words = list(words)
        self.is_wanted = False
        """True if the player starts the run."""

    def body(self) -> Iterable[Widget]:
        with ScrollPage():
            yield RichView(self._draw)

    def _draw(self, ink: Ink) -> RenderableType:
        return Group("", *(ink.indented(text, Role.TEXT, 3) for text in self._words))

    def facts(self) -> list[str]:
        return [title(self.race).upper()]

    def begin(self) -> None:
        self.say("Press enter to start your run; the clock starts after the countdown.")

    def keys(self) -> Keys:
        start = Key("enter", "start", "start your run", self._start)
        return (start, Key("escape", "", "", self.leave), *super().keys())

    def _start(self) -> None:
        self.is_wanted = True
        self.dismiss()


def open_flow(
    connection: Connection, race: str, inviter: Inviter, *, friends: str = "", asks: bool = False
) -> Flow:
    """Return the flow of an open race; `asks`: the player is asked before the run starts.

    `friends` is the server's address for friends.
    """

    async def flow(app: SaratogaApp) -> None:
        try:
            await OpenFlow(app, connection, race, inviter, friends).show(asks=asks)
        except CONNECTION_ERRORS as error:
            raise problem_for(connection.url, error) from error

    return flow


class OpenFlow:
    """The screens of one open race, in turn."""

    def __init__(
        self, app: SaratogaApp, connection: Connection, race: str, inviter: Inviter, friends: str
    ) -> None:
        self._app = app
        self._connection = connection
        self._race = race
        self._inviter = inviter
        self._server = friends or connection.url
        self._book = OpenBook()

    async def show(self, *, asks: bool) -> None:
        """Show what the race is, the run unless the player had one, and how it compares."""
        shown = await self._look()
        if shown.mine in NOT_YET and not shown.digest:
            if asks and not shown.mine and not await self._wants(shown):
                return
            session = TableSession(self._connection)
            await session.enter_open(self._race)
            await table_flow(session, self._inviter, until_over)(self._app)
            shown = await self._look()
            if shown.mine in NOT_YET:
                return
            remember(shown, self._connection.player, RecordStore(), self._connection.now())
        record, alarms = None, list[str]()
        if shown.digest:
            record, alarms = await closed_record(self._connection, self._race, self._book)
            self._app.alarms.extend(alarms)
        screen = OpenRaceScreen(
            shown,
            self._connection.player,
            link(shown, self._server),
            alarms=self._app.alarms,
            record=record,
            challenge=lambda: self._app.run_worker(self._challenge(screen), group="commands"),
        )
        if record is not None and record.racers:
            self._app.run_worker(self._find_par(screen, record), group="commands")
        await self._app.push_screen_wait(screen)
        if screen.wants_before:
            before = OpenFlow(
                self._app, self._connection, day_before(shown), self._inviter, self._server
            )
            await before.show(asks=True)

    async def _find_par(self, screen: OpenRaceScreen, record: RaceRecord) -> None:
        with suppress(*CONNECTION_ERRORS):
            if (par := await par_of(self._connection, record)) is not None:
                screen.show_par(par)

    async def _look(self) -> OpenRace:
        shown, alarms = await look(self._connection, self._race, self._book)
        self._app.alarms.extend(alarms)
        return shown

    async def _wants(self, shown: OpenRace) -> bool:
        intro = OpenRaceIntro(shown, intro_lines(shown))
        await self._app.push_screen_wait(intro)
        return intro.is_wanted

    async def _challenge(self, screen: OpenRaceScreen) -> None:
        """Open a challenge on a fresh deal of the same game, and copy its link."""
        try:
            opened = await open_challenge(self._connection, self._book, screen.race.game)
        except CONNECTION_ERRORS as error:
            screen.say(str(problem_for(self._connection.url, error)))
            return
        address = link(opened, self._server)
        screen.copy(f"Your challenge is open for seven days; its link {address}", address)


def intro_lines(race: OpenRace) -> list[str]:
    """Return what a player reads before a run."""
    ghosts = "" if race.kind == "day" else " You race against the ghosts of earlier runs."
    return [
        f"{title(race)}.",
        "",
        f"One run, {race.cap} minutes, the same deal for everyone.{ghosts}",
        f"{capitalised(have_run(race))}.",
        "The clock goes on while you are away, so start when you have the time.",
    ]
