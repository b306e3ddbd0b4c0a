from kit.scripted_server import CODE, snapshot
from saratoga_client.net.subscriptions import Subscriptions
from saratoga_protocol import commands, events

OTHER = "calm-heron-07"


def test_without_subscriptions_there_is_nothing_to_restore() -> None:
    assert Subscriptions().restoring_commands() == []


def test_a_seat_is_resumed() -> None:
    subscriptions = Subscriptions()
    subscriptions.command_answered(commands.CreateTable(id=2, game="canfield"), snapshot(2))
    assert [draft(id=9) for draft in subscriptions.restoring_commands()] == [
        commands.Resume(id=9, table=CODE)
    ]


def test_a_seat_that_was_given_up_is_not_resumed() -> None:
    subscriptions = Subscriptions()
    subscriptions.command_answered(commands.JoinTable(id=2, table=CODE), snapshot(2))
    subscriptions.command_answered(commands.LeaveTable(id=3, table=CODE), events.Done(re=3))
    assert subscriptions.restoring_commands() == []


def test_a_lost_seat_is_not_resumed() -> None:
    subscriptions = Subscriptions()
    subscriptions.command_answered(commands.JoinTable(id=2, table=CODE), snapshot(2))
    subscriptions.event_received(events.SeatLost(table=CODE, reason="kicked"))
    assert subscriptions.seat is None


def test_losing_a_seat_at_another_table_changes_nothing() -> None:
    subscriptions = Subscriptions()
    subscriptions.command_answered(commands.JoinTable(id=2, table=CODE), snapshot(2))
    subscriptions.event_received(events.SeatLost(table=OTHER, reason="closed"))
    assert subscriptions.seat == CODE


def test_watched_tables_and_the_leaderboard_are_restored() -> None:
    subscriptions = Subscriptions()
    subscriptions.command_answered(commands.WatchTable(id=2, table=OTHER), snapshot(2, OTHER))
    page = commands.SubscribeLeaderboard(id=3, game="caprice", period="week")
    subscriptions.command_answered(page, leaderboard())
    assert [draft(id=9) for draft in subscriptions.restoring_commands()] == [
        commands.WatchTable(id=9, table=OTHER),
        commands.SubscribeLeaderboard(id=9, game="caprice", period="week"),
    ]


def test_ended_subscriptions_are_not_restored() -> None:
    subscriptions = Subscriptions()
    subscriptions.command_answered(commands.WatchTable(id=2, table=OTHER), snapshot(2, OTHER))
    subscriptions.command_answered(
        commands.SubscribeLeaderboard(id=3, game="caprice"), leaderboard()
    )
    subscriptions.command_answered(commands.UnwatchTable(id=4, table=OTHER), events.Done(re=4))
    subscriptions.command_answered(commands.UnsubscribeLeaderboard(id=5), events.Done(re=5))
    assert subscriptions.restoring_commands() == []


def test_sitting_down_at_a_watched_table_replaces_watching() -> None:
    subscriptions = Subscriptions()
    subscriptions.command_answered(commands.WatchTable(id=2, table=CODE), snapshot(2))
    subscriptions.command_answered(commands.JoinTable(id=3, table=CODE), snapshot(3))
    assert [draft(id=9) for draft in subscriptions.restoring_commands()] == [
        commands.Resume(id=9, table=CODE)
    ]


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


def test_a_table_is_included_while_the_player_sits_there_or_watches() -> None:
    subscriptions = Subscriptions()
    subscriptions.command_answered(commands.WatchTable(id=2, table=CODE), snapshot(2))
    assert (subscriptions.includes(CODE), subscriptions.includes(OTHER)) == (True, False)
    subscriptions.command_answered(commands.JoinTable(id=3, table=CODE), snapshot(3))
    subscriptions.command_answered(commands.LeaveTable(id=4, table=CODE), events.Done(re=4))
    assert not subscriptions.includes(CODE)
