"""What plain lines say of a race."""

from msgspec.structs import replace

from kit.pictures import STANDINGS, outcome, running
from kit.scripted_house import CODE, NOON, RACE, snapshot, table
from saratoga_client.plain.table_changes import changes, opening
from saratoga_client.session.table_view import first_view, next_view
from saratoga_protocol import events


def test_whoever_comes_is_told_how_things_stand() -> None:
    assert list(opening(running())) == [
        f"table {CODE}: canfield, 10 minutes, 2 seated",
        f"race {RACE}: running",
        "1. Otto [bot]: 14 banked, +$20, racing",
        "2. Anna: 11 banked, +$5, cashed out, $15 behind",
    ]


def test_only_what_is_new_makes_a_line() -> None:
    standings = [replace(STANDINGS[0], banked=15, net=25), STANDINGS[1]]
    after = next_view(running(), events.Standings(race=RACE, standings=standings), NOON)
    assert list(changes(running(), after)) == ["1. Otto [bot]: 15 banked, +$25, racing"]
    assert list(changes(after, after)) == []


def test_the_end_of_a_race_is_told_once_with_the_digest() -> None:
    after = next_view(running(), events.RaceOver(outcome=outcome()), NOON)
    assert list(changes(running(), after)) == [
        f"race {RACE} is over (canfield, unranked)",
        "1. Otto [bot]: 14 banked, +$20, racing",
        "2. Anna: 11 banked, +$5, cashed out, $15 behind",
        "digest d1",
    ]
    assert list(changes(after, after)) == []


def test_ties_are_explained() -> None:
    tied = outcome()
    results = [tied.results[0], replace(tied.results[1], net=20, tie="reached 14 cards 2 s later")]
    after = next_view(running(), events.RaceOver(outcome=replace(tied, results=results)), NOON)
    assert "(reached 14 cards 2 s later)" in "\n".join(changes(running(), after))


def test_comings_and_goings_are_told() -> None:
    empty = first_view(snapshot(), NOON)
    seat = events.Seat(player="a" * 16, name="Otto", bot=True)
    steps = [
        ([seat], "Otto [bot] sat down"),
        ([replace(seat, ready=True)], "Otto [bot] is ready"),
        ([replace(seat, ready=True, connected=False)], "Otto [bot] lost the connection"),
        ([replace(seat, ready=True)], "Otto [bot] is back"),
        ([], "Otto [bot] left the table"),
    ]
    before = empty
    for version, (seats, line) in enumerate(steps, start=2):
        at_table = replace(table(version=version), seats=seats)
        after = next_view(before, events.TableChanged(table=at_table, now=NOON), NOON)
        assert list(changes(before, after)) == [line]
        before = after
