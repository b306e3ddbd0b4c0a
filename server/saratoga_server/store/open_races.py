"""Open races in the store: their deals, runs, records and streaks.

A run is entered and ends in the write of its table (`store.tables`); what else there is to write
stands here.
"""

from collections.abc import Iterable, Sequence
from enum import Enum, auto
from typing import Final

import msgspec

from saratoga_server.domain.open_races import (
    LAST_RUN_MILLIS,
    OpenState,
    unpack_open,
    unpack_run,
)
from saratoga_server.ports import Millis, Run
from saratoga_server.store.client import StoreClient
from saratoga_server.store.keys import (
    DAYS,
    DUE,
    TABLE_KEPT,
    open_key,
    run_logs_key,
    runs_key,
    streaks_key,
)
from saratoga_server.store.save import MISSING, Save

MARGIN_MILLIS: Final = 2_000
"""Milliseconds after the end of the last run at which an open race is closed."""


class _There(Enum):
    THERE = auto()
    """Another node has written it."""


class OpenRaceStore:
    """The open races in the store."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client

    async def publish(self, races: Sequence[OpenState], day: str) -> bool:
        """Store new open races, and that a server runs on `day`; false if one is there already."""
        save = Save()
        save.only_if(_There.THERE, DAYS, day, "off", unless=True)  # its hash keeps the token
        save.do("HSET", DAYS, day, "on")
        for race in races:
            _add(save, race)
        return await self._client.save(save) is None

    async def open(self, race: OpenState) -> OpenState:
        """Store a challenge; return it, or the one that a repeat of the command has stored."""
        save = Save()
        _add(save, race)
        await self._client.save(save)
        return await self.load(race.id) or race

    async def load(self, race_id: str) -> OpenState | None:
        body = await self._client.command("HGET", open_key(race_id), "body")
        return None if body is None else unpack_open(body)

    async def load_all(self, race_ids: Iterable[str]) -> list[OpenState | None]:
        bodies = await self._client.commands(
            [("HGET", open_key(race_id), "body") for race_id in race_ids]
        )
        return [None if body is None else unpack_open(body) for body in bodies]

    async def run(self, race_id: str, player: str) -> Run | None:
        body = await self._client.command("HGET", runs_key(race_id), player)
        return None if body is None else unpack_run(body)

    async def runs(self, race_id: str) -> list[Run]:
        # a durable read: results are shown as acknowledged
        return [unpack_run(body) for body in await self._client.durable("HVALS", runs_key(race_id))]

    async def logs(self, race_id: str) -> dict[str, str]:
        """Return the logs of the runs that have ended, by player."""
        found = await self._client.command("HGETALL", run_logs_key(race_id))
        pairs = found.items() if isinstance(found, dict) else zip(*[iter(found)] * 2, strict=True)
        return {player.decode(): log.decode() for player, log in pairs}

    async def record(self, race_id: str) -> str:
        """Return the closing record; empty while the race is open."""
        found = await self._client.command("HGET", open_key(race_id), "record")
        return (found or b"").decode()

    async def digest(self, race_id: str) -> str:
        """Return the digest of the closing record; empty while the race is open."""
        found = await self._client.command("HGET", open_key(race_id), "digest")
        return (found or b"").decode()

    async def wait(self, race_id: str, until: Millis) -> None:
        """Look at the race again then: a run of it has not ended."""
        await self._client.command("ZADD", DUE, until, open_key(race_id))

    async def close(self, race_id: str, record: str, digest: str, lost: Iterable[str]) -> None:
        """Store the closing record, unless it is there. `lost`: players whose runs are lost."""
        save, key = Save(), open_key(race_id)
        save.only_if(_There.THERE, key, "record", MISSING)
        save.do("HSET", key, "record", record.encode(), "digest", digest)
        for player in lost:
            save.do("HDEL", runs_key(race_id), player)
        save.do("ZREM", DUE, key)
        for each in (key, runs_key(race_id), run_logs_key(race_id)):
            save.do("PEXPIRE", each, TABLE_KEPT)
        if await self._client.save(save) is not None:
            await self._client.command("ZREM", DUE, key)

    async def streak(self, player: str, game: str) -> str:
        """Return the player's streak in a game as `next_streak` made it; empty if there is none."""
        return (await self._client.command("HGET", streaks_key(player), game) or b"").decode()

    async def days_on(self) -> frozenset[str]:
        """Return the days on which a server ran."""
        return frozenset(day.decode() for day in await self._client.command("HKEYS", DAYS))


def _add(save: Save, race: OpenState) -> None:
    """Add the writes of a new open race, which must not be there."""
    key = open_key(race.id)
    save.only_if(_There.THERE, key, "body", MISSING)
    save.do("HSET", key, "body", msgspec.msgpack.encode(race))
    save.do("ZADD", DUE, race.closes + LAST_RUN_MILLIS + MARGIN_MILLIS, key)
