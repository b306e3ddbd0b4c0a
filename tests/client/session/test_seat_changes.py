"""The news about the seats of a table."""

from msgspec.structs import replace

from kit.session_states import YOU, seat, table
from saratoga_client.session.seat_changes import seat_changes, seat_news
from saratoga_protocol.events import Seat, Table


def gathering(*seats: Seat) -> Table:
    return table(phase="gathering", seats=seats)


def test_every_change_of_a_seat_has_a_phrase() -> None:
    before = gathering(seat("y"), seat("a"), seat("r"), seat("m", connected=False), seat("b"))
    after = gathering(
        seat("y", ready=True), seat("a", connected=False), seat("m"), seat("b"), seat("o")
    )
    assert [(each.name, phrase) for each, phrase in seat_changes(before, after)] == [
        ("Zoë", "is ready"),
        ("ana", "lost the connection"),
        ("mei", "is back"),
        ("Otto", "sat down"),
        ("raj", "left the table"),
    ]


def test_the_news_name_other_players_and_count_who_is_ready() -> None:
    before = gathering(seat("y"), seat("a"))
    assert seat_news(before, gathering(seat("y"), seat("a", ready=True)), YOU) == (
        "ana is ready. 1 of 2 ready for the next race."
    )
    assert seat_news(before, gathering(seat("y", ready=True), seat("a")), YOU) == (
        "1 of 2 ready for the next race."
    )
    assert seat_news(before, before, YOU) == ""


def test_while_nobody_can_get_ready_only_the_changes_are_news() -> None:
    before, after = (
        table(phase="over", seats=[seat(each) for each in who]) for who in ("ya", "yab")
    )
    assert seat_news(before, after, YOU) == "racer b sat down."


def test_why_a_player_who_is_still_there_is_host_no_more_is_news() -> None:
    before = table(phase="over", host="y")
    away = "Zoë has been away for three minutes; ana is host now."
    after = replace(table(phase="over", host="a"), notice=away)
    assert seat_news(before, after, YOU) == away
    left = [seat("a"), seat("r")]
    after = replace(table(phase="over", host="a", seats=left), notice="Zoë has left. ana is host.")
    assert seat_news(before, after, "nobody") == "Zoë left the table."
