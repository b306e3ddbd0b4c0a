"""Count lines of play: the number of sequences of legal moves of a given length.

A count depends on every rule that applies to those moves, so a change of the rules changes numbers in
`tests/rules/perft/*.perft`. After an intended change of the rules,

    PYTHONPATH=tests python -m kit.perft

counts again and rewrites the files; reviewers check the difference.

A file holds deals (`deal SEED`, a practice seed) and positions (`position ..`, as text), each followed
by lines with a depth and a count.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from saratoga_rules.analysis import legal_moves
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.play import play
from saratoga_rules.position import Position, parse_position

FOLDER = Path(__file__).parent.parent / "rules" / "perft"

MOST_LINES = 6_000
"""The largest count in the files; greater depths take too long."""


def perft(game: Game, position: Position, depth: int) -> int:
    """Return the number of sequences of `depth` legal moves from a position."""
    moves = legal_moves(game, position)
    if depth == 1:
        return len(moves)
    return sum(perft(game, play(game, position, move), depth - 1) for move in moves)


@dataclass(frozen=True)
class Entry:
    """A starting position, written as in the file, and its counts from depth 1 on."""

    game: Game
    start: str
    counts: tuple[int, ...]

    @property
    def position(self) -> Position:
        kind, _, text = self.start.partition(" ")
        if kind == "deal":
            return deal_for_key(self.game, practice_key(text))
        return parse_position(text)


def entries(name: str) -> Iterator[Entry]:
    """Yield the entries that the file of a game must have."""
    start, counts = "", list[int]()
    for line in (FOLDER / f"{name}.perft").read_text("utf-8").splitlines():
        if line[:1].isdigit():
            depth, count = map(int, line.split())
            assert depth == len(counts) + 1, line
            counts.append(count)
        elif line:
            if start:
                yield Entry(GAMES[name], start, tuple(counts))
            start, counts = line, []
    yield Entry(GAMES[name], start, tuple(counts))


def counted(entry: Entry) -> str:
    """Return the entry with freshly computed counts."""
    lines, depth, count = [entry.start], 1, perft(entry.game, entry.position, 1)
    while count <= MOST_LINES and depth <= 12:
        lines.append(f"{depth} {count}")
        depth += 1
        count = perft(entry.game, entry.position, depth)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for each in GAMES:
        text = "\n".join(map(counted, entries(each)))
        (FOLDER / f"{each}.perft").write_text(text, "utf-8")
