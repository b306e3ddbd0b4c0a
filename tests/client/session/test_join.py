"""What comes before a table: a name, an old seat given up or gone back to, a table opened."""

from collections.abc import AsyncIterator
from functools import partial

import pytest

from kit.lobbies import OpenLobby, open_lobby
from saratoga_client.local.identity import new_token
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.join import (
    NameWanted,
    TableWanted,
    asked,
    freed,
    have_a_name,
    joined,
    opened,
    others_at,
)
from saratoga_protocol.commands import Ready, Start

WANTED = TableWanted(game="caprice", cap=20, seats=2, public=False)


@pytest.fixture
async def lobby() -> AsyncIterator[OpenLobby]:
    async with open_lobby() as opened_lobby:
        yield opened_lobby


async def test_whoever_has_a_name_keeps_it(lobby: OpenLobby) -> None:
    assert await have_a_name(await lobby.player("Anna"), "Bert") == "Anna"


async def test_the_chosen_name_is_taken_without_a_question(lobby: OpenLobby) -> None:
    assert await have_a_name(await lobby.player(), "Bert") == "Bert"


async def test_without_a_name_one_is_asked_for(lobby: OpenLobby) -> None:
    with pytest.raises(NameWanted) as wanted:
        await have_a_name(await lobby.player(), "")
    assert (wanted.value.why, wanted.value.question) == ("", "Your name at this house")


@pytest.mark.parametrize("name", ["anna", "  ", "x" * 65])
async def test_a_name_that_cannot_be_had_is_asked_for_again_with_the_reason(
    lobby: OpenLobby, name: str
) -> None:
    await lobby.player("Anna")
    with pytest.raises(NameWanted) as wanted:
        await have_a_name(await lobby.player(), name)
    assert wanted.value.why
    assert wanted.value.question == "Another name"
    # somebody may be new here only by the way they came
    assert ("saratoga token use" in wanted.value.why) == (name == "anna")


def test_where_nobody_sits_the_flag_is_named() -> None:
    with pytest.raises(Problem, match="--name") as problem:
        asked("Your name")
    assert problem.value.code == Exit.USAGE


async def test_a_table_is_opened_as_it_is_wanted_and_joined_by_its_code(lobby: OpenLobby) -> None:
    table = await opened(await lobby.player("Anna"), WANTED)
    assert (table.settings.game, table.settings.cap, table.settings.seats) == ("caprice", 20, 2)
    seen = await joined(await lobby.player("Bert"), table.code)
    assert [seat.name for seat in seen.seats] == ["Anna", "Bert"]
    with pytest.raises(CommandRefused) as no:
        await joined(await lobby.player("Cleo"), table.code)
    assert no.value.code == "table_full"


async def test_a_seat_where_nothing_is_raced_is_given_up_for_another_table(
    lobby: OpenLobby, capsys: pytest.CaptureFixture[str]
) -> None:
    token = new_token()
    async with Connection(lobby.url, token, name="Anna") as before:
        old = (await opened(before, WANTED)).code
    anna = await lobby.player(token=token)
    assert await freed(anna, old) == "", "the seat that is wanted is kept"
    assert await freed(anna) == ""
    assert f"given up your seat at {old}" in capsys.readouterr().err
    table = await joined(await lobby.player("Bert"), old)
    assert [seat.name for seat in table.seats] == ["Bert"]


async def test_a_race_that_goes_on_is_gone_back_to(lobby: OpenLobby) -> None:
    token = new_token()
    async with Connection(lobby.url, token, name="Anna") as before:
        table = await opened(before, WANTED)
        ready = partial(Ready, commitment=table.commitment, nonce_hash="5a" * 32)
        await before.request(partial(ready, table=table.code))
        await before.request(partial(Start, table=table.code))
    assert await freed(await lobby.player(token=token)) == table.code


async def test_the_others_at_a_table_are_people_who_are_there(lobby: OpenLobby) -> None:
    anna = await lobby.player("Anna")
    code = (await opened(anna, TableWanted(game="caprice", cap=3, seats=9, public=False))).code
    await lobby.sit_down("Bert", code)
    async with Connection(lobby.url, new_token(), name="Cleo") as cleo:
        await joined(cleo, code)
    async with Connection(lobby.url, new_token(), name="Otto", bot=True) as otto:
        await joined(otto, code)
        assert await others_at(anna, code) == ("Bert",)
    assert await others_at(anna, "no-such-1") == ()
