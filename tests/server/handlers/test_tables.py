"""Commands at a table: seats, watching, settings, lock, ready, start, reveal, end race, next race."""

import asyncio

import pytest

from kit.in_process_server import InProcessServer, beside, counted, counted_down, gathered
from kit.players import MemoryPlayer
from kit.tables import nonce, nonce_hash
from saratoga_protocol.commands import (
    AllowReady,
    CashOut,
    ChangeSettings,
    ClaimName,
    CreateTable,
    EndRace,
    GetRecord,
    Hello,
    JoinTable,
    Kick,
    LeaveTable,
    LockTable,
    NextRace,
    Ready,
    Reveal,
    Start,
)
from saratoga_protocol.events import BoardChanged, Done, RaceOver, Refused, Snapshot, Standings
from saratoga_rules.records.record import digest_of, parse_record
from saratoga_rules.records.verify import verify
from saratoga_server.domain.tables.countdown import CALL_MILLIS, COUNTDOWN_MILLIS, REVEAL_MILLIS
from saratoga_server.handlers.seats import MOST_WATCHED
from saratoga_server.limits import Action, Rate, RateLimiter
from saratoga_server.ports import LiveStanding, StoreUnavailable
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


# Taking over


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


KEY = "a" * 32


# Opening and joining


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


async def test_changing_a_table_is_limited(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    code = await gathered(anna)
    limited(anna, Action.CHANGE, 2)
    for cap in (3, 5):
        assert isinstance(await anna.ask(ChangeSettings, table=code, cap=cap), Done)
    assert await anna.refused(ChangeSettings, table=code, cap=10) == "too_fast"
    assert anna.table.settings.cap == 5


# Watching tables: the events for watchers, their number, and the end of watching


async def test_a_watcher_sees_standings_and_never_a_board(server: InProcessServer) -> None:
    anna, bert, wanda = await players(server, "Anna", "Bert", "Wanda")
    code = await server.race(anna, bert)
    snapshot = await wanda.at_table(JoinTable, table=code, seat=False)
    assert snapshot.board is None
    assert [row.banked for row in snapshot.standings] == [1, 1]
    await anna.moves("draw")
    await server.pass_time(250)
    assert wanda.received.all(Standings) == [], "tells of a move that banks nothing"
    await anna.cash_out()
    await server.pass_time(250)
    rows = {row.player: row.state for row in wanda.received.all(Standings)[-1].standings}
    assert rows == {anna.player: "cash-out", bert.player: "racing"}
    assert wanda.received.deals() == []
    assert wanda.received.endings() == []


async def test_a_player_who_only_watches_from_a_second_tab_is_refused_and_may_stay(
    server: InProcessServer,
) -> None:
    (anna,) = await players(server, "Anna")
    code = await gathered(anna)
    (tab,) = await players(server, "Anna")
    await tab.at_table(JoinTable, table=code, seat=False)
    assert await tab.refused(LockTable, table=code, locked=True) == "taken_over"
    assert tab.close_codes == []


async def test_one_connection_watches_a_limited_number_of_tables(
    server: InProcessServer,
) -> None:
    (wanda,) = await players(server, "Wanda")
    codes = []
    for number in range(MOST_WATCHED + 1):
        host = await server.player(f"Host {number + 10}")
        codes.append(await gathered(host))
    for code in codes[:-1]:
        await wanda.at_table(JoinTable, table=code, seat=False)
    answer = await wanda.ask(JoinTable, table=codes[-1], seat=False)
    # a limit that lasts: a client that repeated the command would loop for ever
    assert (answer.code, answer.retry) == ("watch_limit", False)
    await wanda.at_table(JoinTable, table=codes[0], seat=False)
    await wanda.ask(LeaveTable, table=codes[0])
    await wanda.at_table(JoinTable, table=codes[-1], seat=False)


# The number of watchers


async def test_a_full_table_of_watchers_still_takes_a_player(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.handlers.seats.MAX_WATCHERS", 1)
    anna, bert, cleo = [await server.player(name) for name in ("Anna", "Bert", "Cleo")]
    code = await gathered(anna)
    await bert.ask(JoinTable, table=code, seat=False)
    await bert.ask(JoinTable, table=code, seat=False)
    assert await cleo.refused(JoinTable, table=code, seat=False) == "table_full"
    assert isinstance(await cleo.ask(JoinTable, table=code), Snapshot)
    await bert.ask(LeaveTable, table=code)
    assert isinstance(await cleo.ask(JoinTable, table=code, seat=False), Snapshot)


async def test_watchers_of_one_address_leave_room_for_others_at_a_table(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.limits.MAX_WATCHERS_PER_ADDRESS", 2)
    limiter = RateLimiter(server.time.steady)
    anna = await server.player("Anna")
    code = await gathered(anna)
    crowd = [await server.player(name) for name in ("Bert", "Cleo", "Dan")]
    outside = await server.player("Emma")
    for player in crowd:
        player.session.quota = limiter.open("203.0.113.7")
    outside.session.quota = limiter.open("198.51.100.9")
    bert, cleo, dan = crowd
    for player in (bert, cleo, bert):
        assert isinstance(await player.ask(JoinTable, table=code, seat=False), Snapshot)
    assert await dan.refused(JoinTable, table=code, seat=False) == "table_full"
    assert isinstance(await outside.ask(JoinTable, table=code, seat=False), Snapshot)
    await cleo.ask(LeaveTable, table=code)
    assert isinstance(await dan.ask(JoinTable, table=code, seat=False), Snapshot)


# Snapshots: the first event that a connection receives about a table


async def test_a_racer_is_sent_the_own_board_and_everybodys_standing(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna", legal=True), await server.player("Bert")
    code = await server.race(anna, bert)
    await anna.moves("draw")
    await bert.moves("draw", "draw")
    back = await server.player("Anna", legal=True)
    snapshot = await back.at_table(JoinTable, table=code)
    assert (snapshot.board, snapshot.now) == (anna.board, server.time.at)
    assert {row.player for row in snapshot.standings} == {anna.player, bert.player}
    without = await (await server.player("Bert")).at_table(JoinTable, table=code)
    assert without.board is not None
    assert (without.board.count, without.board.legal) == (2, None)


async def test_after_a_race_there_is_its_outcome(server: InProcessServer) -> None:
    anna, bert, code = await server.two_racing()
    for racer in (anna, bert):
        await racer.cash_out()
    await server.settle()
    (over,) = anna.received.all(RaceOver)
    await bert.ask(LeaveTable, table=code)
    snapshot = await bert.at_table(JoinTable, table=code, seat=False)
    assert (snapshot.outcome, snapshot.board, snapshot.standings) == (over.outcome, None, [])
    await anna.ask(NextRace, table=code)
    assert (await bert.at_table(JoinTable, table=code, seat=False)).table.phase == "gathering"


async def test_a_race_that_ends_while_its_standings_are_read_is_sent_as_over_with_its_outcome(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with beside(server) as nodes:
        anna, wanda = await nodes.east.player("Anna"), await nodes.west.player("Wanda")
        code = await nodes.race(anna)
        boards = nodes.west.store.boards
        read = boards.load_standings

        async def slowly(table: str, race: int) -> dict[str, LiveStanding]:
            monkeypatch.setattr(boards, "load_standings", read)
            standings = await read(table, race)
            await anna.cash_out()
            await nodes.settle()
            return standings

        monkeypatch.setattr(boards, "load_standings", slowly)
        snapshot = await wanda.at_table(JoinTable, table=code, seat=False)
        (over,) = anna.received.all(RaceOver)
        assert (snapshot.table.phase, snapshot.outcome) == ("over", over.outcome)
        assert (snapshot.board, snapshot.standings) == (None, [])


async def test_a_missing_nonce_voids_the_countdown_and_the_notice_names_the_player(
    server: InProcessServer,
) -> None:
    anna, bert, cleo = await players(server, "Anna", "Bert", "Cleo")
    code = await gathered(anna, bert, cleo)
    for player in (anna, bert, cleo):
        await player.ready()
    await anna.ask(Start, table=code)
    await anna.reveal()
    commitment, race = anna.table.commitment, anna.table.race
    await server.pass_time(REVEAL_MILLIS - CALL_MILLIS - 1)
    assert anna.table.phase == "countdown"
    await server.pass_time(1)
    for player in (anna, bert):
        assert player.table.phase == "gathering"
        assert player.table.notice == (
            "The countdown was voided: no nonce came from Bert and Cleo in time. "
            "There is a new deal: get ready again."
        )
        assert player.table.commitment != commitment
        assert not any(seat.ready for seat in player.table.seats)
        assert player.table.race == f"{code}/2"
        voided = player.table.previous
        assert voided is not None
        assert (voided.race, voided.reason) == (race, "nonce-missing")
        assert voided.blamed == sorted([bert.player, cleo.player])
        shown = player.table
        assert (shown.racers, shown.reveal_by, shown.start_at, shown.deadline) == ([], 0, 0, 0)
    assert counted(server.node.metrics, "races_voided_total", reason="nonce-missing") == 1
    assert voided is not None
    record = await bert.ask(GetRecord, race=race)
    assert digest_of(record.text) == voided.digest
    assert verify(record.text).ok
    read = parse_record(record.text)
    assert list(read.blamed) == voided.blamed
    hashes = {racer.player: racer.nonce_hash for racer in read.racers if not racer.nonce}
    assert hashes == {player: nonce_hash(player) for player in voided.blamed}
    for player in (bert, cleo):
        await anna.ask(AllowReady, table=code, player=player.player)
    await server.deal(anna, bert, cleo)
    for player in (anna, bert, cleo):
        await player.cash_out()
    await server.settle()
    finished = parse_record((await bert.ask(GetRecord, race=f"{code}/2")).text)
    assert verify(finished).ok
    assert finished.previous == (race, voided.digest)


async def test_a_nonce_that_came_in_time_counts_if_the_table_was_held_until_later(
    server: InProcessServer,
) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await gathered(anna, bert)
    for player in (anna, bert):
        await player.ready()
    await anna.ask(Start, table=code)
    await anna.reveal()
    table = server.node.tables.known(code)
    assert table is not None
    async with table.lock:
        revealed = asyncio.ensure_future(bert.reveal())
        await asyncio.sleep(0)  # the command arrives, and waits for the table
        server.time.at = table.state.reveal_by + 1
    assert isinstance(await revealed, Done)
    assert table.state.deal_key


async def test_the_host_ends_the_last_racing_board_after_a_minute(server: InProcessServer) -> None:
    anna, bert, cleo = await players(server, "Anna", "Bert", "Cleo")
    code = await server.race(anna, bert, cleo)
    race = f"{code}/1"
    await anna.cash_out()
    await cleo.cash_out()
    await server.settle()
    assert bert.table.last_racer == bert.player
    assert bert.table.notice.startswith("Only Bert is still racing. Anna may end the race")
    assert isinstance(await anna.ask(EndRace, race=race), Done), "Bert may agree"
    wait = bert.table.end_from - server.time.at
    await bert.moves("draw")
    await server.pass_time(wait)
    assert isinstance(await cleo.ask(EndRace, race=race), Done), "not the host: a vote"
    await server.settle()
    assert (await server.board(code, bert.player)).state == "racing"
    command = EndRace(id=50, race=race)
    assert isinstance(await anna.send(command), Done)
    assert isinstance(await anna.send(command), Done), "said again"
    await server.settle()
    (ended,) = bert.received.endings()
    assert (ended.board.state, ended.board.count) == ("ended-by-host", 2)
    assert len(bert.received.all(RaceOver)) == 1
    assert (bert.table.notice, bert.table.end_from) == ("Anna has ended the race.", 0)
    record = await server.record(code)
    assert record is not None
    assert " ended-by-host\n" in record
    assert verify(record).ok


# Commands that say what they act on, and commands that are not built yet


async def test_a_command_that_was_meant_for_something_else_is_refused(
    server: InProcessServer,
) -> None:
    anna, bert = await players(server, "Anna", "Bert")
    code = await gathered(anna, bert)
    epoch = next(seat.epoch for seat in anna.table.seats if seat.player == bert.player)
    for kind, given, code_of in (
        (ChangeSettings, {"commitment": "0" * 64, "game": "caprice"}, "wrong_commitment"),
        (Ready, {"commitment": "0" * 64, "nonce_hash": "0" * 64}, "wrong_commitment"),
        (Kick, {"player": bert.player, "epoch": epoch + 1}, "no_such_player"),
        (LockTable, {"race": f"{code}/2"}, "no_such_race"),
        (Start, {"race": f"{code}/2"}, "no_such_race"),
        (NextRace, {"race": f"{code}/2"}, "no_such_race"),
    ):
        assert await anna.refused(kind, table=code, **given) == code_of, kind
    right = {"table": code, "race": anna.table.race}
    assert isinstance(await anna.ask(LockTable, **right), Done)
    commitment = anna.table.commitment
    changed = {"table": code, "commitment": commitment, "game": "caprice"}
    assert isinstance(await anna.ask(ChangeSettings, **changed), Done)
    await counted_down(anna, bert)
    wrong = {"table": code, "commitment": commitment, "nonce": nonce(bert.player)}
    assert await bert.refused(Reveal, **wrong) == "wrong_commitment"
    await server.pass_time(COUNTDOWN_MILLIS)
    race = anna.table.race
    assert await anna.refused(CashOut, race=race, after=1) == "stale_move"
    assert isinstance(await anna.ask(CashOut, race=race, after=0), BoardChanged)
    kicked = {"player": bert.player, "epoch": epoch}
    await bert.cash_out()
    await server.settle()
    assert isinstance(await anna.ask(Kick, table=code, **kicked), Done)
