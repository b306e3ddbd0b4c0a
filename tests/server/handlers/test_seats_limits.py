"""Limits on seat commands: guessed codes, new tables and changes of a table."""

from kit.in_process_server import InProcessServer, gathered
from kit.players import MemoryPlayer
from saratoga_protocol.commands import (
    ChangeSettings,
    CreateTable,
    GetRecord,
    JoinTable,
    LeaveTable,
    Ready,
    Resume,
    UnwatchTable,
    WatchTable,
)
from saratoga_protocol.events import (
    Done,
    Snapshot,
)
from saratoga_server.rate_limits.limiter import NO_CONNECTION, RateLimiter
from saratoga_server.rate_limits.rates import Action, Rate

# Limits


def limited(player: MemoryPlayer, act: Action, times: int) -> None:
    """Limit how often a player may do this: `times` at once, then once a minute."""
    limiter = RateLimiter(lambda: 0.0, per_player={act: Rate(times, 60.0)})
    player.session.quota = limiter.open("203.0.113.7", NO_CONNECTION)
    player.session.quota.authenticated(player.player)


async def test_only_wrong_codes_count_against_the_limit(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(bert)
    limited(anna, Action.WRONG_CODE, 2)
    for _ in range(5):
        assert isinstance(await anna.ask(WatchTable, table=code), Snapshot)
        assert isinstance(await anna.ask(UnwatchTable, table=code), Done)
    assert await anna.refused(JoinTable, table="odd-emu-11") == "no_such_table"
    assert await anna.refused(GetRecord, race="odd-emu-12/1") == "no_such_table"
    answer = await anna.ask(Ready, table="odd-emu-13", commitment="a" * 64, nonce_hash="b" * 64)
    assert (answer.code, answer.wait) == ("too_fast", 60_000)
    # from now on only codes of the player's own tables are looked up
    assert await anna.refused(JoinTable, table=code) == "too_fast"
    assert await anna.refused(GetRecord, race=f"{code}/1") == "too_fast"


async def test_codes_of_own_and_watched_tables_are_no_guesses(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna)
    other = await gathered(bert)
    await anna.ask(WatchTable, table=other)
    limited(anna, Action.WRONG_CODE, 1)
    assert await anna.refused(WatchTable, table="odd-emu-11") == "no_such_table"
    assert await anna.refused(WatchTable, table="odd-emu-12") == "too_fast"
    assert isinstance(await anna.ask(ChangeSettings, table=code, cap=5), Done)
    assert isinstance(await anna.ask(WatchTable, table=other), Snapshot)
    assert isinstance(await anna.ask(ChangeSettings, table=code, cap=10), Done)
    back = server.connect("Anna")
    await back.hello()
    limited(back, Action.WRONG_CODE, 1)
    assert await back.refused(WatchTable, table="odd-emu-11") == "no_such_table"
    assert isinstance(await back.ask(Resume, table=code), Snapshot)


async def test_creating_tables_is_limited(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    limited(anna, Action.TABLE, 1)
    code = await gathered(anna)
    await anna.ask(LeaveTable, table=code)
    answer = await anna.ask(CreateTable, game="canfield")
    assert (answer.code, answer.retry, answer.wait) == ("too_fast", True, 60_000)


async def test_changing_a_table_is_limited(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    code = await gathered(anna)
    limited(anna, Action.CHANGE, 2)
    for cap in (3, 5):
        assert isinstance(await anna.ask(ChangeSettings, table=code, cap=cap), Done)
    assert await anna.refused(ChangeSettings, table=code, cap=10) == "too_fast"
    assert anna.table.settings.cap == 5
