"""Hostile clients on real sockets: whatever they send, in any order, other players race on.

Hypothesis chooses the acts. Every response is checked when it arrives (`kit/hostile_client.py`): each
frame is answered once, with an event or a refusal from the closed list, and a connection ends with a
documented close code.
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from math import inf
from random import Random
from typing import ClassVar

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

from kit.altered_server import QUICK
from kit.hostile_client import ACTS, BOUND, Act, HostileClient, SharedKnowledge
from kit.in_process_server import counted_down, gathered
from kit.mutations import TRACE
from kit.player_sockets import SocketPlayer, player_at
from kit.server_process import ServerProcess, running_server
from kit.storms.leaks import footprint
from saratoga_protocol.commands import GetRecord
from saratoga_protocol.events import BoardChanged, RaceOver, Record
from saratoga_rules.records.verify import verify

CLIENTS = 2
EXAMPLES = 50
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
    effort = settings(max_examples=EXAMPLES, stateful_step_count=STEPS)
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
