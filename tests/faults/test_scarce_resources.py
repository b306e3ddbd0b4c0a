"""Without file descriptors, without its folder, or with a log that nobody reads, a server goes on; afterwards it says so."""

import asyncio
import json
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kit.altered_server import LOG_QUEUE, SMALL_LOG_QUEUE
from kit.players import SocketPlayer, player_at
from kit.server_process import FullPipe, ServerProcess, running_server
from saratoga_protocol.commands import CreateTable, Heartbeat, LeaveTable
from saratoga_protocol.events import Alive, Done, Snapshot

WITHIN = 30.0
"""Longest time in seconds for anything awaited; a bound that no test should reach."""


@contextmanager
def no_more_files(server_process: ServerProcess) -> Iterator[None]:
    """Let the server open no file; those that are open stay open."""
    before = resource.prlimit(server_process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(server_process.pid, resource.RLIMIT_NOFILE, (0, before[1]))
    yield
    resource.prlimit(server_process.pid, resource.RLIMIT_NOFILE, before)


async def ready(server_process: ServerProcess) -> None:
    async with asyncio.timeout(WITHIN):
        while (await server_process.get("/readyz"))[0] != 200:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def sits_down(player: SocketPlayer) -> None:
    answer = await player.ask(CreateTable, game="canfield")
    assert isinstance(answer, Snapshot), answer
    assert isinstance(await player.ask(LeaveTable, table=answer.table.code), Done)


async def test_a_server_without_descriptors_serves_its_players_and_accepts_others_later() -> None:
    async with running_server() as server_process, player_at(server_process.url, "Anna") as anna:
        with no_more_files(server_process):
            _, writer = await asyncio.open_connection("127.0.0.1", server_process.port)
            await sits_down(anna)
            writer.close()
        async with player_at(server_process.url, "Bert") as bert:
            assert isinstance(await bert.ask(Heartbeat), Alive)


async def connect_often(url: str, times: int) -> None:
    """Connect and disconnect; each time the server writes at least one line at the level `debug`."""
    for _ in range(times):
        async with asyncio.timeout(WITHIN), player_at(url, "Anna"):
            pass


def events_until(read_line: Callable[[], str], event: str) -> list[dict[str, Any]]:
    """Read lines of the log up to the first with this event; return them all."""
    found = [json.loads(read_line())]
    while found[-1]["event"] != event:
        found.append(json.loads(read_line()))
    return found


async def test_players_are_served_while_nobody_reads_the_log(
    full_pipe: FullPipe, tmp_path: Path
) -> None:
    flags = ("--log-level", "debug", "--rate", "0")
    server = ServerProcess(tmp_path, flags, module=SMALL_LOG_QUEUE, log_to=full_pipe.write_end)
    try:
        await server.start()
        await connect_often(server.url, 2 * LOG_QUEUE)
        async with player_at(server.url, "Anna") as anna:
            await sits_down(anna)
        full_pipe.read_filling()
        async with asyncio.timeout(WITHIN):
            for _ in range(LOG_QUEUE):  # a full queue drops what comes, the line on closing too
                await asyncio.to_thread(full_pipe.read_line)
            stopping = asyncio.create_task(server.stop())
            ending = await asyncio.to_thread(events_until, full_pipe.read_line, "server_closed")
            assert "server_closing" in [each["event"] for each in ending]
            assert await stopping == 0
    finally:
        await server.kill()
