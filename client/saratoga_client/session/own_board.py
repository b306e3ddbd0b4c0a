"""One's own board in a race: what the house has confirmed, and what is shown ahead of it.

Pure. A move that turns nothing up is shown at once and is *in flight* until the house answers.
What is shown is always the confirmed view with the moves in flight played on it; so whatever the
house says, in whatever order, the shown board ends where the house's board is.
"""

from dataclasses import dataclass, replace
from typing import Final

from saratoga_client.input.move_text import pile_name
from saratoga_client.input.prediction import predicted_view
from saratoga_client.sanitised import sanitised
from saratoga_client.wording import capitalised, counted
from saratoga_protocol.events import BoardView
from saratoga_protocol.views import rules_view
from saratoga_rules.game import Game
from saratoga_rules.judge import refusal
from saratoga_rules.money import net
from saratoga_rules.moves import Carry, Draw, Move, Redeal
from saratoga_rules.refusals import IllegalMove
from saratoga_rules.views import View

RACING: Final = "racing"


@dataclass(frozen=True, slots=True)
class Flight:
    """A move on its way to the house."""

    ticket: int
    """Its own: the same move may be in flight twice."""
    move: Move


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnBoard:
    """A player's own board."""

    race: str
    game: Game
    count: int
    """How many moves the house has confirmed; when the board has ended, perhaps its end too."""
    view: View
    """The board after them."""
    shown: View
    """The board with the moves in flight, up to one that turns something up."""
    state: str
    """As in `saratoga_rules.records.standing.State`."""
    in_flight: tuple[Flight, ...] = ()
    """In the order in which they were made; the first has `count` moves before it."""
    awaited: bool = False
    """The last move in flight turns something up: nothing can be played before its answer."""
    taken_back: str = ""
    """Why the last moves were taken back, for the player; empty after the next move."""
    is_cashing_out: bool = False
    """The player has asked to take the money; nothing more is played."""
    start_at: int = 0
    """Milliseconds since 1970 by the house's clock."""
    deadline: int = 0
    """The same; 0: no cap."""
    tickets: int = 0
    """How many were given out."""

    @property
    def is_racing(self) -> bool:
        return self.state == RACING

    @property
    def may_move(self) -> bool:
        """Whether a move can be made now; keys pressed meanwhile should be kept for later."""
        return self.is_racing and not self.awaited and not self.is_cashing_out

    @property
    def banked(self) -> int:
        """Cards on the foundations as shown."""
        return self.shown.banked

    @property
    def net(self) -> int:
        """Casino dollars as shown."""
        return net(self.game, self.banked)


def own_board(board: BoardView, game: Game, start_at: int, deadline: int) -> OwnBoard:
    """The board as the house says it is; `ValueError` if that is no board."""
    view = rules_view(board.view)
    return OwnBoard(
        race=board.race,
        game=game,
        count=board.count,
        view=view,
        shown=view,
        state=board.state,
        start_at=start_at,
        deadline=deadline,
    )


def with_move(own: OwnBoard, move: Move) -> OwnBoard:
    """The board with one more move in flight; raises `IllegalMove`.

    Only while `may_move`: nobody can say what lies there after a move that turns something up.
    """
    assert own.may_move, "the board waits for the house"
    refused = refusal(own.game, own.shown, move)
    if refused is not None:
        raise IllegalMove(move, refused)
    flight = Flight(own.tickets, move)
    return _shown_ahead(
        replace(
            own,
            in_flight=(*own.in_flight, flight),
            tickets=own.tickets + 1,
            taken_back="",
        )
    )


def with_board(own: OwnBoard, board: BoardView, is_final: bool = False) -> OwnBoard:
    """The board after the house has shown it; an older picture of it changes nothing.

    `is_final`: this is how it stands, even if more had been confirmed before.
    """
    if board.race != own.race:
        return own
    is_older = (board.count, board.state != RACING) < (own.count, not own.is_racing)
    if is_older and not is_final:
        return own
    view = rules_view(board.view)
    done = board.count - own.count
    fresh = replace(own, count=board.count, view=view, state=board.state)
    if done < 0:
        return _without(fresh, 0, f"the house has only {board.count} of your moves.")
    if not fresh.is_racing and done and _ahead(own, done - 1) == view:
        # the ending itself was counted too
        done -= 1
    fresh = replace(fresh, in_flight=own.in_flight[done:])
    if not fresh.is_racing:
        fresh = replace(fresh, is_cashing_out=False)
        return _without(fresh, 0, f"your board had ended: {sanitised(board.state)}.")
    return _shown_ahead(fresh)


def without(own: OwnBoard, ticket: int, reason: str) -> OwnBoard:
    """The board when the house has refused a move: it and all moves after it are taken back."""
    place = place_of(own, ticket)
    return own if place is None else _without(own, place, reason)


def place_of(own: OwnBoard, ticket: int) -> int | None:
    """How many moves in flight are before this one; `None`: it is in flight no more."""
    return next((at for at, flight in enumerate(own.in_flight) if flight.ticket == ticket), None)


def _without(own: OwnBoard, place: int, reason: str) -> OwnBoard:
    gone = own.in_flight[place:]
    kept = replace(own, in_flight=own.in_flight[:place])
    if gone:
        kept = replace(kept, taken_back=f"{_named(own.game, gone)} taken back: {reason}")
    return _shown_ahead(kept)


def _named(game: Game, gone: tuple[Flight, ...]) -> str:
    others = len(gone) - 1
    match gone[0].move:
        case Draw():
            first = "The draw"
        case Redeal():
            first = "The redeal"
        case Carry() as move:
            source, target = pile_name(game, move.source), pile_name(game, move.target)
            first = f"{capitalised(source)} to {target}"
    if not others:
        return f"{first} was"
    return f"{first} and {counted(others, 'move')} after it were"


def _ahead(own: OwnBoard, moves: int) -> View | None:
    """The confirmed view after so many of the moves in flight; `None` where nobody can tell."""
    view: View | None = own.view
    for flight in own.in_flight[:moves]:
        if view is None or refusal(own.game, view, flight.move) is not None:
            return None
        view = predicted_view(own.game, view, flight.move)
    return view if moves <= len(own.in_flight) else None


def _shown_ahead(own: OwnBoard) -> OwnBoard:
    """Play the moves in flight on the confirmed view, as far as they can be foreseen."""
    view = own.view
    for place, flight in enumerate(own.in_flight):
        refused = refusal(own.game, view, flight.move)
        if refused is not None:
            return _without(own, place, str(refused))
        ahead = predicted_view(own.game, view, flight.move)
        if ahead is None:
            is_last = place == len(own.in_flight) - 1
            rest = own if is_last else _without(own, place + 1, "the board has changed.")
            return replace(rest, shown=view, awaited=True)
        view = ahead
    return replace(own, shown=view, awaited=False)
