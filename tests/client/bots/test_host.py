"""The bots of a bot host, and their identities."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from kit.in_process_server import ListeningServer, gathered, listening_server
from kit.players import SocketPlayer, player_at, token_of
from saratoga_client.bots import host
from saratoga_client.bots.host import serve
from saratoga_client.bots.seat import NAMES, claim_identity, variation_of
from saratoga_client.problems import Exit, Problem
from saratoga_protocol.commands import AddBot, JoinTable, Kick, LeaveTable, player_id
from saratoga_protocol.events import Done, Refused, Table, TableChanged
from saratoga_protocol.refusals import RESTARTING
from saratoga_server.cancellation import cancel_all
from saratoga_server.store.opening import Store

OWNER = player_id(token_of("Olga"))


@pytest.fixture
async def at_table(valkey: Store) -> AsyncIterator[tuple[ListeningServer, SocketPlayer]]:
    """Anna's table, on a server with a bot host."""
    async with listening_server(valkey) as server, player_at(server.url, "Anna") as anna:
        server.node.owner = OWNER
        serving = asyncio.create_task(serve(server.url, token_of("Olga")))
        await gathered(anna)
        await shown(anna, lambda table: bool(table.bots))
        yield server, anna
        await cancel_all([serving])


async def shown(player: SocketPlayer, holds: Callable[[Table], bool]) -> Table:
    """Wait until the player's table is shown like this."""
    while not holds(player.table):
        await player.expect(TableChanged, len(player.received.events))
    return player.table


async def asks(player: SocketPlayer, key: str) -> str:
    """Ask for a bot with this key; return the sentence of the refusal, or an empty text."""
    answer = await player.ask(AddBot, table=player.table.code, level="weak", key=key * 32)
    return answer.message if isinstance(answer, Refused) else ""


async def test_a_repeat_brings_no_second_bot_and_a_table_gets_three(
    at_table: tuple[ListeningServer, SocketPlayer],
) -> None:
    _, anna = at_table
    for key in "aabcd":  # all before the first bot is there
        assert not await asks(anna, key)
    bots = (await shown(anna, lambda table: sum(seat.ready for seat in table.seats) == 3)).seats[1:]
    assert [(seat.bot, seat.level) for seat in bots] == [(True, "weak")] * 3
    assert len({seat.name for seat in bots}) == 3
    assert "3 bots at this table already" in await asks(anna, "e")


async def test_a_bot_that_was_removed_frees_its_place_for_one_of_another_name(
    at_table: tuple[ListeningServer, SocketPlayer], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, anna = at_table
    monkeypatch.setattr(random, "sample", lambda names, _: names)
    monkeypatch.setattr(host, "MOST_BOTS", 1)
    await asks(anna, "a")
    bot = (await shown(anna, lambda table: len(table.seats) == 2)).seats[1]
    while not (told := await asks(anna, "b")):
        pass  # the offer of no further bot comes a little later
    assert told.startswith("All bots of this server are playing.")
    assert isinstance(await anna.ask(Kick, table=anna.table.code, player=bot.player), Done)
    while await asks(anna, "c"):
        pass
    (_, other) = (await shown(anna, lambda table: len(table.seats) == 2)).seats
    assert (bot.name, other.name) == NAMES[:2]


async def test_bots_stay_while_their_host_reconnects_and_leave_after_the_last_person(
    at_table: tuple[ListeningServer, SocketPlayer],
) -> None:
    server, anna = at_table
    await asks(anna, "a")
    await shown(anna, lambda table: len(table.seats) == 2)
    for session in server.node.broadcaster.sessions_of(OWNER):
        session.connection.close(RESTARTING)
    await shown(anna, lambda table: not table.bots)
    await shown(anna, lambda table: bool(table.bots))
    await asks(anna, "b")
    await shown(anna, lambda table: len(table.seats) == 3)
    async with player_at(server.url, "Wanda") as wanda:
        await wanda.at_table(JoinTable, table=anna.table.code, seat=False)
        await anna.ask(LeaveTable, table=anna.table.code)
        await shown(wanda, lambda table: not table.seats)


async def test_a_player_who_does_not_own_the_server_cannot_offer_bots(valkey: Store) -> None:
    async with listening_server(valkey) as server:
        with pytest.raises(Problem, match="Only the owner") as refused:
            await serve(server.url, token_of("Anna"))
    assert refused.value.code is Exit.REFUSED


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
