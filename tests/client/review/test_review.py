"""Reviews of finished races: boards, climbs, charts, differences, pauses and texts."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.positions import banking, wandering
from kit.races import Entrant, race, replay
from kit.session_states import finished
from saratoga_client.review.boards import (
    Climb,
    OpenBoard,
    Replay,
    first_difference,
    longest_pauses,
    open_boards,
    replay_of,
)
from saratoga_client.review.share_text import race_text
from saratoga_rules.cards import PACK
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.games import GAMES
from saratoga_rules.moves import parse_move
from saratoga_rules.play import play
from saratoga_rules.records.record import LogLine, RaceRecord
from saratoga_rules.records.standing import State

every_game = pytest.mark.parametrize("name", GAMES)


def replayed(record: RaceRecord, player: str = "") -> Replay:
    return replay_of(record.race_id, open_boards(record), player)


@every_game
def test_boards_are_open_from_the_deal_to_the_end_in_order_of_place(name: str) -> None:
    record = finished(name)
    boards = open_boards(record)
    assert [board.player for board in boards] == [row.player for row in record.results]
    for board, row in zip(boards, record.results, strict=True):
        assert list(board.positions) == replay(record, board.player)
        assert board.climb.final == row.banked == board.banked
        assert board.end == record.racer(board.player).log[-1].at


@every_game
@given(moments=st.lists(st.integers(-5, 200_000), min_size=1, max_size=4))
def test_every_board_is_shown_as_it_was_at_the_moment(name: str, moments: list[int]) -> None:
    shown = replayed(finished(name))
    for moment in moments:
        shown = shown.at(moment).of((shown.shown + 1) % 3)
        board = shown.board
        made = [line for line in board.entries if line.at <= shown.moment and shown.moment]
        assert shown.step == len(made)
        assert shown.banked(shown.shown) == board.positions[len(made)].banked


@given(steps=st.lists(st.integers(-40, 40), max_size=8))
def test_stepping_never_leaves_the_board(steps: list[int]) -> None:
    shown = replayed(finished())
    for by in steps:
        before = shown
        shown = shown.stepped(by)
        assert 0 <= shown.step <= len(shown.board.entries)
        assert shown.moment == (shown.board.entries[shown.step - 1].at if shown.step else 0)
        if 0 <= before.step + by <= len(shown.board.entries):
            assert shown.step == before.step + by


def test_the_given_players_board_is_shown_first_else_the_winners() -> None:
    record = finished()
    last = record.results[-1].player
    assert replayed(record, last).board.player == last
    assert replayed(record).board.place == 1
    assert replayed(record, "nobody-of-them").board.place == 1


CLIMB = Climb(1, ((1000, 1), (2000, 2), (5000, 4)), 9000)


def test_the_count_at_a_moment_is_the_last_one_before_it() -> None:
    moments = [0, 1999, 2000, 4999, 5000, 10**9]
    assert [CLIMB.banked_at(at) for at in moments] == [1, 1, 2, 2, 4, 4]
    assert CLIMB.final == 4


LADY_PALK = GAMES["lady-palk"]
DEAL = deal_for_key(LADY_PALK, practice_key("demo"))


def board(name: str, *moves: str, pace: int = 1000) -> OpenBoard:
    """Return a board on which these moves were made, so many milliseconds apart."""
    positions = [DEAL]
    for move in moves:
        last = positions[-1]
        positions.append(last if move == "cash-out" else play(LADY_PALK, last, parse_move(move)))
    return OpenBoard(
        game=LADY_PALK,
        player=name.lower(),
        name=name,
        bot=False,
        place=1,
        banked=positions[-1].banked,
        net=0,
        state=State.CASH_OUT,
        reached=None,
        entries=tuple(LogLine(n * pace, n, move) for n, move in enumerate(moves, 1)),
        positions=tuple(positions),
    )


def test_the_first_difference_has_the_entries_of_both_boards() -> None:
    own = board("Anna", "t3>up", "draw", "cash-out")
    other = board("Otto", "t3>up", "t8>up", "draw", pace=700)
    assert first_difference(own, other) == 1
    assert own.entry_words(1) == "1 card from the stock to the waste"
    assert (other.entry_words(1), other.time_of(1)) == ("2♣ from column 8 banked", 1400)
    assert (own.entry_words(2), own.time_of(2)) == ("cashed out", 3000)


def test_a_board_that_ended_earlier_differs_at_its_end_and_equal_boards_do_not() -> None:
    own, longer = board("Anna", "t3>up"), board("Otto", "t3>up", "draw")
    assert first_difference(own, longer) == first_difference(longer, own) == 1
    assert (own.entry_words(1), own.time_of(1)) == ("", 1000)
    assert first_difference(own, replace(own, name="Otto")) is None


def test_the_longest_pauses_come_first() -> None:
    (board,) = open_boards(race("canfield", 4, [Entrant("Anna", banking, patience=50)]))
    pauses = longest_pauses(board)
    assert len(pauses) == 3
    assert pauses[0].lasted >= pauses[1].lasted >= pauses[2].lasted
    times = [0, *(entry.at for entry in board.entries)]
    for pause in pauses:
        assert times[pause.step] == pause.since
        assert times[pause.step + 1] - times[pause.step] == pause.lasted
    assert pauses[0].lasted == max(b - a for a, b in pairwise(times))


@every_game
def test_the_text_names_no_card(name: str) -> None:
    for seed in range(5):
        record = finished(name, seed)
        for row in record.results:
            text = race_text(record, open_boards(record), row.player).replace("Zoë", "Zoe")
            words = set(re.findall(r"[^\s,.:]+", text))
            assert not words & {card.lower() for card in PACK} | words & set(PACK)


def test_the_text_has_the_winner_bars_and_the_place_where_the_race_can_be_seen() -> None:
    record = finished()
    boards = open_boards(record)
    assert race_text(record, boards, boards[1].player, "wss://cards.example.org/") == (
        "Lafayette, mint-otter-42/2: Anna won by 4 cards\n"
        "Anna 11 ▇▇▇▇▇▇▇  Zoë (bot) 7 ▇▇▇▇▇  Otto 3 ▇▇\n"
        "See it: https://cards.example.org/races/mint-otter-42/2"
    )
    alone = race_text(record, boards[:1], boards[0].player)
    assert "Anna banked 11 cards\n" in alone
    assert alone.endswith("See it: saratoga replay mint-otter-42/2")


def test_only_a_few_of_many_racers_are_named_and_the_player_among_them() -> None:
    names = ["Anna", "Otto", "Zoe", "Mia", "Ben", "Eva"]
    record = race("canfield", 1, [Entrant(name, wandering, patience=9) for name in names])
    boards = open_boards(record)
    for own in ("nobody", *(board.player for board in boards)):
        _, bars, _ = race_text(record, boards, own).splitlines()
        assert bars.endswith("and 2 more")
        assert sum(name in bars for name in names) == 4
        assert all(board.name in bars for board in boards if board.player == own)


def test_players_who_share_a_place_are_told_so() -> None:
    record = race(
        "canfield", 1, [Entrant(name, wandering, patience=0) for name in ("Anna", "Bert")]
    )
    boards = open_boards(record)
    assert [board.place for board in boards] == [1, 1]
    text = race_text(record, boards, boards[0].player)
    assert f"{boards[0].name} and {boards[1].name} share first place" in text


def test_a_name_cannot_command_the_terminal() -> None:
    record = race("canfield", 1, [Entrant("A\x1b[2J", wandering, patience=3)])
    text = race_text(record, open_boards(record), record.results[0].player)
    assert "\x1b" not in text
