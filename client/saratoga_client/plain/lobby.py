"""The lobby, in lines: a name, the public tables, and the ways from here to a table or a deal."""

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Final

from saratoga_client.local.setting_values import MOST_SEATS
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused, RequestTimedOut
from saratoga_client.plain.board_answers import rules_lines
from saratoga_client.plain.grammar import Where, not_understood
from saratoga_client.plain.leaderboard import leaderboard_lines
from saratoga_client.plain.practice import practise
from saratoga_client.plain.session import Parting, Talk, open_talk
from saratoga_client.plain.table import Place, play_table
from saratoga_client.plain.table_settings import read_settings
from saratoga_client.practice.deals import BadSeed
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.error_messages import problem_for
from saratoga_client.session.invitation import destination
from saratoga_client.session.join import TableWanted, freed
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.witness import Witness
from saratoga_client.wording import cap_words, counted
from saratoga_protocol import events
from saratoga_protocol.commands import ClaimName, GetLeaderboard, LeaveTable, ListTables
from saratoga_rules.games import GAMES

PERIODS: Final = ("day", "week", "month", "all")


async def lobby(
    house: Connection,
    *,
    talk: Talk | None = None,
    witness: Witness | None = None,
    keepsakes: RecordStore | None = None,
) -> Parting:
    """Look around and go to tables until the player has enough. Raises `Problem`."""
    return await Lobby(house, talk or open_talk(), witness, keepsakes).stay()


async def ask_name(house: Connection, talk: Talk) -> Parting | None:
    """Ask until the player has a name; a parting where there will be none."""
    talk.voice.say("name: This house does not know you yet. Say name NAME, such as: name Anna.")
    while True:
        said = await talk.order(Where.LOBBY)
        if said is None:
            return Parting.INPUT_ENDED
        if said.order is not None and said.order.name in ("quit", "help"):
            if said.order.name == "quit":
                return Parting.QUIT
            talk.voice.say("help name NAME: take a name", "help quit: end the program")
            continue
        is_name = said.order is None or said.order.name == "name"
        if is_name and await claim_name(house, talk, said.rest):
            return None
        if not is_name:
            talk.voice.say("no: A name first. Say name NAME, or quit.")


async def claim_name(house: Connection, talk: Talk, name: str) -> bool:
    """Take a name; whether it is one's own now is said."""
    if not name:
        talk.voice.say("no: Say which: name Anna.")
        return False
    if len(name) > 64:
        talk.voice.say("no: That name is too long.")
        return False
    try:
        claimed = await house.ask(partial(ClaimName, name=name), events.NameClaimed)
    except CommandRefused as no:
        talk.voice.say(f"no: {no.message}")
        return False
    talk.voice.say(f"name: you are {claimed.name}")
    return True


class Lobby:
    """Somebody in the lobby."""

    def __init__(
        self,
        house: Connection,
        talk: Talk,
        witness: Witness | None,
        keepsakes: RecordStore | None,
    ) -> None:
        self._house = house
        self._talk = talk
        self._say = talk.voice.say
        self._witness = witness
        self._keepsakes = keepsakes
        self._name = house.welcome.name
        self._deeds: dict[str, Callable[[str], Awaitable[Parting | None]]] = {
            "name": self._take_name,
            "tables": self._list_tables,
            "create": self._create,
            "join": self._join,
            "watch": self._watch,
            "practice": self._practise,
            "leaderboard": self._leaderboard,
            "rules": self._rules,
            "leave": self._leave,
            "help": self._help,
        }

    async def stay(self) -> Parting:
        """Carry out orders until there are no more."""
        self._greet()
        while True:
            said = await self._talk.order(Where.LOBBY)
            if said is None:
                return Parting.INPUT_ENDED
            if said.order is None:
                self._say(not_understood(said.line, Where.LOBBY))
                continue
            if said.order.name == "quit":
                return Parting.QUIT
            parting = await self._do(said.order.name, said.rest)
            if parting in (Parting.QUIT, Parting.INPUT_ENDED):
                return parting

    def _greet(self) -> None:
        name = (
            "you have no name yet: say name NAME" if self._name is None else f"you are {self._name}"
        )
        self._say(f"lobby: {self._house.url}, {name}. Say help for what can be said.")
        if (code := self._house.welcome.table) is not None:
            self._say(f"seat: you still sit at {code}. Say join {code}, or leave.")

    async def _do(self, order: str, words: str) -> Parting | None:
        try:
            parting = await self._deeds[order](words)
        except Problem as problem:
            self._say(f"no: {problem}")
            if problem.code in (Exit.UNREACHABLE, Exit.TOO_OLD):
                raise
            return None
        except (CommandRefused, RequestTimedOut) as trouble:
            self._say(f"no: {problem_for(self._house.url, trouble)}")
            return None
        if parting is Parting.LEFT:
            self._say("lobby: you are back. Say help for what can be said.")
        return parting

    async def _take_name(self, words: str) -> None:
        if await claim_name(self._house, self._talk, words):
            self._name = words

    async def _list_tables(self, words: str) -> None:
        found = await self._house.ask(ListTables, events.Tables)
        self._talk.voice.say_all(tables_lines(found))

    async def _create(self, words: str) -> Parting | None:
        chosen = read_settings(words)
        if isinstance(chosen, str):
            self._say(f"no: {chosen}")
            return None
        if chosen.game is None:
            self._say(f"no: Say which game: create GAME, with one of {', '.join(GAMES)}.")
            return None
        wanted = TableWanted(
            game=chosen.game,
            cap=10 if chosen.cap is None else chosen.cap,
            seats=chosen.seats or MOST_SEATS,
            public=bool(chosen.public),
        )
        return await self._go(wanted, Place.SEAT)

    async def _join(self, words: str) -> Parting | None:
        return await self._go_by_code("join", words, Place.SEAT)

    async def _watch(self, words: str) -> Parting | None:
        return await self._go_by_code("watch", words, Place.BESIDE)

    async def _go_by_code(self, order: str, words: str, place: Place) -> Parting | None:
        found = destination(words)
        if found is None or not found.code:
            self._say(f"no: A table's code looks like mint-otter-42: {order} mint-otter-42.")
            return None
        if found.server.lower() not in ("", self._house.url.rstrip("/").lower()):
            self._say(
                f"no: That table is at another house. Say quit, and then: "
                f"saratoga {order} {found.url} --plain."
            )
            return None
        return await self._go(found.code, place)

    async def _go(self, table: str | TableWanted, place: Place) -> Parting | None:
        if place is Place.SEAT and self._name is None:
            self._say("no: Take a name first: name NAME.")
            return None
        code = table if isinstance(table, str) else ""
        if place is Place.SEAT and (racing_at := await freed(self._house, code)):
            self._say(
                f"no: Your race at {racing_at} is still on. "
                f"Say join {racing_at} to go on, or leave to give it up."
            )
            return None
        return await play_table(
            self._house,
            table,
            place=place,
            talk=self._talk,
            witness=self._witness,
            keepsakes=self._keepsakes,
        )

    async def _leave(self, words: str) -> None:
        code = self._house.welcome.table
        if code is None:
            self._say("no: You have no seat. Say quit to end the program.")
            return
        await self._house.request(partial(LeaveTable, table=code))
        self._say(f"ok: your seat at {code} was given up")

    async def _practise(self, words: str) -> Parting | None:
        name, _, seed = words.partition(" ")
        game = GAMES.get(name.lower())
        if game is None:
            self._say(f"no: Say which game: practice GAME, with one of {', '.join(GAMES)}.")
            return None
        try:
            return await practise(game, seed, talk=self._talk)
        except BadSeed as fault:
            self._say(f"no: {fault}")
            return None

    async def _leaderboard(self, words: str) -> None:
        name, _, period = words.lower().partition(" ")
        if name not in GAMES or (period and period not in PERIODS):
            self._say(
                f"no: Say leaderboard GAME, with one of {', '.join(GAMES)}, "
                f"and then perhaps {', '.join(PERIODS)}."
            )
            return
        page = await self._house.ask(
            partial(GetLeaderboard, game=name, period=period or "day"), events.Leaderboard
        )
        heading, *rows = leaderboard_lines(page)
        self._say(f"leaderboard: {heading}", *(f"leader {row}" for row in rows))

    async def _rules(self, words: str) -> None:
        self._talk.voice.say_all(rules_lines(words, None))

    async def _help(self, words: str) -> None:
        self._talk.help(Where.LOBBY)


def tables_lines(found: events.Tables) -> Iterator[str]:
    """The public tables, the newest first."""
    yield f"tables: {len(found.tables)}"
    for table in found.tables:
        yield (
            f"table {table.code}: {table.game}, {cap_words(table.cap)}, {table.phase}, host {table.host}, "
            f"{table.seated} of {counted(table.seats, 'seat')}"
        )
