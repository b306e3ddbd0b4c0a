"""Every kind of fault at least once, while whole races run through the wire on real processes.

The long form, `make faults`, throws a thousand by another seed each time. A storm that fails says
its seed and the throw; `PYTHONPATH=tests python -m kit.storms --seed ...` throws them again.
"""

from collections.abc import Sequence

from kit.storms.cluster_faults import CLUSTER_FAULTS
from kit.storms.fault import Fault
from kit.storms.town import LINE_UP
from kit.storms.weather import CLUSTERED, STANDALONE, Aftermath, Forecast, weathered

AS_WELL = {"node killed", "node restarted", "answer lost", "reconnect storm"}
"""What befalls a town with a cluster beside the cluster's own faults: the rest is as elsewhere."""

QUICK = 4.0
"""Seconds without a word after which players take their line for dead: less than usual."""

GAMES = ("canfield-aisleriot", "lafayette")
"""Of short races and of longer ones: somebody races nearly all the time, and no end is far."""

FAST = 12.0
"""Moves a second: races end while the storm goes on."""


def judge(aftermath: Aftermath, kinds: Sequence[Fault]) -> None:
    """Everything was thrown, whole races were looked through, and nothing was found."""
    assert aftermath.faults == [], aftermath.figures()
    assert {fault.name for fault in kinds} == set(aftermath.storm.tolls)
    assert aftermath.audited.moves
    assert aftermath.fewest >= 1
    assert aftermath.audited.ranked >= len(GAMES) * len(LINE_UP)
    assert aftermath.audited.rows


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
            games=GAMES,
            pace=FAST,
        )
    )
    judge(aftermath, STANDALONE)


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
            games=GAMES,
            pace=FAST,
            clustered=True,
        )
    )
    judge(aftermath, kinds)
