"""What the cards of a position can do: from it follow the legal moves and the stuck test.

Most moves leave most of it as it was: a draw touches neither columns nor foundations. So the
analysis after a move is made from the one before, and takes over what has not changed.
"""

from collections.abc import Mapping
from operator import attrgetter
from typing import Final, TypeAlias

from saratoga_rules.cards import Card
from saratoga_rules.game import Game
from saratoga_rules.moves import (
    CARRY,
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
)
from saratoga_rules.piles import Pile
from saratoga_rules.position import Position
from saratoga_rules.vocabulary.foundations import BUILT_UP, wanted_cards, wanted_down, wanted_up

_target: Final = attrgetter("target")
"""Sort key: in reverse order, moves to `up` come before moves to `down`."""

Targets: TypeAlias = tuple[Mapping[Card, list[str]], list[str]]


class Analysis:
    """What can be done in a position; each part is computed when it is first asked for.

    `before` is the analysis of the position before the last move, of the same game.
    """

    __slots__ = ("game", "known_carries", "known_moves", "known_targets", "position", "wanted")

    def __init__(self, game: Game, position: Position, before: "Analysis | None" = None) -> None:
        self.game = game
        self.position = position
        self.known_targets: Targets | None = None
        self.known_carries: list[Carry] | None = None
        self.known_moves: tuple[list[Carry], list[Carry]] | None = None
        # a move hands on the tuples that it leaves as they were; face-down cards change with columns
        _, _, _, up, down, columns, base, _, _ = position
        if before is None:
            self.wanted = wanted_cards(up, base, down)
            return
        _, _, _, up_before, down_before, columns_before, _, _, _ = before.position
        is_banked_same = up is up_before and down is down_before
        self.wanted = before.wanted if is_banked_same else wanted_cards(up, base, down)
        if columns is columns_before:
            self.known_targets, self.known_carries = before.known_targets, before.known_carries
            if is_banked_same:
                self.known_moves = before.known_moves

    @property
    def targets(self) -> Targets:
        """For each card that fits on tops of columns, these columns' names; and the spaces."""
        if self.known_targets is None:
            onto = self.game.columns.build.onto
            takers: dict[Card, list[str]] = {}
            spaces: list[str] = []
            for name, column in zip(COLUMN_NAMES, self.position.columns, strict=False):
                if not column:
                    spaces.append(name)
                    continue
                for card in onto[column[-1]]:
                    if card in takers:
                        takers[card].append(name)
                    else:
                        takers[card] = [name]
            self.known_targets = takers, spaces
        return self.known_targets

    def legal_moves(self) -> list[Move]:
        """Return every move that may be played, each once."""
        stock, waste, reserve, _, _, _, _, passes, _ = self.position
        takers, spaces = self.targets
        banks, taken_back = self._moves_with_foundations()
        moves: list[Move] = [*self._carries_between_columns()]
        if stock:
            moves.append(DRAW)
        elif waste and passes < self.game.stock.passes:
            moves.append(REDEAL)
        for source, pile, cards in ((WASTE, Pile.WASTE, waste), (RESERVE, Pile.RESERVE, reserve)):
            if cards:
                if spaces or cards[-1] in takers:
                    moves += self._carries_of(source, pile, cards[-1])
                if cards[-1] in self.wanted:
                    banks = banks + self._banks_of(source, cards[-1])
        if len(banks) > 1:
            banks = sorted(banks, key=_target, reverse=True)
        return moves + banks + taken_back

    def moves_whole(self, index: int) -> bool:
        """Return whether all face-up cards of a column, one at least, may be carried to another."""
        _, _, _, _, _, columns, _, _, face_down = self.position
        column, rules = columns[index], self.game.columns
        takers, spaces = self.targets
        itself = [COLUMN_NAMES[index]]
        has_target = takers.get(column[0], itself) != itself
        # from the bottom of a column into a space would change nothing
        if not has_target and spaces and face_down and face_down[index]:
            has_target = rules.space.admits(Pile.COLUMN, column[0])
        return has_target and rules.packet.allows(column, len(column), rules.build)

    def _moves_with_foundations(self) -> tuple[list[Carry], list[Carry]]:
        """Return the carries from columns onto foundations, and from foundations back."""
        if self.known_moves is None:
            _, _, _, up, _, columns, base, _, _ = self.position
            banks: list[Carry] = []
            wanted = self.wanted
            for name, column in zip(COLUMN_NAMES, columns, strict=False):
                if column and column[-1] in wanted:
                    banks += self._banks_of(name, column[-1])
            taken_back: list[Carry] = []
            if self.game.up.gives_back:
                takers, spaces = self.targets
                for name, height, cards in zip(TAKE_BACK_INDEX, up, BUILT_UP[base], strict=True):
                    if height > 1 and (spaces or cards[height - 1] in takers):
                        taken_back += self._carries_of(name, Pile.FOUNDATION, cards[height - 1])
            self.known_moves = banks, taken_back
        return self.known_moves

    def _carries_between_columns(self) -> list[Carry]:
        if self.known_carries is not None:
            return self.known_carries
        _, _, _, _, _, columns, _, _, face_down = self.position
        rules = self.game.columns
        build, sizes = rules.build, rules.packet.sizes
        takers, spaces = self.targets
        into_spaces = rules.space.admits.cards_from(Pile.COLUMN) if spaces else ()
        carries = self.known_carries = []
        for index, column in enumerate(columns):
            name = COLUMN_NAMES[index]
            for count in sizes(column, build):
                card = column[-count]
                for target in takers.get(card, ()):
                    if target != name:
                        carries.append(CARRY[name, target, count])  # noqa: PERF401 (measured)
                # a whole column into a space would change nothing
                if card in into_spaces and (
                    count < len(column) or (face_down and face_down[index])
                ):
                    carries += [CARRY[name, space, count] for space in spaces]
        return carries

    def _carries_of(self, source: str, pile: Pile, card: Card) -> list[Carry]:
        """Return the carries of one card onto columns and into spaces."""
        takers, spaces = self.targets
        names = takers.get(card, [])
        if spaces and self.game.columns.space.admits(pile, card):
            names = names + spaces
        return [CARRY[source, name, 1] for name in names]

    def _banks_of(self, source: str, card: Card) -> list[Carry]:
        """Return the carries of one card onto foundations."""
        _, _, _, up, down, _, base, _, _ = self.position
        banks = [CARRY[source, UP, 1]] if card in wanted_up(up, base) else []
        if card in wanted_down(down):
            banks.append(CARRY[source, DOWN, 1])
        return banks


def legal_moves(game: Game, position: Position) -> list[Move]:
    """Return every move that may be played, each once."""
    return Analysis(game, position).legal_moves()
