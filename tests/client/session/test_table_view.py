"""The view of a table after the server's events."""

from msgspec.structs import replace

from kit.messages import racer
from kit.session_states import CODE, START, match, outcome, seat, snapshot, table
from saratoga_client.session.table_view import MOST_LABELS, first_view, next_view, remaining, rows
from saratoga_protocol import events

SEATS = [seat("y"), seat("o")]
RUNNING = first_view(snapshot("o14 y11:cash-out", shown=table("yo")))


def test_the_match_is_as_the_last_event_about_it_says() -> None:
    view = RUNNING
    for known in (match("a9 y5"), None):
        view = next_view(view, events.MatchChanged(table=CODE, match=known))
        view = next_view(view, events.MatchChanged(table="maple-crane-10", match=match("y9")))
        view = next_view(view, events.TableChanged(table=table(version=2), now=START))
        assert view.match == known


def test_a_racer_who_left_the_table_keeps_the_name() -> None:
    gone = table("yo", version=2, seats=SEATS[:1])
    view = next_view(RUNNING, events.TableChanged(table=gone, now=START))
    assert [row.name for row in rows(view)] == ["Otto", "Zoë"]


def test_there_is_no_time_left_before_the_start_or_without_a_limit() -> None:
    for shown in (table(phase="gathering"), replace(table(), deadline=0)):
        assert remaining(first_view(snapshot(shown=shown)), START) is None


def test_a_bot_s_level_stays_beside_its_name_after_it_has_left() -> None:
    marked = [replace(seat, level="weak" if seat.bot else "") for seat in SEATS]
    here = table("yo", version=2, seats=marked)
    view = next_view(RUNNING, events.TableChanged(table=here, now=START))
    assert [row.level for row in rows(view)] == ["weak", ""]
    gone = replace(here, version=3, seats=[seat for seat in marked if not seat.bot])
    view = next_view(view, events.TableChanged(table=gone, now=START))
    assert [row.level for row in rows(view)] == ["weak", ""]
    view = next_view(view, events.RaceOver(outcome=outcome("o14 y11:cash-out")))
    assert [row.level for row in rows(view)] == ["weak", ""]


def test_the_labels_of_players_have_a_bound_and_those_at_the_table_are_kept() -> None:
    view = RUNNING
    for version in range(2, MOST_LABELS + 10):
        gone = racer(f"{version:016}")
        here = replace(table(version=version, seats=SEATS), racers=[gone])
        view = next_view(view, events.TableChanged(table=here, now=START))
    assert len(view.labels) == MOST_LABELS
    assert {seat.player for seat in SEATS} < view.labels.keys()
    assert gone.player in view.labels
