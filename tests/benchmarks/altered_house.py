"""The server with parts of it replaced, to see what they cost: nothing of this is in the product.

    python tests/benchmarks/altered_house.py no-rules no-commit -- --port 0 ...

`no-rules` plays every move without a judge: the position stays, and the list of legal moves is the first
that there was. `no-commit` takes every move for stored. `known-deals` deals from `KNOWN_DEALS` keys that
the load knows too, so that it can play without being told what is legal. `partitions=4` gives tables codes
from four partitions only. What is replaced stands in public seams: the judge, the port `BoardStore`, the
dealing of a key, the drawing of a code.
"""

import runpy
import sys
import time
from collections.abc import Callable
from itertools import cycle

KNOWN_DEALS = 32


def known_key(number: int) -> bytes:
    """The deal key of a deal that the load knows."""
    from saratoga_rules.deal import practice_key

    return practice_key(f"benchmark {number % KNOWN_DEALS}")


def without_rules() -> None:
    from saratoga_rules import judge, stuck
    from saratoga_rules.game import Game
    from saratoga_rules.moves import Move
    from saratoga_rules.position import Position

    listed = judge.legal_moves
    known: dict[str, list[Move]] = {}

    def legal_moves(game: Game, position: Position) -> list[Move]:
        if game.name not in known:
            known[game.name] = listed(game, position)
        return known[game.name]

    def play(game: Game, position: Position, move: Move) -> Position:
        # a position of its own, as after every move
        return Position(*position)

    judge.legal_moves, judge.play = legal_moves, play
    stuck.may_declare = lambda position: False


def without_commit() -> None:
    from saratoga_server.ports import BoardCommit, CommitOutcome, CommitStatus, Millis
    from saratoga_server.store.boards import Boards

    numbers: dict[tuple[str, int], int] = {}

    def outcome(each: BoardCommit) -> CommitOutcome:
        at = each.table, each.race
        number = numbers[at] = numbers.get(at, 0) + len(each.entries)
        return CommitOutcome(
            CommitStatus.DONE,
            each.after + len(each.entries),
            Millis(int(time.time() * 1000)),
            number - len(each.entries) + 1,
        )

    async def commit(boards: Boards, board: BoardCommit) -> CommitOutcome:
        return outcome(board)

    setattr(Boards, "commit", commit)  # noqa: B010 - mypy knows no such assignment


def with_known_deals() -> None:
    from saratoga_rules import deal
    from saratoga_rules.game import Game
    from saratoga_rules.position import Position

    honest = deal.deal_for_key

    def deal_for_key(game: Game, key: bytes) -> Position:
        return honest(game, known_key(key[0]))

    deal.deal_for_key = deal_for_key


def in_partitions(count: int) -> None:
    from saratoga_server.domain import table_codes as codes
    from saratoga_server.store.keys import PARTITIONS, partition

    drawn = codes.table_code
    turns = cycle(place * PARTITIONS // count for place in range(count))

    def table_code(chance: Callable[[int], int]) -> str:
        # in turns, so that each gets as many tables as the next
        aim = next(turns)
        while partition(code := drawn(chance)) != aim:
            pass
        return code

    codes.table_code = table_code


ALTERATIONS: dict[str, Callable[[], None]] = {
    "no-rules": without_rules,
    "no-commit": without_commit,
    "known-deals": with_known_deals,
}


def main() -> None:
    split = sys.argv.index("--")
    for word in sys.argv[1:split]:
        name, _, count = word.partition("=")
        if name == "partitions":
            in_partitions(int(count))
        else:
            ALTERATIONS[name]()
    sys.argv = ["saratoga-server", *sys.argv[split + 1 :]]
    runpy.run_module("saratoga_server", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
