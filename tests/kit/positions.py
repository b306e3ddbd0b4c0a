"""Positions: written as text, one pile per line, and reached by random walks through games.

    t1: KS QH JS        columns, bottom to top; columns that are left out are spaces
    t2: 5C 4D | KS      face-down cards, and the face-up ones on them
    waste: 7C 8D        bottom to top
    reserve: ## 9H      bottom to top
    stock: 2C 3C 4C     the next card first
    up: S5 H1           cards on the foundations built up; two piles of a suit are S5,2
    down: C3            cards on the foundations built down
    base: 7             the rank that starts the foundations built up
    pass: 2

Piles that are left out are empty. A position need not have a whole pack: a few cards show a rule.

A walk depends only on the game, the seed and the strategy, so it is the same every time. Hypothesis
chooses these three and a step of the walk, and prints them when a law is broken.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from random import Random
from typing import NamedTuple

from hypothesis import strategies as st

from saratoga_client.bots.choose import Choice, Chooser, Memory, remember
from saratoga_rules.analysis import legal_moves
from saratoga_rules.cards import PACK, RANKS, SUITS, Card, parse_cards
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DOWN, UP, Carry, Draw, Move, Redeal, parse_move
from saratoga_rules.piles import Pile
from saratoga_rules.play import Refusal, is_won, play, refusal
from saratoga_rules.position import Position, format_position, in_order, redact
from saratoga_rules.vocabulary.deal_steps import Triangle
from saratoga_rules.vocabulary.foundations import rank_at

_LINES = re.compile(r"t[1-9][0-9]?|waste|reserve|stock|up|down|base|pass")


def draw(game: Game, picture: str) -> Position:
    """Parse a position from text, with the game's number of columns and foundations."""
    lines = dict(_line(line) for line in picture.strip().splitlines())
    piles = [lines.pop(f"t{n}", "").rpartition("|") for n in range(1, game.columns.count + 1)]
    face_down = tuple(parse_cards(below) for below, _, _ in piles)
    position = Position(
        stock=parse_cards(lines.pop("stock", "")),
        waste=parse_cards(lines.pop("waste", "")),
        reserve=parse_cards(lines.pop("reserve", "")),
        up=_heights(lines, "up", game.up.for_each_suit),
        down=_heights(lines, "down", game.down.for_each_suit if game.down else 0),
        columns=tuple(parse_cards(shown) for _, _, shown in piles),
        base=RANKS.index(lines.pop("base", "A")) + 1,
        passes=int(lines.pop("pass", "1")),
        face_down=face_down if any(face_down) else (),
    )
    assert not lines, f"{game.title} has no {', '.join(lines)}"
    return position


def refused(game: Game, position: Position, move: str) -> Refusal | None:
    """Return the reason why the rules refuse a move, `None` if the move is legal."""
    return refusal(game, position, parse_move(move))


def played(game: Game, position: Position, *moves: str) -> Position:
    """Return the position after these legal moves."""
    for move in moves:
        position = play(game, position, parse_move(move))
    return position


def legal(game: Game, position: Position) -> set[str]:
    """Return every legal move, written as text."""
    return {str(move) for move in legal_moves(game, position)}


def _line(line: str) -> tuple[str, str]:
    name, _, content = line.strip().partition(":")
    assert _LINES.fullmatch(name), f"a picture has no line {line!r}"
    return name, content.strip()


def _heights(lines: dict[str, str], name: str, copies: int) -> tuple[int, ...]:
    drawn: Mapping[str, list[int]] = {
        word[0]: [int(height) for height in word[1:].split(",")]
        for word in lines.pop(name, "").split()
    }
    assert set(drawn) <= set(SUITS), f"these are no suits: {drawn}"
    heights = [(drawn.get(letter, []) + [0] * copies)[:copies] for letter in SUITS]
    return in_order(tuple(height for pile in heights for height in pile))


def small_position(game: Game, chance: Random) -> Position:
    """Return a position small enough for an exhaustive search."""
    base = chance.randint(1, 13) if game.columns.build.around_the_corner else 1
    up = in_order(tuple(chance.choice((0, 1, 1, 2, 3, 5, 9)) for _ in range(game.up.piles)))
    down = tuple(chance.choice((0, 1, 2, 3)) for _ in range(game.down.piles if game.down else 0))
    cards = _not_banked(game, base, up, down)
    chance.shuffle(cards)
    most = max(2, 14 // game.columns.count)
    columns = tuple(_column(game, cards, chance, most) for _ in range(game.columns.count))
    face_down: tuple[tuple[Card, ...], ...] = ()
    if any(isinstance(step, Triangle) for step in game.deal):
        face_down = tuple(_off(cards, chance.choice((0, 0, 1, 2)) if c else 0) for c in columns)
    fills = game.columns.space.filled_from
    has_spaces = not all(columns)
    has_waste = game.stock.onto is Pile.WASTE
    # if spaces are filled automatically, there is a space only when nothing is left to fill it
    may_have_reserve = fills is not Pile.RESERVE or not has_spaces
    return Position(
        stock=_off(cards, chance.choice((0, 0, 1, 2, 4, 7))) if has_waste else (),
        waste=_off(cards, chance.choice((0, 1, 1, 2, 5))) if has_waste else (),
        reserve=_off(cards, chance.choice((0, 1, 3))) if may_have_reserve else (),
        up=up,
        down=down,
        columns=columns,
        base=base,
        passes=chance.randint(1, min(game.stock.passes, 4)),
        face_down=face_down if any(face_down) else (),
    )


def _not_banked(game: Game, base: int, up: tuple[int, ...], down: tuple[int, ...]) -> list[Card]:
    cards = list(PACK * game.packs)
    for heights, first in ((up, base), (down, 14)):
        for index, height in enumerate(heights):
            letter = SUITS[index * len(SUITS) // len(heights)]
            for level in range(1, height + 1):
                number = rank_at(base, level) if heights is up else first - level
                card = next(
                    (c for c in cards if c == PACK[13 * SUITS.index(letter) + number - 1]), None
                )
                if card is not None:
                    cards.remove(card)
    return cards


def _column(game: Game, cards: list[Card], chance: Random, most: int) -> tuple[Card, ...]:
    column: list[Card] = []
    for _ in range(min(len(cards), chance.randint(0, most))):
        fitting = [card for card in cards if column and card in game.columns.build.onto[column[-1]]]
        card = chance.choice(fitting if fitting and chance.random() < 0.5 else cards)
        cards.remove(card)
        column.append(card)
    return tuple(column)


def _off(cards: list[Card], count: int) -> tuple[Card, ...]:
    taken = tuple(cards[:count])
    del cards[:count]
    return taken


LONGEST = 250
"""The most moves in a walk: enough for every pass of every game."""

SEEDS = 40
"""The number of different deals for each game and strategy."""


class Step(NamedTuple):
    """A step of a walk: a position, its legal moves, and the move that was chosen."""

    game: Game
    position: Position
    legal: tuple[Move, ...]
    """Every legal move of the position."""
    move: Move | None
    """The move that was made; `None` at the end of the walk."""

    def __repr__(self) -> str:
        return f"<{self.game.name}: {format_position(self.position)}; then {self.move}>"


Strategy = Callable[[Sequence[Move], Random], Move]
"""A function that chooses one of the legal moves."""


def wandering(legal: Sequence[Move], chance: Random) -> Move:
    """Choose a legal move at random."""
    return chance.choice(legal)


def banking(legal: Sequence[Move], chance: Random) -> Move:
    """Choose a move to a foundation if possible, else one of a card from the reserve or the waste.

    If there is neither, mostly choose a draw or a redeal, and sometimes a move from a column.
    """
    for wanted in (_banks, _unearths, _shifts):
        chosen = [move for move in legal if wanted(move)]
        if chosen and (wanted is not _shifts or chance.random() < 0.1):
            return chance.choice(chosen)
    turning = [move for move in legal if isinstance(move, Draw | Redeal)]
    return chance.choice(turning or legal)


def _banks(move: Move) -> bool:
    return isinstance(move, Carry) and move.target in (UP, DOWN)


def _unearths(move: Move) -> bool:
    return isinstance(move, Carry) and move.source in ("r", "w")


def _shifts(move: Move) -> bool:
    return isinstance(move, Carry) and move.source.startswith("t")


STRATEGIES: tuple[Strategy, ...] = (wandering, banking)


@cache
def walk(name: str, seed: int, strategy: Strategy) -> tuple[Step, ...]:
    """Return a walk through one deal, until no move is legal or `LONGEST` moves are made."""
    game = GAMES[name]
    chance = Random(f"{name} {seed}")
    position = deal_for_key(game, practice_key(f"walk {seed}"))
    steps: list[Step] = []
    while len(steps) < LONGEST:
        legal = tuple(legal_moves(game, position))
        if not legal:
            break
        move = strategy(legal, chance)
        steps.append(Step(game, position, legal, move))
        position = play(game, position, move)
    steps.append(Step(game, position, tuple(legal_moves(game, position)), None))
    return tuple(steps)


places = st.integers(0, SEEDS * len(STRATEGIES) * LONGEST - 1)
"""Numbers of every step of every walk; Hypothesis draws one number faster than several."""


def step_at(name: str, place: int) -> Step:
    """Return a step of a walk through the game; early and late steps are equally likely."""
    walked = walk_at(name, place)
    return walked[place % LONGEST % len(walked)]


def walk_at(name: str, place: int) -> tuple[Step, ...]:
    """Return the whole walk that contains the step with the number `place`."""
    number = place // LONGEST
    return walk(name, number // len(STRATEGIES), STRATEGIES[number % len(STRATEGIES)])


@cache
def steps(name: str) -> st.SearchStrategy[Step]:
    """Return a Hypothesis strategy for steps of walks; `places` with `step_at` is faster."""
    return places.map(partial(step_at, name))


def bot_game(
    game: Game, start: Position, choose: Chooser, variation: int = 0
) -> Iterator[tuple[Position, Memory, Choice]]:
    """Let a bot, which sees views only, play a deal; yield positions, memories and choices.

    The last choice is no move: the deal is won, or the bot stops.
    """
    position, memory = start, Memory(variation=variation)
    while True:
        view = redact(position)
        choice = Choice(None, memory) if is_won(game, position) else choose(game, view, memory)
        yield position, memory, choice
        if choice.move is None:
            return
        position = play(game, position, choice.move)
        memory = remember(game, choice.memory, view, choice.move, redact(position))
