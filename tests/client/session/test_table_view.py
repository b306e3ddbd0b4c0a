"""The picture of a table, from what the house says."""

from msgspec.structs import replace

from kit.pictures import SEATS, STANDINGS, outcome, running
from kit.scripted_server import CODE, NOON, RACE, snapshot, table
from saratoga_client.session.table_view import first_view, next_view, remaining, rows
from saratoga_protocol import events


def test_a_row_has_name_mark_money_and_how_far_behind() -> None:
    first, second = rows(running())
    assert (first.name, first.bot, first.gap) == ("Otto", True, 0)
    assert (second.name, second.bot, second.net, second.gap) == ("Anna", False, 5, 15)


def test_standings_replace_those_before() -> None:
    better = [replace(STANDINGS[0], banked=20, net=50)]
    picture = next_view(running(), events.Standings(race=RACE, standings=better))
    assert [row.banked for row in rows(picture)] == [20]


def test_standings_of_another_race_are_passed_over() -> None:
    picture = running()
    late = events.Standings(race=f"{CODE}/9", standings=[])
    assert next_view(picture, late) is picture


def test_an_older_table_is_passed_over() -> None:
    picture = running(version=5)
    assert next_view(picture, events.TableChanged(table=table(version=4), now=NOON)) is picture


def test_whoever_left_the_table_keeps_the_name_in_the_race() -> None:
    gone = replace(table(version=2, phase="running"), seats=SEATS[:1])
    picture = next_view(running(), events.TableChanged(table=gone, now=NOON))
    assert [row.name for row in rows(picture)] == ["Otto", "Anna"]


def test_results_stand_when_the_race_is_over() -> None:
    picture = next_view(running(), events.RaceOver(outcome=outcome()))
    assert [(row.name, row.bot, row.gap) for row in rows(picture)] == [
        ("Otto", True, 0),
        ("Anna", False, 15),
    ]


def test_the_next_race_begins_with_an_empty_board() -> None:
    over = next_view(running(), events.RaceOver(outcome=outcome()))
    gathering = replace(table(version=9), race=f"{CODE}/2")
    assert rows(next_view(over, events.TableChanged(table=gathering, now=NOON))) == ()


def test_the_time_left_ends_at_zero() -> None:
    assert remaining(running(), NOON) == 90_000
    assert remaining(running(), NOON + 100_000) == 0


def test_no_clock_runs_before_the_start_or_without_a_cap() -> None:
    assert remaining(first_view(snapshot()), NOON) is None
    assert remaining(first_view(replace(snapshot(), table=table(phase="running"))), NOON) is None
