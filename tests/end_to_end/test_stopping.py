"""A server that is told to stop: announced first, in order then, and at once if it is told twice."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from kit.house import House, open_house
from kit.processes import wait_until_gone
from kit.pseudo_terminal import PseudoTerminal
from kit.sockets import guest
from saratoga_protocol.commands import Heartbeat
from saratoga_protocol.events import Alive
from saratoga_protocol.refusals import RESTARTING
from saratoga_server.cancellation import TaskEnded
from saratoga_server.embedded_store.socket_path import SOCKET

WITHIN = 30.0
"""Seconds: a bound for what is awaited, never a measure."""

ALONE = ()
WORKERS = ("--workers", "2")


def tell(house: House, sign: signal.Signals = signal.SIGTERM) -> None:
    assert house.process is not None
    house.process.send_signal(sign)


async def not_ready(house: House) -> None:
    async with asyncio.timeout(WITHIN):
        while (await house.get("/readyz"))[0] != 503:
            pass


async def ended(house: House) -> int:
    assert house.process is not None
    async with asyncio.timeout(WITHIN):
        return await house.process.wait()


@pytest.mark.parametrize("flags", [ALONE, WORKERS], ids=["alone", "workers"])
async def test_balancers_notice_while_everything_goes_on(flags: tuple[str, ...]) -> None:
    async with open_house("--drain-delay", "2", *flags) as house, guest(house.url, "Anna") as anna:
        tell(house)
        await not_ready(house)
        assert isinstance(await anna.ask(Heartbeat), Alive)
        async with guest(house.url, "Bert") as bert:
            assert isinstance(await bert.ask(Heartbeat), Alive)
        assert await anna.sent_away() == (RESTARTING.code, RESTARTING.reason)
        assert await ended(house) == 0


@pytest.mark.parametrize("flags", [ALONE, WORKERS], ids=["alone", "workers"])
async def test_told_twice_it_ends_at_once(flags: tuple[str, ...]) -> None:
    async with open_house("--drain-delay", "600", *flags) as house:
        async with guest(house.url, "Anna") as anna:
            tell(house)
            await not_ready(house)
            tell(house, signal.SIGINT)
            # cut off: what was said before stands, and there was no time for a goodbye
            assert (await anna.sent_away())[0] == 1006
        assert await ended(house) == 0
        assert not house.store_socket.exists()
        assert any(event["event"] == "closed_in_haste" for event in house.events())


async def test_the_end_of_its_terminal_stops_it_in_order() -> None:
    async with open_house() as house, guest(house.url, "Anna") as anna:
        tell(house, signal.SIGHUP)
        assert await anna.sent_away() == (RESTARTING.code, RESTARTING.reason)
        assert await ended(house) == 0


async def test_a_parent_whose_terminal_is_closed_stops_and_does_not_replace_its_workers(
    tmp_path: Path,
) -> None:
    terminal = PseudoTerminal(columns=200)
    async with terminal.running(
        *(sys.executable, "-m", "saratoga_server", "--workers", "1", "--port", "0"),
        *("--data", str(tmp_path), "--metrics-port", "off"),
    ) as process:
        await terminal.shows("saratoga-server ready ")
        terminal.close()
        async with asyncio.timeout(WITHIN):
            assert await process.wait() == 0
    assert not (tmp_path / "store" / SOCKET).exists()


@pytest.mark.parametrize("workers", [(), ("--workers", "1")])
async def test_a_house_that_cannot_print_that_it_is_ready_is_open_all_the_same(
    tmp_path: Path, workers: tuple[str, ...]
) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "saratoga_server", "--port", "0", *workers),
        *("--data", str(tmp_path), "--metrics-port", "off"),
        stdout=full,
        stderr=asyncio.subprocess.PIPE,
    )
    os.close(full)
    assert process.stderr is not None
    async with asyncio.timeout(WITHIN):
        await process.stderr.readuntil(b"ready_unsaid")
        process.terminate()
        rest = await process.stderr.read()
        assert await process.wait() == 0
    assert b"Traceback" not in rest
    assert not (tmp_path / "store" / SOCKET).exists()


@pytest.mark.parametrize("module", ["kit.ending_duty", "kit.ending_supervision"])
async def test_a_house_that_ends_by_a_fault_of_its_own_sends_players_away_and_says_so(
    module: str,
) -> None:
    async with open_house(module=module) as house:
        house.forgiven.add("house_fault")
        async with guest(house.url, "Anna") as anna:
            tell(house, signal.SIGUSR1)
            assert await anna.sent_away() == (RESTARTING.code, RESTARTING.reason)
        assert await ended(house) == 1
        (fault,) = (event for event in house.events() if event["event"] == "house_fault")
        assert "lost the place" in fault["fault"]
        assert house.log.read_text().rstrip().endswith(str(TaskEnded()))
        assert not house.store_socket.exists()


async def test_a_killed_server_leaves_no_store_running() -> None:
    async with open_house() as house:
        store = house.store_pid()
        await house.kill()
        await asyncio.to_thread(wait_until_gone, store)
        assert not house.store_socket.exists()
        await house.start()
        assert house.store_pid() != store
