"""One script of commands, legal and not, told to the same house on deals that differ in hidden cards.

The script is made on one deal: two racers, one of whom tries everything, and a stranger without a
seat who does the same. It is kept as frames, and said word for word on any other deal. What comes
back is kept step by step: every frame to everybody, the pages over HTTP, the metrics and the log.
"""

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from random import Random
from typing import Any

from prometheus_client import generate_latest

from kit.in_process_server import (
    InProcessServer,
    always,
    counted_down,
    gathered,
    open_in_process_server,
)
from kit.mutations import Spoiler
from kit.players import MemoryPlayer
from kit.secrecy import ODD_MOVES, Leak
from kit.walks import banking, wandering
from saratoga_protocol import commands
from saratoga_protocol.codec import BadFrame, Codec, Frame
from saratoga_protocol.commands import AnyCommand
from saratoga_protocol.version import JSON, MSGPACK
from saratoga_rules.games import GAMES
from saratoga_rules.judge import legal_moves, play
from saratoga_rules.moves import parse_move
from saratoga_rules.position import Position
from saratoga_rules.records.record import LOG_ENDINGS
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS
from saratoga_server.live.refusals import refused
from saratoga_server.metrics.exporter import registry_of
from saratoga_server.node import Node
from saratoga_server.transport.http_api import HttpPages

Step = tuple[str, Frame]
"""Who sends which frame."""

OURS = re.compile(rb"saratoga_(?!tasks)")
"""Metrics of the house: those of the process, and how many tasks it has, are the test's as well."""

PAGES_EVERY = 6
"""Steps."""

RACERS = ("Anna", "Bert")
SPOILT = 0.25
"""Of all frames, so many are spoilt in their bytes."""


@dataclass
class Telling:
    """What came back, and how the boards stood, before the first step and after each."""

    script: list[Step]
    heard: list[dict[str, int]] = field(default_factory=list)
    """How many frames or pages each had been sent by then."""
    streams: dict[str, list[object]] = field(default_factory=dict)
    made: list[dict[str, int]] = field(default_factory=list)
    """How many moves each racer had made by then."""
    way: dict[str, list[Position]] = field(default_factory=dict)
    """Of each racer, every position from the opening on."""

    def ways(self, step: int) -> dict[str, list[Position]]:
        """Of each racer, every position up to that step."""
        return {name: self.way[name][: 1 + made] for name, made in self.made[step].items()}

    def until(self, step: int) -> dict[str, list[object]]:
        """Everything that anybody was sent up to that step."""
        return {name: stream[: self.heard[step][name]] for name, stream in self.streams.items()}


def check_same(ours: dict[str, list[object]], theirs: dict[str, list[object]]) -> None:
    """Raise `Leak`, with the first thing that differs, unless all were sent the same."""
    for name, stream in ours.items():
        for number, (one, other) in enumerate(zip_longest(stream, theirs[name])):
            if one != other:
                raise Leak(f"{name}, {number}: {_unlike(one, other)}")


def _unlike(one: object, other: object) -> str:
    if isinstance(one, list) and isinstance(other, list):
        return str([pair for pair in zip_longest(one, other) if pair[0] != pair[1]])
    return f"{one!r}, and {other!r}"


async def scripted(game: str, opening: Position, chance: Random, steps: int) -> Telling:
    """Make a script on this deal, and tell it."""
    return await _told(game, opening, steps, lambda room: Tempter(room, chance, game).next())


async def told(game: str, opening: Position, script: Sequence[Step]) -> Telling:
    """Tell a script, word for word, on another deal."""
    lines = iter(script)
    return await _told(game, opening, len(script), lambda room: next(lines))


@dataclass
class Room:
    """The house, and who is there."""

    server: InProcessServer
    players: dict[str, MemoryPlayer]
    code: str


async def _told(
    game: str, opening: Position, steps: int, next_step: Callable[[Room], Step]
) -> Telling:
    telling = Telling([])
    with _log() as log:
        async with open_in_process_server(always(opening)) as server:
            players = {
                "Anna": await server.player("Anna", legal=True, subprotocol=JSON),
                "Bert": await server.player("Bert", subprotocol=MSGPACK),
                "Wanda": await server.player("Wanda", legal=True, subprotocol=JSON),
            }
            anna, bert, wanda = players.values()
            code = await gathered(anna, bert, game=game)
            await wanda.at_table(commands.WatchTable, table=code)
            await counted_down(anna, bert)
            await server.pass_time(COUNTDOWN_MILLIS)
            room = Room(server, players, code)
            telling.streams = {name: player.received.frames for name, player in players.items()}  # type: ignore[misc]
            telling.streams |= {"pages": [], "log": log}
            await _look(telling, room, game)
            for _ in range(steps):
                step = next_step(room)
                telling.script.append(step)
                server.time.at += 700
                await _say(players[step[0]], step[1])
                await server.pass_time(0)
                await _look(telling, room, game)
            for name, entries in _moves(room).items():
                way = telling.way[name] = [opening]
                for text in entries:
                    way.append(play(GAMES[game], way[-1], parse_move(text)))
    return telling


async def _say(player: MemoryPlayer, frame: Frame) -> None:
    """As the gateway does with a frame."""
    session = player.session
    try:
        command = session.codec.decode_command(frame)
    except BadFrame as bad:
        session.tell(refused(bad.code, bad.re, bad.detail))
        return
    session.tell(await player.server.answer(session, command))


async def _look(telling: Telling, room: Room, game: str) -> None:
    """Note what everybody has been sent, and now and then what anybody may fetch."""
    if len(telling.heard) % PAGES_EVERY == 0:
        await _fetch(telling, room.server.node, room.code, game)
    telling.heard.append({name: len(stream) for name, stream in telling.streams.items()})
    telling.made.append({name: len(entries) for name, entries in _moves(room).items()})


async def _fetch(telling: Telling, node: Node, code: str, game: str) -> None:
    pages = HttpPages(node)
    for path in (
        *(f"/records/{code}/1", f"/records/{code}/2", f"/leaderboards/{game}"),
        *(f"/leaderboards/{game}?period=all&bots=1", "/readyz", "/healthz", "/"),
    ):
        page = await pages.page("GET", path)
        telling.streams["pages"].append((page.status, page.body))
    metrics = generate_latest(registry_of(node.metrics)).splitlines()
    telling.streams["pages"].append([line for line in metrics if OURS.match(line)])


def _moves(room: Room) -> dict[str, list[str]]:
    """What each racer has played so far."""
    race = room.server.node.races.known(f"{room.code}/1")
    assert race is not None
    boards = {player: run.board for player, run in race.runs.items() if run.board}
    return {
        name: [
            entry.text
            for entry in boards[room.players[name].player].log
            if entry.text not in LOG_ENDINGS
        ]
        for name in RACERS
    }


class Tempter:
    """Says what comes next, by what is known on the deal that the script is made on."""

    def __init__(self, room: Room, chance: Random, game: str) -> None:
        self._room = room
        self._chance = chance
        self._game = game
        self._said: list[Step] = []

    def next(self) -> Step:
        chance = self._chance
        name = chance.choice(("Anna", "Anna", "Anna", "Bert", "Bert", "Wanda"))
        player = self._room.players[name]
        kind = chance.random()
        before = [frame for who, frame in self._said if who == name]
        if kind < 0.1 and before:
            return name, chance.choice(before)
        player.last_id = max(player.last_id, *self._taken(player), 0)
        command = self._move(player) if kind < 0.65 else self._odd(player)
        player.last_id = max(player.last_id, command.id)
        codec = player.received.codec
        frame = codec.encode_command(command)
        if chance.random() < SPOILT:
            spoilt = Spoiler(chance, codec.subprotocol).frame(command)
            frame = spoilt if _leaves_ids(codec, spoilt) else frame
        self._said.append((name, frame))
        return name, frame

    def _taken(self, player: MemoryPlayer) -> list[int]:
        """Ids that spoilt frames have used up."""
        seat = self._room.server.state(self._room.code).seat(player.player)
        race = self._room.server.node.races.known(f"{self._room.code}/1")
        run = None if race is None else race.runs.get(player.player)
        board = None if run is None else run.board
        return [each.last_id for each in (seat, board) if each is not None]

    def _move(self, player: MemoryPlayer) -> AnyCommand:
        """A legal one, a random one, or one meant for another position."""
        chance = self._chance
        race = self._room.server.node.races.known(f"{self._room.code}/1")
        run = None if race is None else race.runs.get(player.player)
        board = None if run is None else run.board
        count, move = 0, chance.choice((*ODD_MOVES, "x", "t1>", "t99>up"))
        if board is not None:
            count = board.length
            legal = legal_moves(GAMES[self._game], board.position)
            if legal and chance.random() < 0.8:
                temper = banking if chance.random() < 0.7 else wandering
                move = str(temper(legal, chance))
        after = max(0, count + chance.choice((0, 0, 0, 0, 0, 0, 0, 1, -1, 5)))
        return commands.MakeMove(
            id=player.last_id + 1, race=f"{self._room.code}/1", after=after, move=move
        )

    def _odd(self, player: MemoryPlayer) -> AnyCommand:
        """Anything but what would end a board: the record would open."""
        chance, code = self._chance, self._room.code
        ident = player.last_id + 1 if chance.random() < 0.8 else chance.randrange(1, 60)
        here: dict[str, Any] = {
            "id": ident,
            "table": chance.choice((code, code, code, "amber-heron-07")),
        }
        race = f"{code}/{chance.choice((1, 1, 2))}"
        makes: list[Callable[[], AnyCommand]] = [
            lambda: commands.GetRecord(id=ident, race=race),
            lambda: commands.MakeMove(id=ident, race=race, after=0, move="draw"),
            lambda: commands.WatchTable(**here),
            lambda: commands.UnwatchTable(**here),
            lambda: commands.Resume(**here),
            lambda: commands.JoinTable(**here),
            lambda: commands.ChangeSettings(**here, game="caprice"),
            lambda: commands.Ready(**here, commitment="c0" * 32, nonce_hash="d1" * 32),
            lambda: commands.NotReady(**here),
            lambda: commands.Start(**here),
            lambda: commands.Reveal(**here, nonce="e2" * 16),
            lambda: commands.NextRace(**here),
            lambda: commands.Kick(**here, player=self._room.players["Bert"].player),
            lambda: commands.ListTables(id=ident),
            lambda: commands.GetLeaderboard(id=ident, game=self._game, around_me=True),
            lambda: commands.SubscribeLeaderboard(id=ident, game=self._game),
            lambda: commands.ClaimName(id=ident, name=player.name),
            lambda: commands.CreateTable(id=ident, game=self._game),
            lambda: commands.Hello(id=ident, token=player.token),
            lambda: commands.Heartbeat(id=ident),
        ]
        return chance.choice(makes)()


def _leaves_ids(codec: Codec, frame: Frame) -> bool:
    """Whether there are ids left after this one: behind the largest nothing is taken any more."""
    try:
        return codec.decode_command(frame).id < 1000
    except BadFrame:
        return True


class _Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[object] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append((record.getMessage(), str(getattr(record, "fields", ""))))


@contextmanager
def _log() -> Iterator[list[object]]:
    """Everything that the house logs meanwhile."""
    kept, root = _Kept(), logging.getLogger("saratoga")
    level = root.level
    root.addHandler(kept)
    root.setLevel(logging.DEBUG)
    try:
        yield kept.lines
    finally:
        root.removeHandler(kept)
        root.setLevel(level)
