"""The client's commands as real processes, on a real server."""

import asyncio
import json
import os
import signal
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kit.server_process import ServerProcess
from saratoga_client.bots.player import TablePlayer
from saratoga_client.bots.strengths import CHOOSERS, Strength
from saratoga_client.local import key_files
from saratoga_client.local.identity import derived, new_token
from saratoga_client.local.origins import origin_of
from saratoga_client.net.connection import Connection
from saratoga_client.problems import Exit
from saratoga_client.session.witness import Witness
from saratoga_protocol.commands import CreateTable, JoinTable
from saratoga_protocol.events import Snapshot

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
        code = (
            await anna.ask(partial(CreateTable, game="canfield-aisleriot", cap=3), Snapshot)
        ).table.code
        watching = group.create_task(shell.run("watch", code, "--once", "--json"))
        bots = [
            group.create_task(
                shell.run(*("bot", code, "--races", "1", "--pace", "40", "--json"), *how)
            )
            for how in (("--name", "Otto"), ("--name", "Greta", "--strength", "weak"))
        ]
        hosting = TablePlayer(
            anna,
            CHOOSERS[Strength.WEAK],
            pace=40,
            races=1,
            starts_with=3,
            witness=Witness(shell.home / "witness"),
        )
        report = await hosting.stay()
    outcome = report.outcomes[0]

    for bot in bots:
        ended = bot.result()
        assert ended.code == Exit.DONE, ended.err
        (printed,) = ended.objects
        assert printed["schema"] == "saratoga.bot.v1"
        result = next(row for row in outcome.results if row.player == printed["player"])
        assert result.bot
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
    assert (proof["verified"], proof["witness"]) == (True, "witnessed here")
    assert proof["digest"] == outcome.digest
    assert [place["player"] for place in proof["places"]] == [row.player for row in outcome.results]


async def test_leaderboard_watch_prints_new_results(shell: Shell) -> None:
    own_token = derived(key_files.load_or_create(shell.home / "secret"), origin_of(shell.server))
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
            open_table = partial(CreateTable, game="canfield-aisleriot", cap=3)
            code = (await anna.ask(open_table, Snapshot)).table.code
            await bert.ask(partial(JoinTable, table=code), Snapshot)
            reports = await asyncio.gather(
                *(
                    TablePlayer(
                        connection, CHOOSERS[Strength.WEAK], pace=40, races=2, starts_with=2
                    ).stay()
                    for connection in (anna, bert)
                )
            )
        races = [outcome.race for outcome in reports[0].outcomes]
        assert races == [f"{code}/1", f"{code}/2"]
        assert all(outcome.ranked for outcome in reports[0].outcomes)
        page: dict[str, Any] = {"rows": []}
        while len(page["rows"]) < 2:
            page = json.loads(await watch.stdout.readline())
        watch.send_signal(signal.SIGINT)
        await watch.communicate()
    assert watch.returncode == Exit.INTERRUPTED
    assert {row["name"] for row in page["rows"]} == {"Anna", "Bert"}
    assert page["me"]["name"] == "Anna"
    assert page["rows"][0]["race"] in races


async def test_a_command_about_a_missing_table_ends_with_code_6(shell: Shell) -> None:
    for words in (
        ("watch", "mint-otter-42"),
        ("verify", "mint-otter-42/1"),
        ("bot", "mint-otter-42"),
    ):
        ended = await shell.run(*words)
        assert ended.code == Exit.NOT_FOUND, ended.err
        assert "Traceback" not in ended.err


async def test_an_empty_leaderboard_is_printed_as_text_and_as_json(shell: Shell) -> None:
    plain = await shell.run("leaderboard", "caprice", "--period", "all")
    assert plain.out == "caprice, best, all: 0 in all\n"
    # a command that only reads needs no identity, so it creates none
    assert not (shell.home / "secret").exists()
    printed = await shell.run("leaderboard", "caprice", "--json", "--me", "--bots")
    assert printed.code == Exit.DONE, printed.err
    assert (shell.home / "secret").exists()
    (page,) = printed.objects
    assert (page["schema"], page["rows"], page["me"]) == ("saratoga.leaderboard.v1", [], None)
