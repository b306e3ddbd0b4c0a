"""The record of a race is compared with what the player saw."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from kit.messages import racer
from kit.scripted_server import (
    CODE,
    NOON,
    PLAYER,
    RACE,
    TOKEN,
    ScriptedServer,
    snapshot,
    table,
    welcome,
)
from kit.scripted_table import PROMISE, RIVAL, RIVALS_NONCE, DutifulPlayer, dealt, record_of
from kit.sightings import announced
from saratoga_client.net.connection import Connection
from saratoga_client.session.fairness import FairnessDuties
from saratoga_client.session.witness import GONE, WITHHELD, Witness
from saratoga_protocol import events
from saratoga_rules.dealing.fairness import nonce_hash
from saratoga_rules.records.record import digest_of, format_record

pytestmark = pytest.mark.usefixtures("impatient_checks")


async def test_a_record_is_requested_once(player: DutifulPlayer) -> None:
    record = record_of(await player.race())
    outcome = announced(record)
    await player.hear_the_end(record, outcome)
    over = replace(table(version=9, phase="over"), commitment=PROMISE)
    await player.seat.handle(replace(snapshot(), table=over, outcome=outcome))
    assert (player.seat.take_due(), player.alarms) == ([], [])


async def test_a_result_that_comes_after_the_check_of_the_record_is_compared_too(
    player: DutifulPlayer,
) -> None:
    record = record_of(await player.race())
    later = replace(table(version=9), race=f"{CODE}/2", commitment="d0" * 32)
    await player.seat.handle(replace(snapshot(), table=later))
    await player.hear_the_record(format_record(record))
    assert player.alarms == []
    await player.hear_the_end(record, replace(announced(record), results=[]))
    ((_, (fault,)),) = player.alarms
    assert "order of players" in fault


async def test_a_record_refused_for_the_moment_is_requested_again(player: DutifulPlayer) -> None:
    record = record_of(await player.race())
    await player.seat.handle(events.RaceOver(outcome=announced(record)))
    (race,) = player.seat.take_due()
    checking = asyncio.ensure_future(player.seat.check(race))
    for code in ("race_running", "no_such_race"):
        command = await player.peer.command()
        await player.peer.send(events.Refused(re=command.id, code=code, message="Later."))
    command = await player.peer.command()
    text = format_record(record)
    await player.peer.send(events.Record(re=command.id, race=RACE, text=text))
    assert await checking is not None
    assert (player.seat.testimonies[RACE].verdict, player.alarms) == ("witnessed here", [])


async def refuse_records(player: DutifulPlayer, code: str) -> None:
    """Refuse every request for a record; without a code, never answer."""
    while True:
        command = await player.peer.command()
        if code:
            await player.peer.send(events.Refused(re=command.id, code=code, message="No."))


@pytest.mark.parametrize("code", ["race_running", "no_such_race"])
async def test_a_record_that_is_withheld_raises_the_alarm_until_it_comes(
    player: DutifulPlayer, tmp_path: Path, code: str
) -> None:
    record = record_of(await player.race())
    outcome = announced(record)
    await player.seat.handle(events.RaceOver(outcome=outcome))
    refusing = asyncio.ensure_future(refuse_records(player, code))
    (race,) = player.seat.take_due()
    assert await player.seat.check(race) is None
    refusing.cancel()
    assert player.alarms == [(RACE, (WITHHELD,))]
    kept = Witness(tmp_path).load(RACE)
    assert kept is not None
    assert kept.alarms == [WITHHELD]
    over = replace(table(version=9, phase="over"), commitment=PROMISE)
    await player.seat.handle(replace(snapshot(), table=over, outcome=outcome))
    await player.hear_the_record(format_record(record))
    kept = Witness(tmp_path).load(RACE)
    assert kept is not None
    assert (kept.alarms, kept.has_record) == ([], True)


@pytest.mark.parametrize("code", ["server_fault", "damaged", "of_a_newer_server", ""])
async def test_an_outage_is_no_accusation(player: DutifulPlayer, code: str) -> None:
    record = record_of(await player.race())
    await player.seat.handle(events.RaceOver(outcome=announced(record)))
    refusing = asyncio.ensure_future(refuse_records(player, code))
    (race,) = player.seat.take_due()
    assert await player.seat.check(race) is None
    refusing.cancel()
    assert player.alarms == []


async def test_a_race_whose_end_was_missed_is_checked_by_its_record(player: DutifulPlayer) -> None:
    record = record_of(await player.race())
    later = replace(table(version=9), race=f"{CODE}/2", commitment="d0" * 32)
    await player.seat.handle(replace(snapshot(), table=later))
    await player.hear_the_record(format_record(record))
    assert (player.seat.testimonies[RACE].verdict, player.alarms) == ("witnessed here", [])


async def test_a_restarted_program_misses_a_race_that_disappeared(
    server: ScriptedServer, player: DutifulPlayer, tmp_path: Path
) -> None:
    await player.race()
    later = replace(table(version=9), race=f"{CODE}/2", commitment="d0" * 32)
    async with Connection(server.url, TOKEN) as client:
        after = DutifulPlayer(client, await server.peer(), tmp_path)
        await after.seat.handle(replace(snapshot(), table=later))
        assert after.seat.take_due() == [RACE]
        refusing = asyncio.ensure_future(refuse_records(after, "no_such_race"))
        await after.seat.check(RACE)
        refusing.cancel()
        assert after.alarms == [(RACE, (GONE,))]


async def say_running(player: DutifulPlayer) -> None:
    """Refuse every request for a record as if the race ran."""
    while True:
        command = await player.peer.command()
        running = events.Refused(re=command.id, code="race_running", message="Later.", retry=True)
        await player.peer.send(running)


def running(version: int = 8) -> events.TableChanged:
    """Return the table of the race that `DutifulPlayer.race` begins, as it runs."""
    there = replace(table(version=version, phase="running"), commitment=PROMISE)
    racing = replace(
        there,
        racers=[racer(PLAYER, "Anna"), racer(RIVAL, "Bert")],
        start_at=NOON,
        deadline=NOON + 600_000,
    )
    return events.TableChanged(table=racing, now=NOON)


async def test_a_seat_lost_in_a_running_race_is_no_lost_race(player: DutifulPlayer) -> None:
    await player.race()
    await player.seat.handle(running())
    refusing = asyncio.ensure_future(say_running(player))
    assert (await player.seat.lost_races(CODE, is_gone=False), player.alarms) == ([], [])
    refusing.cancel()


@pytest.mark.parametrize("why", ["table gone", "next race", "time over"])
async def test_a_race_that_cannot_run_any_more_is_missed_although_the_server_says_that_it_runs(
    player: DutifulPlayer, tmp_path: Path, why: str
) -> None:
    await player.race()
    await player.seat.handle(running())
    if why == "next race":
        later = replace(table(version=9), race=f"{CODE}/2", commitment="d0" * 32)
        await player.seat.handle(events.TableChanged(table=later, now=NOON))
    elif why == "time over":
        player.seat = seen_earlier(player, tmp_path, 16 * 60_000)
    refusing = asyncio.ensure_future(say_running(player))
    lost = await player.seat.lost_races(CODE, is_gone=why == "table gone")
    refusing.cancel()
    assert lost == [f"Race {RACE}: {GONE}."]


def seen_earlier(player: DutifulPlayer, folder: Path, millis: int) -> FairnessDuties:
    """Return the duties of a restarted program, after this machine saw the race that much earlier."""
    witness = Witness(folder)
    sighting = witness.load(RACE)
    assert sighting is not None
    witness.keep(replace(sighting, seen_at=sighting.seen_at - millis))
    return player.restarted()


async def test_a_watcher_reveals_nothing_and_still_witnesses_the_race(
    player: DutifulPlayer,
) -> None:
    racers = [racer(RIVAL, "Bert", nonce_hash=nonce_hash(RIVALS_NONCE))]
    counting = replace(table(phase="countdown"), commitment=PROMISE, racers=racers)
    await player.seat.handle(events.TableChanged(table=counting, now=NOON))
    record = record_of("00" * 16)
    await player.hear_the_end(record, announced(record))
    said = player.seat.testimonies[RACE]
    assert said.seen == ("commitment", "nonces", "racers", "time limit", "result")
    assert said.disagreements == (f"{PLAYER} is in the record, but was not in the countdown",)


def board_of(nonce: str, count: int, state: str) -> events.BoardView:
    """Return the player's board; it has the deal's cards all the time."""
    first = dealt(nonce)
    assert isinstance(first, events.BoardChanged)
    return replace(first.board, count=count, state=state)


@pytest.mark.parametrize("durability", ["fast", "safe"])
async def test_moves_that_the_server_says_it_lost_are_a_contradiction_only_if_it_may_lose_none(
    server: ScriptedServer, tmp_path: Path, durability: str
) -> None:
    server.greeting = lambda hello: replace(welcome(hello), durability=durability)
    async with Connection(server.url, TOKEN) as client:
        player = DutifulPlayer(client, await server.peer(), tmp_path)
        nonce = await player.race()
        stuck = events.BoardChanged(
            board=board_of(nonce, 1, "stuck"), place=1, entries=["7 3 stuck"]
        )
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


async def test_a_record_of_a_newer_format_raises_no_alarm(player: DutifulPlayer) -> None:
    record = record_of(await player.race())
    text = format_record(record).replace("record 2", "record 3", 1)
    head, _, _ = text.rpartition("digest ")
    digest = digest_of(text)
    outcome = replace(announced(record), digest=digest)
    await player.seat.handle(events.RaceOver(outcome=outcome))
    await player.hear_the_record(f"{head}digest {digest}\n")
    assert player.alarms == []
