"""The stored logs of a race: what can be replayed of them, and which boards have ended."""

from redis.asyncio import Redis

from kit.in_process_server import InProcessServer
from saratoga_protocol.commands import CashOut
from saratoga_protocol.events import MoveMade
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_server.live.stored_logs import StoredLogs
from saratoga_server.store.keys import race_key


async def test_the_logs_of_a_race_say_which_boards_have_ended(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await server.race(anna, bert)
    assert isinstance(await anna.move("draw"), MoveMade)
    assert isinstance(await bert.ask(CashOut, race=f"{code}/1"), MoveMade)
    logs, state = StoredLogs(server.store.boards, deal_for_key), server.state(code)
    read = await logs.readable(state)
    texts = {player: [entry.text for entry in log.entries] for player, log in read.items()}
    assert texts == {anna.player: ["draw"], bert.player: ["cash-out"]}
    assert [player for player, log in read.items() if log.has_ended] == [bert.player]
    assert all(log.is_complete for log in read.values())


async def test_a_log_with_a_damaged_entry_is_not_complete(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    code = await server.race(anna)
    for _ in range(2):
        assert isinstance(await anna.move("draw"), MoveMade)
    log = f"{race_key(code, 1)}:log:{anna.player}"
    async with Redis.from_url(server.store.server.url) as raw:
        await raw.lset(log, 1, "no entry")
    logs, state = StoredLogs(server.store.boards, deal_for_key), server.state(code)
    (read,) = (await logs.readable(state)).values()
    assert (read.entries, read.is_complete) == ((), False)
