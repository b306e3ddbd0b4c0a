"""The server of `saratoga host` and the people on it: idle hosts, hosts who leave, and hosts who come back.

All processes are real. Boards end as idle after eight seconds instead of three minutes.
"""

import shlex
import sys
from pathlib import Path

import pytest

from kit.altered_server import IDLE_PLAYER
from kit.server_process import python_path
from kit.tmux import Pane, Screen, Tmux, free_port, gone, invitation, open_tmux, start_race
from saratoga_client.cli.own_server import STAYS
from saratoga_client.local.hosting import is_server
from saratoga_client.problems import Exit

PROGRAM = (sys.executable, "-m", *IDLE_PLAYER.split())


async def open_pane(tmux: Tmux, home: Path, *words: str) -> Pane:
    """Run `saratoga WORDS` in a terminal of its own, without a configured server."""
    env = {"SARATOGA_HOME": str(home), "SARATOGA_SERVER": None, "PYTHONPATH": python_path()}
    return await tmux.open(*PROGRAM, *words, env=env)


async def host_and_friend(tmux: Tmux, folder: Path) -> tuple[Pane, Pane, str, int]:
    """Return Anna, who hosts a race, Bert in the same race, the invitation's URL, and the server's port."""
    words = ("host", "canfield", "--name", "Anna", "--port", str(free_port()))
    anna = await open_pane(tmux, folder / "anna", *words)
    url, port = await invitation(anna)
    bert = await open_pane(tmux, folder / "bert", "join", url, "--name", "Bert")
    await bert.until("SEATS 2 of 16")
    await start_race(anna, bert, "paid  -$50")
    return anna, bert, url, port


async def sees_while_other_plays(pane: Pane, other: Pane, wanted: str) -> None:
    """Wait for a text in `pane`; the other player, who must not be idle, presses a key on every screen before."""
    await pane.until_pressed(("Space",), wanted, at=other)


async def test_an_idle_host_keeps_seat_table_and_server_and_friends_do_not_wait(
    tmp_path: Path,
) -> None:
    async with open_tmux() as tmux:
        anna, bert, _, port = await host_and_friend(tmux, tmp_path)
        # a busy machine may miss one of the two warnings, which last three seconds each
        await sees_while_other_plays(anna, bert, "No key for a while. Your board ends in ")
        await sees_while_other_plays(anna, bert, "Your board ended after 3 minutes without a key.")
        await anna.until("Your seat is kept.")
        assert await is_server("127.0.0.1", port)
        await bert.press("x")
        await bert.until("cash out")
        await bert.press("y")
        await bert.until("Press n for the next race.")
        await anna.until("Bert is host now")
        await bert.press("n")
        await bert.until("SEATS 2 of 16", "Bert", "Anna")
        await anna.until("SEATS 2 of 16")


async def test_a_key_keeps_the_board_and_the_warning_goes(tmp_path: Path) -> None:
    async with open_tmux() as tmux:
        anna, bert, _, _ = await host_and_friend(tmux, tmp_path)
        await sees_while_other_plays(anna, bert, "Your board ends in ")
        await anna.press("p")
        await anna.until(lambda screen: "Your board ends in" not in str(screen))
        await sees_while_other_plays(anna, bert, "Your board ends in ")


def after_the_question(screen: Screen) -> str | None:
    """Return the command to return that is printed below the question; `None` if there is none yet."""
    _, _, below = str(screen).partition(STAYS)
    return next((line for line in below.splitlines() if line.startswith("  saratoga ")), None)


@pytest.mark.parametrize("end", ["C-c", "q"])
async def test_a_host_who_leaves_is_asked_about_people_at_every_table_and_can_return(
    tmp_path: Path, end: str
) -> None:
    async with open_tmux() as tmux:
        words = ("host", "canfield", "--name", "Anna", "--port", str(free_port()))
        anna = await open_pane(tmux, tmp_path / "anna", *words)
        url, port = await invitation(anna)
        at_server = ("--server", f"ws://127.0.0.1:{port}", "--port", str(port))
        bert = await open_pane(
            tmux, tmp_path / "bert", "host", "caprice", "--name", "Bert", *at_server
        )
        other = (await invitation(bert))[0].rpartition("/")[2]
        await anna.press(end)
        if end == "q":
            await anna.until("y leave")
            await anna.press("y")
        await anna.until(f"Bert is still at {other}.", "Close the server now? [y/N]")
        await anna.press("Enter")
        shown = await anna.until(lambda screen: after_the_question(screen) is not None)
        assert await is_server("127.0.0.1", port)
        printed = after_the_question(shown)
        assert printed is not None
        back = await open_pane(tmux, tmp_path / "anna", *shlex.split(printed)[1:])
        await back.until("SEATS 1 of 16", url.rpartition("/")[2])
        await anna.press("C-c")
        assert await anna.ended() == (Exit.INTERRUPTED if end == "C-c" else Exit.DONE)
        assert await gone(port)
        await bert.until("reconnecting")


async def test_a_closed_terminal_window_drains_the_server_in_order(tmp_path: Path) -> None:
    async with open_tmux() as tmux:
        anna, bert, _, port = await host_and_friend(tmux, tmp_path)
        await tmux.say(f"kill-pane -t {anna.number}")
        await bert.until("Connection lost; trying again.")
        assert await gone(port)
