"""Races on a node: opened from the store, read again when another connection or node wrote."""

import asyncio

import pytest

from kit.fake_store import fake_store
from kit.guests import GuestInMemory
from kit.rooms import (
    HouseInMemory,
    open_in_memory,
)
from saratoga_protocol.commands import Resume
from saratoga_protocol.events import BoardEnded, RaceOver, Refused
from saratoga_protocol.refusals import TAKEN_OVER
from saratoga_rules.standing import State
from saratoga_server.domain.tables.countdown import MINUTE
from saratoga_server.live.races import LiveStanding
from saratoga_server.ports import StoreUnavailable


async def two_racing(rooms: HouseInMemory) -> tuple[GuestInMemory, GuestInMemory]:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    await rooms.race(anna, bert)
    return anna, bert


def refused(answer: object) -> tuple[str, int | None]:
    """The code of a no, and the length of the board that came with it."""
    assert isinstance(answer, Refused), answer
    return answer.code, None if answer.board is None else answer.board.count


async def test_the_move_of_an_older_connection_is_fenced_on_another_node(
    rooms: HouseInMemory,
) -> None:
    anna, _ = await two_racing(rooms)
    rooms.fake.ears.clear()  # the news would have told before
    elsewhere = await open_in_memory(fake_store(rooms.fake), rooms.time, node="other")
    newer = GuestInMemory(elsewhere, "Anna")
    await newer.hello()
    await newer.at_table(Resume, table=anna.table.code)
    assert refused(await anna.move("draw"))[0] == "taken_over"
    assert anna.sent_away == [TAKEN_OVER.code]
    await newer.moves("draw")
    await elsewhere.stop()


async def test_a_board_that_another_node_wrote_to_is_read_again(rooms: HouseInMemory) -> None:
    anna, bert = await two_racing(rooms)
    elsewhere = await open_in_memory(fake_store(rooms.fake), rooms.time, node="other")
    newer = GuestInMemory(elsewhere, "Anna")
    await newer.hello()
    await newer.at_table(Resume, table=anna.table.code)
    await newer.moves("draw", "draw")
    back = await rooms.guest("Anna")
    snapshot = await back.at_table(Resume, table=anna.table.code)
    assert snapshot.board is not None
    assert refused(await back.move("draw", after=0))[0] == "stale_move"
    assert (await back.moves("draw")).board.count == 3
    assert bert.board.count == 0
    await elsewhere.stop()


async def test_boards_are_folded_from_the_store_after_a_restart(rooms: HouseInMemory) -> None:
    anna, bert = await two_racing(rooms)
    await anna.moves("draw", "draw", "draw")
    await bert.moves("draw")
    await rooms.restart()
    for guest, count in ((anna, 3), (bert, 1)):
        back = await rooms.guest(guest.name)
        snapshot = await back.at_table(Resume, table=guest.table.code)
        assert snapshot.board == guest.board
        assert snapshot.board is not None
        assert snapshot.board.count == count


# A store that knows better


async def test_another_command_after_a_lost_answer_is_told_of_the_present_board(
    rooms: HouseInMemory,
) -> None:
    anna, _ = await two_racing(rooms)
    rooms.fake.lose_answers = 1
    assert refused(await anna.move("draw")) == ("store_unavailable", None)
    assert refused(await anna.move("draw")) == ("stale_move", 1)
    assert (await anna.moves("draw")).board.count == 2


async def test_an_ending_of_the_houses_own_is_told_though_its_answer_was_lost(
    rooms: HouseInMemory,
) -> None:
    anna, bert = await two_racing(rooms)
    rooms.time.at += 10 * MINUTE
    race = await rooms.house.races.of(await rooms.house.table_cache.get(anna.table.code))
    rooms.fake.lose_answers = 1
    with pytest.raises(StoreUnavailable):
        await rooms.house.table_service.end_board(race, anna.player, State.OUT_OF_TIME)
    assert anna.heard.all(BoardEnded) == []
    await rooms.pass_time(1000)
    for each in (anna, bert):
        (ended,) = each.heard.all(BoardEnded)
        assert ended.board.state == "out of time"
        assert len(each.heard.all(RaceOver)) == 1


async def test_a_move_overtakes_an_ending_of_the_houses_own(rooms: HouseInMemory) -> None:
    anna, _ = await two_racing(rooms)
    elsewhere = await open_in_memory(fake_store(rooms.fake), rooms.time, node="other")
    newer = GuestInMemory(elsewhere, "Anna")
    await newer.hello()
    await newer.at_table(Resume, table=anna.table.code)
    await newer.moves("draw")
    race = await rooms.house.races.of(await rooms.house.table_cache.get(anna.table.code))
    assert not await rooms.house.table_service.end_board(race, anna.player, State.STUCK, length=0)
    assert race.boards[anna.player].racing
    assert await rooms.house.table_service.end_board(race, anna.player, State.LEFT)
    stored = rooms.fake.races[anna.table.code, 1].boards[anna.player]
    assert [entry.text for entry in stored.log] == ["draw", "left"]
    assert refused(await newer.move("draw")) == ("board_over", 2)
    await elsewhere.stop()


async def test_without_the_store_a_refusal_comes_without_a_board(
    rooms: HouseInMemory,
) -> None:
    anna, _ = await two_racing(rooms)
    await rooms.restart()
    back = await rooms.guest("Anna")
    await back.at_table(Resume, table=anna.table.code)
    rooms.house.races.keep_only(())
    rooms.fake.unavailable = True
    assert refused(await back.move("redeal")) == ("store_unavailable", None)


async def test_a_board_has_a_longest_log(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.live.move_service.MOST_ENTRIES", 2)
    anna, _ = await two_racing(rooms)
    await anna.moves("draw", "draw")
    assert refused(await anna.move("draw"))[0] == "board_full"
    assert (await anna.cash_out()).board.state == "cashed out"


async def test_a_standing_never_turns_back(rooms: HouseInMemory) -> None:
    anna, _ = await two_racing(rooms)
    await anna.moves("draw", "draw")
    (race,) = rooms.house.races.all()
    now = race.stands[anna.player]
    assert now.length == 2
    older = LiveStanding(9, State.RACING, None, 1)
    rooms.house.races.hear(race.id, {anna.player: older, "x" * 16: older})
    assert race.stands[anna.player] is now
    assert "x" * 16 not in race.stands
    newer = LiveStanding(9, State.RACING, None, 3)
    rooms.house.races.hear(race.id, {anna.player: newer})
    assert race.stands[anna.player] == newer
    await rooms.house.races.read_standings(race)
    assert race.stands[anna.player] == newer


async def test_what_is_told_of_a_race_while_it_is_read_is_not_missed(
    rooms: HouseInMemory,
) -> None:
    anna, _ = await two_racing(rooms)
    elsewhere = await open_in_memory(fake_store(rooms.fake), rooms.time, node="other")
    live_table = await elsewhere.table_cache.get(anna.table.code)
    told = LiveStanding(9, State.RACING, None, 3)
    reading = asyncio.create_task(elsewhere.races.of(live_table))
    await asyncio.sleep(0)
    elsewhere.races.hear(live_table.state.race_id, {anna.player: told})
    assert (await reading).stands[anna.player] == told
    await elsewhere.stop()
