import pytest
from hypothesis import given

from kit.practices import moments, practice_at, practice_walk
from kit.races import Entrant, race
from kit.walks import banking
from saratoga_client.practice.deals import from_record
from saratoga_client.practice.game import make, new_game
from saratoga_client.practice.runs import PracticeRun, format_run, parse_run
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW
from saratoga_rules.records.lines import RecordError

BEGAN = 1_788_278_400_000
every_game = pytest.mark.parametrize("name", GAMES)


def run_of(name: str, seed: int = 1) -> PracticeRun:
    practice = practice_walk(name, seed)[40]
    return PracticeRun(practice=practice, began=BEGAN, end=practice.last_at + 7)


@every_game
@given(place=moments)
def test_a_saved_run_replays_to_the_same_position(name: str, place: int) -> None:
    practice = practice_at(name, place)
    run = PracticeRun(practice=practice, began=BEGAN, end=practice.last_at + 5)
    read = parse_run(format_run(run))
    assert read.practice.position == practice.position
    assert read.practice.log == practice.log
    assert read.practice.deal == practice.deal
    assert (read.began, read.end) == (run.began, run.end)
    assert format_run(read) == format_run(run)


def test_a_run_of_a_race_s_deal_names_the_race() -> None:
    deal = from_record(race("lafayette", 3, [Entrant("Anna", banking, patience=20)]))
    run = PracticeRun(practice=make(new_game(deal), DRAW, 3), began=BEGAN, end=4)
    text = format_run(run)
    assert "race mint-otter-42/4\n" in text
    assert parse_run(text).practice.deal == deal


def test_a_run_reads_as_its_docstring_says() -> None:
    lines = format_run(run_of("canfield")).split("\n")
    assert lines[0] == "saratoga practice 1"
    assert lines[1] == "game canfield"
    assert lines[3] == 'seed "walk 1"'
    assert lines[-2].startswith("ended ")
    assert lines[-1] == ""


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("saratoga practice 1", "saratoga practice 2", "format 1"),
        ("game canfield", "game canfeld", "no game called"),
        ("rules 1", "rules 9", "version 1 of the rules"),
        ('seed "walk 1"', 'seed "walk 2"', "another deal"),
        ('seed "walk 1"', 'seed ""', "at least one"),
        ('seed "walk 1"', 'seed "a"b"', "no seed"),
        ("deal stock=", "deal stock=9X", "card"),
        ("began ", "began x", "beginning"),
        (" draw\n", " t1>t1\n", "onto itself"),
        (" draw\n", " redo\n", "nothing to redo"),
        (" stopped", " won", "stopped"),
        (" stopped\n", " stopped\n\n", "expected the end of the text"),
    ],
)
def test_a_run_that_was_tampered_with_is_refused_with_the_reason(
    old: str, new: str, reason: str
) -> None:
    text = format_run(run_of("canfield"))
    assert old in text
    with pytest.raises(RecordError, match=reason):
        parse_run(text.replace(old, new, 1))


def test_entries_stand_in_order_of_time() -> None:
    lines = format_run(run_of("canfield")).split("\n")
    lines[7] = lines[7].replace(lines[7].split(" ")[0], "99999999", 1)
    with pytest.raises(RecordError, match="earlier"):
        parse_run("\n".join(lines))
