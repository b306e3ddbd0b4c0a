"""The page after a race."""

from dataclasses import replace

import msgspec
import pytest
from rich.cells import cell_len

from kit.finished_races import finished_race, over
from kit.races import voided_race
from kit.screen_cells import INK, page_text
from kit.session_states import START, YOU, in_match, player, seat, snapshot, state_after, table
from saratoga_client.session.personal_best import PersonalBest
from saratoga_client.session.state import SessionState, Verification
from saratoga_client.tui.pages.findings import findings_of
from saratoga_client.tui.pages.results import results_page
from saratoga_client.tui.pages.symbols import UNICODE
from saratoga_protocol import events
from saratoga_rules.games import GAMES
from saratoga_rules.money import net

RECORD = finished_race()


def page(shown: SessionState, width: int = 80, height: int = 21) -> str:
    found = findings_of(RECORD, shown.player)
    return page_text(results_page(shown, found, UNICODE, INK, width, height), width)


def crowd(count: int) -> SessionState:
    """Return a race of many players, all with names of the greatest length."""
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
    return state_after(first=first)


def replace_(first: events.Snapshot, outcome: events.Outcome) -> events.Snapshot:
    return events.Snapshot(table=first.table, now=first.now, outcome=outcome)


def test_each_racer_of_a_tie_is_named_with_the_reason_for_the_order() -> None:
    text = page(over(RECORD, tie="reached 12 later than ana"))
    assert "you: reached 12 later than ana" in text
    assert "Otto [bot]: reached 12 later than ana" in text


def test_the_personal_best_is_shown_and_a_new_one_is_announced() -> None:
    best = PersonalBest(
        game="canfield", race="mint-otter-42/9", start_at=START, banked=21, net=55, reached=None
    )
    shown = replace(over(RECORD), best=best)
    assert "Your personal best: 21 banked, +$55." in page(shown)
    here = replace(best, race=shown.table.race)
    assert "A new personal best: 21 banked, +$55." in page(
        replace(shown, best=here, is_new_best=True)
    )
    # the first race of a game: the best is the result that the page shows anyway
    assert "personal best" not in page(replace(shown, best=here))


def test_the_verification_and_the_alarms_are_shown() -> None:
    shown = over(RECORD)
    race = shown.table.race
    checked = replace(
        shown,
        verifications={race: Verification(True, "mint-otter-42/2 is verified: witnessed here.")},
        alarms=("The server changed the deal.",),
    )
    assert "is verified: witnessed here." in page(checked)
    assert "The server changed the deal." in page(checked)


def test_totals_appear_from_the_second_race_on_the_richest_player_first() -> None:
    assert "TOTALS AT THIS TABLE" not in page(over(RECORD, races=1))
    text = page(over(RECORD, races=3))
    totals = text[text.index("TOTALS AT THIS TABLE") :]
    names = {racer.player: racer.name for racer in RECORD.racers}
    expected = [names[result.player] for result in RECORD.results]
    assert sorted(expected, key=totals.index) == expected


def test_in_a_match_its_table_stands_in_place_of_the_totals() -> None:
    shown = over(RECORD, races=3)
    view = replace(shown.table_view, table=in_match(shown.table, "a9 y5"))
    text = page(replace(shown, table_view=view))
    assert "MATCH AFTER RACE 1 OF 3" in text
    assert "TOTALS AT THIS TABLE" not in text


@pytest.mark.parametrize("width", [54, 80, 120])
def test_sixteen_racers_are_all_on_the_page_and_no_line_is_too_wide(width: int) -> None:
    state = crowd(16)
    assert state.player == YOU
    text = page_text(results_page(state, None, UNICODE, INK, width, 24), width)
    assert all(cell_len(line) <= width for line in text.split("\n"))
    for letter in "yabcdefghijklmno":
        assert text.count(f"{letter} Maximilian-Ferdin") == 2, "in the race, and in the totals"


def test_a_race_voided_before_this_one_is_named() -> None:
    shown = over(RECORD)
    voided = msgspec.structs.replace(shown.table, voided=[voided_race("mint-otter-42/1")])
    view = replace(shown.table_view, table=voided)
    assert "Race 1 counts for nothing" in page(replace(shown, table_view=view), width=120)
