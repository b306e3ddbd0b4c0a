"""A bot at a table: it gets ready, plays its board, and goes on with the next race.

It is a player of a `TableSession`, as a person is: the session takes part in fair deals, checks records,
raises alarms, and repeats moves.
"""

import asyncio
import logging
import time
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from saratoga_client.bots.choose import Choice, Chooser
from saratoga_client.bots.memory import Memory, remember
from saratoga_client.bots.pace import Pace
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.error_messages import with_alarms
from saratoga_client.session.own_board import OwnBoard
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.table_view import takes_ready
from saratoga_protocol.refusals import RETRIED

LOG: Final = logging.getLogger("saratoga.bot")

HARMLESS_REFUSALS: Final = frozenset(
    {"", "wrong_phase", "wrong_commitment", "ready_blocked", "not_seated"}
)
"""Codes of refusals of *ready* that mean only that the table has changed; the next event says how. Empty: a
known deal, or no answer."""

MOST_REFUSALS: Final = 10
"""Number of refusals in a row after which the bot stops with an error."""

RETRY_AFTER: Final = 0.5
"""Seconds after a refusal before the bot acts again."""


async def stay(
    session: TableSession,
    choose: Chooser,
    pace: Pace,
    *,
    variation: int = 0,
    races: int | None = None,
) -> None:
    """Play at the session's table until the records of `races` races are checked; `None` means no limit.

    The session has entered the table, and nobody attends it. Raises `Problem` if the bot loses its seat, or the
    connection ends.
    """
    try:
        await first_result(session.attend(), _race(session, choose, pace, variation, races))
    except Problem:
        state = session.state
        if state is None or not (state.seat_lost or state.phase == "closed"):
            raise
        reason = state.seat_lost or state.table.notice or "The table is closed."
        lost = Problem("The bot has lost its seat.", reason, Exit.REFUSED)
        raise with_alarms(lost, state.alarms) from None


async def first_result(*works: Coroutine[Any, Any, Any]) -> Any:
    """Run coroutines until one ends; return or raise what it does, and cancel the others."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(task for task in tasks if task.done()).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _race(
    session: TableSession, choose: Chooser, pace: Pace, variation: int, races: int | None
) -> None:
    """Get ready and play until the records of `races` races are checked."""
    raced: set[str] = set()
    tried = ""
    """The commitment of the last deal that the bot got ready for."""

    def is_done(state: SessionState) -> bool:
        return len(raced.intersection(state.verifications)) == races

    def may_get_ready(state: SessionState) -> bool:
        table, seat, ended = state.table, state.seat, state.table.previous
        if ended is not None and ended.reason:
            raced.discard(ended.race)  # a voided race does not count
        is_unready = seat is not None and not seat.ready and not seat.blocked
        is_new = takes_ready(table) and table.commitment != tried
        return is_unready and is_new and state.game is not None and len(raced) != races

    def may_act(state: SessionState) -> bool:
        is_dealt = state.own is not None and state.own.may_move
        return is_dealt or may_get_ready(state) or is_done(state)

    while not is_done(state := await session.until(may_act)):
        if state.own is not None and state.own.may_move:
            raced.add(state.own.race)
            await _play(session, state.own, choose, pace, Memory(variation=variation))
        else:
            tried = state.table.commitment if await _got_ready(session) else ""


async def _got_ready(session: TableSession) -> bool:
    """Mark the bot ready; return whether it should not try again for this deal."""
    try:
        await session.ready()
    except Problem as problem:
        # a refusal means that the table has changed; a known deal is the server's fault
        level = logging.INFO if problem.refusal else logging.WARNING
        LOG.log(level, "the bot did not get ready: %s", problem)
        is_passing = problem.refusal in RETRIED or problem.code is Exit.UNREACHABLE
        if is_passing:
            await asyncio.sleep(RETRY_AFTER)
        elif problem.refusal not in HARMLESS_REFUSALS:
            raise
        return not is_passing
    return True


async def _play(
    session: TableSession, own: OwnBoard, choose: Chooser, pace: Pace, memory: Memory
) -> None:
    """Play a board until it ends."""

    def think(own: OwnBoard, memory: Memory) -> tuple[Choice, float]:
        """Return the choice, and the seconds to wait before it is sent."""
        choice = choose(own.game, own.view, memory)
        return choice, pace(own.game, own.view, memory, choice)

    def has_ended(state: SessionState) -> bool:
        return state.own is None or not state.own.is_racing

    race, refusals = own.race, 0
    while own.race == race and own.may_move:
        before, began, reason = own, time.monotonic(), ""
        choice, pause = await asyncio.to_thread(think, own, memory)
        with suppress(TimeoutError):
            async with asyncio.timeout(began + pause - time.monotonic()):
                await session.until(has_ended)
        own = _board(session, own)
        if own.view == before.view and own.may_move:
            try:
                if choice.move is None:
                    await session.cash_out()
                else:
                    session.play(choice.move)
                await session.until(lambda state: state.own is None or not state.own.in_flight)
            except Problem as problem:
                reason = str(problem)
            own = _board(session, own)
        reason = reason or own.taken_back
        if choice.move is not None and not reason and own.count > before.count:
            memory = remember(own.game, choice.memory, before.view, choice.move, own.view)
            refusals = 0
            continue
        # the server has refused the choice, or the board has changed: the plan is of no use
        memory = replace(memory, plan=(), stock=())
        if reason and own.may_move:
            refusals += 1
            if refusals > MOST_REFUSALS:
                raise Problem("The server refuses the bot's moves.", reason, Exit.REFUSED)
            await asyncio.sleep(RETRY_AFTER)
            own = _board(session, own)


def _board(session: TableSession, own: OwnBoard) -> OwnBoard:
    """Return the present board, or without one the former as ended."""
    now = session.state and session.state.own
    return now or replace(own, state="")
