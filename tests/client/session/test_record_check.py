"""The record of a race is compared with what the player saw."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from kit.scripted_server import (
    NOON,
    PLAYER,
    RACE,
    TOKEN,
    ScriptedServer,
    scripted_server,
    snapshot,
    table,
)
from kit.scripted_table import (
    PROMISE,
    RIVAL,
    RIVALS_NONCE,
    DutifulPlayer,
    outcome_of,
    record_of,
)
from saratoga_client.net.connection import Connection, Timing
from saratoga_protocol import commands, events
from saratoga_rules.dealing.fairness import nonce_hash


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with scripted_server() as running:
        yield running


@pytest.fixture
async def player(server: ScriptedServer, tmp_path: Path) -> AsyncIterator[DutifulPlayer]:
    async with Connection(server.url, TOKEN) as client:
        yield DutifulPlayer(client, await server.peer(), tmp_path)


async def test_an_honest_race_is_witnessed(player: DutifulPlayer) -> None:
    record = record_of(await player.race())
    await player.hear_the_end(record, outcome_of(record))
    said = player.seat.testimonies[RACE]
    assert said.verdict == "witnessed here"
    assert said.seen == (
        *("commitment", "nonces", "racers", "time limit", "start", "deal", "digest"),
    )
    assert player.alarms == []


async def test_a_record_is_requested_once(player: DutifulPlayer) -> None:
    record = record_of(await player.race())
    outcome = outcome_of(record)
    await player.hear_the_end(record, outcome)
    # A second request would wait here for its answer.
    await player.seat.handle(replace(snapshot(), table=table(version=9), outcome=outcome))


@pytest.mark.parametrize(
    ("lie", "sentence"),
    [
        ({"seed": "00" * 32}, "seed"),
        ({"nonces": {PLAYER: "00" * 16}}, "nonces"),
        ({"results": []}, "announced result"),
        ({"digest": "00" * 32}, "digest"),
    ],
)
async def test_a_result_that_differs_from_the_record_raises_the_alarm(
    player: DutifulPlayer, lie: dict[str, Any], sentence: str
) -> None:
    record = record_of(await player.race())
    await player.hear_the_end(record, replace(outcome_of(record), **lie))
    ((race, faults),) = player.alarms
    assert race == RACE
    assert sentence in " ".join(faults)
    assert player.seat.testimonies[RACE].verdict == "not the race seen here"


async def test_a_record_refused_for_the_moment_is_requested_again(player: DutifulPlayer) -> None:
    record = record_of(await player.race())
    doing = asyncio.ensure_future(player.seat.handle(events.RaceOver(outcome=outcome_of(record))))
    command = await player.peer.command()
    no = events.Refused(re=command.id, code="race_running", message="Later.", retry=True)
    await player.peer.send(no)
    await doing
    await player.hear_the_end(record, outcome_of(record))
    assert player.seat.testimonies[RACE].verdict == "witnessed here"


async def test_a_refused_record_is_not_requested_again(player: DutifulPlayer) -> None:
    outcome = outcome_of(record_of(await player.race()))
    doing = asyncio.ensure_future(player.seat.handle(events.RaceOver(outcome=outcome)))
    command = await player.peer.command()
    await player.peer.send(events.Refused(re=command.id, code="no_such_race", message="No."))
    await doing
    # A second request would wait here for its answer.
    await player.seat.handle(replace(snapshot(), table=table(version=9), outcome=outcome))
    assert player.seat.testimonies == {}


async def test_a_record_request_without_an_answer_is_not_repeated(
    server: ScriptedServer, tmp_path: Path
) -> None:
    async with Connection(server.url, TOKEN, timing=Timing(answer_within=0.1)) as client:
        watcher = DutifulPlayer(client, await server.peer(), tmp_path)
        outcome = outcome_of(record_of("00" * 16))
        over = replace(snapshot(), outcome=outcome)
        for _ in range(2):
            await watcher.seat.handle(over)
        assert isinstance(await watcher.peer.command(), commands.GetRecord)
        await watcher.answer(watcher.seat.not_ready())


async def test_a_commitment_changed_since_the_countdown_raises_the_alarm(
    player: DutifulPlayer,
) -> None:
    await player.race()
    running = replace(table(version=7, phase="running"), commitment="d0" * 32)
    for _ in range(2):
        await player.seat.handle(events.TableChanged(table=running, now=NOON))
    ((_, faults),) = player.alarms
    assert "changed since the countdown" in faults[0]


async def test_a_watcher_reveals_nothing_and_still_witnesses_the_race(
    player: DutifulPlayer,
) -> None:
    seats = [events.Seat(player=RIVAL, name="Bert", nonce_hash=nonce_hash(RIVALS_NONCE))]
    counting = replace(table(phase="countdown"), commitment=PROMISE, seats=seats, racers=[RIVAL])
    await player.seat.handle(events.TableChanged(table=counting, now=NOON))
    record = record_of("00" * 16)
    await player.hear_the_end(record, outcome_of(record))
    said = player.seat.testimonies[RACE]
    assert said.seen == ("commitment", "nonces", "racers", "time limit", "digest")
    assert said.disagreements == (f"{PLAYER} is in the record, but was not in the countdown",)
