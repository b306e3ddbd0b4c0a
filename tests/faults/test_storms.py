"""Storms: every kind of fault once, while whole races run on real processes.

`make faults` injects a thousand faults with another seed each time. A storm that fails names its seed
and the injection; `PYTHONPATH=tests python -m kit.storms --seed ...` repeats it.
"""

from collections.abc import Sequence

import pytest

from kit import quick_countdown
from kit.faulty_link import to_ports
from kit.storms.auditor import Auditor
from kit.storms.cluster_faults import CLUSTER_FAULTS
from kit.storms.fault import Fault
from kit.storms.installation import LINE_UP, Installation
from kit.storms.storm import FaultFigures, Storm
from kit.storms.storm_run import (
    CHANGED,
    CLUSTERED,
    LONG_CLUSTERED,
    LONG_STANDALONE,
    STANDALONE,
    StormPlan,
    StormResult,
    drawn_games,
    run_storm,
    too_few,
)
from saratoga_rules.games import GAMES as ALL_GAMES

OTHER_KINDS = {"node killed", "node restarted", "answer lost", "reconnect storm"}
"""Faults that a cluster installation gets in addition to the faults of the cluster."""

SILENCE = 1.5
"""Seconds without an event after which a player reconnects, shorter than the usual time."""

GAMES = ("klondike", "lafayette")
"""A game of short races, with cards face down, and one of longer races, so that some player races nearly all the time."""

PACE = 24.0
"""Moves a second of each player, so fast that races end during the storm."""


def check(result: StormResult, kinds: Sequence[Fault]) -> None:
    """Check that every kind of fault was injected, that races were audited, and that nothing was wrong."""
    assert result.faults == [], result.figures()
    assert {fault.name for fault in kinds} == set(result.storm.figures_by_kind)
    assert result.auditor.moves
    assert result.fewest >= 1
    assert result.auditor.ranked >= len(GAMES) * len(LINE_UP)
    assert result.auditor.rows


def short_plan(kinds: Sequence[Fault], *, clustered: bool = False) -> StormPlan:
    return StormPlan(
        seed="short",
        faults=len(kinds),
        kinds=kinds,
        nodes=2,
        together=2,
        silence=SILENCE,
        games=GAMES,
        pace=PACE,
        clustered=clustered,
        module=quick_countdown.MODULE,
    )


async def test_faults_of_nodes_connections_and_store_lose_nothing_and_leak_nothing() -> None:
    check(await run_storm(short_plan(STANDALONE)), STANDALONE)


async def test_refused_stores_and_exhausted_processes_lose_nothing_and_leak_nothing() -> None:
    check(await run_storm(short_plan(CHANGED)), CHANGED)


async def test_faults_of_a_cluster_lose_nothing_and_leak_nothing() -> None:
    kinds = [*CLUSTER_FAULTS, *(fault for fault in CLUSTERED if fault.name in OTHER_KINDS)]
    check(await run_storm(short_plan(kinds, clustered=True)), kinds)


# The plan of a storm


@pytest.fixture
def storm(installation: Installation) -> Storm:
    return Storm(installation, LONG_STANDALONE, "7")


@pytest.fixture
def installation() -> Installation:
    """An installation without nodes and players."""
    return Installation([], to_ports([]), None, None, None)


def test_a_seed_determines_the_faults(storm: Storm, installation: Installation) -> None:
    planned = storm.schedule(100, 6)
    assert Storm(installation, LONG_STANDALONE, "7").schedule(100, 6) == planned
    assert Storm(installation, LONG_STANDALONE, "8").schedule(100, 6) != planned


def test_storms_race_every_game_two_at_a_time() -> None:
    drawn = [drawn_games(str(seed)) for seed in range(50)]
    assert {len({*pair}) for pair in drawn} == {2}
    assert {game for pair in drawn for game in pair} == {*ALL_GAMES}
    assert drawn_games("7") == drawn_games("7")


def test_every_kind_is_injected_as_often_as_every_other(storm: Storm) -> None:
    times = 20
    faults = [each for entry in storm.schedule(times * len(storm.kinds), 6) for each in entry]
    assert {faults.count(kind) for kind in storm.kinds} == {times}


@pytest.mark.parametrize("kinds", [LONG_STANDALONE, LONG_CLUSTERED])
def test_faults_of_one_part_are_never_injected_together(
    installation: Installation, kinds: Sequence[Fault]
) -> None:
    entries = Storm(installation, kinds, "7").schedule(400, 2)
    pairs = [entry for entry in entries if len(entry) > 1]
    assert pairs
    assert all(first.part != second.part for first, second in pairs)


def test_a_kind_of_fault_without_effect_is_named(storm: Storm) -> None:
    storm.figures_by_kind["node hung"] = FaultFigures(count=2, without_effect=1)
    storm.figures_by_kind["node killed"] = FaultFigures(count=2, without_effect=2)
    assert storm.without_effect() == ["node killed: injected 2 times without affecting a player"]


def test_a_storm_without_a_leaderboard_to_audit_has_failed(installation: Installation) -> None:
    auditor = Auditor(installation, None)  # type: ignore[arg-type]
    assert too_few(auditor, 1) == ["no leaderboard was audited"]
    auditor.ranked = auditor.rows = 4
    assert too_few(auditor, 1) == []
