"""Every command that the program prints works when it is pasted into a shell.

`client/test_printed_commands.py` parses the commands of messages that need a server of their own.
"""

import os
import re
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from kit.line_client import LineClient, piped
from kit.server_process import ServerProcess
from kit.tmux import free_port
from saratoga_client.local.printed_command import printed_command, table_command
from saratoga_client.problems import Exit


@asynccontextmanager
async def pasted(command: str, home: Path) -> AsyncIterator[LineClient]:
    """Run a command in a shell, with `home` as the player's folder and without any other setting."""
    programs = home / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    program = programs / "saratoga"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m saratoga_client "$@"\n')
    program.chmod(0o755)
    env = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "SARATOGA_SERVER": "",
        "SARATOGA_HOME": str(home),
    }
    async with piped("/bin/sh", "-c", f"exec {command}", **env) as client:
        yield client


COMMAND = re.compile(r"saratoga [a-z]+ .*?(?=\.?$)")
"""A command at the end of a line."""


def command_in(line: str) -> str:
    """Return the command that a line ends with."""
    found = COMMAND.search(line)
    assert found is not None, line
    return found[0]


async def prints(command: str, home: Path) -> list[str]:
    """Run a command that ends by itself without an error; return the lines of its result."""
    async with pasted(command, home) as client:
        assert await client.ended() == Exit.DONE, (command, client.errors)
        return client.lines


async def leaves(client: LineClient) -> None:
    """Leave the table, and then the lobby if the program has one."""
    client.type("leave", "quit")
    assert await client.ended() == Exit.DONE, client.errors


async def test_the_commands_around_a_race_work_when_pasted(
    quick_server: ServerProcess, tmp_path: Path
) -> None:
    server, stranger = quick_server.url, tmp_path / "stranger"
    host = printed_command("host", "canfield", "--name", "Anna", server=server)
    async with pasted(host, tmp_path / "anna") as anna:
        while "saratoga join" not in (line := await anna.expect("invitation: ")):
            continue
        code = line.rpartition("/")[2]
        async with pasted(command_in(line), tmp_path / "bert") as bert:
            await bert.expect("name: ")
            bert.type("Bert")
            await bert.expect(f"table {code}")
            bert.type("quit")
            line = await bert.expect("quit; ")
            assert await bert.ended() == Exit.DONE
        async with (
            pasted(command_in(line), tmp_path / "bert") as bert,
            pasted(table_command("watch", code, server), stranger) as watcher,
        ):
            await bert.expect(f"table {code}")
            await watcher.expect(f"table {code}")
            for player in (anna, bert):
                player.type("ready")
                await player.expect("ok: you are ready")
            anna.type("start")
            for player in (anna, bert):
                player.type("wait deal", "cash out yes", "wait verified", "share")
            await watcher.expect("verified: ")
            shared = [
                await bert.expect("share: Check it: "),
                await anna.expect("share: Check it: "),
            ]
            assert shared[0] == shared[1]
            race = f"{code}/1"
            checked = await prints(command_in(shared[0]), stranger)
            assert checked[-1].startswith(f"{race} is verified: ")
            assert (await prints(command_in(shared[0]), tmp_path / "bert"))[-1].endswith(
                "witnessed here."
            )
            replay = printed_command("replay", race, server=server)
            assert (await prints(replay, stranger))[0] == f"race {race}: canfield, 2 racers"
            await leaves(bert)
        await leaves(anna)


async def test_the_remedy_for_a_server_that_was_closed_works_when_pasted(tmp_path: Path) -> None:
    home, url = tmp_path / "anna", f"ws://127.0.0.1:{free_port()}"
    async with pasted(printed_command("leaderboard", "canfield", server=url), home) as client:
        assert await client.ended() == Exit.UNREACHABLE
    remedy = command_in(client.errors[-1])
    async with pasted(remedy, home) as host:
        await host.expect("name: ")
        host.type("Anna")
        while "saratoga join" not in (line := await host.expect("invitation: ")):
            continue
        code = line.rpartition("/")[2]
        await host.expect(f"table {code}")
        host.type("quit")
        assert await host.ended() == Exit.DONE
    async with pasted(remedy, home) as host:
        await host.expect(f"table {code}")
        await leaves(host)


async def test_the_practice_that_a_text_names_works_when_pasted(tmp_path: Path) -> None:
    async with pasted("saratoga practice canfield --seed 'it is mine'", tmp_path) as player:
        player.type("share")
        line = await player.expect("share: Try it: ")
        player.type("look")
        board = [await player.expect("column ") for _ in range(4)]
        player.type("quit")
        assert await player.ended() == Exit.DONE
    async with pasted(command_in(line), tmp_path / "friend") as friend:
        assert [await friend.expect("column ") for _ in range(4)] == board
        friend.type("quit")
        assert await friend.ended() == Exit.DONE
