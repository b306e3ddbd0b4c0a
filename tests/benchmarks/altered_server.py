"""The server with parts of it replaced, to measure what they cost; for benchmarks only.

    python tests/benchmarks/altered_server.py no-rules no-commit -- --port 0 ...

`no-rules` accepts every move without judging it: the position and the list of legal moves stay as dealt.
`no-commit` treats every move as stored. Both replace public functions before the server starts.
"""

import runpy
import sys
import time
from collections.abc import Callable


def without_rules() -> None:
    from saratoga_rules import judge
    from saratoga_rules.game import Game
    from saratoga_rules.moves import Move
    from saratoga_rules.position import Position
    from saratoga_rules.stuck import stuck

    listed = judge.legal_moves
    known: dict[str, list[Move]] = {}

    def legal_moves(game: Game, position: Position) -> list[Move]:
        if game.name not in known:
            known[game.name] = listed(game, position)
        return known[game.name]

    def play(game: Game, position: Position, move: Move) -> Position:
        # a new position object, as after every move
        return Position(*position)

    judge.legal_moves, judge.play = legal_moves, play
    stuck.may_declare = lambda position: False


def without_commit() -> None:
    import asyncio

    from saratoga_server.ports import BoardCommit, CommitOutcome, CommitStatus, Millis
    from saratoga_server.store.batcher import Batcher

    numbers: dict[tuple[str, int], int] = {}

    def commit(_: Batcher, each: BoardCommit) -> asyncio.Future[CommitOutcome]:
        at = each.table, each.race
        number = numbers[at] = numbers.get(at, 0) + len(each.entries)
        stored: asyncio.Future[CommitOutcome] = asyncio.get_running_loop().create_future()
        stored.set_result(
            CommitOutcome(
                CommitStatus.DONE,
                each.after + len(each.entries),
                Millis(int(time.time() * 1000)),
                number - len(each.entries) + 1,
            )
        )
        return stored

    setattr(Batcher, "commit", commit)  # noqa: B010 - mypy knows no such assignment


ALTERATIONS: dict[str, Callable[[], None]] = {
    "no-rules": without_rules,
    "no-commit": without_commit,
}


def main() -> None:
    split = sys.argv.index("--")
    for name in sys.argv[1:split]:
        ALTERATIONS[name]()
    sys.argv = ["saratoga-server", *sys.argv[split + 1 :]]
    runpy.run_module("saratoga_server", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
