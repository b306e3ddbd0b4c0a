"""The player's own board in a race: the confirmed moves, and the moves in flight shown ahead.

Pure. A move that turns no card up is shown at once; it is *in flight* until the server answers.
The shown view is always the confirmed view with the moves in flight played on it. So in whatever
order the answers come, the shown board ends equal to the server's board.
"""

from dataclasses import dataclass, replace
from typing import Final

from saratoga_client.input.move_text import pile_name
from saratoga_client.wording import capitalised, counted, state_words
from saratoga_protocol.events import BoardView
from saratoga_protocol.views import rules_view
from saratoga_rules.cards import HIDDEN
from saratoga_rules.game import Game
from saratoga_rules.money import net
from saratoga_rules.moves import Carry, Draw, Move, Redeal
from saratoga_rules.play import IllegalMove, play, refusal
from saratoga_rules.position import View, redact


def predicted_view(game: Game, view: View, move: Move) -> View | None:
    """Return the view after a move; `None` if the move turns up a hidden card.

    Raise `IllegalMove` if the move is illegal.
    """
    after = play(game, view, move)
    # A hidden card among face-up cards means that the move turns a card up.
    if HIDDEN in after.waste[-game.stock.draw :] or HIDDEN in after.reserve[-1:]:
        return None
    if any(HIDDEN in column[-1:] for column in after.columns):
        return None
    return redact(after)


RACING: Final = "racing"


@dataclass(frozen=True, slots=True)
class Flight:
    """A move sent to the server and not answered yet."""

    ticket: int
    """A number that identifies the flight: the same move may be in flight twice."""
    move: Move


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnBoard:
    """A player's own board."""

    race: str
    game: Game
    count: int
    """The number of confirmed moves; after the end of the board, its ending may count too."""
    view: View
    """The confirmed board."""
    shown: View
    """The confirmed board with the moves in flight played, except a last one that turns a card up."""
    state: str
    """The state of the board, as `saratoga_rules.records.standing.State` defines it."""
    in_flight: tuple[Flight, ...] = ()
    """The moves in flight, oldest first; `count` moves come before the first."""
    awaited: bool = False
    """True if the last move in flight turns a card up; the player must wait for its answer."""
    taken_back: str = ""
    """A sentence on why the last moves were taken back; empty after the next move."""
    is_cashing_out: bool = False
    """True while the player cashes out; no more moves can be made."""
    start_at: int = 0
    """Start of the race, in milliseconds since 1970 by the server's clock."""
    deadline: int = 0
    """End of the race, in milliseconds since 1970 by the server's clock; 0 without a time limit."""
    tickets: int = 0
    """The number of tickets used so far."""

    @property
    def is_racing(self) -> bool:
        return self.state == RACING

    @property
    def may_move(self) -> bool:
        """Test whether a move can be made now; if not, the caller should queue keys."""
        return self.is_racing and not self.awaited and not self.is_cashing_out

    @property
    def banked(self) -> int:
        """The number of cards on the foundations of the shown board."""
        return self.shown.banked

    @property
    def net(self) -> int:
        """The casino dollars won or lost on the shown board."""
        return net(self.game, self.banked)


def own_board(board: BoardView, game: Game, start_at: int, deadline: int) -> OwnBoard:
    """Return the own board for a board that the server sent; raises `ValueError` if invalid."""
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
    """Return the board with one more move in flight; raises `IllegalMove`.

    Call it only while `may_move`.
    """
    assert own.may_move, "the board waits for an answer"
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
    """Return the own board after the server has sent `board`; ignore an older version.

    With `is_final` the sent board counts even if more moves had been confirmed before.
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
        return _without(fresh, 0, f"the server has only {board.count} of your moves.")
    if not fresh.is_racing and done and _ahead(own, done - 1) == view:
        # The count includes the ending of the board.
        done -= 1
    fresh = replace(fresh, in_flight=own.in_flight[done:])
    if not fresh.is_racing:
        fresh = replace(fresh, is_cashing_out=False)
        return _without(fresh, 0, f"your board had ended: {state_words(board.state)}.")
    return _shown_ahead(fresh)


def without(own: OwnBoard, ticket: int, reason: str) -> OwnBoard:
    """Return the board without a refused move and all moves after it."""
    place = place_of(own, ticket)
    return own if place is None else _without(own, place, reason)


def place_of(own: OwnBoard, ticket: int) -> int | None:
    """Return the number of moves in flight before this one; `None` if it is not in flight."""
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
    """Return the confirmed view after some of the moves in flight; `None` if it is unknown."""
    view: View | None = own.view
    for flight in own.in_flight[:moves]:
        if view is None or refusal(own.game, view, flight.move) is not None:
            return None
        view = predicted_view(own.game, view, flight.move)
    return view if moves <= len(own.in_flight) else None


def _shown_ahead(own: OwnBoard) -> OwnBoard:
    """Play the moves in flight on the confirmed view, as far as their results are known."""
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
