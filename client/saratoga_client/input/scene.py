"""The legal moves of a view, and the reasons against other moves."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from saratoga_client.input.move_text import (
    STOCK,
    CardName,
    PileName,
    card_name,
    carried,
    first_that_fits,
    pile_cards,
    pile_name,
    source_of,
)
from saratoga_client.input.pile_keys import PileKeys, has_pile, pile_keys
from saratoga_client.wording import capitalised, counted
from saratoga_rules.analysis import legal_moves
from saratoga_rules.cards import Card, suit
from saratoga_rules.game import Game
from saratoga_rules.moves import (
    COLUMN_INDEX,
    COLUMN_NAMES,
    DOWN,
    REDEAL,
    RESERVE,
    TAKE_BACK_INDEX,
    UP,
    WASTE,
    Carry,
    Move,
)
from saratoga_rules.play import Refusal, refusal
from saratoga_rules.position import View
from saratoga_rules.vocabulary.foundations import wanted_down, wanted_up


@dataclass(frozen=True, slots=True)
class Scene:
    """A view of a game, with its legal moves in Tab order and the functions that name cards and piles."""

    game: Game
    view: View
    card_name: CardName
    legal: tuple[Move, ...]
    pile_name: PileName = pile_name

    @property
    def keys(self) -> PileKeys:
        return pile_keys(self.game)

    def from_pile(self, pile: str, size: int | None = None) -> tuple[Move, ...]:
        """Return the legal moves from a pile; with a `size`, only carries of that many cards."""
        return tuple(
            move
            for move in self.legal
            if source_of(move) == pile
            and (size is None or (isinstance(move, Carry) and move.count == size))
        )

    def carries(self, pile: str, size: int | None = None) -> tuple[Carry, ...]:
        """Return the legal carries from a pile; with a `size`, only those of that many cards."""
        return tuple(move for move in self.from_pile(pile, size) if isinstance(move, Carry))

    def to_foundation(self, target: str) -> tuple[Carry, ...]:
        """Return the legal moves that bank a card; `target` is `up` or `down`."""
        return tuple(
            move for move in self.legal if isinstance(move, Carry) and move.target == target
        )

    def carry(self, source: str, target: str, size: int | None = None) -> Carry | None:
        """Return the legal carry between two piles; without a `size`, the largest one."""
        legal = [move for move in self.carries(source, size) if move.target == target]
        return max(legal, key=lambda move: move.count, default=None)

    def sizes(self, pile: str) -> tuple[int, ...]:
        """Return every number of cards that can be carried from a pile, in ascending order."""
        return tuple(sorted({move.count for move in self.carries(pile)}))

    def top(self, pile: str) -> Card | None:
        """Return the top card of a pile; `None` for an empty pile and for the stock.

        For a foundation, return `None` too unless the game allows taking cards back.
        """
        cards = self._cards(pile)
        return cards[-1] if cards else None

    def height(self, pile: str) -> int:
        """Return the number of cards of the waste or the reserve, or of face-up cards of a column."""
        return len(self._cards(pile))

    def _cards(self, pile: str) -> tuple[Card, ...]:
        if pile == STOCK or (pile in TAKE_BACK_INDEX and not self.game.up.gives_back):
            return ()
        return pile_cards(self.view, pile)

    def where(self, pile: str) -> str:
        """Return the name of a pile in a sentence."""
        return self.pile_name(self.game, pile)


def scene_of(
    game: Game, view: View, card_name: CardName = card_name, pile_name: PileName = pile_name
) -> Scene:
    """Return the scene of a view; this lists the legal moves."""
    legal = sorted(legal_moves(game, view), key=_tab_order)
    return Scene(game, view, card_name, tuple(legal), pile_name)


def _tab_order(move: Move) -> tuple[int, int, int, int]:
    """Return a sort key: banking, then reserve, waste, columns, taking back, and stock."""
    if not isinstance(move, Carry):
        return (6, 0, 0, 0)
    banks = {UP: 0, DOWN: 1}.get(move.target)
    if banks is not None:
        source = {RESERVE: 0, WASTE: 1}.get(move.source, move.origin + 2)
        return (0, source, banks, 0)
    family = {RESERVE: 2, WASTE: 3}.get(move.source, 4 if move.origin >= 0 else 5)
    source = move.origin if move.origin >= 0 else TAKE_BACK_INDEX.get(move.source, 0)
    return (family, source, move.destination, -move.count)


_MOST_USEFUL: Final = (
    Refusal.DOES_NOT_BUILD,
    Refusal.NOT_INTO_A_SPACE,
    Refusal.CHANGES_NOTHING,
    Refusal.NOT_A_PACKET,
)
"""Reasons to show first, if different sizes of a carry are refused for different reasons."""


def why_not(scene: Scene, source: str, target: str, size: int | None = None) -> str:
    """Return a sentence with the reason why no carry between two piles is legal."""
    tried = [Carry(source, target, count) for count in _sizes_tried(scene, source, target, size)]
    reasons = [
        (move, reason)
        for move in tried
        if (reason := refusal(scene.game, scene.view, move)) is not None
    ]
    move, reason = min(reasons, key=lambda pair: _usefulness(pair[1]))
    return refused_words(scene, move, reason)


def refused_words(scene: Scene, move: Carry, reason: Refusal) -> str:
    """Return a refusal as a one-line sentence, with the rule that causes it if the rule fits."""
    sentence = str(reason)
    if move.source in TAKE_BACK_INDEX and scene.top(move.source) is None:
        return sentence
    what = scene.where(move.source)
    if reason is Refusal.NOTHING_TO_CARRY:
        return f"{capitalised(what)} is empty: nothing to carry."
    if reason is Refusal.NOT_A_PACKET and move.count > scene.height(move.source):
        shown = counted(scene.height(move.source))
        return f"{capitalised(what)} has only {shown} face up; the others cannot be carried."
    if move.count <= max(1, scene.height(move.source)):
        what = scene.card_name(carried(scene.view, move)[0])
    target = "" if reason is Refusal.FOUNDATION_WAITS else f" to {scene.where(move.target)}"
    prefix = f"{capitalised(what)}{target}: "
    lowered = sentence[0].lower() + sentence[1:]
    needed = _needed(scene, move, reason)
    if not needed:
        return first_that_fits(
            prefix + lowered, f"{capitalised(scene.where(move.target))}: {lowered}", sentence
        )
    return first_that_fits(
        f"{prefix}{lowered} {needed}",
        f"{prefix}{needed[0].lower()}{needed[1:]}",
        needed,
    )


def packet_text(game: Game) -> str:
    """Return a sentence on the cards of a column that can be carried together."""
    return f"You can carry {game.columns.packet}."


def _needed(scene: Scene, move: Carry, reason: Refusal) -> str:
    match reason:
        case Refusal.DOES_NOT_BUILD:
            return f"Columns build {scene.game.columns.build.brief}."
        case Refusal.NOT_A_PACKET:
            return packet_text(scene.game)
        case Refusal.NOT_INTO_A_SPACE:
            return f"A space takes {scene.game.columns.space.admits}."
        case Refusal.FOUNDATION_WAITS:
            return _waited_for(scene, move)
        case _:
            return ""


def _waited_for(scene: Scene, move: Carry) -> str:
    letter = suit(carried(scene.view, move)[-1])
    view = scene.view
    wanted = wanted_up(view.up, view.base) if move.target == UP else wanted_down(view.down)
    names = [scene.card_name(card) for card in wanted if suit(card) == letter]
    return f"Next: {' or '.join(names)}." if names else "That suit is complete."


def _sizes_tried(scene: Scene, source: str, target: str, size: int | None) -> Iterable[int]:
    if size is not None:
        return (size,)
    if source in COLUMN_INDEX and target in COLUMN_INDEX:
        return range(1, max(1, scene.height(source)) + 1)
    return (1,)


def _usefulness(reason: Refusal) -> int:
    return _MOST_USEFUL.index(reason) if reason in _MOST_USEFUL else len(_MOST_USEFUL)


def nothing_from(scene: Scene, pile: str) -> str:
    """Return a sentence with the reason why no card of a pile can be picked."""
    if pile == STOCK:
        return _no_draw(scene)
    if not has_pile(scene.game, pile):
        pile_missed = "foundations built down" if pile == DOWN else scene.where(pile)
        return f"{scene.game.title} has no {pile_missed.removeprefix('the ')}."
    top = scene.top(pile)
    if pile in TAKE_BACK_INDEX:
        return _no_take_back(scene, pile)
    if top is not None:
        return f"{scene.card_name(top)}, {scene.where(pile)}: no place to go now."
    name = capitalised(scene.where(pile))
    if pile in COLUMN_INDEX:
        return first_that_fits(
            f"{name} is a space. It takes {scene.game.columns.space.admits}.", f"{name} is a space."
        )
    return f"{name} is empty."


def _no_take_back(scene: Scene, pile: str) -> str:
    top = scene.top(pile)
    reason = refusal(scene.game, scene.view, Carry(pile, COLUMN_NAMES[0]))
    if top is None or reason is Refusal.FIRST_CARD_STAYS:
        return f"{reason}"
    return f"{scene.card_name(top)} has no place in the columns now."


def _no_draw(scene: Scene) -> str:
    reason = refusal(scene.game, scene.view, REDEAL)
    return first_that_fits(f"{Refusal.STOCK_IS_EMPTY} {reason or ''}".strip())
