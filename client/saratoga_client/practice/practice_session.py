"""Somebody practises: the game, its clock, its ghost, and the runs that are kept.

Every deed answers in a sentence. A run is kept when it is left, won or begun again, so that it can
come back as a ghost.
"""

import secrets
import time
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from saratoga_client.input.move_text import CardName
from saratoga_client.local.clock import now
from saratoga_client.practice.deals import DRAWN_SEED, PracticeDeal, from_seed, seed_of
from saratoga_client.practice.game import PracticeGame, make, new_game, redo, restart, undo
from saratoga_client.practice.ghost import Ghost, best_ghost
from saratoga_client.practice.hints import hint
from saratoga_client.practice.run_store import RunStore, ghosts_of
from saratoga_client.practice.runs import PracticeRun
from saratoga_client.practice.safe_moves import safe_move
from saratoga_client.practice.share_text import practice_text
from saratoga_client.review.times import clock
from saratoga_rules.moves import Move


def _moves(number: int) -> str:
    return "1 move stands" if number == 1 else f"{number} moves stand"


def drawn_seed() -> str:
    """A seed that nobody has chosen."""
    return seed_of(secrets.token_bytes(DRAWN_SEED))


class Advised(NamedTuple):
    """A hint that was given."""

    move: Move | None
    says: str


class PracticeSession:
    """What a player does at practice, one deal after another."""

    STUCK: Final = "Stuck: nothing more can be banked. z undoes, s starts again, n deals anew."

    def __init__(
        self,
        dealt: PracticeDeal,
        *,
        shelf: RunStore | None = None,
        with_ghost: bool = False,
        ghosts: Iterable[Ghost] = (),
        seconds: Callable[[], float] = time.monotonic,
        milliseconds: Callable[[], int] = now,
    ) -> None:
        """`ghosts` of this deal are more than the shelf's, such as one's own board in a race."""
        self.practice: PracticeGame = new_game(dealt)
        self.ghost: Ghost | None = None
        self.with_ghost = with_ghost
        self.trouble = ""
        """Why the last run could not be kept; empty if nothing went wrong."""
        self._shelf = RunStore() if shelf is None else shelf
        self._more_ghosts = {dealt.position: tuple(ghosts)}
        self._seconds = seconds
        self._milliseconds = milliseconds
        self._has_won = False
        self._start(self.practice)

    @property
    def elapsed(self) -> int:
        """Milliseconds since the deal was shown; a won game's clock stands still."""
        if self.practice.is_won:
            return self.practice.last_at
        return int((self._seconds() - self._shown_at) * 1000)

    @property
    def run(self) -> PracticeRun:
        """What was done so far."""
        return PracticeRun(practice=self.practice, began=self._began, end=self.elapsed)

    @property
    def share(self) -> str:
        """What one sends one's friends."""
        return practice_text(self.run)

    def greeting(self) -> str:
        """What is practised."""
        if self.ghost is not None:
            return f"You race a ghost: {self.ghost.words}. Nothing counts."
        if self.with_ghost:
            return "No run of this deal is kept yet: this one will be your ghost."
        return f"Practice, {self.practice.dealt.title}: nothing counts. h hints, z undoes."

    def play(self, move: Move) -> str:
        """Make a move; raises `IllegalMove`. Says something where that was the last one."""
        self.practice = make(self.practice, move, self.elapsed)
        return self._won()

    def undo(self) -> str:
        after = undo(self.practice, self.elapsed)
        if after is self.practice:
            return "There is no move to undo."
        self.practice = after
        return f"Undone; {_moves(len(after.made))}, y makes {len(after.undone)} again."

    def redo(self) -> str:
        after = redo(self.practice, self.elapsed)
        if after is self.practice:
            return "There is no undone move to make again."
        self.practice = after
        return f"Made again; {_moves(len(after.made))}."

    def hint(self, card_name: CardName) -> Advised:
        """What a strong player would do; counted."""
        advice = hint(self.practice, self.elapsed, card_name)
        self.practice = advice.practice
        return Advised(advice.hint.move, advice.hint.says)

    def bank_safe(self) -> str:
        """Bank all that is safe, card by card."""
        practice, banked = self.practice, 0
        while (move := safe_move(practice.game, practice.view)) is not None:
            practice, banked = make(practice, move, self.elapsed), banked + 1
        self.practice = practice
        if not banked:
            return "Nothing is safe to bank now: f banks what you choose."
        cards = "1 card was safe, and is banked." if banked == 1 else f"{banked} safe cards banked."
        return self._won() or cards

    def restart(self) -> str:
        """The same deal from its beginning."""
        self.keep()
        self._start(restart(self.practice))
        return self.greeting()

    def deal_anew(self) -> str:
        """Another deal, of a seed drawn now."""
        self.keep()
        self._start(new_game(from_seed(self.practice.game, drawn_seed())))
        return self.greeting()

    def toggle_ghost(self) -> str:
        self.with_ghost = not self.with_ghost
        self._call_ghost()
        return self.greeting() if self.with_ghost else "The ghost is gone; e calls it back."

    def keep(self) -> None:
        """Keep the run; a game that was won stays won, whatever is undone afterwards."""
        if self._has_won or not self.practice.log:
            return
        self._has_won = self.practice.is_won
        try:
            self._shelf.keep(self.run)
            self.trouble = ""
        except OSError as fault:
            self.trouble = f"This run could not be kept: {fault}."

    def _start(self, practice: PracticeGame) -> None:
        self.practice = practice
        self._shown_at = self._seconds()
        self._began = self._milliseconds()
        self._has_won = False
        self._call_ghost()

    def _call_ghost(self) -> None:
        if not self.with_ghost:
            self.ghost = None
            return
        dealt = self.practice.dealt
        more = self._more_ghosts.get(dealt.position, ())
        self.ghost = best_ghost((*more, *ghosts_of(self._shelf.runs(dealt))))

    def _won(self) -> str:
        practice = self.practice
        if not practice.is_won:
            return ""
        self.keep()
        clean = ", clean" if practice.is_clean else ""
        return (
            f"Won: all {practice.banked} banked in {clock(self.elapsed)}{clean}."
            " v copies that, n deals anew."
        )
