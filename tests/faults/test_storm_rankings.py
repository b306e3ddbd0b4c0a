"""Which results leaderboards take, as an audit has it: one case for every way in which they may not."""

import dataclasses

import pytest

from kit.finished import finished_race
from kit.rankings import counted
from saratoga_rules.records.record import LogLine, RaceRecord, RacerLog

MOVES = "moves"
NO_MOVE = "makes no move"


def raced(*racers: tuple[str, str], chosen_seed: bool = False) -> RaceRecord:
    """A race of three, each a person or a bot, who made moves or none."""
    record = finished_race(seed=1)
    logs = tuple(
        _as(racer, kind, did) for racer, (kind, did) in zip(record.racers, racers, strict=True)
    )
    # what the house says of it is not asked: it says the wrong thing
    says = not (sum(racer == ("person", MOVES) for racer in racers) >= 2 and not chosen_seed)
    return dataclasses.replace(record, racers=logs, chosen_seed=chosen_seed, ranked=says)


def _as(racer: RacerLog, kind: str, did: str) -> RacerLog:
    log = racer.log if did == MOVES else (LogLine(1000, 1, "cash-out"),)
    return dataclasses.replace(racer, bot=kind == "bot", log=log)


def takes(record: RaceRecord) -> list[str]:
    """Who of the three is taken, by place among the racers."""
    taken = {row.player for row in counted(record)}
    return ["yes" if racer.player in taken else "no" for racer in record.racers]


@pytest.mark.parametrize(
    ("racers", "taken"),
    [
        # two people who played: everybody, whoever else was there and whatever they did
        ([("person", MOVES), ("person", MOVES), ("bot", MOVES)], ["yes", "yes", "yes"]),
        ([("person", MOVES), ("person", MOVES), ("bot", NO_MOVE)], ["yes", "yes", "yes"]),
        ([("person", MOVES), ("person", MOVES), ("person", NO_MOVE)], ["yes", "yes", "yes"]),
        # one person and a bot who played: the bots
        ([("person", MOVES), ("person", NO_MOVE), ("bot", MOVES)], ["no", "no", "yes"]),
        ([("person", MOVES), ("bot", NO_MOVE), ("bot", MOVES)], ["no", "yes", "yes"]),
        # bots who played: the bots
        ([("person", NO_MOVE), ("bot", MOVES), ("bot", MOVES)], ["no", "yes", "yes"]),
        ([("bot", MOVES), ("bot", MOVES), ("bot", NO_MOVE)], ["yes", "yes", "yes"]),
        # one who played, person or bot: nobody
        ([("person", MOVES), ("person", NO_MOVE), ("bot", NO_MOVE)], ["no", "no", "no"]),
        ([("person", NO_MOVE), ("bot", NO_MOVE), ("bot", MOVES)], ["no", "no", "no"]),
        # who only ended the board has made no move
        ([("bot", NO_MOVE), ("bot", NO_MOVE), ("bot", NO_MOVE)], ["no", "no", "no"]),
    ],
)
def test_people_count_where_two_people_played_and_bots_where_any_two_did(
    racers: list[tuple[str, str]], taken: list[str]
) -> None:
    assert takes(raced(*racers)) == taken


def test_nobody_counts_where_the_seed_was_chosen() -> None:
    everybody = [("person", MOVES), ("person", MOVES), ("bot", MOVES)]
    assert takes(raced(*everybody)) == ["yes", "yes", "yes"]
    assert takes(raced(*everybody, chosen_seed=True)) == ["no", "no", "no"]
