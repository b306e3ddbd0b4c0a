"""What the benchmarks leave out of the house is out: a figure for nothing would please, and be wrong."""

import asyncio

from benchmarks.altered_house import KNOWN_DEALS, known_key
from benchmarks.contestants import house_server, lone_store
from kit.lean_racers import CODEC, LeanRacer, plausible, racing_tables
from saratoga_protocol.events import BoardView, MoveMade
from saratoga_protocol.views import wire_view
from saratoga_rules.deal import deal_for_key
from saratoga_rules.games import GAMES
from saratoga_rules.views import redact
from saratoga_server.store.keys import partition

GAME = "canfield"
MOVES = 3
WITHIN = 30.0
"""Seconds: a bound for what is awaited, never a measure."""


async def moved(racer: LeanRacer) -> BoardView:
    """The board as the house tells it after a few moves."""
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
    """A racer of a house with that replaced, their board after some moves, and how many logs are stored."""
    with (
        lone_store() as store,
        house_server("safe", "--redis", store.url, altered=altered) as running,
    ):
        (racers,) = await racing_tables(1, running.same, GAME, plausible)
        board = await moved(racers[0])
        logs = store.ask("KEYS", "*:log:*")
        for racer in racers:
            racer.go()
    return racers[0], board, logs


async def test_what_is_replaced_does_not_happen() -> None:
    racer, board, logs = await raced("no-rules", "no-commit", "partitions=1")
    assert racer.opening is not None
    assert (board.view, board.legal) == (racer.opening.view, racer.opening.legal)
    assert logs == b"*0"
    assert partition(board.race.partition("/")[0]) == 0


async def test_what_is_not_replaced_happens() -> None:
    racer, board, logs = await raced("known-deals")
    deals = (deal_for_key(GAMES[GAME], known_key(number)) for number in range(KNOWN_DEALS))
    assert racer.opening is not None
    assert racer.opening.view in [wire_view(redact(deal)) for deal in deals]
    assert board.view != racer.opening.view
    assert logs == b"*1"
