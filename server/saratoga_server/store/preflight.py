"""The preflight of the store: its version, and its settings for eviction and persistence."""

import asyncio
from typing import Final

from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, InvalidResponse, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from saratoga_server.ports import Durability, StoreRefused, StoreUnavailable
from saratoga_server.store.client import is_transient, open_client

ANSWER_WITHIN: Final = 2.0
"""Seconds in which the store must answer."""
OLDEST: Final = (7, 0)
"""The oldest version of Redis that has Functions; every Valkey has them."""

_LOGIN_REFUSED: Final = ("Authentication required", "invalid username-password pair")
"""The beginnings of the error replies to a missing or wrong password."""
_SETTINGS: Final = (
    "maxmemory-policy", "appendonly", "appendfsync", "no-appendfsync-on-rewrite",
    "min-replicas-to-write",
)  # fmt: skip


async def check_store(
    url: str, durability: Durability, *, trust: bool = False, may_follow: bool = False
) -> None:
    """Check a store. Raises `StoreRefused` with the remedy.

    `trust`: accept a managed store that does not show its settings. `may_follow`: accept a replica.
    Tries only once, for at most `ANSWER_WITHIN`; raises `StoreUnavailable` without an answer.
    """
    client = open_client(url)
    try:
        await check_client(client, durability, trust=trust, may_follow=may_follow)
    finally:
        await client.aclose(close_connection_pool=True)


async def check_client(
    client: "Redis", durability: Durability, *, trust: bool, may_follow: bool = False
) -> None:
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
    product, version = _product(info)
    check_server(info, may_follow=may_follow)
    if settings is None:
        if not trust:
            raise StoreRefused(
                f"{product} {version} does not show its settings (CONFIG is "
                "forbidden), so it is unknown whether moves reach its disk. If you know that it "
                f"never evicts keys and that {_wanted(durability)}, start with --trust-store."
            )
        return
    wrong = _faults(settings, durability)
    if wrong:
        raise StoreRefused(f"{product} {version} is not set up to keep races: " + " ".join(wrong))


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


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())


def _product(info: dict[str, object]) -> tuple[str, str]:
    """Return the product, `Redis` or `Valkey`, and its version."""
    product = "Valkey" if "valkey_version" in info else "Redis"
    return product, str(info.get(f"{product.lower()}_version", "0"))


def check_server(info: dict[str, object], *, may_follow: bool = False) -> None:
    """Refuse a store that is too old, a cluster or, unless it `may_follow` a primary, a replica."""
    product, version = _product(info)
    if _numbers(version) < OLDEST:
        raise StoreRefused(
            f"{product} {version} is too old: the server needs Redis 7.0 or later, "
            "or Valkey. Upgrade it, or start without --redis for the embedded store."
        )
    if str(info.get("cluster_enabled")) == "1":
        raise StoreRefused(
            "This store is a Redis or Valkey Cluster, which is not supported: give --redis the "
            "address of one store with `cluster-enabled no`, which may have replicas."
        )
    if str(info.get("role")) in ("slave", "replica") and not may_follow:
        raise StoreRefused(
            f"This is a replica of {info.get('master_host')}:{info.get('master_port')}, which "
            "takes no writes. Give --redis the primary's address."
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
                f"It lets the operating system decide when to sync (appendfsync is {sync}); fix it "
                "with `CONFIG SET appendfsync everysec`."
            )
        return wrong
    if sync != "always":
        wrong.append(
            f"It acknowledges writes before they are on disk (appendfsync is {sync}); fix it with "
            "`CONFIG SET appendfsync always`, or ask for less with --durability fast."
        )
    if durability is Durability.REPLICATED and settings.get("min-replicas-to-write") == "0":
        wrong.append(
            "It writes without its replicas, and what only it has would be lost with it; fix it "
            "with `CONFIG SET min-replicas-to-write 1`."
        )
    if settings.get("no-appendfsync-on-rewrite", "no") != "no":
        wrong.append(
            "It stops syncing while it rewrites its append-only file; fix it with "
            "`CONFIG SET no-appendfsync-on-rewrite no`."
        )
    return wrong
