"""Reads of the boards of races."""

import asyncio
from typing import Final

from saratoga_rules.records.standing import Reached, State
from saratoga_server.ports import (
    Damage,
    LiveStanding,
    LogEntry,
    Millis,
    StoredBoard,
)
from saratoga_server.store.client import StoreClient
from saratoga_server.store.keys import race_key

READ_STEP: Final = 500
"""Entries decoded in one turn of the event loop: about half a millisecond."""


class BoardStore:
    """The boards of races in the store."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client

    async def load_board(self, table: str, race: int, player: str) -> StoredBoard | None:
        # a durable read: a player who reconnects is shown this as acknowledged
        stored = await self._client.write("load_board", (race_key(table, race),), player)
        if not stored:
            return None
        epoch, banked, state, start, length, *lines = stored
        entries: list[LogEntry] = []
        try:
            for first in range(0, len(lines), READ_STEP):
                entries += (_entry(line, int(start)) for line in lines[first : first + READ_STEP])
                if first + READ_STEP < len(lines):
                    await asyncio.sleep(0)
            if len(entries) != int(length):
                raise Damage(f"{len(entries)} entries of {int(length)} are left")
            return StoredBoard(
                epoch=int(epoch),
                banked=int(banked),
                state=state.decode(),
                entries=tuple(entries),
            )
        except (ValueError, TypeError) as fault:  # TypeError: a field is missing
            raise Damage(f"the board cannot be read: {fault}") from None

    async def load_standings(self, table: str, race: int) -> dict[str, LiveStanding]:
        stored = await self._client.read("load_standings", (race_key(table, race),))
        if not stored:
            return {}
        _start, *rows = stored
        try:
            return {
                player.decode(): _standing(banked, state, rose, length, head)
                for player, banked, state, rose, length, head in zip(*[iter(rows)] * 6, strict=True)
            }
        except (ValueError, TypeError) as fault:  # TypeError: a field is missing
            raise Damage(f"the standings cannot be read: {fault}") from None


def _entry(line: bytes, start: int) -> LogEntry:
    since, number, text = line.split(b" ", 2)
    return LogEntry(text.decode(), Millis(start + int(since)), int(number))


def _standing(banked: bytes, state: bytes, rose: bytes, length: bytes, head: bytes) -> LiveStanding:
    reached = Reached(*map(int, rose.split())) if rose else None
    return LiveStanding(int(length), int(banked), State(state.decode()), head.decode(), reached)
