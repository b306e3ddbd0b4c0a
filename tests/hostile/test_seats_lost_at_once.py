"""A server that gives a seat and takes it away in one read: the client ends with the reason.

The events come together, before any task of the client can react to the first one.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from kit.plain_sessions import scripted_session
from kit.scripted_server import CODE, PLAYER, TOKEN, ScriptedServer, scripted_server, snapshot
from saratoga_client.bots.bot_connection import seated_bot
from saratoga_client.bots.player import TablePlayer
from saratoga_client.bots.strengths import CHOOSERS, Strength
from saratoga_client.local.paths import HOME_VARIABLE
from saratoga_client.net.connection import Connection
from saratoga_client.plain.table import play_table
from saratoga_client.problems import Problem
from saratoga_client.session.table_session import TableSession
from saratoga_client.tui.app import SaratogaApp
from saratoga_client.tui.flows import table_flow
from saratoga_protocol.commands import JoinTable
from saratoga_protocol.events import Refused, Seat, SeatLost, Snapshot

JOIN = partial(JoinTable, table=CODE)
LOST = SeatLost(table=CODE, reason="The host has kicked you.")
WITHIN = 10.0


async def in_lines(url: str, folder: Path) -> None:
    async with Connection(url, TOKEN) as connection:
        await play_table(connection, CODE, session=scripted_session("wait race")[0])


async def on_the_screen(url: str, folder: Path) -> None:
    async with Connection(url, TOKEN) as connection:
        session = TableSession(connection)
        await session.sit_down(CODE)
        app = SaratogaApp(table_flow(session, url))
        async with app.run_test():
            await app.flow_ended()
        assert app.problem is not None
        raise app.problem


async def as_a_bot(url: str, folder: Path) -> None:
    async with seated_bot(url, JOIN, "weak", name="Otto", folder=folder) as bot:
        await bot.play(races=1)


Client = Callable[[str, Path], Awaitable[None]]


async def ended_by(server: ScriptedServer, client: Client, folder: Path, *, first: bool) -> Problem:
    """Answer the client's join with a snapshot and a lost seat; return the problem that it ends with.

    With `first` the seat is lost before the snapshot, which then has no seat for the player.
    """
    playing = asyncio.ensure_future(client(server.url, folder))
    peer = await server.peer()
    join = await peer.command()
    assert isinstance(join, JoinTable)
    answer = snapshot(re=join.id)
    if first:
        peer.send_together(LOST, answer)
    else:
        peer.send_together(seated(answer), LOST)
    with pytest.raises(Problem) as ended:
        async with asyncio.timeout(WITHIN):
            await playing
    return ended.value


def seated(answer: Snapshot) -> Snapshot:
    seats = [Seat(player=PLAYER, name="Anna")]
    return replace(answer, table=replace(answer.table, seats=seats))


@pytest.mark.parametrize("first", [False, True], ids=["snapshot first", "seat_lost first"])
@pytest.mark.parametrize("client", [in_lines, on_the_screen, as_a_bot])
async def test_a_seat_that_is_lost_as_it_is_given_ends_with_the_reason(
    client: Client, first: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    async with scripted_server() as server:
        problem = await ended_by(server, client, tmp_path, first=first)
    assert "The host has kicked you." in str(problem)


async def test_a_seat_lost_before_a_new_one_at_the_same_table_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    async with scripted_server() as server, Connection(server.url, TOKEN) as connection:
        peer = await server.peer()
        session = TableSession(connection)
        joining = asyncio.ensure_future(session.sit_down(CODE))
        join = await peer.command()
        peer.send_together(LOST, seated(snapshot(re=join.id)))
        await joining
        attending = asyncio.ensure_future(session.attend())
        state = await session.until(lambda state: state.seat is not None)
        assert state.seat_lost == ""
        await connection.close()
        await attending


async def test_a_bot_without_its_seat_is_not_stopped_by_the_refusal_of_its_ready_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    async with scripted_server() as server, Connection(server.url, TOKEN) as connection:
        peer = await server.peer()
        entering = asyncio.ensure_future(connection.ask(JOIN, Snapshot))
        join = await peer.command()
        await peer.send(seated(snapshot(re=join.id)))
        await entering
        playing = asyncio.ensure_future(
            TablePlayer(connection, CHOOSERS[Strength.WEAK], races=1).stay()
        )
        ready = await peer.command()
        await peer.send(LOST, Refused(re=ready.id, code="not_seated", message="You have no seat."))
        with pytest.raises(Problem, match="kicked"):
            async with asyncio.timeout(WITHIN):
                await playing
