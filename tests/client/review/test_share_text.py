import re

import pytest

from kit.races import Entrant, race
from kit.walks import banking, wandering
from saratoga_client.review.boards import open_boards
from saratoga_client.review.share_text import race_text
from saratoga_rules.cards import PACK
from saratoga_rules.games import GAMES
from saratoga_rules.records.digest_words import digest_words
from saratoga_rules.records.record import digest_of, format_record

ENTRANTS = [
    Entrant("Anna", banking),
    Entrant("Otto", wandering, patience=60),
    Entrant("Zoe", banking, bot=True, patience=90),
]


@pytest.mark.parametrize("name", GAMES)
def test_the_text_names_no_card_and_has_no_row_of_signs(name: str) -> None:
    for seed in range(5):
        record = race(name, seed, ENTRANTS)
        for row in record.results:
            text = race_text(record, open_boards(record), row.player)
            words = set(re.findall(r"[^\s,.:]+", text))
            assert not words & {card.lower() for card in PACK} | words & set(PACK)
            assert text.isascii()
            assert not re.search("[♣♠♥♦]", text)


def test_the_text_is_written_from_the_players_view() -> None:
    record = race("lafayette", 1, ENTRANTS)
    boards, words = open_boards(record), digest_words(digest_of(format_record(record)))
    assert race_text(record, boards, boards[1].player) == (
        "Saratoga, Lafayette, race mint-otter-42/2\n"
        "Zoe [bot] finished 2nd of 3.\n"
        "1. Anna: 52 banked, +$210, reached at 3:23, won\n"
        "2. Zoe [bot]: 31 banked, +$105, reached at 2:59, cashed out\n"
        "3. Otto: 4 banked, -$30, reached at 0:48, cashed out\n"
        f"Check it: saratoga verify mint-otter-42/2#{words}"
    )


def test_only_a_few_of_many_racers_are_named() -> None:
    names = ["Anna", "Otto", "Zoe", "Mia", "Ben", "Eva"]
    record = race("canfield", 1, [Entrant(name, wandering, patience=9) for name in names])
    text = race_text(record, open_boards(record), "nobody")
    assert len(text.splitlines()) == 7
    assert "and 2 more" in text


def test_the_player_is_among_the_few_named() -> None:
    names = ["Anna", "Otto", "Zoe", "Mia", "Ben", "Eva"]
    record = race("canfield", 1, [Entrant(name, wandering, patience=9) for name in names])
    boards = open_boards(record)
    for own in boards:
        lines = race_text(record, boards, own.player).splitlines()
        assert sum(f" {own.name}: " in line for line in lines) == 1
        assert len(lines) == 8


def test_players_who_share_a_place_are_told_so() -> None:
    record = race(
        "canfield", 1, [Entrant(name, wandering, patience=0) for name in ("Anna", "Bert")]
    )
    boards = open_boards(record)
    assert [board.place for board in boards] == [1, 1]
    text = race_text(record, boards, boards[0].player)
    assert f"{boards[0].name} shares 1st place with {boards[1].name}." in text


def test_a_player_who_raced_alone_has_no_place() -> None:
    record = race("canfield", 1, [Entrant("Anna", banking)])
    boards = open_boards(record)
    lines = race_text(record, boards, boards[0].player).splitlines()
    assert lines[1].startswith("1. Anna: ")
    assert len(lines) == 3


def test_a_name_cannot_command_the_terminal() -> None:
    record = race("canfield", 1, [Entrant("A\x1b[2J", wandering, patience=3)])
    text = race_text(record, open_boards(record), record.results[0].player)
    assert "\x1b" not in text
