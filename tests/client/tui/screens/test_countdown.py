"""The screen of the five seconds before the deal."""

from msgspec.structs import replace

from kit.session_states import START, player, seat, snapshot, state_after, table
from kit.table_screens import table_player
from saratoga_client.tui.screens.countdown import CountdownScreen


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
