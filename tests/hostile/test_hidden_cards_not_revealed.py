"""No sequence of commands, legal or not, reveals a card that its player has not turned up.

A script of unusual commands runs on deals that differ only in hidden cards; tokens, seeds, codes
and time are the same. Until one of those cards is turned up, every byte must be the same: for both
racers, for a player without a seat, on the HTTP pages, in the metrics and in the log.
"""

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from random import Random
from typing import Any

import msgpack
import pytest
from prometheus_client import generate_latest

from kit.gateways import WEB_FILES, asking
from kit.in_process_server import (
    InProcessServer,
    always,
    counted_down,
    gathered,
    open_in_process_server,
)
from kit.messages import COMMANDS, Spoiler, varied
from kit.players import MemoryPlayer
from kit.positions import banking, wandering
from kit.secrecy import ODD_MOVES, Leak, Slot, is_up, leak, rearranged, slots
from kit.tables import CODE
from saratoga_protocol import commands
from saratoga_protocol.codec import JSON, MSGPACK, BadFrame, Codec, Frame
from saratoga_protocol.commands import Command
from saratoga_protocol.events import Refused
from saratoga_protocol.refusals import REASONS
from saratoga_rules.analysis import legal_moves
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.games import GAMES
from saratoga_rules.moves import parse_move
from saratoga_rules.play import play
from saratoga_rules.position import Position
from saratoga_rules.records.standing import LOG_ENDINGS
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS
from saratoga_server.live.refusals import refused
from saratoga_server.node import Node
from saratoga_server.transport.http_api import HttpPages

Step = tuple[str, Frame]
"""A player's name and the frame that the player sends."""

OURS = re.compile(rb"saratoga_(?!tasks)")
"""Matches the server's own metrics; those of the process and its tasks include the test."""

PAGES_EVERY = 6
"""The number of steps between two requests of the HTTP pages."""

RACERS = ("Anna", "Bert")
SPOILT = 0.25
"""The share of frames with damaged bytes."""


ODD = [
    command
    for command in COMMANDS.values()
    if not isinstance(command, commands.CashOut | commands.LeaveTable)
]
"""Commands except those that end a board, because then the record would be public."""


@dataclass
class Run:
    """One run of a script: everything that the server sent, and the racers' boards, by step."""

    script: list[Step]
    received: list[dict[str, int]] = field(default_factory=list)
    """The number of frames or pages that each player had been sent, by step."""
    streams: dict[str, list[object]] = field(default_factory=dict)
    made: list[dict[str, int]] = field(default_factory=list)
    """The number of moves that each racer had made, by step."""
    way: dict[str, list[Position]] = field(default_factory=dict)
    """Every position of each racer from the opening on."""

    def ways(self, step: int) -> dict[str, list[Position]]:
        """Return every position of each racer's board up to that step."""
        return {name: self.way[name][: 1 + made] for name, made in self.made[step].items()}

    def until(self, step: int) -> dict[str, list[object]]:
        """Return everything that each player was sent up to that step."""
        return {name: stream[: self.received[step][name]] for name, stream in self.streams.items()}


def check_same(ours: dict[str, list[object]], theirs: dict[str, list[object]]) -> None:
    """Raise `Leak` with the first difference unless every player was sent the same in both runs."""
    for name, stream in ours.items():
        for number, (one, other) in enumerate(zip_longest(stream, theirs[name])):
            if one != other:
                raise Leak(f"{name}, {number}: {_unlike(one, other)}")


def _unlike(one: object, other: object) -> str:
    if isinstance(one, list) and isinstance(other, list):
        return str([pair for pair in zip_longest(one, other) if pair[0] != pair[1]])
    return f"{one!r}, and {other!r}"


async def scripted(game: str, opening: Position, random: Random, steps: int) -> Run:
    """Choose a script's steps at random while running it on this deal; return the run."""
    return await _run_script(
        game, opening, steps, lambda racing: Tempter(racing, random, game).next()
    )


async def run_script(game: str, opening: Position, script: Sequence[Step]) -> Run:
    """Run an existing script unchanged on this deal."""
    lines = iter(script)
    return await _run_script(game, opening, len(script), lambda racing: next(lines))


@dataclass
class Racing:
    """A server and the players connected to it."""

    server: InProcessServer
    players: dict[str, MemoryPlayer]
    code: str


async def _run_script(
    game: str, opening: Position, steps: int, next_step: Callable[[Racing], Step]
) -> Run:
    run = Run([])
    with _log() as log:
        async with open_in_process_server(always(opening)) as server:
            players = {
                "Anna": await server.player("Anna", legal=True, subprotocol=JSON),
                "Bert": await server.player("Bert", subprotocol=MSGPACK),
                "Wanda": await server.player("Wanda", legal=True, subprotocol=JSON),
            }
            anna, bert, wanda = players.values()
            code = await gathered(anna, bert, game=game)
            await wanda.at_table(commands.JoinTable, table=code, seat=False)
            await counted_down(anna, bert)
            await server.pass_time(COUNTDOWN_MILLIS)
            racing = Racing(server, players, code)
            run.streams = {name: player.received.frames for name, player in players.items()}  # type: ignore[misc]
            run.streams |= {"pages": [], "log": log}
            await _note(run, racing, game)
            for _ in range(steps):
                step = next_step(racing)
                run.script.append(step)
                server.time.at += 700
                await _send(players[step[0]], step[1])
                await server.pass_time(0)
                await _note(run, racing, game)
            for name, entries in _moves(racing).items():
                way = run.way[name] = [opening]
                for text in entries:
                    way.append(play(GAMES[game], way[-1], parse_move(text)))
    return run


async def _send(player: MemoryPlayer, frame: Frame) -> None:
    """Let the server handle a player's frame as the gateway does."""
    session = player.session
    try:
        command = session.codec.decode_command(frame)
    except BadFrame as bad:
        session.send(refused(bad.code, bad.re, bad.detail))
        return
    session.send(await player.server.answer(session, command))


async def _note(run: Run, racing: Racing, game: str) -> None:
    """Record what each player was sent, and every few steps the HTTP pages."""
    if len(run.received) % PAGES_EVERY == 0:
        await _fetch(run, racing.server.node, racing.code, game)
    run.received.append({name: len(stream) for name, stream in run.streams.items()})
    run.made.append({name: len(entries) for name, entries in _moves(racing).items()})


async def _fetch(run: Run, node: Node, code: str, game: str) -> None:
    pages = HttpPages(node, WEB_FILES)
    for path in (
        *(
            f"/api/records/{code}/1",
            f"/api/records/{code}/1/boards",
            f"/api/records/{code}/2",
            f"/api/leaderboards/{game}",
        ),
        *(f"/api/leaderboards/{game}?period=all&bots=1", "/readyz", "/healthz", "/"),
        *(f"/{code}", f"/races/{code}/1", f"/api/qr/{code}.svg"),
    ):
        page = await pages.page("GET", path, asking())
        run.streams["pages"].append((page.status, page.body))
    metrics = generate_latest(node.metrics.registry).splitlines()
    run.streams["pages"].append([line for line in metrics if OURS.match(line)])


def _moves(racing: Racing) -> dict[str, list[str]]:
    """Return the moves that each racer has made."""
    race = racing.server.node.races.known(f"{racing.code}/1")
    assert race is not None
    boards = {player: run.board for player, run in race.runs.items() if run.board}
    return {
        name: [
            entry.text
            for entry in boards[racing.players[name].player].log
            if entry.text not in LOG_ENDINGS
        ]
        for name in RACERS
    }


class Tempter:
    """A random chooser of the script's next step, from what the players know on this deal."""

    def __init__(self, racing: Racing, random: Random, game: str) -> None:
        self._room = racing
        self._random = random
        self._game = game
        self._said: list[Step] = []

    def next(self) -> Step:
        random = self._random
        name = random.choice(("Anna", "Anna", "Anna", "Bert", "Bert", "Wanda"))
        player = self._room.players[name]
        kind = random.random()
        before = [frame for who, frame in self._said if who == name]
        if kind < 0.1 and before:
            return name, random.choice(before)
        command = self._move(player) if kind < 0.65 else self._odd(player)
        player.last_id = max(player.last_id, command.id)
        codec = player.received.codec
        frame = codec.encode(command)
        if random.random() < SPOILT:
            spoilt = Spoiler(random, codec.subprotocol).frame(command)
            frame = spoilt if _leaves_ids(codec, spoilt) else frame
        self._said.append((name, frame))
        return name, frame

    def _move(self, player: MemoryPlayer) -> Command:
        """Make a move command: legal, random, or legal in another position."""
        random = self._random
        race = self._room.server.node.races.known(f"{self._room.code}/1")
        run = None if race is None else race.runs.get(player.player)
        board = None if run is None else run.board
        count, move = 0, random.choice((*ODD_MOVES, "x", "t1>", "t99>up"))
        if board is not None:
            count = board.length
            legal = legal_moves(GAMES[self._game], board.position)
            if legal and random.random() < 0.8:
                strategy = banking if random.random() < 0.7 else wandering
                move = str(strategy(legal, random))
        after = max(0, count + random.choice((0, 0, 0, 0, 0, 0, 0, 1, -1, 5)))
        return commands.MakeMove(
            id=player.last_id + 1, race=f"{self._room.code}/1", after=after, move=move
        )

    def _odd(self, player: MemoryPlayer) -> Command:
        """Make any command except one that ends a board, because then the record would be public."""
        random, code = self._random, self._room.code
        ident = player.last_id + 1 if random.random() < 0.8 else random.randrange(1, 60)
        values: dict[str, Sequence[object]] = {
            "id": [ident],
            "table": [code, code, code, "amber-heron-07"],
            "race": [f"{code}/1", f"{code}/1", f"{code}/2"],
            "player": [self._room.players["Bert"].player],
            "game": [self._game, "caprice"],
            "name": [player.name],
            "token": [player.token],
        }
        return varied(random, ODD, values)


def _leaves_ids(codec: Codec, frame: Frame) -> bool:
    """Return whether command ids remain after this frame: none is accepted after the largest id."""
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
    """Yield a list that collects everything the server logs until the end of the block."""
    kept, root = _Kept(), logging.getLogger("saratoga")
    level = root.level
    root.addHandler(kept)
    root.setLevel(logging.DEBUG)
    try:
        yield kept.lines
    finally:
        root.removeHandler(kept)
        root.setLevel(level)


STEPS = 90


@pytest.fixture(autouse=True)
def _nothing_by_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saratoga_server.handlers.seats.table_code", lambda chance: CODE)
    monkeypatch.setattr("saratoga_server.node.secrets.token_hex", lambda count: "00" * count)


def dealt(game: str, number: int) -> Position:
    return deal_for_key(GAMES[game], practice_key(f"odd {number}"))


def turned_up_at(run: Run, slot: Slot) -> int | None:
    """Return the first step after which some player has turned up that card."""
    steps = range(len(run.made))
    up = (s for s in steps if any(is_up(slot, way) for way in run.ways(s).values()))
    return next(up, None)


def refusals(run: Run) -> set[str]:
    """Return the codes of all refusals in a run."""
    text = "".join(str(frame) for name in ("Anna", "Wanda") for frame in run.streams[name])
    packed = b"".join(bytes(frame) for frame in run.streams["Bert"] if isinstance(frame, bytes))
    return {
        code
        for code in REASONS
        if f'"code":"{code}"' in text or msgpack.packb("code") + msgpack.packb(code) in packed
    }


@pytest.mark.parametrize("game", GAMES)
async def test_cards_not_turned_up_change_no_byte_of_any_answer(game: str) -> None:
    chance = Random(f"odd commands of {game}")
    opening = dealt(game, 0)
    base = await scripted(game, opening, chance, STEPS)
    assert sum(base.made[-1].values()) >= STEPS / 5
    provoked = refusals(base)
    assert provoked >= {"bad_command", "bad_frame", "illegal_move", "stale_move", "not_seated"}
    assert len(provoked) > 12
    hidden = [slot for slot in slots(opening) if turned_up_at(base, slot) is None]
    assert len(hidden) > 3
    shuffled = chance.sample(hidden, len(hidden))
    deal = rearranged(opening, dict(zip(hidden, shuffled, strict=True)))
    assert deal != opening
    other = await run_script(game, deal, base.script)
    check_same(base.streams, other.streams)

    # a card changes nothing before the step that turns it up, and then only for its player
    looked = 0
    while looked <= STEPS / 2:
        one, two = chance.sample(slots(opening), 2)
        deal = rearranged(opening, {one: two, two: one})
        first = [step for slot in (one, two) if (step := turned_up_at(base, slot)) is not None]
        end = min(first, default=STEPS + 1) - 1
        if deal == opening or not 0 <= end < STEPS:  # two packs: the swapped cards may be equal
            continue
        looked += end
        other = await run_script(game, deal, base.script[: end + 1])
        check_same(base.until(end), other.until(end))
        ours, theirs = base.until(end + 1), other.until(end + 1)
        differing = {name for name in ours if name != "log" and ours[name] != theirs[name]}
        assert len(differing) <= 1
        assert differing <= set(RACERS)


async def test_a_refusal_that_depends_on_a_hidden_card_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opening = dealt("canfield", 1)
    base_deal, chance = opening, Random("leaks")
    base = await scripted("canfield", base_deal, chance, STEPS // 2)
    hidden = [slot for slot in slots(opening) if turned_up_at(base, slot) is None]
    shown: list[Position] = []

    def remembered(view: Any, position: Position) -> Any:
        shown.append(position)
        return view

    def leaky(no: Refused, *_: Any) -> Refused:
        # One character more or less, depending on a hidden card.
        last = shown[-1].reserve[0] if shown else "AS"
        return Refused(re=no.re, code=no.code, message=no.message + "!" * (last[1] in "HD"))

    leak(monkeypatch, "wire_view", remembered)
    leak(monkeypatch, "refused", leaky)
    ours = await run_script("canfield", base_deal, base.script)
    for _ in range(10):
        shuffled = chance.sample(hidden, len(hidden))
        deal = rearranged(opening, dict(zip(hidden, shuffled, strict=True)))
        theirs = await run_script("canfield", deal, base.script)
        if theirs.streams != ours.streams:
            return
    raise AssertionError("never noticed")
