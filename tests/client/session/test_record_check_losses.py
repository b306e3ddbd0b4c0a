"""Moves that a server says it lost, and time that the client lost, in the check of a record."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from kit.scripted_server import (
    NOON,
    RACE,
    TOKEN,
    ScriptedServer,
    snapshot,
    table,
    welcome,
)
from kit.scripted_table import PROMISE, DutifulPlayer, dealt, record_of
from kit.sightings import announced
from saratoga_client.net.connection import Connection
from saratoga_client.session.witness import Witness
from saratoga_protocol import events


def board_of(nonce: str, count: int, state: str) -> events.BoardView:
    """Return the player's board; it has the deal's cards all the time."""
    first = dealt(nonce)
    assert isinstance(first, events.Dealt)
    return replace(first.board, count=count, state=state)


@pytest.mark.parametrize("durability", ["fast", "safe"])
async def test_moves_that_the_server_says_it_lost_are_a_contradiction_only_if_it_may_lose_none(
    server: ScriptedServer, tmp_path: Path, durability: str
) -> None:
    server.greeting = lambda hello: replace(welcome(hello), durability=durability)
    async with Connection(server.url, TOKEN) as client:
        player = DutifulPlayer(client, await server.peer(), tmp_path)
        nonce = await player.race()
        stuck = events.BoardEnded(board=board_of(nonce, 1, "stuck"), at=7, number=3)
        await player.seat.handle(stuck)
        running = replace(
            table(version=9, phase="running"),
            commitment=PROMISE,
            start_at=NOON,
            deadline=NOON + 600_000,
        )
        board = board_of(nonce, 0, "racing")
        await player.seat.handle(replace(snapshot(), table=running, board=board))
        record = record_of(nonce)
        await player.hear_the_end(record, announced(record))
        said = player.seat.testimonies[RACE]
    if durability == "fast":
        assert (said.verdict, player.alarms) == ("witnessed here", [])
        assert said.losses == "the server says that it lost 1 move that this machine saw"
    else:
        ((_, faults),) = player.alarms
        assert any(fault.startswith("this player's entry 1 was stuck") for fault in faults)
        assert said.losses == ""


async def test_the_durability_that_counts_is_that_before_the_race(
    server: ScriptedServer, player: DutifulPlayer, tmp_path: Path
) -> None:
    await player.race()
    server.greeting = lambda hello: replace(welcome(hello), durability="fast")
    running = replace(table(version=9, phase="running"), commitment=PROMISE)
    async with Connection(server.url, TOKEN) as client:
        after = DutifulPlayer(client, await server.peer(), tmp_path)
        await after.seat.handle(replace(snapshot(), table=running))
        assert client.welcome.durability == "fast"
    kept = Witness(tmp_path).load(RACE)
    assert kept is not None
    assert kept.durability == "safe"
