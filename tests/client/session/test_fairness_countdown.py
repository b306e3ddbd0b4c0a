"""The call and the countdown: what a client reveals, and what it notices when a countdown is voided."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from kit.scripted_server import CODE, NOON, PLAYER, RACE, TOKEN, scripted_server
from kit.scripted_table import (
    PROMISE,
    RIVAL,
    RIVALS_NONCE,
    SEED,
    DutifulPlayer,
    countdown,
    gathering,
)
from saratoga_client.net.connection import Connection, Timing
from saratoga_client.session.witness import NONCE_DENIED, REVEAL_UNANSWERED, Witness
from saratoga_protocol import events
from saratoga_protocol.commands import Reveal
from saratoga_rules.dealing.fairness import nonce_hash


def call(own_hash: str = "", version: int = 2) -> events.TableChanged:
    """Return the call: the countdown without its racers."""
    changed = countdown(own_hash, version=version)
    return replace(changed, table=replace(changed.table, racers=[]))


def voided(own_hash: str, **changes: Any) -> events.TableChanged:
    """Return the next gathering, after a countdown in which only the rival's nonce was revealed."""
    race = events.VoidedRace(
        race=RACE,
        game="canfield",
        rules=1,
        cap=10,
        public=False,
        reason="nonce-missing",
        commitment=PROMISE,
        seed=SEED.hex(),
        nonces={RIVAL: RIVALS_NONCE.hex()},
        missing={PLAYER: own_hash},
    )
    table = replace(
        countdown("", "d0" * 32, version=9).table,
        phase="gathering",
        race=f"{CODE}/2",
        racers=[],
        voided=[replace(race, **changes)],
    )
    return events.TableChanged(table=table, now=NOON)


async def revealed(player: DutifulPlayer) -> str:
    """Reveal the player's nonce, which the server confirms; return its hash."""
    await player.seat.handle(gathering())
    ready = await player.ready()
    reveal = await player.answer(player.seat.handle(countdown(ready.nonce_hash)))
    assert isinstance(reveal, Reveal)
    return ready.nonce_hash


async def test_a_player_gets_ready_in_the_call_and_reveals_nothing_before_its_end(
    player: DutifulPlayer,
) -> None:
    await player.seat.handle(gathering())
    # a reveal would wait here for its answer
    await player.seat.handle(call())
    ready = await player.ready()
    reveal = await player.answer(player.seat.handle(countdown(ready.nonce_hash, version=3)))
    assert isinstance(reveal, Reveal)
    assert player.alarms == []


async def test_a_call_that_is_called_off_leaves_the_deal_as_it_is(player: DutifulPlayer) -> None:
    await player.seat.handle(gathering())
    ready = await player.ready()
    await player.seat.handle(call(ready.nonce_hash))
    await player.seat.handle(gathering(version=3))
    again = await player.ready()
    assert (again.commitment, player.alarms) == (PROMISE, [])


async def test_a_player_whose_confirmed_nonce_is_said_to_be_missing_raises_the_alarm(
    player: DutifulPlayer, tmp_path: Path
) -> None:
    await player.seat.handle(voided(await revealed(player)))
    assert player.alarms == [(RACE, (NONCE_DENIED,))]
    kept = Witness(tmp_path).load(RACE)
    assert kept is not None
    assert kept.alarms == [NONCE_DENIED]


async def test_a_nonce_that_the_server_did_not_confirm_may_be_missing(
    player: DutifulPlayer,
) -> None:
    await player.seat.handle(gathering())
    ready = await player.ready()
    await player.answer_refused(player.seat.handle(countdown(ready.nonce_hash)))
    await player.seat.handle(voided(ready.nonce_hash))
    assert player.alarms == []


async def test_a_nonce_that_is_confirmed_after_the_void_raises_the_alarm_too(
    player: DutifulPlayer,
) -> None:
    await player.seat.handle(gathering())
    ready = await player.ready()
    player.seat.see(countdown(ready.nonce_hash))
    revealing = asyncio.ensure_future(player.seat.reveal())
    reveal = await player.peer.command()
    player.seat.see(voided(ready.nonce_hash))
    assert player.alarms == []
    # the table has forgotten the void when the answer comes
    later = replace(voided("").table, race=f"{CODE}/3", version=30, voided=[])
    player.seat.see(events.TableChanged(table=later, now=NOON))
    await player.peer.send(events.Done(re=reveal.id))
    await revealing
    assert player.alarms == [(RACE, (NONCE_DENIED,))]


@pytest.mark.parametrize("is_first", [True, False], ids=["void first", "void last"])
@pytest.mark.parametrize("is_cut", [False, True], ids=["connected", "connection lost"])
async def test_a_reveal_without_an_answer_raises_the_alarm_if_the_connection_was_never_lost(
    tmp_path: Path, is_first: bool, is_cut: bool
) -> None:
    timing = Timing(answer_within=0.3)
    async with scripted_server() as server, Connection(server.url, TOKEN, timing=timing) as client:
        player = DutifulPlayer(client, await server.peer(), tmp_path)
        await player.seat.handle(gathering())
        ready = await player.ready()
        player.seat.see(countdown(ready.nonce_hash))
        revealing = asyncio.ensure_future(player.seat.reveal())
        assert isinstance(await player.peer.command(), Reveal)
        if is_first:
            player.seat.see(voided(ready.nonce_hash))
        if is_cut:
            player.peer.cut()
        await revealing
        player.seat.see(voided(ready.nonce_hash))
        assert player.alarms == ([] if is_cut else [(RACE, (REVEAL_UNANSWERED,))])


async def test_an_honest_void_raises_no_alarm(player: DutifulPlayer, tmp_path: Path) -> None:
    await revealed(player)
    sighting = Witness(tmp_path).load(RACE)
    assert sighting is not None
    nonces, missing = {PLAYER: sighting.nonce}, {RIVAL: nonce_hash(RIVALS_NONCE)}
    await player.seat.handle(voided("", nonces=nonces, missing=missing))
    assert player.alarms == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"missing": {}}, "are not those that were listed"),
        ({"nonces": {}, "missing": {RIVAL: "ab" * 32}}, "is not the one that was listed"),
        ({"seed": "00" * 32}, "does not match its commitment"),
        ({"nonces": {RIVAL: "cd" * 16}}, "does not match the hash from the countdown"),
    ],
    ids=["a racer less", "another hash", "another seed", "another nonce"],
)
async def test_a_voided_countdown_that_is_not_the_one_seen_raises_the_alarm(
    player: DutifulPlayer, changes: dict[str, Any], fault: str
) -> None:
    own_hash = await revealed(player)
    await player.seat.handle(voided(own_hash, **changes))
    assert any(fault in sentence for _, faults in player.alarms for sentence in faults)
