"""Administrators' commands take effect at once on a running server; its pages and metrics say how it is."""

import json
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from kit.in_process_server import gathered
from kit.players import connected_player, player_at, token_of
from kit.server_process import ServerProcess, running_server
from saratoga_protocol.commands import JoinTable
from saratoga_protocol.events import Announcement, SeatLost, TableChanged
from saratoga_protocol.refusals import BANNED

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server_process() -> AsyncIterator[ServerProcess]:
    """A server process that the tests share; a player keeps its seat, so each test seats other players."""
    async with running_server() as opened:
        yield opened


async def test_an_administrators_commands_take_effect_at_once(
    server_process: ServerProcess,
) -> None:
    admin = server_process.admin
    async with (
        player_at(server_process.url, "Anna") as anna,
        player_at(server_process.url, "Bert") as bert,
    ):
        code = await gathered(anna, bert)
        listed = json.loads(await admin("tables", "--json"))
        assert [(line["seated"], line["host"]) for line in listed] == [(2, "Anna")]
        said = await admin("announce", "The server restarts at ten.")
        assert said == "Sent to the players on 1 server.\n"
        await admin("rename", "Bert", "Robert")
        for each in (anna, bert):
            await each.expect(Announcement, text="The server restarts at ten.")
            while [seat.name for seat in each.table.seats] != ["Anna", "Robert"]:
                await each.expect(TableChanged, len(each.received.events))
        await admin("close", code, "--yes", "--reason", "Closing time.")
        for each in (anna, bert):
            await each.expect(SeatLost, table=code, reason="Closing time.")
        assert await bert.refused(JoinTable, table=code) == "table_closed"
        await admin("ban", "Robert", "--yes")
        assert await bert.closed() == (BANNED.code, BANNED.reason)
        await admin("unban", "Robert")
        await admin("forget", "Anna", "--yes")
        await anna.closed()
        async with connected_player(server_process.url, "Anna") as another:
            another.token = token_of("another Anna")
            await another.hello(name="Hanna")
        await admin("rename", "Hanna", "Anna")
        lines = (await admin("audit")).splitlines()
        done = [re.split(r"\s{2,}", line)[2] for line in lines]
        assert done == ["rename", "forget", "unban", "ban", "close", "rename", "announce"]
