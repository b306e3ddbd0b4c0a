"""Tables, their timers, and finished races."""

from collections.abc import AsyncIterator, Sequence
from secrets import token_hex

from saratoga_server.messages.packing import pack
from saratoga_server.ports import BEGINNING, MOST_LISTED, MOST_PLACES, Millis, TableWrite
from saratoga_server.store.keys import (
    ADDRESS_KEY,
    FINISHED_LOGS_KEPT,
    LISTING_KEPT,
    PUBLIC,
    TABLE_KEPT,
    UNRACED_KEPT,
    records_key,
    table_key,
)
from saratoga_server.store.store_client import StoreClient


class TableStore:
    """The tables in the store, their timers, and finished races."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client

    async def now(self) -> Millis:
        """Return the time of the store's clock, by which every deadline is judged."""
        seconds, micros = await self._client.command("TIME")
        return Millis(int(seconds) * 1000 + int(micros) // 1000)

    async def load_table(self, code: str) -> tuple[int, bytes] | None:
        """Return a table's version and packed body; `None` if there is none."""
        version, body = await self._client.durable("HMGET", table_key(code), "version", "body")
        return None if version is None else (int(version), body)

    async def load_versions(self, codes: Sequence[str]) -> list[int]:
        """Return the version of each table; 0 if there is none."""
        versions = await self._client.commands(
            [("HGET", table_key(code), "version") for code in codes]
        )
        return [int(version or 0) for version in versions]

    async def save_table(self, write: TableWrite) -> bool:
        """Write a change durably; return False if version or `finish.entries` differ."""
        # the random token distinguishes a repeated write from another node's write
        packed = _pack(write, token_hex(8))
        return bool(await self._client.write("save_table", (table_key(write.code),), packed) == 1)

    async def load_record(self, table: str, race: int) -> str | None:
        record = await self._client.command("HGET", records_key(table), race)
        return None if record is None else record.decode()

    async def due(self, until: Millis, limit: int, since: Millis = BEGINNING) -> dict[str, Millis]:
        """Return the timers that run out from `since` to `until`, by table, in order of time."""
        found = await self._client.read("due_tables", (), since, until, limit)
        pairs = zip(*[iter(found)] * 2, strict=True)
        return {code.decode(): Millis(int(at)) for code, at in pairs}

    async def list_public(self) -> list[bytes]:
        """Return at most `MOST_LISTED` packed summaries: most people first, then newest first."""
        return list(await self._client.read("list_public", (PUBLIC,), LISTING_KEPT, MOST_LISTED))

    async def set_public(
        self, code: str, summary: bytes | None, opener: str = "", people: int = 0
    ) -> bool:
        """List a table as public, or with `None` remove it; False: `opener` has no place left."""
        listing = (summary or b"", opener, people, MOST_PLACES, LISTING_KEPT)
        return bool(await self._client.write("set_public", (PUBLIC,), code, *listing) == 1)

    async def address_key(self) -> bytes:
        """Return the key for hashes of addresses (`opener`), the same on every node."""
        await self._client.command("SET", ADDRESS_KEY, token_hex(32), "NX")
        return bytes(await self._client.command("GET", ADDRESS_KEY))

    async def all_codes(self) -> AsyncIterator[str]:
        seen: set[str] = set()
        async for key in self._client.scan(table_key("*"), "hash"):
            code = key.removeprefix(table_key(""))
            if ":" not in code and code not in seen:
                seen.add(code)
                yield code


def _pack(write: TableWrite, writer: str) -> bytes:
    opening: tuple[object, ...] = ()
    if write.opening is not None:
        racers = sorted(write.opening.epochs)
        opening = (
            write.opening.race,
            write.opening.start_at,
            write.opening.deadline,
            write.opening.banked,
            racers,
            [write.opening.epochs[player] for player in racers],
        )
    finish: tuple[object, ...] = ()
    if write.finish is not None:
        entries = write.finish.entries
        finish = (
            write.finish.race,
            write.finish.record,
            write.finish.settlement or b"",
            -1 if entries is None else entries,
        )
    return pack(
        (
            write.expected,
            write.body,
            writer,
            -1 if write.due is None else write.due,
            write.race,
            list(write.epochs),
            list(write.epochs.values()),
            opening,
            finish,
            UNRACED_KEPT if write.unraced else TABLE_KEPT,
            FINISHED_LOGS_KEPT,
        )
    )
