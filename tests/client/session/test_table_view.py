"""The view of a table after the server's events."""

from msgspec.structs import replace

from kit.scripted_server import (
    CODE,
    NOON,
    RACE,
    SEATS,
    STANDINGS,
    outcome,
    running,
    snapshot,
    table,
)
from kit.session_states import in_match
from saratoga_client.session.table_view import MOST_LABELS, first_view, next_view, remaining, rows
from saratoga_protocol import events


def test_a_row_has_name_mark_money_and_gap() -> None:
    first, second = rows(running())
    assert (first.name, first.bot, first.gap) == ("Otto", True, 0)
    assert (second.name, second.bot, second.net, second.gap) == ("Anna", False, 5, 15)


def test_standings_replace_those_before() -> None:
    better = [replace(STANDINGS[0], banked=20, net=50)]
    view = next_view(running(), events.Standings(race=RACE, standings=better))
    assert [row.banked for row in rows(view)] == [20]


def test_standings_of_another_race_are_ignored() -> None:
    view = running()
    late = events.Standings(race=f"{CODE}/9", standings=[])
    assert next_view(view, late) is view


def test_a_match_that_a_change_leaves_out_stays_as_it_is() -> None:
    known = in_match(table(version=2), "a9 y5")
    view = next_view(running(), events.TableChanged(table=known, now=NOON))
    for version, same_match, shown in ((3, True, known.match), (4, False, None)):
        changed = events.TableChanged(table=table(version=version), now=NOON, same_match=same_match)
        view = next_view(view, changed)
        assert (view.table.version, view.table.match) == (version, shown)


def test_an_older_version_of_the_table_is_ignored() -> None:
    view = running(version=5)
    assert next_view(view, events.TableChanged(table=table(version=4), now=NOON)) is view


def test_a_racer_who_left_the_table_keeps_the_name() -> None:
    gone = replace(table(version=2, phase="running"), seats=SEATS[:1])
    view = next_view(running(), events.TableChanged(table=gone, now=NOON))
    assert [row.name for row in rows(view)] == ["Otto", "Anna"]


def test_a_racer_who_left_before_the_client_connected_has_a_name() -> None:
    left = events.Seat(player=SEATS[1].player, name="Otto", bot=True)
    shown = replace(table(phase="running"), seats=SEATS[:1], departed=[left])
    late = first_view(events.Snapshot(table=shown, now=NOON, standings=STANDINGS))
    assert [row.name for row in rows(late)] == ["Otto", "Anna"]


def test_after_the_race_the_rows_are_the_results() -> None:
    view = next_view(running(), events.RaceOver(outcome=outcome()))
    assert [(row.name, row.bot, row.gap) for row in rows(view)] == [
        ("Otto", True, 0),
        ("Anna", False, 15),
    ]


def test_the_next_race_begins_with_an_empty_scoreboard() -> None:
    over = next_view(running(), events.RaceOver(outcome=outcome()))
    gathering = replace(table(version=9), race=f"{CODE}/2")
    assert rows(next_view(over, events.TableChanged(table=gathering, now=NOON))) == ()


def test_the_time_left_ends_at_zero() -> None:
    assert remaining(running(), NOON) == 90_000
    assert remaining(running(), NOON + 100_000) == 0


def test_there_is_no_time_left_before_the_start_or_without_a_limit() -> None:
    assert remaining(first_view(snapshot()), NOON) is None
    assert remaining(first_view(replace(snapshot(), table=table(phase="running"))), NOON) is None


def test_a_bot_s_level_stays_beside_its_name_after_it_has_left() -> None:
    marked = [replace(seat, level="weak" if seat.bot else "") for seat in SEATS]
    here = replace(table(version=2, phase="running"), seats=marked)
    view = next_view(running(), events.TableChanged(table=here, now=NOON))
    assert [row.level for row in rows(view)] == ["weak", ""]
    gone = replace(here, version=3, seats=[seat for seat in marked if not seat.bot])
    view = next_view(view, events.TableChanged(table=gone, now=NOON))
    assert [row.level for row in rows(view)] == ["weak", ""]
    view = next_view(view, events.RaceOver(outcome=outcome()))
    assert [row.level for row in rows(view)] == ["weak", ""]


def test_the_labels_of_players_have_a_bound_and_those_at_the_table_are_kept() -> None:
    view = running()
    for version in range(2, MOST_LABELS + 10):
        gone = replace(SEATS[0], player=f"{version:016}", name=f"racer {version}")
        here = replace(table(version=version, phase="running"), seats=SEATS, departed=[gone])
        view = next_view(view, events.TableChanged(table=here, now=NOON))
    assert len(view.labels) == MOST_LABELS
    assert {seat.player for seat in SEATS} < view.labels.keys()
    assert gone.player in view.labels
