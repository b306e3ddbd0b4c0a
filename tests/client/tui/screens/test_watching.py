"""The screen of a race that the player watches."""

from msgspec import structs

from kit.session_states import START, player, snapshot, standings, state_after, table
from kit.table_screens import table_player
from saratoga_client.tui.screens.watching import WatchingScreen


async def test_a_watcher_sees_standings_news_and_clock_but_no_board() -> None:
    first = snapshot("a1 r1", shown=table("ar", host="a"))
    async with table_player(state_after(first=first)) as at_table:
        assert isinstance(at_table.screen, WatchingScreen)
        await at_table.receive(standings("a20 r3:stuck"))
        assert "ana reached 20" in at_table.text
        assert "watching" in at_table.rows[0]
        assert at_table.rows[0].endswith("8:55 ")
        assert not set("╭╰░") & set(at_table.text)


async def test_a_key_shows_the_chart_in_place_of_the_news_and_back() -> None:
    first = snapshot("a1 r1", shown=table("ar", host="a"))
    async with table_player(state_after(first=first)) as at_table:
        await at_table.receive(standings("a20 r3:stuck"))
        await at_table.press("o")
        assert "BANKED OVER TIME" in at_table.rows[1]
        assert "+$50" in at_table.rows[2]
        assert at_table.rows[0].endswith("8:55 ")
        await at_table.press("o")
        assert "BANKED OVER TIME" not in at_table.text


async def test_a_host_who_does_not_race_can_end_the_race() -> None:
    shown = structs.replace(table("yar"), racers=[player("a"), player("r")])
    shown = structs.replace(shown, last_racer=player("a"), end_from=START)
    first = snapshot("a1 r1:stuck", shown=shown)
    async with table_player(state_after(first=first)) as at_table:
        assert "You have a seat for the next race." in " ".join(at_table.text.split())
        assert "not in this race" in at_table.rows[0]
        assert "watching" not in at_table.rows[0]
        assert "e end race" in at_table.rows[-1]
        await at_table.press("e", "y")
        assert at_table.seat.asked == ["end race"]


async def test_a_watcher_leaves_without_a_question() -> None:
    first = snapshot("a1 r1", shown=table("ar", host="a"))
    async with table_player(state_after(first=first)) as at_table:
        await at_table.press("q")
        assert not at_table.app.is_running
        assert at_table.seat.asked == []
