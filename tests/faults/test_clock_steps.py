"""The store's clock is stepped while players count down or race, on one node and on two."""

from kit.in_process_server import InProcessServer, counted_down, gathered
from saratoga_protocol.events import Dealt, TableChanged
from saratoga_server.domain.tables.countdown import CALL_MILLIS, COUNTDOWN_MILLIS
from saratoga_server.store.keys import race_key

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
        (dealt,) = racer.received.all(Dealt)
        assert dealt.start_at == dealt.now == server.time.store_at
        await racer.moves("draw")
    deadline = await server.real.client.command("HGET", race_key(code, 1), "deadline")
    assert int(deadline) == server.time.store_at + 10 * 60_000
