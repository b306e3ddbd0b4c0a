from kit.scripted_house import CODE, snapshot
from saratoga_client.net.subscriptions import Subscriptions
from saratoga_protocol import commands, events

OTHER = "calm-heron-07"


def test_nothing_followed_is_nothing_to_take_up() -> None:
    assert Subscriptions().taken_up() == []


def test_a_seat_is_taken_up_again() -> None:
    following = Subscriptions()
    following.answered(commands.CreateTable(id=2, game="canfield"), snapshot(2))
    assert [draft(id=9) for draft in following.taken_up()] == [commands.Resume(id=9, table=CODE)]


def test_a_seat_given_up_is_not_taken_up_again() -> None:
    following = Subscriptions()
    following.answered(commands.JoinTable(id=2, table=CODE), snapshot(2))
    following.answered(commands.LeaveTable(id=3, table=CODE), events.Done(re=3))
    assert following.taken_up() == []


def test_a_seat_lost_is_not_taken_up_again() -> None:
    following = Subscriptions()
    following.answered(commands.JoinTable(id=2, table=CODE), snapshot(2))
    following.heard(events.SeatLost(table=CODE, reason="kicked"))
    assert following.seat is None


def test_the_loss_of_another_seat_is_no_matter() -> None:
    following = Subscriptions()
    following.answered(commands.JoinTable(id=2, table=CODE), snapshot(2))
    following.heard(events.SeatLost(table=OTHER, reason="closed"))
    assert following.seat == CODE


def test_watched_tables_and_the_leaderboard_are_taken_up_again() -> None:
    following = Subscriptions()
    following.answered(commands.WatchTable(id=2, table=OTHER), snapshot(2, OTHER))
    page = commands.SubscribeLeaderboard(id=3, game="caprice", period="week")
    following.answered(page, leaderboard())
    assert [draft(id=9) for draft in following.taken_up()] == [
        commands.WatchTable(id=9, table=OTHER),
        commands.SubscribeLeaderboard(id=9, game="caprice", period="week"),
    ]


def test_what_was_given_up_is_not_taken_up_again() -> None:
    following = Subscriptions()
    following.answered(commands.WatchTable(id=2, table=OTHER), snapshot(2, OTHER))
    following.answered(commands.SubscribeLeaderboard(id=3, game="caprice"), leaderboard())
    following.answered(commands.UnwatchTable(id=4, table=OTHER), events.Done(re=4))
    following.answered(commands.UnsubscribeLeaderboard(id=5), events.Done(re=5))
    assert following.taken_up() == []


def test_who_sits_down_at_a_watched_table_watches_it_no_more() -> None:
    following = Subscriptions()
    following.answered(commands.WatchTable(id=2, table=CODE), snapshot(2))
    following.answered(commands.JoinTable(id=3, table=CODE), snapshot(3))
    assert [draft(id=9) for draft in following.taken_up()] == [commands.Resume(id=9, table=CODE)]


def leaderboard() -> events.Leaderboard:
    return events.Leaderboard(
        game="caprice",
        ranking="best",
        period="day",
        key="2026-09-01",
        bots=False,
        total=0,
        offset=0,
        rows=[],
    )


def test_a_table_is_followed_from_a_seat_or_beside_it_until_it_is_left() -> None:
    following = Subscriptions()
    following.answered(commands.WatchTable(id=2, table=CODE), snapshot(2))
    assert (following.has(CODE), following.has(OTHER)) == (True, False)
    following.answered(commands.JoinTable(id=3, table=CODE), snapshot(3))
    following.answered(commands.LeaveTable(id=4, table=CODE), events.Done(re=4))
    assert not following.has(CODE)
