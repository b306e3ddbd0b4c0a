"""Every kind of fault at least once, while whole races run through the wire on real processes.

The long form, `make faults`, throws a thousand by another seed each time. A storm that fails says
its seed and the throw; `PYTHONPATH=tests python -m kit.storms --seed ...` throws them again.
"""

from kit.storms.cluster_faults import CLUSTER_FAULTS
from kit.storms.weather import CLUSTERED, STANDALONE, Forecast, weathered

AS_WELL = {"node killed", "node restarted", "answer lost", "reconnect storm"}
"""What befalls a town with a cluster beside the cluster's own faults: the rest is as elsewhere."""

QUICK = 4.0
"""Seconds without a word after which players take their line for dead: less than usual."""


async def test_nothing_is_lost_and_nothing_left_behind_whatever_befalls_nodes_lines_and_store() -> (
    None
):
    aftermath = await weathered(
        Forecast(
            seed="short",
            faults=len(STANDALONE),
            kinds=STANDALONE,
            nodes=2,
            together=2,
            silence=QUICK,
        )
    )
    assert aftermath.faults == [], aftermath.figures()
    assert {fault.name for fault in STANDALONE} == set(aftermath.storm.tolls)
    assert aftermath.audited.moves


async def test_nothing_is_lost_and_nothing_left_behind_when_a_cluster_fails_over() -> None:
    kinds = [*CLUSTER_FAULTS, *(fault for fault in CLUSTERED if fault.name in AS_WELL)]
    aftermath = await weathered(
        Forecast(
            seed="short",
            faults=len(kinds),
            kinds=kinds,
            nodes=2,
            together=2,
            silence=QUICK,
            clustered=True,
        )
    )
    assert aftermath.faults == [], aftermath.figures()
    assert {fault.name for fault in kinds} == set(aftermath.storm.tolls)
    assert aftermath.audited.moves
