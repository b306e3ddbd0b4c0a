"""The Sentinels of a replicated store: they say which of its machines is the primary.

Of three machines or more any one may be lost, and no acknowledged write with it, if a write is on a
majority of them before it is acknowledged, and if only a majority of them elects another primary.
So each machine has one Sentinel, and no Sentinel is elsewhere: then a primary that the others
cannot reach has no majority to confirm its writes either. `check_layout` refuses any other layout.
"""

import asyncio
import socket
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from hiredis import ReplyError
from msgspec import Struct

from saratoga_server.ports import StoreRefused, StoreUnavailable
from saratoga_server.store.link import connect, greeting

SENTINEL_PORT: Final = 26379
ANSWER_WITHIN: Final = 0.7
"""Seconds in which a Sentinel must answer."""
LEAST_REPLICAS: Final = 2
_DOWN: Final = frozenset({"s_down", "o_down"})
_ELECTING: Final = "failover_in_progress"

Facts = Mapping[str, str]
"""What a Sentinel knows of one process."""


class _View(Struct, frozen=True):
    """What one Sentinel says."""

    primary: Facts
    replicas: Sequence[Facts] = ()
    others: Sequence[Facts] = ()
    """The other Sentinels."""


class Sentinels:
    """The Sentinels in an address `sentinel://[user:password@]host[:port],.../NAME[?options]`.

    User and password are the store's. Options: `db`, and the Sentinels' own `sentinel_username` and
    `sentinel_password`.
    """

    def __init__(self, address: str) -> None:
        """`address`: one in which `addresses.fault_in` has found no fault."""
        parts = urlsplit(address)
        self._credentials, _, hosts = parts.netloc.rpartition("@")
        self._hosts = [_host_and_port(each) for each in hosts.split(",")]
        self._name = unquote(parts.path.strip("/"))
        options = dict(parse_qsl(parts.query))
        self._database = options.get("db", "0")
        self._user = options.get("sentinel_username")
        self._password = options.get("sentinel_password")

    async def primary(self) -> tuple[str, int]:
        """Return host and port of the primary. Raises `StoreUnavailable` while there is none.

        After a partition one Sentinel may still name a former primary: the newest election counts.
        """
        views = await self._views(in_full=False)
        if not views:
            raise StoreUnavailable("no Sentinel of the store answers")
        newest = max(int(view.primary["config-epoch"]) for view in views)
        named = [view.primary for view in views if int(view.primary["config-epoch"]) == newest]
        flags = [each["flags"].split(",") for each in named]
        if any(_ELECTING in each for each in flags):
            raise StoreUnavailable("the Sentinels of the store are electing another primary")
        if 2 * sum(not _DOWN.isdisjoint(each) for each in flags) > len(self._hosts):
            raise StoreUnavailable("the Sentinels of the store find its primary down")
        return _place(named[0])

    def url_of(self, host: str, port: int) -> str:
        """Return the address of one process of the store, with the store's credentials."""
        login = f"{self._credentials}@" if self._credentials else ""
        shown = f"[{host}]" if ":" in host else host
        return f"redis://{login}{shown}:{port}/{self._database}"

    async def check_layout(self) -> Sequence[str]:
        """Return the addresses of primary and replicas. Raises `StoreRefused` with the remedy.

        Raises `StoreUnavailable` if most Sentinels do not answer.
        """
        views = await self._views(in_full=True)
        if 2 * len(views) <= len(self._hosts):
            raise StoreUnavailable("most Sentinels of the store do not answer")
        places: set[tuple[str, int]] = set()
        for view in views:
            if fault := self._fault_in(view):
                raise StoreRefused(
                    f"The Sentinels are not laid out as a replicated store needs: {fault}"
                )
            places.update(map(_place, (view.primary, *view.replicas)))
        sentinels = {await _machine(each["ip"]) for view in views for each in view.others}
        machines = {await _machine(host) for host, _ in places}
        if len(machines) < len(places):
            raise StoreRefused("Two processes of the store run on one machine. Give each its own.")
        if sentinels != machines:
            raise StoreRefused(
                f"The Sentinels run on {_listed(sentinels)}, the store on {_listed(machines)}. A "
                "primary that is cut off from the others could lose acknowledged moves. Run one "
                "Sentinel on each machine of the store and nowhere else, and forget the others "
                "(`SENTINEL RESET`)."
            )
        return [self.url_of(*place) for place in sorted(places)]

    def _fault_in(self, view: _View) -> str | None:
        """Return what is wrong with the layout that one Sentinel sees."""
        sentinels = 1 + len(view.others)
        if len(view.replicas) < LEAST_REPLICAS:
            return f"{self._name} has {len(view.replicas)} replicas. Add one, there must be two or more."
        if sentinels != len(self._hosts):
            return f"{len(self._hosts)} are named in --redis, but there are {sentinels}. Name all of them."
        if sentinels != 1 + len(view.replicas):
            return (
                f"{sentinels} Sentinels watch {1 + len(view.replicas)} machines. Run one on each "
                "machine of the store and nowhere else (`SENTINEL RESET` forgets those that are "
                "gone)."
            )
        majority = sentinels // 2 + 1
        if view.primary["quorum"] != str(majority):
            return (
                f"the quorum is {view.primary['quorum']}. Fix it with `SENTINEL SET {self._name} "
                f"quorum {majority}` at each."
            )
        if len({each["slave-priority"] for each in view.replicas}) > 1:
            return "the replicas differ in replica-priority. Give all the same: the newest data must win."
        return None

    async def _views(self, *, in_full: bool) -> list[_View]:
        """Ask all Sentinels at once; return what those say that answer."""
        asked = [self._ask(*place, in_full=in_full) for place in self._hosts]
        answers = await asyncio.gather(*asked)
        refusals = [each for each in answers if isinstance(each, StoreRefused)]
        if len(refusals) == len(answers):
            raise refusals[0]
        return [each for each in answers if isinstance(each, _View)]

    async def _ask(self, host: str, port: int, *, in_full: bool) -> _View | StoreRefused | None:
        """Ask one Sentinel; `None` if it does not answer."""
        settings = {
            "host": host,
            "port": port,
            "username": self._user,
            "password": self._password,
        }
        login = greeting(settings)
        topics = ("MASTER", "REPLICAS", "SENTINELS") if in_full else ("MASTER",)
        questions = [("SENTINEL", topic, self._name) for topic in topics]
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                link = await connect(settings)
                try:
                    replies = await link.ask((*login, *questions))
                finally:
                    link.abort()
        except (StoreUnavailable, OSError, TimeoutError):
            return None
        for error in replies:
            if isinstance(error, ReplyError):
                return StoreRefused(
                    f"A Sentinel refuses to name the primary of {self._name}: {error}. Correct the "
                    "name, or the options sentinel_username and sentinel_password, in --redis."
                )
        primary, *lists = replies[len(login) :]
        return _View(_facts(primary), *([_facts(each) for each in found] for found in lists))


def _facts(reply: Sequence[bytes]) -> Facts:
    """Return the names and values that alternate in a reply."""
    words = [each.decode(errors="replace") for each in reply]
    return dict(zip(words[::2], words[1::2], strict=True))


def _place(process: Facts) -> tuple[str, int]:
    return process["ip"], int(process["port"])


def _host_and_port(place: str) -> tuple[str, int]:
    parts = urlsplit(f"//{place}")
    return parts.hostname or "", parts.port or SENTINEL_PORT


async def _machine(host: str) -> str:
    """Return the IP address of a machine; its name, if that is not known."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return host
    return str(found[0][4][0])


def _listed(machines: set[str]) -> str:
    return ", ".join(sorted(machines))
