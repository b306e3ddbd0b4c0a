"""The ledger of a store: what counts as lost writes, and what a node remembers."""

import time
from dataclasses import dataclass

import pytest

from kit.stores import StoreServer
from saratoga_server.ports import Millis
from saratoga_server.store import ledger
from saratoga_server.store.clients import Primary, primary_at
from saratoga_server.store.clock_check import why_clock_refused
from saratoga_server.store.keys import CLOCKS_WITHIN
from saratoga_server.store.keys import LEDGER as KEY
from saratoga_server.store.ledger import (
    FIELD_REMOVED_AFTER,
    LOSS_TOLERATED,
    NO_LEDGER,
    Ledger,
    LedgerEntry,
    ProcessMemory,
    StoreReading,
    compare,
)
from saratoga_server.store.library import SOURCE

NOON = 1_790_000_000_000
NOW = Millis(NOON)
RAN = 900_000
KNOWN = LedgerEntry("one", 10, NOON, RAN)


@pytest.mark.parametrize(
    "found", [KNOWN, LedgerEntry("one", 11, NOON + 1, RAN + 1), LedgerEntry("one", 10, 0, RAN)]
)
def test_the_same_or_a_higher_sequence_is_no_loss(found: LedgerEntry) -> None:
    assert compare(KNOWN, found) is None


@pytest.mark.parametrize("found", [NO_LEDGER, KNOWN])
def test_a_store_that_is_new_to_a_node_has_lost_nothing(found: LedgerEntry) -> None:
    assert compare(None, found) is None


@pytest.mark.parametrize(
    ("found", "is_tolerated", "words"),
    [
        (LedgerEntry("one", 9, 0, RAN - LOSS_TOLERATED), True, "at least the last 60 s"),
        (LedgerEntry("one", 9, NOON, RAN - LOSS_TOLERATED - 1), False, "older data"),
        (LedgerEntry("two", 11, NOON), False, "other data"),
        (NO_LEDGER, False, "empty, or another store"),
    ],
)
def test_lost_writes_of_a_minute_are_tolerated_and_nothing_else(
    found: LedgerEntry, is_tolerated: bool, words: str
) -> None:
    loss = compare(KNOWN, found)
    assert loss is not None
    assert (loss.is_tolerated, words in loss.sentence) == (is_tolerated, True)


@pytest.mark.parametrize(("own", "is_tolerated"), [(40_000, True), (39_999, False), (0, False)])
def test_the_raises_of_other_nodes_do_not_hide_that_the_own_are_missing(
    own: int, is_tolerated: bool
) -> None:
    loss = compare(LedgerEntry("one", 10, NOON, 100_000), LedgerEntry("one", 99, NOON + 9, own))
    assert loss is not None
    assert (loss.millis, loss.is_tolerated) == (100_000 - own, is_tolerated)


@dataclass
class Node:
    """A node that reads and raises the ledger of a store."""

    primary: Primary
    ledger: Ledger

    async def raised(self) -> None:
        reading = await self.ledger.read()
        assert self.ledger.losses(reading) == []
        await self.ledger.raise_(reading)

    async def close(self) -> None:
        await self.primary.client.aclose(close_connection_pool=True)

    @property
    def known(self) -> LedgerEntry:
        return self.ledger.memory.recall()[KEY]


async def node_on(url: str) -> Node:
    primary = primary_at(url)
    await primary.client.execute_command("FUNCTION", "LOAD", "REPLACE", SOURCE)
    return Node(primary, Ledger(primary, ProcessMemory(), replicated=False, on_disk=False))


async def test_every_node_raises_the_same_sequence_and_keeps_the_generation(
    store_server: StoreServer,
) -> None:
    one, other = await node_on(store_server.url), await node_on(store_server.url)
    try:
        await one.raised()
        await other.raised()
        await other.raised()
        assert (one.known.sequence, other.known.sequence) == (1, 2)
        assert one.known.generation == other.known.generation != ""
        assert other.known.at >= one.known.at > NOON
    finally:
        await one.close()
        await other.close()


async def test_a_process_that_ends_after_its_first_reading_leaves_no_fields(
    store_server: StoreServer,
) -> None:
    nodes = [await node_on(store_server.url) for _ in range(3)]
    try:
        await nodes[0].raised()
        fields = store_server.ask("HLEN", KEY)
        for node in nodes[1:]:
            await node.raised()
        assert store_server.ask("HLEN", KEY) == fields == b":5"
        await nodes[1].raised()
        assert store_server.ask("HLEN", KEY) == b":7"
    finally:
        for node in nodes:
            await node.close()


async def test_a_ledger_that_was_replaced_after_it_was_read_is_left_alone(
    store_server: StoreServer,
) -> None:
    node = await node_on(store_server.url)
    try:
        await node.raised()
        known = node.known
        reading = await node.ledger.read()
        store_server.delete_data()
        await node.ledger.raise_(reading)
        assert store_server.ask("EXISTS", KEY) == b":0"
        assert node.known == known
    finally:
        await node.close()


async def test_a_clock_that_was_set_back_does_not_lower_the_newest_time(
    store_server: StoreServer,
) -> None:
    node = await node_on(store_server.url)
    try:
        await node.raised()
        ahead = node.known.at + 1_000_000
        store_server.ask("HSET", KEY, "at", str(ahead))
        await node.raised()
        assert (node.known.at, node.known.sequence) == (ahead, 2)
    finally:
        await node.close()


@pytest.mark.parametrize("behind", [3_600.0, NOON / 1000])
async def test_a_clock_ahead_of_the_servers_is_not_stored(
    store_server: StoreServer, monkeypatch: pytest.MonkeyPatch, behind: float
) -> None:
    node = await node_on(store_server.url)
    try:
        shown = time.time() - behind
        monkeypatch.setattr(ledger, "time", lambda: shown)
        await node.raised()
        assert node.known.at == int(shown * 1000) + CLOCKS_WITHIN
        reading = await node.ledger.read()
        assert why_clock_refused(reading) is None
        monkeypatch.undo()
        await node.raised()
        assert node.known.at > int(shown * 1000) + CLOCKS_WITHIN
    finally:
        await node.close()


@pytest.mark.parametrize(
    ("later", "found", "is_lost"),
    [
        (FIELD_REMOVED_AFTER + 1, LedgerEntry("one", 99, NOON), False),
        (FIELD_REMOVED_AFTER, LedgerEntry("one", 99, NOON), True),
        (FIELD_REMOVED_AFTER + 1, LedgerEntry("one", 9, NOON), True),
        (FIELD_REMOVED_AFTER + 1, LedgerEntry("two", 99, NOON), True),
        (FIELD_REMOVED_AFTER + 1, LedgerEntry("one", 99, NOON, 5), True),
    ],
)
async def test_a_node_that_was_paused_for_a_day_goes_on_without_its_field(
    store_server: StoreServer, later: int, found: LedgerEntry, is_lost: bool
) -> None:
    node = await node_on(store_server.url)
    try:
        await node.ledger.memory.remember({KEY: KNOWN})
        reading = StoreReading(Millis(NOON + later), {KEY: found})
        losses = node.ledger.losses(reading)
        assert [loss.is_tolerated for loss in losses] == [False] * is_lost
    finally:
        await node.close()


async def test_fields_of_processes_that_are_long_gone_are_removed_when_another_one_joins(
    store_server: StoreServer,
) -> None:
    for number in range(100):
        store_server.ask("HSET", KEY, f"node:{number}", "1", f"seen:{number}", "1")
    node = await node_on(store_server.url)
    try:
        await node.raised()
        assert store_server.ask("HLEN", KEY) == b":5"
        await node.raised()
    finally:
        await node.close()
