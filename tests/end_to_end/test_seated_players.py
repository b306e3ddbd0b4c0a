"""Table sessions of two players at a real server process: whole races."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from kit.server_process import ServerProcess
from saratoga_client.local.identity import new_token
from saratoga_client.net.connection import Connection, LinkState
from saratoga_client.problems import Problem
from saratoga_client.session.own_board import OwnBoard
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.witness import Witness
from saratoga_rules.analysis import legal_moves
from saratoga_rules.moves import DRAW, REDEAL, Carry, Move
from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.standing import State

WITHIN = 60.0
"""Longest time in seconds for anything awaited; a bound, not a measurement."""


class Person:
    """A player who banks when possible, draws otherwise, and cashes out after `patience` moves."""

    attending: asyncio.Task[None]

    def __init__(self, connection: Connection, token: str, folder: Path, patience: int) -> None:
        self.token = token
        self.seated = TableSession(
            connection,
            witness=Witness(folder / "witness"),
            records=RecordStore(folder / "races"),
        )
        self.seated.subscribe(self._seen)
        self.connection = connection
        self.patience = patience
        self.made = 0
        self.taken_back: list[str] = []
        self.links: list[LinkState] = []

    def _seen(self, state: SessionState) -> None:
        own = state.own
        if own is not None and own.taken_back and own.taken_back not in self.taken_back:
            self.taken_back.append(own.taken_back)
        if not self.links or self.links[-1] is not state.link:
            self.links.append(state.link)

    async def race(self) -> RaceRecord:
        """Play a race from the deal to the verified record."""
        state = await self.seated.until(lambda e: e.own is not None)
        assert state.own is not None
        race = state.own.race
        while (move := await self._choice()) is not None:
            assert self.seated.play(move)
            self.made += 1
        await self.seated.cash_out()
        await self.seated.until(lambda e: race in e.verifications)
        return await self.seated.record(race)

    async def _choice(self) -> Move | None:
        """Return the next move as soon as one is possible; `None` if the player is done."""
        state = await self.seated.until(
            lambda e: e.own is None or e.own.may_move or not e.own.is_racing
        )
        own = state.own
        if own is None or not own.is_racing or self.made >= self.patience:
            return None
        return chosen(own)


def chosen(own: OwnBoard) -> Move | None:
    legal = legal_moves(own.game, own.shown)
    banking = [move for move in legal if isinstance(move, Carry) and move.target in ("up", "down")]
    turning = [move for move in (DRAW, REDEAL) if move in legal]
    return next(iter([*banking, *turning, *legal]), None)


@asynccontextmanager
async def people(url: str, folder: Path, patience: int) -> AsyncIterator[tuple[Person, Person]]:
    """Ana opens a table and Raj joins it; yield both."""
    async with AsyncExitStack() as stack:
        found = []
        for name in ("Ana", "Raj"):
            token = new_token()
            connection = await stack.enter_async_context(Connection(url, token, name=name))
            found.append(Person(connection, token, folder / name, patience))
        ana, raj = found
        for person in found:
            person.attending = asyncio.create_task(person.seated.attend())
        try:
            table = await ana.seated.open_table("canfield", cap=5)
            await raj.seated.sit_down(table.code)
            yield ana, raj
        finally:
            for person in found:
                person.attending.cancel()
            await asyncio.gather(*(person.attending for person in found), return_exceptions=True)


async def start(ana: Person, raj: Person) -> None:
    for person in (ana, raj):
        await person.seated.until(lambda e: e.phase == "gathering")
        await person.seated.ready()
    await ana.seated.start()


async def test_two_people_race_to_the_result_and_again(
    quick_server: ServerProcess, tmp_path: Path
) -> None:
    async with asyncio.timeout(WITHIN), people(quick_server.url, tmp_path, 40) as (ana, raj):
        await start(ana, raj)
        records = await asyncio.gather(ana.race(), raj.race())
        assert records[0] == records[1]
        check_the_end(ana, records[0])
        check_the_end(raj, records[1])
        best = ana.seated.state
        assert best is not None

        await ana.seated.next_race()
        await start(ana, raj)
        ana.made = raj.made = 0
        again = await asyncio.gather(ana.race(), raj.race())
        assert again[0].race == 2
        table = ana.seated.state
        assert table is not None
        assert {seat.races for seat in table.table.seats} == {2}


async def test_a_race_continues_after_the_server_was_killed_in_the_middle(
    quick_server: ServerProcess, tmp_path: Path
) -> None:
    async with asyncio.timeout(WITHIN), people(quick_server.url, tmp_path, 60) as (ana, raj):
        await start(ana, raj)
        racing = [asyncio.create_task(person.race()) for person in (ana, raj)]
        await ana.seated.until(lambda e: e.own is not None and e.own.count >= 5)
        await quick_server.kill()
        await quick_server.start()
        records = await asyncio.gather(*racing)
        for person, record in zip((ana, raj), records, strict=True):
            check_the_end(person, record)
            assert LinkState.RECONNECTING in person.links
            assert person.links[-1] is LinkState.CONNECTED


async def test_a_kicked_player_and_one_who_moved_to_another_window_get_a_message(
    quick_server: ServerProcess, tmp_path: Path
) -> None:
    async with (
        asyncio.timeout(WITHIN),
        AsyncExitStack() as stack,
        people(quick_server.url, tmp_path, 0) as (ana, raj),
    ):
        await ana.seated.until(lambda e: len(e.table.seats) == 2)
        await ana.seated.kick(raj.connection.welcome.player)
        with pytest.raises(Problem, match="kicked you") as parting:
            await raj.attending
        assert "the host allows it" in parting.value.remedy

        window = await stack.enter_async_context(Connection(quick_server.url, ana.token))
        second = Person(window, ana.token, tmp_path / "second", patience=0)
        second.attending = asyncio.create_task(second.seated.attend())
        state = ana.seated.state
        assert state is not None
        await second.seated.sit_down(state.table.code)
        with pytest.raises(Problem, match="another device or window"):
            await ana.attending
        await second.seated.until(lambda e: e.is_host)
        await second.seated.leave()
        await second.attending


def check_the_end(person: Person, record: RaceRecord) -> None:
    """Check that the record agrees with what the player saw, and that no move was lost."""
    state = person.seated.state
    assert state is not None
    assert state.own is not None
    log = record.racer(state.player)
    row = next(row for row in record.results if row.player == state.player)
    # only the end of a stuck board may take back moves that were made before its confirmation
    assert [why for why in person.taken_back if not why.endswith("ended: stuck.")] == []
    if person.taken_back:
        assert row.state == State.STUCK
        assert log.moves < person.made
    else:
        assert log.moves == person.made
    assert len(log.log) == state.own.count
    assert (row.banked, row.state) == (state.own.banked, state.own.state)
    found = state.verifications[record.race_id]
    assert found.ok, found.sentence
    assert "the race that you played" in found.sentence
    assert state.alarms == ()
    assert (state.best is not None) is (row.reached is not None)
