"""Laws of every game and position, games played by others with the same moves and counts, and lines of par."""

import doctest
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product, zip_longest
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import saratoga_rules
from kit.positions import (
    STRATEGIES,
    Strategy,
    draw,
    places,
    small_position,
    step_at,
    walk,
    wandering,
)
from saratoga_rules.analysis import Analysis, legal_moves
from saratoga_rules.cards import HIDDEN, PACK, RANKS, SUITS, Card, card_of, parse_cards
from saratoga_rules.dealing.deal import deal, deal_for_key, practice_key
from saratoga_rules.dealing.fairness import deal_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.moves import (
    COLUMN_NAMES,
    DOWN,
    DRAW,
    REDEAL,
    RESERVE,
    TAKE_BACK_INDEX,
    UP,
    WASTE,
    Carry,
    Move,
    parse_move,
)
from saratoga_rules.par import par
from saratoga_rules.play import IllegalMove, Refusal, is_won, play, refusal
from saratoga_rules.position import Position, format_position, parse_position, redact
from saratoga_rules.stuck.prospects import is_in_sight
from saratoga_rules.stuck.stuck import is_stuck
from saratoga_rules.vocabulary.deal_steps import Triangle
from saratoga_rules.vocabulary.stocks import UNLIMITED

every_game = pytest.mark.parametrize("name", GAMES)

SOURCES = (WASTE, RESERVE, *COLUMN_NAMES[:13], *TAKE_BACK_INDEX)
TARGETS = (UP, DOWN, *COLUMN_NAMES[:13])

COUNTS = (1, 1, 1, 1, 2, 3, 4, 5, 13)

any_move: st.SearchStrategy[Move] = st.sampled_from(
    [DRAW, REDEAL, *map(Carry, *zip(*product(SOURCES, TARGETS, COUNTS), strict=True))]
)


def cards_of(game: Game, position: Position) -> Counter[Card]:
    """Return every card of a position, including those on the foundations."""
    found = Counter([*position.stock, *position.waste, *position.reserve])
    for pile in (*position.columns, *position.face_down):
        found.update(pile)
    for heights, first, direction in ((position.up, position.base, 1), (position.down, 13, -1)):
        copies = len(heights) // len(SUITS)
        for index, height in enumerate(heights):
            suit = SUITS[index // copies]
            for step in range(height):
                found[card_of((first - 1 + direction * step) % len(RANKS) + 1, suit)] += 1
    return found


# Games of `tests/conformance`, and their cards and positions


CONFORMANCE = Path(__file__).parents[1] / "conformance"


@dataclass(frozen=True)
class PlayedGame:
    game: Game
    positions: tuple[Position, ...]
    """Every position, from the deal to the end."""
    told: Mapping[str, Any]
    """What the independent program reported of the start, of each position, and of the end."""


@cache
def played_games(name: str) -> tuple[PlayedGame, ...]:
    """Return all recorded plays of the patience game of that name."""
    lines = (CONFORMANCE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(_read(GAMES[name], json.loads(line)) for line in lines)


def _read(game: Game, told: Mapping[str, Any]) -> PlayedGame:
    positions = [deal(game, parse_cards(told["deck"].replace("10", "T")))]
    for step in told["steps"]:
        if "move" in step:
            positions.append(play(game, positions[-1], parse_move(step["move"])))
    return PlayedGame(game, tuple(positions), told)


def sampled_positions(name: str) -> Iterator[Position]:
    """Yield some positions of every played game, from its start to its end."""
    for number, played in enumerate(played_games(name)):
        yield from played.positions[-number % 40 :: 40]
        yield played.positions[-1]


def pictured(game: Game, position: Position) -> dict[str, Any]:
    """Return a position in the format of the files in `tests/conformance`."""
    copies = game.up.for_each_suit
    picture: dict[str, Any] = {
        "columns": [
            _pile(below + column)
            for below, column in zip_longest(position.face_down, position.columns, fillvalue=())
        ],
        "reserve": _pile(position.reserve),
        "waste": _pile(position.waste),
        "stock": _pile(position.stock),
        "up": {
            letter: list(position.up[index * copies : (index + 1) * copies])
            for index, letter in enumerate(SUITS)
        },
        # the files do not count passes if their number is unlimited
        "pass": 1 if game.stock.passes == UNLIMITED else position.passes,
        "banked": position.banked,
    }
    if any(isinstance(step, Triangle) for step in game.deal):
        picture["face_down"] = list(position.face_down_counts) or [0] * len(position.columns)
    if position.down:
        picture["down"] = dict(zip(SUITS, position.down, strict=True))
    return picture


def _in_order(picture: Mapping[str, Any]) -> dict[str, Any]:
    """Return the picture with each suit's foundation heights sorted, highest first."""
    up = {letter: sorted(heights, reverse=True) for letter, heights in picture["up"].items()}
    return {**picture, "up": up}


def _pile(cards: tuple[Card, ...]) -> str:
    return " ".join(cards).replace("T", "10")


# Cards


@every_game
@given(place=places)
def test_no_card_is_lost_or_added(name: str, place: int) -> None:
    game, position, _, _ = step_at(name, place)
    assert cards_of(game, position) == Counter(PACK * game.packs)


@every_game
@given(nonce=st.binary(min_size=16, max_size=16))
def test_every_deal_has_all_cards(name: str, nonce: bytes) -> None:
    game = GAMES[name]
    deal = deal_for_key(game, deal_key(bytes(32), "mint-otter-42/1", {"anna": nonce}))
    assert cards_of(game, deal) == Counter(PACK * game.packs)
    assert deal.passes == 1
    assert not deal.waste
    assert not is_won(game, deal)


@every_game
@given(place=places)
def test_the_count_is_the_number_of_cards_on_the_foundations(name: str, place: int) -> None:
    game, position, _, _ = step_at(name, place)
    elsewhere = len(position.stock) + len(position.waste) + len(position.reserve)
    elsewhere += sum(map(len, (*position.columns, *position.face_down)))
    assert position.banked == game.cards - elsewhere
    assert is_won(game, position) == (elsewhere == 0)


@every_game
@given(place=places)
def test_the_count_falls_only_by_taking_back(name: str, place: int) -> None:
    game, position, legal, _ = step_at(name, place)
    for move in legal:
        gained = play(game, position, move).banked - position.banked
        match move:
            case Carry(source=source) if source in TAKE_BACK_INDEX:
                assert gained == -1
            case Carry(target="up" | "down"):
                assert gained == 1
            case _:
                assert gained == 0


@every_game
@given(place=places)
def test_the_stock_only_shrinks_except_at_a_redeal(name: str, place: int) -> None:
    game, position, legal, _ = step_at(name, place)
    for move in legal:
        after = play(game, position, move)
        if move == REDEAL:
            assert (after.stock, after.waste) == (position.waste, ())
            assert after.passes == position.passes + 1
        else:
            assert after.stock == position.stock[len(position.stock) - len(after.stock) :]
            assert after.passes == position.passes


@every_game
@given(place=places)
def test_a_face_down_card_turns_up_when_it_is_uncovered_and_never_else(
    name: str, place: int
) -> None:
    game, position, legal, _ = step_at(name, place)
    for move in legal:
        after = play(game, position, move)
        was = position.face_down or ((),) * len(position.columns)
        left = after.face_down or ((),) * len(position.columns)
        for index, (old, new) in enumerate(zip(was, left, strict=True)):
            assert bool(after.columns[index]) or not new, "a column ends in a face-up card"
            if new != old:
                assert isinstance(move, Carry)
                assert move.origin == index
                assert move.count == len(position.columns[index])
                assert (new, after.columns[index]) == (old[:-1], old[-1:])
            elif old:
                assert after.columns[index][:1] == position.columns[index][:1]


# Secrecy


@every_game
@given(place=places, move=any_move)
def test_a_view_refuses_for_the_reason_for_which_the_position_refuses(
    name: str, place: int, move: Move
) -> None:
    game, position, _, _ = step_at(name, place)
    assert refusal(game, redact(position), move) is refusal(game, position, move)


@every_game
@given(place=places)
def test_a_view_hides_the_stock_the_reserve_but_its_top_and_the_face_down_cards(
    name: str, place: int
) -> None:
    _, position, _, _ = step_at(name, place)
    view = redact(position)
    assert view.stock == (HIDDEN,) * len(position.stock)
    assert view.reserve[:-1] == (HIDDEN,) * len(position.reserve[:-1])
    assert view.reserve[-1:] == position.reserve[-1:]
    assert view.face_down == tuple((HIDDEN,) * len(pile) for pile in position.face_down)
    nothing = position._replace(stock=(), reserve=(), face_down=())
    assert view._replace(stock=(), reserve=(), face_down=()) == nothing
    assert redact(view) == view


@every_game
@given(place=places)
def test_a_move_reveals_only_the_cards_that_it_turns_up(name: str, place: int) -> None:
    """A move turns up the next cards of stock, reserve or a column, and no deeper cards."""
    game, position, legal, _ = step_at(name, place)
    reach = game.columns.count
    chance = Random(0)
    deeper = list(position.stock[reach:])
    chance.shuffle(deeper)
    below = list(position.reserve[:-2])
    chance.shuffle(below)
    other = position._replace(
        stock=(*position.stock[:reach], *deeper),
        reserve=(*below, *position.reserve[-2:]),
        face_down=tuple((*pile[-2::-1], *pile[-1:]) for pile in position.face_down),
    )
    for move in legal:
        if move != REDEAL:
            assert redact(play(game, other, move)) == redact(play(game, position, move))


# Text


@every_game
@given(place=places)
def test_positions_and_views_come_back_from_their_text(name: str, place: int) -> None:
    _, position, _, _ = step_at(name, place)
    assert parse_position(format_position(position)) == position
    view = redact(position)
    assert parse_position(format_position(view)) == view


@given(any_move)
def test_any_move_comes_back_from_its_text(move: Move) -> None:
    assert parse_move(str(move)) == move


@given(st.text(max_size=12) | st.text("drawetlup.CSHD>:0123456789", max_size=12))
def test_a_parsed_move_is_written_the_same_way(text: str) -> None:
    try:
        move = parse_move(text)
    except ValueError:
        return
    assert str(move) == text


@given(st.lists(st.sampled_from([*PACK, HIDDEN])))
def test_cards_come_back_from_their_text(cards: list[Card]) -> None:
    assert parse_cards("".join(cards)) == tuple(cards)


# Judging


@every_game
@given(place=places, move=any_move)
def test_a_move_is_played_if_it_is_legal_and_refused_if_not(
    name: str, place: int, move: Move
) -> None:
    game, position, legal, _ = step_at(name, place)
    reason = refusal(game, position, move)
    assert (reason is None) == (move in legal)
    if reason is None:
        assert play(game, position, move) != position
        return
    before = format_position(position)
    with pytest.raises(IllegalMove) as refused:
        play(game, position, move)
    assert (refused.value.move, refused.value.refusal) == (move, reason)
    assert format_position(position) == before


def test_the_example_of_the_package_works() -> None:
    found = doctest.testmod(saratoga_rules)
    assert found.attempted >= 8
    assert found.failed == 0


def conceivable(position: Position) -> Iterator[Move]:
    """Yield every conceivable move of a position, and some impossible ones."""
    yield DRAW
    yield REDEAL
    columns = COLUMN_NAMES[: len(position.columns) + 1]
    longest = max(map(len, position.columns)) + max(position.face_down_counts, default=0)
    foundations = [f"up.{letter}" for letter in SUITS]
    for source in ("w", "r", *foundations, *columns):
        for target in ("up", "down", *columns):
            for count in range(longest + 2 if source in columns else 3):
                yield Carry(source, target, count)


@pytest.mark.parametrize("name", GAMES)
def test_the_legal_moves_are_all_conceivable_moves_that_are_not_refused(name: str) -> None:
    game = GAMES[name]
    walked = [step.position for step in walk(name, 0, wandering)[::10]]
    chance = Random(f"any positions of {name}")
    drawn = [small_position(game, chance) for _ in range(60)]
    for position in (*sampled_positions(name), *walked, *drawn):
        listed = legal_moves(game, position)
        assert len(set(listed)) == len(listed)
        assert set(listed) == {
            move for move in conceivable(position) if refusal(game, position, move) is None
        }


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", GAMES)
def test_an_analysis_made_from_the_one_before_is_that_of_the_position_alone(
    name: str, strategy: Strategy
) -> None:
    analysis = None
    for game, position, legal, _ in walk(name, 1, strategy):
        analysis = Analysis(game, position, analysis)
        assert analysis.legal_moves() == list(legal)
        assert is_in_sight(analysis) == is_in_sight(Analysis(game, position))


def test_an_impossible_move_object_is_refused() -> None:
    position = draw(CANFIELD, "t1: 9H 8C\nt2: TC\nt3: 2C")
    for made_up in (Carry("x", "t1"), Carry("t1", "x"), Carry("t1", "w"), Carry("up", "t1")):
        assert refusal(CANFIELD, position, made_up) is Refusal.NO_SUCH_PILE
    for count in (-1, 0):
        assert refusal(CANFIELD, position, Carry("t1", "t2", count)) is Refusal.NOT_SO_MANY
        assert refusal(CANFIELD, position, Carry("w", "t2", count)) is Refusal.ONE_AT_A_TIME


LIMIT = 100


@pytest.mark.parametrize("name", GAMES)
def test_every_legal_move_of_every_played_game(name: str) -> None:
    for played in played_games(name):
        for position, step in zip(played.positions, played.told["steps"], strict=False):
            for shown in (position, redact(position)):
                assert sorted(map(str, legal_moves(played.game, shown))) == step["legal"]


@pytest.mark.parametrize("name", GAMES)
def test_every_verdict_of_every_played_game(name: str) -> None:
    for played in played_games(name):
        for position, step in zip(played.positions, played.told["steps"], strict=False):
            verdict = is_stuck(played.game, position, LIMIT)
            # the other program left some of Lady Palk's verdicts open; we decide all of them
            assert verdict is step["stuck"] or (verdict is not None and step["stuck"] is None)


@pytest.mark.parametrize("name", GAMES)
def test_both_ends_of_every_played_game(name: str) -> None:
    for played in played_games(name):
        for position, end in ((played.positions[0], "start"), (played.positions[-1], "end")):
            assert pictured(played.game, position) == _in_order(played.told[end])
        assert is_won(played.game, played.positions[-1]) is played.told["won"]


FOLDER = Path(__file__).parent / "perft"

MOST_LINES = 6_000
"""The largest count in the files; greater depths take too long."""


def perft(game: Game, position: Position, depth: int) -> int:
    """Return the number of sequences of `depth` legal moves from a position."""
    moves = legal_moves(game, position)
    if depth == 1:
        return len(moves)
    return sum(perft(game, play(game, position, move), depth - 1) for move in moves)


@dataclass(frozen=True)
class Entry:
    """A starting position, written as in the file, and its counts from depth 1 on."""

    game: Game
    start: str
    counts: tuple[int, ...]

    @property
    def position(self) -> Position:
        kind, _, text = self.start.partition(" ")
        if kind == "deal":
            return deal_for_key(self.game, practice_key(text))
        return parse_position(text)


def entries(name: str) -> Iterator[Entry]:
    """Yield the entries that the file of a game must have."""
    start, counts = "", list[int]()
    for line in (FOLDER / f"{name}.perft").read_text("utf-8").splitlines():
        if line[:1].isdigit():
            depth, count = map(int, line.split())
            assert depth == len(counts) + 1, line
            counts.append(count)
        elif line:
            if start:
                yield Entry(GAMES[name], start, tuple(counts))
            start, counts = line, []
    yield Entry(GAMES[name], start, tuple(counts))


def counted(entry: Entry) -> str:
    """Return the entry with freshly computed counts."""
    lines, depth, count = [entry.start], 1, perft(entry.game, entry.position, 1)
    while count <= MOST_LINES and depth <= 12:
        lines.append(f"{depth} {count}")
        depth += 1
        count = perft(entry.game, entry.position, depth)
    return "\n".join(lines) + "\n"


ENTRIES = [entry for name in GAMES for entry in entries(name)]


def name_of(entry: Entry) -> str:
    return f"{entry.game.name} {entry.start[:40]}"


@pytest.mark.parametrize("entry", ENTRIES, ids=name_of)
def test_the_number_of_lines_of_play_is_pinned(entry: Entry) -> None:
    assert [perft(entry.game, entry.position, at + 1) for at in range(len(entry.counts))] == list(
        entry.counts
    )


# Par


@pytest.mark.parametrize("name", GAMES)
def test_the_judge_accepts_the_line_of_par_which_banks_its_count(name: str) -> None:
    game = GAMES[name]
    position = start = deal_for_key(game, practice_key("par"))
    line = par(game, start, budget=1_500)
    for move in line.moves:
        position = play(game, position, move)
    assert position.banked == line.banked > start.banked
    assert par(game, start, budget=1_500) == line


def test_par_wins_a_deal_that_can_be_won_and_stops_there() -> None:
    game = GAMES["caprice"]
    assert par(game, deal_for_key(game, practice_key("par 0"))).banked == game.cards


if __name__ == "__main__":
    for each in GAMES:
        text = "\n".join(map(counted, entries(each)))
        (FOLDER / f"{each}.perft").write_text(text, "utf-8")
