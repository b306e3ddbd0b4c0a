"""Boards are computed from their logs, and the results of a race from its boards."""

import json
from contextlib import suppress

import pytest
from msgspec.structs import replace

from kit.positions import banking, walk
from kit.races import countdown_voided, replay
from kit.session_states import finished_race
from kit.tables import ANN, BEN, CLEO, CODE, NAMES, NOON, running
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.moves import parse_move
from saratoga_rules.play import IllegalMove, is_won, play
from saratoga_rules.position import Position, format_position, parse_position
from saratoga_rules.records.record import format_record, parse_record
from saratoga_rules.records.standing import LOG_ENDINGS, State
from saratoga_server.domain.board import (
    FOLD_STEP,
    Board,
    continued,
    ended,
    enter,
    fold,
    open_board,
)
from saratoga_server.domain.replays import CannotReplay, replay_json
from saratoga_server.domain.results import count_up, recorded_outcome
from saratoga_server.ports import Damage, LogEntry, Millis, StoredBoard

# Boards are computed from their logs, on any node and in any number of steps


CANFIELD = GAMES["canfield"]
START = NOON
OPENING = parse_position(
    "stock=2C3C4C waste=- reserve=- up=1,1,1,1 down=- columns=2D/2H/3S/3D base=1 passes=1"
)


KEY = bytes(range(32))


def new_board(opening: Position = OPENING) -> Board:
    return open_board(opening, START, KEY, f"{CODE}/1", ANN)


def at(millis: int) -> Millis:
    return Millis(START + millis)


def entry(text: str, millis: int, number: int) -> LogEntry:
    return LogEntry(text, at(millis), number)


def stored(*entries: LogEntry, game: Game = CANFIELD, opening: Position = OPENING) -> StoredBoard:
    """Return a board with this log, and the count and the state to which it leads."""
    position, state = opening, State.RACING
    for each in entries:
        if each.text in LOG_ENDINGS:
            state = State(each.text)
        else:
            with suppress(IllegalMove):  # a log that is only compared
                position = play(game, position, parse_move(each.text))
            state = State.WON if is_won(game, position) else State.RACING
    return StoredBoard(epoch=1, banked=position.banked, state=state, entries=entries)


def folded(*entries: LogEntry, game: Game = CANFIELD) -> Board:
    board = new_board()
    for _ in fold(game, board, stored(*entries, game=game)):
        pass
    return board


# The written entries


@pytest.mark.parametrize("game", GAMES)
def test_a_whole_game_folded_is_the_game_played(game: str) -> None:
    steps = walk(game, 3, banking)
    log = tuple(
        LogEntry(str(step.move), at(number), number) for number, step in enumerate(steps[:-1], 1)
    )
    board = new_board(steps[0].position)
    board_in_store = stored(*log, game=GAMES[game], opening=steps[0].position)
    pauses = list(fold(GAMES[game], board, board_in_store))
    assert (board.position, board.length) == (steps[-1].position, len(log))
    assert board.banked == steps[-1].position.banked
    assert pauses == list(range(FOLD_STEP, len(log) + 1, FOLD_STEP))


# Boards read again


def test_a_continued_board_equals_one_folded_from_the_beginning() -> None:
    log = [
        entry(text, number * 10, number * 3)
        for number, text in enumerate(["t1>up", "t2>up", "draw", "left"], start=1)
    ]
    whole = new_board()
    for _ in fold(CANFIELD, whole, stored(*log)):
        pass
    for length in range(len(log) + 1):
        known = new_board()
        for _ in fold(CANFIELD, known, stored(*log[:length])):
            pass
        before = replace(known, log=known.log.copy(), rises=dict(known.rises))
        board = continued(known, stored(*log))
        assert board is not None
        for _ in fold(CANFIELD, board, stored(*log)):
            pass
        assert replace(board, analysis=None) == replace(whole, analysis=None)
        assert known == before, "the board that was continued is unchanged"


def test_a_board_that_differs_from_the_stored_log_is_not_continued() -> None:
    one, two, other = entry("t1>up", 10, 1), entry("t2>up", 20, 2), entry("t3>up", 20, 4)
    known = folded(one, two)
    assert continued(known, stored(one, two)) is not None
    assert continued(known, stored(one)) is None
    assert continued(known, stored()) is None
    assert continued(known, stored(one, other)) is None
    assert continued(known, stored(one, other, two)) is None


# Damaged boards

WHOLE = [entry("t1>up", 10, 1), entry("t2>up", 20, 2), entry("cash-out", 30, 3)]


@pytest.mark.parametrize(
    "log",
    [
        [WHOLE[0], entry("t9>up", 20, 2)],
        [WHOLE[0], entry("d\x92aw", 20, 2)],
        [WHOLE[0], entry("t3>up", 20, 2)],
        [*WHOLE, entry("draw", 40, 4)],
    ],
    ids=["no such column", "no move", "illegal", "behind the end"],
)
def test_a_log_that_cannot_be_replayed_is_damaged(log: list[LogEntry]) -> None:
    board = new_board()
    with pytest.raises(Damage):
        list(fold(CANFIELD, board, replace(stored(*WHOLE), entries=tuple(log))))


@pytest.mark.parametrize(("banked", "state"), [(7, "cash-out"), (6, "racing")])
def test_a_log_that_leads_elsewhere_than_stored_is_damaged(banked: int, state: str) -> None:
    board = replace(stored(*WHOLE), banked=banked, state=state)
    with pytest.raises(Damage, match="ends cash-out with 6 banked"):
        list(fold(CANFIELD, new_board(), board))


# The boards of a finished race, replayed from its record


@pytest.mark.parametrize("game", GAMES)
def test_every_board_is_shown_after_every_entry(game: str) -> None:
    record = finished_race(game)
    told = json.loads(replay_json(format_record(record)))
    assert (told["race"], told["game"]) == (record.race_id, game)
    assert told["deal"] == format_position(record.opening)
    assert told["banked"] == record.opening.banked
    assert [board["player"] for board in told["boards"]] == [line.player for line in record.results]
    for board, line in zip(told["boards"], record.results, strict=True):
        log, positions = record.racer(line.player).log, replay(record, line.player)[1:]
        assert board["entries"] == [
            {
                "at": each.at,
                "number": each.number,
                "entry": each.text,
                "position": format_position(position),
                "banked": position.banked,
            }
            for each, position in zip(log, positions, strict=True)
        ]
        assert (board["place"], board["net"], board["state"]) == (line.place, line.net, line.state)
        assert (board["reached"], board["left_out"]) == (line.reached, 0)


def test_a_voided_race_has_no_boards() -> None:
    with pytest.raises(CannotReplay, match="voided"):
        replay_json(format_record(countdown_voided(finished_race("canfield"))))


def test_a_damaged_record_has_no_boards() -> None:
    text = format_record(finished_race())
    with pytest.raises(CannotReplay, match="cannot be replayed"):
        replay_json(text.replace("game canfield", "game lafayette"))


# Results of a race: the record, the outcome, and the results that leaderboards count


def test_people_and_bots_of_a_ranked_race_enter_each_their_own_with_the_names_of_its_start() -> (
    None
):
    state = running(ANN, BEN, CLEO, bots=(CLEO,))
    key = bytes.fromhex(state.deal_key)
    opening = deal_for_key(CANFIELD, key)
    boards = {
        each: open_board(opening, state.start_at, key, state.race_id, each) for each in state.racers
    }
    for number, board in enumerate(boards.values(), 1):
        enter(board, ended(board, State.CASH_OUT), Millis(state.start_at + number), number)
    counted = count_up(replace(state, seats=state.seats[:1]), opening, boards)
    assert counted.settlement is not None
    assert {result.player for result in counted.settlement.results} == {ANN, BEN, CLEO}
    assert counted.settlement.people == (ANN, BEN)
    assert recorded_outcome(counted.record) == counted.outcome
    record = parse_record(counted.record)
    assert {racer.name for racer in record.racers} == {NAMES[each] for each in boards}
