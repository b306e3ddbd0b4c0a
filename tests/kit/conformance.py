"""Read the played games of `tests/conformance`, and convert their cards and positions."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from saratoga_rules.cards import SUITS, Card, parse_cards
from saratoga_rules.dealing.deal import deal
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.moves import parse_move
from saratoga_rules.play import play
from saratoga_rules.position import Position
from saratoga_rules.vocabulary.deal_steps import Triangle
from saratoga_rules.vocabulary.stocks import UNLIMITED

_FOLDER: Final = Path(__file__).parent.parent / "conformance"


@dataclass(frozen=True)
class Step:
    """One step of a played game, as the independent program reported it."""

    legal: tuple[str, ...]
    """All legal moves according to that program, sorted."""
    move: str | None
    """The move that was played; `None` at the end."""
    stuck: bool | None
    """That program's verdict whether the board is stuck; `None` if it did not finish its search."""


@dataclass(frozen=True)
class PlayedGame:
    game: Game
    deck: tuple[Card, ...]
    start: Mapping[str, Any]
    steps: tuple[Step, ...]
    end: Mapping[str, Any]
    won: bool

    def opening(self) -> Position:
        return deal(self.game, self.deck)


@cache
def played_games(name: str) -> tuple[PlayedGame, ...]:
    """Return all recorded plays of the patience game of that name."""
    lines = (_FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(_read(GAMES[name], json.loads(line)) for line in lines)


def sampled_positions(name: str) -> Iterator[Position]:
    """Yield some positions of every played game, from its start to its end."""
    for number, played in enumerate(played_games(name)):
        position = played.opening()
        for count, step in enumerate(played.steps):
            if (count + number) % 40 == 0:
                yield position
            if step.move is not None:
                position = play(played.game, position, parse_move(step.move))
        yield position


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


def _read(game: Game, played: Mapping[str, Any]) -> PlayedGame:
    return PlayedGame(
        game=game,
        deck=parse_cards(played["deck"].replace("10", "T")),
        start=_in_order(played["start"]),
        steps=tuple(
            Step(tuple(step["legal"]), step.get("move"), step["stuck"]) for step in played["steps"]
        ),
        end=_in_order(played["end"]),
        won=played["won"],
    )


def _in_order(picture: Mapping[str, Any]) -> dict[str, Any]:
    """Return the picture with each suit's foundation heights sorted, highest first."""
    up = {letter: sorted(heights, reverse=True) for letter, heights in picture["up"].items()}
    return {**picture, "up": up}


def _pile(cards: tuple[Card, ...]) -> str:
    return " ".join(cards).replace("T", "10")
