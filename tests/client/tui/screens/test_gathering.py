"""The screens of a table before a race: the command that each key sends."""

import asyncio

from msgspec import structs

from kit.screens import REFUSAL, ScreenPlayer, table_player
from kit.session_states import START, player, racer_of, seat, snapshot, state_after, table
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.invitation import Inviter, qr_lines
from saratoga_client.session.state import SessionState
from saratoga_client.tui.app import SaratogaApp


def gathering(
    letters: str = "yao", host: str = "y", ready: str = "", game: str = "canfield"
) -> SessionState:
    seats = [seat(letter, ready=letter in ready) for letter in letters]
    return state_after(
        first=snapshot(shown=table(phase="gathering", host=host, seats=seats, game=game))
    )


async def test_a_player_who_is_not_host_scrolls_a_cut_page_by_arrows() -> None:
    seats = "yabcdefghijklmno"
    async with table_player(gathering(seats, host="a"), size=(60, 20)) as at_table:
        shown = at_table.text
        await at_table.press("down")
        assert at_table.text != shown
        assert "Only the host" not in at_table.text


async def test_a_refused_mark_drops_the_start_that_waits() -> None:
    async with table_player(gathering(ready="a")) as at_table:
        answered = asyncio.Event()

        async def refused() -> None:
            await answered.wait()
            raise Problem(REFUSAL, "", Exit.REFUSED)

        at_table.seat.ready = refused  # type: ignore[method-assign]
        await at_table.press("enter", "s")
        assert "The race starts as soon as you are ready." in at_table.text
        answered.set()
        await at_table.settled()
        assert REFUSAL in at_table.text
        at_table.seat.change_to(gathering(ready="ya"))
        await at_table.settled()
        assert at_table.seat.asked == []


SEATS = [seat("y"), seat("a")]
GATHERING = state_after(first=snapshot(shown=table(phase="gathering", host="a", seats=SEATS)))


async def test_an_address_of_this_machine_has_no_code_for_phones() -> None:
    async with table_player(GATHERING, inviter=Inviter(server="ws://127.0.0.1:7470")) as at_table:
        assert "i shows the link" in at_table.text
        assert "QR code" not in at_table.text
        await at_table.press("i")
        link = "http://127.0.0.1:7470/mint-otter-42"
        assert f"Only on this machine: {link}" in at_table.text
        assert "A phone cannot open this address." in at_table.text
        assert qr_lines(link, on_dark=False)[3].strip() not in at_table.text


async def test_the_sentence_between_screens_is_in_the_middle_and_safe_to_print() -> None:
    async def wait(app: SaratogaApp) -> None:
        app.show_progress("Joining\x1b the table")
        await asyncio.Event().wait()

    app = SaratogaApp(wait)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        lines = {row: line for row, line in enumerate(ScreenPlayer(app, pilot).rows) if line}
        ((row, line),) = lines.items()
        assert row in (11, 12)
        assert line.strip() == "Joining<U+001B> the table"
        assert abs(len(line) - len(line.lstrip()) - (80 - len(line.strip())) // 2) <= 1


async def test_a_host_who_does_not_race_can_end_the_race() -> None:
    shown = structs.replace(table("yar"), racers=[racer_of("a"), racer_of("r")])
    shown = structs.replace(shown, last_racer=player("a"), end_from=START)
    first = snapshot("a1 r1:stuck", shown=shown)
    async with table_player(state_after(first=first)) as at_table:
        assert "You have a seat for the next race." in " ".join(at_table.text.split())
        assert "not in this race" in at_table.rows[0]
        assert "watching" not in at_table.rows[0]
        assert "x ask to end" in at_table.rows[-1]
        await at_table.press("x", "y")
        assert at_table.seat.asked == ["end race"]


async def test_a_watcher_leaves_without_a_question() -> None:
    first = snapshot("a1 r1", shown=table("ar", host="a"))
    async with table_player(state_after(first=first)) as at_table:
        await at_table.press("q")
        assert not at_table.app.is_running
        assert at_table.seat.asked == []
