"""A house in memory with one racer's board, and a connection to it that a test moves by hand.

It answers like the real one: ids are remembered, moves say how many come before them. Nothing goes
by itself: the test lets the house take a command, lets the player hear an event, cuts the wire, or
makes the store fail. So every order of events that a network can bring about can be played through.
"""

import asyncio
from collections import deque
from dataclasses import dataclass, field

from msgspec.structs import replace

from kit.session_states import START, YOU, board, opening, table
from saratoga_client.net.backoff import Backoff
from saratoga_client.net.connection import Connection, LinkState, Timing
from saratoga_client.net.requests import Requests
from saratoga_protocol import events
from saratoga_protocol.commands import (
    AnyCommand,
    CashOut,
    GetRecord,
    JoinTable,
    MakeMove,
    WatchTable,
)
from saratoga_protocol.events import AnyEvent, BoardView
from saratoga_protocol.refusals import REASONS
from saratoga_rules.games import GAMES
from saratoga_rules.judge import legal_moves, play
from saratoga_rules.moves import DRAW, Move, parse_move
from saratoga_rules.position import Position

AT_ONCE = Backoff(first=0.0, largest=0.0, shortest=0.0)


@dataclass
class ModelHouse:
    """The board as the house has it."""

    game: str
    position: Position
    state: str = "racing"
    log: list[tuple[int, str]] = field(default_factory=list)
    """Ids of commands, 0 for the house's own, and entries."""
    troubles: deque[tuple[str, bool]] = field(default_factory=deque)
    """What the next commands are answered with, and whether they are carried out all the same."""
    records: dict[str, str] = field(default_factory=dict)
    """Of finished races, by their ids."""
    heard: list[AnyCommand] = field(default_factory=list)
    """Every command but moves and cashing out, which the log has."""
    shown: events.Snapshot | None = None
    """What whoever comes is shown, instead of the board."""

    @property
    def moves(self) -> list[Move]:
        return [parse_move(text) for _, text in self.log if text not in ("end", "cash-out")]

    def board(self) -> BoardView:
        return board(self.position, len(self.log), self.state, self.game)

    def snapshot(self) -> events.Snapshot:
        if self.shown is not None:
            return self.shown
        return events.Snapshot(
            table=table("y", game=self.game), now=START + 1000, board=self.board()
        )

    def end(self) -> events.BoardEnded:
        """The house ends the board."""
        self.state = "out of time"
        self.log.append((0, "end"))
        return events.BoardEnded(board=self.board(), at=1000)

    def move_elsewhere(self) -> None:
        """The player makes a move on another device."""
        legal = legal_moves(GAMES[self.game], self.position)
        if legal and self.state == "racing":
            self._enter(0, str(legal[0]))

    def answer(self, command: AnyCommand) -> AnyEvent:
        if self.troubles:
            code, is_done = self.troubles.popleft()
            if code == "stale_id" and self._has_carried_out(command.id):
                # that is said of nothing that was carried out
                return self._judged(command)
            if is_done:
                self._judged(command)
            return _refused(command.id, code)
        return self._judged(command)

    def _has_carried_out(self, command_id: int) -> bool:
        return any(known == command_id for known, _ in self.log)

    def _judged(self, command: AnyCommand) -> AnyEvent:
        if not isinstance(command, MakeMove | CashOut):
            return self._done(command)
        last_id = max((known for known, _ in self.log), default=0)
        if command.id <= last_id:
            if self._has_carried_out(command.id):
                return self._made(command.id, repeat=True)
            return _refused(command.id, "stale_id")
        if self.state != "racing":
            return self._no(command.id, "board_over")
        if isinstance(command, CashOut):
            self.state = "cashed out"
            self.log.append((command.id, "cash-out"))
            return self._made(command.id)
        if command.after != len(self.log):
            return self._no(command.id, "stale_move")
        if parse_move(command.move) not in legal_moves(GAMES[self.game], self.position):
            return self._no(command.id, "illegal_move")
        self._enter(command.id, command.move)
        return self._made(command.id)

    def _done(self, command: AnyCommand) -> AnyEvent:
        """All that concerns no board is done as it is asked."""
        self.heard.append(command)
        match command:
            case GetRecord(race=race) if race in self.records:
                return events.Record(re=command.id, race=race, text=self.records[race])
            case GetRecord():
                return _refused(command.id, "no_such_race")
            case JoinTable() | WatchTable():
                return replace(self.snapshot(), re=command.id)
            case _:
                return events.Done(re=command.id)

    def _enter(self, command_id: int, text: str) -> None:
        self.position = play(GAMES[self.game], self.position, parse_move(text))
        self.log.append((command_id, text))

    def _made(self, command_id: int, repeat: bool = False) -> events.MoveMade:
        return events.MoveMade(re=command_id, board=self.board(), at=1000, repeat=repeat)

    def _no(self, command_id: int, code: str) -> events.Refused:
        return events.Refused(
            re=command_id, code=code, message=REASONS[code].sentence, board=self.board()
        )


def _refused(command_id: int, code: str) -> events.Refused:
    reason = REASONS[code]
    return events.Refused(re=command_id, code=code, message=reason.sentence, retry=reason.retry)


class ModelConnection(Connection):
    """A player's connection to a model house: two wires, moved along by the test."""

    def __init__(self, house: ModelHouse, timing: Timing = Timing()) -> None:  # noqa: B008 - frozen
        super().__init__("ws://model.invalid", "5a" * 32, timing=timing)
        self.house = house
        self.to_house: deque[AnyCommand] = deque()
        self.to_player: deque[AnyEvent] = deque()
        self.is_up = False
        self._welcome = events.Welcome(
            player=YOU,
            name="Zoë",
            bot=False,
            next_id=2,
            now=START,
            server="model",
            node="n1",
            games=sorted(GAMES),
        )
        self._requests = Requests(AT_ONCE, self._send)
        self._requests.subscriptions.seat = house.snapshot().table.code

    def now(self) -> int:
        return START + 1000

    def _send(self, command: AnyCommand) -> None:
        if self.is_up:
            self.to_house.append(command)

    def come_up(self) -> None:
        """Hello, resume, and all that was not answered once more."""
        self.is_up = True
        self._requests.deliver(self.house.snapshot())
        for command in self._requests.unanswered():
            self._send(command)
        self._set_state(LinkState.CONNECTED)

    def cut(self) -> None:
        """What is on the wires is lost."""
        self.is_up = False
        self.to_house.clear()
        self.to_player.clear()
        self._set_state(LinkState.RECONNECTING)

    def end(self, trouble: Exception) -> None:
        """It is over for good."""
        self.is_up = False
        self._finish(trouble)

    def let_house_answer(self) -> None:
        if self.to_house:
            self.say(self.house.answer(self.to_house.popleft()))

    def say(self, event: AnyEvent) -> None:
        """The house says something; unheard if nobody is connected."""
        if self.is_up:
            self.to_player.append(event)

    def let_player_hear(self) -> None:
        if self.to_player:
            self._requests.receive(self.to_player.popleft())

    async def settle(self) -> None:
        """Until nothing is on its way any more."""
        idle = 0
        while idle < 3:
            idle = 0 if self.to_house or self.to_player else idle + 1
            self.let_house_answer()
            self.let_player_hear()
            await breathe()


async def breathe() -> None:
    """Let everybody do what they can do."""
    for _ in range(12):
        await asyncio.sleep(0)


def model_game(name: str, key: int, drawn: int = 0) -> ModelHouse:
    """A house with a deal, from which so many times the stock was drawn: then more can be moved."""
    position = opening(name, key)
    for _ in range(drawn):
        if DRAW in legal_moves(GAMES[name], position):
            position = play(GAMES[name], position, DRAW)
    return ModelHouse(name, position)
