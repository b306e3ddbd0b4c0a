"""The composition root: what it builds, and how it says that it cannot start."""

import asyncio
import sys
from pathlib import Path

import pytest

from kit.fake_store import FakeHouse, fake_store
from kit.house import House, open_house
from kit.rooms import InventedTime, always, open_in_memory
from kit.tables import NOON
from saratoga_server.app import compose, program
from saratoga_server.metrics.counters import Metrics
from saratoga_server.store.opening import Store


async def test_a_server_on_a_real_store_goes_by_the_stores_clock(valkey: Store) -> None:
    house = await compose(valkey, "node-1", "test", Metrics())
    assert abs(house.clock.now() - await valkey.tables.now()) < 1000
    assert await house.why_not_ready() is None
    assert await valkey.nodes.dead([house.name, "another"]) == {"another"}
    await house.stop()
    assert await valkey.nodes.dead([house.name]) == {house.name}


async def test_two_processes_of_one_node_name_have_different_names() -> None:
    time = InventedTime()
    store = fake_store(FakeHouse(clock=time.millis))
    one, two = await open_in_memory(store, time), await open_in_memory(store, time)
    assert one.name != two.name
    assert one.name.startswith("node.")
    assert store.house.nodes == {one.name, two.name}
    for each in (one, two):
        await each.stop()
    assert store.house.nodes == set()


async def test_deal_and_clock_can_be_given() -> None:
    time = InventedTime()
    store = fake_store(FakeHouse(clock=time.millis))
    text = "stock=2C waste=- reserve=- up=3,0,0,0 down=- columns=2D/9H/TH/KC base=1 passes=1"
    house = await open_in_memory(store, time, always(text))
    assert house.clock.now() == NOON
    time.at += 12_345
    assert house.clock.now() == NOON + 12_345
    await house.stop()


def test_clients_are_sent_the_programs_name_and_version() -> None:
    name, number = program().split(" ")
    assert name == "saratoga-server"
    assert number[0].isdecimal()


async def refused(folder: Path, *options: str) -> str:
    """Start a server that cannot start; returns the error that it prints."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "saratoga_server", "--data", str(folder), "--port", "0", *options),
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
        ("--metrics-port", "The metrics port {port} cannot be opened", "--metrics-port off."),
    ],
)
async def test_a_port_that_is_taken_ends_the_server_with_advice(
    tmp_path: Path, house: House, option: str, what: str, advice: str
) -> None:
    error = await refused(tmp_path, option, str(house.port))
    assert what.format(port=house.port) in error
    assert "ddress already in use" in error
    assert error.rstrip().endswith(advice)


@pytest.mark.parametrize(("port", "is_open"), [("0", True), ("off", False)])
async def test_metrics_can_be_turned_off(port: str, is_open: bool) -> None:
    async with open_house("--metrics-port", port) as house:
        events = {event["event"] for event in house.events()}
    assert "open" in events
    assert ("metrics_open" in events) == is_open


async def test_a_store_that_does_not_answer_ends_the_server_with_its_address(
    tmp_path: Path,
) -> None:
    assert "/nowhere/at/all" in await refused(tmp_path, "--redis", "unix:///nowhere/at/all")
