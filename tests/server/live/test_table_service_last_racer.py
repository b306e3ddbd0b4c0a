"""The last racer of a race is named to the table, and the host's ending of the race is carried out."""

from kit.in_process_server import InProcessServer, cash_out_unnoticed
from kit.two_nodes import beside
from saratoga_protocol.commands import EndRace
from saratoga_protocol.events import BoardEnded, Done, RaceOver
from saratoga_rules.records.standing import LAST_BOARD_MILLIS
from saratoga_server.domain.tables.lifecycle import AHEAD_MILLIS
from saratoga_server.domain.tables.timers import LOOK_MILLIS


async def test_the_last_racer_is_named_though_the_other_boards_ending_was_not_noticed(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await server.race(anna, bert)
    await cash_out_unnoticed(server, anna)
    assert server.state(code).last_racer == ""
    await server.pass_time(LOOK_MILLIS)
    assert server.state(code).last_racer == bert.player


async def test_a_host_ends_the_board_of_a_player_on_another_node(server: InProcessServer) -> None:
    async with beside(server) as nodes:
        anna, bert = await nodes.two()
        code = await nodes.race(anna, bert)
        await anna.cash_out()
        await nodes.settle()
        assert bert.table.last_racer == bert.player
        await nodes.pass_time(LAST_BOARD_MILLIS + AHEAD_MILLIS)
        assert isinstance(await anna.ask(EndRace, race=f"{code}/1"), Done)
        await nodes.settle()
        (ended,) = bert.received.all(BoardEnded)
        assert ended.board.state == "ended by host"
        for player in (anna, bert):
            assert len(player.received.all(RaceOver)) == 1


async def test_a_race_that_its_host_ended_ends_though_the_reply_was_lost(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await server.race(anna, bert)
    await anna.cash_out()
    await server.pass_time(LAST_BOARD_MILLIS + LOOK_MILLIS)
    server.faults.lost_replies = 1
    assert await anna.refused(EndRace, race=f"{code}/1") == "store_unavailable"
    assert bert.received.all(BoardEnded) == []
    await server.pass_time(1000)
    (ended,) = bert.received.all(BoardEnded)
    assert ended.board.state == "ended by host"
    assert server.state(code).outcome is not None
