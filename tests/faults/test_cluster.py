"""A cluster loses and doubles no acknowledged move while primaries die, fail over and swap slots."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest

from kit.cluster import Cluster, ClusterNode, running_cluster
from kit.movers import TABLES, Movers
from kit.results import result_of
from kit.running_race import ANNA, BERT, CODE, ending, move, running_race
from kit.stores import binaries
from saratoga_server.leaderboard_port import BoardKey, Settlement
from saratoga_server.messages.settlements import pack_settlement
from saratoga_server.ports import CommitStatus, Millis, RaceFinish, TableWrite
from saratoga_server.store import primaries
from saratoga_server.store.durability import Durability
from saratoga_server.store.keys import due_key, leaderboard_tag, partition, race_key, table_key
from saratoga_server.store.leaderboards import RedisLeaderboards
from saratoga_server.store.opening import Store, open_store
from saratoga_server.store.slots import slot_of
from saratoga_server.store.store_client import StoreClient
from saratoga_server.store.tables import RedisTables

Faults = Callable[[Movers], Awaitable[None]]

RACE = race_key(CODE, 1)
GAME = "canfield"


@pytest.fixture(scope="module")
def shared_cluster() -> Iterator[Cluster]:
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture
def cluster(shared_cluster: Cluster) -> Cluster:
    """Three primaries with a replica each, empty and in sync."""
    shared_cluster.wait_until_in_step()
    shared_cluster.empty()
    return shared_cluster


async def under(cluster: Cluster, faults: Faults) -> Movers:
    """Let players move during the faults and after them; then check every move."""
    async with open_store(cluster.url, Durability.REPLICATED) as store:
        movers = Movers(store)
        await movers.sit_down()
        over = False

        async def happen() -> None:
            nonlocal over
            try:
                await movers.rounds(10)
                await faults(movers)
                await movers.rounds(10)
            finally:
                over = True

        async with asyncio.TaskGroup() as group:
            group.create_task(happen())
            group.create_task(movers.move_until(lambda: over))
        await movers.check(store)
    async with open_store(cluster.url) as store:
        await movers.check(store)
    return movers


def tables_of(node: ClusterNode) -> list[str]:
    """Return the tables whose slots belong to the node."""
    return [code for code in TABLES if node.ask("EXISTS", table_key(code)).startswith(":")]


def killing(cluster: Cluster, times: int) -> Faults:
    """Return faults that kill one primary after another, and start it again after its replica took over.

    The replica hangs first, so writes of the primary during that time exist on the primary only.
    """

    def replace(primary: ClusterNode, successor: ClusterNode) -> None:
        primary.kill()
        successor.resume()
        cluster.wait_until_promoted(successor)
        primary.restart()
        cluster.wait_until_in_step()

    async def faults(movers: Movers) -> None:
        for turn in range(times):
            primary = cluster.primaries()[turn % 3]
            successor = cluster.replica_of(primary)
            others = [code for code in TABLES if code not in tables_of(primary)]
            successor.pause()
            # Without this the kernel would buffer what the primary sends.
            assert primary.ask("CLIENT", "KILL", "TYPE", "replica") == ":1\r\n"
            await movers.rounds(10, others)
            await asyncio.to_thread(replace, primary, successor)
            await movers.rounds(5)

    return faults


async def test_any_nodes_address_opens_the_cluster(cluster: Cluster) -> None:
    replica = cluster.replica_of(cluster.primaries()[0])
    async with open_store(replica.url, Durability.REPLICATED) as store:
        await store.tables.set_public("mint-otter-42", b"summary")
        assert await store.tables.list_public() == [b"summary"]
        assert len(store.primaries.all()) == 3


async def test_a_primary_that_is_killed_loses_and_doubles_nothing(cluster: Cluster) -> None:
    await under(cluster, killing(cluster, 1))


async def test_a_primary_that_hangs_is_replaced_and_resumes_without_effect(
    cluster: Cluster,
) -> None:
    def hang() -> None:
        primary = cluster.primaries()[0]
        successor = cluster.replica_of(primary)
        primary.pause()
        try:
            cluster.wait_until_promoted(successor, but=primary)
        finally:
            primary.resume()
        cluster.wait_until_in_step()

    async def faults(movers: Movers) -> None:
        await asyncio.to_thread(hang)

    await under(cluster, faults)


@pytest.mark.parametrize("force", [False, True], ids=["agreed", "forced"])
async def test_primaries_fail_over_in_mid_race(cluster: Cluster, force: bool) -> None:
    def hand_over(turn: int) -> None:
        cluster.fail_over(cluster.primaries()[turn], force=force)
        cluster.wait_until_in_step()

    async def faults(movers: Movers) -> None:
        for turn in range(3):
            await asyncio.to_thread(hand_over, turn)
            await movers.rounds(3)

    await under(cluster, faults)


@pytest.mark.parametrize("whole", [False, True], ids=["key by key", "whole"])
async def test_moved_slots_lose_and_double_nothing(cluster: Cluster, whole: bool) -> None:
    def reshard(code: str) -> None:
        source = cluster.owner(table_key(code))
        target = next(node for node in cluster.primaries() if node is not source)
        if whole:
            cluster.move_whole(table_key(code), source, target)
        else:
            cluster.move_slot(slot_of(table_key(code)), source, target)

    async def faults(movers: Movers) -> None:
        for code in TABLES[:6]:
            await asyncio.to_thread(reshard, code)
            await movers.rounds(2)

    movers = await under(cluster, faults)
    assert movers.unanswered == 0


@pytest.mark.parametrize(
    "gone",
    [
        pytest.param([f"{RACE}:log:{ANNA}"], id="the log"),
        pytest.param([due_key(partition(CODE))], id="the timers"),
        pytest.param([RACE], id="the race"),
        pytest.param(
            [RACE, f"{RACE}:log:{ANNA}", due_key(partition(CODE))], id="all but the table"
        ),
    ],
)
async def test_a_race_whose_keys_moved_in_part_waits_for_the_rest(
    cluster: Cluster, gone: list[str]
) -> None:
    slot, source = slot_of(table_key(CODE)), cluster.owner(table_key(CODE))
    target = next(node for node in cluster.primaries() if node is not source)
    async with open_store(cluster.url) as store:
        race = await running_race(store)
        await race.commit(move("draw", 0), ending("left", 0, "left", player=BERT))
        due = TableWrite(code=CODE, expected=1, body=b"still running", due=Millis(5))
        assert await store.tables.save_table(due)
        cluster.begin_move(slot, source, target)
        cluster.carry(gone, source, target)
        # the last board to end also sets a timer, so this commit writes two keys besides the log
        commit = asyncio.ensure_future(race.commit(ending("left", 1, "left")))
        write = TableWrite(code=CODE, expected=2, body=b"over", due=None)
        save = asyncio.ensure_future(store.tables.save_table(write))
        look = asyncio.ensure_future(store.boards.load_board(CODE, 1, BERT))
        await asyncio.wait([commit, save], timeout=0.3)
        assert not commit.done()
        assert not save.done()
        cluster.move_slot(slot, source, target)
        [outcome] = await commit
        assert (outcome.status, outcome.length, outcome.number) == (CommitStatus.DONE, 2, 3)
        assert await save
        assert await look is not None
        assert await race.texts() == ["draw", "left"]
        assert await store.tables.load_table(CODE) == (3, b"over")
        assert (await race.standing()).state == "left"


async def test_functions_that_were_flushed_are_loaded_again_on_every_primary(
    cluster: Cluster,
) -> None:
    async def faults(movers: Movers) -> None:
        for _ in range(3):
            cluster.flush_functions()
            await movers.rounds(3)
            await movers.store.tables.set_public("mint-otter-42", b"summary")

    movers = await under(cluster, faults)
    assert movers.unanswered == 0


async def test_moves_without_a_replica_are_not_acknowledged_and_other_primaries_go_on(
    cluster: Cluster,
) -> None:
    async def faults(movers: Movers) -> None:
        primary = cluster.primaries()[0]
        stuck = tables_of(primary)
        free = [code for code in TABLES if code not in stuck]
        assert stuck
        replica = cluster.replica_of(primary)
        replica.pause()
        try:
            # Confirmations from before the hang may still arrive.
            await movers.rounds(5, free)
            before = {code: len(movers.acknowledged[code]) for code in stuck}
            await movers.rounds(10, free)
            assert {code: len(movers.acknowledged[code]) for code in stuck} == before
            save = asyncio.ensure_future(
                movers.store.tables.save_table(
                    TableWrite(code=stuck[0], expected=1, body=b"x", due=None)
                )
            )
            await movers.rounds(5, free)
            assert not save.done()
        finally:
            replica.resume()
        assert await save

    await under(cluster, faults)


async def test_timers_and_results_are_found_on_every_primary(cluster: Cluster) -> None:
    async with open_store(cluster.url) as store:
        now = await store.tables.now()
        for place, code in enumerate(TABLES):
            due = Millis(now - len(TABLES) + place)
            await store.tables.save_table(TableWrite(code=code, expected=0, body=b"x", due=due))
        assert all(tables_of(node) for node in cluster.primaries())
        assert list(await store.tables.due(now, 100)) == TABLES
        assert list(await store.tables.due(now, 5)) == TABLES[:5]
        assert {code async for code in store.tables.all_codes()} == set(TABLES)


async def test_results_are_counted_once_while_the_leaderboards_primary_changes(
    cluster: Cluster,
) -> None:
    def hand_over(force: bool) -> None:
        cluster.fail_over(cluster.owner(f"{leaderboard_tag(GAME)}:sequence"), force=force)
        cluster.wait_until_in_step()

    async with (
        open_store(cluster.url, Durability.REPLICATED) as one,
        open_store(cluster.url, Durability.REPLICATED) as other,
    ):
        finished = 0
        is_over = False

        async def finish() -> None:
            nonlocal finished
            while not is_over:
                code = f"lone-crane-{finished}"
                result = result_of("anna", bot=False, banked=20, net=50, reached=9)
                settled = pack_settlement(
                    Settlement(race=f"{code}/1", game=GAME, start_at=Millis(1), results=(result,))
                )
                over = RaceFinish(race=1, record="record", settlement=settled)
                assert await one.tables.save_table(
                    TableWrite(code=code, expected=0, body=b"over", due=None, finish=over)
                )
                finished += 1

        async def settle(store: Store) -> None:
            while await store.leaderboards.settle_outbox(10) or not is_over:
                pass

        async with asyncio.TaskGroup() as group:
            for work in (finish(), settle(one), settle(other)):
                group.create_task(work)
            for turn, force in enumerate((False, True, False), 1):
                while finished < 10 * turn:  # noqa: ASYNC110 - a count, without an event
                    await asyncio.sleep(0.001)
                await asyncio.to_thread(hand_over, force)
            is_over = True
        # An earlier check may have missed a primary; this one asks all primaries.
        assert not await one.leaderboards.void_race(GAME, "no-such-table/1")
        row = await one.leaderboards.row(
            BoardKey(game=GAME, ranking="bankroll", period="all", bots=False), "anna"
        )
        assert row is not None
        assert (row.races, row.value) == (finished, 50 * finished)


async def test_results_at_a_primary_that_has_handed_over_are_found_at_the_next_look(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(primaries, "REFRESH_EVERY", 3_600.0)
    known = await primaries.open_primaries(cluster.url, is_cluster=True)
    try:
        # Nothing else here refreshes the slot map.
        client = StoreClient(known, replicated=True)
        await client.load_library()
        result = result_of("anna", bot=False, banked=20, net=50, reached=9)
        settlement = Settlement(
            race=f"{TABLES[0]}/1", game=GAME, start_at=Millis(1), results=(result,)
        )
        over = RaceFinish(race=1, record="record", settlement=pack_settlement(settlement))
        await RedisTables(client).save_table(
            TableWrite(code=TABLES[0], expected=0, body=b"over", due=None, finish=over)
        )
        owner = cluster.owner(table_key(TABLES[0]))
        await asyncio.to_thread(cluster.fail_over, owner)
        await asyncio.to_thread(cluster.wait_until_in_step)
        assert await RedisLeaderboards(client).settle_outbox(10) == []
        await known.refresh()  # A second caller waits for the refresh that is running.
        assert await RedisLeaderboards(client).settle_outbox(10) == [settlement]
    finally:
        await known.close()


@pytest.mark.long
@pytest.mark.parametrize("kind", list(binaries()))
async def test_twelve_primaries_are_killed_one_after_the_other(kind: str) -> None:
    with running_cluster(binaries()[kind]) as cluster:
        await under(cluster, killing(cluster, 12))
