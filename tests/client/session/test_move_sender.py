"""Moves carried through every storm: nothing is lost, nothing is done twice."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.model_house import AT_ONCE, ModelConnection, ModelHouse, breathe, model_game
from kit.session_states import RACE
from saratoga_client.input.prediction import predicted_view
from saratoga_client.problems import Problem
from saratoga_client.session.own_board import OwnBoard
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.witness import Witness
from saratoga_protocol.commands import MakeMove
from saratoga_rules.judge import legal_moves
from saratoga_rules.moves import DRAW, Move
from saratoga_rules.views import redact

FOR_THE_MOMENT = ("store_unavailable", "draining", "too_fast")


class Player:
    """Somebody with a board in a model house."""

    def __init__(self, wire: ModelConnection, folder: Path) -> None:
        self.wire = wire
        self.house = wire.house
        self.seated = TableSession(
            wire,
            witness=Witness(folder / "w"),
            records=RecordStore(folder / "k"),
            backoff=AT_ONCE,
        )
        self.made: list[Move] = []
        self.cashing: set[asyncio.Task[None]] = set()

    @property
    def own(self) -> OwnBoard:
        assert self.seated.state is not None
        assert self.seated.state.own is not None
        return self.seated.state.own

    def play(self, choose: Callable[[list[Move]], Move]) -> None:
        if not self.own.may_move:
            return
        legal = legal_moves(self.own.game, self.own.shown)
        if legal:
            move = choose(legal)
            assert self.seated.play(move)
            self.made.append(move)

    def check(self) -> None:
        """What is shown is what the house has."""
        assert self.own.in_flight == ()
        assert self.own.shown == redact(self.house.position)
        assert self.own.state == self.house.state
        assert self.own.count == len(self.house.log)


@asynccontextmanager
async def playing(house: ModelHouse) -> AsyncIterator[Player]:
    with TemporaryDirectory() as folder:
        wire = ModelConnection(house)
        player = Player(wire, Path(folder))
        attending = asyncio.create_task(player.seated.attend())
        await breathe()
        wire.come_up()
        await breathe()
        try:
            yield player
        finally:
            # a storm that is broken off leaves them in the middle of it
            for each in (attending, *player.cashing):
                each.cancel()
            await asyncio.gather(attending, *player.cashing, return_exceptions=True)


STEPS = (*["play"] * 4, "answer", "hear", *["serve"] * 2, "cut", "back", "trouble", "trouble")

GAMES_WITH_MANY_MOVES = ("caprice", "lady-palk", "lafayette")
"""In which moves that turn nothing up follow one another, and so many are in flight."""


@given(st.sampled_from(GAMES_WITH_MANY_MOVES), st.integers(0, 255), st.data())
@settings(max_examples=50, deadline=None)
def test_whatever_the_storm_every_move_is_made_once_and_in_order(
    name: str, key: int, data: st.DataObject
) -> None:
    async def storm() -> None:
        async with playing(model_game(name, key, drawn=3)) as player:
            faults = 0
            for step in data.draw(st.lists(st.sampled_from(STEPS), max_size=60)):
                if step == "trouble":
                    code = data.draw(st.sampled_from((*FOR_THE_MOMENT, "server_fault", "stale_id")))
                    faults += code not in FOR_THE_MOMENT
                    if faults <= 2:
                        is_done = code in ("store_unavailable", "server_fault") and data.draw(
                            st.booleans()
                        )
                        player.house.troubles.append((code, is_done))
                await take(player, step, data)
            await to_the_end(player)
            player.check()
            assert player.house.moves == player.made
            assert player.own.taken_back == ""

    asyncio.run(storm())


@given(st.sampled_from(GAMES_WITH_MANY_MOVES), st.integers(0, 255), st.data())
@settings(max_examples=40, deadline=None)
def test_the_shown_board_ends_where_the_houses_is_even_if_the_house_goes_its_own_way(
    name: str, key: int, data: st.DataObject
) -> None:
    async def storm() -> None:
        async with playing(model_game(name, key, drawn=3)) as player:
            steps = st.sampled_from((*STEPS, "end", "elsewhere", "cash out"))
            for step in data.draw(st.lists(steps, max_size=60)):
                if step == "trouble":
                    code = data.draw(st.sampled_from((*FOR_THE_MOMENT, "server_fault", "time_up")))
                    player.house.troubles.append((code, False))
                elif step == "end" and player.house.state == "racing":
                    player.wire.say(player.house.end())
                elif step == "elsewhere":
                    player.house.move_elsewhere()
                elif step == "cash out":
                    player.cashing.add(asyncio.create_task(player.seated.cash_out()))
                await take(player, step, data)
            await to_the_end(player)
            if player.house.state == "racing":
                # out of step as the player may be, the next move or the next sight mends it
                player.wire.cut()
                await to_the_end(player)
            player.check()
            for ended in await asyncio.gather(*player.cashing, return_exceptions=True):
                assert ended is None or isinstance(ended, Problem)

    asyncio.run(storm())


async def take(player: Player, step: str, data: st.DataObject) -> None:
    wire = player.wire
    match step:
        case "play":
            player.play(lambda legal: data.draw(st.sampled_from(preferred(player, legal))))
        case "serve":
            wire.let_house_answer()
            wire.let_player_hear()
            await breathe()
        case "answer":
            wire.let_house_answer()
        case "hear":
            wire.let_player_hear()
        case "cut" if wire.is_up:
            wire.cut()
        case "back" if not wire.is_up:
            wire.come_up()
        case _:
            pass
    if data.draw(st.booleans()):
        await breathe()


def preferred(player: Player, legal: list[Move]) -> list[Move]:
    """Moves that turn nothing up, if there are any."""
    return list(quiet_moves(player, legal)) or legal


def quiet_moves(player: Player, legal: list[Move]) -> Iterator[Move]:
    own = player.own
    for move in legal:
        if predicted_view(own.game, own.shown, move) is not None:
            yield move


async def to_the_end(player: Player) -> None:
    """The storm is over."""
    player.house.troubles.clear()
    if not player.wire.is_up:
        player.wire.come_up()
    await player.wire.settle()


async def test_moves_are_pipelined_each_counting_those_before_it() -> None:
    async with playing(model_game("lady-palk", 1, drawn=3)) as player:
        for _ in range(3):
            player.play(lambda legal: preferred(player, legal)[0])
        await breathe()
        sent = [command for command in player.wire.to_house if isinstance(command, MakeMove)]
        assert [command.after for command in sent] == [0, 1, 2]
        assert [command.move for command in sent] == [str(move) for move in player.made]
        await player.wire.settle()
        player.check()


async def test_a_move_that_the_house_refuses_is_taken_back_with_the_houses_reason() -> None:
    async with playing(model_game("canfield", 3)) as player:
        player.house.troubles.append(("time_up", False))
        player.play(lambda legal: DRAW)
        await breathe()
        await player.wire.settle()
        assert player.own.taken_back == "The draw was taken back: The time is up."
        player.check()


async def test_a_move_that_was_made_though_the_house_could_not_say_so_is_not_taken_back() -> None:
    async with playing(model_game("lady-palk", 1, drawn=3)) as player:
        player.house.troubles.extend([("store_unavailable", True), ("store_unavailable", False)])
        for _ in range(2):
            player.play(lambda legal: preferred(player, legal)[0])
        await breathe()
        await player.wire.settle()
        assert player.house.moves == player.made
        assert player.own.taken_back == ""
        player.check()


async def test_a_move_that_was_overtaken_is_made_all_the_same_once() -> None:
    async with playing(model_game("lady-palk", 1, drawn=3)) as player:
        player.play(lambda legal: preferred(player, legal)[0])
        await breathe()
        player.wire.cut()
        # another device of the player's said something of a larger id, which was no move
        player.house.troubles.append(("stale_id", False))
        player.wire.come_up()
        await player.wire.settle()
        assert player.house.moves == player.made
        assert player.own.taken_back == ""
        player.check()


async def test_a_house_that_fails_again_and_again_is_not_asked_for_ever() -> None:
    async with playing(model_game("canfield", 3)) as player:
        player.house.troubles.extend([("server_fault", False)] * 3)
        player.play(lambda legal: DRAW)
        await breathe()
        await player.wire.settle()
        assert "The server failed on this command" in player.own.taken_back
        assert player.house.moves == []
        player.check()


async def test_the_money_is_taken_after_the_moves_before_it() -> None:
    async with playing(model_game("canfield", 3)) as player:
        player.play(lambda legal: DRAW)
        cashing = asyncio.create_task(player.seated.cash_out())
        await breathe()
        assert player.own.is_cashing_out
        assert not player.own.may_move
        assert not player.seated.play(DRAW)
        await player.wire.settle()
        await cashing
        assert [text for _, text in player.house.log] == ["draw", "cash-out"]
        assert player.own.state == "cashed out"
        player.check()


async def test_nothing_is_cashed_out_when_a_move_before_it_was_taken_back() -> None:
    async with playing(model_game("canfield", 3)) as player:
        player.house.troubles.append(("illegal_move", False))
        player.play(lambda legal: DRAW)
        cashing = asyncio.create_task(player.seated.cash_out())
        await breathe()
        await player.wire.settle()
        with pytest.raises(Problem, match="Not cashed out: The draw was taken back"):
            await cashing
        assert player.house.state == "racing"
        assert player.own.may_move


async def test_a_board_that_the_house_ends_first_needs_no_cashing_out() -> None:
    async with playing(model_game("canfield", 3)) as player:
        player.wire.cut()
        player.play(lambda legal: DRAW)
        cashing = asyncio.create_task(player.seated.cash_out())
        await breathe()
        player.house.end()
        player.wire.come_up()
        await player.wire.settle()
        await cashing
        assert player.own.state == "out of time"
        assert "your board had ended: out of time." in player.own.taken_back


async def test_moves_go_on_while_the_house_is_away() -> None:
    async with playing(model_game("lady-palk", 1)) as player:
        player.wire.cut()
        player.play(lambda legal: preferred(player, legal)[0])
        assert player.own.may_move
        await breathe()
        player.wire.come_up()
        await player.wire.settle()
        assert player.house.moves == player.made
        player.check()


async def test_who_is_gone_waits_for_nothing() -> None:
    async with playing(model_game("canfield", 3)) as player:
        player.wire.cut()
        player.play(lambda legal: DRAW)
        waiting = asyncio.create_task(player.seated.cash_out())
        await breathe()
    with pytest.raises(Problem):
        await waiting


async def test_a_board_is_told_by_its_race() -> None:
    async with playing(model_game("canfield", 3)) as player:
        assert player.own.race == RACE
