"""The home in plain lines: names, public tables, leaderboards, joining a table, and a server on this machine."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Final, TypeAlias

from saratoga_client.local.printed_command import printed_command
from saratoga_client.local.settings import last_choices
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused, RequestTimedOut
from saratoga_client.plain.board import rules_lines
from saratoga_client.plain.grammar import Context, not_understood, read_settings, wrong
from saratoga_client.plain.open_race import run_open
from saratoga_client.plain.practice import run_practice
from saratoga_client.plain.result_lines import leaderboard_lines
from saratoga_client.plain.session import ExitReason, PlainSession, open_session
from saratoga_client.plain.table import play_table
from saratoga_client.practice.deals import BadSeed
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.invitation import destination, is_open_race
from saratoga_client.session.join import (
    LONGEST_NAME,
    claim_guest_name,
    claim_name,
    give_up_seat,
    release_other_seat,
    way_back,
)
from saratoga_client.session.open_connection import problem_for
from saratoga_client.session.open_race import (
    LAST,
    about,
    day_id,
    link,
    look,
    new_results,
    open_challenge,
    own_history,
    own_ratings,
)
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.run_watch import OpenBook
from saratoga_client.session.starting import QUICK_TABLE, Begin, race_bots
from saratoga_client.session.state import MOST_SEATS
from saratoga_client.session.witness import Witness
from saratoga_client.wording import cap_words, counted
from saratoga_protocol import events
from saratoga_protocol.commands import GetLeaderboard, ListTables
from saratoga_protocol.events import TableSettings
from saratoga_rules.games import GAMES

PERIODS: Final = ("day", "week", "month", "all")
NO_SERVER: Final = (
    "Type create GAME to open a table on this machine, play to race bots, or practice GAME."
)


Opener: TypeAlias = Callable[[], Awaitable[Connection]]
"""A function that connects to a server on this machine, and starts it if none runs; raises `Problem`."""


async def run_lobby(
    connection: Connection | None,
    *,
    name: str = "",
    session: PlainSession | None = None,
    open_here: Opener | None = None,
    witness: Witness | None = None,
    records: RecordStore | None = None,
) -> ExitReason:
    """Carry out lobby commands, and go to tables, until the player quits. Raises `Problem`.

    A player without a name at this server claims `name` first. Without a connection, a table is
    created on this machine by `open_here`.
    """
    lobby = PlainLobby(connection, session or open_session(), open_here, name, witness, records)
    return await lobby.stay()


async def ask_name(connection: Connection, session: PlainSession) -> ExitReason | None:
    """Ask until the player has a name; return `None`, or the reason for ending without one."""
    session.output.write(
        "name: You have no name at this server yet. Type name and your name: name NAME."
    )
    while True:
        parsed = await session.command(Context.LOBBY)
        if parsed is None:
            return ExitReason.INPUT_ENDED
        if parsed.command is not None and parsed.command.name in ("quit", "help"):
            if parsed.command.name == "quit":
                return ExitReason.QUIT
            session.output.write("help name NAME: choose your name", "help quit: end the program")
            continue
        is_name = parsed.command is None or parsed.command.name == "name"
        if is_name and await take_name(connection, session, parsed.arguments):
            return None
        if not is_name:
            session.output.write("no: Choose a name first: type name NAME, or quit.")


async def take_name(connection: Connection, session: PlainSession, name: str) -> bool:
    """Claim a name, write the answer, and return whether the server accepted the name."""
    if not name:
        session.output.write("no: Which name? Type name and your name: name NAME.")
        return False
    if len(name) > LONGEST_NAME:
        session.output.write("no: That name is too long; a name has 2 to 20 characters.")
        return False
    try:
        claimed = await claim_name(connection, name)
    except CommandRefused as refusal:
        session.output.write(f"no: {refusal.message}")
        return False
    session.output.write(f"name: you are {claimed}")
    return True


class PlainLobby:
    """The command loop of the lobby."""

    def __init__(
        self,
        connection: Connection | None,
        session: PlainSession,
        open_here: Opener | None,
        wanted: str,
        witness: Witness | None,
        records: RecordStore | None,
    ) -> None:
        self._at = connection
        self._session = session
        self._open_here = open_here
        self._wanted = wanted
        self._write = session.output.write
        self._witness = witness
        self._records = records
        self._name = None if connection is None else connection.welcome.name
        self._handlers: dict[str, Callable[[str], Awaitable[ExitReason | None]]] = {
            "name": self._take_name,
            "tables": self._list_tables,
            "create": self._create,
            "play": self._play_now,
            "daily": self._daily,
            "challenge": self._challenge,
            "history": self._history,
            "join": partial(self._go_by_code, "join"),
            "watch": partial(self._go_by_code, "watch"),
            "practice": self._practise,
            "leaderboard": self._leaderboard,
            "leave": self._leave,
        }

    @property
    def _connection(self) -> Connection:
        if self._at is None:
            raise Problem("No server answers.", NO_SERVER, Exit.NOT_FOUND)
        return self._at

    async def stay(self) -> ExitReason:
        """Carry out commands until the player quits or the input ends."""
        await self._greet()
        while True:
            parsed = await self._session.command(Context.LOBBY)
            if parsed is None:
                return ExitReason.INPUT_ENDED
            if parsed.command is None:
                self._write(not_understood(parsed.line, Context.LOBBY))
                continue
            if parsed.command.name == "quit":
                return ExitReason.QUIT
            if parsed.command.name == "help":
                self._session.help(Context.LOBBY)
                continue
            if parsed.command.name == "rules":
                self._session.output.write_all(rules_lines(parsed.arguments, None))
                continue
            reason = await self._do(parsed.command.name, parsed.arguments)
            if reason in (ExitReason.QUIT, ExitReason.INPUT_ENDED):
                return reason

    async def _greet(self) -> None:
        if self._at is None:
            self._write(f"lobby: no server. {NO_SERVER} Type help for all commands.")
            return
        if self._name is None and self._wanted:
            await self._take_name(self._wanted)
        name = (
            "you have no name yet: type name NAME"
            if self._name is None
            else f"you are {self._name}"
        )
        self._write(f"lobby: {self._at.url}, {name}. Type help for all commands.")
        with suppress(CommandRefused, RequestTimedOut):
            self._write(*(f"challenge: {told}" for told in await new_results(self._at, OpenBook())))
        if (code := self._at.welcome.table) is not None:
            self._write(f"seat: you still have a seat at {code}. Type join {code}, or leave.")
            return
        last = last_choices().last_table_at(self._at.url)
        if self._name and last and await way_back(self._at, last):
            self._write(f"seat: your last table, {last}, is open. Type join {last} to go back.")

    def _check_name(self) -> None:
        """Raise `Problem` if the player has no name."""
        if self._name is None:
            raise wrong("Choose a name first: type name NAME.")

    async def _connected_here(self) -> None:
        """Connect to a server on this machine, unless one is connected. Raises `Problem`."""
        if self._at is None and self._open_here is not None:
            self._at = await self._open_here()
            self._name = self._at.welcome.name
            await self._greet()

    async def _do(self, command: str, words: str) -> ExitReason | None:
        try:
            reason = await self._handlers[command](words)
        except Problem as problem:
            self._write(f"no: {problem}")
            if problem.code is Exit.NOT_VERIFIED:
                self._session.alarms.append(str(problem))
            if problem.code in (Exit.UNREACHABLE, Exit.TOO_OLD) and self._at is not None:
                raise
            return None
        except (CommandRefused, RequestTimedOut) as error:
            url = "" if self._at is None else self._at.url
            self._write(f"no: {problem_for(url, error)}")
            return None
        if reason is ExitReason.LEFT:
            self._write("lobby: you are back. Type help for all commands.")
        return reason

    async def _take_name(self, words: str) -> None:
        if await take_name(self._connection, self._session, words):
            self._name = words

    async def _list_tables(self, words: str) -> None:
        found = await self._connection.ask(ListTables, events.Tables)
        self._session.output.write_all(tables_lines(found))

    async def _create(self, words: str) -> ExitReason | None:
        chosen = read_settings(words)
        _checked_game("create", chosen.get("game", ""))
        await self._connected_here()
        default = {"cap": 10, "seats": MOST_SEATS, "public": False}
        return await self._go(TableSettings(**default | chosen))

    async def _play_now(self, words: str) -> ExitReason | None:
        await self._connected_here()
        if self._name is None:
            self._name = await claim_guest_name(self._connection, self._wanted)
            self._write(f"name: you are {self._name}")
        return await self._go(QUICK_TABLE, begin=race_bots)

    async def _daily(self, words: str) -> ExitReason | None:
        connection, book = self._connection, OpenBook()
        if words:
            game = _checked_game("daily", words.lower())
            return await self._run_open(day_id(game, connection.now()))
        for each in GAMES:
            race, alarms = await look(connection, day_id(each, connection.now()), book)
            self._session.alarms.extend(alarms)
            self._write(f"day {each}: {about(race, connection.player)}")
        return None

    async def _challenge(self, words: str) -> ExitReason | None:
        game, found = words.strip().lower(), destination(words)
        if game in GAMES:
            await self._connected_here()
            self._check_name()
            race = await open_challenge(self._connection, OpenBook(), game)
            address = link(race, self._session.friends or self._connection.url)
            self._write(
                f"challenge: {race.id}, open for seven days",
                f"challenge: {address}",
                f"challenge: type challenge {race.id} to run it yourself",
            )
            return None
        code = found.code if found is not None else game
        if not is_open_race(code):
            raise wrong("Type challenge and a game, or the code or link of a challenge.")
        return await self._run_open(code)

    async def _run_open(self, race: str) -> ExitReason | None:
        """Run an open race, or return to it; then, or after an earlier run, write how it compares."""
        connection = self._connection
        if self._name is None:
            self._name = await claim_guest_name(connection, self._wanted)
            self._write(f"name: you are {self._name}")
        if racing_at := await release_other_seat(connection):
            opened, _ = await look(connection, race, OpenBook())
            if opened.mine != "racing":
                raise wrong(f"Your race at {racing_at} is still running. Type join {racing_at}.")
        return await run_open(connection, race, self._session, self._records)

    async def _history(self, words: str) -> None:
        races = (self._records or RecordStore()).races()
        if not races:
            self._write("history: no race on this machine yet")
        ratings = await own_ratings(self._at, races)
        for title, number, won, best, average, rating in own_history(races, ratings):
            self._write(
                f"history {title}: {number} races, {won} won, best {best}, last {LAST} {average}"
                + (f", rating {rating}" if rating else "")
            )

    async def _go_by_code(self, command: str, words: str) -> ExitReason | None:
        found = destination(words)
        if found is None or not found.code:
            raise wrong(f"Type the table's code, for example {command} mint-otter-42.")
        if is_open_race(found.code):
            return await self._challenge(words)
        at = "" if self._at is None else self._at.url.rstrip("/").lower()
        if found.server.lower() not in ("", at):
            raise wrong(
                "That table is on another server. Type quit, then run: "
                f"{printed_command(command, found.url, '--plain')}"
            )
        return await self._go(found.code, is_watching=command == "watch")

    async def _go(
        self,
        table: str | TableSettings,
        *,
        is_watching: bool = False,
        begin: Begin | None = None,
    ) -> ExitReason | None:
        if not is_watching:
            self._check_name()
        code = table if isinstance(table, str) else ""
        if not is_watching and (racing_at := await release_other_seat(self._connection, code)):
            raise wrong(
                f"Your race at {racing_at} is still running. "
                f"Type join {racing_at} to go on, or leave to give it up."
            )
        return await play_table(
            self._connection,
            table,
            is_watching=is_watching,
            begin=begin,
            session=self._session,
            witness=self._witness,
            records=self._records,
        )

    async def _leave(self, words: str) -> None:
        code = self._connection.welcome.table
        if code is None:
            raise wrong("You have no seat. Type quit to end the program.")
        await give_up_seat(self._connection, code)
        self._write(f"ok: your seat at {code} was given up")

    async def _practise(self, words: str) -> ExitReason | None:
        name, _, seed = words.partition(" ")
        game = GAMES[_checked_game("practice", name.lower())]
        try:
            return await run_practice(game, seed, session=self._session)
        except BadSeed as error:
            raise wrong(f"{error}") from None

    async def _leaderboard(self, words: str) -> None:
        name, _, period = words.lower().partition(" ")
        if name not in GAMES or (period and period not in PERIODS):
            raise wrong(
                f"Type leaderboard GAME, with one of {', '.join(GAMES)}; "
                f"add {', '.join(PERIODS[:-1])} or {PERIODS[-1]} for the period."
            )
        page = await self._connection.ask(
            partial(GetLeaderboard, game=name, period=period or "day"), events.Leaderboard
        )
        heading, *rows = leaderboard_lines(page)
        self._write(f"leaderboard: {heading}", *(f"leader {row}" for row in rows))


def _checked_game(command: str, game: str) -> str:
    """Return the name of a game that a command needs. Raises `Problem`."""
    if game not in GAMES:
        raise wrong(f"Which game? Type {command} GAME, with one of {', '.join(GAMES)}.")
    return game


def tables_lines(found: events.Tables) -> Iterator[str]:
    """Return a line for every public table, the newest first."""
    yield f"tables: {len(found.tables)}"
    for table in found.tables:
        yield (
            f"table {table.code}: {table.game}, {cap_words(table.cap)}, {table.phase}, host "
            f"{table.host}, {table.seated} of {counted(table.seats, 'seat')}"
        )
