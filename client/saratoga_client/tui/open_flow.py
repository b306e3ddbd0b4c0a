"""The flow of an open race on the screen: what it is, the player's run, and how it compares."""

from contextlib import suppress

from saratoga_client.net.connection import Connection
from saratoga_client.session.error_messages import CONNECTION_ERRORS, problem_for
from saratoga_client.session.invitation import Inviter
from saratoga_client.session.open_race import (
    NOT_YET,
    closed_record,
    day_before,
    look,
    open_challenge,
    par_of,
    remember,
    until_over,
)
from saratoga_client.session.open_race_text import have_run, link, title
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.run_watch import OpenBook
from saratoga_client.session.table_session import TableSession
from saratoga_client.tui.app import Flow, SaratogaApp, table_flow
from saratoga_client.tui.screens.open_race import OpenRaceIntro, OpenRaceScreen
from saratoga_client.wording import capitalised
from saratoga_protocol.events import OpenRace
from saratoga_rules.records.record import RaceRecord


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
