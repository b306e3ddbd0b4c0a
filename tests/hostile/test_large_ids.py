"""Commands with the largest ids that the wire allows are stored and recognised exactly."""

from kit.running_race import AnyStore, ending, move, running_race
from saratoga_protocol.version import LARGEST_NUMBER
from saratoga_server.ports import CommitOutcome, CommitStatus

LARGE = 8_708_173_073_694_003
"""An id with more digits than Lua prints by default."""


async def test_a_board_with_large_ids_is_read_as_it_was_written(store: AnyStore) -> None:
    race = await running_race(store)
    for command_id, after in ((10**14, 0), (LARGE, 1), (LARGEST_NUMBER, 2)):
        (outcome,) = await race.commit(move("draw", after, command_id=command_id))
        assert outcome.status is CommitStatus.DONE
    board = await race.board()
    assert [entry.command_id for entry in board.entries] == [10**14, LARGE, LARGEST_NUMBER]
    assert board.last_id == LARGEST_NUMBER


async def test_a_repeated_large_id_is_recognised(store: AnyStore) -> None:
    race = await running_race(store)
    await race.commit(move("draw", 0, command_id=LARGE))
    (again,) = await race.commit(move("draw", 0, command_id=LARGE))
    assert again == CommitOutcome(CommitStatus.REPEAT, 1)
    (left,) = await race.commit(ending("left", 1, "left"))
    assert left.status is CommitStatus.DONE
