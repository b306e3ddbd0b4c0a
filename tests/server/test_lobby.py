"""Tables as players ask for them: coming, going, taking over, getting ready, watching."""

import pytest

from kit.guests import GuestInMemory
from kit.rooms import HouseInMemory, counted_down, gathered
from kit.tables import nonce, nonce_hash
from saratoga_protocol.commands import (
    ChangeSettings,
    ClaimName,
    CreateTable,
    Hello,
    JoinTable,
    Kick,
    LeaveTable,
    ListTables,
    MakeMove,
    NextRace,
    NotReady,
    Ready,
    Resume,
    Reveal,
    Start,
    UnwatchTable,
    WatchTable,
)
from saratoga_protocol.events import (
    BoardEnded,
    Dealt,
    Done,
    Refused,
    SeatLost,
    Snapshot,
    Standings,
    TableChanged,
    Tables,
)
from saratoga_protocol.refusals import TAKEN_OVER
from saratoga_server.lobby import MOST_WATCHED
from saratoga_server.table.countdown import COUNTDOWN_MILLIS, REVEAL_MILLIS
from saratoga_server.table.timers import ABSENCE_MILLIS, ALONE_MILLIS, EMPTY_MILLIS, IDLE_MILLIS

AWAY = "odd-emu-11"
"""A code that no table has."""


async def guests(rooms: HouseInMemory, *names: str) -> list[GuestInMemory]:
    return [await rooms.guest(name) for name in names]


def seated(guest: GuestInMemory) -> list[str]:
    return [seat.name for seat in guest.table.seats]


# Opening and joining


async def test_who_opens_a_table_is_its_host(rooms: HouseInMemory) -> None:
    (anna,) = await guests(rooms, "Anna")
    snapshot = await anna.at_table(CreateTable, game="caprice", cap=5, seats=3, public=True)
    assert snapshot.table.host == anna.player
    assert (snapshot.table.phase, snapshot.table.race) == (
        "gathering",
        f"{snapshot.table.code}/1",
    )
    settings = snapshot.table.settings
    assert (settings.game, settings.cap, settings.seats, settings.public) == (
        "caprice",
        5,
        3,
        True,
    )
    assert seated(anna) == ["Anna"]


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"game": "klondike"}, "no_such_game"),
        ({"game": "canfield", "cap": 4}, "bad_settings"),
        ({"game": "canfield", "cap": 0, "public": True}, "bad_settings"),
    ],
)
async def test_a_table_needs_settings_that_go_together(
    rooms: HouseInMemory, settings: dict[str, object], code: str
) -> None:
    (anna,) = await guests(rooms, "Anna")
    assert await anna.refused(CreateTable, **settings) == code
    assert rooms.fake.tables == {}


async def test_asking_again_for_a_table_gives_the_same_table(rooms: HouseInMemory) -> None:
    (anna,) = await guests(rooms, "Anna")
    command = CreateTable(id=7, game="canfield")
    first, again = await anna.say(command), await anna.say(command)
    assert isinstance(first, Snapshot)
    assert isinstance(again, Snapshot)
    assert again.table.code == first.table.code
    assert len(rooms.fake.tables) == 1
    assert anna.sent_away == []


async def test_asking_again_for_a_table_gives_the_same_table_after_a_restart(
    rooms: HouseInMemory,
) -> None:
    (anna,) = await guests(rooms, "Anna")
    command = CreateTable(id=7, game="canfield")
    first = await anna.say(command)
    await rooms.restart()
    back = await rooms.guest("Anna")
    again = await back.say(command)
    assert isinstance(first, Snapshot)
    assert isinstance(again, Snapshot)
    assert again.table.code == first.table.code
    assert len(rooms.fake.tables) == 1


async def test_a_table_whose_answer_was_lost_is_there_when_asked_for_again(
    rooms: HouseInMemory,
) -> None:
    (anna,) = await guests(rooms, "Anna")
    command = CreateTable(id=7, game="canfield")
    codes = set()
    for lost in (3, 2, 1):  # the code, the table, the seat's note
        rooms.fake.lose_answers = lost
        while rooms.fake.lose_answers:
            answer = await anna.say(command)
            assert isinstance(answer, Refused)
            assert answer.code == "store_unavailable"
        done = await anna.say(command)
        assert isinstance(done, Snapshot)
        codes.add(done.table.code)
    assert len(codes) == len(rooms.fake.tables) == 1


async def test_one_sits_at_one_table_at_a_time(rooms: HouseInMemory) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    await gathered(anna)
    code = await gathered(bert)
    assert await anna.refused(CreateTable, game="canfield") == "elsewhere"
    assert await anna.refused(JoinTable, table=code) == "elsewhere"
    await anna.ask(LeaveTable, table=anna.table.code)
    await anna.at_table(JoinTable, table=code)
    assert seated(bert) == ["Bert", "Anna"]


async def test_without_a_name_nobody_sits_down(rooms: HouseInMemory) -> None:
    (anna,) = await guests(rooms, "Anna")
    code = await gathered(anna)
    nobody = rooms.stranger("nobody")
    await nobody.ask(Hello, token=nobody.token)
    assert await nobody.refused(CreateTable, game="canfield") == "name_needed"
    assert await nobody.refused(JoinTable, table=code) == "name_needed"
    await nobody.at_table(WatchTable, table=code)
    await nobody.ask(ClaimName, name="Dora")
    await nobody.at_table(JoinTable, table=code)
    assert seated(anna) == ["Anna", "Dora"]


async def test_a_full_table_takes_nobody(rooms: HouseInMemory) -> None:
    anna, bert, cleo = await guests(rooms, "Anna", "Bert", "Cleo")
    snapshot = await anna.at_table(CreateTable, game="canfield", seats=2)
    await bert.at_table(JoinTable, table=snapshot.table.code)
    assert await cleo.refused(JoinTable, table=snapshot.table.code) == "table_full"
    await bert.ask(LeaveTable, table=snapshot.table.code)
    await cleo.at_table(JoinTable, table=snapshot.table.code)


@pytest.mark.parametrize("kind", [JoinTable, Resume, WatchTable, LeaveTable, Start, NotReady])
async def test_a_table_that_is_not_there_is_told_apart(rooms: HouseInMemory, kind: type) -> None:
    (anna,) = await guests(rooms, "Anna")
    assert await anna.refused(kind, table=AWAY) == "no_such_table"


@pytest.mark.parametrize("kind", [Resume, LeaveTable, Start, NextRace, NotReady])
async def test_only_who_is_seated_does_things_at_a_table(rooms: HouseInMemory, kind: type) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna)
    assert await bert.refused(kind, table=code) == "not_seated"
    await bert.at_table(WatchTable, table=code)
    assert await bert.refused(kind, table=code) == "not_seated"


# Going and being sent away


async def test_who_leaves_is_gone_and_may_come_again(rooms: HouseInMemory) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna, bert)
    command = LeaveTable(id=50, table=code)
    assert isinstance(await bert.say(command), Done)
    assert isinstance(await bert.say(command), Done), "said again"
    assert seated(anna) == ["Anna"]
    told = len(bert.heard.events)
    await anna.ready()
    assert bert.heard.events[told:] == []
    await bert.at_table(JoinTable, table=code)
    assert seated(anna) == ["Anna", "Bert"]


async def test_a_watcher_who_leaves_the_seat_goes_on_watching(rooms: HouseInMemory) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna)
    await bert.at_table(WatchTable, table=code)
    await bert.at_table(JoinTable, table=code)
    await bert.ask(LeaveTable, table=code)
    told = len(bert.heard.events)
    await anna.ready()
    assert len(bert.heard.all(TableChanged, told)) == 1


async def test_who_is_kicked_is_told_and_stays_away(rooms: HouseInMemory) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna, bert)
    assert await bert.refused(Kick, table=code, player=anna.player) == "host_only"
    assert await anna.refused(Kick, table=code, player="b" * 16) == "no_such_player"
    assert await anna.refused(Kick, table=code, player=anna.player) == "no_such_player"
    assert isinstance(await anna.ask(Kick, table=code, player=bert.player), Done)
    (lost,) = bert.heard.all(SeatLost)
    assert lost.table == code
    assert await bert.refused(JoinTable, table=code) == "kicked"
    assert await bert.refused(Resume, table=code) == "not_seated"
    await gathered(bert)  # free for another table


async def test_if_the_host_goes_the_next_seat_is_host(rooms: HouseInMemory) -> None:
    anna, bert, cleo = await guests(rooms, "Anna", "Bert", "Cleo")
    code = await gathered(anna, bert, cleo)
    await anna.ask(LeaveTable, table=code)
    assert cleo.table.host == bert.player
    assert "Bert is host now" in cleo.table.notice
    assert await cleo.refused(ChangeSettings, table=code, cap=3) == "host_only"
    assert isinstance(await bert.ask(ChangeSettings, table=code, cap=3), Done)


async def test_a_lost_connection_keeps_its_seat_for_a_minute(rooms: HouseInMemory) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    await gathered(anna, bert)
    await anna.hang_up()
    assert [seat.connected for seat in bert.table.seats] == [False, True]
    await rooms.pass_time(ABSENCE_MILLIS - 1)
    assert seated(bert) == ["Anna", "Bert"]
    await rooms.pass_time(1)
    assert seated(bert) == ["Bert"]
    assert bert.table.host == bert.player


async def test_who_leaves_in_mid_race_keeps_what_is_banked(rooms: HouseInMemory) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await rooms.race(anna, bert)
    await bert.moves("draw")
    await bert.ask(LeaveTable, table=code)
    await rooms.pass_time(250)
    rows = {row.player: row for row in anna.heard.all(Standings)[-1].standings}
    assert (rows[bert.player].state, rows[bert.player].banked) == ("left", 1)
    assert rows[anna.player].state == "racing"
    assert await bert.refused(MakeMove, race=f"{code}/1", after=1, move="draw") == "not_seated"
    await anna.cash_out()
    await rooms.settle()
    assert anna.table.phase == "over"


async def test_who_is_away_too_long_in_mid_race_has_left(rooms: HouseInMemory) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    await rooms.race(anna, bert)
    await bert.hang_up()
    await rooms.pass_time(ABSENCE_MILLIS)
    rows = {row.player: row.state for row in anna.heard.all(Standings)[-1].standings}
    assert rows == {anna.player: "racing", bert.player: "left"}


async def test_who_leaves_the_countdown_voids_it(rooms: HouseInMemory) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna, bert)
    await counted_down(anna, bert)
    commitment = anna.table.commitment
    await bert.ask(LeaveTable, table=code)
    assert (anna.table.phase, anna.table.commitment != commitment) == ("gathering", True)
    await rooms.pass_time(COUNTDOWN_MILLIS)
    assert anna.heard.all(Dealt) == []


# Taking over


async def test_a_newer_connection_takes_over_and_the_older_is_told(rooms: HouseInMemory) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await rooms.race(anna, bert)
    await anna.moves("draw")
    newer = await rooms.guest("Anna")
    snapshot = await newer.at_table(Resume, table=code)
    assert snapshot.board == anna.board
    assert anna.sent_away == [TAKEN_OVER.code]
    assert await anna.refused(MakeMove, race=f"{code}/1", after=1, move="draw") == "not_seated"
    await newer.moves("draw")
    await anna.hang_up()
    assert [seat.connected for seat in bert.table.seats] == [True, True]
    assert (newer.sent_away, bert.sent_away) == ([], [])


async def test_sitting_down_again_where_one_sits_is_no_takeover(rooms: HouseInMemory) -> None:
    (anna,) = await guests(rooms, "Anna")
    code = await rooms.race(anna)
    for kind in (JoinTable, Resume, JoinTable):
        await anna.at_table(kind, table=code)
    assert anna.sent_away == []
    await anna.moves("draw")


async def test_a_resumed_seat_gets_the_board_the_clock_and_the_next_id(
    rooms: HouseInMemory,
) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await rooms.race(anna, bert)
    await anna.moves("draw", "draw")
    await anna.hang_up()
    rooms.time.at += 5000
    back = await rooms.guest("Anna")
    snapshot = await back.at_table(Resume, table=code)
    assert snapshot.now == rooms.time.at
    assert snapshot.board == anna.board
    assert snapshot.next_id == anna.last_id + 1
    assert {row.player for row in snapshot.standings} == {anna.player, bert.player}


async def test_after_a_move_that_the_store_kept_unanswered_the_snapshot_has_it(
    rooms: HouseInMemory,
) -> None:
    (anna,) = await guests(rooms, "Anna")
    code = await rooms.race(anna)
    rooms.fake.lose_answers = 1
    await anna.move("draw")
    back = await rooms.guest("Anna")
    snapshot = await back.at_table(Resume, table=code)
    assert snapshot.board is not None
    assert (snapshot.board.count, snapshot.next_id) == (1, anna.last_id + 1)


# Getting ready


async def test_ready_names_the_commitment_of_the_coming_deal(rooms: HouseInMemory) -> None:
    (anna,) = await guests(rooms, "Anna")
    code = await gathered(anna)
    old = anna.table.commitment
    await anna.ask(ChangeSettings, table=code, cap=3)
    assert anna.table.commitment != old
    said = {"table": code, "nonce_hash": nonce_hash(anna.player)}
    assert await anna.refused(Ready, commitment=old, **said) == "wrong_commitment"
    assert await anna.refused(Ready, commitment="0" * 64, **said) == "wrong_commitment"
    assert isinstance(await anna.ready(), Done)


async def test_a_change_of_settings_clears_the_ready_marks(rooms: HouseInMemory) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna, bert)
    await anna.ready()
    await bert.ready()
    assert [seat.ready for seat in anna.table.seats] == [True, True]
    await anna.ask(ChangeSettings, table=code, game="lafayette")
    assert [seat.ready for seat in bert.table.seats] == [False, False]
    assert await anna.refused(Start, table=code) == "nobody_ready"


async def test_only_the_host_starts(rooms: HouseInMemory) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna, bert)
    await bert.ready()
    assert await bert.refused(Start, table=code) == "host_only"
    assert await anna.refused(Start, table=code) == "nobody_ready"
    await anna.ready()
    await anna.ask(NotReady, table=code)
    assert await anna.refused(Start, table=code) == "nobody_ready"
    await anna.ready()
    command = Start(id=50, table=code)
    assert isinstance(await anna.say(command), Done)
    assert isinstance(await anna.say(command), Done), "said again"
    assert bert.table.racers == [anna.player, bert.player]


async def test_who_is_not_ready_or_comes_late_sits_this_one_out(rooms: HouseInMemory) -> None:
    anna, bert, cleo = await guests(rooms, "Anna", "Bert", "Cleo")
    code = await gathered(anna, bert)
    await counted_down(anna)
    await cleo.at_table(JoinTable, table=code)
    await rooms.pass_time(COUNTDOWN_MILLIS)
    assert len(anna.heard.all(Dealt)) == 1
    assert bert.heard.all(Dealt) == cleo.heard.all(Dealt) == []
    assert anna.table.racers == [anna.player]
    assert await bert.refused(Reveal, table=code, nonce=nonce(bert.player)) == "wrong_phase"
    await anna.cash_out()
    await rooms.settle()
    await anna.ask(NextRace, table=code)
    await rooms.deal(anna, bert, cleo)


async def test_a_wrong_nonce_is_refused_and_the_right_one_is_not(rooms: HouseInMemory) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna, bert)
    await anna.ready()
    await bert.ready()
    await anna.ask(Start, table=code)
    assert await anna.refused(Reveal, table=code, nonce="0" * 32) == "wrong_nonce"
    assert await anna.refused(Reveal, table=code, nonce=nonce(bert.player)) == "wrong_nonce"
    assert isinstance(await anna.reveal(), Done)
    assert isinstance(await anna.reveal(), Done), "shown again"
    assert isinstance(await bert.reveal(), Done)


async def test_a_missing_nonce_voids_the_countdown_and_says_whose(rooms: HouseInMemory) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna, bert)
    await anna.ready()
    await bert.ready()
    await anna.ask(Start, table=code)
    await anna.reveal()
    commitment = anna.table.commitment
    await rooms.pass_time(REVEAL_MILLIS - 1)
    assert anna.table.phase == "countdown"
    await rooms.pass_time(1)
    for guest in (anna, bert):
        assert guest.table.phase == "gathering"
        assert "Bert" in guest.table.notice
        assert guest.table.commitment != commitment
        assert not any(seat.ready for seat in guest.table.seats)
    await rooms.deal(anna, bert)


async def test_two_racers_may_not_say_ready_with_the_same_hash(rooms: HouseInMemory) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna, bert)
    await anna.ready()
    said = {"table": code, "commitment": bert.table.commitment}
    assert await bert.refused(Ready, nonce_hash=nonce_hash(anna.player), **said) == "wrong_nonce"


@pytest.mark.parametrize("kind", [Ready, NotReady, Start, ChangeSettings, NextRace, Reveal])
async def test_what_is_not_for_now_is_refused(rooms: HouseInMemory, kind: type) -> None:
    (anna,) = await guests(rooms, "Anna")
    code = await rooms.race(anna)
    more: dict[str, object] = {}
    if kind is Ready:
        more = {"commitment": anna.table.commitment, "nonce_hash": nonce_hash(anna.player)}
    if kind is Reveal:
        more = {"nonce": nonce(anna.player)}
    assert await anna.refused(kind, table=code, **more) == "wrong_phase"


# Watching


async def test_a_watcher_sees_standings_and_never_a_board(rooms: HouseInMemory) -> None:
    anna, bert, wanda = await guests(rooms, "Anna", "Bert", "Wanda")
    code = await rooms.race(anna, bert)
    snapshot = await wanda.at_table(WatchTable, table=code)
    assert snapshot.board is None
    assert [row.banked for row in snapshot.standings] == [1, 1]
    await anna.moves("draw")
    await anna.cash_out()
    await rooms.pass_time(250)
    rows = {row.player: row.state for row in wanda.heard.all(Standings)[-1].standings}
    assert rows == {anna.player: "cashed out", bert.player: "racing"}
    assert wanda.heard.all(Dealt) == wanda.heard.all(BoardEnded) == []


async def test_who_stops_watching_hears_no_more(rooms: HouseInMemory) -> None:
    anna, wanda = await guests(rooms, "Anna", "Wanda")
    code = await gathered(anna)
    await wanda.at_table(WatchTable, table=code)
    await wanda.ask(UnwatchTable, table=code)
    told = len(wanda.heard.events)
    await anna.ready()
    assert wanda.heard.events[told:] == []


async def test_watching_ones_own_table_and_stopping_keeps_the_seat(rooms: HouseInMemory) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna, bert)
    await anna.at_table(WatchTable, table=code)
    await anna.ask(UnwatchTable, table=code)
    told = len(anna.heard.events)
    await bert.ready()
    assert len(anna.heard.all(TableChanged, told)) == 1


async def test_one_connection_watches_so_many_tables_and_no_more(rooms: HouseInMemory) -> None:
    (wanda,) = await guests(rooms, "Wanda")
    codes = []
    for number in range(MOST_WATCHED + 1):
        host = await rooms.guest(f"Host {number + 10}")
        codes.append(await gathered(host))
    for code in codes[:-1]:
        await wanda.at_table(WatchTable, table=code)
    assert isinstance(await wanda.ask(WatchTable, table=codes[-1]), Refused)
    await wanda.at_table(WatchTable, table=codes[0])
    await wanda.ask(UnwatchTable, table=codes[0])
    await wanda.at_table(WatchTable, table=codes[-1])


# The list of public tables


async def listed(guest: GuestInMemory) -> list[tuple[str, str, int]]:
    answer = await guest.ask(ListTables)
    assert isinstance(answer, Tables)
    return [(each.host, each.phase, each.seated) for each in answer.tables]


async def test_public_tables_are_listed_as_they_are_now(rooms: HouseInMemory) -> None:
    anna, bert, cleo = await guests(rooms, "Anna", "Bert", "Cleo")
    code = await gathered(anna, public=True)
    await gathered(cleo)
    assert await listed(bert) == [("Anna", "gathering", 1)]
    await bert.at_table(JoinTable, table=code)
    assert await listed(bert) == [("Anna", "gathering", 2)]
    await rooms.deal(anna, bert)
    assert await listed(bert) == [("Anna", "running", 2)]
    await anna.ask(LeaveTable, table=code)
    assert await listed(bert) == [("Bert", "running", 1)]


async def test_a_table_made_private_is_listed_no_more_even_after_a_restart(
    rooms: HouseInMemory,
) -> None:
    (anna,) = await guests(rooms, "Anna")
    code = await gathered(anna, public=True)
    await rooms.restart()
    back = await rooms.guest("Anna")
    await back.at_table(Resume, table=code)
    await back.ask(ChangeSettings, table=code, public=False)
    assert await listed(back) == []


async def test_a_table_that_lost_its_last_player_in_a_restart_is_listed_no_more(
    rooms: HouseInMemory,
) -> None:
    (anna,) = await guests(rooms, "Anna")
    await gathered(anna, public=True)
    await rooms.restart()
    await rooms.pass_time(ALONE_MILLIS)
    (bert,) = await guests(rooms, "Bert")
    await rooms.pass_time(ALONE_MILLIS)
    assert await listed(bert) == []


async def test_an_empty_table_is_not_listed_and_closes_after_a_while(
    rooms: HouseInMemory,
) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna, public=True)
    await bert.at_table(WatchTable, table=code)
    await anna.ask(LeaveTable, table=code)
    assert await listed(anna) == []
    await rooms.pass_time(EMPTY_MILLIS)
    assert [lost.table for lost in bert.heard.all(SeatLost)] == [code]
    assert await anna.refused(JoinTable, table=code) == "table_closed"
    assert await anna.refused(WatchTable, table=code) == "table_closed"
    await rooms.pass_time(0)
    assert rooms.house.floor.known(code) is None


async def test_a_table_where_nothing_happens_closes(rooms: HouseInMemory) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna, bert, public=True)
    await rooms.pass_time(IDLE_MILLIS)
    for guest in (anna, bert):
        assert [lost.table for lost in guest.heard.all(SeatLost)] == [code]
    assert await listed(anna) == []
    await gathered(bert, anna)


# A store that fails


@pytest.mark.parametrize("lost", [True, False])
async def test_what_the_store_did_not_answer_works_when_said_again(
    rooms: HouseInMemory, lost: bool
) -> None:
    anna, bert = await guests(rooms, "Anna", "Bert")
    code = await gathered(anna, bert)
    command = ChangeSettings(id=50, table=code, cap=3)
    if lost:
        rooms.fake.lose_answers = 1
    else:
        rooms.fake.unavailable = True
    answer = await anna.say(command)
    assert isinstance(answer, Refused)
    assert (answer.code, answer.retry) == ("store_unavailable", True)
    assert bert.table.settings.cap == 10
    rooms.fake.unavailable = False
    assert isinstance(await anna.say(command), Done)
    assert (anna.table.settings.cap, bert.table.settings.cap) == (3, 3)
    assert len(bert.heard.all(TableChanged)) == 1
