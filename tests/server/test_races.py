"""Races on a node: opened from the store, read again when another connection or node wrote."""

from kit.fake_store import fake_store
from kit.guests import GuestInMemory
from kit.rooms import (
    HouseInMemory,
    open_in_memory,
)
from saratoga_protocol.commands import Resume
from saratoga_protocol.events import Refused
from saratoga_protocol.refusals import TAKEN_OVER


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
