"""Bots that a player brings along join the player's table under their own names."""

from msgspec.structs import replace

from kit.scripted_server import CODE, NOON, scripted_server, snapshot
from kit.scripted_server import table as scripted_table
from kit.session_states import snapshot as table_snapshot
from kit.session_states import state_after, table
from kit.table_screens import table_player
from saratoga_protocol.commands import JoinTable, Ready
from saratoga_protocol.events import Refused, TableChanged

GATHERING = state_after(first=table_snapshot(shown=table(phase="gathering")))


async def test_a_bot_of_the_chosen_strength_sits_down_beside_the_player() -> None:
    async with scripted_server() as server, table_player(GATHERING) as at_table:
        at_table.flow.server = server.url
        await at_table.press("b")
        assert "w weak  s strong" in at_table.rows[-1]
        await at_table.press("w")
        peer = await server.peer()
        assert peer.hello is not None
        assert peer.hello.bot
        command = await peer.command()
        assert isinstance(command, JoinTable)
        assert command.table == CODE
        await peer.send(snapshot(re=command.id))
        # the next message comes from the bot, which has taken a seat
        await peer.command()


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
        running = scripted_table(phase="running")
        changed = replace(running, version=2, commitment="d0" * 32)
        later = replace(scripted_table(version=3), race=f"{CODE}/2", commitment="e0" * 32)
        await peer.send(
            replace(snapshot(re=command.id), table=running),
            TableChanged(table=changed, now=NOON),
            TableChanged(table=later, now=NOON),
        )
        # the bot gets ready after it has seen the change
        assert isinstance(await peer.command(), Ready)
        await at_table.settled()
        assert "commitment has changed since the" in at_table.text
