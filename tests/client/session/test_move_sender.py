"""Moves over a faulty network to a real server: no move is lost, and none is made twice."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.client_servers import SteppedSession, run_ready_tasks, stepped_session
from kit.in_process_server import always
from kit.session_states import opening
from saratoga_client.problems import Problem
from saratoga_client.session.own_board import predicted_view
from saratoga_protocol.commands import CashOut, MakeMove
from saratoga_rules.analysis import legal_moves
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW, Move
from saratoga_rules.play import play
from saratoga_rules.position import Position

TEMPORARY = ("store_unavailable", "draining", "too_fast")

STEPS = (*["play"] * 4, "answer", "deliver", *["both"] * 2, "cut", "restore", "refuse", "refuse")

GAMES_WITH_QUIET_MOVES = ("caprice", "lady-palk", "lafayette")
"""Games in which several moves in a row turn no card up, so that many can be sent unconfirmed."""


class Racer:
    """A racer who makes the moves that a test chooses."""

    def __init__(self, stepped: SteppedSession) -> None:
        self.stepped = stepped
        self.network = stepped.network
        self.made: list[Move] = []
        self.cashing_out: set[asyncio.Task[None]] = set()

    def play(self, choose: Callable[[list[Move]], Move]) -> None:
        own = self.stepped.own
        if not own.may_move:
            return
        legal = list(legal_moves(own.game, own.shown))
        if legal:
            move = choose(list(self.quiet_moves(legal)) or legal)
            assert self.stepped.session.play(move)
            self.made.append(move)

    def quiet_moves(self, legal: list[Move]) -> Iterator[Move]:
        """Yield the moves that turn no card up."""
        own = self.stepped.own
        for move in legal:
            if predicted_view(own.game, own.shown, move) is not None:
                yield move

    async def take(self, step: str, data: st.DataObject) -> None:
        """Make a move, or carry out one step of the faulty network."""
        network = self.network
        match step:
            case "play":
                self.play(lambda moves: data.draw(st.sampled_from(moves)))
            case "both":
                await network.answer_one()
                network.deliver_one()
                await run_ready_tasks()
            case "answer":
                await network.answer_one()
            case "deliver":
                network.deliver_one()
            case "cut" if network.is_up:
                await network.cut()
            case "restore" if not network.is_up:
                await network.restore()
            case _:
                pass
        if data.draw(st.booleans()):
            await run_ready_tasks()

    async def end_faults(self) -> None:
        self.network.refusals.clear()
        await self.network.restore()
        await self.stepped.settle()

    async def check(self) -> None:
        """Check that the server made every move once and in order."""
        assert await self.stepped.moves() == [str(move) for move in self.made]
        assert self.stepped.own.taken_back == ""
        await self.stepped.check_board()


def position_of(game: str, key: int, draws: int = 0) -> Position:
    """Return the position after `draws` draws from a deal, where more moves are possible."""
    position = opening(game, key)
    for _ in range(draws):
        if DRAW in legal_moves(GAMES[game], position):
            position = play(GAMES[game], position, DRAW)
    return position


@asynccontextmanager
async def racing(game: str = "canfield", key: int = 3, draws: int = 0) -> AsyncIterator[Racer]:
    async with stepped_session(always(position_of(game, key, draws))) as stepped:
        await stepped.gather(game)
        await stepped.start_race()
        racer = Racer(stepped)
        try:
            yield racer
        finally:
            for task in racer.cashing_out:
                task.cancel()
            await asyncio.gather(*racer.cashing_out, return_exceptions=True)


@given(st.sampled_from(GAMES_WITH_QUIET_MOVES), st.integers(0, 255), st.data())
@settings(max_examples=settings().max_examples * 2 // 3)
def test_over_any_faults_every_move_is_made_once_and_in_order(
    game: str, key: int, data: st.DataObject
) -> None:
    async def race() -> None:
        async with racing(game, key, draws=3) as racer:
            faults = 0
            for step in data.draw(st.lists(st.sampled_from(STEPS), max_size=60)):
                if step == "refuse":
                    code = data.draw(st.sampled_from((*TEMPORARY, "server_fault")))
                    faults += code not in TEMPORARY
                    if faults <= 2:
                        may_be_done = code in ("store_unavailable", "server_fault")
                        is_done = may_be_done and data.draw(st.booleans())
                        racer.network.refusals.append((code, is_done))
                await racer.take(step, data)
            await racer.end_faults()
            await racer.check()

    asyncio.run(race())


@given(st.sampled_from(GAMES_WITH_QUIET_MOVES), st.integers(0, 255), st.data())
@settings(max_examples=settings().max_examples * 2 // 3)
def test_the_shown_board_ends_as_the_servers_board_although_another_device_plays_on_it(
    game: str, key: int, data: st.DataObject
) -> None:
    async def race() -> None:
        async with racing(game, key, draws=3) as racer:
            stepped = racer.stepped
            steps = st.sampled_from((*STEPS, "other device", "cash out"))
            for step in data.draw(st.lists(steps, max_size=40)):
                if step == "refuse":
                    code = data.draw(st.sampled_from((*TEMPORARY, "server_fault", "time_up")))
                    racer.network.refusals.append((code, False))
                elif step == "other device":
                    await other_device(stepped, data)
                elif step == "cash out":
                    cashing = asyncio.create_task(stepped.session.cash_out())
                    racer.cashing_out.add(cashing)
                await racer.take(step, data)
            await racer.end_faults()
            if stepped.own.is_racing:
                # The next snapshot corrects a board that differs.
                await racer.network.cut()
                await racer.end_faults()
            await stepped.check_board()
            for result in await asyncio.gather(*racer.cashing_out, return_exceptions=True):
                assert result is None or isinstance(result, Problem)

    asyncio.run(race())


async def other_device(stepped: SteppedSession, data: st.DataObject) -> None:
    """Make a legal move, or cash out, from another device."""
    board = await stepped.board()
    if not board.racing:
        return
    legal = legal_moves(stepped.own.game, board.position)
    cashes_out = data.draw(st.integers(0, 3)) == 0
    if legal and not cashes_out:
        await stepped.on_another_device(MakeMove, after=board.length, move=str(legal[0]))
    else:
        await stepped.on_another_device(CashOut)


async def test_moves_are_pipelined_and_each_counts_those_before_it() -> None:
    async with racing("lady-palk", 1, draws=3) as racer:
        for _ in range(3):
            racer.play(lambda moves: moves[0])
        await run_ready_tasks()
        sent = [command for command in racer.network.commands if isinstance(command, MakeMove)]
        assert [command.after for command in sent] == [0, 1, 2]
        assert [command.move for command in sent] == [str(move) for move in racer.made]
        await racer.stepped.settle()
        await racer.check()


async def test_a_refused_move_is_taken_back_with_the_servers_reason() -> None:
    async with racing() as racer:
        racer.network.refusals.append(("time_up", False))
        racer.play(lambda moves: DRAW)
        await run_ready_tasks()
        await racer.stepped.settle()
        assert racer.stepped.own.taken_back.startswith("The draw was taken back: ")
        await racer.stepped.check_board()


async def test_a_move_made_although_the_answer_was_a_refusal_is_not_taken_back() -> None:
    async with racing("lady-palk", 1, draws=3) as racer:
        racer.network.refusals.extend([("store_unavailable", True), ("store_unavailable", False)])
        for _ in range(2):
            racer.play(lambda moves: moves[0])
        await run_ready_tasks()
        await racer.stepped.settle()
        await racer.check()


async def test_a_move_is_given_up_after_repeated_faults_of_the_server() -> None:
    async with racing() as racer:
        racer.network.refusals.extend([("server_fault", False)] * 3)
        racer.play(lambda moves: DRAW)
        await run_ready_tasks()
        await racer.stepped.settle()
        assert "The draw was taken back: " in racer.stepped.own.taken_back
        assert await racer.stepped.moves() == []
        await racer.stepped.check_board()


async def test_cashing_out_follows_the_moves_before_it() -> None:
    async with racing() as racer:
        racer.play(lambda moves: DRAW)
        cashing = asyncio.create_task(racer.stepped.session.cash_out())
        await run_ready_tasks()
        assert racer.stepped.own.is_cashing_out
        assert not racer.stepped.own.may_move
        assert not racer.stepped.session.play(DRAW)
        await racer.stepped.settle()
        await cashing
        assert await racer.stepped.moves() == ["draw", "cash-out"]
        (sent,) = (each for each in racer.network.answered if isinstance(each, CashOut))
        assert sent.after == 1, "so a repeat, however late, ends no other board"
        assert racer.stepped.own.state == "cash-out"
        await racer.stepped.check_board()


async def test_a_player_does_not_cash_out_after_a_move_was_taken_back() -> None:
    async with racing() as racer:
        racer.network.refusals.append(("illegal_move", False))
        racer.play(lambda moves: DRAW)
        cashing = asyncio.create_task(racer.stepped.session.cash_out())
        await run_ready_tasks()
        await racer.stepped.settle()
        with pytest.raises(Problem, match="Not cashed out: The draw was taken back"):
            await cashing
        assert (await racer.stepped.board()).racing
        assert racer.stepped.own.may_move


async def test_cashing_out_succeeds_if_the_board_has_ended_before() -> None:
    async with racing() as racer:
        stepped = racer.stepped
        await stepped.on_another_device(CashOut)
        racer.play(lambda moves: DRAW)
        cashing = asyncio.create_task(stepped.session.cash_out())
        await run_ready_tasks()
        await racer.end_faults()
        await cashing
        assert stepped.own.state == "cash-out"
        assert "your board had ended: cashed out." in stepped.own.taken_back


async def test_the_end_of_the_session_ends_a_waiting_cash_out() -> None:
    async with racing() as racer:
        await racer.network.cut()
        racer.play(lambda moves: DRAW)
        waiting = asyncio.create_task(racer.stepped.session.cash_out())
        await run_ready_tasks()
        await racer.stepped.connection.close()
        with pytest.raises(Problem):
            await waiting
