"""The page after a race."""

from dataclasses import replace

import pytest
from rich.cells import cell_len

from kit.evenings import START, YOU, evening, player, seat, snapshot, table
from kit.finished import finished_race, over
from saratoga_client.session.personal_best import PersonalBest
from saratoga_client.session.state import SessionState, Verification
from saratoga_client.tui.pages.findings import findings_of
from saratoga_client.tui.pages.results import results_page
from saratoga_client.tui.pages.symbols import LETTERS, UNICODE
from saratoga_protocol import events
from saratoga_rules.games import GAMES
from saratoga_rules.money import net

RECORD = finished_race()


def page(shown: SessionState, width: int = 80, height: int = 21) -> str:
    found = findings_of(RECORD, shown.player)
    return results_page(shown, found, UNICODE, width, height).text()


def crowd(count: int) -> SessionState:
    """A race of many, all with names as long as names can be."""
    letters = "yabcdefghijklmno"[:count]
    results = [
        events.Result(
            player=player(letter),
            name=f"{letter} Maximilian-Ferdin",
            place=place,
            banked=30 - place,
            net=net(GAMES["canfield"], 30 - place),
            state="out of time",
            moves=40,
            reached=60_000 * place,
        )
        for place, letter in enumerate(letters, 1)
    ]
    seats = [seat(each.player[0], name=each.name, races=2, net=-35) for each in results]
    at_table = table(letters, phase="over", seats=seats)
    outcome = events.Outcome(
        race=at_table.race, game="canfield", results=results, seed="", nonces={}, digest=""
    )
    first = replace_(snapshot(shown=at_table, now=START), outcome)
    return evening(first=first)


def replace_(first: events.Snapshot, outcome: events.Outcome) -> events.Snapshot:
    return events.Snapshot(table=first.table, now=first.now, outcome=outcome)


def test_everybody_has_a_line_with_place_count_money_time_and_ending() -> None:
    shown = over(RECORD)
    lines = page(shown).split("\n")
    for line, result in zip(lines[2:5], RECORD.results, strict=True):
        racer = next(each for each in RECORD.racers if each.player == result.player)
        assert line[1:3].strip() == str(result.place)
        assert racer.name in line
        assert str(result.banked) in line.split()
        assert str(result.state) in line
    assert [line[0] for line in lines[2:5]].count("▸") == 1


def test_ties_are_explained_to_whom_they_concern() -> None:
    told = page(over(RECORD, tie="reached 12 later than ana"))
    assert "you: reached 12 later than ana" in told
    assert "Otto [bot]: reached 12 later than ana" in told


def test_one_s_own_best_is_named_and_a_new_one_is_cheered() -> None:
    best = PersonalBest(
        game="canfield", race="mint-otter-42/1", start_at=START, banked=21, net=55, reached=None
    )
    shown = replace(over(RECORD), best=best)
    assert "Your best here is 21 banked, +$55." in page(shown)
    assert "Your best yet: 21 banked, +$55." in page(replace(shown, is_new_best=True))


def test_the_check_of_the_record_and_alarms_are_told() -> None:
    shown = over(RECORD)
    race = shown.table.race
    checked = replace(
        shown,
        verifications={race: Verification(True, "mint-otter-42/2 is verified: witnessed here.")},
        alarms=("The house changed its word.",),
    )
    assert "is verified: witnessed here." in page(checked)
    assert "The house changed its word." in page(checked)


def test_totals_come_with_the_second_race_the_richest_first() -> None:
    assert "THE EVENING SO FAR" not in page(over(RECORD, races=1))
    told = page(over(RECORD, races=3))
    totals = told[told.index("THE EVENING SO FAR") :]
    names = {racer.player: racer.name for racer in RECORD.racers}
    expected = [names[result.player] for result in RECORD.results]
    assert sorted(expected, key=totals.index) == expected


@pytest.mark.parametrize("size", [(54, 15), (80, 21), (120, 37)])
def test_sixteen_racers_have_a_page_as_high_as_it_must_be_and_no_line_is_cut(
    size: tuple[int, int],
) -> None:
    shown = crowd(16)
    assert shown.player == YOU
    canvas = results_page(shown, None, UNICODE, *size)
    text = canvas.text()
    assert canvas.height >= size[1]
    assert all(cell_len(line) <= size[0] for line in text.split("\n"))
    for letter in "yabcdefghijklmno":
        assert text.count(f"{letter} Maximilian-Ferdin") == 2, "in the race, and over the evening"


def test_a_terminal_with_letters_alone_gets_letters_alone() -> None:
    found = findings_of(RECORD, over(RECORD).player)
    text = results_page(over(RECORD), found, LETTERS, 80, 21).text()
    assert text.replace("ë", "e").isascii()
