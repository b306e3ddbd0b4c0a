"""The client's commands as real processes, on a real server; and every command that the program prints works when it is pasted.

`client/test_printed_commands.py` parses the commands of messages that need a server of their own.
"""

import asyncio
import json
import os
import re
import shlex
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kit.line_client import LineClient, piped
from kit.racing_bots import race_as_host
from kit.server_process import ServerProcess
from kit.stores import free_port
from saratoga_client.local.identity import derived, load_or_create, new_token
from saratoga_client.local.origins import origin_of
from saratoga_client.local.printed_command import printed_command, table_command
from saratoga_client.net.connection import Connection
from saratoga_client.problems import Exit
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.witness import Witness

ENDS_WITHIN = 120
"""Seconds after which a command that has not ended is killed."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True, slots=True)
class Shell:
    """A player's shell: the address of a server, and a home folder."""

    server: str
    home: Path

    async def run(self, *words: str) -> Ended:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "saratoga_client", *words),
            env={**os.environ, "SARATOGA_SERVER": self.server, "SARATOGA_HOME": str(self.home)},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(ENDS_WITHIN):
                out, err = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return Ended(process.returncode or 0, out.decode(), err.decode())


@pytest.fixture
def shell(quick_server: ServerProcess, tmp_path: Path) -> Shell:
    return Shell(quick_server.url, tmp_path / "home")


async def test_bots_race_at_a_watched_table_and_the_record_verifies(shell: Shell) -> None:
    async with (
        Connection(shell.server, new_token(), name="Anna") as anna,
        asyncio.TaskGroup() as group,
    ):
        session = TableSession(anna, witness=Witness(shell.home / "witness"))
        code = (await session.open_table("canfield-aisleriot", cap=3)).code
        watching = group.create_task(shell.run("watch", code, "--once", "--json"))
        bots = [
            group.create_task(
                shell.run(*("bot", code, "--races", "1", "--pace", "40", "--json"), *how)
            )
            for how in (("--name", "Otto"), ("--name", "Greta", "--strength", "weak"))
        ]
        await race_as_host(session, "weak", pace=40, races=1, starts_with=3)
    assert session.state is not None
    outcome = session.state.table_view.outcome
    assert outcome is not None

    for bot in bots:
        ended = bot.result()
        assert ended.code == Exit.DONE, ended.err
        (printed,) = ended.objects
        assert printed["schema"] == "saratoga.bot.v1"
        result = next(row for row in outcome.results if row.player == printed["player"])
        assert (printed["place"], printed["banked"]) == (result.place, result.banked)

    watched = watching.result()
    assert watched.code == Exit.DONE, watched.err
    last = watched.objects[-1]
    assert last["digest"] == outcome.digest
    assert {row["name"]: row["bot"] for row in last["rows"]} == {
        "Anna": False,
        "Otto": True,
        "Greta": True,
    }

    verified = await shell.run("verify", outcome.race, "--json")
    assert verified.code == Exit.DONE, verified.out + verified.err
    (proof,) = verified.objects
    assert (proof["verified"], proof["witness"]) == (True, "raced")
    assert proof["digest"] == outcome.digest
    assert [place["player"] for place in proof["places"]] == [row.player for row in outcome.results]


async def test_leaderboard_watch_prints_new_results(shell: Shell) -> None:
    own_token = derived(load_or_create(shell.home / "secret"), origin_of(shell.server))
    watch = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "saratoga_client", "leaderboard", "canfield-aisleriot"),
        *("--watch", "--json", "--me", "--server", shell.server),
        env={**os.environ, "SARATOGA_HOME": str(shell.home)},
        stdout=asyncio.subprocess.PIPE,
    )
    assert watch.stdout is not None
    async with asyncio.timeout(ENDS_WITHIN):
        assert json.loads(await watch.stdout.readline())["rows"] == []
        async with (
            Connection(shell.server, own_token, name="Anna") as anna,
            Connection(shell.server, new_token(), name="Bert") as bert,
        ):
            sessions = [
                TableSession(each, records=RecordStore(in_memory=True)) for each in (anna, bert)
            ]
            table = await sessions[0].open_table("canfield-aisleriot", cap=3)
            await sessions[1].sit_down(table.code)
            await asyncio.gather(
                *(race_as_host(each, "weak", pace=40, races=2, starts_with=2) for each in sessions)
            )
        state = sessions[0].state
        assert state is not None
        assert state.table_view.outcome is not None
        assert state.table_view.outcome.ranked
        races = [f"{table.code}/1", f"{table.code}/2"]
        assert list(state.verifications) == races
        page: dict[str, Any] = {"rows": []}
        while len(page["rows"]) < 2:
            page = json.loads(await watch.stdout.readline())
        watch.send_signal(signal.SIGINT)
        await watch.communicate()
    assert watch.returncode == Exit.INTERRUPTED
    assert {row["name"] for row in page["rows"]} == {"Anna", "Bert"}
    assert page["me"]["name"] == "Anna"
    assert page["rows"][0]["race"] in races


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
            await anna.expect("seat: Bert is ready")  # or her program would ask about him
            anna.type("start")
            for player in (anna, bert):
                player.type("wait deal", "cash out yes", "wait verified", "share")
            await watcher.expect("verified: ")
            race = f"{code}/1"
            for player in (anna, bert):
                assert (await player.expect("share: See it: ")).endswith(f"/races/{race}")
            check = printed_command("verify", race, server=server)
            checked = await prints(check, stranger)
            assert checked[-1].startswith(f"{race} is verified: ")
            played = "it is the race that you played."
            assert (await prints(check, tmp_path / "bert"))[-1].endswith(played)
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
