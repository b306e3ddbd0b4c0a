"""Tests that the parts of the server that `altered_server.py` replaces have no effect."""

import asyncio

from benchmarks.contestants import game_server, lone_store
from kit.lean_racers import CODEC, LeanRacer, plausible, racing_tables
from saratoga_protocol.events import BoardView, MoveMade

GAME = "canfield"
MOVES = 3
WITHIN = 30.0
"""Longest time in seconds that a wait takes; a bound, not a measurement."""


async def moved(racer: LeanRacer) -> BoardView:
    """Return the board as the server sends it after a few moves."""
    heard: asyncio.Future[BoardView] = asyncio.get_running_loop().create_future()

    def hear(message: bytes) -> None:
        event = CODEC.decode_event(message)
        usual(message)
        if isinstance(event, MoveMade):
            if event.board.count == MOVES:
                heard.set_result(event.board)
            else:
                racer.move()

    usual, racer.socket.on_message = racer.socket.on_message, hear
    racer.move()
    async with asyncio.timeout(WITHIN):
        return await heard


async def raced(*altered: str) -> tuple[LeanRacer, BoardView, bytes]:
    """Return a racer of an altered server, its board after some moves, and the number of stored logs."""
    with (
        lone_store() as store,
        game_server("safe", "--redis", store.url, altered=altered) as running,
    ):
        (racers,) = await racing_tables(1, running.same, GAME, plausible)
        board = await moved(racers[0])
        logs = store.ask("KEYS", "*:log:*")
        for racer in racers:
            racer.disconnect()
    return racers[0], board, logs


async def test_without_rules_the_position_stays_and_moves_are_stored() -> None:
    racer, board, logs = await raced("no-rules")
    assert racer.opening is not None
    assert (board.view, board.legal) == (racer.opening.view, racer.opening.legal)
    assert logs == b"*1"


async def test_without_commit_the_position_changes_and_nothing_is_stored() -> None:
    racer, board, logs = await raced("no-commit")
    assert racer.opening is not None
    assert board.view != racer.opening.view
    assert logs == b"*0"
