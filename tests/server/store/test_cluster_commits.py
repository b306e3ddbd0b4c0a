"""Commits in a cluster: each goes to the primary that owns its table."""

from kit.cluster import Cluster
from kit.running_race import commit_all, move, running_race
from saratoga_server.ports import CommitStatus
from saratoga_server.store.cluster_commits import ClusterCommits
from saratoga_server.store.durability import Durability
from saratoga_server.store.opening import open_store

CODES = [f"odd-emu-{number}" for number in range(20)]


async def test_every_commit_reaches_the_primary_of_its_table(trio: Cluster) -> None:
    batches: list[int] = []
    async with open_store(trio.url, Durability.SAFE, on_batch=batches.append) as store:
        assert isinstance(store.commits, ClusterCommits)
        owners = {store.primaries.of_table(code) for code in CODES}
        assert len(owners) == 3
        for code in CODES:
            await running_race(store, code=code)
        outcomes = await commit_all(store, [move("draw", 0, code=code) for code in CODES])
        assert {outcome.status for outcome in outcomes} == {CommitStatus.DONE}
    assert (len(batches), sum(batches)) == (len(owners), len(CODES)), "one request to each"
