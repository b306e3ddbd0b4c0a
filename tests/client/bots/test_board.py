"""A bot plays its board against a scripted server, at its pace."""

import asyncio
from collections.abc import Callable
from statistics import mean

import pytest

from kit.scripted_server import RACE, TOKEN, ScriptedPeer, ScriptedServer
from saratoga_client.bots.choose import CHOOSERS, Choice, Strength, choose_strongly
from saratoga_client.bots.memory import Memory, remember
from saratoga_client.bots.pace import (
    VARIATION,
    Pace,
    human_pace,
    steady_pace,
)
from saratoga_client.bots.player import BoardPlayer
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused
from saratoga_protocol import commands, events
from saratoga_protocol.views import wire_view
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.money import net
from saratoga_rules.moves import DRAW, parse_move
from saratoga_rules.play import is_won, play
from saratoga_rules.position import Position, View, redact

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
            head="0" * 16,
        )

    def answer(self, command: commands.Command) -> events.Event:
        match command:
            case commands.CashOut():
                self.state = "cash-out"
            case commands.MakeMove(after=after, move=move):
                assert after == len(self.made)
                self.position = play(CANFIELD, self.position, parse_move(move))
                self.made.append(move)
                if is_won(CANFIELD, self.position):
                    self.state = "won"
            case _:
                raise AssertionError(f"a bot at its board has no reason for {command}")
        text = command.move if isinstance(command, commands.MakeMove) else self.state
        entries, board = [f"0 1 {text}"], self.board()
        return events.BoardChanged(re=command.id, board=board, place=board.count, entries=entries)


@pytest.fixture
def judge() -> Judge:
    return Judge(deal_for_key(CANFIELD, practice_key("board")))


Answer = Callable[[commands.Command], events.Event]


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
    assert end.state in ("cash-out", "won")
    assert judge.made


@pytest.mark.parametrize(
    ("code", "retry", "times"),
    [("stale_move", False, 3), ("server_fault", True, 3)],
)
async def test_after_a_refusal_a_bot_plays_on(
    server: ScriptedServer, judge: Judge, code: str, retry: bool, times: int
) -> None:
    refused: list[int] = []

    def answer(command: commands.Command) -> events.Event:
        if len(refused) < times:
            refused.append(command.id)
            board = judge.board() if code == "stale_move" else None
            return events.Refused(re=command.id, code=code, message="No.", retry=retry, board=board)
        return judge.answer(command)

    assert (await played(server, judge, answer)).state == "cash-out"


async def test_a_bot_gives_up_after_too_many_refusals(server: ScriptedServer, judge: Judge) -> None:
    def answer(command: commands.Command) -> events.Event:
        return events.Refused(
            re=command.id, code="illegal_move", message="No.", board=judge.board()
        )

    with pytest.RaisesGroup(CommandRefused):
        await played(server, judge, answer)


async def test_a_bot_stops_when_the_server_has_ended_its_board(
    server: ScriptedServer, judge: Judge
) -> None:
    def answer(command: commands.Command) -> events.Event:
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
        assert command == commands.CashOut(id=command.id, race=RACE, after=0)
        await peer.send(judge.answer(command))
        assert (await playing).state == "cash-out"


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


def pauses_of_race(game: Game, number: int, pace: Pace = human_pace) -> list[float]:
    """Return the strong bot's pauses from the deal to the end of its board."""
    position, memory = deal_for_key(game, practice_key(f"pace {number}")), Memory(variation=number)
    pauses: list[float] = []
    while not is_won(game, position):
        view = redact(position)
        choice = choose_strongly(game, view, memory)
        pauses.append(pace(game, view, memory, choice))
        if choice.move is None:
            break
        position = play(game, position, choice.move)
        memory = remember(game, choice.memory, view, choice.move, redact(position))
    return pauses


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES.keys())
def test_the_strong_bot_makes_half_a_move_to_just_over_one_a_second(game: Game) -> None:
    for number in range(1, 9):
        pauses = pauses_of_race(game, number)
        assert 0.5 <= len(pauses) / sum(pauses) <= 1.2


def test_the_pauses_of_a_race_differ_as_a_person_s_do() -> None:
    pauses = sorted(pauses_of_race(CANFIELD, 1))
    assert pauses[-1] > 4 * pauses[len(pauses) // 2]
    assert pauses[len(pauses) // 2] > 1.4 * pauses[len(pauses) // 10]


def test_the_pauses_depend_only_on_what_the_bot_sees_and_on_its_variation() -> None:
    assert pauses_of_race(CANFIELD, 2) == pauses_of_race(CANFIELD, 2)
    view = redact(deal_for_key(CANFIELD, practice_key("pace")))
    first, second = (
        human_pace(CANFIELD, view, Memory(variation=number), Choice(DRAW, Memory()))
        for number in (1, 2)
    )
    assert first != second


def test_a_steady_pace_makes_as_many_moves_a_second_as_it_was_given() -> None:
    pauses = pauses_of_race(CANFIELD, 3, steady_pace(4))
    assert mean(pauses) == pytest.approx(1 / 4, rel=0.1)
    assert max(pauses) <= (1 + VARIATION) / 4
