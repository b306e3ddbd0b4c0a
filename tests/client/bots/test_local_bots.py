"""Bots that a player brings, and their identities."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from kit.messages import racer
from kit.scripted_server import CODE, NOON, ScriptedPeer, scripted_server, snapshot, welcome_back
from kit.scripted_server import table as scripted_table
from kit.session_states import snapshot as table_snapshot
from kit.session_states import state_after, table
from kit.table_screens import table_player
from saratoga_client.bots.local_bots import LocalBots
from saratoga_client.bots.seat import claim_identity, variation_of
from saratoga_protocol.commands import Command, JoinTable, LeaveTable, Ready, player_id
from saratoga_protocol.events import Done, Ended, Refused, Seat, SeatLost, Snapshot, TableChanged


def seated(command: Command, peer: ScriptedPeer) -> Snapshot:
    """Return the answer to a bot's command that gives it its seat."""
    assert peer.hello is not None
    answer = snapshot(re=command.id)
    seats = [Seat(player=player_id(peer.hello.token), name=peer.hello.name or "", bot=True)]
    return replace(answer, table=replace(answer.table, seats=seats))


GATHERING = state_after(first=table_snapshot(shown=table(phase="gathering")))


@pytest.mark.parametrize("key", ["w", "e", "s"])
async def test_a_bot_of_the_chosen_strength_sits_down_beside_the_player(key: str) -> None:
    async with scripted_server() as server, table_player(GATHERING) as at_table:
        at_table.flow.server = server.url
        await at_table.press("b")
        assert "w weak  e even  s strong" in at_table.rows[-1]
        await at_table.press(key)
        peer = await server.peer()
        assert peer.hello is not None
        assert peer.hello.bot
        command = await peer.command()
        assert isinstance(command, JoinTable)
        assert command.table == CODE
        await peer.send(seated(command, peer))
        # the next message comes from the bot, which has taken a seat
        await peer.command()
        level = {"w": "weak", "e": "even", "s": "strong"}[key]
        assert peer.hello.level == level


async def test_more_than_one_bot_can_be_added_and_all_leave_with_the_player() -> None:
    async with scripted_server() as server, table_player(GATHERING) as at_table:
        at_table.flow.server = server.url
        peers = []
        for key in ("w", "e"):
            await at_table.press("b", key)
            peer = await server.peer()
            join = await peer.command()
            await peer.send(seated(join, peer))
            ready = await peer.command()
            await peer.send(Done(re=ready.id))
            peers.append(peer)
        assert len({peer.hello.name for peer in peers if peer.hello is not None}) == 2
        at_table.seat.lose()
        for peer in peers:
            command = await peer.command()
            assert isinstance(command, LeaveTable)
            await peer.send(Done(re=command.id))
            await peer.gone.wait()


async def test_a_bot_reports_no_lost_connection_on_the_error_stream(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with scripted_server() as server:
        bots = LocalBots(print, print)
        bringing = asyncio.ensure_future(bots.bring(server.url, CODE, "weak"))
        for _ in range(2):
            peer = await server.peer()
            command = await peer.command()
            await peer.send(seated(command, peer))
            server.greeting = welcome_back
            peer.cut()
        await bringing
        await server.peer()
        await bots.leave()
    assert capsys.readouterr().err == ""


async def test_a_table_without_room_for_it_says_so() -> None:
    async with scripted_server() as server, table_player(GATHERING) as at_table:
        at_table.flow.server = server.url
        await at_table.press("b", "s")
        peer = await server.peer()
        command = await peer.command()
        await peer.send(Refused(re=command.id, code="table_full", message="That table is full."))
        await peer.gone.wait()
        await at_table.app.workers.wait_for_complete(
            [worker for worker in at_table.app.workers if worker.group == "commands"]
        )
        await at_table.settled()
        assert "table is full" in at_table.rows[-2]


@pytest.mark.usefixtures("impatient_checks")
async def test_a_bot_that_its_player_removes_has_left() -> None:
    async with scripted_server() as server, table_player(GATHERING) as at_table:
        at_table.flow.server = server.url
        await at_table.press("b", "w")
        peer = await server.peer()
        answer = seated(await peer.command(), peer)
        there = GATHERING.table
        shown = replace(there, version=9, seats=[*there.seats, *answer.table.seats])
        await at_table.receive(TableChanged(table=shown, now=NOON))
        await peer.send(answer)
        ready = await peer.command()
        await peer.send(Done(re=ready.id))
        await peer.send(SeatLost(table=CODE, reason="The host has kicked you from the table."))
        await peer.gone.wait()
        await at_table.settled()
        assert at_table.rows[-2].split() == [*answer.table.seats[0].name.split(), "has", "left."]


async def test_any_other_key_adds_no_bot() -> None:
    async with table_player(GATHERING) as at_table:
        await at_table.press("b", "escape", "w")
        assert not [worker for worker in at_table.app.workers if worker.group == "commands"]


async def test_a_lie_that_the_bot_finds_is_on_the_players_message_line() -> None:
    async with scripted_server() as server, table_player(GATHERING) as at_table:
        at_table.flow.server = server.url
        await at_table.press("b", "w")
        peer = await server.peer()
        command = await peer.command()
        racers, seats = [racer("r" * 16, "Bert")], seated(command, peer).table.seats
        running = scripted_table(phase="running")
        running = replace(running, start_at=NOON, racers=racers, seats=seats)
        changed = replace(running, version=2, commitment="d0" * 32)
        later = replace(
            scripted_table(version=3),
            seats=seats,
            race=f"{CODE}/2",
            commitment="e0" * 32,
            previous=Ended(race=f"{CODE}/1", digest="ab" * 32),
        )
        await peer.send(
            replace(snapshot(re=command.id), table=running),
            TableChanged(table=changed, now=NOON),
            TableChanged(table=later, now=NOON),
        )
        # the bot gets ready after it has seen the change, and asks for the record of the race
        while not isinstance(await peer.command(), Ready):
            pass
        await at_table.settled()
        assert "the server has changed the deal" in at_table.text
        (alarm,) = at_table.app.alarms
        assert "the server has changed the deal" in alarm


SERVER = "ws://127.0.0.1:7470"


def test_a_bot_has_one_token_for_each_name_and_server(tmp_path: Path) -> None:
    def token(name: str, server: str = SERVER) -> str | None:
        with claim_identity(name, server, tmp_path) as claimed:
            return claimed

    with claim_identity("Otto", SERVER, tmp_path) as otto:
        assert token("Otto") is None, "it is in use"
        mabel = token("Mabel")
    assert token("Otto") == otto
    assert len({otto, mabel, token("Otto", "wss://cards.example.org"), None}) == 4


def test_a_name_that_is_no_file_name_is_stored_inside_the_folder(tmp_path: Path) -> None:
    with claim_identity("../Zoë :-)", SERVER, tmp_path) as token:
        assert token is not None
    assert all(path.parent == tmp_path for path in tmp_path.rglob("*"))


def test_every_name_has_its_own_variation() -> None:
    assert 0 != variation_of("Otto") != variation_of("Mabel") != 0
