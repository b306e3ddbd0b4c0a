"""The running server: its ports, its options, and errors at the start."""

import asyncio
import sys
from pathlib import Path

import pytest

from kit.altered_server import QUICK
from kit.in_process_server import counted_down, gathered
from kit.player_sockets import player_at
from kit.server_process import ServerProcess, running_server
from saratoga_protocol.events import Dealt, RaceOver
from saratoga_server.serving import program


def test_clients_are_sent_the_programs_name_and_version() -> None:
    name, number = program().split(" ")
    assert name == "saratoga-server"
    assert number[0].isdecimal()


async def refused(folder: Path, *options: str) -> str:
    """Start a server that cannot start; return the error that it prints."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "saratoga_server", "--data", str(folder), "--port", "0"),
        # the usual port of the metrics may be another server's
        *("--metrics-port", "off", *options),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(30):
        out, log = await process.communicate()
    assert (process.returncode, out) == (1, b"")
    assert "Traceback" not in log.decode()
    _, error = log.decode().split("Error: ")
    return error


@pytest.mark.parametrize(
    ("option", "what", "advice"),
    [
        ("--port", "127.0.0.1:{port} cannot be opened", "with --host and --port."),
        (
            "--metrics-port",
            "The metrics address 127.0.0.1:{port} cannot be opened",
            "--metrics-port off.",
        ),
    ],
)
async def test_a_port_that_is_taken_ends_the_server_with_advice(
    tmp_path: Path, server_process: ServerProcess, option: str, what: str, advice: str
) -> None:
    error = await refused(tmp_path, option, str(server_process.port))
    assert what.format(port=server_process.port) in error
    assert "ddress already in use" in error
    assert error.rstrip().endswith(advice)


@pytest.mark.parametrize(("port", "is_open"), [("0", True), ("off", False)])
async def test_metrics_can_be_turned_off(port: str, is_open: bool) -> None:
    async with running_server("--metrics-port", port) as server_process:
        events = {event["event"] for event in server_process.events()}
    assert "server_open" in events
    assert ("metrics_open" in events) == is_open


async def test_the_operator_may_let_only_races_at_public_tables_count() -> None:
    async with (
        running_server("--ranked", "public", module=QUICK) as server_process,
        player_at(server_process.url, "Anna") as anna,
        player_at(server_process.url, "Bert") as bert,
    ):
        await gathered(anna, bert, public=False)
        await counted_down(anna, bert)
        for player in (anna, bert):
            await player.received.next(Dealt, 0)
            await player.cash_out()
        over = await anna.received.next(RaceOver, 0)
        assert not over.outcome.ranked


async def test_a_store_that_does_not_answer_ends_the_server_with_its_address(
    tmp_path: Path,
) -> None:
    assert "/nowhere/at/all" in await refused(tmp_path, "--redis", "unix:///nowhere/at/all")
