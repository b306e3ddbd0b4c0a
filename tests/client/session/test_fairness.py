"""A player's nonce is drawn, committed to and revealed, and what is noticed at a dishonest server."""

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
    scripted_server,
    snapshot,
    table,
    welcome,
)
from kit.scripted_table import (
    PROMISE,
    RIVAL,
    DutifulPlayer,
    countdown,
    gathering,
    handle,
)
from saratoga_client.net.connection import Connection, Timing
from saratoga_client.net.errors import CommandRefused, DealSpent
from saratoga_protocol import commands, events
from saratoga_protocol.commands import Reveal
from saratoga_rules.dealing.fairness import nonce_hash


async def test_every_deal_gets_a_nonce_of_its_own(player: DutifulPlayer) -> None:
    await handle(player.seat, gathering())
    first = await player.ready()
    await handle(player.seat, gathering("d0" * 32, version=2))
    second = await player.ready()
    assert second.commitment == "d0" * 32
    assert first.nonce_hash != second.nonce_hash


async def test_a_nonce_is_not_sent_again_after_the_ready_mark_was_removed(
    player: DutifulPlayer,
) -> None:
    await handle(player.seat, gathering())
    first = await player.ready()
    await player.answer(player.seat.not_ready())
    second = await player.ready()
    assert second.nonce_hash != first.nonce_hash
    # a countdown with the hash that was taken back is not this player's
    await handle(player.seat, countdown(first.nonce_hash))
    assert player.alarms == ["hash"]


async def test_a_nonce_is_not_sent_again_after_it_was_refused(player: DutifulPlayer) -> None:
    await handle(player.seat, gathering())
    hashes = []
    for code in ("wrong_nonce", "too_fast"):
        getting_ready = asyncio.ensure_future(player.seat.ready())
        command = await player.peer.command()
        assert isinstance(command, commands.Ready)
        hashes.append(command.nonce_hash)
        refusal = events.Refused(re=command.id, code=code, message="", wait=60_000)
        await player.peer.send(refusal)
        with pytest.raises(CommandRefused):
            await getting_ready
    third = await player.ready()
    assert hashes[0] != hashes[1] == third.nonce_hash, "only a refused nonce is dropped"


async def test_a_hash_that_a_rival_copied_is_no_alarm_and_the_nonce_is_revealed(
    player: DutifulPlayer,
) -> None:
    await handle(player.seat, gathering())
    ready = await player.ready()
    seen = countdown(ready.nonce_hash)
    racers = [replace(each, nonce_hash=ready.nonce_hash) for each in seen.table.racers]
    copied = replace(seen, table=replace(seen.table, racers=racers))
    assert isinstance(await player.answer(handle(player.seat, copied)), commands.Reveal)
    assert player.alarms == []


async def test_the_nonce_is_revealed_once(player: DutifulPlayer) -> None:
    await handle(player.seat, gathering())
    ready = await player.ready()
    await player.answer(handle(player.seat, countdown(ready.nonce_hash)))
    # A further command would wait here for its answer.
    await handle(player.seat, countdown(ready.nonce_hash, version=3))


async def test_the_nonce_is_revealed_again_if_the_countdown_begins_again(
    player: DutifulPlayer,
) -> None:
    await handle(player.seat, gathering())
    first = countdown((await player.ready()).nonce_hash)
    shown = await player.answer(handle(player.seat, first))
    again = replace(first.table, version=3, reveal_by=NOON + 60_000)
    repeated = await player.answer(handle(player.seat, events.TableChanged(table=again, now=NOON)))
    assert isinstance(shown, commands.Reveal)
    assert isinstance(repeated, commands.Reveal)
    assert (repeated.nonce, player.alarms) == (shown.nonce, [])


async def test_a_server_that_gives_the_player_another_id_does_not_change_the_evidence(
    server: ScriptedServer, tmp_path: Path
) -> None:
    async with Connection(server.url, TOKEN) as client:
        before = DutifulPlayer(client, await server.peer(), tmp_path)
        await before.race()
    server.greeting = lambda hello: replace(welcome(hello), player="z" * 16)
    later = replace(table(version=9), race=f"{CODE}/2", commitment="d0" * 32)
    async with Connection(server.url, TOKEN) as client:
        after = DutifulPlayer(client, await server.peer(), tmp_path)
        await handle(after.seat, replace(snapshot(), table=later))
        assert after.alarms == ["player", "terms"], "and the race before was thrown away"
        assert after.due == [RACE], "the race is missed all the same"


async def test_a_snapshot_counts_although_it_shows_an_older_version(player: DutifulPlayer) -> None:
    await handle(player.seat, gathering("d0" * 32, version=5))
    # as after a loss of the server's data
    await handle(player.seat, replace(snapshot(), table=table(version=2)))
    assert player.seat.table == table(version=2)


async def test_a_restarted_program_still_knows_its_nonce(
    server: ScriptedServer, tmp_path: Path
) -> None:
    async with Connection(server.url, TOKEN) as client:
        before = DutifulPlayer(client, await server.peer(), tmp_path)
        await handle(before.seat, gathering())
        ready = await before.ready()
    async with Connection(server.url, TOKEN) as client:
        after = DutifulPlayer(client, await server.peer(), tmp_path)
        reveal = await after.answer(handle(after.seat, countdown(ready.nonce_hash)))
    assert isinstance(reveal, commands.Reveal)
    assert nonce_hash(bytes.fromhex(reveal.nonce)) == ready.nonce_hash


async def test_the_player_does_not_get_ready_again_for_a_deal_after_its_countdown(
    player: DutifulPlayer,
) -> None:
    await handle(player.seat, gathering())
    ready = await player.ready()
    await player.answer(handle(player.seat, countdown(ready.nonce_hash)))
    await handle(player.seat, gathering(version=3))
    assert player.alarms == ["terms"]
    with pytest.raises(DealSpent):
        await player.seat.ready()


async def test_a_reused_deal_is_noticed_although_another_came_between(
    player: DutifulPlayer,
) -> None:
    await handle(player.seat, gathering())
    ready = await player.ready()
    await player.answer(handle(player.seat, countdown(ready.nonce_hash)))
    await handle(player.seat, gathering("d0" * 32, version=3))
    assert player.alarms == ["terms"], "a voided countdown has a number of its own"
    await player.ready()
    await handle(player.seat, gathering(version=4))
    with pytest.raises(DealSpent):
        await player.seat.ready()


@pytest.mark.parametrize(
    "others",
    [[], [racer(RIVAL, "Bert", nonce_hash="00" * 32)]],
    ids=["a racer less", "another hash"],
)
async def test_a_countdown_with_changed_nonce_hashes_raises_the_alarm(
    player: DutifulPlayer, others: list[events.Racer]
) -> None:
    await handle(player.seat, gathering())
    honest = countdown((await player.ready()).nonce_hash)
    await player.answer(handle(player.seat, honest))
    again = replace(honest.table, version=3, racers=[honest.table.racers[0], *others])
    await handle(player.seat, events.TableChanged(table=again, now=NOON))
    assert player.alarms == ["hash" if others else "racers"]


async def test_a_racer_who_leaves_in_the_countdown_raises_no_alarm(player: DutifulPlayer) -> None:
    await handle(player.seat, gathering())
    honest = countdown((await player.ready()).nonce_hash)
    await player.answer(handle(player.seat, honest))
    left = replace(honest.table, version=3, seats=honest.table.seats[:1])
    await handle(player.seat, events.TableChanged(table=left, now=NOON))
    assert player.alarms == []


async def test_no_nonce_is_revealed_for_a_deal_the_player_is_not_ready_for(
    player: DutifulPlayer,
) -> None:
    await handle(player.seat, gathering())
    ready = await player.ready()
    await handle(player.seat, countdown(ready.nonce_hash, promise="d0" * 32))
    assert player.alarms == ["commitment"]


async def test_no_nonce_is_revealed_if_the_server_names_another_hash(player: DutifulPlayer) -> None:
    await handle(player.seat, gathering())
    await player.ready()
    await handle(player.seat, countdown("00" * 32))
    assert player.alarms == ["hash"]


async def hear_silently(player: DutifulPlayer, table: events.Table) -> None:
    """Handle a version of the table, and check that nothing is sent."""
    handling = asyncio.ensure_future(
        handle(player.seat, events.TableChanged(table=table, now=NOON))
    )
    asking = asyncio.ensure_future(player.seat.not_ready())
    command = await player.peer.command()
    assert isinstance(command, commands.NotReady), "the first command"
    await player.peer.send(events.Done(re=command.id))
    await asyncio.gather(handling, asking)


async def test_no_nonce_is_revealed_if_the_racers_have_changed(player: DutifulPlayer) -> None:
    await handle(player.seat, gathering())
    honest = countdown((await player.ready()).nonce_hash)
    # the countdown is seen, and the program ends before it reveals
    player.seat.see(honest)
    player.seat = player.restarted()
    fewer = replace(honest.table, version=3, racers=honest.table.racers[:1])
    await hear_silently(player, fewer)
    assert player.alarms == ["racers"]


async def test_no_nonce_is_revealed_to_a_racer_without_a_nonce_hash(player: DutifulPlayer) -> None:
    await handle(player.seat, gathering())
    honest = countdown((await player.ready()).nonce_hash)
    racers = [honest.table.racers[0], replace(honest.table.racers[1], nonce_hash="")]
    unhashed = replace(honest.table, racers=racers)
    await hear_silently(player, unhashed)
    assert player.alarms == ["hash"]


async def test_a_nonce_that_the_server_refuses_is_no_error(player: DutifulPlayer) -> None:
    await handle(player.seat, gathering())
    ready = await player.ready()
    showing = asyncio.create_task(handle(player.seat, countdown(ready.nonce_hash)))
    command = await player.peer.command()
    await player.peer.send(events.Refused(re=command.id, code="wrong_phase", message="Late."))
    await showing
    assert player.alarms == []
    # it is sent again if the countdown goes on
    again = await player.answer(handle(player.seat, countdown(ready.nonce_hash, version=3)))
    assert isinstance(again, commands.Reveal)


def call(own_hash: str = "", version: int = 2) -> events.TableChanged:
    """Return the call, in which no racer is listed."""
    changed = countdown(own_hash, version=version)
    return replace(changed, table=replace(changed.table, phase="call", racers=[]))


def voided(blamed: str = PLAYER) -> events.TableChanged:
    """Return the next gathering, after a countdown in which a nonce was missing."""
    race = events.Ended(race=RACE, digest="ab" * 32, reason="nonce-missing", blamed=[blamed])
    table = replace(
        countdown("", "d0" * 32, version=9).table,
        phase="gathering",
        race=f"{CODE}/2",
        racers=[],
        previous=race,
    )
    return events.TableChanged(table=table, now=NOON)


async def revealed(player: DutifulPlayer) -> str:
    """Reveal the player's nonce, which the server confirms; return its hash."""
    await handle(player.seat, gathering())
    ready = await player.ready()
    reveal = await player.answer(handle(player.seat, countdown(ready.nonce_hash)))
    assert isinstance(reveal, Reveal)
    return ready.nonce_hash


async def test_a_player_gets_ready_in_the_call_and_reveals_nothing_before_its_end(
    player: DutifulPlayer,
) -> None:
    await handle(player.seat, gathering())
    # a reveal would wait here for its answer
    await handle(player.seat, call())
    ready = await player.ready()
    reveal = await player.answer(handle(player.seat, countdown(ready.nonce_hash, version=3)))
    assert isinstance(reveal, Reveal)
    assert player.alarms == []


async def test_a_call_that_is_called_off_leaves_the_deal_as_it_is(player: DutifulPlayer) -> None:
    await handle(player.seat, gathering())
    ready = await player.ready()
    await handle(player.seat, call(ready.nonce_hash))
    await handle(player.seat, gathering(version=3))
    again = await player.ready()
    assert (again.commitment, player.alarms) == (PROMISE, [])


async def test_a_nonce_that_the_server_did_not_confirm_may_be_missing(
    player: DutifulPlayer,
) -> None:
    await handle(player.seat, gathering())
    ready = await player.ready()
    await player.answer_refused(handle(player.seat, countdown(ready.nonce_hash)))
    await handle(player.seat, voided())
    assert player.alarms == []


@pytest.mark.parametrize("is_first", [True, False], ids=["void first", "void last"])
@pytest.mark.parametrize("is_cut", [False, True], ids=["connected", "connection lost"])
async def test_a_reveal_without_an_answer_raises_the_alarm_if_the_connection_was_never_lost(
    tmp_path: Path, is_first: bool, is_cut: bool
) -> None:
    timing = Timing(answer_within=0.3)
    async with scripted_server() as server, Connection(server.url, TOKEN, timing=timing) as client:
        player = DutifulPlayer(client, await server.peer(), tmp_path)
        await handle(player.seat, gathering())
        ready = await player.ready()
        player.seat.see(countdown(ready.nonce_hash))
        revealing = asyncio.ensure_future(player.seat.reveal())
        assert isinstance(await player.peer.command(), Reveal)
        if is_first:
            player.seat.see(voided())
        if is_cut:
            player.peer.cut()
        await revealing
        player.seat.see(voided())
        assert player.alarms == ([] if is_cut else ["revealed"])


async def test_an_honest_void_raises_no_alarm(player: DutifulPlayer) -> None:
    await revealed(player)
    await handle(player.seat, voided(RIVAL))
    assert player.alarms == []
