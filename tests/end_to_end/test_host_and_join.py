"""`saratoga host` opens a server on this machine, and friends join it by the invitation.

All processes are real. The server ends with its host, however the host ends. A host who leaves is
asked about the people at the table, and can come back. For idle hosts, boards end as idle after
eight seconds.
"""

import asyncio
import re
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kit.altered_server import IDLE_PLAYER
from kit.in_process_server import gathered
from kit.line_client import LineClient, line_client
from kit.players import player_at
from kit.pseudo_terminal import Open, Window, windows
from kit.server_process import (
    python_path,
    running_server,
    running_with,
    wait_until_none_with,
)
from kit.stores import free_port
from saratoga_client.cli.host import STAYS
from saratoga_client.local.hosting import is_server
from saratoga_client.local.settings import remember_server
from saratoga_client.problems import Exit
from saratoga_protocol.commands import AddBot, JoinTable
from saratoga_protocol.events import Done, TableChanged

CODE = "[a-z]+-[a-z]+-[0-9]{2}"

PROGRAM = (sys.executable, "-m", "saratoga_client")


INVITATION = re.compile(r"saratoga join (ws://[^/\s]+:(\d+)/[a-z]+-[a-z]+-\d\d)")
GONE_WITHIN = 30.0
"""Longest time in seconds for a server to stop; it drains for at most 20."""


async def gone(port: int) -> bool:
    """Wait until no server answers at the port."""
    async with asyncio.timeout(GONE_WITHIN):
        while await is_server("127.0.0.1", port):
            pass
    return True


async def start_race(host: Window, friend: Window, board: str) -> None:
    """Let both players get ready and the host start; wait until both screens show the text of a board."""
    for player in (host, friend):
        player.press("r")
    await host.until(lambda screen: screen.count("✓") == 2)
    host.press("s")
    for player in (host, friend):
        await player.until(board)


async def invitation(host: Window) -> tuple[str, int]:
    """Wait for the gathering page of a table with one player; return the invitation's URL and port."""
    shown = await host.until("SEATS 1 of 16", lambda screen: INVITATION.search(screen) is not None)
    (found,) = INVITATION.findall(shown)
    return found[0], int(found[1])


async def run(opened: Open, home: Path, *words: str, size: tuple[int, int] = (80, 24)) -> Window:
    """Run `saratoga WORDS` in a terminal of its own, without a configured server."""
    env = {"SARATOGA_HOME": str(home), "SARATOGA_SERVER": None}
    return await opened(*PROGRAM, *words, columns=size[0], lines=size[1], env=env)


def cards(screen: str) -> list[str]:
    """Return the left part of a race's screen, where the cards lie."""
    return [line[:50] for line in screen.split("\n")[1:-2]]


async def test_host_opens_a_server_and_a_friend_joins_by_the_invitation(
    tmp_path: Path,
) -> None:
    async with windows() as opened:
        words = ("host", "caprice", "--cap", "3", "--port", str(free_port()))
        anna = await run(opened, tmp_path / "anna", *words)
        await anna.until("Your name at this server")
        anna.enter("Anna")
        url, port = await invitation(anna)
        await anna.until("CAPRICE", "y copy")

        bert = await run(opened, tmp_path / "bert", "join", url, size=(120, 40))
        await bert.until("Your name at this server")
        bert.enter("anna")
        await bert.until("is taken", "saratoga token import")
        bert.enter("Bert")
        await bert.until("SEATS 2 of 16", url)

        await start_race(anna, bert, "to break even")
        bert.press("Tab")
        before = await bert.until("enter play")
        bert.press("Enter")
        await bert.until(
            lambda screen: "enter play" not in screen and cards(screen) != cards(before)
        )
        bert.press("Ctrl-C")
        assert await bert.ended() == Exit.INTERRUPTED
        left = bert.screen
        assert "what you banked stays yours" in left
        assert f"saratoga join ws://127.0.0.1:{port}/" in left or url in left

        # Bert races and may come back, so the program asks before it closes the server
        anna.press("q")
        await anna.until("y ")
        anna.press("y")
        await anna.until("Bert is still at", "Close the server now?")
        anna.enter("y")
        assert await anna.ended() == Exit.DONE
        assert await gone(port)
        assert url in anna.screen, "the invitation is still to be read"


async def test_ctrl_c_closes_the_hosts_server_and_reopening_it_continues_the_race(
    tmp_path: Path,
) -> None:
    words = ("host", "lafayette", "--name", "Anna", "--port", str(free_port()))
    async with windows() as opened:
        anna = await run(opened, tmp_path / "anna", *words)
        _, port = await invitation(anna)
        anna.press("r")
        await anna.until("host, ready")
        anna.press("s")
        await anna.until("to break even")
        anna.press("Ctrl-C")
        await anna.ended()
        assert "The server on this machine stops now; banked cards are kept." in anna.screen
        assert await gone(port)
        again = await run(opened, tmp_path / "anna", *words)
        await again.until("to break even")
        again.press("Ctrl-C")
        assert await again.ended() == Exit.INTERRUPTED
        assert "You are in a race at" in again.screen
        assert await gone(port)


@asynccontextmanager
async def plain_host(home: Path, *words: str) -> AsyncIterator[tuple[LineClient, int]]:
    """Run `saratoga host` over pipes; yield its client, with its table open, and the port of its server."""
    async with line_client("", home, "host", "lafayette", "--name", "Anna", *words) as host:
        while (found := INVITATION.search(await host.expect("invitation: "))) is None:
            pass
        await host.expect("table ")
        yield host, int(found[2])


async def test_a_host_who_is_killed_stops_the_server(tmp_path: Path) -> None:
    async with plain_host(tmp_path / "anna", "--port", str(free_port())) as (host, port):
        assert running_with("--serve", f":{port}"), "the server has bots"
        host.process.kill()
        await host.ended()
        assert await gone(port)
    await asyncio.to_thread(wait_until_none_with, "--serve", f":{port}")


async def test_a_host_adds_bots_removes_one_and_races_the_other(tmp_path: Path) -> None:
    async with windows() as opened:
        words = ("host", "klondike", "--name", "Anna", "--port", str(free_port()))
        anna = await run(opened, tmp_path, *words)
        _, port = await invitation(anna)
        await anna.until("+ bot")
        for key, bot in (("1", "weak bot"), ("2", "even bot")):
            anna.press("+")
            await anna.until("Which bot?")
            anna.press(key)
            await anna.until(bot)
        anna.press("-")
        await anna.until("SEATS 2 of 16", lambda screen: screen.count("✓") == 1)
        anna.press("r")
        await anna.until("host, ready")
        anna.press("s")
        await anna.until("11 cards to break even", lambda screen: "° " in screen)
        anna.press("q", "y")
        assert await anna.ended() == Exit.DONE
        assert await gone(port)
    assert not running_with("--serve", f":{port}")


async def test_a_server_with_bots_of_its_own_gives_one_to_a_table_and_ends_with_them() -> None:
    async with running_server("--bots") as server, player_at(server.url, "Anna") as anna:
        code = await gathered(anna)
        while not anna.table.bots:
            await anna.expect(TableChanged, len(anna.received.events))
        assert isinstance(await anna.ask(AddBot, table=code, level="even", key="a1" * 16), Done)
        while [seat.level for seat in anna.table.seats if seat.ready] != ["even"]:
            await anna.expect(TableChanged, len(anna.received.events))
        await server.kill()
        await asyncio.to_thread(wait_until_none_with, "--serve", server.url)
        await server.start()


async def test_without_a_terminal_the_program_prints_a_short_help() -> None:
    process = await asyncio.create_subprocess_exec(
        *PROGRAM, stdout=asyncio.subprocess.PIPE, stdin=asyncio.subprocess.DEVNULL
    )
    output, _ = await process.communicate()
    assert process.returncode == Exit.DONE
    assert b"saratoga host klondike" in output
    assert b"\x1b" not in output


IDLE_PROGRAM = (sys.executable, "-m", *IDLE_PLAYER.split())


async def run_idle(opened: Open, home: Path, *words: str) -> Window:
    """Run `saratoga WORDS` in a terminal of its own, without a configured server."""
    env = {"SARATOGA_HOME": str(home), "SARATOGA_SERVER": None, "PYTHONPATH": python_path()}
    return await opened(*IDLE_PROGRAM, *words, env=env)


async def host_and_friend(opened: Open, folder: Path) -> tuple[Window, Window, int]:
    """Return Anna, who hosts a race, Bert in the same race, and the server's port."""
    words = ("host", "canfield", "--name", "Anna", "--port", str(free_port()))
    anna = await run_idle(opened, folder / "anna", *words)
    url, port = await invitation(anna)
    bert = await run_idle(opened, folder / "bert", "join", url, "--name", "Bert")
    await bert.until("SEATS 2 of 16")
    await start_race(anna, bert, "to break even")
    return anna, bert, port


async def sees_while_other_plays(player: Window, other: Window, wanted: str) -> None:
    """Wait for a text; the other player, who must not be idle, presses a key on every screen before."""
    while wanted not in player.screen:
        other.press("Space")
        await player.writes()


async def test_an_idle_host_keeps_seat_table_and_server_and_friends_do_not_wait(
    tmp_path: Path,
) -> None:
    async with windows() as opened:
        anna, bert, port = await host_and_friend(opened, tmp_path)
        # a busy machine may miss one of the two warnings, which last three seconds each
        await sees_while_other_plays(anna, bert, "Any key keeps your board in the race.")
        await sees_while_other_plays(anna, bert, "Your board ended after 3 minutes without a key.")
        await anna.until("Your seat is kept.")
        assert await is_server("127.0.0.1", port)
        bert.press("x")
        await bert.until("cash out")
        bert.press("y")
        await bert.until("Press enter for the next race.")
        await anna.until("Bert is host now")
        bert.press("Enter")
        await bert.until("SEATS 2 of 16", "YOU", "Anna")
        await anna.until("SEATS 2 of 16")
        anna.close()
        await bert.until("reconnecting")
        assert await gone(port), "a closed window ends the server, too"


def after_the_question(screen: str) -> str | None:
    """Return the command to return that is printed below the question; `None` if there is none yet."""
    _, _, below = screen.partition(STAYS)
    return next((line for line in below.splitlines() if line.startswith("  saratoga ")), None)


async def test_a_host_who_leaves_is_asked_about_people_at_the_table_and_can_return(
    tmp_path: Path,
) -> None:
    async with windows() as opened:
        words = ("host", "canfield", "--name", "Anna", "--port", str(free_port()))
        anna = await run_idle(opened, tmp_path / "anna", *words)
        url, port = await invitation(anna)
        bert = await run_idle(opened, tmp_path / "bert", "join", url, "--name", "Bert")
        await anna.until("SEATS 2 of 16")
        code = url.rpartition("/")[2]
        anna.press("Ctrl-C")
        await anna.until(f"Bert is still at {code}.", "Close the server now? [y/N]")
        anna.press("Enter")
        shown = await anna.until(lambda screen: after_the_question(screen) is not None)
        assert await is_server("127.0.0.1", port)
        printed = after_the_question(shown)
        assert printed is not None
        back = await run_idle(opened, tmp_path / "anna", *shlex.split(printed)[1:])
        await back.until("SEATS 2 of 16", code)
        anna.press("Ctrl-C")
        assert await anna.ended() == Exit.INTERRUPTED
        assert await gone(port)
        await bert.until("Anna has closed the server. Trying again.")


async def test_a_host_in_plain_lines_is_asked_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, home = free_port(), tmp_path / "anna"
    monkeypatch.setenv("SARATOGA_HOME", str(home))
    remember_server(f"ws://127.0.0.1:{port}")
    async with windows() as opened:
        anna = await run_idle(opened, home, "--plain", "--name", "Anna")
        await anna.until("lobby: no server.")
        anna.enter("create canfield")
        await anna.until("invitation: http", "seat 1 Anna")
        async with player_at(f"ws://127.0.0.1:{port}", "Bert") as bert:
            code = re.search(CODE, anna.screen)
            assert code is not None
            await bert.at_table(JoinTable, table=code[0])
            await anna.until("Bert")
            anna.enter("quit")
            await anna.until(f"Bert is still at {code[0]}.", "Close the server now? [y/N]")
            anna.enter("y")
        assert await anna.ended() == Exit.DONE
        assert await gone(port)
