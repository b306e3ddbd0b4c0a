"""A store that is changed while players race: nothing is acknowledged, everyone waits, and service resumes."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from kit.altered_server import CALL_MILLIS, COUNTDOWN_MILLIS, REVEAL_MILLIS
from kit.in_process_server import counted_down, gathered
from kit.listening_server import ListeningServer, listening_server
from kit.player_sockets import SocketPlayer, player_at
from kit.raw_client import exchange, request
from kit.server_process import running_server
from kit.stores import StoreServer
from saratoga_protocol.events import BoardChanged, Refused
from saratoga_server.domain.tables import countdown
from saratoga_server.store import client, commits, guard
from saratoga_server.store.opening import Store, open_store

WITHIN = 20.0
"""Longest time in seconds until a server notices a change; a bound, not a measurement."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten countdowns, timeouts, and the time between two checks of the store."""
    monkeypatch.setattr(countdown, "CALL_MILLIS", CALL_MILLIS)
    monkeypatch.setattr(countdown, "COUNTDOWN_MILLIS", COUNTDOWN_MILLIS)
    monkeypatch.setattr(countdown, "REVEAL_MILLIS", REVEAL_MILLIS)
    monkeypatch.setattr(guard, "CHECK_EVERY", 0.02)
    for module in (commits, client):
        monkeypatch.setattr(module, "STORE_TIMEOUT", 0.5)


@asynccontextmanager
async def racing(
    server: StoreServer,
) -> AsyncIterator[tuple[Store, ListeningServer, SocketPlayer]]:
    """Run a server on the store, and a race with one player at a socket."""
    async with (
        open_store(server.url) as store,
        listening_server(store, why_store_refused=lambda: store.guard.why_refused) as listening,
        player_at(listening.url, "Anna", legal=True) as player,
    ):
        await gathered(player)
        await counted_down(player)
        await player.expect(BoardChanged, entries=[])
        yield store, listening, player


async def reported(store: Store, *, refused: bool) -> None:
    """Wait until the guard refuses the store, or accepts it."""
    async with asyncio.timeout(WITHIN):
        while (store.guard.why_refused is not None) is not refused:  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.001)


@pytest.mark.parametrize(
    ("setting", "wrong", "right"),
    [("appendfsync", "no", "always"), ("appendonly", "no", "yes")],
)
async def test_moves_are_refused_while_a_setting_is_wrong_and_made_when_it_is_right(
    mortal_store: StoreServer, setting: str, wrong: str, right: str
) -> None:
    async with racing(mortal_store) as (store, listening, player):
        await player.moves("draw")
        mortal_store.ask("CONFIG", "SET", setting, wrong)
        await reported(store, refused=True)
        move = await player.move("draw")
        assert isinstance(move, Refused)
        assert (move.code, move.retry) == ("store_unavailable", True)
        assert b":1\r\n" in mortal_store.ask_all("EVAL", LENGTHS, "0")
        assert f"CONFIG SET {setting} {right}" in str(store.guard.why_refused)
        assert await readiness(listening) == 503
        mortal_store.ask("CONFIG", "SET", setting, right)
        await reported(store, refused=False)
        assert isinstance(await player.move("draw"), BoardChanged)
        assert await readiness(listening) == 200


LENGTHS = "for _, k in ipairs(redis.call('KEYS', '*:log:*')) do return redis.call('LLEN', k) end"
"""A script that returns the length of the only log."""


async def readiness(listening: ListeningServer) -> int:
    """Return the status of `/readyz`."""
    answer = await exchange(listening.port, request("GET /readyz HTTP/1.1", "Host: server"))
    return answer.status


async def test_an_emptied_store_acknowledges_nothing_and_races_go_on_when_the_data_are_back(
    mortal_store: StoreServer,
) -> None:
    async with racing(mortal_store) as (store, _, player):
        await player.moves("draw", "draw")
        files = mortal_store.folder / "appendonlydir"
        shutil.copytree(files, mortal_store.folder / "copy")
        mortal_store.delete_data()
        await reported(store, refused=True)
        move = await player.move("draw")
        assert isinstance(move, Refused)
        assert move.code == "store_unavailable"
        assert "empty, or another store" in str(store.guard.why_refused)
        mortal_store.kill()
        shutil.rmtree(files)
        shutil.copytree(mortal_store.folder / "copy", files)
        mortal_store.start()
        await reported(store, refused=False)
        made = await player.move("draw")
        assert isinstance(made, BoardChanged)
        assert made.board.count == 3


async def test_a_server_process_says_what_is_wrong_with_its_store_and_recovers(
    mortal_store: StoreServer,
) -> None:
    async with running_server("--redis", mortal_store.url) as server:
        for value, event, status in (
            ("no", "store_refused", 503),
            ("always", "store_accepted", 200),
        ):
            mortal_store.ask("CONFIG", "SET", "appendfsync", value)
            async with asyncio.timeout(WITHIN):
                while not (lines := [each for each in server.events() if each["event"] == event]):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            assert (await server.get("/readyz"))[0] == status
            if status == 503:
                assert "CONFIG SET appendfsync always" in str(lines[0]["reason"])
