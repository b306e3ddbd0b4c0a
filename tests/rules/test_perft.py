"""Pinned counts of lines of play: a change of any rule changes a number here."""

import pytest

from kit.perft import Entry, entries, perft
from saratoga_rules.games import GAMES
from saratoga_rules.position import parse_position

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
