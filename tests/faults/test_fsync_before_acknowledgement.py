"""System calls show that a move is acknowledged only when the store's log is on disk.

Server and store are traced together, so their calls have one order: the move is sent to the store, the
store writes and syncs its log, and only then the acknowledgement is written to the player's socket.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random

from kit import quick_countdown
from kit.recorded_players import NotingConnection
from kit.server_process import running_server
from kit.system_calls import MUST_TRACE, STRACE, Span, read_spans, traced_with_children
from saratoga_client.session.fairness import FairnessDuties
from saratoga_protocol.commands import CreateTable, MakeMove, Start
from saratoga_protocol.events import BoardView, MoveMade, Snapshot
from saratoga_protocol.views import rules_view
from saratoga_rules.games import GAMES
from saratoga_rules.judge import legal_moves

GAME = "lady-palk"
MOVES = 20
"""The number of moves, below the number of stock cards, so that no board is stuck."""


async def make_moves(url: str) -> int:
    """Race alone and make one move after another; return the number of acknowledged moves."""
    async with NotingConnection(url, "Anna") as connection:
        duties, random = FairnessDuties(connection), Random(1)
        await connection.request(partial(CreateTable, game=GAME))
        async for event in connection.events():
            await duties.handle(event)
            if isinstance(event, Snapshot):
                await duties.ready()
                await connection.request(partial(Start, table=event.table.code))
            if connection.notes.openings:
                break
        (board,) = connection.notes.openings.values()
        for _ in range(MOVES):
            board = await move(connection, board, random)
        return len(connection.notes.acknowledged)


async def move(connection: NotingConnection, board: BoardView, random: Random) -> BoardView:
    choice = random.choice(list(legal_moves(GAMES[GAME], rules_view(board.view))))
    draft = partial(MakeMove, race=board.race, after=board.count, move=str(choice))
    return (await connection.ask(draft, MoveMade)).board


async def acknowledgements(folder: Path, durability: str) -> list[bool]:
    """Return for each acknowledged move whether the log was on disk before the acknowledgement."""
    before = tuple(traced_with_children(folder / "calls"))
    async with running_server(
        "--durability",
        durability,
        folder=folder,
        before=before,
        module=quick_countdown.MODULE,
    ) as server_process:
        assert await make_moves(server_process.url) == MOVES
    return list(_durable_when_acknowledged(read_spans(folder / "calls")))


def _durable_when_acknowledged(spans: Sequence[Span]) -> Iterator[bool]:
    commits = [span for span in spans if span.call.writes and "commit_boards" in span.call.rest]
    for span in spans:
        if span.call.writes and "move_made" in span.call.rest:
            commit = max(c.began for c in commits if c.began < span.began)
            logged = [s.ended for s in spans if s.call.on_log and s.call.writes]
            logged = [at for at in logged if commit < at < span.began]
            synced = [s for s in spans if s.call.on_log and s.call.syncs]
            yield bool(logged) and any(
                logged[-1] < s.began and s.ended < span.began for s in synced
            )


if STRACE or MUST_TRACE:

    async def test_no_move_is_acknowledged_before_it_is_on_disk(tmp_path: Path) -> None:
        assert await acknowledgements(tmp_path, "safe") == [True] * MOVES

    async def test_the_trace_shows_acknowledgements_before_the_sync(tmp_path: Path) -> None:
        shown = await acknowledgements(tmp_path, "fast")
        assert len(shown) == MOVES
        assert not all(shown)
