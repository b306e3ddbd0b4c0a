"""Pinned counts of lines of play, the number of sequences of legal moves: a change of any rule changes one.

After an intended change of the rules, `PYTHONPATH=tests python -m rules.test_perft` counts again and rewrites
`perft/*.perft`; reviewers check the difference. A file holds deals (`deal SEED`, a practice seed) and positions
(`position ..`, as text), each followed by lines with a depth and a count.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from saratoga_rules.analysis import legal_moves
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.play import play
from saratoga_rules.position import Position, parse_position

FOLDER = Path(__file__).parent / "perft"

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


ENTRIES = [entry for name in GAMES for entry in entries(name)]


def name_of(entry: Entry) -> str:
    return f"{entry.game.name} {entry.start[:40]}"


@pytest.mark.parametrize("entry", ENTRIES, ids=name_of)
def test_the_number_of_lines_of_play_is_pinned(entry: Entry) -> None:
    assert [perft(entry.game, entry.position, at + 1) for at in range(len(entry.counts))] == list(
        entry.counts
    )


def test_every_game_is_counted_from_deals_and_from_later_positions() -> None:
    for name in GAMES:
        kinds = [entry.start.split(" ")[0] for entry in ENTRIES if entry.game.name == name]
        assert kinds.count("deal") >= 3, name
        assert kinds.count("position") >= 3, name


def test_lines_of_play_are_counted_correctly_in_a_small_position() -> None:
    # clubs go up in order: the ace, the two, the three; the ace may be put on the two first
    position = parse_position(
        "stock=- waste=3C reserve=- up=0,0,0,0,13,13,13,13 down=- columns=2C/AC/-/-/-/-/-/- base=1 passes=1"
    )
    assert perft(GAMES["lady-palk"], position, 1) == 2
    assert perft(GAMES["lady-palk"], position, 2) == 2
    assert perft(GAMES["lady-palk"], position, 3) == 2


if __name__ == "__main__":
    for each in GAMES:
        text = "\n".join(map(counted, entries(each)))
        (FOLDER / f"{each}.perft").write_text(text, "utf-8")
