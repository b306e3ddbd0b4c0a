"""A practice session: the game, its clock, its ghost, and its saved runs.

Each action returns a sentence for the player. A run is saved when the player wins, restarts or
leaves it, and can be the ghost of a later run.
"""

import secrets
import time
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from saratoga_client.input.move_text import CardName
from saratoga_client.local.printed_command import printed_command
from saratoga_client.practice.deals import DRAWN_SEED, PracticeDeal, from_seed, seed_of
from saratoga_client.practice.game import PracticeGame, make, new_game, redo, restart, undo
from saratoga_client.practice.ghost import Ghost, RunStore, best_ghost, ghost_of_run
from saratoga_client.practice.hints import hint, safe_move
from saratoga_client.wording import dollars, minutes_and_seconds
from saratoga_protocol.visible_text import sanitised
from saratoga_rules.moves import Move


def practice_text(practice: PracticeGame, end: int) -> str:
    """Return the text about a run of `end` milliseconds, with the command that practises the same deal."""
    deal = practice.deal
    clean = "no undo, no hint" if practice.is_clean else _aids(practice.undos, practice.hints)
    lines = [
        f"Saratoga practice, {deal.game.title}, {deal.title}",
        f"{practice.banked} banked, {dollars(practice.net)} if it counted,"
        f" {'won ' if practice.is_won else ''}in {minutes_and_seconds(end)}, {clean}",
    ]
    if deal.seed:
        lines.append(f"Try it: {printed_command('practice', deal.game.name, '--seed', deal.seed)}")
    return "\n".join(map(sanitised, lines))


def _aids(undos: int, hints: int) -> str:
    parts = [
        f"{number} {noun}{'' if number == 1 else 's'}"
        for number, noun in ((undos, "undo"), (hints, "hint"))
        if number
    ]
    return " and ".join(parts)


def _moves(number: int) -> str:
    return "1 move stands" if number == 1 else f"{number} moves stand"


def drawn_seed() -> str:
    """Return a random seed."""
    return seed_of(secrets.token_bytes(DRAWN_SEED))


class PracticeHint(NamedTuple):
    """A hint: the advised move, or `None`, and a sentence."""

    move: Move | None
    says: str


class PracticeSession:
    """The actions of a player who practises, one deal after another."""

    STUCK: Final = "Stuck: nothing more can be banked. z undoes, s starts again, n deals anew."

    def __init__(
        self,
        deal: PracticeDeal,
        *,
        run_store: RunStore | None = None,
        with_ghost: bool = False,
        ghosts: Iterable[Ghost] = (),
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with a deal; `ghosts` of this deal are added to those of the run store."""
        self.practice: PracticeGame = new_game(deal)
        self.ghost: Ghost | None = None
        self.with_ghost = with_ghost
        self.save_error = ""
        """The reason why the last run could not be saved; empty without a failure."""
        self._run_store = RunStore() if run_store is None else run_store
        self._more_ghosts = {deal.position: tuple(ghosts)}
        self._seconds = seconds
        self._has_won = False
        self._start(self.practice)

    @property
    def elapsed(self) -> int:
        """Return the milliseconds since the deal was shown; the clock stops when the game is won."""
        if self.practice.is_won:
            return self.practice.last_at
        return int((self._seconds() - self._shown_at) * 1000)

    @property
    def share(self) -> str:
        """The result as text for friends."""
        return practice_text(self.practice, self.elapsed)

    def greeting(self) -> str:
        """Return the first sentence for the player, about the deal or the ghost."""
        if self.ghost is not None:
            return f"You race a ghost: {self.ghost.words}. Nothing counts."
        if self.with_ghost:
            return "No run of this deal is kept yet: this one will be your ghost."
        return "Here nothing counts. Press a pile's key, then another's; h hints, z undoes."

    def play(self, move: Move) -> str:
        """Make a move; return a sentence if it wins the game, else "". Raises `IllegalMove`."""
        self.practice = make(self.practice, move, self.elapsed)
        return self._won()

    def undo(self) -> str:
        after = undo(self.practice, self.elapsed)
        if after is self.practice:
            return "There is no move to undo."
        self.practice = after
        return f"Undone; {_moves(len(after.made))}, i redoes {len(after.undone)}."

    def redo(self) -> str:
        after = redo(self.practice, self.elapsed)
        if after is self.practice:
            return "There is no move to redo."
        self.practice = after
        return f"Redone; {_moves(len(after.made))}."

    def hint(self, card_name: CardName) -> PracticeHint:
        """Return a hint, and count it."""
        advice = hint(self.practice, self.elapsed, card_name)
        self.practice = advice.practice
        return PracticeHint(advice.hint.move, advice.hint.says)

    def bank_safe(self) -> str:
        """Bank every card that is safe to bank."""
        practice, banked = self.practice, 0
        while (move := safe_move(practice.game, practice.view)) is not None:
            practice, banked = make(practice, move, self.elapsed), banked + 1
        self.practice = practice
        if not banked:
            return "Nothing is safe to bank now: f banks what you choose."
        cards = "1 safe card banked." if banked == 1 else f"{banked} safe cards banked."
        return self._won() or cards

    def restart(self) -> str:
        """Save the run and start the same deal again."""
        self.keep()
        self._start(restart(self.practice))
        return self.greeting()

    def deal_anew(self) -> str:
        """Save the run and deal from a random seed."""
        self.keep()
        self._start(new_game(from_seed(self.practice.game, drawn_seed())))
        return self.greeting()

    def toggle_ghost(self) -> str:
        self.with_ghost = not self.with_ghost
        self._find_ghost()
        return self.greeting() if self.with_ghost else "The ghost is off; e brings it back."

    def keep(self) -> None:
        """Save the run; a won run is saved only once, even if moves are undone afterwards."""
        if self._has_won or not self.practice.log:
            return
        self._has_won = self.practice.is_won
        try:
            self._run_store.keep(self.practice.deal, ghost_of_run(self.practice, self.elapsed))
            self.save_error = ""
        except OSError as fault:
            self.save_error = f"This run could not be saved: {fault}."

    def _start(self, practice: PracticeGame) -> None:
        self.practice = practice
        self._shown_at = self._seconds()
        self._has_won = False
        self._find_ghost()

    def _find_ghost(self) -> None:
        if not self.with_ghost:
            self.ghost = None
            return
        deal = self.practice.deal
        more = self._more_ghosts.get(deal.position, ())
        self.ghost = best_ghost((*more, *self._run_store.runs(deal)))

    def _won(self) -> str:
        practice = self.practice
        if not practice.is_won:
            return ""
        self.keep()
        clean = ", clean" if practice.is_clean else ""
        return (
            f"Won: all {practice.banked} banked in {minutes_and_seconds(self.elapsed)}{clean}."
            " y copies the result, n deals anew."
        )
