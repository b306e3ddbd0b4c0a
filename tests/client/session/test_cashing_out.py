"""A player cashes out once, also when the connection is lost or the answer is unclear."""

import asyncio

import pytest

from kit.stepped_connection import run_ready_tasks
from kit.stepped_session import stepped_session
from saratoga_client.problems import Problem
from saratoga_protocol.commands import CashOut
from saratoga_rules.moves import DRAW


async def test_cashing_out_while_disconnected_is_done_after_reconnecting() -> None:
    async with stepped_session() as there:
        await there.gather()
        await there.start_race()
        await there.network.cut()
        cashing = asyncio.create_task(there.session.cash_out())
        await run_ready_tasks()
        assert there.own.is_cashing_out
        await there.network.restore()
        await there.settle()
        await cashing
        assert there.own.state == "cashed out"
        assert await there.moves() == ["cash-out"]


@pytest.mark.parametrize("is_done", [True, False])
@pytest.mark.parametrize("code", ["server_fault", "store_unavailable"])
async def test_cashing_out_with_an_unclear_answer_is_repeated_and_done_once(
    code: str, is_done: bool
) -> None:
    async with stepped_session() as there:
        await there.gather()
        await there.start_race()
        there.network.refusals.append((code, is_done))
        await there.do(there.session.cash_out())
        assert there.own.state == "cashed out"
        assert await there.moves() == ["cash-out"]


async def test_cashing_out_a_board_that_has_ended_shows_how_it_ended() -> None:
    async with stepped_session() as there:
        await there.gather()
        await there.start_race()
        await there.on_another_device(CashOut)
        cashing = asyncio.create_task(there.session.cash_out())
        await there.network.restore()
        await there.settle()
        await cashing
        assert there.own.state == "cashed out"
        assert await there.moves() == ["cash-out"]


async def test_after_a_refused_cash_out_the_race_goes_on() -> None:
    async with stepped_session() as there:
        await there.gather()
        await there.start_race()
        there.network.refusals.append(("time_up", False))
        with pytest.raises(Problem):
            await there.do(there.session.cash_out())
        assert there.session.play(DRAW)
