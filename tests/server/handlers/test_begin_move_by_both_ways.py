"""Moves begun in a callback and moves answered by the dispatcher get the same answers."""

import asyncio

from msgspec import structs

from kit.in_process_server import InProcessServer
from kit.players import MemoryPlayer
from saratoga_protocol.commands import CashOut, MakeMove
from saratoga_protocol.events import AnyEvent, MoveMade, Refused
from saratoga_server.handlers.dispatcher import DispatchedMove


async def finished(started: DispatchedMove) -> AnyEvent:
    """Return the answer to a begun move, as a connection sends it."""
    await asyncio.wait([started.durable])
    return started.finish() or await started.explain()


async def sent(server: InProcessServer, player: MemoryPlayer, command: MakeMove) -> AnyEvent:
    """Carry a move out as a connection does; return the answer."""
    started = server.node.dispatcher.begin_move(player.session, command)
    if started is None:
        return await server.node.dispatcher.answer(player.session, command)
    return await finished(started) if isinstance(started, DispatchedMove) else started


def refusal(answer: AnyEvent) -> tuple[str, int | None]:
    """Return the code of a refusal, and the number of moves on the board that came with it."""
    assert isinstance(answer, Refused), answer
    return answer.code, None if answer.board is None else answer.board.count


def without_number(answer: AnyEvent) -> AnyEvent:
    """Return an answer without its commit number, which is different for every entry of a race."""
    return structs.replace(answer, number=0) if isinstance(answer, MoveMade) else answer


# Comparisons of both


async def test_both_ways_give_the_same_answers_and_count_the_same(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna", legal=True), await server.player("Bert", legal=True)
    await server.race(anna, bert)
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
    numbers = []
    for command_id, after, text in steps:
        command = MakeMove(id=command_id, race=race, after=after, move=text)
        quick = await sent(server, anna, command)
        refusals = sum(server.node.metrics.refusals.values())
        slow = await server.node.dispatcher.answer(bert.session, command)
        assert without_number(quick) == without_number(slow)
        numbers += [answer.number for answer in (quick, slow) if isinstance(answer, MoveMade)]
        is_refused = isinstance(slow, Refused)
        assert sum(server.node.metrics.refusals.values()) == refusals + is_refused
    # a repeat is answered with the number of the first time
    assert numbers == [1, 2, 1, 2, 3, 4]
    assert server.node.metrics.commands["move"] == 2 * len(steps)
    assert {count for count in server.node.metrics.refusals.values() if count} == {2}
    for player in (anna, bert):
        await player.send(CashOut(id=60, race=race))
    command = MakeMove(id=61, race=race, after=3, move="draw")
    assert refusal(await sent(server, anna, command)) == ("board_over", 3)
    assert await sent(server, anna, command) == await server.node.dispatcher.answer(
        bert.session, command
    )
