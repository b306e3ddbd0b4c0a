"""The events that a node publishes, and whether it knows that no other node listens."""

import asyncio
from typing import cast

import pytest

from kit.event_recorder import EventRecorder
from kit.tables import ANN, BEN
from saratoga_rules.records.standing import State
from saratoga_server.background_tasks import BackgroundTasks
from saratoga_server.cancellation import cancel_all
from saratoga_server.live.peers import PEER_COUNTS_FOR, RACES_AT_ONCE, Peers
from saratoga_server.messages.node_events import (
    NodeEvent,
    Settled,
    Standings,
    Stood,
)
from saratoga_server.ports import LiveStanding, StoreUnavailable
from saratoga_server.store.event_channel import EventChannel

RACE = "mint-otter-42/1"


class Node:
    """The peers of one node, and a stub that passes events to `recorder`."""

    def __init__(self) -> None:
        self.recorder = EventRecorder("other")
        self.faults: list[Exception] = []
        self.has_failed = asyncio.Event()
        self.now = 100.0
        self.background_tasks = BackgroundTasks()
        self.is_listening = True
        self.peers = Peers(
            "node", cast(EventChannel, self), self.background_tasks, lambda: self.now
        )

    async def publish(self, event: NodeEvent) -> int:
        await asyncio.sleep(0)
        if self.faults:
            self.has_failed.set()
            raise self.faults.pop()
        self.recorder.receive(event)
        return 1

    @property
    def published(self) -> list[dict[str, dict[str, LiveStanding]]]:
        """Return the standings of every publication that had some."""
        return [
            event.races
            for event in self.recorder.events
            if isinstance(event, Stood) and event.races
        ]


def standing(length: int, banked: int = 3) -> LiveStanding:
    return LiveStanding(length, banked, State.RACING)


@pytest.fixture
def node() -> Node:
    return Node()


def test_a_node_is_alone_only_while_it_listens(node: Node) -> None:
    assert node.peers.is_alone
    node.is_listening = False
    assert not node.peers.is_alone


def test_another_node_counts_for_a_while_after_its_last_sign_of_life(node: Node) -> None:
    assert node.peers.met("other")
    assert not node.peers.is_alone
    node.now += PEER_COUNTS_FOR - 1
    assert not node.peers.met("other"), "it was known already"
    node.now += PEER_COUNTS_FOR - 0.01
    assert not node.peers.is_alone
    node.now += 0.01
    assert node.peers.is_alone


async def test_a_single_node_publishes_nothing(node: Node) -> None:
    node.peers.publish(Settled(["canfield"]))
    node.peers.standing_changed(RACE, ANN, standing(1))
    await node.background_tasks.finish()
    await node.peers.publish_standings()
    assert node.published == []
    assert Settled(["canfield"]) not in node.recorder.events


async def test_an_event_is_published_in_the_background(node: Node) -> None:
    node.peers.seen()
    node.peers.publish(Settled(["canfield"]))
    assert node.recorder.events == []
    await node.background_tasks.finish()
    assert node.recorder.events == [Settled(["canfield"])]


async def test_only_the_newest_standing_of_a_racer_is_published_and_only_once(node: Node) -> None:
    node.peers.seen()
    for length in (1, 2):
        node.peers.standing_changed(RACE, ANN, standing(length))
    node.peers.standing_changed(RACE, BEN, standing(7))
    for _ in range(2):
        await node.peers.publish_standings()
    assert node.published == [{RACE: {ANN: standing(2), BEN: standing(7)}}]


async def test_more_races_than_fit_into_one_publication_wait_for_the_next(node: Node) -> None:
    races = [f"odd-emu-11/{number}" for number in range(RACES_AT_ONCE + 3)]
    for race in races:
        node.peers.publish_all(race, {ANN: standing(1)})
    for _ in range(2):
        await node.peers.publish_standings()
    assert [len(each) for each in node.published] == [RACES_AT_ONCE, 3]
    assert [race for each in node.published for race in each] == races


async def test_standings_that_could_not_be_published_are_published_the_next_time(
    node: Node,
) -> None:
    newer: Standings = {BEN: standing(9)}
    node.peers.publish_all(RACE, {ANN: standing(1), BEN: standing(8)})
    node.faults.append(StoreUnavailable("away"))
    publishing = asyncio.create_task(node.peers.publish_standings())
    await asyncio.sleep(0)
    node.peers.publish_all(RACE, newer)  # while an event is being published
    await publishing
    assert node.published == []
    await node.peers.publish_standings()
    assert node.published == [{RACE: {ANN: standing(1), BEN: standing(9)}}]


async def test_a_failure_does_not_stop_the_publishing(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.live.peers.PUBLISH_EVERY", 0.0)
    node.faults.append(ValueError("a mistake"))
    node.peers.publish_all(RACE, {ANN: standing(1)})
    publishing = asyncio.create_task(node.peers.keep_publishing())
    await node.has_failed.wait()
    node.peers.publish_all(RACE, {ANN: standing(2)})
    await node.recorder.until(lambda: bool(node.published))
    assert node.published == [{RACE: {ANN: standing(2)}}]
    await cancel_all([publishing])
