"""Every lie about an evening is caught where the table says, at a terminal, by a bot and by `saratoga verify`."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.structs import replace as replace_struct

from kit.evenings import (
    ME,
    RACE,
    WATCHER,
    Client,
    Item,
    Told,
    is_table,
    moves_of,
    race_of,
    replayed,
)
from kit.fact_lies import LIES, LIVE, Lie
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.table_view import takes_ready
from saratoga_client.session.verdict import CHANGED, prove
from saratoga_client.session.witness import Witness
from saratoga_protocol import commands, events
from saratoga_protocol.events import Event
from saratoga_rules.moves import parse_move

STRANGER = "w" * 16

RACES = 3
"""The races of an evening that are over in the end."""


def told_with(lie: Lie, evening: Mapping[str, Told]) -> tuple[Told, str]:
    """Return what the client is told with the lie, and the player that the server welcomes."""
    return lie.edit(evening[lie.client]), "" if lie.welcomed else STRANGER


async def at_terminal(told: Told, folder: Path, welcomed: str = "") -> SessionState:
    """Race as a person; return the state when an alarm was raised, or all records were checked.

    Raises `Problem` if the session ends before.
    """
    async with replayed(told, welcomed) as (connection, server):
        session = TableSession(
            connection, witness=Witness(folder / "witness"), records=RecordStore(folder / "races")
        )
        attending = asyncio.create_task(session.attend())

        def is_over(state: SessionState) -> bool:
            is_checked = len(state.verifications) >= RACES and not session.is_checking
            return bool(state.alarms) or (server.is_done and is_checked and is_whole)

        async def until(holds: Callable[[SessionState], bool]) -> bool:
            """Wait for a state; return whether the evening goes on."""
            state = await session.until(lambda state: is_over(state) or holds(state))
            return not is_over(state)

        is_whole = len(told.records) == RACES  # else an alarm is to come
        moves = iter(moves_of(told))
        await session.sit_down(next(iter(told.records)).partition("/")[0])
        try:
            while await until(_may_act):
                state = session.state
                assert state is not None
                if state.own is None or not state.own.may_move:
                    await session.ready()
                    continue
                move = next(moves)
                if isinstance(move, commands.MakeMove):
                    session.play(parse_move(move.move))
                else:
                    await session.cash_out()
        except Problem:
            await attending  # raises the problem that has ended the session
        state = session.state
        assert state is not None
        if state.seat_lost or state.phase == "closed":
            await attending
        attending.cancel()
        await asyncio.gather(attending, return_exceptions=True)
        return session.state or state


def _may_act(state: SessionState) -> bool:
    own, seat = state.own, state.seat
    is_unready = seat is not None and not seat.ready and not seat.blocked
    return (own is not None and own.may_move) or (takes_ready(state.table) and is_unready)


async def keys_of(lie: Lie, evening: Mapping[str, Told]) -> tuple[set[str], set[str]]:
    """Return the kinds of the facts, or the checks, that catch a lie at once and when the record comes."""
    told, welcomed = told_with(lie, evening)
    client = await Client(told, welcomed=welcomed).hear()
    live = {finding.key[0] for finding in client.duties.findings}
    later = set()
    for proof in (await client.check()).values():
        later |= {finding.key[0] for finding in proof.findings}
        later |= {check.name for check in proof.checks if check.is_contradicted}
    return live, later - {"witness"}


@pytest.mark.parametrize("name", [ME, WATCHER, "Anna", "Cleo"])
async def test_an_honest_evening_raises_no_alarm(evening: Mapping[str, Told], name: str) -> None:
    client = await Client(evening[name]).hear()
    proofs = await client.check()
    assert client.duties.alarms == ()
    assert all(proof.ok for proof in proofs.values())
    assert len(proofs) == 3
    expected = "watched" if name == WATCHER else "raced"
    assert {proof.verdict for proof in proofs.values()} == {expected}


@pytest.mark.parametrize("name", LIES)
async def test_a_lie_is_caught_by_its_fact(evening: Mapping[str, Told], name: str) -> None:
    lie = LIES[name]
    live, later = await keys_of(lie, evening)
    if lie.where == LIVE:
        assert lie.key in live
    else:
        assert live == set()
        assert lie.key in later


async def test_every_kind_of_fact_is_the_only_one_that_catches_some_lie(
    evening: Mapping[str, Told],
) -> None:
    alone: Counter[str] = Counter()
    for lie in LIES.values():
        live, later = await keys_of(lie, evening)
        if len(live | later) == 1:
            alone.update(live | later)
    assert CHANGED.keys() - alone.keys() == set()


@pytest.mark.parametrize("name", [name for name, lie in LIES.items() if lie.client == ME])
async def test_a_lie_is_said_in_a_session_and_by_verify(
    evening: Mapping[str, Told], name: str, tmp_path: Path
) -> None:
    told, welcomed = told_with(LIES[name], evening)
    assert (await at_terminal(told, tmp_path, welcomed)).alarms
    proofs = [
        prove(text.encode(), race, Witness(tmp_path / "witness").evidence(race))
        for race, text in told.records.items()
    ]
    assert any(proof.is_contradicted for proof in proofs) or welcomed


def without_record(told: Told, *ends: Event) -> Told:
    """Return what is told if the server has no record of a race, which ends with these events as it begins to run."""
    race = race_of(told, RACE)
    records = {each: text for each, text in told.records.items() if each != race}
    if not ends:
        return replace(told, records=records)
    begin = next(
        place for place, item in enumerate(told.items) if is_table(item.event, race, "running")
    )
    return replace(told, items=(*told.items[:begin], *map(Item, ends)), records=records)


@pytest.mark.usefixtures("impatient_checks")
async def test_a_record_that_is_never_sent_is_missing(
    evening: Mapping[str, Told], tmp_path: Path
) -> None:
    told = without_record(evening[ME])
    state = await at_terminal(told, tmp_path)
    assert [alarm.partition(":")[0] for alarm in state.alarms] == ["Missing"]


@pytest.mark.usefixtures("impatient_checks")
@pytest.mark.parametrize("how", ["closed", "seat lost"])
async def test_a_race_that_is_taken_away_with_the_table_or_the_seat_is_missing(
    evening: Mapping[str, Told], tmp_path: Path, how: str
) -> None:
    told = evening[ME]
    code, _, _ = race_of(told, RACE).partition("/")
    last = next(
        item.event for item in told.items if is_table(item.event, race_of(told, RACE), "countdown")
    )
    assert isinstance(last, events.TableChanged)
    closed = replace_struct(last, table=replace_struct(last.table, phase="closed", version=10_000))
    lost = events.SeatLost(table=code, reason="Your seat was given up.")
    told = without_record(told, closed if how == "closed" else lost)
    with pytest.raises(Problem) as ended:
        await at_terminal(told, tmp_path)
    assert ended.value.code is Exit.NOT_VERIFIED
    assert "Missing: the server started race" in ended.value.what


async def test_an_honest_evening_is_verified(evening: Mapping[str, Told], tmp_path: Path) -> None:
    told = evening[ME]
    state = await at_terminal(told, tmp_path)
    assert state.alarms == ()
    assert all(found.ok for found in state.verifications.values())
