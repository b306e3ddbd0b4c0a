"""The screen of the five seconds before the deal."""

from msgspec.structs import replace

from kit.session_states import START, player, seat, snapshot, state_after, table
from kit.table_screens import table_player
from saratoga_client.session.state import SessionState
from saratoga_client.tui.screens.countdown import CountdownScreen
from saratoga_protocol import events


async def test_the_seconds_go_by_and_the_fingerprint_is_readable() -> None:
    async with table_player(
        state_after(first=snapshot(shown=table(phase="countdown")))
    ) as at_table:
        assert isinstance(at_table.screen, CountdownScreen)
        at_table.seat.time = START - 4_200
        at_table.screen.tick()
        await at_table.settled()
        assert "starts in 5 s" in at_table.rows[0]
        assert "c0c0 c0c0 c0c0" in at_table.text
        at_table.seat.time = START - 800
        at_table.screen.tick()
        await at_table.settled()
        assert "starts in 1 s" in at_table.rows[0]
        assert "Get ready" in at_table.text


async def test_a_player_without_a_seat_watches() -> None:
    at_table_only = table("ar", phase="countdown", host="a")
    async with table_player(state_after(first=snapshot(shown=at_table_only))) as at_table:
        assert "You are watching this race." in at_table.text


async def test_a_player_who_was_not_ready_reads_that_the_race_starts_without_them() -> None:
    seats = [seat("y"), seat("a"), seat("r")]
    without_you = replace(
        table("yar", phase="countdown", seats=seats), racers=[player("a"), player("r")]
    )
    async with table_player(state_after(first=snapshot(shown=without_you))) as at_table:
        assert "You weren't ready, so this race started without you." in at_table.text


def call(ready: str = "") -> SessionState:
    """Return the state in the call; the players with these letters are ready."""
    seats = [seat(letter, ready=letter in ready) for letter in "yar"]
    called = replace(
        table("yar", phase="countdown", seats=seats), racers=[], call_until=START - 3000
    )
    return state_after(first=snapshot(shown=called))


async def test_in_the_call_a_player_gets_ready_and_not_ready_by_r() -> None:
    async with table_player(call("a")) as at_table:
        assert "Press r now to be in it." in at_table.text
        assert "ana" in at_table.text.partition("READY")[2], "those who are ready so far"
        await at_table.press("r")
        at_table.seat.change_to(call("ay"))
        await at_table.settled()
        assert "r not ready" in at_table.rows[-1]
        await at_table.press("r")
        assert at_table.seat.asked == ["ready", "not ready"]


async def test_after_the_call_r_does_nothing_and_the_message_says_who_races() -> None:
    async with table_player(call("ar")) as at_table:
        fixed = replace(call("ar").table, racers=[player("a"), player("r")], version=2)
        await at_table.receive(events.TableChanged(table=fixed, now=START))
        assert "You weren't ready, so this race started without you." in at_table.text
        assert "RACERS" in at_table.text
        await at_table.press("r")
        assert at_table.seat.asked == []


async def test_a_watcher_cannot_get_ready_in_the_call() -> None:
    seats = [seat("a", ready=True)]
    called = replace(table("a", phase="countdown", host="a", seats=seats), racers=[])
    async with table_player(state_after(first=snapshot(shown=called))) as at_table:
        await at_table.press("r")
        assert at_table.seat.asked == []
