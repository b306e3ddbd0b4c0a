"""Taking a seat: a name, another seat given up or resumed, a table created or joined."""

import asyncio
from functools import partial

import pytest
from msgspec.structs import replace

from kit.client_servers import (
    PLAYER,
    OpenLobby,
    scripted_server,
    snapshot,
    welcome_back,
)
from kit.messages import racer
from saratoga_client.local.identity import new_token
from saratoga_client.net.connection import Connection
from saratoga_client.session.join import (
    give_up_seat,
    is_seated_at,
    release_other_seat,
    take_seat,
    way_back,
)
from saratoga_protocol.commands import LeaveTable, Ready, Start
from saratoga_protocol.events import Done, TableSettings

WANTED = TableSettings(game="caprice", cap=20, seats=2, public=False)


async def test_a_seat_without_a_race_is_given_up_for_another_table(
    lobby: OpenLobby, capsys: pytest.CaptureFixture[str]
) -> None:
    token = new_token()
    async with Connection(lobby.url, token, name="Anna") as before:
        old = (await take_seat(before, WANTED))[1].code
    anna = await lobby.player(token=token)
    assert await release_other_seat(anna, old) == "", "the seat that is wanted is kept"
    assert await release_other_seat(anna) == ""
    assert f"given up your seat at {old}" in capsys.readouterr().err
    _, table = await take_seat(await lobby.player("Bert"), old)
    assert [seat.name for seat in table.seats] == ["Bert"]


async def test_the_way_back_leads_to_the_seat_and_else_to_the_last_table_if_it_is_open(
    lobby: OpenLobby,
) -> None:
    last = await lobby.host("Cleo")
    token = new_token()
    async with Connection(lobby.url, token, name="Anna") as before:
        seated = (await take_seat(before, WANTED))[1].code
    anna = await lobby.player(token=token)
    found = await way_back(anna, last)
    assert found is not None
    assert (found.code, is_seated_at(found, anna.player)) == (seated, True)
    await give_up_seat(anna, seated)
    found = await way_back(anna, last)
    assert found is not None
    assert (found.code, is_seated_at(found, anna.player)) == (last, False)
    assert not anna.watches(last)
    assert await way_back(anna, "mint-otter-99") is None


async def test_a_player_who_races_at_another_table_keeps_that_seat(lobby: OpenLobby) -> None:
    token = new_token()
    async with Connection(lobby.url, token, name="Anna") as before:
        _, table = await take_seat(before, WANTED)
        ready = partial(Ready, commitment=table.commitment, nonce_hash="5a" * 32)
        await before.request(partial(ready, table=table.code))
        await before.request(partial(Start, table=table.code))
    assert await release_other_seat(await lobby.player(token=token)) == table.code


async def test_a_player_who_has_left_a_running_race_is_not_sent_back_to_it() -> None:
    async with scripted_server() as server:
        server.greeting = welcome_back
        async with Connection(server.url, new_token()) as anna:
            peer = await server.peer()
            releasing = asyncio.create_task(release_other_seat(anna))
            # a racer who has left is still in the race, but has no seat
            shown = snapshot(re=(await peer.command()).id)
            raced = [racer(PLAYER), racer("bert")]
            race = replace(shown.table, phase="running", racers=raced)
            await peer.send(replace(shown, table=race))
            leave = await peer.command()
            assert isinstance(leave, LeaveTable)
            await peer.send(Done(re=leave.id))
            assert await releasing == ""
