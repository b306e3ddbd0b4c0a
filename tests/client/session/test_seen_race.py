"""What a client sees of a running race, compared with the record."""

from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest

from kit.messages import BOARD
from kit.races import Entrant, race
from kit.sightings import sighting_of, standings_of, watcher_of
from kit.walks import banking
from saratoga_client.session.seen_race import (
    SeenEntry,
    entries_of_answer,
    entry_faults,
    entry_of_ending,
    faults_of_order,
    standing_faults,
)
from saratoga_protocol import events
from saratoga_protocol.commands import CashOut, MakeMove
from saratoga_rules.records.record import LogLine, RaceRecord, RacerLog

RECORD = race("canfield", 3, [Entrant("Anna", banking), Entrant("Bert", banking, patience=60)])
ANNA, BERT = (racer.player for racer in RECORD.racers)
SEEN = sighting_of(RECORD)


def with_log(
    player: str, change: Callable[[tuple[LogLine, ...]], tuple[LogLine, ...]]
) -> RaceRecord:
    """Return the record with another log of one racer."""

    def changed(racer: RacerLog) -> RacerLog:
        return replace(racer, log=change(racer.log)) if racer.player == player else racer

    return replace(RECORD, racers=tuple(map(changed, RECORD.racers)))


def test_an_honest_record_explains_all_that_a_racer_saw() -> None:
    assert list(entry_faults(RECORD, ANNA, SEEN.entries)) == []
    assert list(standing_faults(RECORD, SEEN.standings, SEEN.entries)) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda log: (replace(log[0], text="redeal"), *log[1:]), "entry 1 was"),
        (lambda log: (replace(log[0], at=log[0].at + 1), *log[1:]), "entry 1 was"),
        (lambda log: (replace(log[0], number=99), *log[1:]), "entry 1 was"),
        (lambda log: log[:-1], "lacks this player's entry"),
    ],
    ids=["another move", "another time", "another number", "left out"],
)
def test_a_changed_entry_of_the_player_is_a_fault(
    change: Callable[[tuple[LogLine, ...]], tuple[LogLine, ...]], fault: str
) -> None:
    (found,) = entry_faults(with_log(ANNA, change), ANNA, SEEN.entries)
    assert fault in found


def test_many_changed_entries_are_counted() -> None:
    faults = list(entry_faults(with_log(ANNA, lambda log: ()), ANNA, SEEN.entries))
    assert len(faults) == 4
    assert faults[-1] == f"and {len(SEEN.entries) - 3} more own entries differ"


def test_a_record_without_the_player_is_a_fault() -> None:
    without = replace(RECORD, racers=RECORD.racers[1:])
    (fault,) = entry_faults(without, ANNA, SEEN.entries)
    assert "does not have this player" in fault
    assert f"{ANNA} was shown" in next(standing_faults(without, SEEN.standings, ()))


def test_boards_that_were_exchanged_are_a_fault_to_a_watcher_too() -> None:
    anna, bert = RECORD.racers
    exchanged = (
        replace(anna, log=bert.log, banked=bert.banked, state=bert.state),
        replace(bert, log=anna.log, banked=anna.banked, state=anna.state),
    )
    seen = watcher_of(RECORD)
    assert list(standing_faults(replace(RECORD, racers=exchanged), seen.standings, ()))


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
    assert list(standing_faults(forged, SEEN.standings, ())) == [], "a watcher cannot know"
    fault = next(standing_faults(forged, SEEN.standings, SEEN.entries))
    assert fault.startswith(f"{BERT} was shown with {standing.banked} banked cards")


def test_standings_follow_each_other_except_after_a_reconnection() -> None:
    rises = [each for each in standings_of(RECORD) if each.player == ANNA]
    later, earlier = rises[-1], rises[0]
    (fault,) = standing_faults(RECORD, [later, earlier], ())
    assert "was not at that time" in fault
    again = msgspec.structs.replace(earlier, fresh=True)
    assert list(standing_faults(RECORD, [later, again], ())) == []


def test_money_that_the_cards_do_not_pay_is_a_fault() -> None:
    paid = msgspec.structs.replace(SEEN.standings[0], net=1000)
    (fault,) = standing_faults(RECORD, [paid], ())
    assert "1000 dollars" in fault


def row(player: str, place: int, banked: int) -> events.Standing:
    return events.Standing(player=player, place=place, banked=banked, net=0, state="racing")


def test_places_must_follow_the_counts() -> None:
    assert list(faults_of_order([row("a", 1, 7), row("b", 2, 7), row("c", 2, 7)])) == []
    assert list(faults_of_order([row("a", 1, 5), row("b", 2, 7)]))
    assert list(faults_of_order([row("a", 1, 7), row("b", 1, 5)]))


def made(count: int, state: str = "racing", repeat: bool = False) -> events.MoveMade:
    board = msgspec.structs.replace(BOARD, count=count, state=state)
    return events.MoveMade(board=board, at=70, number=9, repeat=repeat)


def test_the_entries_of_an_answer_are_those_that_the_client_sent() -> None:
    move = MakeMove(id=5, race="mint-otter-42/3", after=11, move="draw")
    entry = SeenEntry(12, 70, 9, "draw", 5)
    assert entries_of_answer(move, made(12)) == (entry,)
    assert entries_of_answer(move, made(13, "stuck")) == (entry, SeenEntry(13, 70, 10, "stuck", 5))
    # the ending may be one that the server found later
    assert entries_of_answer(move, made(13, "stuck", repeat=True)) == (entry,)
    out = CashOut(id=6, race="mint-otter-42/3")
    assert entries_of_answer(out, made(13, "cashed out")) == (SeenEntry(13, 70, 9, "cash-out", 6),)


def test_an_ending_by_the_server_is_an_entry() -> None:
    board = msgspec.structs.replace(BOARD, count=13, state="out of time")
    ended = events.BoardEnded(board=board, at=600_000, number=40)
    assert entry_of_ending(ended) == SeenEntry(13, 600_000, 40, "out-of-time")
    unknown = msgspec.structs.replace(ended, board=msgspec.structs.replace(board, state="won"))
    assert entry_of_ending(unknown) is None
