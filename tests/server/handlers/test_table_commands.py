"""Commands of seated players: settings, ready, start, reveal, next race."""

import pytest

from kit.guests import GuestInMemory
from kit.rooms import HouseInMemory, counted_down, gathered
from kit.tables import nonce, nonce_hash
from saratoga_protocol.commands import (
    ChangeSettings,
    JoinTable,
    NextRace,
    NotReady,
    Ready,
    Reveal,
    Start,
)
from saratoga_protocol.events import (
    Dealt,
    Done,
    Refused,
    TableChanged,
)
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS, REVEAL_MILLIS


async def guests(rooms: HouseInMemory, *names: str) -> list[GuestInMemory]:
    return [await rooms.guest(name) for name in names]


async def test_ready_names_the_commitment_of_the_coming_deal(rooms: HouseInMemory) -> None:
    (anna,) = await guests(rooms, "Anna")
    code = await gathered(anna)
    old = anna.table.commitment
    await anna.ask(ChangeSettings, table=code, cap=3)
    assert anna.table.commitment != old
    said = {"table": code, "nonce_hash": nonce_hash(anna.player)}
    assert await anna.refused(Ready, commitment=old, **said) == "wrong_commitment"
    assert await anna.refused(Ready, commitment="0" * 64, **said) == "wrong_commitment"
    assert isinstance(await anna.ready(), Done)


async def test_a_change_of_settings_clears_the_ready_marks(rooms: HouseInMemory) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna, bert)
    await anna.ready()
    await bert.ready()
    assert [seat.ready for seat in anna.table.seats] == [True, True]
    await anna.ask(ChangeSettings, table=code, game="lafayette")
    assert [seat.ready for seat in bert.table.seats] == [False, False]
    assert await anna.refused(Start, table=code) == "nobody_ready"


async def test_only_the_host_starts(rooms: HouseInMemory) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna, bert)
    await bert.ready()
    assert await bert.refused(Start, table=code) == "host_only"
    assert await anna.refused(Start, table=code) == "nobody_ready"
    await anna.ready()
    await anna.ask(NotReady, table=code)
    assert await anna.refused(Start, table=code) == "nobody_ready"
    await anna.ready()
    command = Start(id=50, table=code)
    assert isinstance(await anna.say(command), Done)
    assert isinstance(await anna.say(command), Done), "said again"
    assert bert.table.racers == [anna.player, bert.player]


async def test_players_who_are_not_ready_or_join_late_do_not_race(rooms: HouseInMemory) -> None:
    anna, bert, cleo = await guests(rooms, "Anna", "Bert", "Cleo")
    code = await gathered(anna, bert)
    await counted_down(anna)
    await cleo.at_table(JoinTable, table=code)
    await rooms.pass_time(COUNTDOWN_MILLIS)
    assert len(anna.heard.all(Dealt)) == 1
    assert bert.heard.all(Dealt) == cleo.heard.all(Dealt) == []
    assert anna.table.racers == [anna.player]
    assert await bert.refused(Reveal, table=code, nonce=nonce(bert.player)) == "wrong_phase"
    await anna.cash_out()
    await rooms.settle()
    await anna.ask(NextRace, table=code)
    await rooms.deal(anna, bert, cleo)


async def test_a_wrong_nonce_is_refused_and_the_right_one_is_not(
    rooms: HouseInMemory,
) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna, bert)
    await anna.ready()
    await bert.ready()
    await anna.ask(Start, table=code)
    assert await anna.refused(Reveal, table=code, nonce="0" * 32) == "wrong_nonce"
    assert await anna.refused(Reveal, table=code, nonce=nonce(bert.player)) == "wrong_nonce"
    assert isinstance(await anna.reveal(), Done)
    assert isinstance(await anna.reveal(), Done), "shown again"
    assert isinstance(await bert.reveal(), Done)


async def test_a_missing_nonce_voids_the_countdown_and_the_notice_names_the_player(
    rooms: HouseInMemory,
) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna, bert)
    await anna.ready()
    await bert.ready()
    await anna.ask(Start, table=code)
    await anna.reveal()
    commitment = anna.table.commitment
    await rooms.pass_time(REVEAL_MILLIS - 1)
    assert anna.table.phase == "countdown"
    await rooms.pass_time(1)
    for guest in (anna, bert):
        assert guest.table.phase == "gathering"
        assert "Bert" in guest.table.notice
        assert guest.table.commitment != commitment
        assert not any(seat.ready for seat in guest.table.seats)
    await rooms.deal(anna, bert)


async def test_two_racers_cannot_be_ready_with_the_same_nonce_hash(rooms: HouseInMemory) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna, bert)
    await anna.ready()
    said = {"table": code, "commitment": bert.table.commitment}
    assert await bert.refused(Ready, nonce_hash=nonce_hash(anna.player), **said) == "wrong_nonce"


@pytest.mark.parametrize("kind", [Ready, NotReady, Start, ChangeSettings, NextRace, Reveal])
async def test_commands_in_the_wrong_phase_are_refused(rooms: HouseInMemory, kind: type) -> None:
    (anna,) = await guests(rooms, "Anna")
    code = await rooms.race(anna)
    more: dict[str, object] = {}
    if kind is Ready:
        more = {"commitment": anna.table.commitment, "nonce_hash": nonce_hash(anna.player)}
    if kind is Reveal:
        more = {"nonce": nonce(anna.player)}
    assert await anna.refused(kind, table=code, **more) == "wrong_phase"


# A store that fails


@pytest.mark.parametrize("lost", [True, False])
async def test_a_command_whose_reply_was_lost_can_be_repeated(
    rooms: HouseInMemory, lost: bool
) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna, bert)
    command = ChangeSettings(id=50, table=code, cap=3)
    if lost:
        rooms.fake.lose_answers = 1
    else:
        rooms.fake.unavailable = True
    answer = await anna.say(command)
    assert isinstance(answer, Refused)
    assert (answer.code, answer.retry) == ("store_unavailable", True)
    assert bert.table.settings.cap == 10
    rooms.fake.unavailable = False
    assert isinstance(await anna.say(command), Done)
    assert (anna.table.settings.cap, bert.table.settings.cap) == (3, 3)
    assert len(bert.heard.all(TableChanged)) == 1


async def test_a_command_with_an_id_below_the_last_one_is_refused(
    rooms: HouseInMemory,
) -> None:
    (anna,) = await guests(rooms, "Anna")
    code = await gathered(anna)
    late = anna.last_id + 1
    anna.last_id += 1
    assert isinstance(await anna.ready(), Done)
    answer = await anna.say(NotReady(id=late, table=code))
    assert isinstance(answer, Refused)
    assert answer.code == "stale_id"
    assert [seat.ready for seat in anna.table.seats] == [True]
    assert isinstance(await anna.say(NotReady(id=anna.last_id, table=code)), Done)
    assert [seat.ready for seat in anna.table.seats] == [True]
