"""A table session in a race at a real server: the countdown and records."""

import asyncio
import threading
from typing import Any

import pytest

from kit.stepped_connection import run_ready_tasks
from kit.stepped_session import SteppedSession, stepped_session
from saratoga_client.net.connection import Timing
from saratoga_client.problems import Exit, Problem
from saratoga_client.session import verification
from saratoga_protocol import events
from saratoga_protocol.commands import GetRecord, Reveal
from saratoga_rules.moves import DRAW
from saratoga_server.domain.tables.countdown import CALL_MILLIS, COUNTDOWN_MILLIS


async def lose_connection_in_countdown(there: SteppedSession) -> None:
    """Get ready and start the countdown, then lose the connection before the nonce is revealed."""
    await there.gather()
    await there.do(there.session.ready())
    starting = asyncio.create_task(there.session.start())
    await run_ready_tasks()
    await there.network.answer_one()
    while not starting.done():
        await there.server.settle()
        there.network.deliver_one()
        await there.network.quiet()
    await there.server.pass_time(CALL_MILLIS)
    while not there.network.commands:
        await there.server.settle()
        there.network.deliver_one()
        await there.network.quiet()
    assert [type(command) for command in there.network.commands] == [Reveal]
    await there.network.cut()
    assert there.state.phase == "countdown"
    assert there.state.link == "reconnecting"


async def test_after_reconnecting_in_the_countdown_the_nonce_is_revealed_and_the_race_starts() -> (
    None
):
    async with stepped_session() as there:
        await lose_connection_in_countdown(there)
        await there.network.restore()
        await there.settle()
        await there.pass_time(COUNTDOWN_MILLIS)
        assert there.session.play(DRAW)
        await there.settle()
        assert await there.moves() == ["draw"]
        assert there.state.alarms == ()


async def test_after_a_countdown_cancelled_meanwhile_the_player_can_get_ready_again() -> None:
    async with stepped_session() as there:
        await lose_connection_in_countdown(there)
        # without any nonce the countdown begins again, once
        for _ in range(2):
            await there.server.pass_time(COUNTDOWN_MILLIS)
        await there.network.restore()
        await there.settle()
        assert there.state.phase == "gathering"
        assert there.state.table.notice
        assert there.state.alarms == ()
        await there.do(there.session.ready())
        assert there.state.seat is not None
        assert there.state.seat.ready


async def finish_race(there: SteppedSession) -> str:
    """Race until the time limit; return the race's id."""
    await there.gather(cap=3)
    await there.start_race()
    race = there.own.race
    await there.do(there.session.cash_out())
    await there.pass_time(190_000)
    assert there.state.phase == "over"
    return race


async def test_a_record_is_requested_once_and_kept() -> None:
    async with stepped_session() as there:
        race = await finish_race(there)
        await there.session.until(lambda state: race in state.verifications)
        assert there.state.verifications[race].ok
        requests = [type(command) for command in there.network.answered].count(GetRecord)
        await there.network.cut()
        assert (await there.session.record(race)).race_id == race
        assert requests == 1


async def test_a_record_that_is_being_checked_is_neither_fetched_nor_checked_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begin, proofs = threading.Event(), []

    def held(*args: Any, **more: Any) -> verification.Proof:
        assert begin.wait(10)
        proofs.append(prove(*args, **more))
        return proofs[-1]

    prove = verification.prove
    monkeypatch.setattr(verification, "prove", held)
    async with stepped_session() as there:
        race = await finish_race(there)
        asking = asyncio.create_task(there.do(there.session.record(race)))
        await run_ready_tasks()
        begin.set()
        await asking
        requests = [type(command) for command in there.network.answered].count(GetRecord)
        assert (requests, len(proofs)) == (1, 1)


async def test_a_record_without_an_answer_is_reported_as_missing() -> None:
    async with stepped_session(timing=Timing(answer_within=0.01)) as there:
        there.attending.cancel()
        with pytest.raises(Problem, match="did not answer in time"):
            await there.session.record("mint-otter-42/1")


async def test_a_record_of_an_unknown_race_is_reported_as_missing() -> None:
    async with stepped_session() as there:
        code = await there.gather()
        with pytest.raises(Problem, match="There is no such race"):
            await there.do(there.session.record(f"{code}/99"))


async def test_an_unreadable_record_is_reported() -> None:
    async with stepped_session() as there:
        await there.gather()
        race = "mint-otter-42/1"
        asking = asyncio.create_task(there.session.record(race))
        await run_ready_tasks()
        command = there.network.commands.popleft()
        await there.receive(events.Record(re=command.id, race=race, text="nonsense"))
        with pytest.raises(Problem, match="unreadable record") as reported:
            await asking
        assert "The announced result still counts." in reported.value.remedy
        assert reported.value.code is Exit.NOT_VERIFIED


async def test_a_record_is_checked_although_the_next_race_gathers_already() -> None:
    async with stepped_session() as there:
        race = await finish_race(there)
        await there.do(there.session.next_race())
        await there.session.until(lambda state: race in state.verifications)
        assert there.state.phase == "gathering"
        assert not there.state.is_new_best
