"""The legal moves of a view, and the reasons against other moves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from saratoga_client.input.move_text import (
    STOCK,
    CardName,
    card_name,
    first_that_fits,
    has_pile,
    pile_cards,
    pile_name,
    plain_pile_name,
)
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
    """A view of a game, with its legal moves in Tab order and the names of its cards and piles."""

    game: Game
    view: View
    card_name: CardName
    legal: tuple[Move, ...]
    is_plain: bool = False
    """True if piles are named for a plain line, without their keys on the screen."""

    @property
    def draw(self) -> Move | None:
        """The legal draw or redeal."""
        return next((move for move in self.legal if not isinstance(move, Carry)), None)

    def carries(
        self, source: str = "", target: str = "", size: int | None = None
    ) -> tuple[Carry, ...]:
        """Return the legal carries, the largest first; only those that fit what is given."""
        return tuple(
            move
            for move in self.legal
            if isinstance(move, Carry)
            and source in ("", move.source)
            and target in ("", move.target)
            and size in (None, move.count)
        )

    def largest(self, source: str, target: str = "", size: int | None = None) -> list[Carry]:
        """Return the largest legal carry from a pile to each other pile, or to one `target`."""
        carries: dict[str, Carry] = {}
        for move in self.carries(source, target, size):
            carries.setdefault(move.target, move)
        return list(carries.values())

    def obvious(self, source: str, size: int | None = None) -> Carry | None:
        """Return the only carry from a pile that banks, or else the only one of all."""
        carries = self.largest(source, "", size)
        banks = banking(carries)
        return next((moves[0] for moves in (banks, carries) if len(moves) == 1), None)

    def sizes(self, pile: str) -> list[int]:
        """Return every number of cards that can be carried from a pile, in ascending order."""
        return sorted({move.count for move in self.carries(pile)})

    def cards(self, pile: str) -> tuple[Card, ...]:
        """Return the face-up cards of a pile that may ever be carried, the top one last."""
        is_foundation = pile.partition(".")[0] in (UP, DOWN)
        if pile == STOCK or (is_foundation and not self.game.up.gives_back):
            return ()
        return pile_cards(self.view, pile)

    def where(self, pile: str) -> str:
        """Return the name of a pile in a sentence."""
        return (plain_pile_name if self.is_plain else pile_name)(self.game, pile)


def scene_of(
    game: Game, view: View, card_name: CardName = card_name, *, is_plain: bool = False
) -> Scene:
    """Return the scene of a view; this lists the legal moves."""
    legal = sorted(legal_moves(game, view), key=_tab_order)
    return Scene(game, view, card_name, tuple(legal), is_plain)


def banking(moves: Sequence[Carry]) -> list[Carry]:
    """Return the moves that bank a card."""
    return [move for move in moves if move.target in (UP, DOWN)]


def _tab_order(move: Move) -> tuple[int, int, int, int]:
    """Return a sort key: banking, then reserve, waste, columns, taking back, and stock."""
    if not isinstance(move, Carry):
        return (6, 0, 0, 0)
    hands = {RESERVE: 0, WASTE: 1}
    if move.target in (UP, DOWN):
        return (0, hands.get(move.source, move.origin + 2), move.target == DOWN, 0)
    family = hands.get(move.source, 2 if move.origin >= 0 else 3)
    source = max(move.origin, TAKE_BACK_INDEX.get(move.source, 0))
    return (2 + family, source, move.destination, -move.count)


_MOST_USEFUL: Final = (
    Refusal.DOES_NOT_BUILD,
    Refusal.NOT_INTO_A_SPACE,
    Refusal.CHANGES_NOTHING,
    Refusal.NOT_A_PACKET,
)
"""Reasons to show first, if different sizes of a carry are refused for different reasons."""


def why_not(scene: Scene, source: str, target: str, size: int | None = None) -> str:
    """Return the reason why no carry between two piles is legal, in a sentence.

    It says the rule that is broken too, if there is room.
    """
    most = max(1, len(scene.cards(source))) if {source, target} <= COLUMN_INDEX.keys() else 1
    refusals = [
        (reason, move)
        for count in (range(1, most + 1) if size is None else (size,))
        if (reason := refusal(scene.game, scene.view, move := Carry(source, target, count)))
    ]
    reason, move = min(refusals, key=lambda refused: (*_MOST_USEFUL, refused[0]).index(refused[0]))
    sentence, cards, pile = str(reason), scene.cards(source), scene.where(source)
    if not cards and source in TAKE_BACK_INDEX:
        return sentence
    if reason is Refusal.NOTHING_TO_CARRY:
        return f"{capitalised(pile)} is empty: nothing to carry."
    if reason is Refusal.NOT_A_PACKET and move.count > len(cards):
        shown = counted(len(cards))
        return f"{capitalised(pile)} has only {shown} face up; the others cannot be carried."
    what = scene.card_name(cards[-move.count]) if move.count <= len(cards) else pile
    where = "" if reason is Refusal.FOUNDATION_WAITS else f" to {scene.where(target)}"
    prefix = f"{capitalised(what)}{where}: "
    rule = _rule(scene, move, reason)
    short = rule or sentence
    return first_that_fits(
        f"{prefix}{_lowered(sentence)} {rule}".rstrip(), f"{prefix}{_lowered(short)}", short
    )


def _lowered(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


def packet_text(game: Game) -> str:
    """Return a sentence on the cards of a column that can be carried together."""
    return f"You can carry {game.columns.packet}."


def _rule(scene: Scene, move: Carry, reason: Refusal) -> str:
    """Return the rule that refuses a move, as a sentence; empty if the refusal says it."""
    columns, view = scene.game.columns, scene.view
    match reason:
        case Refusal.DOES_NOT_BUILD:
            return f"Columns build {columns.build.brief}."
        case Refusal.NOT_A_PACKET:
            return packet_text(scene.game)
        case Refusal.NOT_INTO_A_SPACE:
            return f"An empty column takes {columns.space.admits}."
        case Refusal.FOUNDATION_WAITS:
            letter = suit(scene.cards(move.source)[-1])
            wanted = wanted_up(view.up, view.base) if move.target == UP else wanted_down(view.down)
            names = [scene.card_name(card) for card in wanted if suit(card) == letter]
            return f"Next: {' or '.join(names)}." if names else "That suit is complete."
        case _:
            return ""


def nothing_from(scene: Scene, pile: str) -> str:
    """Return a sentence with the reason why no card of a pile can be picked."""
    if not has_pile(scene.game, pile):
        pile_missed = "foundations built down" if pile == DOWN else scene.where(pile)
        return f"{scene.game.title} has no {pile_missed.removeprefix('the ')}."
    if pile == STOCK:
        reason = refusal(scene.game, scene.view, REDEAL)
        return f"{Refusal.STOCK_IS_EMPTY} {reason or ''}".strip()
    cards, name = scene.cards(pile), capitalised(scene.where(pile))
    if pile.partition(".")[0] in (UP, DOWN):
        reason = refusal(scene.game, scene.view, Carry(pile, COLUMN_NAMES[0]))
        if not scene.game.up.gives_back:
            reason = Refusal.NOT_FROM_FOUNDATIONS
        if not cards or reason is Refusal.FIRST_CARD_STAYS:
            return str(reason)
        return f"{scene.card_name(cards[-1])} has no place in the columns now."
    if cards:
        return f"{scene.card_name(cards[-1])}, {scene.where(pile)}: no place to go now."
    if pile in COLUMN_INDEX:
        return f"{name} is empty. It takes {scene.game.columns.space.admits}."
    return f"{name} is empty."
