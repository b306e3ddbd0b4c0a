"""The preflight of the store: version, eviction and persistence settings, and its replicas."""

import asyncio
from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, InvalidResponse, RedisError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from saratoga_server.logs import EventLog
from saratoga_server.ports import StoreRefused, StoreUnavailable
from saratoga_server.store.clients import Primary, open_client
from saratoga_server.store.commit_encoder import confirmation_commands, is_confirmed
from saratoga_server.store.durability import Durability
from saratoga_server.store.errors import is_transient

ANSWER_WITHIN: Final = 2.0
"""Seconds in which the store must answer."""
OLDEST: Final = (7, 0)
"""The oldest version of Redis that has Functions; every Valkey has them."""
WAITAOF_SINCE: Final = (7, 2)

_LOGIN_REFUSED: Final = ("Authentication required", "invalid username-password pair")
"""The beginnings of the error replies to a missing or wrong password."""
_SETTINGS: Final = (
    "maxmemory-policy", "appendonly", "appendfsync", "no-appendfsync-on-rewrite",
    "min-replicas-to-write",
)  # fmt: skip

_log = EventLog("store")


class Preflight(Struct, frozen=True):
    """The facts about a store that has passed the preflight."""

    product: str
    """The product: `Redis` or `Valkey`."""
    version: str
    replicas: int = 0
    """The number of connected replicas."""
    knows_waitaof: bool = False
    """True if the store has the command WAITAOF."""
    refuses_alone: bool = False
    """True if the store refuses writes while it has no replica."""


async def check_store(url: str, durability: Durability, *, trust: bool = False) -> Preflight:
    """Check a store, and return the facts. Raises `StoreRefused` with the remedy.

    `trust`: accept a managed store that does not show its settings. Tries only once, for at most
    `ANSWER_WITHIN`; raises `StoreUnavailable` without an answer.
    """
    client = open_client(url)
    try:
        return await check_client(client, durability, trust=trust)
    finally:
        await client.aclose(close_connection_pool=True)


async def syncs_replicas(primary: Primary, found: Preflight) -> bool:
    """Check the replicas for the level `replicated`. Raises `StoreRefused` if there is none.

    Return whether a replica confirms in time that a write is on its disk (WAITAOF).
    """
    if not found.replicas:
        raise StoreRefused(
            "The store has no replica in sync, so with --durability replicated no move could be "
            "acknowledged. Add a replica (`REPLICAOF host port` there), or start with --durability safe."
        )
    if not found.refuses_alone:
        _log.info(
            "store_setting_advised", set="min-replicas-to-write 1", on="the store and its replicas"
        )
    if not found.knows_waitaof:
        return False
    pipeline = primary.client.pipeline(transaction=False)
    for command in confirmation_commands(on_disk=True):
        pipeline.execute_command(*command)
    try:
        replies = await pipeline.execute(raise_on_error=False)
    except (RedisError, OSError):
        return True
    if is_confirmed(replies) or not is_confirmed(replies[:2]):
        return True
    _log.warning(
        "replica_not_on_disk",
        primary=primary.name,
        mend="set appendonly yes and appendfsync always on its replicas, and restart the server",
    )
    return False


async def check_client(client: "Redis", durability: Durability, *, trust: bool) -> Preflight:
    """Check the store of a client, as `check_store` does."""
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            info: dict[str, object] = await client.info("server", "cluster", "replication")
            settings = await _settings(client)
    except (RedisConnectionError, RedisTimeoutError, TimeoutError) as error:
        if _is_login_refused(error):
            raise StoreRefused(
                f"The store refuses the login: {error} Put user and password into the address, as "
                "in redis://user:password@host:6379."
            ) from error
        reason = str(error) or f"no answer within {ANSWER_WITHIN:.0f} s"
        raise StoreUnavailable(f"the store does not answer: {reason}") from error
    except InvalidResponse as error:
        raise StoreRefused(
            "Something answers at the store's address, but it is neither Valkey nor Redis. Correct --redis."
        ) from error
    except ResponseError as error:
        if is_transient(error):
            raise StoreUnavailable(f"the store takes no commands now: {error}") from error
        raise StoreRefused(f"The store refuses our commands: {error}.") from error
    found = _read(info)
    check_server(info, found)
    if settings is None:
        if not trust:
            raise StoreRefused(
                f"{found.product} {found.version} does not show its settings (CONFIG is "
                "forbidden), so it is unknown whether moves reach its disk. If you know that it "
                f"never evicts keys and that {_wanted(durability)}, start with --trust-store."
            )
        return found
    wrong = _faults(settings, durability)
    if wrong:
        raise StoreRefused(
            f"{found.product} {found.version} is not set up to keep races: " + " ".join(wrong)
        )
    return replace(found, refuses_alone=settings.get("min-replicas-to-write", "0") != "0")


def _is_login_refused(error: BaseException) -> bool:
    """Return whether the login failed, which redis-py reports as a lost connection."""
    each: BaseException | None = error
    while each is not None:
        if isinstance(each, AuthenticationError) or str(each).startswith(_LOGIN_REFUSED):
            return True
        each = each.__cause__
    return False


async def _settings(client: "Redis") -> dict[str, str] | None:
    try:
        shown = await client.config_get(*_SETTINGS)
    except ResponseError:
        return None
    return {_text(key): _text(value) for key, value in shown.items() if key and value}


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _read(info: dict[str, object]) -> Preflight:
    product = "Valkey" if "valkey_version" in info else "Redis"
    version = str(info.get(f"{product.lower()}_version", "0"))
    replicas = (
        info.get(f"slave{place}") for place in range(int(str(info.get("connected_slaves", 0))))
    )
    return Preflight(
        product,
        version,
        replicas=sum(isinstance(each, dict) and each.get("state") == "online" for each in replicas),
        knows_waitaof=_numbers(version) >= WAITAOF_SINCE,
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())


def check_server(info: dict[str, object], found: Preflight) -> None:
    """Refuse a store that is too old, a cluster or a replica; `found` was read from `info`."""
    if _numbers(found.version) < OLDEST:
        raise StoreRefused(
            f"{found.product} {found.version} is too old: the server needs Redis 7.0 or later, "
            "or Valkey. Upgrade it, or start without --redis for the embedded store."
        )
    if str(info.get("cluster_enabled")) == "1":
        raise StoreRefused(
            "This store is a Redis or Valkey Cluster, which is not supported: give --redis the address of "
            "one store with `cluster-enabled no`, which may have replicas."
        )
    if str(info.get("role")) in ("slave", "replica"):
        raise StoreRefused(
            f"This is a replica of {info.get('master_host')}:{info.get('master_port')}, which takes "
            "no writes. Give --redis the primary's address."
        )


def _wanted(durability: Durability) -> str:
    if durability is Durability.FAST:
        return "its append-only file is on"
    return "its append-only file is on and synced at every write"


def _faults(settings: dict[str, str], durability: Durability) -> list[str]:
    """Return each wrong setting with the command that fixes it."""
    wrong = []
    policy = settings.get("maxmemory-policy", "noeviction")
    if policy != "noeviction":
        wrong.append(
            f"It deletes tables when memory runs short (maxmemory-policy is {policy}); fix it with "
            "`CONFIG SET maxmemory-policy noeviction`."
        )
    if settings.get("appendonly") != "yes":
        wrong.append(
            "It writes no append-only file, so a crash would lose races; fix it with "
            "`CONFIG SET appendonly yes`."
        )
    sync = settings.get("appendfsync")
    if durability is Durability.FAST:
        if sync not in ("everysec", "always"):
            wrong.append(
                f"It lets the operating system decide when to sync (appendfsync is {sync}); fix it with "
                "`CONFIG SET appendfsync everysec`."
            )
        return wrong
    if sync != "always":
        wrong.append(
            f"It acknowledges writes before they are on disk (appendfsync is {sync}); fix it with "
            "`CONFIG SET appendfsync always`, or ask for less with --durability fast."
        )
    if settings.get("no-appendfsync-on-rewrite", "no") != "no":
        wrong.append(
            "It stops syncing while it rewrites its append-only file; fix it with "
            "`CONFIG SET no-appendfsync-on-rewrite no`."
        )
    return wrong
