"""The five seconds before the deal."""

from kit.evenings import START, evening, snapshot, table
from kit.table_screens import sitting
from saratoga_client.tui.screens.countdown import CountdownScreen


async def test_the_seconds_go_by_and_the_promise_is_readable() -> None:
    async with sitting(evening(first=snapshot(shown=table(phase="countdown")))) as at_table:
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
        assert "Hands on the keys" in at_table.text


async def test_who_sits_it_out_is_told_so() -> None:
    at_table_only = table("ar", phase="countdown", host="a")
    async with sitting(evening(first=snapshot(shown=at_table_only))) as at_table:
        assert "You sit this one out" in at_table.text
