"""Moves: judged in the callback that received them, stored, answered, and the endings of boards."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kit.in_process_server import (
    InProcessServer,
    always,
    beside,
    counted_down,
    gathered,
    open_in_process_server,
)
from kit.players import MemoryPlayer
from saratoga_protocol.commands import CashOut, Heartbeat, JoinTable, MakeMove
from saratoga_protocol.events import BoardChanged, Event, RaceOver, Refused, SeatLost
from saratoga_protocol.refusals import TAKEN_OVER
from saratoga_rules.records.record import parse_record
from saratoga_rules.records.standing import IDLE_MILLIS
from saratoga_rules.records.verify import verify
from saratoga_server.domain.board import AHEAD_MILLIS
from saratoga_server.domain.tables.countdown import MINUTE
from saratoga_server.live.play import JudgedMove
from saratoga_server.live.scheduler import LOOK_EVERY
from saratoga_server.ports import BoardCommit, CommitOutcome, StoreUnavailable
from saratoga_server.store.commits import Commits


class HeldCommits:
    """A store that holds commits back until the test releases them."""

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
        """Wait until more than `after` commits were submitted; return the newest."""
        while len(self.submitted) <= after:
            self._arrived.clear()
            await self._arrived.wait()

    async def let_through(self) -> None:
        """Write the oldest held commit, and deliver the store's reply."""
        reply = self._replies.pop(0)
        reply.set_result(await self._commit(self.submitted[-1 - len(self._replies)]))

    def fail(self) -> None:
        """Fail the oldest held commit."""
        self._replies.pop(0).set_exception(StoreUnavailable("the store does not answer"))


@pytest.fixture
def held(server: InProcessServer, monkeypatch: pytest.MonkeyPatch) -> HeldCommits:
    commits = HeldCommits(server.store.commits)
    monkeypatch.setattr(server.store.commits, "commit", commits.commit)
    return commits


def move(player: MemoryPlayer, text: str, **fields: Any) -> MakeMove:
    """Return a new command for the player's newest board."""
    player.last_id += 1
    board = player.board
    given: dict[str, Any] = {
        "id": player.last_id,
        "race": board.race,
        "after": board.count,
        "move": text,
    }
    return MakeMove(**given | fields)


def begun(server: InProcessServer, player: MemoryPlayer, command: MakeMove) -> JudgedMove:
    """Begin a move and check that its commit was submitted."""
    started = server.node.dispatcher.begin_move(player.session, command)
    assert isinstance(started, JudgedMove), started
    return started


def answered(server: InProcessServer, player: MemoryPlayer, command: MakeMove) -> Event:
    """Begin a move, check that it is answered at once, and return the answer."""
    answer = server.node.dispatcher.begin_move(player.session, command)
    assert isinstance(answer, BoardChanged | Refused), answer
    return answer


async def finished(server: InProcessServer, player: MemoryPlayer, started: JudgedMove) -> Event:
    """Return the answer to a begun move, as a connection sends it."""
    await asyncio.wait([started.durable])
    dispatcher = server.node.dispatcher
    made = dispatcher.finish_move(player.session, started)
    return made or await dispatcher.explain(player.session, started)


async def sent(server: InProcessServer, player: MemoryPlayer, command: MakeMove) -> Event:
    """Carry a move out as a connection does; return the answer."""
    started = server.node.dispatcher.begin_move(player.session, command)
    if started is None:
        return await server.node.dispatcher.answer(player.session, command)
    if isinstance(started, JudgedMove):
        return await finished(server, player, started)
    return started


def refusal(answer: Event) -> tuple[str, int | None]:
    """Return the code of a refusal, and the number of moves on the board that came with it."""
    assert isinstance(answer, Refused), answer
    return answer.code, None if answer.board is None else answer.board.count


# Judged at once


async def test_a_move_is_judged_and_its_commit_submitted_within_the_call(
    server: InProcessServer, held: HeldCommits
) -> None:
    anna = await server.player("Anna")
    code = await server.race(anna)
    command = move(anna, "draw")
    started = begun(server, anna, command)
    # no await since, so the event loop has run no other task
    (commit,) = held.submitted
    assert (commit.table, commit.race, commit.player) == (code, 1, anna.player)
    assert (commit.entries, commit.after) == (("draw",), 0)
    assert commit.epoch == anna.session.epoch > 0
    assert not started.durable.done()
    await held.let_through()
    answer = started.finish()
    assert isinstance(answer, BoardChanged)
    assert (answer.re, answer.board.count) == (command.id, 1)


@pytest.mark.parametrize(
    ("text", "fields", "code"),
    [
        ("redeal", {}, "illegal_move"),
        ("sideways", {}, "bad_move"),
        ("draw", {"after": 7}, "stale_move"),
    ],
)
async def test_a_refusal_comes_at_once_with_the_board_and_leaves_it_free(
    server: InProcessServer, held: HeldCommits, text: str, fields: dict[str, int], code: str
) -> None:
    anna = await server.player("Anna")
    await server.race(anna)
    command = move(anna, text, **fields)
    answer = answered(server, anna, command)
    assert (answer.re, refusal(answer)) == (command.id, (code, 0))
    assert held.submitted == []
    begun(server, anna, move(anna, "draw"))


async def test_a_repeated_move_is_answered_at_once_and_not_made_again(
    server: InProcessServer, held: HeldCommits
) -> None:
    anna = await server.player("Anna")
    await server.race(anna)
    command = move(anna, "draw", id=50)
    started = begun(server, anna, command)
    await held.let_through()
    first = started.finish()
    server.time.at += 77
    again = answered(server, anna, command)
    assert isinstance(first, BoardChanged)
    assert isinstance(again, BoardChanged)
    assert again == first
    assert (again.re, again.place, again.entries) == (50, 1, ["0 1 draw"])
    other = move(anna, "r>up", id=51, after=0)
    assert refusal(answered(server, anna, other)) == ("stale_move", 1)
    assert len(held.submitted) == 1


async def test_a_repeated_cash_out_of_an_untouched_board_is_answered_as_the_first(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    race = f"{await server.race(anna, bert)}/1"
    answers = [await anna.ask(CashOut, race=race, after=0) for _ in range(2)]
    assert [answer.entries for answer in answers] == [["0 1 cash-out"]] * 2


# Moves that need a coroutine


async def test_a_move_on_a_board_under_way_waits_for_it(
    server: InProcessServer, held: HeldCommits
) -> None:
    anna = await server.player("Anna")
    await server.race(anna)
    started = begun(server, anna, move(anna, "draw"))
    second = move(anna, "draw", after=1)
    assert server.node.dispatcher.begin_move(anna.session, second) is None
    answering = asyncio.create_task(server.node.dispatcher.answer(anna.session, second))
    await asyncio.sleep(0)
    assert len(held.submitted) == 1
    await held.let_through()
    assert isinstance(started.finish(), BoardChanged)
    await held.next(after=1)
    await held.let_through()
    answer = await answering
    assert isinstance(answer, BoardChanged)
    assert answer.board.count == 2


async def test_a_move_whose_connection_is_lost_frees_the_board_when_it_is_stored(
    server: InProcessServer, held: HeldCommits
) -> None:
    anna = await server.player("Anna")
    await server.race(anna)
    first, second = move(anna, "draw"), move(anna, "draw", after=1)
    answering = asyncio.create_task(server.node.dispatcher.answer(anna.session, first))
    await held.next()
    answering.cancel()
    await asyncio.wait([answering])
    assert answering.cancelled()
    assert server.node.dispatcher.begin_move(anna.session, second) is None, "still under way"
    await held.let_through()
    await asyncio.sleep(0)
    started = begun(server, anna, first)
    await held.let_through()
    again = await finished(server, anna, started)
    assert isinstance(again, BoardChanged)
    assert again.board.count == 1


# Answers that depend on the store


async def test_a_move_of_an_older_connection_is_fenced_and_the_connection_closed(
    server: InProcessServer,
) -> None:
    async with beside(server) as nodes:
        anna, _, code = await nodes.two_racing()
        nodes.east.tap.is_deaf = True
        newer = await nodes.west.player("Anna")
        await newer.at_table(JoinTable, table=code)
        answer = await sent(nodes.east, anna, move(anna, "draw"))
        assert refusal(answer) == ("taken_over", None)
        assert set(anna.close_codes) == {TAKEN_OVER.code}
        assert newer.close_codes == []


# Moves and cash-outs: judged, stored before they are answered, and answered again when repeated


# Moves


@pytest.mark.parametrize("phase", ["gathering", "countdown"])
async def test_no_player_can_move_before_the_start(server: InProcessServer, phase: str) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, bert)
    if phase == "countdown":
        await counted_down(anna, bert)
    assert await anna.refused(MakeMove, race=f"{code}/1", after=0, move="draw") == "wrong_phase"
    assert await anna.refused(CashOut, race=f"{code}/1") == "wrong_phase"
    assert anna.table.phase == phase


@pytest.mark.parametrize("kind", [MakeMove, CashOut])
async def test_only_racers_have_a_board(server: InProcessServer, kind: type) -> None:
    anna, bert, cleo = [await server.player(name) for name in ("Anna", "Bert", "Cleo")]
    code = await server.race(anna, bert)
    await cleo.at_table(JoinTable, table=code, seat=False)
    said = {"race": f"{code}/1"} | ({"after": 0, "move": "draw"} if kind is MakeMove else {})
    assert await cleo.refused(kind, **said) == "not_seated"
    await cleo.at_table(JoinTable, table=code)
    assert await cleo.refused(kind, **said) == "not_racing"
    assert await anna.refused(kind, **said | {"race": f"{code}/2"}) == "no_such_race"
    assert await anna.refused(kind, **said | {"race": "odd-emu-11/1"}) == "no_such_race"


# The ends of boards: won, stuck, cashed out, out of time and left


ONE_MOVE_TO_WIN = (
    "stock=2C waste=- reserve=- up=13,13,13,12 down=- columns=KD/-/-/- base=1 passes=1"
)

ONE_DRAW_TO_STUCK = (
    "stock=7C waste=- reserve=- up=1,1,1,1 down=- columns=5C/5S/9C/9S base=1 passes=1"
)


@pytest.fixture
async def nearly_won() -> AsyncIterator[InProcessServer]:
    async with open_in_process_server(always(ONE_MOVE_TO_WIN)) as opened:
        yield opened


@pytest.fixture
async def nearly_stuck() -> AsyncIterator[InProcessServer]:
    async with open_in_process_server(always(ONE_DRAW_TO_STUCK)) as opened:
        yield opened


# Endings


async def test_a_win_ends_the_board(nearly_won: InProcessServer) -> None:
    anna, bert, _ = await nearly_won.two_racing()
    answer = await anna.moves("t1>up")
    assert (answer.board.state, answer.board.banked, answer.board.net) == ("won", 52, 210)
    assert refusal(await anna.move("draw")) == ("board_over", 1)
    assert bert.board.state == "racing"


async def test_a_stuck_board_is_ended_with_the_answer_to_the_move(
    nearly_stuck: InProcessServer,
) -> None:
    anna, bert, _ = await nearly_stuck.two_racing()
    answer = await anna.moves("draw")
    assert (answer.board.state, answer.board.count) == ("stuck", 2)
    stored = await nearly_stuck.board(anna.table.code, anna.player)
    assert [entry.text for entry in stored.entries] == ["draw", "stuck"]
    assert anna.received.endings() == []
    assert bert.board.state == "racing"


async def test_a_long_search_for_stuck_goes_on_in_the_background(
    nearly_stuck: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.live.play.INLINE_LIMIT", 0)
    anna, bert, _ = await nearly_stuck.two_racing()
    answer = await anna.moves("draw")
    assert answer.board.state == "racing"
    await nearly_stuck.settle()
    (ended,) = anna.received.endings()
    assert (ended.board.state, ended.board.count) == ("stuck", 2)
    assert bert.received.endings() == []


async def test_a_move_after_the_deadline_by_the_stores_clock_ends_the_race_at_once(
    server: InProcessServer,
) -> None:
    """A new primary may be ahead: the table must not run on while every move is refused."""
    anna, bert, _ = await server.two_racing()
    await bert.moves("draw")
    server.time.behind = -10 * MINUTE
    server.time.at += 1
    assert refusal(await anna.move("draw")) == ("time_up", 0)
    await server.settle()
    for racer in (anna, bert):
        assert [ended.board.state for ended in racer.received.endings()] == ["out-of-time"]
        (over,) = racer.received.all(RaceOver)
        assert [row.state for row in over.outcome.results] == ["out-of-time", "out-of-time"]
        assert racer.table.phase == "over"


async def test_the_board_of_a_racer_who_does_nothing_for_three_minutes_ends_and_the_seat_stays(
    server: InProcessServer,
) -> None:
    anna, bert, _ = await server.two_racing()
    await server.pass_time(IDLE_MILLIS - int(LOOK_EVERY * 1000))
    await anna.moves("draw")
    await server.pass_time(int(LOOK_EVERY * 1000) + AHEAD_MILLIS)
    (ended,) = bert.received.endings()
    assert ended.board.state == "idle"
    assert bert.received.all(SeatLost) == []
    assert anna.received.endings() == []
    assert [seat.name for seat in anna.table.seats] == ["Anna", "Bert"]
    await anna.cash_out()
    await server.settle()
    (over,) = bert.received.all(RaceOver)
    assert {result.player: result.state for result in over.outcome.results}[bert.player] == "idle"
    record = await server.record(anna.table.code)
    assert record is not None
    assert " idle\n" in record
    assert verify(parse_record(record)).ok


async def test_a_racer_who_gives_signs_of_activity_may_think_for_as_long_as_the_race_lasts(
    server: InProcessServer,
) -> None:
    anna, bert, _ = await server.two_racing()
    for _ in range(3):
        await server.pass_time(IDLE_MILLIS - int(LOOK_EVERY * 1000))
        await anna.ask(Heartbeat)
        await bert.ask(Heartbeat, active=True)
    assert [each.board.state for each in anna.received.endings()] == ["idle"]
    assert bert.received.endings() == []
