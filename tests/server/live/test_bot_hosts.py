"""Bots that the hosts of tables add: who may offer them, who may ask, and on which node they are."""

import pytest

from kit.in_process_server import InProcessServer, Nodes, gathered
from kit.players import MemoryPlayer
from saratoga_protocol.commands import AddBot, ChangeSettings, JoinTable, Kick, LockTable, OfferBots
from saratoga_protocol.events import BotWanted, Done, Refused, TableChanged
from saratoga_server.live.bot_hosts import OFFER_LASTS

LEVELS = ["weak", "strong"]


async def offering(server: InProcessServer, free: int = 12) -> MemoryPlayer:
    """Connect the owner of the server, who offers bots."""
    owner = await server.player("Olga")
    server.node.owner = owner.player
    assert isinstance(await owner.ask(OfferBots, levels=LEVELS, free=free), Done)
    await server.settle()
    return owner


async def wish(player: MemoryPlayer, level: str = "weak", key: str = "a1" * 16) -> Done | str:
    """Ask for a bot; return the answer, or why it is refused."""
    answer = await player.ask(AddBot, table=player.table.code, level=level, key=key)
    return answer.message if isinstance(answer, Refused) else answer


async def test_only_the_owner_and_the_servers_own_bot_host_may_offer_bots(
    server: InProcessServer,
) -> None:
    owner, anna, own = [await server.player(name) for name in ("Olga", "Anna", "Greta")]
    server.node.owner, server.node.own_bot_host = owner.player, own.player
    assert await anna.refused(OfferBots, levels=LEVELS, free=1) == "owner_only"
    for player in (owner, own):
        assert isinstance(await player.ask(OfferBots, levels=LEVELS, free=1), Done)
    again = await server.player("Olga")
    await again.at_table(JoinTable, table=await gathered(anna))
    assert [seat.owner for seat in again.table.seats] == [False, True]
    assert (await server.connect("Olga").hello()).owner
    assert not (await server.connect("Anna").hello()).owner


async def test_a_host_can_add_bots_while_a_bot_host_offers_them(nodes: Nodes) -> None:
    anna = await nodes.east.player("Anna")
    code = await gathered(anna)
    assert "saratoga bot CODE" in str(await wish(anna))
    version = anna.table.version
    owner = await offering(nodes.west, free=1)
    await nodes.settle()
    assert (anna.table.bots, anna.table.version) == (LEVELS, version)
    assert str(await wish(anna, "even")) == "Choose a bot that is weak or strong."
    assert isinstance(await wish(anna, "strong"), Done)
    await nodes.settle()
    wanted = BotWanted(table=code, level="strong", key="a1" * 16)
    assert owner.received.all(BotWanted) == [wanted]
    await owner.ask(OfferBots, levels=LEVELS, free=0)
    await nodes.settle()
    assert "All bots of this server are playing." in str(await wish(anna))
    await nodes.pass_time(OFFER_LASTS + 1)
    assert anna.table.bots == LEVELS, "the offer is repeated"
    await owner.disconnect()
    await nodes.settle()
    assert anna.table.bots == []
    assert anna.received.all(TableChanged)[-1].table.bots == []


async def test_the_offer_of_a_node_that_has_died_is_dropped(nodes: Nodes) -> None:
    anna = await nodes.east.player("Anna")
    await gathered(anna)
    await offering(nodes.west)
    await nodes.settle()
    assert anna.table.bots == LEVELS
    await nodes.east.pass_time(OFFER_LASTS + 1)
    assert anna.table.bots == []


async def test_why_a_host_cannot_add_a_bot(server: InProcessServer) -> None:
    owner = await offering(server)
    anna, bert = [await server.player(name) for name in ("Anna", "Bert")]
    code = await gathered(anna, bert)
    assert await bert.refused(AddBot, table=code, level="weak", key="a1" * 16) == "host_only"
    await anna.ask(LockTable, table=code)
    assert str(await wish(anna)) == "This table is locked. Unlock it to add a bot."
    await anna.ask(LockTable, table=code, locked=False)
    await anna.ask(ChangeSettings, table=code, seats=2)
    assert "Every seat at this table is taken." in str(await wish(anna))
    await anna.ask(ChangeSettings, table=code, seats=16)
    bots = [await server.player(name, bot=True) for name in ("Otto", "Mabel", "Ida")]
    for bot in bots:
        await bot.at_table(JoinTable, table=code)
    assert "There are 3 bots at this table already." in str(await wish(anna))
    await anna.ask(Kick, table=code, player=bots[0].player)
    assert isinstance(await wish(anna), Done)
    await server.settle()
    assert len(owner.received.all(BotWanted)) == 1


@pytest.mark.parametrize("levels", [[], ["weak"]])
async def test_an_offer_takes_the_place_of_the_one_before(
    server: InProcessServer, levels: list[str]
) -> None:
    owner, anna = await offering(server), await server.player("Anna")
    await gathered(anna)
    await owner.ask(OfferBots, levels=levels, free=3)
    await server.settle()
    assert anna.table.bots == levels
