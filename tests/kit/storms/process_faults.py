"""Faults of a node's process: a log that nobody reads, no file descriptors left."""

import asyncio
import resource
import time
from collections.abc import Callable
from random import Random

from kit.faulty_link import FaultyLink, LinkConnection, LinkFault
from kit.storms.fault import ActiveFault, Fault
from kit.storms.installation import Installation
from kit.storms.node_faults import some_node

PAUSE_OF_AN_UNREAD_LOG = 2.0
"""The promised longest wait of players, in seconds, while a node's log is not read."""

LOGGED_WITHIN = 10.0
"""Longest time in seconds for a log line to arrive after the log is read again."""

STANDARD_FILES = 3
"""The descriptors of standard input, output and error: with this limit no other can be opened."""

CUTS = 3
"""The number of store connections that one fault cuts within a request."""


async def leave_log_unread(installation: Installation, random: Random) -> ActiveFault:
    """Fill a node's log pipe and read it no more, while the node has something to log."""
    node = await some_node(installation, random)
    affected = installation.at(node)
    events = len(node.server.events())
    node.log.stop_reading()
    node.link.cut()

    async def heal() -> None:
        assert len(node.server.events()) == events, "the log was read"
        node.log.resume_reading()
        until = time.monotonic() + LOGGED_WITHIN
        while len(node.server.events()) == events:
            assert time.monotonic() < until, f"node {node.port} has logged nothing"
            await asyncio.sleep(0.01)

    return ActiveFault(affected, heal)


async def take_descriptors(installation: Installation, random: Random) -> ActiveFault:
    """Let a node open no file and accept no connection, and cut its store connections and its players'."""
    node = await some_node(installation, random)
    affected = installation.at(node)
    pid = node.server.pid
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE, (STANDARD_FILES, _hard_limit(pid)))

    async def heal() -> None:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)

    for player in affected:
        player.link.cut()
    node.link.cut()
    return ActiveFault(affected, heal)


def _hard_limit(pid: int) -> int:
    return resource.prlimit(pid, resource.RLIMIT_NOFILE)[1]


def cut_within_commits(on_cut: Callable[[], None]) -> LinkFault:
    """Return a fault that forwards half of each commit, calls `on_cut` and cuts the connection."""

    def fault(link: FaultyLink, connection: LinkConnection) -> None:
        def to_server(data: bytes) -> bytes:
            if b"commit_boards" not in data:
                return data
            connection.send_to_server(data[: len(data) // 2])
            on_cut()
            connection.cut()
            return b""

        connection.to_server = to_server

    return fault


async def cut_within_a_request(installation: Installation, random: Random) -> ActiveFault:
    """Cut a node's commit connections while the node writes to them, several times."""
    node = await some_node(installation, random)
    affected = installation.at(node)
    link = node.link
    cuts = 0

    def cut() -> None:
        nonlocal cuts
        cuts += 1
        if cuts == CUTS:
            link.heal()
        installation.changed.set()

    link.fault = cut_within_commits(cut)
    for connection in link.connections:
        link.prepare(connection)
    try:
        await installation.until("cuts within commits", lambda: cuts >= CUTS)
    finally:
        link.heal()
    return ActiveFault(affected)


PROCESS_FAULTS = (
    Fault(
        name="log not read",
        part="node",
        inject=leave_log_unread,
        hold=(1.0, 3.0),
        by_pause=True,
        limit=PAUSE_OF_AN_UNREAD_LOG,
        is_alone=True,
    ),
    Fault(
        name="no file descriptors",
        part="node",
        inject=take_descriptors,
        hold=(0.5, 2.0),
        from_heal=True,
        is_alone=True,
    ),
    Fault(
        name="store cut within requests",
        part="store",
        inject=cut_within_a_request,
        needs_play=True,
        is_alone=True,
    ),
)
