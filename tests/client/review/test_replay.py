import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.races import Entrant, race
from kit.walks import banking, wandering
from saratoga_client.review.replay import Replay, replay_of
from saratoga_rules.games import GAMES
from saratoga_rules.records.record import RaceRecord

every_game = pytest.mark.parametrize("name", GAMES)
ENTRANTS = [
    Entrant("Anna", banking, patience=60),
    Entrant("Otto", wandering, patience=30),
    Entrant("Zoë", banking, bot=True, patience=45),
]


def finished(name: str = "lafayette", seed: int = 1) -> RaceRecord:
    return race(name, seed, ENTRANTS)


@every_game
@given(moments=st.lists(st.integers(-5, 200_000), min_size=1, max_size=4))
def test_every_board_is_shown_as_it_was_at_the_moment(name: str, moments: list[int]) -> None:
    shown = replay_of(finished(name))
    for moment in moments:
        shown = shown.at(moment).other()
        board = shown.board
        made = [line for line in board.entries if line.at <= shown.moment and shown.moment]
        assert shown.step == len(made)
        assert shown.position == board.positions[len(made)]


@given(steps=st.lists(st.integers(-40, 40), max_size=8))
def test_stepping_never_leaves_the_board(steps: list[int]) -> None:
    shown = replay_of(finished())
    for by in steps:
        before = shown
        shown = shown.stepped(by)
        assert 0 <= shown.step <= len(shown.board.entries)
        assert shown.moment == (shown.entry.at if shown.entry else 0)
        if 0 <= before.step + by <= len(shown.board.entries):
            assert shown.step == before.step + by


def test_the_given_players_board_is_shown_first_else_the_winners() -> None:
    record = finished()
    last = record.results[-1].player
    assert replay_of(record, last).board.player == last
    assert replay_of(record).board.place == 1
    assert replay_of(record, "nobody-of-them").board.place == 1


def test_home_and_end() -> None:
    shown = replay_of(finished()).at(30_000)
    assert shown.at_home().position == shown.board.positions[0]
    end = shown.at_end()
    assert end.position == shown.board.positions[-1]
    assert end.entry == shown.board.entries[-1]
    assert end.stepped(1) is end
    everything: Replay = end.at(end.end)
    assert everything.is_over
    assert not end.at_home().is_over


def test_a_replay_has_the_known_levels_of_bots() -> None:
    record = finished()
    bot = next(racer.player for racer in record.racers if racer.bot)
    shown = replay_of(record, bot, {bot: "weak"})
    assert shown.board.level == "weak"
