"""A bot plays its board against a scripted server."""

import asyncio
from collections.abc import Callable

import pytest

from kit.scripted_server import CODE, RACE, TOKEN, ScriptedPeer, ScriptedServer
from saratoga_client.bots.board import BoardPlayer
from saratoga_client.bots.choice import Choice
from saratoga_client.bots.memory import Memory
from saratoga_client.bots.pace import Pace, steady_pace
from saratoga_client.bots.strengths import CHOOSERS, Strength
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused
from saratoga_protocol import commands, events
from saratoga_protocol.views import wire_view
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.judge import is_won, play
from saratoga_rules.money import net
from saratoga_rules.moves import DRAW, parse_move
from saratoga_rules.position import Position
from saratoga_rules.views import View, redact

CANFIELD = GAMES["canfield"]
AT_ONCE = steady_pace(0)


class Judge:
    """A board that judges moves as the server does."""

    def __init__(self, start: Position) -> None:
        self.position = start
        self.made: list[str] = []
        self.state = "racing"

    def board(self) -> events.BoardView:
        return events.BoardView(
            race=RACE,
            count=len(self.made),
            view=wire_view(redact(self.position)),
            banked=self.position.banked,
            net=net(CANFIELD, self.position.banked),
            state=self.state,
        )

    def answer(self, command: commands.AnyCommand) -> events.AnyEvent:
        match command:
            case commands.CashOut():
                self.state = "cashed out"
            case commands.MakeMove(after=after, move=move):
                assert after == len(self.made)
                self.position = play(CANFIELD, self.position, parse_move(move))
                self.made.append(move)
                if is_won(CANFIELD, self.position):
                    self.state = "won"
            case _:
                raise AssertionError(f"a bot at its board has no reason for {command}")
        return events.MoveMade(re=command.id, board=self.board(), at=0, number=1)


@pytest.fixture
def judge() -> Judge:
    return Judge(deal_for_key(CANFIELD, practice_key("board")))


Answer = Callable[[commands.AnyCommand], events.AnyEvent]


async def played(
    server: ScriptedServer,
    judge: Judge,
    answer: Answer,
    strength: Strength = Strength.WEAK,
    pace: Pace = AT_ONCE,
) -> events.BoardView:
    """Return the board at the end of the bot's game; `answer` answers every command."""
    async with Connection(server.url, TOKEN) as client, asyncio.TaskGroup() as group:
        peer = await server.peer()
        answering = group.create_task(_answer_all(peer, answer))
        player = BoardPlayer(client, CANFIELD, CHOOSERS[strength], pace=pace)
        board = await player.play(judge.board())
        answering.cancel()
    return board


async def _answer_all(peer: ScriptedPeer, answer: Answer) -> None:
    while True:
        await peer.send(answer(await peer.command()))


@pytest.mark.parametrize("strength", Strength)
async def test_a_bot_plays_its_board_to_the_end(
    server: ScriptedServer, judge: Judge, strength: Strength
) -> None:
    end = await played(server, judge, judge.answer, strength)
    assert end == judge.board()
    assert end.state in ("cashed out", "won")
    assert judge.made


async def test_after_a_refusal_a_bot_plays_on_from_the_board_in_it(
    server: ScriptedServer, judge: Judge
) -> None:
    refused: list[commands.AnyCommand] = []

    def answer(command: commands.AnyCommand) -> events.AnyEvent:
        if len(refused) < 3:
            refused.append(command)
            return events.Refused(
                re=command.id, code="stale_move", message="Look again.", board=judge.board()
            )
        return judge.answer(command)

    assert (await played(server, judge, answer)).state == "cashed out"


async def test_a_bot_repeats_a_move_after_a_temporary_server_fault(
    server: ScriptedServer, judge: Judge
) -> None:
    refused: list[commands.AnyCommand] = []

    def answer(command: commands.AnyCommand) -> events.AnyEvent:
        if len(refused) < 3:
            refused.append(command)
            return events.Refused(
                re=command.id, code="server_fault", message="Say it again.", retry=True
            )
        return judge.answer(command)

    assert (await played(server, judge, answer)).state == "cashed out"


async def test_a_bot_repeats_a_move_with_a_stale_id_under_a_new_id(
    server: ScriptedServer, judge: Judge
) -> None:
    refused: list[commands.AnyCommand] = []

    def answer(command: commands.AnyCommand) -> events.AnyEvent:
        if not refused:
            refused.append(command)
            return events.Refused(re=command.id, code="stale_id", message="Too late.")
        assert command.id > refused[0].id
        return judge.answer(command)

    assert (await played(server, judge, answer)).state == "cashed out"


async def test_a_bot_gives_up_after_too_many_refusals(server: ScriptedServer, judge: Judge) -> None:
    def answer(command: commands.AnyCommand) -> events.AnyEvent:
        return events.Refused(
            re=command.id, code="illegal_move", message="No.", board=judge.board()
        )

    with pytest.RaisesGroup(CommandRefused):
        await played(server, judge, answer)


async def test_a_bot_stops_when_the_server_has_ended_its_board(
    server: ScriptedServer, judge: Judge
) -> None:
    def answer(command: commands.AnyCommand) -> events.AnyEvent:
        return events.Refused(re=command.id, code="time_up", message="The time is up.")

    assert (await played(server, judge, answer)).count == 0


async def test_a_bot_without_a_move_cashes_out(server: ScriptedServer, judge: Judge) -> None:
    async with Connection(server.url, TOKEN) as client:
        peer = await server.peer()
        player = BoardPlayer(
            client, CANFIELD, lambda game, view, memory: Choice(None, memory), pace=AT_ONCE
        )
        playing = asyncio.ensure_future(player.play(judge.board()))
        command = await peer.command()
        assert command == commands.CashOut(id=command.id, race=RACE)
        await peer.send(judge.answer(command))
        assert (await playing).state == "cashed out"


async def test_a_bot_asks_for_a_pause_before_every_move_and_before_it_cashes_out(
    server: ScriptedServer, judge: Judge
) -> None:
    paused: list[Choice] = []

    def pace(game: Game, view: View, memory: Memory, choice: Choice) -> float:
        assert view == redact(judge.position)
        assert memory.moves == len(judge.made)
        paused.append(choice)
        return 0.0

    await played(server, judge, judge.answer, pace=pace)
    assert [str(choice.move) for choice in paused] == [*judge.made, "None"]


async def test_a_move_carries_the_number_of_moves_before_it(
    server: ScriptedServer, judge: Judge
) -> None:
    async with Connection(server.url, TOKEN) as client:
        peer = await server.peer()
        player = BoardPlayer(
            client, CANFIELD, lambda game, view, memory: Choice(DRAW, memory), pace=AT_ONCE
        )
        playing = asyncio.ensure_future(player.play(judge.board()))
        for count in range(3):
            command = await peer.command()
            assert command == commands.MakeMove(id=command.id, race=RACE, after=count, move="draw")
            await peer.send(judge.answer(command))
        playing.cancel()
        assert RACE.startswith(CODE)
