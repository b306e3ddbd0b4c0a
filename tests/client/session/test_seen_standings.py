"""The standings of a running race, compared with the record."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import msgspec

from kit.races import Entrant, race
from kit.sightings import sighting_of, standings_of
from kit.walks import banking
from saratoga_client.session.seen_board import SeenEntry
from saratoga_client.session.seen_standings import (
    SeenStanding,
    compare_standings,
    faults_of_order,
)
from saratoga_protocol import events
from saratoga_rules.records.record import LogLine, RaceRecord, RacerLog

RECORD = race("canfield", 3, [Entrant("Anna", banking), Entrant("Bert", banking, patience=60)])
ANNA, BERT = (racer.player for racer in RECORD.racers)
SEEN = sighting_of(RECORD)


def faults(
    record: RaceRecord, seen: Sequence[SeenStanding], own: Sequence[SeenEntry]
) -> tuple[str, ...]:
    return compare_standings(record, seen, own).faults


def with_log(
    player: str, change: Callable[[tuple[LogLine, ...]], tuple[LogLine, ...]]
) -> RaceRecord:
    """Return the record with another log of one racer."""

    def changed(racer: RacerLog) -> RacerLog:
        return replace(racer, log=change(racer.log)) if racer.player == player else racer

    return replace(RECORD, racers=tuple(map(changed, RECORD.racers)))


def test_a_rise_that_was_moved_behind_a_later_move_of_the_player_is_a_fault() -> None:
    standing = next(
        each for each in SEEN.standings if each.player == BERT and each.banked > RECORD.deal.banked
    )
    number = standing.before - 1
    later = next(entry for entry in SEEN.entries if entry.number > number)

    def moved(log: tuple[LogLine, ...]) -> tuple[LogLine, ...]:
        shifted = (replace(line, number=later.number + line.number) for line in log)
        return tuple(
            new if old.number >= number else old for old, new in zip(log, shifted, strict=True)
        )

    forged = with_log(BERT, moved)
    assert faults(forged, SEEN.standings, ()) == (), "a watcher cannot know"
    fault, *_ = faults(forged, SEEN.standings, SEEN.entries)
    assert fault.startswith(f"{BERT} was shown with {standing.banked} banked cards")


def test_standings_follow_each_other_except_after_a_reconnection() -> None:
    rises = [each for each in standings_of(RECORD) if each.player == ANNA]
    later, earlier = rises[-1], rises[0]
    (fault,) = faults(RECORD, [later, earlier], ())
    assert "was not at that time" in fault
    again = msgspec.structs.replace(earlier, fresh=True)
    assert faults(RECORD, [later, again], ()) == ()


def shown(banked: int, *, fresh: bool = False, state: str = "racing") -> SeenStanding:
    """Return a standing of Anna."""
    seen = SEEN.standings[0]
    dollars = 5 * banked - 50
    return msgspec.structs.replace(
        seen, player=ANNA, banked=banked, net=dollars, before=0, fresh=fresh, state=state
    )


def test_a_standing_that_was_taken_back_is_lost_only_if_the_server_may_lose_moves() -> None:
    last = next(each for each in reversed(SEEN.standings) if each.player == ANNA)
    above, back = shown(last.banked + 1), shown(RECORD.deal.banked)
    end = msgspec.structs.replace(last, before=0)
    opened_again = [shown(RECORD.deal.banked, state="left"), back, end]
    for seen in ([above, back, end], opened_again):
        assert len(faults(RECORD, seen, ())) == 1
        said = compare_standings(RECORD, seen, (), may_lose=True)
        assert said == ((), 1)
    kept = [back, above]
    assert compare_standings(RECORD, kept, (), may_lose=True).faults, "nothing took it back"


def test_a_standing_behind_one_that_was_lost_is_compared_from_where_it_was() -> None:
    deal = RECORD.deal.banked
    seen = [shown(deal + 1), shown(deal), shown(deal + 1)]
    assert faults(RECORD, seen, ())
    assert compare_standings(RECORD, seen, (), may_lose=True) == ((), 0)


def test_money_that_the_cards_do_not_pay_is_a_fault() -> None:
    paid = msgspec.structs.replace(SEEN.standings[0], net=1000)
    (fault,) = faults(RECORD, [paid], ())
    assert "1000 dollars" in fault


def row(player: str, place: int, banked: int) -> events.Standing:
    return events.Standing(player=player, place=place, banked=banked, net=0, state="racing")


def test_places_must_follow_the_counts() -> None:
    assert list(faults_of_order([row("a", 1, 7), row("b", 2, 7), row("c", 2, 7)])) == []
    assert list(faults_of_order([row("a", 1, 5), row("b", 2, 7)]))
    assert list(faults_of_order([row("a", 1, 7), row("b", 1, 5)]))
