"""The port for rankings kept across races, and its values."""

from typing import Protocol

import msgspec
from msgspec import Struct

from saratoga_protocol.events import Result
from saratoga_server.ports import Millis


class Settlement(Struct, frozen=True, kw_only=True):
    """The results of a finished race that are to be added to the leaderboards, and all its people."""

    race: str
    game: str
    start_at: Millis
    """The start of the race, which decides the periods (UTC)."""
    results: tuple[Result, ...]
    """The results that count for a leaderboard, in order of finish."""
    people: tuple[str, ...] = ()


_DECODER = msgspec.msgpack.Decoder(Settlement)


def pack_settlement(settlement: Settlement) -> bytes:
    """Return a packed settlement, for `RaceFinish.settlement`."""
    return msgspec.msgpack.encode(settlement)


def unpack_settlement(packed: bytes) -> Settlement:
    """Return the settlement that was packed. Raises `ValueError` on other bytes."""
    try:
        return _DECODER.decode(packed)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"not a settlement: {error}") from error


class BoardKey(Struct, frozen=True, kw_only=True):
    """The key of a leaderboard: game, ranking, period, and people or bots."""

    game: str
    ranking: str
    """The kind of ranking: `best` or `bankroll`."""
    period: str
    """The period's name: `2026-09-01`, `2026-W36`, `2026-09` or `all`."""
    bots: bool


class RankedRow(Struct, frozen=True, kw_only=True):
    """A row of a leaderboard, without the name."""

    rank: int
    player: str
    value: int
    net: int
    elapsed: int | None
    race: str
    races: int
    rivals: int


class LeaderboardStore(Protocol):
    """The port for rankings kept across races."""

    async def settle_outbox(self, limit: int) -> list[Settlement]:
        """Apply waiting settlements, each exactly once; return those applied now."""

    async def page(self, key: BoardKey, offset: int, limit: int) -> tuple[int, list[RankedRow]]:
        """Return the total number of rows, and the requested rows."""

    async def row(self, key: BoardKey, player: str) -> RankedRow | None: ...

    async def void_race(self, game: str, race: str) -> bool:
        """Remove a race's results from every leaderboard; return False if it was never settled."""

    async def forget_results(self, player: str) -> None: ...
