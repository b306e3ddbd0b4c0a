"""A race that ends early: nobody waits for bots, and people can agree; also reactions, and the owner as host."""

from kit.in_process_server import InProcessServer, Nodes, gathered
from kit.players import MemoryPlayer
from saratoga_protocol.commands import EndRace, HandOver, JoinTable, Kick, LeaveTable, React
from saratoga_protocol.events import Done, RaceOver, Reacted, Refused
from saratoga_rules.records.record import parse_record
from saratoga_rules.records.standing import IDLE_MILLIS
from saratoga_rules.records.verify import verify


async def endings(nodes: Nodes, code: str) -> dict[str, str]:
    """Return how each board of the first race ended, from its record, which verifies."""
    text = await nodes.east.record(code)
    assert text is not None
    assert verify(text).ok
    return {racer.name: racer.log[-1].text for racer in parse_record(text).racers}


async def end(player: MemoryPlayer) -> str:
    """Ask to end the race, or agree; return the refusal's sentence, empty for none."""
    answer = await player.ask(EndRace, race=player.table.race)
    return answer.message if isinstance(answer, Refused) else ""


async def test_the_boards_of_bots_end_with_their_counts_when_no_person_races_any_more(
    nodes: Nodes,
) -> None:
    anna, bert = await nodes.two()
    east, west = [
        await server.player(name, bot=True)
        for server, name in ((nodes.east, "Otto"), (nodes.west, "Mabel"))
    ]
    code = await nodes.race(anna, bert, east, west)
    await east.moves("draw")
    await anna.cash_out()
    await nodes.settle()
    assert not anna.received.all(RaceOver), "Bert still races"
    await bert.cash_out()
    await nodes.settle()
    for player in (anna, bert, east, west):
        assert len(player.received.all(RaceOver)) == 1
    assert [each.received.endings()[0].board.state for each in (east, west)] == ["bots-stopped"] * 2
    assert await endings(nodes, code) == {
        "Anna": "cash-out", "Bert": "cash-out", "Otto": "bots-stopped", "Mabel": "bots-stopped"
    }  # fmt: skip


async def test_bots_among_themselves_race_to_the_end(server: InProcessServer) -> None:
    bots = [await server.player(name, bot=True) for name in ("Otto", "Mabel", "Greta")]
    await server.race(*bots)
    await bots[0].cash_out()
    await server.settle()
    assert (await server.board(bots[1].table.code, bots[1].player)).state == "racing"


async def test_people_agree_to_end_the_race_when_one_who_has_ended_asks(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    cleo, dora = [await nodes.west.player(name) for name in ("Cleo", "Dora")]
    code = await nodes.race(anna, bert, cleo, dora)
    assert "Cash out to end your own board." in await end(anna)
    await cleo.cash_out()
    await nodes.settle()
    assert not await end(cleo)
    assert not await end(cleo), "said again"
    await nodes.settle()
    assert (anna.table.votes, anna.table.notice) == ([cleo.player], "Cleo asks to end the race.")
    assert not await end(bert)
    await nodes.settle()
    assert anna.table.notice == "Bert agrees to end the race."
    assert not await end(anna)
    await nodes.settle()
    assert not anna.received.all(RaceOver), "Dora has not agreed"
    await dora.cash_out()
    await nodes.settle()
    assert await endings(nodes, code) == {
        "Anna": "ended-by-vote", "Bert": "ended-by-vote", "Cleo": "cash-out", "Dora": "cash-out"
    }  # fmt: skip
    assert anna.received.endings()[0].board.state == "ended-by-vote"


async def test_a_reaction_reaches_everyone_at_the_table(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna)
    await bert.at_table(JoinTable, table=code)
    watcher = await nodes.west.player("Cleo")
    await watcher.at_table(JoinTable, table=code, seat=False)
    assert await watcher.refused(React, table=code, reaction="gg") == "not_seated"
    for reaction in ("gg", "again", "nice"):
        assert isinstance(await bert.ask(React, table=code, reaction=reaction), Done)
    await nodes.settle()
    for player in (anna, bert, watcher):
        heard = [(each.player, each.reaction) for each in player.received.all(Reacted)]
        assert heard == [(bert.player, each) for each in ("gg", "again", "nice")]


async def test_the_owner_of_the_server_stays_and_is_host_again_when_back(
    server: InProcessServer,
) -> None:
    anna, bert = [await server.player(name) for name in ("Anna", "Bert")]
    server.node.owner = anna.player
    code = await gathered(anna, bert)
    await server.pass_time(IDLE_MILLIS - 1000)
    await bert.ask(React, table=code, reaction="gg")
    await server.pass_time(2000)
    assert bert.table.host == bert.player
    assert await bert.refused(Kick, table=code, player=anna.player) == "owner_only"
    await anna.ask(React, table=code, reaction="nice")
    await server.pass_time(2000)
    assert (bert.table.host, bert.table.notice) == (anna.player, "Anna is host again.")
    await anna.ask(LeaveTable, table=code)
    await anna.at_table(JoinTable, table=code)
    assert anna.table.host == anna.player
    await anna.ask(HandOver, table=code, player=bert.player)
    await anna.ask(LeaveTable, table=code)
    await anna.at_table(JoinTable, table=code)
    assert anna.table.host == bert.player, "who was chosen by hand stays the host"
