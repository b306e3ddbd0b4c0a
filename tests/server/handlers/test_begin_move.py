"""Moves that are judged in the callback that read them: `Dispatcher.begin_move`."""

import asyncio
import gc
from typing import Any

import pytest

from kit.guests import GuestInMemory
from kit.rooms import HouseInMemory, always, house_in_memory
from kit.two_nodes import beside
from saratoga_protocol.commands import CashOut, Hello, MakeMove, Resume
from saratoga_protocol.events import AnyEvent, MoveMade, RaceOver, Refused
from saratoga_protocol.refusals import TAKEN_OVER
from saratoga_server.domain.tables.countdown import MINUTE
from saratoga_server.handlers.dispatcher import DispatchedMove
from saratoga_server.ports import BoardCommit, CommitOutcome, Commits, StoreUnavailable

ONE_MOVE_TO_WIN = (
    "stock=2C waste=- reserve=- up=13,13,13,12 down=- columns=KD/-/-/- base=1 passes=1"
)


class HeldCommits:
    """Commits that are on their way to the store until the test lets them through."""

    def __init__(self, commits: Commits) -> None:
        self.submitted: list[BoardCommit] = []
        self._commit = commits.commit
        self._replies: list[asyncio.Future[CommitOutcome]] = []
        self._arrived = asyncio.Event()

    def commit(self, board: BoardCommit) -> asyncio.Future[CommitOutcome]:
        self.submitted.append(board)
        self._arrived.set()
        self._replies.append(asyncio.get_running_loop().create_future())
        return self._replies[-1]

    async def next(self, after: int = 0) -> None:
        """Wait until more than `after` commits were submitted."""
        while len(self.submitted) <= after:
            self._arrived.clear()
            await self._arrived.wait()

    async def let_through(self) -> None:
        """Write the oldest one, and deliver the store's reply."""
        reply = self._replies.pop(0)
        reply.set_result(await self._commit(self.submitted[-1 - len(self._replies)]))

    def fail(self) -> None:
        """Lose the oldest one."""
        self._replies.pop(0).set_exception(StoreUnavailable("the store does not answer"))


@pytest.fixture
def held(rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch) -> HeldCommits:
    commits = HeldCommits(rooms.store.commits)
    monkeypatch.setattr(rooms.store.commits, "commit", commits.commit)
    return commits


def move(guest: GuestInMemory, text: str, **fields: Any) -> MakeMove:
    """Return a new command for the board as the guest knows it."""
    guest.last_id += 1
    board = guest.board
    given: dict[str, Any] = {
        "id": guest.last_id,
        "race": board.race,
        "after": board.count,
        "move": text,
    }
    return MakeMove(**given | fields)


def begun(rooms: HouseInMemory, guest: GuestInMemory, command: MakeMove) -> DispatchedMove:
    """Begin a move that must be on its way to the store then."""
    started = rooms.house.dispatcher.begin_move(guest.session, command)
    assert isinstance(started, DispatchedMove), started
    return started


def answered(rooms: HouseInMemory, guest: GuestInMemory, command: MakeMove) -> AnyEvent:
    """Begin a move that must be answered at once."""
    answer = rooms.house.dispatcher.begin_move(guest.session, command)
    assert isinstance(answer, MoveMade | Refused), answer
    return answer


async def finished(started: DispatchedMove) -> AnyEvent:
    """Return the answer, as a connection sends it."""
    await asyncio.wait([started.durable])
    return started.finish() or await started.explain()


async def sent(rooms: HouseInMemory, guest: GuestInMemory, command: MakeMove) -> AnyEvent:
    """Carry a move out as a connection does."""
    started = rooms.house.dispatcher.begin_move(guest.session, command)
    if started is None:
        return await rooms.house.dispatcher.answer(guest.session, command)
    return await finished(started) if isinstance(started, DispatchedMove) else started


def refusal(answer: AnyEvent) -> tuple[str, int | None]:
    """Return a refusal's code, and the length of the board that came with it."""
    assert isinstance(answer, Refused), answer
    return answer.code, None if answer.board is None else answer.board.count


# Judged at once


async def test_a_move_is_judged_and_its_commit_submitted_within_the_call(
    rooms: HouseInMemory, held: HeldCommits
) -> None:
    anna = await rooms.guest("Anna")
    code = await rooms.race(anna)
    command = move(anna, "draw")
    started = begun(rooms, anna, command)
    # nothing was awaited since: the event loop has run nothing else
    (commit,) = held.submitted
    assert (commit.table, commit.race, commit.player) == (code, 1, anna.player)
    assert (commit.entries, commit.after, commit.command_id) == (("draw",), 0, command.id)
    assert commit.epoch == anna.session.epoch > 0
    assert not started.durable.done()
    await held.let_through()
    answer = started.finish()
    assert isinstance(answer, MoveMade)
    assert (answer.re, answer.board.count, answer.repeat) == (command.id, 1, False)


@pytest.mark.parametrize(
    ("text", "fields", "code"),
    [
        ("redeal", {}, "illegal_move"),
        ("sideways", {}, "bad_move"),
        ("draw", {"after": 7}, "stale_move"),
    ],
)
async def test_a_refusal_comes_at_once_with_the_board_and_leaves_it_free(
    rooms: HouseInMemory, held: HeldCommits, text: str, fields: dict[str, int], code: str
) -> None:
    anna = await rooms.guest("Anna")
    await rooms.race(anna)
    command = move(anna, text, **fields)
    answer = answered(rooms, anna, command)
    assert (answer.re, refusal(answer)) == (command.id, (code, 0))
    assert held.submitted == []
    begun(rooms, anna, move(anna, "draw"))


async def test_a_board_that_has_ended_refuses_at_once(rooms: HouseInMemory) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    await rooms.race(anna, bert)
    await anna.cash_out()
    assert refusal(answered(rooms, anna, move(anna, "draw"))) == ("board_over", 1)


async def test_a_repeated_move_is_answered_at_once_and_not_made_again(
    rooms: HouseInMemory, held: HeldCommits
) -> None:
    anna = await rooms.guest("Anna")
    await rooms.race(anna)
    command = move(anna, "draw", id=50)
    started = begun(rooms, anna, command)
    await held.let_through()
    first = started.finish()
    rooms.time.at += 77
    again = answered(rooms, anna, command)
    assert isinstance(first, MoveMade)
    assert isinstance(again, MoveMade)
    assert (again.re, again.at, again.board, again.repeat) == (50, first.at, first.board, True)
    assert refusal(answered(rooms, anna, move(anna, "draw", id=49)))[0] == "stale_id"
    assert len(held.submitted) == 1


async def test_a_fault_in_judging_is_an_answer_and_leaves_the_board_free(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = await rooms.guest("Anna")
    await rooms.race(anna)

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr("saratoga_server.domain.board.played", fail)
        answer = answered(rooms, anna, move(anna, "draw"))
    assert refusal(answer) == ("server_fault", None)
    begun(rooms, anna, move(anna, "draw"))


async def test_a_fault_in_making_a_refusal_or_an_acknowledgement_is_an_answer_too(
    rooms: HouseInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = await rooms.guest("Anna")
    await rooms.race(anna)

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr("saratoga_server.live.live_race.wire_view", fail)
        assert refusal(answered(rooms, anna, move(anna, "redeal"))) == ("server_fault", None)
        answer = await finished(begun(rooms, anna, move(anna, "draw")))
        assert refusal(answer) == ("server_fault", None)
    assert rooms.house.metrics.commands["move"] == 2
    begun(rooms, anna, move(anna, "draw", after=1))


# The way through a coroutine


async def test_a_move_on_a_board_under_way_waits_for_it(
    rooms: HouseInMemory, held: HeldCommits
) -> None:
    anna = await rooms.guest("Anna")
    await rooms.race(anna)
    started = begun(rooms, anna, move(anna, "draw"))
    second = move(anna, "draw", after=1)
    assert rooms.house.dispatcher.begin_move(anna.session, second) is None
    answering = asyncio.create_task(rooms.house.dispatcher.answer(anna.session, second))
    await asyncio.sleep(0)
    assert len(held.submitted) == 1
    await held.let_through()
    assert isinstance(started.finish(), MoveMade)
    await held.next(after=1)
    await held.let_through()
    answer = await answering
    assert isinstance(answer, MoveMade)
    assert answer.board.count == 2


async def test_only_a_racers_own_board_on_this_node_is_at_hand(rooms: HouseInMemory) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    await rooms.race(anna)
    other = await rooms.guest("Anna")  # without the seat
    stranger = rooms.stranger("Cleo")
    for guest in (bert, other, stranger):
        command = MakeMove(id=9, race=anna.board.race, after=0, move="draw")
        assert rooms.house.dispatcher.begin_move(guest.session, command) is None
    command = move(anna, "draw", race="odd-emu-11/1")
    assert rooms.house.dispatcher.begin_move(anna.session, command) is None
    assert rooms.house.metrics.commands["move"] == 0, "the answer that follows counts them"


async def test_after_a_restart_the_first_move_loads_the_board_and_the_next_is_judged_at_once(
    rooms: HouseInMemory,
) -> None:
    anna = await rooms.guest("Anna")
    code = await rooms.race(anna)
    race = anna.board.race
    await rooms.restart()
    back = rooms.stranger("Anna")
    await back.ask(Hello, token=back.token)
    command = MakeMove(id=70, race=race, after=0, move="draw")
    assert rooms.house.dispatcher.begin_move(back.session, command) is None
    await back.at_table(Resume, table=code)
    begun(rooms, back, command)


async def test_a_move_whose_connection_is_lost_frees_the_board_when_it_is_stored(
    rooms: HouseInMemory, held: HeldCommits
) -> None:
    anna = await rooms.guest("Anna")
    await rooms.race(anna)
    first, second = move(anna, "draw"), move(anna, "draw", after=1)
    answering = asyncio.create_task(rooms.house.dispatcher.answer(anna.session, first))
    await held.next()
    answering.cancel()
    await asyncio.wait([answering])
    assert answering.cancelled()
    assert rooms.house.dispatcher.begin_move(anna.session, second) is None, "still under way"
    await held.let_through()
    await asyncio.sleep(0)
    started = begun(rooms, anna, first)
    await held.let_through()
    again = await finished(started)
    assert isinstance(again, MoveMade)
    assert (again.repeat, again.board.count) == (True, 1)


async def test_a_move_that_nobody_waits_for_any_more_may_fail_without_a_word(
    rooms: HouseInMemory, held: HeldCommits
) -> None:
    anna = await rooms.guest("Anna")
    await rooms.race(anna)
    first, second = move(anna, "draw"), move(anna, "draw", after=0)
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    answering = asyncio.create_task(rooms.house.dispatcher.answer(anna.session, first))
    await held.next()
    answering.cancel()
    await asyncio.wait([answering])
    del answering
    held.fail()
    await asyncio.sleep(0)
    gc.collect()
    assert not complaints
    begun(rooms, anna, second)


# What the store knows better


async def test_a_lost_reply_is_a_refusal_and_leaves_the_board_free(
    rooms: HouseInMemory, held: HeldCommits
) -> None:
    anna = await rooms.guest("Anna")
    await rooms.race(anna)
    command = move(anna, "draw")
    started = begun(rooms, anna, command)
    held.fail()
    answer = started.finish()
    assert isinstance(answer, Refused)
    assert (answer.re, answer.code, answer.retry) == (command.id, "store_unavailable", True)
    assert (rooms.house.metrics.store_errors, held.submitted[0].command_id) == (1, command.id)
    started = begun(rooms, anna, command)
    await held.let_through()
    assert isinstance(started.finish(), MoveMade)


async def test_a_move_that_was_stored_without_a_reply_is_explained_as_a_repeat(
    rooms: HouseInMemory,
) -> None:
    anna = await rooms.guest("Anna")
    await rooms.race(anna)
    command = move(anna, "draw")
    rooms.fake.lose_answers = 1
    assert refusal(await sent(rooms, anna, command)) == ("store_unavailable", None)
    started = begun(rooms, anna, command)
    await asyncio.wait([started.durable])
    assert started.finish() is None
    # the board stays locked until it was read again
    assert rooms.house.dispatcher.begin_move(anna.session, move(anna, "draw", after=1)) is None
    answer = await started.explain()
    assert isinstance(answer, MoveMade)
    assert (answer.re, answer.board.count, answer.repeat) == (command.id, 1, True)
    begun(rooms, anna, move(anna, "draw", after=1))


async def test_a_move_on_an_older_board_than_the_stores_is_explained_with_the_newer_one(
    rooms: HouseInMemory,
) -> None:
    anna = await rooms.guest("Anna")
    await rooms.race(anna)
    rooms.fake.lose_answers = 1
    assert refusal(await sent(rooms, anna, move(anna, "draw"))) == ("store_unavailable", None)
    answer = await finished(begun(rooms, anna, move(anna, "draw")))
    assert refusal(answer) == ("stale_move", 1)
    assert isinstance(await sent(rooms, anna, move(anna, "draw", after=1)), MoveMade)


async def test_a_move_after_the_deadline_is_explained_with_the_board(rooms: HouseInMemory) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    await rooms.race(anna, bert)
    rooms.time.at += 10 * MINUTE
    answer = await finished(begun(rooms, anna, move(anna, "draw")))
    assert refusal(answer) == ("time_up", 0)


async def test_a_move_of_an_older_connection_is_fenced_and_the_connection_closed(
    rooms: HouseInMemory,
) -> None:
    async with beside(rooms) as nodes:
        anna, bert = await nodes.two()
        code = await nodes.race(anna, bert)
        nodes.east.fake.ears.remove(nodes.east.house.peer_events)
        newer = await nodes.west.guest("Anna")
        await newer.at_table(Resume, table=code)
        await newer.moves("draw")
        answer = await finished(begun(nodes.east, anna, move(anna, "draw")))
        assert refusal(answer) == ("taken_over", None)
        assert anna.sent_away == [TAKEN_OVER.code]
        assert newer.sent_away == []


# The same answers


async def test_both_ways_give_the_same_answers_and_count_the_same(rooms: HouseInMemory) -> None:
    anna, bert = await rooms.guest("Anna", legal=True), await rooms.guest("Bert", legal=True)
    await rooms.race(anna, bert)
    race = anna.board.race
    steps: list[tuple[int, int, str]] = [
        (50, 0, "draw"),
        (50, 0, "draw"),  # repeated
        (49, 1, "draw"),  # an id that was never used
        (51, 0, "draw"),  # stale
        (52, 1, "redeal"),  # illegal
        (53, 1, "sideways"),
        (54, 1, "draw"),
    ]
    for command_id, after, text in steps:
        command = MakeMove(id=command_id, race=race, after=after, move=text)
        quick = await sent(rooms, anna, command)
        refusals = sum(rooms.house.metrics.refusals.values())
        slow = await rooms.house.dispatcher.answer(bert.session, command)
        assert quick == slow
        is_refused = isinstance(slow, Refused)
        assert sum(rooms.house.metrics.refusals.values()) == refusals + is_refused
    assert rooms.house.metrics.commands["move"] == 2 * len(steps)
    assert {count for count in rooms.house.metrics.refusals.values() if count} == {2}
    for guest in (anna, bert):
        await guest.say(CashOut(id=60, race=race))
    command = MakeMove(id=61, race=race, after=3, move="draw")
    assert refusal(await sent(rooms, anna, command)) == ("board_over", 3)
    assert await sent(rooms, anna, command) == await rooms.house.dispatcher.answer(
        bert.session, command
    )


async def test_the_last_move_of_a_race_finishes_it() -> None:
    async with house_in_memory(always(ONE_MOVE_TO_WIN)) as rooms:
        anna = await rooms.guest("Anna")
        await rooms.race(anna)
        answer = await finished(begun(rooms, anna, move(anna, "t1>up")))
        assert isinstance(answer, MoveMade)
        assert answer.board.state == "won"
        await rooms.settle()
        assert len(anna.heard.all(RaceOver)) == 1
