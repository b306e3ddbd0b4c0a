"""A table watched without a seat, as a stream of states, at a real server."""

import asyncio
from contextlib import aclosing

import pytest
from msgspec.structs import replace

from kit.in_process_server import gathered
from kit.stepped_connection import SteppedConnection, run_ready_tasks
from kit.stepped_session import SteppedSession, stepped_session
from saratoga_client.problems import Problem
from saratoga_client.session.state import SessionState
from saratoga_client.session.watcher import watched_states
from saratoga_protocol import events
from saratoga_protocol.commands import CashOut


async def collect(connection: SteppedConnection, code: str, seen: list[SessionState]) -> None:
    async with aclosing(watched_states(connection, code)) as states:
        async for state in states:
            seen += [state]


async def watch(there: SteppedSession, code: str) -> tuple[asyncio.Task[None], list[SessionState]]:
    """Watch the table in place of a session with a seat; return the task and the states."""
    there.attending.cancel()
    await run_ready_tasks()
    seen: list[SessionState] = []
    watching = asyncio.create_task(collect(there.connection, code, seen))
    await run_ready_tasks()
    await there.settle()
    return watching, seen


async def test_a_watcher_gets_every_state_of_a_race_until_the_table_is_closed() -> None:
    async with stepped_session() as there:
        ben, carl = await there.server.player("Ben"), await there.server.player("Carl")
        code = await gathered(ben, carl)
        watching, seen = await watch(there, code)
        await there.server.deal(ben, carl)
        await there.settle()
        for player in (ben, carl):
            await player.ask(CashOut, race=player.board.race)
        await there.pass_time(1_000)
        phases = list(dict.fromkeys(state.phase for state in seen))
        assert phases == ["gathering", "countdown", "running", "over"]
        assert seen[-1].table_view.outcome is not None
        assert all(state.own is None for state in seen)
        table = seen[-1].table
        closed = replace(table, phase="closed", version=table.version + 1)
        await there.receive(events.TableChanged(table=closed, now=0))
        await watching
        assert seen[-1].phase == "closed"


async def test_a_table_that_does_not_exist_cannot_be_watched() -> None:
    async with stepped_session() as there:
        watching, _ = await watch(there, "mint-otter-42")
        with pytest.raises(Problem, match="no table"):
            await watching


async def test_watching_ends_with_a_problem_if_the_server_ends_it() -> None:
    async with stepped_session() as there:
        ben = await there.server.player("Ben")
        code = await gathered(ben)
        watching, _ = await watch(there, code)
        await there.receive(events.SeatLost(table=code, reason="The table is closed."))
        with pytest.raises(Problem, match="You no longer watch table"):
            await watching
