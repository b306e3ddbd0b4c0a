"""What a worker is given by its parent, and how each learns that the other is no more."""

import asyncio
import json
import socket
from collections.abc import Iterator

import pytest

from saratoga_server.cancellation import cancel_all
from saratoga_server.config import Settings
from saratoga_server.process.inheritance import READY, VARIABLE, Inheritance, Parent

GIVEN = Inheritance(node="east.2", doors=(7, 8), parent=9, metrics_port=7472, successor=True)


def test_a_worker_reads_what_its_parent_wrote() -> None:
    assert Inheritance.of({VARIABLE: GIVEN.packed()}) == GIVEN


def test_a_process_without_a_parent_inherits_nothing() -> None:
    assert Inheritance.of({"PATH": "/bin"}) is None
    assert Parent.of({"PATH": "/bin"}) is None


def test_a_newer_worker_of_an_older_parent_takes_what_there_is() -> None:
    older = json.dumps({"node": "east.1", "doors": [3], "parent": 4})
    assert Inheritance.of({VARIABLE: older}) == Inheritance(node="east.1", doors=(3,), parent=4)


def test_an_older_worker_of_a_newer_parent_passes_over_what_it_does_not_know() -> None:
    newer = json.loads(GIVEN.packed()) | {"colour": "green"}
    assert Inheritance.of({VARIABLE: json.dumps(newer)}) == GIVEN


def test_a_worker_is_set_as_its_parent_but_for_what_is_its_own() -> None:
    settings = Settings(node="east", workers=3, until_eof=True, rate=7, metrics_port=7471)
    assert GIVEN.over(settings) == Settings(node="east.2", rate=7, metrics_port=7472)


def test_a_worker_works_on_the_store_of_its_parent() -> None:
    mine = Inheritance(node="east.1", doors=(3,), parent=4, store="unix:///run/s")
    assert mine.over(Settings(node="east")).redis == "unix:///run/s"
    named = Settings(node="east", redis="redis://store:6379")
    assert GIVEN.over(named).redis == "redis://store:6379"


@pytest.fixture
def line() -> Iterator[tuple[socket.socket, Parent]]:
    """The parent's end, and the parent as its worker sees it."""
    ours, theirs = socket.socketpair()
    with ours:
        parent = Parent(Inheritance(node="east.1", doors=(), parent=theirs.detach()))
        yield ours, parent
        parent.close()


def test_a_worker_says_when_it_is_ready(line: tuple[socket.socket, Parent]) -> None:
    ours, parent = line
    parent.say(READY, "ws://127.0.0.1:1")
    assert json.loads(ours.recv(100)) == {READY: "ws://127.0.0.1:1"}


async def test_a_worker_hears_that_its_parent_has_hung_up(
    line: tuple[socket.socket, Parent],
) -> None:
    ours, parent = line
    heard = asyncio.Event()
    parent.on_end(heard.set)
    await asyncio.sleep(0)
    assert not heard.is_set()
    ours.close()
    async with asyncio.timeout(10):
        await heard.wait()
    # whoever speaks to nobody is not stopped by that
    parent.say(READY, "ws://127.0.0.1:1")


async def test_a_worker_gives_signs_of_life_though_nobody_listens(
    line: tuple[socket.socket, Parent], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.process.inheritance.BEAT_EVERY", 0.0)
    ours, parent = line
    beating = asyncio.create_task(parent.beat())
    ours.setblocking(False)
    assert await asyncio.get_running_loop().sock_recv(ours, 1) == b"\n"
    ours.close()
    for _ in range(3):
        await asyncio.sleep(0)
    assert not beating.done()
    await cancel_all([beating])
