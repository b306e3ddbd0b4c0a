"""The record of a race is asked for until it comes, and compared with what the player saw."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from kit.scripted_server import CODE, NOON, PLAYER, RACE, TOKEN, ScriptedServer, snapshot, table
from kit.scripted_table import PROMISE, DutifulPlayer, countdown, gathering, handle, record_of
from saratoga_client.net.connection import Connection
from saratoga_client.session.witness import Witness
from saratoga_protocol import events
from saratoga_rules.records.record import RaceRecord, digest_of, format_record
from saratoga_server.domain.results import outcome_of

pytestmark = pytest.mark.usefixtures("impatient_checks")

MISSING = f"Missing: the server started race {RACE}, and does not show what became of it."


def announced(record: RaceRecord) -> events.Outcome:
    return outcome_of(record, digest_of(format_record(record)))


def later(record: RaceRecord | None = None) -> events.TableChanged:
    """Return the table that gathers for the next race."""
    digest = "ab" * 32 if record is None else digest_of(format_record(record))
    ended = events.Ended(race=RACE, digest=digest)
    next_race = replace(table(version=9), race=f"{CODE}/2", commitment="d0" * 32, previous=ended)
    return events.TableChanged(table=next_race, now=NOON)


async def listed(player: DutifulPlayer) -> RaceRecord:
    """Let the racers be listed, and the nonce be revealed; return the record of the race to come."""
    await handle(player.seat, gathering())
    ready = await player.ready()
    reveal = await player.answer(handle(player.seat, countdown(ready.nonce_hash)))
    return record_of(getattr(reveal, "nonce"))  # noqa: B009 - the command's type has been checked


async def refuse_records(player: DutifulPlayer, code: str, times: int = 1_000_000) -> None:
    """Refuse requests for a record; without a code, never answer."""
    for _ in range(times):
        command = await player.peer.command()
        if code:
            is_brief = code in ("store_unavailable", "race_running")
            await player.peer.send(
                events.Refused(re=command.id, code=code, message="No.", retry=is_brief, wait=60_000)
            )


async def test_a_record_is_asked_for_once(player: DutifulPlayer) -> None:
    record = await listed(player)
    await handle(player.seat, later(record))
    assert [player.due, player.due] == [[RACE], []]
    checked = asyncio.ensure_future(player.check(RACE))
    command = await player.peer.command()
    await player.peer.send(events.Record(re=command.id, race=RACE, text=format_record(record)))
    assert await checked is not None
    assert (player.due, player.seat.alarms) == ([], ())


async def test_what_is_shown_after_the_check_is_compared_too(player: DutifulPlayer) -> None:
    record = await listed(player)
    await handle(player.seat, later(record))
    await player.hear_the_record(format_record(record))
    before = player.seat.alarms
    outcome = announced(record)
    await handle(player.seat, events.RaceOver(outcome=replace(outcome, seed="5a" * 32)))
    await player.hear_the_record(format_record(record))
    changed = f"Race {RACE}: the server has changed the deal. Do not trust it."
    assert [before, player.seat.alarms] == [(), (changed,)]


async def test_a_record_refused_for_the_moment_is_asked_for_again(player: DutifulPlayer) -> None:
    record = await listed(player)
    await handle(player.seat, later(record))
    checking = asyncio.ensure_future(player.check(*player.due))
    for code in ("race_running", "no_such_race", "store_unavailable"):
        await refuse_records(player, code, times=1)
    command = await player.peer.command()
    await player.peer.send(events.Record(re=command.id, race=RACE, text=format_record(record)))
    checked = await checking
    assert checked is not None
    assert (checked.verdict, player.seat.alarms) == ("raced", ())


@pytest.mark.parametrize("code", ["race_running", "no_such_race"])
async def test_a_record_that_is_not_sent_is_missing_until_it_comes(
    player: DutifulPlayer, code: str
) -> None:
    record = await listed(player)
    await handle(player.seat, later(record))
    refusing = asyncio.ensure_future(refuse_records(player, code))
    checking = asyncio.ensure_future(player.check(*player.due))
    async with asyncio.timeout(10):
        await player.alarmed.wait()
    said = [player.seat.alarms]
    refusing.cancel()
    command = await player.peer.command()
    await player.peer.send(events.Record(re=command.id, race=RACE, text=format_record(record)))
    checked = await checking
    assert checked is not None
    assert checked.ok
    assert [*said, player.seat.alarms] == [(MISSING,), ()]


@pytest.mark.parametrize(
    "code", ["store_unavailable", "server_fault", "damaged", "of_a_newer_server", ""]
)
async def test_an_outage_is_no_accusation(player: DutifulPlayer, code: str) -> None:
    await listed(player)
    await handle(player.seat, later())
    refusing = asyncio.ensure_future(refuse_records(player, code))
    await player.records.finish(CODE)
    refusing.cancel()
    assert player.seat.alarms == ()


async def test_a_restarted_program_asks_for_a_race_that_disappeared(
    server: ScriptedServer, player: DutifulPlayer, tmp_path: Path
) -> None:
    await listed(player)
    async with Connection(server.url, TOKEN) as client:
        after = DutifulPlayer(client, await server.peer(), tmp_path)
        await handle(after.seat, replace(snapshot(), table=later().table))
        assert after.due == [RACE]
        refusing = asyncio.ensure_future(refuse_records(after, "no_such_race"))
        await after.check(RACE, is_final=True)
        refusing.cancel()
        assert after.seat.alarms == (MISSING,)


async def test_a_table_that_cannot_be_entered_any_more_is_asked_about(
    server: ScriptedServer, player: DutifulPlayer, tmp_path: Path
) -> None:
    record = await listed(player)
    async with Connection(server.url, TOKEN) as client:
        after = DutifulPlayer(client, await server.peer(), tmp_path)
        finishing = asyncio.ensure_future(after.records.finish(CODE))
        command = await after.peer.command()
        await after.peer.send(events.Record(re=command.id, race=RACE, text=format_record(record)))
        await finishing
        assert after.kept.text(RACE) == format_record(record)


def running(version: int = 8) -> events.TableChanged:
    """Return the table of the race as it runs."""
    counting = countdown("00" * 32, version=version).table
    racing = replace(counting, phase="running", start_at=NOON, deadline=NOON + 600_000, racers=[])
    return events.TableChanged(table=racing, now=NOON)


@pytest.mark.parametrize("why", ["it runs", "table gone", "next race", "time over"])
async def test_a_server_may_only_say_of_the_present_race_that_it_runs(
    player: DutifulPlayer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    await listed(player)
    await handle(player.seat, running())
    if why == "table gone":
        closed = replace(running(version=9).table, phase="closed")
        await handle(player.seat, events.TableChanged(table=closed, now=NOON))
    elif why == "next race":
        await handle(player.seat, later())
    elif why == "time over":
        seen = Witness(tmp_path).evidence(RACE)
        assert seen is not None
        monkeypatch.setattr(
            "saratoga_client.session.record_keeper.now", lambda: seen.seen_at + 16 * 60_000
        )
    refusing = asyncio.ensure_future(refuse_records(player, "race_running"))
    await player.records.finish(CODE)
    refusing.cancel()
    assert player.seat.alarms == (() if why == "it runs" else (MISSING,))


async def test_a_record_of_a_newer_release_is_no_contradiction(player: DutifulPlayer) -> None:
    record = await listed(player)
    text = format_record(record).replace("record 2", "record 3", 1)
    await handle(
        player.seat,
        replace(
            later(),
            table=replace(later().table, previous=events.Ended(race=RACE, digest=text[-65:-1])),
        ),
    )
    await player.hear_the_record(text)
    assert player.seat.alarms == ()


async def test_a_watcher_reveals_nothing_and_still_compares(player: DutifulPlayer) -> None:
    counting = countdown("00" * 32)
    (own, rival) = counting.table.racers
    assert own.player == PLAYER
    await handle(player.seat, replace(counting, table=replace(counting.table, racers=[rival])))
    await handle(player.seat, later())
    await player.hear_the_record(format_record(record_of("00" * 16)))
    assert len(player.seat.alarms) == 2
    assert "who takes part" in player.seat.alarms[0]
    assert "the record of the race" in player.seat.alarms[1]


async def test_the_durability_that_counts_is_that_when_the_race_was_listed(
    server: ScriptedServer, player: DutifulPlayer, tmp_path: Path
) -> None:
    await listed(player)
    kept = Witness(tmp_path).evidence(RACE)
    assert kept is not None
    assert (kept.durability, kept.facts["commitment", RACE]) == ("safe", PROMISE)
