"""One door for several workers: each lets in its share, and nobody waits for one that does not come."""

import asyncio
import errno
import os
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from saratoga_server.process.census import Census
from saratoga_server.process.fair_door import FairDoor

WITHIN = 10.0
"""Seconds: a bound, never a measure."""


class Worker:
    """Somebody who lets in, and counts."""

    def __init__(self, listening: socket.socket, census: Census) -> None:
        self.census = census
        self.inside: list[asyncio.BaseTransport] = []
        self.came = asyncio.Event()
        self.door = FairDoor(listening, self, census, {})

    def called(self, connection: socket.socket, address: object) -> asyncio.Protocol:
        worker = self

        class Inside(asyncio.Protocol):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                worker.inside.append(transport)
                worker.came.set()

        return Inside()

    def turned_back(self, guest: asyncio.Protocol) -> None:
        raise AssertionError("everybody here comes in")

    def count(self) -> int:
        return len(self.inside)

    async def close(self) -> None:
        self.door.close()
        await self.door.wait_closed()
        for transport in self.inside:
            transport.close()
        self.census.close()


@pytest.fixture
def address() -> Iterator[socket.socket]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        yield listening


@asynccontextmanager
async def workers(address: socket.socket, count: int) -> AsyncIterator[list[Worker]]:
    parent, file = Census.made(count)
    made = [
        Worker(address.dup(), Census(os.dup(file.fileno()), count, place)) for place in range(count)
    ]
    file.close()
    try:
        yield made
    finally:
        for each in made:
            await each.close()
        parent.close()


async def call(address: socket.socket) -> socket.socket:
    """Stand at the door."""
    caller = socket.socket()
    caller.setblocking(False)
    await asyncio.get_running_loop().sock_connect(caller, address.getsockname())
    return caller


async def let_in(everybody: list[Worker], count: int) -> None:
    async with asyncio.timeout(WITHIN):
        while sum(len(each.inside) for each in everybody) < count:
            for each in everybody:
                each.came.clear()
            waits = [asyncio.create_task(each.came.wait()) for each in everybody]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for wait in waits:
                wait.cancel()


async def test_each_lets_in_its_share(address: socket.socket) -> None:
    async with workers(address, 3) as everybody:
        for each in everybody:
            each.door.open(64)
        callers = [await call(address) for _ in range(30)]
        await let_in(everybody, 30)
        counts = sorted(len(each.inside) for each in everybody)
        assert counts[2] - counts[0] <= 3
        for caller in callers:
            caller.close()


async def test_whoever_has_fewer_catches_up(address: socket.socket) -> None:
    async with workers(address, 2) as (old, new):
        old.door.open(64)
        callers = [await call(address) for _ in range(8)]
        await let_in([old], 8)
        new.door.open(64)
        callers += [await call(address) for _ in range(6)]
        await let_in([old, new], 14)
        assert len(new.inside) >= 5
        for caller in callers:
            caller.close()


async def test_nobody_is_left_outside_by_one_that_hangs(address: socket.socket) -> None:
    async with workers(address, 2) as (hangs, lives):
        # it counts none, and does not come to the door
        hangs.census.tell(0)
        lives.door.open(64)
        callers = [await call(address) for _ in range(8)]
        await let_in([lives], 8)
        assert hangs.inside == []
        for caller in callers:
            caller.close()


async def test_a_door_that_is_closed_lets_nobody_in_and_the_others_do(
    address: socket.socket,
) -> None:
    async with workers(address, 2) as (first, second):
        for each in (first, second):
            each.door.open(64)
            assert each.door.is_serving()
        first.door.close()
        assert (first.door.is_serving(), first.door.sockets) == (False, ())
        callers = [await call(address) for _ in range(4)]
        await let_in([second], 4)
        assert first.inside == []
        for caller in callers:
            caller.close()


class Faulty:
    """A listening socket that fails in one way so many times, and is well again."""

    def __init__(self, real: socket.socket, fault: int, times: int) -> None:
        self.real = real
        self.fault = fault
        self.times = times
        self.tries = 0

    def accept(self) -> tuple[socket.socket, object]:
        self.tries += 1
        if self.tries <= self.times:
            raise OSError(self.fault, os.strerror(self.fault))
        return self.real.accept()

    def __getattr__(self, name: str) -> object:
        return getattr(self.real, name)


@asynccontextmanager
async def faulty_door(
    address: socket.socket, fault: int, times: int
) -> AsyncIterator[tuple[Worker, Faulty]]:
    """A worker at such a door, which is open; nothing may come to the event loop's own handler."""
    strays: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: strays.append(context))
    async with workers(address, 1) as (only,):
        faulty = Faulty(only.door._door, fault, times)
        only.door._door = faulty  # type: ignore[assignment]
        only.door.open(64)
        yield only, faulty
    assert strays == []


@pytest.mark.parametrize("fault", [errno.EMFILE, errno.ENOBUFS, errno.EPERM, errno.ETIMEDOUT])
async def test_while_nobody_can_be_let_in_the_door_is_tried_again_later(
    address: socket.socket,
    fault: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("saratoga_server.process.fair_door.OUT_OF_FILES", 0.01)
    with caplog.at_level("ERROR", "saratoga.door"):
        async with faulty_door(address, fault, times=5) as (only, door):
            looked_away: list[float] = []
            look_away = only.door._look_away

            def noted(seconds: float) -> None:
                looked_away.append(seconds)
                look_away(seconds)

            monkeypatch.setattr(only.door, "_look_away", noted)
            caller = await call(address)
            await let_in([only], 1)
            caller.close()
    assert (door.tries > 5, looked_away) == (True, [0.01] * 5)
    assert len(caplog.records) == 1, "the fault is told once, however long it lasts"


@pytest.mark.parametrize("fault", [errno.EPROTO, errno.ENETDOWN, errno.EHOSTUNREACH])
async def test_whose_connection_broke_outside_keeps_nobody_waiting(
    address: socket.socket,
    fault: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with faulty_door(address, fault, times=1) as (only, door):
        monkeypatch.setattr(only.door, "_look_away", lambda seconds: pytest.fail("looked away"))
        caller = await call(address)
        await let_in([only], 1)
        assert door.tries > 1
        caller.close()
    assert caplog.records == []
