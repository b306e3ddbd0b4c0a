"""What a player saw of boards and standings, compared with a record."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import msgspec
import pytest

from kit.messages import BOARD
from kit.races import Entrant, race
from kit.sightings import board_after, sighting_of
from kit.walks import banking, wandering
from saratoga_client.session.seen_board import (
    SeenBoard,
    SeenEntry,
    SeenLoss,
    SeenOfBoard,
    compare_board,
    seen_after_reconnection,
    seen_at_end,
    seen_board,
    seen_in_answer,
)
from saratoga_client.session.seen_standings import SeenStanding, compare_standings, faults_of_order
from saratoga_protocol import events
from saratoga_protocol.commands import CashOut, MakeMove
from saratoga_rules.games import GAMES
from saratoga_rules.records.record import LogLine, RaceRecord, RacerLog

RECORD = race("canfield", 3, [Entrant("Anna", banking), Entrant("Bert", banking, patience=60)])
ANNA = RECORD.racers[0].player
SEEN = sighting_of(RECORD)


def with_log(
    player: str, change: Callable[[tuple[LogLine, ...]], tuple[LogLine, ...]]
) -> RaceRecord:
    """Return the record with another log of one racer."""

    def changed(racer: RacerLog) -> RacerLog:
        return replace(racer, log=change(racer.log)) if racer.player == player else racer

    return replace(RECORD, racers=tuple(map(changed, RECORD.racers)))


@pytest.mark.parametrize("game", GAMES)
def test_an_honest_record_explains_all_boards_that_a_racer_saw(game: str) -> None:
    record = race(game, 2, [Entrant("Anna", banking), Entrant("Bert", wandering, patience=60)])
    for racer in (0, 1):
        seen = sighting_of(record, racer)
        assert compare_board(record, seen.player, seen.own) == ((), 0)


def test_many_changed_entries_are_counted() -> None:
    faults = compare_board(with_log(ANNA, lambda log: ()), ANNA, SEEN.entries).faults
    assert len(faults) == 4
    assert faults[-1] == f"and {len(SEEN.entries) - 3} more own entries differ"


def test_a_board_after_more_entries_than_the_record_has_is_a_fault() -> None:
    beyond = SeenBoard(len(RECORD.racers[0].log) + 1, "")
    (fault,) = compare_board(RECORD, ANNA, [beyond]).faults
    assert fault.startswith(f"this player was shown a board after {beyond.place} entries")


# Losses


def lost_and_made_again() -> list[SeenOfBoard]:
    """Return what was seen of a board whose entries 4 and 5 were lost and made again, otherwise."""
    lost: list[SeenOfBoard] = [
        SeenEntry(4, 1, 90, "redeal", 80),
        SeenBoard(4, "a"),
        SeenEntry(5, 2, 91, "draw", 81),
    ]
    before, after = SEEN.own[:7], SEEN.own[7:]
    return [*before, *lost, SeenLoss(3), *after]


def test_a_loss_that_the_server_announced_is_counted_if_it_may_lose_moves() -> None:
    assert compare_board(RECORD, ANNA, lost_and_made_again(), may_lose=True) == ((), 2)
    faults = compare_board(RECORD, ANNA, lost_and_made_again()).faults
    assert [fault.partition(" was ")[0] for fault in faults] == [
        "this player's entry 4",
        "this player's entry 5",
        "the board that this player",
    ]


@pytest.mark.parametrize("place", [0, -1], ids=["before", "after"])
def test_a_loss_excuses_only_what_was_seen_before_it_and_beyond_it(place: int) -> None:
    other = SeenEntry(3, 7, 7, "redeal", 70)
    seen = lost_and_made_again()
    seen.insert(place if place == 0 else len(seen), other)
    (fault,) = compare_board(RECORD, ANNA, seen, may_lose=True).faults
    assert fault.startswith("this player's entry 3 was redeal")
    later = SeenEntry(5, 7, 7, "redeal", 70)
    assert compare_board(RECORD, ANNA, [*seen, later], may_lose=True).faults


def test_a_board_with_fewer_entries_after_a_reconnection_is_a_loss() -> None:
    board = board_after(RECORD, RECORD.racers[0], 2)
    shown = seen_board(board)
    assert seen_after_reconnection(SEEN.own[:5], board) == (shown,)
    assert seen_after_reconnection(SEEN.own[:7], board) == (SeenLoss(2), shown)
    assert seen_after_reconnection([*SEEN.own[:7], SeenLoss(2)], board) == (shown,)
    assert seen_after_reconnection((), board) == (shown,)


# What is seen when


def made(count: int, state: str, *entries: str) -> events.BoardChanged:
    board = msgspec.structs.replace(BOARD, count=count, state=state)
    return events.BoardChanged(board=board, place=12, entries=list(entries))


def test_the_entries_of_an_answer_are_those_that_it_names() -> None:
    move = MakeMove(id=5, race="mint-otter-42/3", after=11, move="draw")
    entry, answer = SeenEntry(12, 70, 9, "draw", 5), made(12, "racing", "70 9 draw")
    assert seen_in_answer(move, answer) == (entry, seen_board(answer.board))
    answer = made(13, "stuck", "70 9 draw", "70 10 stuck")
    stuck = SeenEntry(13, 70, 10, "stuck", 5)
    assert seen_in_answer(move, answer) == (entry, stuck, seen_board(answer.board))
    out = CashOut(id=6, race="mint-otter-42/3")
    answer = made(12, "cash-out", "70 9 cash-out")
    ending = SeenEntry(12, 70, 9, "cash-out", 6)
    assert seen_in_answer(out, answer) == (ending, seen_board(answer.board))


@pytest.mark.parametrize("entries", [(), ("",), ("70 9",), ("x y draw",), ("70 ² draw",)])
def test_an_answer_without_the_clients_entry_is_one_that_no_record_has(entries: tuple[str]) -> None:
    move = MakeMove(id=5, race="mint-otter-42/3", after=11, move="draw")
    entry, *_ = seen_in_answer(move, made(12, "racing", *entries))
    assert isinstance(entry, SeenEntry)
    assert entry.text == "draw"
    assert (entry.number == -1) == (entries != ("70 9",))


def test_an_ending_by_the_server_is_an_entry() -> None:
    board = msgspec.structs.replace(BOARD, count=13, state="out-of-time")
    ended = events.BoardChanged(board=board, place=13, entries=["600000 40 out-of-time"])
    assert seen_at_end(ended) == (SeenEntry(13, 600_000, 40, "out-of-time"), seen_board(board))


ANNA_OF_SEEN_STANDINGS, BERT = (racer.player for racer in RECORD.racers)


def faults(
    record: RaceRecord, seen: Sequence[SeenStanding], own: Sequence[SeenEntry]
) -> tuple[str, ...]:
    return compare_standings(record, seen, own).faults


def test_a_rise_that_was_moved_behind_a_later_move_of_the_player_is_a_fault() -> None:
    standing = next(
        each
        for each in SEEN.standings
        if each.player == BERT and each.banked > RECORD.opening.banked
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


def shown(banked: int, *, fresh: bool = False, state: str = "racing") -> SeenStanding:
    """Return a standing of Anna."""
    seen = SEEN.standings[0]
    dollars = 5 * banked - 50
    return msgspec.structs.replace(
        seen,
        player=ANNA_OF_SEEN_STANDINGS,
        banked=banked,
        net=dollars,
        before=0,
        fresh=fresh,
        state=state,
    )


def test_a_standing_that_was_taken_back_is_lost_only_if_the_server_may_lose_moves() -> None:
    last = next(each for each in reversed(SEEN.standings) if each.player == ANNA_OF_SEEN_STANDINGS)
    above, back = shown(last.banked + 1), shown(RECORD.opening.banked)
    end = msgspec.structs.replace(last, before=0)
    opened_again = [shown(RECORD.opening.banked, state="left"), back, end]
    for seen in ([above, back, end], opened_again):
        assert len(faults(RECORD, seen, ())) == 1
        said = compare_standings(RECORD, seen, (), may_lose=True)
        assert said == ((), 1)
    kept = [back, above]
    assert compare_standings(RECORD, kept, (), may_lose=True).faults, "nothing took it back"


def row(player: str, place: int, banked: int) -> events.Standing:
    return events.Standing(
        player=player, place=place, banked=banked, net=0, state="racing", head="0" * 16
    )


def test_places_must_follow_the_counts() -> None:
    assert list(faults_of_order([row("a", 1, 7), row("b", 2, 7), row("c", 2, 7)])) == []
    assert list(faults_of_order([row("a", 1, 5), row("b", 2, 7)]))
    assert list(faults_of_order([row("a", 1, 7), row("b", 1, 5)]))
