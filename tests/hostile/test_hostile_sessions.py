"""Hostile clients on real sockets: whatever they send, in any order, other players race on.

Hypothesis chooses the acts. Every response is checked when it arrives (`HostileClient`): each frame
is answered once, with an event or a refusal from the closed list, and a connection ends with a
documented close code.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from math import inf
from random import Random
from typing import Any, ClassVar, Final

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from kit.altered_server import QUICK
from kit.in_process_server import counted_down, gathered
from kit.installation import footprint
from kit.messages import COMMANDS, TRACE, Spoiler, varied
from kit.players import SocketPlayer, player_at
from kit.server_process import ServerProcess, running_server
from kit.tables import nonce, nonce_hash
from saratoga_protocol import commands
from saratoga_protocol.codec import CODECS, JSON, SUBPROTOCOLS, Frame
from saratoga_protocol.commands import Command, GetRecord
from saratoga_protocol.events import (
    BoardChanged,
    Event,
    RaceOver,
    Record,
    Refused,
    Snapshot,
    TableChanged,
    Welcome,
)
from saratoga_protocol.refusals import REASONS
from saratoga_rules.games import GAMES
from saratoga_rules.records.verify import verify

BOUND: Final = 60.0
"""Seconds for a response: a bound that no test should reach."""

SAMPLES: Final = [
    *(each for each in COMMANDS.values() if not isinstance(each, commands.Hello)),
    # the clients need seats and boards, or most of their commands would be refused alike
    *[COMMANDS["join_table"]] * 4,
]

MARKS: Final = 9_007_000_000_000_000
"""The lowest id of a heartbeat behind a batch; other commands have lower ids."""


BATCH: Final = 25
"""The number of frames between two heartbeats."""

DOCUMENTED_CLOSES: Final = frozenset(
    {1000, 1002, 1003, 1007, 1009, 4000, 4001, 4002, 4500, 4501, 4502, 4503, 4504, 4505}
)
"""Close codes that the server may use (protocol/README.md); 1011 would be an error of its own."""


@dataclass
class SharedKnowledge:
    """Table codes, ids and frames that all hostile clients have learned and share."""

    codes: list[str] = field(default_factory=lambda: ["mint-otter-42"])
    races: list[str] = field(default_factory=lambda: ["mint-otter-42/1"])
    commitments: list[str] = field(default_factory=lambda: ["c0" * 32])
    players: list[str] = field(default_factory=lambda: ["abcdefghijklmnop"])
    frames: list[Frame] = field(default_factory=list)
    """Frames that one client sent, for another to send again."""
    protected_races: set[str] = field(default_factory=set)
    """Races whose boards no hostile client may be shown."""
    answers: Counter[str] = field(default_factory=Counter)
    """The number of responses to all hostile clients, by kind of event or code of refusal."""

    def learn(self, event: Event) -> None:
        if isinstance(event, Snapshot | TableChanged):
            table = event.table
            _keep(self.codes, table.code)
            _keep(self.races, table.race)
            _keep(self.commitments, table.commitment)
            for seat in table.seats:
                _keep(self.players, seat.player)


def _keep(known: list[Any], new: Any) -> None:
    if new not in known[-8:]:
        known.append(new)
        del known[:-40]


class HostileClient:
    """A client that connects again whenever its connection is closed."""

    def __init__(self, url: str, known: SharedKnowledge, random: Random) -> None:
        self._url = url
        self._name = f"M{random.randrange(10**9)}"
        self._known = known
        self._random = random
        self._token = random.randbytes(32).hex()
        self._player = "a" * 16
        self._next_id = 1
        self._count = 0
        self._race = "mint-otter-42/1"
        self._legal: list[str] = ["draw"]
        self._table = ""
        self._commitment = ""
        self._mark = MARKS
        """The id of the heartbeat behind the last batch."""
        self._socket: ClientConnection | None = None

    # Connections

    @property
    def _subprotocol(self) -> str:
        assert self._socket is not None
        return self._socket.subprotocol or JSON

    async def act(self, act: "Act") -> None:
        """Send frames that `act` makes and check the responses."""
        if self._socket is None:
            await self.connect()
        try:
            await self._exchange([act(self, self._subprotocol) for _ in range(BATCH)])
        except ConnectionClosed:
            await self.close()

    async def connect(self, *, greets: bool = True) -> None:
        """Connect; say hello and join a table if `greets`."""
        await self.close()
        self._socket = await connect(
            self._url,
            subprotocols=[Subprotocol(self._random.choice(SUBPROTOCOLS))],
            compression=None,
            max_size=4 * 1024 * 1024,
            ping_interval=None,
            open_timeout=BOUND,
            close_timeout=BOUND,
        )
        if greets:
            with suppress(ConnectionClosed):
                await self._exchange([self.hello(self._subprotocol)])
                await self._join()

    async def close(self) -> None:
        """Close the connection; check the events that arrive until its end, and its close code."""
        socket, self._socket = self._socket, None
        if socket is None:
            return
        codec = CODECS[socket.subprotocol or JSON]
        await socket.close()
        with suppress(ConnectionClosed):
            async with asyncio.timeout(BOUND):
                while True:
                    self._learn(codec.decode_event(await socket.recv()))
        assert socket.close_code in DOCUMENTED_CLOSES, socket.close_code

    async def send_too_long(self) -> None:
        """Send a frame that is longer than a command may be."""
        if self._socket is None:
            await self.connect()
        assert self._socket is not None
        with suppress(ConnectionClosed):
            await self._socket.send(self._random.choice(("x" * 9000, b"\x91" * 9000)))
        await self.close()

    async def _exchange(self, frames: list[Frame]) -> None:
        """Send frames and wait until each is answered; raises `ConnectionClosed`."""
        socket, codec = self._socket, CODECS[self._subprotocol]
        assert socket is not None
        self._mark += 1
        for frame in (*frames, codec.encode(commands.Heartbeat(id=self._mark))):
            await socket.send(frame)
        answers = 0
        async with asyncio.timeout(BOUND):
            while (event := codec.decode_event(await socket.recv())).re != self._mark:
                self._learn(event)
                answers += isinstance(event, Refused) or event.re is not None
        assert answers == len(frames), (answers, frames)

    async def _join(self) -> None:
        """Join the client's race or start one, because some hostile acts need a board."""

        async def send(kind: type[Any], **fields: object) -> None:
            self._next_id += 1
            command = kind(id=min(self._next_id, MARKS), **fields)
            await self._exchange([CODECS[self._subprotocol].encode(command)])

        if self._table:
            await send(commands.JoinTable, table=self._table)
            await send(commands.NextRace, table=self._table)
        else:
            await send(commands.CreateTable, game=self._random.choice(list(GAMES)))
        if self._table:
            here, hashed = {"table": self._table}, nonce_hash(self._player)
            await send(commands.Ready, **here, commitment=self._commitment, nonce_hash=hashed)
            await send(commands.Start, **here)
            await send(commands.Reveal, **here, nonce=nonce(self._player))

    def _learn(self, event: Event) -> None:
        """Check that an event may be sent, and note what it says."""
        if isinstance(event, Refused):
            assert event.code in REASONS, event
            assert event.code != "server_fault", event
            assert not TRACE.search(event.message), event
        kind = event.code if isinstance(event, Refused) else type(event).__name__
        self._known.answers[kind] += 1
        self._known.learn(event)
        if isinstance(event, Welcome):
            self._player, self._table = event.player, event.table or ""
        if isinstance(event, Snapshot | TableChanged) and any(
            seat.player == self._player for seat in event.table.seats
        ):
            self._table, self._commitment = event.table.code, event.table.commitment
        board = getattr(event, "board", None)
        if board is not None:
            assert board.race not in self._known.protected_races, event
            self._race, self._count, self._legal = board.race, board.count, board.legal or ["draw"]
            _keep(self._known.races, board.race)

    # Acts

    def hello(self, subprotocol: str) -> Frame:
        """Return a hello, sometimes as a new player."""
        random = self._random
        if random.random() < 0.1:
            self._token, self._name = random.randbytes(32).hex(), f"M{random.randrange(10**9)}"
        return CODECS[subprotocol].encode(
            commands.Hello(
                id=1,
                token=self._token,
                name=self._name if random.random() < 0.9 else None,
                bot=random.random() < 0.2,
                legal=True,
            )
        )

    def command(self, subprotocol: str) -> Frame:
        """Return a command, legal or not, with known codes, ids and players."""
        frame = CODECS[subprotocol].encode(self._command())
        if self._random.random() < 0.05:
            self._known.frames.append(frame)
            del self._known.frames[:-200]
        return frame

    def command_of_another_session(self, subprotocol: str) -> Frame:
        """Return an exact copy of a frame that some client sent before."""
        known = self._known.frames
        return self._random.choice(known) if known else self.command(subprotocol)

    def command_at_protected_table(self, subprotocol: str) -> Frame:
        """Return a command about a race or a table of other players."""
        races = [*self._known.protected_races, "mint-otter-42/1"]
        self._next_id += 1
        values: dict[str, Sequence[object]] = {
            "id": [min(self._next_id, MARKS)],
            "race": races,
            "table": [race.rpartition("/")[0] for race in races],
            "player": self._known.players,
            "after": [self._count],
            "move": ["draw"],
        }
        return CODECS[subprotocol].encode(varied(self._random, SAMPLES, values))

    def spoilt_command(self, subprotocol: str) -> Frame:
        """Return a plausible command with a spoilt structure or spoilt bytes."""
        return Spoiler(self._random, subprotocol).frame(self._command())

    def spoilt_frame(self, subprotocol: str) -> Frame:
        """Return any command with a spoilt structure or spoilt bytes."""
        return Spoiler(self._random, subprotocol).frame()

    def _command(self) -> Command:
        """Return a command that fits the client's state, or nearly fits it."""
        random, known = self._random, self._known
        if random.random() < 0.85:
            self._next_id += 1
        is_next = random.random() < 0.9 and self._next_id < MARKS
        ident = self._next_id if is_next else random.randrange(1, MARKS)
        moves = [*self._legal, "draw", "redeal", "w>up", "t1>t2", "r>t9", "?"]
        if random.random() < 0.2:
            move = random.choice(moves)
            return commands.MakeMove(id=ident, race=self._race, after=self._count, move=move)
        values: dict[str, Sequence[object]] = {
            "id": [ident],
            "table": known.codes,
            "race": [*known.races, self._race, None],
            "player": known.players,
            "commitment": [*known.commitments, self._commitment],
            "nonce_hash": [nonce_hash(self._player)],
            "nonce": [nonce(self._player)],
            "game": [*GAMES, "whist"],
            "seats": [None, 1, 16],
            "races": [None, 1, 3, 4],
            "after": [max(0, self._count + by) for by in (0, 0, 0, 1, -1)],
            "move": moves,
            "name": ["Anna", "x", self._name, "Ω"],
            "locked": [True, False],
            "seat": [True, True, True, False],
        }
        return varied(random, SAMPLES, values)


Act = Callable[[HostileClient, str], Frame]
"""A function that makes a frame for a subprotocol."""

ACTS: Final[Sequence[Act]] = (
    HostileClient.hello,
    HostileClient.command,
    HostileClient.command_of_another_session,
    HostileClient.command_at_protected_table,
    HostileClient.spoilt_command,
    HostileClient.spoilt_frame,
)


CLIENTS = 2
EXAMPLES, MOST_EXAMPLES = 20, 50
"""Examples of the first run, and of each longer one."""
STEPS = 12
"""Acts in one example; most acts send a batch of frames."""

RUNS = [0, *(pytest.param(run, marks=pytest.mark.long) for run in range(1, 15))]
"""Runs with a server each; `make fuzz` makes all of them, of 200,000 frames together."""

SEEDS = st.integers(0, 2**32)


@dataclass
class Target:
    """A server where two friends race, and the knowledge that hostile clients share."""

    server: ServerProcess
    friends: tuple[SocketPlayer, SocketPlayer]
    known: SharedKnowledge


class HostileSessions(RuleBasedStateMachine):
    """Two hostile clients against one server."""

    runner: ClassVar[asyncio.Runner]
    target: ClassVar[Target]

    @initialize(seed=SEEDS)
    def connect(self, seed: int) -> None:
        target, random = self.target, Random(seed)
        self.clients = [
            HostileClient(target.server.url, target.known, Random(random.random()))
            for _ in range(CLIENTS)
        ]

    @rule(client=st.integers(0, CLIENTS - 1), act=st.sampled_from(ACTS))
    def send(self, client: int, act: Act) -> None:
        self.runner.run(self.clients[client].act(act))

    @rule(client=st.integers(0, CLIENTS - 1))
    def send_too_long_a_frame(self, client: int) -> None:
        self.runner.run(self.clients[client].send_too_long())

    @rule(client=st.integers(0, CLIENTS - 1), greets=st.booleans())
    def connect_again(self, client: int, greets: bool) -> None:
        self.runner.run(self.clients[client].connect(greets=greets))

    @invariant()
    def friends_race_on(self) -> None:
        self.runner.run(self._friends_move())

    async def _friends_move(self) -> None:
        for friend in self.target.friends:
            answer = await friend.move("draw")
            if not isinstance(answer, BoardChanged):
                answer = await friend.move("redeal")
            assert isinstance(answer, BoardChanged), answer
            assert answer.board.state == "racing"

    def teardown(self) -> None:
        for client in self.clients:
            self.runner.run(client.close())


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    """An event loop for the state machine, whose rules are not coroutines."""
    with asyncio.Runner() as opened:
        yield opened


@pytest.fixture
def target(runner: asyncio.Runner) -> Iterator[Target]:
    """A server where two friends race."""
    stack = AsyncExitStack()
    try:
        yield runner.run(started(stack))
    finally:
        runner.run(stack.aclose())


async def started(stack: AsyncExitStack) -> Target:
    server = await stack.enter_async_context(
        running_server("--rate", "0", "--metrics-port", "0", module=QUICK)
    )
    known = SharedKnowledge()
    anna, bert = [
        await stack.enter_async_context(player_at(server.url, name)) for name in ("Anna", "Bert")
    ]
    code = await gathered(anna, bert)
    await counted_down(anna, bert)
    for friend in (anna, bert):
        await friend.expect(BoardChanged, entries=[])
        known.players.append(friend.player)
    known.codes.append(code)
    known.protected_races.add(f"{code}/1")
    return Target(server, (anna, bert), known)


def held(server: ServerProcess, players: int, most_tasks: float = inf) -> int:
    """Wait until the server has this many connections, and so many tasks at most; return their number."""
    (port,) = [event["port"] for event in server.events() if event["event"] == "metrics_open"]
    deadline = time.monotonic() + BOUND
    while time.monotonic() < deadline:
        found = footprint(server.pid, server.port, port)
        if found.players == players and 0 < found.tasks <= most_tasks:
            return found.tasks
        time.sleep(0.1)
    raise AssertionError(f"the server holds {found}")


async def finished(target: Target, tasks: int) -> None:
    """Check that no connection and no task is left, and that the friends' race ends with a valid record."""
    assert (await target.server.get("/healthz"))[0] == 200
    await asyncio.to_thread(held, target.server, len(target.friends), tasks)
    assert not TRACE.search(target.server.log.read_text())
    for friend in target.friends:
        assert isinstance(await friend.cash_out(), BoardChanged)
    anna, _ = target.friends
    over = await anna.expect(RaceOver)
    record = await anna.ask(GetRecord, race=over.outcome.race)
    assert isinstance(record, Record)
    assert verify(record.text.encode()).ok


@pytest.mark.parametrize("run", RUNS)
def test_friends_race_on_whatever_hostile_clients_send(
    runner: asyncio.Runner, target: Target, run: int
) -> None:
    HostileSessions.runner, HostileSessions.target = runner, target
    pid, tasks = target.server.pid, held(target.server, len(target.friends))
    effort = settings(max_examples=MOST_EXAMPLES if run else EXAMPLES, stateful_step_count=STEPS)
    run_state_machine_as_test(HostileSessions, settings=effort)
    assert target.server.pid == pid
    runner.run(finished(target, tasks))
    answers = target.known.answers
    assert answers.keys() >= {"Snapshot", "Done", "TableChanged"}, "the clients joined tables"
    assert answers.keys() >= {
        "bad_frame",
        "bad_command",
        "not_seated",
        "wrong_phase",
        "hello_twice",
    }
