"""The boards of a finished race, with every position and its time; their differences and pauses."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from saratoga_client.input.move_text import CardName, card_name, describe
from saratoga_client.review.climb import Climb
from saratoga_client.wording import shown_name, state_words, tie_words
from saratoga_rules.game import Game
from saratoga_rules.money import net
from saratoga_rules.moves import parse_move
from saratoga_rules.position import Position, View, redact
from saratoga_rules.records.record import LogLine, RaceRecord
from saratoga_rules.records.replay import ReplayError, game_of, steps, steps_from
from saratoga_rules.records.standing import LOG_ENDINGS


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBoard:
    """A racer's board in a finished race, from the deal to its end."""

    game: Game
    player: str
    name: str
    bot: bool
    place: int
    banked: int
    net: int
    state: str
    reached: int | None
    """Milliseconds from the start to the last rise to `banked` cards; `None` without a rise."""
    tie: str = ""
    entries: tuple[LogLine, ...]
    positions: tuple[Position, ...]
    """The position at the deal, and after every entry of the log."""

    @property
    def shown_name(self) -> str:
        """The racer's name, with the sign of a bot."""
        return shown_name(self.name, self.bot)

    def view(self, step: int) -> View:
        """Return the board after `step` entries of the log, as its player saw it."""
        return redact(self.positions[step])

    @property
    def end(self) -> int:
        """The time of the board's end, in milliseconds from the start."""
        return self.entries[-1].at if self.entries else 0

    @property
    def climb(self) -> Climb:
        """The number of banked cards over time."""
        start, *later = (position.banked for position in self.positions)
        times = (line.at for line in self.entries)
        return Climb(start, tuple(zip(times, later, strict=True)), self.end)

    def step_at(self, moment: int) -> int:
        """Return the number of log entries until a moment, in milliseconds from the start."""
        return bisect_right(self.entries, moment, key=lambda line: line.at)

    def time_of(self, step: int) -> int:
        """Return the time of the entry after `step` entries, or else of the board's end."""
        return self.entries[step].at if step < len(self.entries) else self.end

    def entry_words(self, step: int, card_name: CardName = card_name) -> str:
        """Return the entry after `step` entries in words, a move or an ending; empty after the last one."""
        if step == len(self.entries):
            return ""
        text = self.entries[step].text
        if text in LOG_ENDINGS:
            return state_words(text)
        return describe(self.game, self.view(step), parse_move(text), card_name)


def open_boards(record: RaceRecord) -> tuple[OpenBoard, ...]:
    """Return the boards of a race by place; raises `ReplayError` if they cannot be replayed."""
    boards = []
    for ahead, row in pairwise((None, *record.results)):
        assert row is not None
        racer = record.racer(row.player)
        made = steps(record, row.player)
        board = OpenBoard(
            game=game_of(record),
            player=row.player,
            name=racer.name,
            bot=racer.bot,
            place=row.place,
            banked=row.banked,
            net=row.net,
            state=row.state,
            reached=row.reached,
            tie=tie_words(row, ahead),
            entries=tuple(step.line for step in made),
            positions=(record.opening, *(step.position for step in made)),
        )
        boards.append(board)
    return tuple(boards)


def par_board(record: RaceRecord, banked: int, moves: Sequence[str]) -> OpenBoard | None:
    """Return a board that plays the line of par, spread evenly over the race's time.

    `None` if a move is not legal, or if the line does not bank so many cards.
    """
    game = game_of(record)
    end = max((line.at for racer in record.racers for line in racer.log), default=0)
    line = (
        LogLine(at=end * n // len(moves), number=n, text=move) for n, move in enumerate(moves, 1)
    )
    try:
        made = steps_from(game, record.opening, line)
    except ReplayError:
        return None
    positions = (record.opening, *(step.position for step in made))
    if positions[-1].banked != banked:
        return None
    return OpenBoard(
        game=game,
        player="par",
        name="par",
        bot=False,
        place=len(record.results) + 1,
        banked=banked,
        net=net(game, banked),
        state="",
        reached=None,
        entries=tuple(step.line for step in made),
        positions=positions,
    )


def par_sentence(par: OpenBoard, boards: Sequence[OpenBoard]) -> str:
    """Return what par says about a race; empty if a racer banked as many cards."""
    if par.banked <= max(board.banked for board in boards):
        return ""
    return f"This deal could have banked at least {par.banked}."


def first_difference(own: OpenBoard, other: OpenBoard) -> int | None:
    """Return the number of entries that two logs have in common; `None` if they are equal."""
    mine = [line.text for line in own.entries]
    theirs = [line.text for line in other.entries]
    if mine == theirs:
        return None
    shorter = min(len(mine), len(theirs))
    return next((at for at in range(shorter) if mine[at] != theirs[at]), shorter)


class Pause(NamedTuple):
    """A span of time without log entries."""

    since: int
    """Milliseconds from the start of the race."""
    lasted: int
    """The length of the pause in milliseconds."""
    step: int
    """The number of log entries before the pause."""


def longest_pauses(board: OpenBoard, count: int = 3) -> list[Pause]:
    """Return up to `count` pauses, the longest first; omit pauses of length 0."""
    times = (0, *(entry.at for entry in board.entries))
    pauses = [
        Pause(since, until - since, step)
        for step, (since, until) in enumerate(pairwise(times))
        if until > since
    ]
    return sorted(pauses, key=lambda pause: (-pause.lasted, pause.since))[:count]
