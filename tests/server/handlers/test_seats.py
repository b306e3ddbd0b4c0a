"""Seats: taken, created, left, lost and kept within limits."""

import pytest

from kit.in_process_server import InProcessServer, gathered
from kit.players import MemoryPlayer
from saratoga_protocol.commands import (
    ChangeSettings,
    ClaimName,
    CreateTable,
    GetRecord,
    Hello,
    JoinTable,
    LeaveTable,
    MakeMove,
    Ready,
)
from saratoga_protocol.events import (
    Done,
    Refused,
    Snapshot,
    Standings,
)
from saratoga_protocol.refusals import TAKEN_OVER
from saratoga_server.domain.tables.timers import UNUSED_MILLIS
from saratoga_server.limits import Action, Rate, RateLimiter
from saratoga_server.ports import StoreUnavailable
from saratoga_server.store.tables import TableWrite

# Seats: opening a table, joining, coming back, leaving, and lost connections


async def players(server: InProcessServer, *names: str) -> list[MemoryPlayer]:
    return [await server.player(name) for name in names]


def seated(player: MemoryPlayer) -> list[str]:
    return [seat.name for seat in player.table.seats]


async def test_a_player_sits_at_one_table_at_a_time(server: InProcessServer) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    await gathered(anna)
    code = await gathered(bert)
    assert await anna.refused(CreateTable, game="canfield") == "elsewhere"
    assert await anna.refused(JoinTable, table=code) == "elsewhere"
    await anna.ask(LeaveTable, table=anna.table.code)
    await anna.at_table(JoinTable, table=code)
    assert seated(bert) == ["Bert", "Anna"]


async def test_a_player_without_a_name_cannot_sit_down(server: InProcessServer) -> None:
    (anna,) = await players(server, "Anna")
    code = await gathered(anna)
    nobody = server.connect("nobody")
    await nobody.ask(Hello, token=nobody.token)
    assert await nobody.refused(CreateTable, game="canfield") == "name_needed"
    assert await nobody.refused(JoinTable, table=code) == "name_needed"
    await nobody.at_table(JoinTable, table=code, seat=False)
    await nobody.ask(ClaimName, name="Dora")
    await nobody.at_table(JoinTable, table=code)
    assert seated(anna) == ["Anna", "Dora"]


# Leaving and being kicked


async def test_a_racer_who_leaves_keeps_what_is_banked(server: InProcessServer) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await server.race(anna, bert)
    await bert.moves("draw")
    await bert.ask(LeaveTable, table=code)
    await server.pass_time(250)
    rows = {row.player: row for row in anna.received.all(Standings)[-1].standings}
    assert (rows[bert.player].state, rows[bert.player].banked) == ("left", 1)
    assert rows[anna.player].state == "racing"
    assert await bert.refused(MakeMove, race=f"{code}/1", after=1, move="draw") == "not_seated"
    await anna.cash_out()
    await server.settle()
    assert anna.table.phase == "over"


# Taking over


async def test_a_newer_connection_takes_the_seat_and_the_older_is_closed(
    server: InProcessServer,
) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await server.race(anna, bert)
    await anna.moves("draw")
    newer = await server.player("Anna")
    snapshot = await newer.at_table(JoinTable, table=code)
    assert snapshot.board == anna.board
    assert anna.close_codes == [TAKEN_OVER.code]
    assert await anna.refused(MakeMove, race=f"{code}/1", after=1, move="draw") == "not_seated"
    await newer.moves("draw")
    await anna.disconnect()
    assert [seat.connected for seat in bert.table.seats] == [True, True]
    assert (newer.close_codes, bert.close_codes) == ([], [])


async def claim_without_reply(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch, player: MemoryPlayer
) -> None:
    """Let the player claim the own seat: the store writes it, and its reply is lost."""
    save = server.store.tables.save_table

    async def unanswered(write: TableWrite) -> None:
        await save(write)
        raise StoreUnavailable("the store does not answer")

    with monkeypatch.context() as patch:
        patch.setattr(server.store.tables, "save_table", unanswered)
        assert await player.refused(JoinTable, table=player.table.code) == "store_unavailable"


async def test_a_connection_is_not_taken_over_by_its_own_claim_whose_reply_was_lost(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await gathered(anna, bert)
    await claim_without_reply(server, monkeypatch, anna)
    for _ in range(2):
        await server.node.scheduler.sweep()
    assert isinstance(await anna.ready(), Done)
    assert isinstance(await anna.ask(JoinTable, table=code), Snapshot)
    await server.node.scheduler.sweep()
    assert anna.close_codes == []
    await anna.disconnect()
    assert [seat.connected for seat in bert.table.seats] == [False, True]


async def test_a_move_fenced_by_the_own_claim_whose_reply_was_lost_may_be_repeated(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    await server.race(anna, bert)
    await claim_without_reply(server, monkeypatch, anna)
    answer = await anna.move("draw")
    assert isinstance(answer, Refused)
    assert (answer.code, answer.retry) == ("store_unavailable", True)
    await anna.moves("draw")
    assert anna.close_codes == []


async def test_a_connection_whose_reply_was_lost_gives_way_to_a_newer_one(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (anna,) = await players(server, "Anna")
    code = await server.race(anna)
    newer = await server.player("Anna")
    await claim_without_reply(server, monkeypatch, anna)
    await newer.at_table(JoinTable, table=code)
    assert anna.close_codes == [TAKEN_OVER.code]
    assert newer.close_codes == []


KEY = "a" * 32


# Opening and joining


async def test_a_repeated_create_table_does_not_open_a_closed_table_again(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    assert isinstance(await anna.ask(CreateTable, game="canfield", key=KEY), Snapshot)
    await server.pass_time(UNUSED_MILLIS)
    again = await anna.ask(CreateTable, game="canfield", key=KEY)
    assert isinstance(again, Snapshot)
    assert again.table.phase == "closed"
    assert len(await server.codes()) == 1


async def test_a_create_table_whose_reply_was_lost_has_one_table_when_repeated(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    server.faults.lost_replies = 1
    assert await anna.refused(CreateTable, game="canfield", key=KEY) == "store_unavailable"
    done = await anna.ask(CreateTable, game="canfield", key=KEY)
    assert isinstance(done, Snapshot)
    assert [done.table.code] == await server.codes()
    assert anna.session.seat == done.table.code
    await anna.ask(LeaveTable, table=done.table.code)
    assert isinstance(await anna.ask(CreateTable, game="canfield", key="b" * 32), Snapshot)


# Limits


def limited(player: MemoryPlayer, act: Action, times: int) -> None:
    """Limit how often a player may do this: `times` at once, then once a minute."""
    limiter = RateLimiter(lambda: 0.0, per_player={act: Rate(times, 60.0)})
    player.session.quota = limiter.open("203.0.113.7")
    player.session.quota.authenticated(player.player)


async def test_only_wrong_codes_count_against_the_limit(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(bert)
    limited(anna, Action.WRONG_CODE, 2)
    for _ in range(5):
        assert isinstance(await anna.ask(JoinTable, table=code, seat=False), Snapshot)
        assert isinstance(await anna.ask(LeaveTable, table=code), Done)
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
    await anna.ask(JoinTable, table=other, seat=False)
    limited(anna, Action.WRONG_CODE, 1)
    assert await anna.refused(JoinTable, table="odd-emu-11", seat=False) == "no_such_table"
    assert await anna.refused(JoinTable, table="odd-emu-12", seat=False) == "too_fast"
    assert isinstance(await anna.ask(ChangeSettings, table=code, cap=5), Done)
    assert isinstance(await anna.ask(JoinTable, table=other, seat=False), Snapshot)
    assert isinstance(await anna.ask(ChangeSettings, table=code, cap=10), Done)
    back = server.connect("Anna")
    await back.hello()
    limited(back, Action.WRONG_CODE, 1)
    assert await back.refused(JoinTable, table="odd-emu-11", seat=False) == "no_such_table"
    assert isinstance(await back.ask(JoinTable, table=code), Snapshot)


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
