"""The base of the screens at a table: the connection in the title, and leaving."""

from dataclasses import replace

from kit.session_states import CODE, snapshot, state_after, table
from kit.table_screens import table_player
from saratoga_client.net.connection import LinkState

GATHERING = state_after(first=snapshot(shown=table(phase="gathering")))


async def test_the_player_is_asked_before_the_seat_is_given_up() -> None:
    async with table_player(GATHERING) as at_table:
        await at_table.press("q")
        assert at_table.rows[-2].strip() == f"Leave {CODE} and give up your seat? (y/n)"
        await at_table.press("n")
        assert at_table.rows[-2].strip() == "Cancelled."
        assert at_table.seat.asked == []
        await at_table.press("q", "y")
        assert at_table.seat.asked == ["leave"]


async def test_the_title_shows_the_state_of_the_connection() -> None:
    async with table_player(GATHERING, size=(120, 40)) as at_table:
        at_table.seat.change_to(replace(GATHERING, round_trip_ms=42))
        await at_table.settled()
        assert at_table.rows[0].rstrip().endswith("● live 42 ms")
        at_table.seat.link(LinkState.RECONNECTING)
        await at_table.settled()
        assert at_table.rows[0].rstrip().endswith("○ reconnecting")


async def test_the_theme_key_changes_every_colour_and_no_text() -> None:
    async with table_player(GATHERING) as at_table:
        before = at_table.cells
        await at_table.press("t")
        after = at_table.cells
        assert [[text for text, _ in row] for row in before[:-2]] == [
            [text for text, _ in row] for row in after[:-2]
        ]
        assert all(was != now for was, now in zip(before[:-2], after[:-2], strict=True))
