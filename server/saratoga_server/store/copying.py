"""Copying everything from one store to another, key by key: whatever products and shapes they are."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from redis.asyncio import Redis

from saratoga_server.ports import StoreRefused
from saratoga_server.store.primaries import Primaries

AT_ONCE: Final = 512
"""Keys in one round trip."""
PIECE: Final = 4096
"""Members of one command: a leaderboard of a million players is not one command."""

Write = tuple[Any, ...]

_NEVER: Final = -1
_GONE: Final = -2


async def copy_all(source: "Redis", target: Primaries) -> int:
    """Copy all keys of the source; how many. The target must hold none of them."""
    copied, cursor = 0, 0
    while True:
        answer: Any = await source.execute_command("SCAN", cursor, "COUNT", AT_ONCE)
        cursor = int(answer[0])
        # one key may be shown twice, and would then hold its list twice
        writes = await _writes(source, sorted(set(answer[1])))
        for key, commands in writes.items():
            await _written(target.of(key).client, key, commands)
        copied += len(writes)
        if cursor == 0:
            return copied


async def _writes(source: "Redis", keys: Sequence[bytes]) -> Mapping[bytes, list[Write]]:
    """The commands that make each key what it is; none for what has just expired."""
    if not keys:
        return {}
    pipeline = source.pipeline(transaction=False)
    for key in keys:
        pipeline.type(key)
        pipeline.execute_command("PEXPIRETIME", key)
    answers = await pipeline.execute()
    found: dict[bytes, list[Write]] = {}
    for key, kind, until in zip(keys, answers[::2], answers[1::2], strict=True):
        if until == _GONE:
            continue
        commands = await _made(source, key, kind.decode())
        if until != _NEVER:
            commands.append(("PEXPIREAT", key, until))
        found[key] = commands
    return found


async def _made(source: "Redis", key: bytes, kind: str) -> list[Write]:
    read = _READERS.get(kind)
    if read is None:
        raise StoreRefused(f"{key!r} is a {kind}, which no house writes: this is not our store.")
    command, members = await read(source, key)
    pieces = range(0, len(members), PIECE)
    return [(command, key, *members[start : start + PIECE]) for start in pieces]


Read = tuple[str, list[Any]]
"""The command that makes a key, and what follows the key in it."""


async def _string(source: "Redis", key: bytes) -> Read:
    return "SET", [await source.get(key)]


async def _hash(source: "Redis", key: bytes) -> Read:
    fields = await source.hgetall(key)
    return "HSET", [part for field in fields.items() for part in field]


async def _list(source: "Redis", key: bytes) -> Read:
    return "RPUSH", list(await source.lrange(key, 0, -1))


async def _set(source: "Redis", key: bytes) -> Read:
    return "SADD", list(await source.smembers(key))


async def _sorted_set(source: "Redis", key: bytes) -> Read:
    rows: Any = await source.execute_command("ZRANGE", key, 0, -1, "WITHSCORES")
    # scores are text that names the number exactly; here they come first
    return "ZADD", [part for pair in zip(rows[1::2], rows[::2], strict=True) for part in pair]


_READERS: Final[Mapping[str, Callable[["Redis", bytes], Awaitable[Read]]]] = {
    "string": _string,
    "hash": _hash,
    "list": _list,
    "set": _set,
    "zset": _sorted_set,
}


async def _written(client: "Redis", key: bytes, commands: Sequence[Write]) -> None:
    pipeline = client.pipeline(transaction=False)
    for command in commands:
        pipeline.execute_command(*command)
    # raised by redis-py, an error would tell the command, with all that is in it
    for answer in await pipeline.execute(raise_on_error=False):
        if isinstance(answer, Exception):
            raise answer
