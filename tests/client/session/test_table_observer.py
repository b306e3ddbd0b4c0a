"""What a client notes of its table's races: honest ways to change a deal, and ways to discard one."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from kit.messages import racer
from kit.races import voided_race
from kit.scripted_server import CODE, NOON, PLAYER, RACE, snapshot, table
from kit.scripted_table import RIVAL, DutifulPlayer, countdown, gathering
from kit.session_states import outcome
from saratoga_client.session.table_observer import (
    FOREIGN_RESULT,
    RACE_REUSED,
)
from saratoga_client.session.witness import GONE, Sighting, Witness
from saratoga_protocol import events

OTHER_DEAL = "d0" * 32
VOID = voided_race(RACE)


def kept(folder: Path, race: str = RACE) -> Sighting:
    sighting = Witness(folder).load(race)
    assert sighting is not None
    return sighting


async def counted_down(player: DutifulPlayer) -> None:
    """Show the countdown, and take the player's nonce."""
    await player.seat.handle(gathering())
    ready = await player.ready()
    await player.answer(player.seat.handle(countdown(ready.nonce_hash)))


def later(number: int = 2, phase: str = "gathering", commitment: str = OTHER_DEAL) -> events.Table:
    there = table(version=20 + number, phase=phase)
    return replace(there, race=f"{CODE}/{number}", commitment=commitment)


# The end of a race


@pytest.mark.parametrize("is_own", [True, False])
async def test_a_result_of_another_race_in_the_place_of_its_own_raises_the_alarm(
    player: DutifulPlayer, is_own: bool
) -> None:
    result = replace(outcome("a9 y5"), race=RACE if is_own else f"{CODE}/9")
    over = table(version=20, phase="over")
    await player.seat.handle(replace(snapshot(), table=over, outcome=result))
    assert player.alarms == ([] if is_own else [(RACE, (FOREIGN_RESULT,))])


async def test_the_last_result_at_a_table_that_gathers_again_raises_no_alarm(
    player: DutifulPlayer,
) -> None:
    await player.seat.handle(replace(snapshot(), table=later(), outcome=outcome("a9 y5")))
    assert player.alarms == []


async def test_an_event_of_another_table_is_ignored(player: DutifulPlayer, tmp_path: Path) -> None:
    await counted_down(player)
    elsewhere = replace(later(), code="maple-crane-10", race="maple-crane-10/2")
    await player.seat.handle(events.TableChanged(table=elsewhere, now=NOON))
    await player.seat.handle(replace(snapshot(), table=elsewhere))
    assert (player.alarms, player.seat.take_due()) == ([], [])
    assert Witness(tmp_path).load(elsewhere.race) is None
    assert player.seat.table is not None
    assert player.seat.table.code == CODE


# A deal that is discarded


async def test_a_watcher_misses_a_discarded_countdown_too(player: DutifulPlayer) -> None:
    seen = countdown("ab" * 32).table
    watched = replace(seen, racers=seen.racers[1:], seats=seen.seats[1:])
    await player.seat.handle(events.TableChanged(table=watched, now=NOON))
    await player.seat.handle(events.TableChanged(table=later(), now=NOON))
    assert player.seat.take_due() == [RACE]


async def test_a_countdown_that_was_voided_openly_is_not_due(
    player: DutifulPlayer, tmp_path: Path
) -> None:
    await counted_down(player)
    closed = replace(later(1, "closed"), previous=VOID)
    await player.seat.handle(events.TableChanged(table=closed, now=NOON))
    assert (player.seat.take_due(), player.alarms) == ([], [])
    assert kept(tmp_path).voided == "closed"


async def test_a_void_that_is_announced_late_ends_the_alarm(
    player: DutifulPlayer, tmp_path: Path
) -> None:
    await counted_down(player)
    Witness(tmp_path).keep(replace(kept(tmp_path), alarms=[GONE, RACE_REUSED]))
    player.seat = player.restarted()
    await player.seat.handle(replace(snapshot(), table=replace(later(), previous=VOID)))
    assert kept(tmp_path).alarms == [RACE_REUSED]


# What an honest server does while a client is away


@pytest.mark.parametrize("phase", ["countdown", "running", "over"])
async def test_settings_changed_while_the_player_is_away_raise_no_alarm(
    player: DutifulPlayer, tmp_path: Path, phase: str
) -> None:
    await player.seat.handle(gathering())
    await player.ready()
    racing = replace(
        later(1, phase),
        racers=[racer(RIVAL, "Bert")],
        start_at=0 if phase == "countdown" else NOON,
        deadline=0 if phase == "countdown" else NOON + 600_000,
    )
    for _ in range(2):
        await player.seat.handle(replace(snapshot(), table=racing))
    assert player.alarms == []
    if phase != "over":
        assert kept(tmp_path).commitment == OTHER_DEAL


async def test_a_countdown_of_changed_settings_that_was_voided_meanwhile_raises_no_alarm(
    player: DutifulPlayer, tmp_path: Path
) -> None:
    await player.seat.handle(gathering())
    await player.ready()
    there = replace(later(), previous=VOID)
    await player.seat.handle(replace(snapshot(), table=there))
    assert (player.alarms, player.seat.take_due()) == ([], [])
    assert kept(tmp_path).voided == "", "the sighting is of another deal"


async def seen_a_week_ago(player: DutifulPlayer, tmp_path: Path) -> None:
    """Let the player come back a week after the countdown."""
    await counted_down(player)
    week = 7 * 24 * 3_600_000
    Witness(tmp_path).keep(replace(kept(tmp_path), seen_at=kept(tmp_path).seen_at - week))
    player.seat = player.restarted()


async def test_a_table_that_gets_the_same_code_long_after_is_another_one(
    player: DutifulPlayer, tmp_path: Path
) -> None:
    await seen_a_week_ago(player, tmp_path)
    new = later(1)
    await player.seat.handle(replace(snapshot(), table=new))
    await player.ready()
    await player.seat.handle(replace(snapshot(), table=replace(later(), previous=VOID)))
    assert (player.alarms, player.seat.take_due()) == ([], [])
    assert kept(tmp_path).commitment == OTHER_DEAL


async def test_race_numbers_may_jump(player: DutifulPlayer, tmp_path: Path) -> None:
    await counted_down(player)
    await player.seat.handle(replace(snapshot(), table=replace(later(), previous=VOID)))
    # a backup was restored: it does not have that void
    await player.seat.handle(replace(snapshot(), table=later(1001)))
    await player.ready()
    assert (player.alarms, player.seat.take_due()) == ([], [])
    assert kept(tmp_path, f"{CODE}/1001").player == PLAYER
