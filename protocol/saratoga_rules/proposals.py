"""Moves worth asking the judge about: no legal move is missing, and few others are among them."""

from collections.abc import Mapping

from saratoga_rules.cards import SUITS, Card, card_of
from saratoga_rules.foundations import rank_at, wanted_down, wanted_up
from saratoga_rules.game import Game
from saratoga_rules.moves import (
    COLUMN_NAMES,
    DOWN,
    DRAW,
    REDEAL,
    RESERVE,
    UP,
    WASTE,
    Move,
    carry,
)
from saratoga_rules.position import Position


def proposals(game: Game, position: Position) -> list[Move]:
    """Every move that the judge may allow in a position, each once."""
    proposed: list[Move] = []
    if position.stock:
        proposed.append(DRAW)
    elif position.waste:
        proposed.append(REDEAL)
    proposed += _to_foundations(position, UP, wanted_up(position.up, position.base))
    if position.down:
        proposed += _to_foundations(position, DOWN, wanted_down(position.down))
    return proposed + _to_columns(game, position)


def _to_foundations(position: Position, target: str, wanted: Mapping[Card, int]) -> list[Move]:
    tops = [
        (name, column[-1])
        for name, column in zip(COLUMN_NAMES, position.columns, strict=False)
        if column
    ]
    if position.waste:
        tops.append((WASTE, position.waste[-1]))
    if position.reserve:
        tops.append((RESERVE, position.reserve[-1]))
    return [carry(source, target) for source, card in tops if card in wanted]


def _to_columns(game: Game, position: Position) -> list[Move]:
    onto = game.columns.build.onto
    targets = [
        (name, onto[column[-1]] if column else game.columns.space.admits.cards)
        for name, column in zip(COLUMN_NAMES, position.columns, strict=False)
    ]
    return [
        carry(source, target, count)
        for source, card, count in _packets(game, position)
        for target, wanted in targets
        if card in wanted and source != target
    ]


def _packets(game: Game, position: Position) -> list[tuple[str, Card, int]]:
    build, sizes = game.columns.build, game.columns.packet.sizes
    packets = [
        (name, column[-count], count)
        for name, column in zip(COLUMN_NAMES, position.columns, strict=False)
        if column
        for count in sizes(column, build)
    ]
    if position.waste:
        packets.append((WASTE, position.waste[-1], 1))
    if position.reserve:
        packets.append((RESERVE, position.reserve[-1], 1))
    if game.up.gives_back:
        packets += [
            (f"up.{letter}", card_of(rank_at(position.base, height), letter), 1)
            for letter, height in zip(SUITS, position.up, strict=True)
            if height > 1
        ]
    return packets
