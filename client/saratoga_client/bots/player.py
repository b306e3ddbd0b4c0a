"""A bot at a table: it gets ready, plays its board at its pace, and goes on with the next race.

It is a player of a `TableSession`, as a person is: the session takes part in fair deals, checks
records, raises alarms, and repeats moves. A person looks at the deal first, takes longer over a
hard choice than over an obvious move, and rests now and then. The pauses depend only on what the
bot sees and remembers, and on its variation.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, TypeAlias

from saratoga_client.bots.choose import Choice, Chooser, Memory, is_banking, percent, remember
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.open_connection import with_alarms
from saratoga_client.session.own_board import OwnBoard
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.table_view import takes_ready
from saratoga_protocol.refusals import RETRIED
from saratoga_rules.analysis import legal_moves
from saratoga_rules.game import Game
from saratoga_rules.moves import Carry, Draw
from saratoga_rules.position import View, format_position

AT_THE_DEAL: Final = 4.0
BEFORE_CASHING_OUT: Final = 3.0
BANK_AFTER_BANK: Final = 0.45
DRAW: Final = 0.75
"""Pause before a draw or a redeal."""
PLANNED: Final = 0.9
"""Pause before another move that continues a plan."""
CHOICE: Final = 1.3
"""Pause before any other move, to which the following are added."""
PER_CARRY: Final = 0.08
"""For each legal carry: there is more to compare."""
PER_STEP: Final = 0.15
"""For each further move of the plan that begins: it took longer to find."""
MOST_COUNTED: Final = 12
"""The most carries, and the most further moves, that a pause is longer for."""
NEW_CARD: Final = 0.3
"""Addition to these, and to a draw, after a draw of cards that the bot had not seen."""
REST: Final = 3.0
RESTS: Final = 4
"""Percentage of moves with a rest before them."""
VARIATION: Final = 0.35
"""Fraction by which a pause varies, up or down."""

Pace: TypeAlias = Callable[[Game, View, Memory, Choice], float]
"""A function that returns how many seconds a bot waits before a choice that it made with a memory."""


def steady_pace(moves_per_second: float) -> Pace:
    """Return a pace of so many moves per second; 0 for no pauses."""
    seconds = 1 / moves_per_second if moves_per_second > 0 else 0.0
    return lambda _game, view, memory, _choice: seconds * _varied(view, memory)


def human_pace(game: Game, view: View, memory: Memory, choice: Choice) -> float:
    """Return the pause before a move of a bot that plays like a person: about one move a second."""
    pause = _thought(game, view, memory, choice) * _varied(view, memory)
    rests = percent(format_position(view), memory.moves, memory.variation, "rest") < RESTS
    return pause + REST if rests else pause


def _varied(view: View, memory: Memory) -> float:
    """Return a factor around 1."""
    chance = percent(format_position(view), memory.moves, memory.variation, "pause")
    return 1 + VARIATION * (chance - 49.5) / 49.5


def _thought(game: Game, view: View, memory: Memory, choice: Choice) -> float:
    if memory.last is None:
        return AT_THE_DEAL
    if choice.move is None:
        return BEFORE_CASHING_OUT
    if is_banking(choice.move) and is_banking(memory.last):
        return BANK_AFTER_BANK
    new_card = NEW_CARD if isinstance(memory.last, Draw) and not memory.stock else 0.0
    if not isinstance(choice.move, Carry):
        return DRAW + new_card
    if memory.plan[:1] == (choice.move,):
        return PLANNED
    carries = sum(isinstance(move, Carry) for move in legal_moves(game, view))
    compared = PER_CARRY * min(carries, MOST_COUNTED)
    return CHOICE + new_card + compared + PER_STEP * min(len(choice.memory.plan), MOST_COUNTED)


LOG: Final = logging.getLogger("saratoga.bot")

HARMLESS_REFUSALS: Final = frozenset(
    {"", "wrong_phase", "wrong_commitment", "ready_blocked", "not_seated"}
)
"""Codes of refusals of *ready* that mean only that the table has changed; the next event says how.
Empty: a known deal, or no answer."""

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

    The session has entered the table, and nobody attends it. Raises `Problem` if the bot loses its
    seat, or the connection ends.
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
