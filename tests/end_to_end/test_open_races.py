"""Open races by real programs: the day's deal by keys and in lines, a challenge against a ghost, and a killed server."""

import asyncio
import os
import sys
from pathlib import Path

from kit.line_client import LineClient, line_client
from kit.pseudo_terminal import window
from kit.server_process import ServerProcess
from saratoga_rules.games import GAMES

SARATOGA = (sys.executable, "-m", "saratoga_client")


async def run(client: LineClient, line: str, moves: int) -> str:
    """Run an open race: draw a few times and cash out; return the line that says how it went."""
    client.type(line)
    await client.expect("deal: ")
    for _ in range(moves):
        client.type("draw")
        await client.expect("move ")
    client.type("cash out yes")
    await client.expect("ended: ")
    return await client.expect("run: ")


async def test_a_day_is_run_in_lines_once_and_seen_again(
    quick_server: ServerProcess, tmp_path: Path
) -> None:
    at = quick_server.url
    async with line_client(at, tmp_path / "anna", "--plain", "--name", "Anna") as anna:
        assert (await run(anna, "daily klondike", 2)).startswith("run: You banked 0 cards")
        await anna.expect("result - Anna: 0 cards")
        assert (await anna.expect("run: Your streak")) == "run: Your streak: 1 day."
        anna.type("daily klondike")
        await anna.expect("run: You banked 0 cards")
        anna.type("daily")
        assert "1 has run it" in await anna.expect("day klondike: ")
        bot = (*SARATOGA[1:], "bot", "--daily", "--pace", "40", "--strength", "weak")
        sent = await asyncio.create_subprocess_exec(
            *(SARATOGA[0], *bot, "--server", at),
            env=os.environ | {"SARATOGA_HOME": str(tmp_path / "bot")},
            stdout=asyncio.subprocess.PIPE,
        )
        told, _ = await sent.communicate()
        assert [line.split(":")[0] for line in told.decode().splitlines()] == list(GAMES)
        anna.type("daily klondike")
        await anna.expect("result 1. ", "result - ")
        anna.type("history")
        assert "1 races" in await anna.expect("history Klondike: ")


async def test_a_friend_runs_a_challenge_against_its_ghost_over_a_killed_server(
    quick_server: ServerProcess, tmp_path: Path
) -> None:
    at = quick_server.url
    async with (
        line_client(at, tmp_path / "anna", "--plain", "--name", "Anna") as anna,
        line_client(at, tmp_path / "ben", "--plain", "--name", "Ben") as ben,
    ):
        await anna.expect("lobby: ")
        anna.type("challenge lafayette")
        race = (await anna.expect("challenge: ")).split()[1].rstrip(",")
        await run(anna, f"challenge {race}", 1)
        ben.type(f"challenge {race}")
        await ben.expect("deal: ")
        await ben.expect("news: Anna's ghost")
        await quick_server.kill()
        await ben.expect("link: connection lost")
        ben.type("draw")
        await quick_server.start()
        await ben.expect("link: connected again; nothing is lost")
        await ben.expect("move 1 draw: turned ")
        ben.type("cash out yes")
        await ben.expect("ended: ")
        lines = [await ben.expect("result ") for _ in range(2)]
        assert {line.split()[2].rstrip(":") for line in lines[-2:]} <= {"Anna", "Ben"}
        assert not [line for line in ben.lines if "ALARM" in line]


async def test_a_day_is_run_by_keys(quick_server: ServerProcess, tmp_path: Path) -> None:
    env = {"SARATOGA_HOME": str(tmp_path / "home")}
    async with window(*SARATOGA, "--server", quick_server.url, env=env) as home:
        await home.until("Today's deal")
        home.press("1")
        await home.until("6  Caprice", "nobody has run it yet")
        home.press("1")
        await home.until("cash out")
        home.press("x")
        await home.until("any other key no")
        home.press("y")
        await home.until("YOU BANKED 0 CARDS", "Your streak: 1 day.", "RESULTS SO FAR")
        home.press("q")
        await home.until("Today's deal")
        home.press("q")
        assert await home.ended() == 0
