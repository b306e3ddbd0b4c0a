"""Players keep their seats and boards although their server was killed, its store away, or the store's clock stepped."""

import pytest

from kit.in_process_server import InProcessServer, counted_down, gathered
from saratoga_protocol.commands import JoinTable
from saratoga_protocol.events import TableChanged
from saratoga_rules.records.standing import IDLE_MILLIS
from saratoga_server.domain.tables.countdown import CALL_MILLIS, COUNTDOWN_MILLIS
from saratoga_server.domain.tables.timers import ABSENCE_MILLIS
from saratoga_server.live.scheduler import LOOK_EVERY
from saratoga_server.ports import StoreUnavailable
from saratoga_server.store.keys import race_key


async def test_seats_at_a_killed_node_are_disconnected_once_it_counts_as_dead(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, bert)
    killed = server.node.name
    await server.restart()
    # the last heartbeat of the killed node has not expired yet
    await server.real.nodes.beat(killed)
    back = await server.player("Bert")
    await back.at_table(JoinTable, table=code)
    await server.pass_time(1000)
    assert [seat.connected for seat in back.table.seats] == [True, True]
    await server.real.nodes.gone(killed)
    await server.pass_time(1000)
    assert [seat.connected for seat in back.table.seats] == [False, True]


async def states(server: InProcessServer, code: str) -> dict[str, str]:
    """Return the states of the stored boards of a table's first race, by the racers' names."""
    state = server.state(code)
    return {
        racer.name: (await server.board(code, player)).state
        for player, racer in state.racers.items()
    }


async def test_the_servers_downtime_does_not_count_as_a_players_absence(
    server: InProcessServer,
) -> None:
    code = await server.race(await server.player("Anna"), await server.player("Bert"), cap=20)
    server.time.at += IDLE_MILLIS
    await server.restart()
    for name in ("Anna", "Bert"):
        await (await server.player(name)).at_table(JoinTable, table=code)
    await server.pass_time(int(LOOK_EVERY * 1000))
    assert await states(server, code) == {"Anna": "racing", "Bert": "racing"}
    await server.pass_time(IDLE_MILLIS)
    assert await states(server, code) == {"Anna": "idle", "Bert": "idle"}


async def test_a_racer_who_was_alone_is_not_idle_when_another_player_joins(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await server.race(anna, cap=20)
    await server.pass_time(IDLE_MILLIS)
    await bert.at_table(JoinTable, table=code)
    await server.pass_time(IDLE_MILLIS - int(LOOK_EVERY * 1000))
    assert await states(server, code) == {"Anna": "racing"}
    await server.pass_time(2 * int(LOOK_EVERY * 1000))
    assert await states(server, code) == {"Anna": "idle"}


async def store_away(server: InProcessServer, millis: int) -> None:
    """Let the time pass while the store answers nothing."""
    server.faults.unavailable = True
    with pytest.raises(StoreUnavailable):
        await server.node.clock.synchronise()
    server.time.at += millis
    await server.settle()
    await server.node.scheduler.sweep()
    server.faults.unavailable = False


async def test_time_in_which_the_store_was_away_counts_as_nobodys_idleness(
    server: InProcessServer,
) -> None:
    anna, bert, code = await server.two_racing(cap=20)
    deadline = server.state(code).deadline
    await store_away(server, 2 * IDLE_MILLIS)
    # another node or a restart changes nothing: the time is noted in the table
    await server.pass_time(1)
    server.time.at += 1
    await server.restart()
    anna, bert = await server.player("Anna"), await server.player("Bert")
    for each in (anna, bert):
        await each.at_table(JoinTable, table=code)
    await anna.moves("draw")
    await server.pass_time(IDLE_MILLIS - int(LOOK_EVERY * 1000))
    assert await states(server, code) == {"Anna": "racing", "Bert": "racing"}
    assert server.state(code).deadline == deadline, "time limits do not extend"
    await anna.moves("draw")
    await server.pass_time(2 * int(LOOK_EVERY * 1000))
    assert await states(server, code) == {"Anna": "racing", "Bert": "idle"}


async def test_a_player_who_could_not_come_back_to_a_store_that_was_away_has_a_full_minute(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, bert)
    await bert.disconnect()
    await store_away(server, ABSENCE_MILLIS - 1)
    await server.node.clock.synchronise()
    await server.pass_time(1)
    await server.pass_time(ABSENCE_MILLIS - 2)
    assert [seat.name for seat in server.state(code).seats] == ["Anna", "Bert"]
    await server.pass_time(1)
    assert [seat.name for seat in server.state(code).seats] == ["Anna"]


HOUR = 60 * 60_000


async def step_clock(server: InProcessServer, millis: int) -> None:
    """Step the store's clock by this much, and let the server read it."""
    server.time.behind -= millis
    server.time.at += 1
    await server.node.clock.synchronise()


async def test_a_clock_stepped_back_in_the_countdown_begins_the_countdown_again(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, bert)
    await counted_down(anna, bert)
    await step_clock(server, -HOUR)
    told = len(anna.received.events)
    await server.pass_time(0)
    (changed,) = anna.received.all(TableChanged, told)
    assert changed.table.start_at == changed.now + COUNTDOWN_MILLIS - CALL_MILLIS
    await server.pass_time(COUNTDOWN_MILLIS)
    for racer in (anna, bert):
        (dealt,) = racer.received.deals()
        assert dealt.start_at == dealt.now == server.time.store_at
        await racer.moves("draw")
    deadline = await server.real.client.command("HGET", race_key(code, 1), "deadline")
    assert int(deadline) == server.time.store_at + 10 * 60_000
