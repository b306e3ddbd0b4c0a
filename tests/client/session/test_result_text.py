"""Sentences on the distance to the rivals, the personal best and the result."""

from dataclasses import replace

import pytest
from msgspec import structs

from kit.session_states import (
    START,
    YOU,
    board,
    outcome,
    player,
    seat,
    snapshot,
    standings,
    state_after,
    table,
)
from saratoga_client.session.personal_best import PersonalBest
from saratoga_client.session.result_text import (
    against_best,
    gap,
    last_board,
    own_result,
    totals,
    why_unranked,
)
from saratoga_client.session.state import SessionState
from saratoga_protocol import events

BEST = PersonalBest(
    game="canfield",
    race="mint-otter-42/1",
    start_at=START,
    banked=10,
    net=0,
    reached=60_000,
    counts=((0, 1), (20_000, 7), (60_000, 10)),
)


def at(shorthand: str) -> SessionState:
    return state_after(standings(shorthand))


@pytest.mark.parametrize(
    ("shorthand", "sentence"),
    [
        ("a9 y3 r1", "6 cards behind ana"),
        ("a9 r8 y7", "2 cards behind ana"),
        ("y9 a8 r1", "1 card ahead of ana"),
        ("y9 =a9 r1", "level with ana; first to bank more leads"),
        ("y9 a9 r1", "level with ana; you were first to 9"),
        ("a9 y9 r1", "level with ana, who was first to 9"),
        ("y9:stuck =a9 r1", "level with ana"),
        ("r20 a9 y9", "level with ana, who was first to 9"),
        ("o9 y3 r1", "6 cards behind Otto [bot]"),
        ("y3", "alone in this race"),
        ("a9 r3", ""),
        ("", ""),
    ],
)
def test_the_gap_is_a_sentence(shorthand: str, sentence: str) -> None:
    first = snapshot("y1 =a1 =o1 =r1", board(), table("yaor"))
    assert gap(state_after(standings(shorthand), first=first)) == sentence


@pytest.mark.parametrize(
    ("shorthand", "sentence"),
    [
        ("y20:won a9 r3", "You finished 1st of 3: 20 cards, +$50."),
        ("a20 y9:stuck r3", "You finished 2nd of 3: 9 cards, -$5, $55 behind the first."),
        ("a1 =y1 =r1", "You share 1st place with ana and raj: 1 card, -$45."),
        ("y12:cashed_out", "You cashed out with 12, +$10."),
        ("y9:stuck", "You are stuck at 9, -$5."),
        ("y9:left", "You left at 9, -$5."),
        ("a9 r3", ""),
    ],
)
def test_the_result_is_a_sentence(shorthand: str, sentence: str) -> None:
    state = state_after(events.RaceOver(outcome=outcome(shorthand)))
    assert own_result(state) == sentence
    assert own_result(at("a9 y3 r1")) == ""


@pytest.mark.parametrize(
    ("host", "last", "millis", "sentence"),
    [
        ("y", "r", -60_200, "Only raj is still racing; you can end the race in 60 s."),
        ("a", "r", -1, "Only raj is still racing; ana can end the race in 1 s."),
        ("a", "y", 0, "Only you are still racing; ana can end the race now."),
        ("o", "y", 9, "Only you are still racing; Otto [bot] can end the race now."),
        ("y", "y", 0, "Only you are still racing."),
        ("a", "a", 125_000, "ana is still racing, 7:55 left."),
        ("a", "", 0, ""),
    ],
)
def test_the_sentence_on_the_last_racer_says_when_the_host_may_end_the_race(
    host: str, last: str, millis: int, sentence: str
) -> None:
    shown = structs.replace(
        table("yaro", host=host), last_racer=player(last) if last else "", end_from=START
    )
    state = state_after(first=snapshot("a9 y3 r1", shown=shown))
    assert last_board(state, START + millis) == sentence


@pytest.mark.parametrize(
    ("letters", "cap", "public", "reason"),
    [
        ("y", 10, True, "at least 2 people race"),
        ("ya", 0, False, "without a time limit"),
        ("ya", 10, False, "only races at public tables"),
    ],
)
def test_an_unranked_race_names_the_reason(
    letters: str, cap: int, public: bool, reason: str
) -> None:
    settings = events.TableSettings(game="canfield", cap=cap, seats=16, public=public)
    shown = structs.replace(table(letters), settings=settings)
    state = state_after(first=snapshot(shown=shown))
    over = outcome(" ".join(f"{letter}9" for letter in letters))
    assert reason in why_unranked(state, over)


def test_the_sentence_on_the_personal_best_follows_the_race() -> None:
    state = replace(at("a9 y3 r1"), best=BEST)
    assert against_best(state, 0) == "your best had 1 by now"
    assert against_best(state, 20_000) == "your best had 7 by now"
    assert against_best(replace(state, best=None), 0) == ""
    past = replace(state, best=replace(BEST, banked=0))
    assert against_best(past, 0) == "past your best of 0!"
    assert state.own is not None
    ended = replace(state, own=replace(state.own, state="stuck"))
    assert against_best(ended, 20_000) == "your best: 10 cards, +$0"
    waiting = replace(state_after(first=snapshot(shown=table(phase="gathering"))), best=BEST)
    assert against_best(waiting, 0) == "your best: 10 cards, +$0"


def test_the_totals_are_ordered_by_money_and_then_by_races_won() -> None:
    seats = [
        seat("y", races=2, net=10, wins=0),
        seat("a", races=2, net=10, wins=1),
        seat("r", races=1, net=-40),
        seat("o", races=2, net=60, wins=1),
        seat("m"),
    ]
    state = state_after(first=snapshot(shown=table(seats=seats, phase="over")))
    assert [row.name for row in totals(state)] == ["Otto", "ana", "Zoë", "raj"]
    assert state.player == YOU
