"""The chart of a race that runs, for watchers and for racers whose board has ended."""

from kit.session_states import START, board, outcome, snapshot, standings, state_after, table
from kit.table_screens import table_player
from saratoga_client.tui.screens.live_chart import LiveChartScreen
from saratoga_client.tui.screens.results import ResultsScreen
from saratoga_protocol import events

OVER = events.TableChanged(table=table(phase="over", version=5), now=START)


async def test_a_watcher_opens_the_chart_and_closes_it_again() -> None:
    first = snapshot("a1 r1", shown=table("ar", host="a"))
    async with table_player(state_after(first=first)) as at_table:
        assert "o chart" in at_table.rows[-1]
        await at_table.press("o")
        assert isinstance(at_table.app.screen, LiveChartScreen)
        await at_table.receive(standings("a20 r3:stuck"))
        at_table.app.screen.tick()
        await at_table.settled()
        assert "ana" in at_table.rows[2]
        assert "+$50" in at_table.rows[2]
        assert "BANKED OVER TIME" in at_table.rows[1]
        assert "0:00" in at_table.text
        assert at_table.rows[0].endswith("8:55 ")
        await at_table.press("o")
        assert "watching" in at_table.rows[0]


async def test_the_chart_has_the_help() -> None:
    first = snapshot("a1 r1", shown=table("ar", host="a"))
    async with table_player(state_after(first=first)) as at_table:
        await at_table.press("o")
        assert "? help" in at_table.rows[-1]
        await at_table.press("?")
        assert type(at_table.app.screen).__name__ == "HelpScreen"
        await at_table.press("q")
        assert "BANKED OVER TIME" in at_table.text


async def test_a_racer_has_the_chart_once_the_own_board_has_ended() -> None:
    async with table_player(state_after()) as at_table:
        await at_table.press("o")
        assert not isinstance(at_table.app.screen, LiveChartScreen)
    async with table_player(state_after()) as at_table:
        ended = board(count=1, state="cashed out")
        await at_table.receive(events.BoardEnded(board=ended, at=60_000, number=1))
        assert "o chart" in at_table.rows[-1]
        await at_table.press("o")
        assert "YOU" in at_table.text
        await at_table.receive(events.RaceOver(outcome=outcome("y9 a3 r1")), OVER)
        chart = at_table.app.screen
        if isinstance(chart, LiveChartScreen):
            chart.tick()
            await at_table.settled()
        assert isinstance(at_table.app.screen, ResultsScreen)
