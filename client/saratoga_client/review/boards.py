"""The boards of a finished race, with every position and its time; their differences and pauses; and their replay."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from saratoga_client.input.move_text import CardName, card_name, describe
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_view import Row
from saratoga_client.wording import shown_name, state_words, tie_words
from saratoga_rules.game import Game
from saratoga_rules.money import net
from saratoga_rules.moves import parse_move
from saratoga_rules.position import Position, View, redact
from saratoga_rules.records.record import LogLine, RaceRecord
from saratoga_rules.records.replay import ReplayError, game_of, steps, steps_from
from saratoga_rules.records.standing import LOG_ENDINGS


@dataclass(frozen=True, slots=True)
class Climb:
    """The number of banked cards over time; taking cards back and undo lower it."""

    start: int
    """The number of cards that the deal banked."""
    counts: tuple[tuple[int, int], ...]
    """Pairs in order of time: milliseconds since the deal, and banked cards from then on."""
    end: int
    """The time at which the board ended, in milliseconds since the deal."""

    @property
    def final(self) -> int:
        """The number of cards banked at the end."""
        return self.counts[-1][1] if self.counts else self.start

    def banked_at(self, at: int) -> int:
        """Return the number of cards banked `at` milliseconds after the deal."""
        past = bisect_right(self.counts, at, key=lambda count: count[0])
        return self.counts[past - 1][1] if past else self.start


def live_climb(state: SessionState, row: Row, end: int) -> Climb:
    """Return the climb of a racer until `end`, as far as the standings have shown it."""
    moments = state.history.get(row.player, ())
    return Climb(moments[0][1] if moments else row.banked, moments[1:], end)


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


@dataclass(frozen=True, slots=True)
class Replay:
    """A replay of a race at one moment."""

    race: str
    boards: Sequence[OpenBoard]
    """The boards in order of place; there is at least one."""
    player: str = ""
    """The id of the player who reviews the race; empty if this player did not race."""
    shown: int = 0
    """The index of the shown board."""
    step: int = 0
    """The number of the shown board's log entries so far."""
    moment: int = 0
    """The shown time, in milliseconds from the start of the race."""

    @property
    def board(self) -> OpenBoard:
        return self.boards[self.shown]

    @property
    def rival(self) -> OpenBoard:
        """The board that the shown one is compared with: the winner's, or that of the second place."""
        return self.boards[min(1, len(self.boards) - 1) if self.shown == 0 else 0]

    @property
    def end(self) -> int:
        """The time at which the last board ended, in milliseconds from the start of the race."""
        return max(board.end for board in self.boards)

    def step_of(self, index: int) -> int:
        """Return the number of a board's log entries so far."""
        if index == self.shown:
            return self.step
        return self.boards[index].step_at(self.moment) if self.moment else 0

    def banked(self, index: int) -> int:
        """Return the number of cards that a board has banked so far."""
        return self.boards[index].positions[self.step_of(index)].banked

    def stepped(self, steps: int) -> "Replay":
        """Return the replay `steps` log entries of the shown board later; earlier if negative."""
        step = min(max(self.step + steps, 0), len(self.board.entries))
        if step == self.step:
            return self
        return replace(self, step=step, moment=self.board.entries[step - 1].at if step else 0)

    def at(self, moment: int) -> "Replay":
        """Return the replay at a moment of the race."""
        moment = min(max(moment, 0), self.end)
        step = self.board.step_at(moment) if moment else 0
        return replace(self, moment=moment, step=step)

    def of(self, index: int) -> "Replay":
        """Return the replay of another board at the same moment."""
        return replace(self, shown=index, step=self.step_of(index))


def replay_of(race: str, boards: Sequence[OpenBoard], player: str = "") -> Replay:
    """Return a replay at the deal, with a player's board or the winner's; there is at least one board."""
    shown = next((at for at, board in enumerate(boards) if board.player == player), 0)
    return Replay(race, boards, player, shown)
