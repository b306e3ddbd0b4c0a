"""What storms are made of and judged by finds what it should find, and can be thrown again."""

from collections.abc import Callable
from contextlib import ExitStack
from random import Random
from types import SimpleNamespace

import pytest
from redis import Redis

from kit.messages import BOARD
from kit.race_audit import faults_of_count, faults_of_open_board
from kit.recorded_players import Acknowledged, Notes, RecordedPlayer
from kit.stores import StoreServer
from kit.storms import node_faults
from kit.storms.__main__ import report
from kit.storms.auditor import Auditor
from kit.storms.fault import Blow, Fault
from kit.storms.footprints import (
    Footprint,
    clients_of,
    keys_left_over,
    listeners_of,
    nodes_known,
    subscribers_of,
)
from kit.storms.leaks import held, pool_of
from kit.storms.storm import Storm
from kit.storms.town import Guest, Node, Town
from kit.storms.weather import LONG_CLUSTERED, LONG_STANDALONE, Aftermath, Forecast, too_few
from saratoga_server.ports import LogEntry, Millis, StoredBoard
from saratoga_server.store.nodes import ALIVE_FOR


def stored(*entries: tuple[str, int, int]) -> StoredBoard:
    """A board of entries, each with its number and its moment."""
    log = tuple(LogEntry(text, Millis(at), number, 1) for text, number, at in entries)
    return StoredBoard(epoch=1, last_id=1, banked=0, state="racing", entries=log)


def acknowledged(after: int, text: str) -> Acknowledged:
    return Acknowledged(2, BOARD.race, after, text, BOARD, repeat=False, moment=0.0)


def test_an_acknowledged_move_that_is_not_stored_is_found() -> None:
    kept = stored(("draw", 1, 10), ("waste>up", 2, 20))
    done = [acknowledged(0, "draw"), acknowledged(1, "waste>up")]
    assert list(faults_of_open_board(kept, done)) == []
    for lost in (acknowledged(2, "draw"), acknowledged(1, "draw")):
        assert len(list(faults_of_open_board(kept, [*done, lost]))) == 1


def test_entries_that_are_missing_doubled_or_out_of_time_are_found() -> None:
    def said(*boards: StoredBoard) -> int:
        return len(list(faults_of_count(boards)))

    assert said(stored(("a", 1, 10), ("b", 3, 30)), stored(("c", 2, 20))) == 0
    assert said(stored(("a", 1, 10), ("b", 3, 30))) == 1
    assert said(stored(("a", 1, 10)), stored(("b", 1, 20))) == 1
    assert said(stored(("a", 1, 30)), stored(("b", 2, 20))) == 1


@pytest.fixture
def nobody_there() -> Callable[[str], Storm]:
    """A storm over an empty town, by its seed."""

    def brewing(seed: str) -> Storm:
        town = Town([], None, None, None, None)  # type: ignore[arg-type]
        return Storm(town, LONG_STANDALONE, seed)

    return brewing


def test_a_seed_throws_the_same_faults_again(nobody_there: Callable[[str], Storm]) -> None:
    planned = nobody_there("7").schedule(100, 6)
    assert nobody_there("7").schedule(100, 6) == planned
    assert nobody_there("8").schedule(100, 6) != planned


def test_every_kind_comes_as_often_as_every_other(nobody_there: Callable[[str], Storm]) -> None:
    storm = nobody_there("7")
    times = 20
    thrown = [fault for faults in storm.schedule(times * len(storm.kinds), 6) for fault in faults]
    counts = {thrown.count(kind) for kind in storm.kinds}
    assert counts == {times}


def test_faults_of_one_part_are_never_thrown_together() -> None:
    for kinds in (LONG_STANDALONE, LONG_CLUSTERED):
        storm = Storm(Town([], None, None, None, None), kinds, "7")  # type: ignore[arg-type]
        pairs = [faults for faults in storm.schedule(400, 2) if len(faults) > 1]
        assert pairs
        assert all(first.part != second.part for first, second in pairs)


def test_keys_that_nobody_owns_or_that_have_no_end_are_found(store_server: StoreServer) -> None:
    with Redis(unix_socket_path=str(store_server.socket)) as store:
        store.set("{p1}:table:mint-otter-42", "x", px=60_000)
        store.set("{p1}:table:mint-otter-42:race:1", "x", px=60_000)
        store.set("{p1}:table:mint-otter-42:race:1:log:anna", "x", px=60_000)
        store.zadd("{p1}:due", {"mint-otter-42": 5})
        store.set("leaderboard:games", "x")
        assert list(keys_left_over(store)) == []
        store.zadd("{p1}:due", {"calm-fox-11": 5})
        store.set("{p2}:table:calm-fox-11:race:1", "x", px=60_000)
        store.set("{p3}:table:kind-owl-12", "x")
        store.rpush("{p4}:outbox", "x")
        assert list(keys_left_over(store)) == [
            "{p1}:due waits for calm-fox-11, which is not there",
            "{p2}:table:calm-fox-11:race:1 has no table",
            "{p3}:table:kind-owl-12 has no end",
            "{p4}:outbox has settlements that nobody settled",
        ]


def test_clients_and_subscribers_are_counted(store_server: StoreServer) -> None:
    with (
        Redis(unix_socket_path=str(store_server.socket)) as store,
        Redis(unix_socket_path=str(store_server.socket)) as other,
        other.pubsub() as ear,
    ):
        before = clients_of(store)
        ear.subscribe("news")
        assert ear.get_message(timeout=5) is not None
        assert clients_of(store) == before + 1
        assert listeners_of(store) == 1
        assert subscribers_of(store) == {1: 1}


def test_connections_to_a_store_that_no_node_can_have_wanted_are_found(
    store_server: StoreServer,
) -> None:
    node = SimpleNamespace(
        port=4000, link=None, footprint=lambda: Footprint(files=9, sockets=6, players=0, tasks=5)
    )
    before = [node.footprint()]
    town = Town([node], None, None, None, None, before=before)  # type: ignore[arg-type, list-item]
    most = pool_of(town) + 2
    with ExitStack() as stack:

        def another() -> Redis:
            client: Redis = Redis(unix_socket_path=str(store_server.socket))
            stack.callback(client.close)
            return client

        store = another()
        ear = stack.enter_context(another().pubsub())
        ear.subscribe("news")
        while clients_of(store) < most:
            another().ping()
        assert [fault for fault in held(town, [store]) if "clients" in fault] == []
        another().ping()
        late = stack.enter_context(another().pubsub())
        late.subscribe("news")
        assert [fault for fault in held(town, [store]) if "clients" in fault] == [
            f"the store has {most + 2} clients, at most {most}",
            "2 clients listen to the store, of 1 nodes",
        ]


def test_sockets_that_were_not_there_before_and_are_no_pools_are_found() -> None:
    def said(sockets: int) -> list[str]:
        now = Footprint(files=9, sockets=sockets, players=0, tasks=5)
        node = SimpleNamespace(port=4000, link=None, footprint=lambda: now)
        before = [Footprint(files=9, sockets=6, players=0, tasks=5)]
        town = Town([node], None, None, None, None, before=before)  # type: ignore[arg-type, list-item]
        return [fault for fault in held(town, []) if "sockets" in fault]

    assert said(6) == []
    assert said(7) == ["node 4000 has 7 sockets, at most 6"]


def test_a_storm_that_stops_early_says_how_many_faults_were_thrown() -> None:
    storm = Storm(Town([], None, None, None, None), LONG_STANDALONE, "7", thrown=3)  # type: ignore[arg-type]
    forecast = Forecast(seed="7", faults=5, kinds=LONG_STANDALONE)
    after = Aftermath(
        storm=storm,
        audited=Auditor(storm.town, None),  # type: ignore[arg-type]
        refusals={},
        left=[],
        logged=[],
    )
    assert "\n3 of 5 faults in 9 s" in report("standalone", forecast, after, 9)
    storm.thrown = 5
    assert "\n5 faults in 9 s" in report("standalone", forecast, after, 9)


def guest_with(notes: Notes) -> Guest:
    player = RecordedPlayer(SimpleNamespace(notes=notes), "weak", 1)  # type: ignore[arg-type]
    return Guest(player, None)  # type: ignore[arg-type]


def test_a_pause_is_the_longest_time_without_an_answer_and_none_between_two_races() -> None:
    def made(race: str, *moments: float) -> list[Acknowledged]:
        return [Acknowledged(2, race, 0, "draw", BOARD, repeat=False, moment=at) for at in moments]

    def pause(*done: Acknowledged, over: float | None = None) -> float:
        notes = Notes(acknowledged=list(done), over={} if over is None else {"t/1": over})
        return guest_with(notes).pause(10.0, 20.0)

    assert pause() == 10.0
    assert pause(*made("t/1", 9.0, 11.0, 14.0, 20.0)) == 6.0
    assert pause(*made("t/1", 14.0, 15.0, 20.0)) == 5.0
    assert pause(*made("t/1", 11.0), *made("t/2", 18.0, 20.0)) == 2.0
    assert pause(*made("t/1", 11.0), *made("t/2", 19.0, 20.0), over=14.0) == 3.0


def test_a_storm_after_which_too_few_races_were_judged_has_failed() -> None:
    table = [guest_with(Notes(code="mint-otter-42"))]
    auditor = Auditor(Town([], None, None, None, None, tables=[table]), None)  # type: ignore[arg-type]
    auditor.races["mint-otter-42"] = 2
    auditor.ranked = auditor.rows = 4
    assert too_few(auditor, 2) == []
    assert too_few(auditor, 3) == ["only 2 races of mint-otter-42 were judged, and 3 should be"]
    auditor.rows = 0
    assert too_few(auditor, 2) == ["no leaderboard was compared"]


def test_a_node_that_died_before_the_stores_clock_went_back_is_none_that_lives(
    store_server: StoreServer,
) -> None:
    with Redis(unix_socket_path=str(store_server.socket)) as store:
        store.set("node:lives", 1, px=ALIVE_FOR)
        store.set("node:died", 1, px=ALIVE_FOR + 60_000)
        assert nodes_known(store) == 1


def node_at(port: int, struck: list[int]) -> Node:
    """A node whose way to the store can be cut, and nothing else."""
    link = SimpleNamespace(cut=lambda: struck.append(port))
    return Node(SimpleNamespace(port=port), None, link, 0)  # type: ignore[arg-type]


async def test_a_node_is_struck_where_somebody_is_if_anybody_is_anywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    struck: list[int] = []
    guest = guest_with(Notes())
    guest.link = SimpleNamespace(server_port=4001)  # type: ignore[assignment]
    nodes = [node_at(port, struck) for port in (4000, 4001, 4002)]
    town = Town(nodes, None, None, None, None, tables=[[guest]])  # type: ignore[arg-type]
    for seed in range(20):
        assert (await node_faults.cut_off(town, Random(seed))).felt_by == [guest]
    assert set(struck) == {4001}
    monkeypatch.setattr(node_faults, "SOMEBODY_WITHIN", 0.01)
    guest.link.server_port = 0  # type: ignore[misc]
    assert (await node_faults.cut_off(town, Random(7))).felt_by == []


async def test_a_kind_of_fault_that_nobody_ever_felt_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guest = guest_with(Notes())
    felt: list[Guest] = []

    async def strike(town: Town, chance: Random) -> Blow:
        return Blow(list(felt))

    async def at_once(*args: object, **more: object) -> list[tuple[Guest, float]]:
        return []

    fault = Fault(name="node sneezed", part="node", strike=strike)
    town = Town([], None, None, None, None, tables=[[guest]])  # type: ignore[arg-type]
    monkeypatch.setattr(town, "mid_race", at_once)
    monkeypatch.setattr(town, "all_back", at_once)
    storm = Storm(town, [fault], "7")
    assert storm.never_felt() == []
    await storm.throw((fault,), 1)
    assert storm.never_felt() == ["node sneezed: 1 thrown, and nobody felt any"]
    felt.append(guest)
    await storm.throw((fault,), 2)
    assert storm.never_felt() == []
    toll = storm.tolls[fault.name]
    assert (toll.count, toll.unfelt) == (2, 1)
    assert toll.line().split()[:2] == ["2", "1"], "and it is told"
