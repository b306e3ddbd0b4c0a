"""A player's nonce is drawn, committed to and revealed once, and to no server that has changed its promise."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from kit.scripted_server import CODE, NOON, RACE, snapshot, table
from kit.scripted_table import (
    PROMISE,
    DutifulPlayer,
    changed,
    countdown,
    dealt,
    gathering,
)
from saratoga_client.net.errors import CommandRefused, LinkState, RequestTimedOut
from saratoga_client.problems import Problem
from saratoga_protocol import events
from saratoga_protocol.commands import Command, Reveal
from saratoga_protocol.events import Event
from saratoga_rules.dealing.fairness import nonce_hash

OTHER_DEAL = "d0" * 32


@pytest.fixture
def player(tmp_path: Path) -> DutifulPlayer:
    return DutifulPlayer(tmp_path)


def refusing(code: str) -> Any:
    return lambda command: events.Refused(re=command.id, code=code, message="No.")


async def test_every_deal_gets_a_nonce_of_its_own(player: DutifulPlayer) -> None:
    await player.see(gathering())
    first = await player.ready()
    await player.see(gathering(OTHER_DEAL, version=2))
    second = await player.ready()
    assert second.commitment == OTHER_DEAL
    assert first.nonce_hash != second.nonce_hash


async def test_a_nonce_is_not_sent_again_after_the_ready_mark_was_removed(
    player: DutifulPlayer,
) -> None:
    await player.see(gathering())
    first = await player.ready()
    await player.duties.not_ready()
    second = await player.ready()
    assert second.nonce_hash != first.nonce_hash
    # a countdown with the hash that was taken back is not this player's
    await player.see(countdown(first.nonce_hash))
    assert player.contradicted == ["hash"]


async def test_a_nonce_is_not_sent_again_after_it_was_refused(player: DutifulPlayer) -> None:
    await player.see(gathering())
    for code in ("wrong_nonce", "too_fast"):
        player.connection.reply = refusing(code)
        with pytest.raises(CommandRefused):
            await player.duties.ready()
    hashes = [getattr(command, "nonce_hash", "") for command in player.connection.sent]
    player.connection.reply = lambda command: events.Done(re=command.id)
    third = await player.ready()
    assert hashes[0] != hashes[1] == third.nonce_hash, "only a refused nonce is dropped"


async def test_a_hash_that_a_rival_copied_is_no_alarm_and_the_nonce_is_revealed(
    player: DutifulPlayer,
) -> None:
    await player.see(gathering())
    own = (await player.ready()).nonce_hash
    seen = countdown(own)
    copied = [replace(each, nonce_hash=own) for each in seen.table.racers]
    assert isinstance(await player.see(changed(seen, racers=copied)), Reveal)
    assert player.contradicted == []


async def test_the_nonce_is_revealed_once_for_each_countdown(player: DutifulPlayer) -> None:
    await player.see(gathering())
    first = countdown((await player.ready()).nonce_hash)
    shown = await player.see(first)
    assert await player.see(changed(first, version=3)) is None
    again = await player.see(changed(first, version=4, reveal_by=NOON + 60_000))
    assert isinstance(shown, Reveal)
    assert shown.commitment == PROMISE
    assert (again, player.contradicted) == (shown, [])


async def test_a_server_that_gives_the_player_another_id_does_not_change_the_evidence(
    player: DutifulPlayer, tmp_path: Path
) -> None:
    await player.see(dealt(await player.listed()))
    after = DutifulPlayer(tmp_path, welcomed="z" * 16)
    later = replace(table(version=9), race=f"{CODE}/2", commitment=OTHER_DEAL)
    await after.see(replace(snapshot(), table=later))
    assert after.contradicted == ["player", "terms"], "and the race before was thrown away"
    assert after.records.take_due() == [RACE], "the race is missed all the same"


async def test_a_restarted_program_still_knows_its_nonce(
    player: DutifulPlayer, tmp_path: Path
) -> None:
    await player.see(gathering())
    ready = await player.ready()
    reveal = await DutifulPlayer(tmp_path).see(countdown(ready.nonce_hash))
    assert isinstance(reveal, Reveal)
    assert nonce_hash(bytes.fromhex(reveal.nonce)) == ready.nonce_hash


@pytest.mark.parametrize("is_another_between", [False, True])
async def test_the_player_does_not_get_ready_again_for_a_deal_after_its_countdown(
    player: DutifulPlayer, is_another_between: bool
) -> None:
    await player.listed()
    if is_another_between:
        await player.see(gathering(OTHER_DEAL, version=3))
        await player.ready()
    await player.see(gathering(version=4))
    assert player.contradicted == ["terms"], "a voided countdown has a number of its own"
    with pytest.raises(Problem, match="offers a deal again"):
        await player.duties.ready()


def with_hash(seen: events.TableChanged, place: int, nonce_hash: str) -> events.TableChanged:
    """Return a countdown with another nonce hash of one racer."""
    racers = list(seen.table.racers)
    racers[place] = replace(racers[place], nonce_hash=nonce_hash)
    return changed(seen, racers=racers)


@pytest.mark.parametrize(
    ("lie", "fact"),
    [
        (lambda seen: changed(seen, commitment=OTHER_DEAL), "commitment"),
        (lambda seen: with_hash(seen, 0, "00" * 32), "hash"),
        (lambda seen: with_hash(seen, 1, ""), "hash"),
    ],
    ids=["another deal", "another hash", "a racer without a hash"],
)
async def test_no_nonce_is_revealed_in_another_countdown_than_was_promised(
    player: DutifulPlayer, lie: Callable[[events.TableChanged], Event], fact: str
) -> None:
    await player.see(gathering())
    honest = countdown((await player.ready()).nonce_hash)
    assert await player.see(lie(honest)) is None
    assert player.contradicted == [fact]


async def test_no_nonce_is_revealed_if_the_racers_have_changed_since_before_a_restart(
    player: DutifulPlayer, tmp_path: Path
) -> None:
    await player.see(gathering())
    honest = countdown((await player.ready()).nonce_hash)
    player.duties.see(honest)
    after = DutifulPlayer(tmp_path)
    assert await after.see(changed(honest, version=3, racers=honest.table.racers[:1])) is None
    assert after.contradicted == ["racers"]


async def test_a_refused_reveal_is_no_error_and_is_sent_again_if_the_countdown_goes_on(
    player: DutifulPlayer,
) -> None:
    await player.see(gathering())
    honest = countdown((await player.ready()).nonce_hash)
    player.connection.reply = refusing("wrong_phase")
    assert isinstance(await player.see(honest), Reveal)
    assert isinstance(await player.see(changed(honest, version=3)), Reveal)
    await player.see(voided())
    assert player.contradicted == [], "a nonce that was not confirmed may be missing"


def voided() -> events.TableChanged:
    """Return the next gathering, after a countdown in which this player's nonce was missing."""
    seen = countdown("", OTHER_DEAL, version=9)
    player = seen.table.racers[0].player
    ended = events.Ended(race=RACE, digest="ab" * 32, reason="nonce-missing", blamed=[player])
    return changed(seen, phase="gathering", race=f"{CODE}/2", racers=[], previous=ended)


async def test_a_player_gets_ready_in_the_call_and_reveals_nothing_before_its_end(
    player: DutifulPlayer,
) -> None:
    await player.see(gathering())
    assert await player.see(changed(countdown(""), phase="call", racers=[])) is None
    ready = await player.ready()
    reveal = await player.see(countdown(ready.nonce_hash, version=3))
    assert isinstance(reveal, Reveal)
    assert player.contradicted == []


async def test_a_call_that_is_called_off_leaves_the_deal_as_it_is(player: DutifulPlayer) -> None:
    await player.see(gathering())
    await player.ready()
    await player.see(changed(countdown(""), phase="call", racers=[]))
    await player.see(gathering(version=3))
    again = await player.ready()
    assert (again.commitment, player.contradicted) == (PROMISE, [])


@pytest.mark.parametrize("is_first", [True, False], ids=["void first", "void last"])
@pytest.mark.parametrize("is_lost", [False, True], ids=["connected", "connection lost"])
async def test_a_reveal_without_an_answer_raises_the_alarm_if_the_connection_was_never_lost(
    player: DutifulPlayer, is_first: bool, is_lost: bool
) -> None:
    await player.see(gathering())
    ready = await player.ready()

    def unanswered(command: Command) -> Event:
        if is_first:
            player.duties.see(voided())
        if is_lost:
            player.connection.state = LinkState.RECONNECTING
        raise RequestTimedOut

    player.connection.reply = unanswered
    assert isinstance(await player.see(countdown(ready.nonce_hash)), Reveal)
    player.duties.see(voided())
    assert player.contradicted == ([] if is_lost else ["revealed"])
