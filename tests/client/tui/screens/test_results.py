"""The results of a race: the page, the record, and the key for the next race."""

import dataclasses

import pytest
from msgspec.structs import replace

from kit.screens import table_player
from kit.session_states import (
    CODE,
    START,
    finished_race,
    in_match,
    outcome,
    over,
    seat,
    snapshot,
    state_after,
    table,
)
from saratoga_client.session.state import Verification, next_state
from saratoga_client.tui.messages import SHOWN
from saratoga_client.tui.screens.results import ResultsScreen
from saratoga_protocol.events import RaceOver, TableChanged
from saratoga_rules.games import GAMES
from saratoga_rules.moves import REDEAL
from saratoga_rules.par import Line, par
from saratoga_rules.records.record import RaceRecord

RECORD = finished_race()


def level(record: RaceRecord) -> RaceRecord:
    """Return the record with the second racer level with the first, and a little later."""
    first, second, *others = record.results
    reached = (first.reached or 0) + 40
    tied = dataclasses.replace(second, banked=first.banked, net=first.net, place=2, reached=reached)
    return dataclasses.replace(record, results=(first, tied, *others))


async def test_order_ties_first_different_move_totals_and_chart_are_on_the_page() -> None:
    first = over(level(RECORD))
    async with table_player(first, record=RECORD, size=(120, 40)) as at_table:
        assert isinstance(at_table.screen, ResultsScreen)
        await at_table.settled()
        for text in (
            "RACER",
            "ms later",
            "Boards parted at move",
            "TOTAL",
        ):
            assert text in at_table.text, text


async def test_at_80x24_the_table_of_a_match_is_on_the_first_page_and_in_the_shared_text() -> None:
    first = over(RECORD)
    shown, match = in_match(replace(first.table, race=f"{CODE}/2"), "a9 y5", "a9 y5 r4 m3")
    view = dataclasses.replace(first.table_view, table=shown, match=match)
    at = dataclasses.replace(first, table_view=view)
    async with table_player(at, record=RECORD) as at_table:
        await at_table.settled()
        assert "MATCH OF 3 RACES" in at_table.text
        assert any(row.split()[:2] == ["4", "mei"] for row in at_table.rows), "the last place"
        await at_table.press("y")
        shared = at_table.app.clipboard
        assert len(shared.splitlines()) == 3
        at_table.app.copy_to_clipboard("")
        await at_table.press("v", "y")
        assert at_table.app.clipboard == shared, "the review copies the same text"


async def test_a_player_whose_race_the_host_ended_reads_who_it_was() -> None:
    ended = outcome("a9 y4:ended-by-host")
    first = state_after(RaceOver(outcome=ended), first=snapshot("a9 y4", shown=table(host="a")))
    shown = table("ya", phase="over", host="a", version=9)
    first = next_state(first, TableChanged(table=shown, now=START), START)
    async with table_player(first, record=RECORD) as at_table:
        words = " ".join(at_table.text.split())
        assert "ana has ended your race. ana opens the next race" in words


async def test_a_result_that_comes_after_the_screen_is_read_and_read_again_when_verified() -> None:
    full = over(RECORD)
    view = dataclasses.replace(full.table_view, outcome=None)
    first = dataclasses.replace(full, table_view=view, verifications={})
    async with table_player(first) as at_table:
        await at_table.change_to(dataclasses.replace(full, verifications={}))
        assert "There is no such record." in at_table.text
        at_table.seat.offer(RECORD)
        verified = Verification(True, "verified: the race that you played.")
        await at_table.change_to(
            dataclasses.replace(full, verifications={RECORD.race_id: verified})
        )
        assert "v boards" in at_table.rows[-1]


LINE = par(GAMES[RECORD.game], RECORD.opening, budget=3000)


async def test_par_comes_after_the_results_and_its_line_can_be_stepped_through() -> None:
    full = over(RECORD)
    view = dataclasses.replace(full.table_view, outcome=None)
    first = dataclasses.replace(full, table_view=view)
    async with table_player(first, size=(120, 40)) as at_table:
        at_table.seat.offer(RECORD, LINE)
        await at_table.change_to(full)
        assert "This deal could have banked at least " in at_table.text
        await at_table.press("v", "4")
        assert "4. par" in at_table.text


@pytest.mark.parametrize(
    "line", [LINE._replace(banked=LINE.banked + 1), LINE._replace(moves=(*LINE.moves, REDEAL))]
)
async def test_a_par_whose_line_does_not_bank_it_is_not_shown(line: Line) -> None:
    full = over(RECORD)
    view = dataclasses.replace(full.table_view, outcome=None)
    async with table_player(dataclasses.replace(full, table_view=view)) as at_table:
        at_table.seat.offer(RECORD, line)
        await at_table.change_to(full)
        assert "v boards" in at_table.rows[-1]
        assert "could have banked" not in at_table.text


async def test_arrivals_and_departures_are_announced_in_place_of_the_advice() -> None:
    first = over(RECORD)
    async with table_player(first, record=RECORD) as at_table:
        await at_table.settled()
        here = replace(first.table, seats=[*first.table.seats, seat("m")], version=20)
        await at_table.receive(TableChanged(table=here, now=START))
        assert "mei has joined." in at_table.rows[-2]
        gone = replace(first.table, version=21)
        await at_table.receive(TableChanged(table=gone, now=START))
        assert "mei has left." in at_table.text
        at_table.seat.time += SHOWN
        at_table.flow.tell()
        assert "ana opens the next race" in " ".join(at_table.text.split())
