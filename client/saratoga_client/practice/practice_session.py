"""A practice session: one deal after another, with undo, redo, hints, a clock and a ghost.

Each action returns a sentence for the player. When the player wins, restarts or leaves, the run is
kept if it is the best one of its deal, and can be the ghost of a later run. A ghost shows no cards.
Nothing else counts.
"""

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import MsgspecError, json

from saratoga_client.bots.choose import Memory, remember
from saratoga_client.input.move_text import CardName
from saratoga_client.local.paths import data_folder, replace_file
from saratoga_client.local.printed_command import printed_command
from saratoga_client.practice.deals import PracticeDeal, drawn_seed, from_seed
from saratoga_client.practice.hints import Hint, hint, safe_move
from saratoga_client.review.boards import Climb
from saratoga_client.wording import counted, dollars, minutes_and_seconds
from saratoga_protocol.visible_text import sanitised
from saratoga_rules.analysis import legal_moves
from saratoga_rules.game import Game
from saratoga_rules.money import net
from saratoga_rules.moves import Move
from saratoga_rules.play import is_won, play
from saratoga_rules.position import Position, View, redact
from saratoga_rules.stuck.stuck import is_stuck, may_declare


@dataclass(frozen=True, slots=True)
class Ghost:
    """The counts of an earlier run, to race against."""

    words: str
    """The description: `your run, 12 banked in 3:00` or `ana in mint-otter-42/3`."""
    climb: Climb


def gap_text(ghost: Ghost, banked: int, at: int) -> str:
    """Return the lead over the ghost now: `3 cards ahead of the ghost`."""
    lead = banked - ghost.climb.banked_at(at)
    if lead == 0:
        return "level with the ghost"
    return f"{counted(abs(lead))} {'ahead of' if lead > 0 else 'behind'} the ghost"


def best_ghost(ghosts: Iterable[Ghost]) -> Ghost | None:
    """Return the ghost with the most cards, reached earliest; `None` without ghosts."""

    def merit(ghost: Ghost) -> tuple[int, int]:
        climb = ghost.climb
        counts = ((0, climb.start), *climb.counts)
        return climb.final, -next(at for at, count in counts if count >= climb.final)

    return max(ghosts, key=merit, default=None)


def kept_runs(deal: PracticeDeal) -> list[Ghost]:
    """Return the kept run of a deal; an empty list if there is none, or it cannot be read."""
    try:
        return json.decode(_path(deal).read_bytes(), type=list[Ghost])
    except (OSError, MsgspecError):
        return []


def keep_run(deal: PracticeDeal, run: Ghost) -> None:
    """Keep a run in place of the kept one, if it is better; raises `OSError`."""
    replace_file(_path(deal), json.encode([best_ghost([*kept_runs(deal), run])]))


def _path(deal: PracticeDeal) -> Path:
    """Return the path of the best run, whose name is valid on every file system."""
    source = f"race-{deal.race}" if deal.race else f"seed-{deal.seed}"
    # A special character becomes its code point, so that two seeds never share a file.
    name = re.sub("[^a-z0-9-]", lambda found: f"_{ord(found[0]):x}_", source)
    return data_folder() / "practice" / deal.game.name / f"{name}.json"


STUCK_LIMIT: Final = 4000
"""Maximum positions that the search for a stuck board visits, in at most half a second."""


class PlayedMove(NamedTuple):
    """A move, and the position after it."""

    move: Move
    position: Position
    memory: Memory
    """The cards that an attentive player knows after the move; hints use no other hidden cards."""


class PracticeSession:
    """The actions of a player who practises, one deal after another."""

    STUCK: Final = "Stuck: nothing more can be banked. z undoes, s starts again, n deals anew."

    def __init__(
        self,
        deal: PracticeDeal,
        *,
        ghosts: Iterable[Ghost] = (),
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with a deal; its ghost is the best of `ghosts` and of the player's kept run."""
        self.save_error = ""
        """The reason why the last run could not be saved; empty without a failure."""
        self._more_ghosts = {deal.position: tuple(ghosts)}
        self._seconds = seconds
        self._start(deal)

    def _start(self, deal: PracticeDeal) -> None:
        self.deal = deal
        self.made: list[PlayedMove] = []
        """The moves made and not undone, oldest first."""
        self.undone: list[PlayedMove] = []
        """The undone moves; the last one is redone first."""
        self.counts: list[tuple[int, int]] = []
        """The time in milliseconds and the banked cards after each action, undone moves included."""
        self.undos = self.hints = 0
        self._opening = Memory()
        self._shown_at = self._seconds()
        self._has_won = False
        more = self._more_ghosts.get(deal.position, ())
        self.ghost = best_ghost((*more, *kept_runs(deal)))

    @property
    def game(self) -> Game:
        return self.deal.game

    @property
    def position(self) -> Position:
        return self.made[-1].position if self.made else self.deal.position

    @property
    def view(self) -> View:
        """The player's view, the only source of hints and drawings."""
        return redact(self.position)

    @property
    def memory(self) -> Memory:
        """What an attentive player knows, with the plan of the last hint."""
        return self.made[-1].memory if self.made else self._opening

    @property
    def banked(self) -> int:
        return self.position.banked

    @property
    def net(self) -> int:
        """The casino dollars that this board would win or lose in a race."""
        return net(self.game, self.banked)

    @property
    def is_won(self) -> bool:
        return is_won(self.game, self.position)

    @property
    def is_clean(self) -> bool:
        """True if the game was played without undo and hints, as in a race."""
        return not (self.undos or self.hints)

    @property
    def elapsed(self) -> int:
        """Return the milliseconds since the deal was shown; the clock stops when the game is won."""
        if self.is_won and self.counts:
            return self.counts[-1][0]
        return int((self._seconds() - self._shown_at) * 1000)

    @property
    def share(self) -> str:
        """The result as text for friends, with the command that practises the same deal."""
        clean = "no undo, no hint"
        if not self.is_clean:
            aids = ((self.undos, "undo"), (self.hints, "hint"))
            clean = " and ".join(counted(number, noun) for number, noun in aids if number)
        lines = [
            f"Saratoga practice, {self.game.title}, {self.deal.title}",
            f"{self.banked} banked, {dollars(self.net)} if it counted,"
            f" {'won ' if self.is_won else ''}in {minutes_and_seconds(self.elapsed)}, {clean}",
        ]
        if seed := self.deal.seed:
            lines.append(f"Try it: {printed_command('practice', self.game.name, '--seed', seed)}")
        return "\n".join(map(sanitised, lines))

    def greeting(self) -> str:
        """Return the first sentence for the player, about the deal or the ghost."""
        if self.ghost is not None:
            return f"You race a ghost: {self.ghost.words}. Nothing counts."
        return "Here nothing counts. Press a pile's key, then another's; h hints, z undoes."

    def play(self, move: Move) -> str:
        """Make a move; return a sentence if it wins the game, else "". Raises `IllegalMove`.

        The move drops the undone moves, unless it is the one that would be redone next.
        """
        if self.undone and self.undone[-1].move == move:
            self.made.append(self.undone.pop())
        else:
            before, known = self.view, self.memory
            position = play(self.game, self.position, move)
            known = replace(known, plan=known.plan[1:] if known.plan[:1] == (move,) else ())
            memory = remember(self.game, known, before, move, redact(position))
            self.made.append(PlayedMove(move, position, memory))
            self.undone.clear()
        self._count()
        if not self.is_won:
            return ""
        self.keep()
        clean = ", clean" if self.is_clean else ""
        return (
            f"Won: all {self.banked} banked in {minutes_and_seconds(self.elapsed)}{clean}."
            " y copies the result, n deals anew."
        )

    def undo(self) -> str:
        if not self.made:
            return "There is no move to undo."
        self.undone.append(self.made.pop())
        self.undos += 1
        self._count()
        return f"Undone; {self._standing()}, ctrl+y redoes {len(self.undone)}."

    def redo(self) -> str:
        if not self.undone:
            return "There is no move to redo."
        self.made.append(self.undone.pop())
        self._count()
        return f"Redone; {self._standing()}."

    def _standing(self) -> str:
        return "1 move stands" if len(self.made) == 1 else f"{len(self.made)} moves stand"

    def hint(self, card_name: CardName) -> Hint:
        """Return a hint and count it. Repeated calls give the same one."""
        if self.is_won:
            return Hint(None, "The game is won: there is nothing left to do.")
        if not legal_moves(self.game, self.view):
            return Hint(None, "There is no legal move. Undo, or deal again.")
        advice, memory = hint(self.game, self.view, self.memory, card_name)
        if self.made:
            self.made[-1] = self.made[-1]._replace(memory=memory)
        else:
            self._opening = memory
        self.hints += 1
        self._count()
        return advice

    def bank_safe(self) -> str:
        """Bank every card that is safe to bank."""
        says, banked = "", 0
        while (move := safe_move(self.game, self.view)) is not None:
            says, banked = self.play(move), banked + 1
        if not banked:
            return "Nothing is safe to bank now: f banks what you choose."
        return says or f"{counted(banked, 'safe card')} banked."

    def begin(self, deal: PracticeDeal) -> str:
        """Keep the run, and begin with another deal."""
        self.keep()
        self._start(deal)
        return self.greeting()

    def restart(self) -> str:
        """Keep the run, and start the same deal again."""
        return self.begin(self.deal)

    def deal_anew(self) -> str:
        """Keep the run, and deal from a random seed."""
        return self.begin(from_seed(self.game, drawn_seed()))

    def keep(self) -> None:
        """Keep the run, unless no action was made; a won run only once, even if moves are undone afterwards."""
        if self._has_won or not self.counts:
            return
        self._has_won = self.is_won
        end = self.elapsed
        result = "won" if self.is_won else f"{self.banked} banked"
        words = f"your run, {result} in {minutes_and_seconds(end)}"
        climb = Climb(self.deal.position.banked, tuple(self.counts), end)
        try:
            keep_run(self.deal, Ghost(words, climb))
            self.save_error = ""
        except OSError as fault:
            self.save_error = f"This run could not be saved: {fault}."

    def _count(self) -> None:
        self.counts.append((int((self._seconds() - self._shown_at) * 1000), self.banked))


def is_known_stuck(game: Game, position: Position) -> bool:
    """Return whether it is certain that no more card can be banked.

    As in a race, return `False` until the player has seen every card of the stock, because the
    answer would reveal hidden cards.
    """
    return may_declare(position) and is_stuck(game, position, STUCK_LIMIT) is True
