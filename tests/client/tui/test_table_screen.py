"""What all screens at a table have in common."""

from dataclasses import replace

from rich.cells import cell_len

from kit.evenings import evening, snapshot, table
from kit.table_screens import sitting
from saratoga_client.net.connection import LinkState
from saratoga_client.tui.table_screen import LEAST_HEIGHT, LEAST_WIDTH, too_small

GATHERING = evening(first=snapshot(shown=table(phase="gathering")))


def test_the_sentence_for_small_terminals_fits_them() -> None:
    for width in range(12, LEAST_WIDTH + 1):
        lines = too_small(width, LEAST_HEIGHT - 1)
        assert all(cell_len(line) <= width for line in lines)
    assert len(too_small(30, 12)) <= 12


async def test_every_key_is_answered_and_another_one_closes_a_question() -> None:
    async with sitting(GATHERING) as at_table:
        await at_table.press("m")
        assert at_table.rows[-2].strip() == "m does nothing here; ? shows what the keys do."
        await at_table.press("q", "escape")
        assert at_table.rows[-2].strip() == "Nothing was done."
        await at_table.press("q", "t")
        assert at_table.rows[-2].strip().startswith("Colours: ")
        assert at_table.screen.question is None


async def test_the_way_to_the_house_stands_in_the_title() -> None:
    async with sitting(GATHERING, size=(120, 40)) as at_table:
        at_table.seat.lay(replace(GATHERING, round_trip_ms=42))
        await at_table.settled()
        assert at_table.rows[0].rstrip().endswith("● live 42 ms")
        at_table.seat.link(LinkState.RECONNECTING)
        await at_table.settled()
        assert at_table.rows[0].rstrip().endswith("○ reconnecting")


async def test_the_theme_changes_everything_that_is_painted() -> None:
    async with sitting(GATHERING) as at_table:
        before = at_table.cells
        await at_table.press("t")
        after = at_table.cells
        assert [[text for text, _ in row] for row in before[:-2]] == [
            [text for text, _ in row] for row in after[:-2]
        ]
        assert all(was != now for was, now in zip(before[:-2], after[:-2], strict=True))
