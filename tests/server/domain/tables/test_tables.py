"""A table's end, with the record of a race that cannot go on; a table as bytes, as the public sees it, and its bounds."""

import msgpack
import pytest
from msgspec.structs import replace

from kit.tables import (
    ANN,
    BEN,
    CLEO,
    NOON,
    OTHER_SEED,
    after,
    all_ready,
    all_shown,
    calling,
    counting,
    in_phase,
    over,
    running,
    seated,
)
from saratoga_protocol import events
from saratoga_protocol.events import Ended
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.games import GAMES
from saratoga_rules.records.record import digest_of, parse_record
from saratoga_rules.records.verify import verify
from saratoga_server.domain.tables import (
    CommandRejected,
    TablePhase,
    TableState,
    close,
    closed_race,
    disconnect,
    due,
    elapse,
    kick,
    lost,
    pack,
    public_view,
    unpack,
)
from saratoga_server.domain.tables.records import ReadLog, Voided
from saratoga_server.domain.tables.seating import MOST_KICKED
from saratoga_server.domain.tables.state import MOST_BLOCKED
from saratoga_server.ports import LogEntry, Millis, RaceFinish


def ended(text: str) -> Ended:
    """Return the race of a void record as its table shows it."""
    record = parse_record(text)
    return Ended(
        race=record.race_id,
        digest=digest_of(text),
        reason=record.voided,
        blamed=list(record.blamed),
    )


# Closing a table: whatever races there is voided, and has a record


RUNNING = running(ANN, BEN)
DRAWN = ReadLog((LogEntry("draw", after(5_900), 1),), damaged=False)
ENDED = ReadLog((LogEntry("cash-out", after(6_000), 2),), damaged=False, has_ended=True)
DAMAGED = ReadLog((), damaged=True)
OPENING = deal_for_key(GAMES[RUNNING.settings.game], bytes.fromhex(RUNNING.deal_key))


def record_of(table: TableState) -> Voided | None:
    is_running = table.phase is TablePhase.RUNNING
    return closed_race(table, OPENING, {ANN: DRAWN, BEN: ENDED}) if is_running else None


@pytest.mark.parametrize("phase", [TablePhase.GATHERING, TablePhase.CALL, TablePhase.OVER])
def test_a_table_at_which_nobody_races_is_closed_with_the_reason_only(phase: TablePhase) -> None:
    change = close(in_phase(phase), "The house closes.", now=after(100), fresh_seed=OTHER_SEED)
    closed = change
    assert (closed.phase, closed.seats, closed.host) == (TablePhase.CLOSED, (), "")
    assert closed.notice == "The house closes."


def test_a_countdown_is_voided_with_its_racers_when_the_table_is_closed() -> None:
    table = all_shown(counting(ANN, BEN), BEN)
    change = close(table, "It is late", now=after(3_000), fresh_seed=OTHER_SEED)
    first = change.voided
    assert first is not None
    assert change.previous == ended(first.record)
    assert verify(first.record).ok
    record = parse_record(first.record)
    assert (record.race_id, record.voided) == (table.race_id, "closed-in-countdown")
    assert (record.seed, [*record.nonces]) == (table.seed, [BEN])
    assert [racer.player for racer in record.racers] == [ANN, BEN]
    said = (
        "It is late. mint-otter-42/1 was voided: the table was closed in the countdown. It counts "
        "for nothing."
    )
    assert (change.phase, change.seats, change.notice) == (TablePhase.CLOSED, (), said)


def test_a_running_race_is_voided_with_its_logs_when_the_table_is_closed() -> None:
    race = record_of(RUNNING)
    assert race is not None
    change = close(RUNNING, "It is late.", now=NOON, fresh_seed=OTHER_SEED, race=race)
    closed = change
    assert (closed.phase, closed.race, closed.racers) == (TablePhase.CLOSED, 2, {})
    assert closed.previous == ended(race.finish.record)
    assert verify(race.finish.record).ok
    assert change.voided == RaceFinish(race=1, record=race.finish.record, entries=2)
    assert [len(racer.log) for racer in parse_record(race.finish.record).racers] == [1, 1]
    assert closed.notice.endswith("the table was closed during the race. It counts for nothing.")


def test_the_record_of_a_damaged_race_need_not_have_every_entry() -> None:
    race = closed_race(RUNNING, OPENING, {ANN: DRAWN, BEN: DAMAGED})
    assert (race.ended.reason, race.finish.entries) == ("closed", None)
    assert [racer.damaged for racer in parse_record(race.finish.record).racers] == [False, True]
    assert [check.name for check in verify(race.finish.record).faults] == ["damaged"]


def test_a_race_whose_boards_have_all_ended_is_not_voided() -> None:
    with pytest.raises(CommandRejected, match="its results count") as refused:
        closed_race(RUNNING, OPENING, {ANN: ENDED, BEN: ENDED})
    assert not refused.value.retry


def test_a_running_race_is_not_closed_without_its_own_record() -> None:
    for race in (None, record_of(replace(RUNNING, race=2))):
        with pytest.raises(CommandRejected) as refused:
            close(RUNNING, "Late.", now=NOON, fresh_seed=OTHER_SEED, race=race)
        assert refused.value.retry


# A race or countdown that the store has lost is voided; one that goes on is not


@pytest.mark.parametrize(
    "known",
    [all_shown(counting(ANN, BEN), ANN), all_shown(counting(ANN, BEN)), running(ANN, BEN)],
    ids=["countdown", "all nonces", "race"],
)
@pytest.mark.parametrize("stored", [calling(ANN, BEN), counting(ANN, BEN)], ids=["call", "racers"])
def test_a_race_that_the_store_has_lost_is_voided(known: TableState, stored: TableState) -> None:
    change = lost(stored, known, OTHER_SEED)
    voided = change.voided
    assert voided is not None
    assert change.previous is not None
    assert (change.previous.race, change.previous.reason) == (known.race_id, "server-away")
    assert verify(voided.record).ok
    assert (change.phase, change.race) == (TablePhase.GATHERING, known.race + 1)
    assert change.blocked == ()
    assert lost(change, known, OTHER_SEED) is change, "another node voids nothing more"


def test_a_race_that_goes_on_is_not_lost() -> None:
    shown = all_shown(counting(ANN, BEN), ANN)
    states = [calling(ANN, BEN), counting(ANN, BEN), shown, running(ANN, BEN), over(ANN, BEN)]
    for place, known in enumerate(states):
        for state in states[place:]:
            assert lost(state, known, OTHER_SEED) is state


# Packing of tables into bytes, and the public view, which shows everything but secrets


def test_a_table_of_an_unknown_game_is_not_read() -> None:
    body = msgpack.unpackb(pack(seated(ANN)))
    body["settings"]["game"] = "moonlight"
    with pytest.raises(ValueError, match="does not know the game 'moonlight'"):
        unpack(msgpack.packb(body))


@pytest.mark.parametrize(
    "junk",
    [
        *(b"", b"\xc1", b"\x80", b"\x93\x01", pack(seated(ANN)) + b"\x00", b"\xc0"),
        *(msgpack.packb({name: "junk"}) for name in ("rules_version", "seats")),
        msgpack.packb({"seats": [{"seat": 1}]}),
    ],
)
def test_other_bytes_are_no_table(junk: bytes) -> None:
    with pytest.raises(ValueError, match="not a packed table"):
        unpack(junk)


def test_the_picture_of_a_gathering_table() -> None:
    table = all_ready(seated(ANN, BEN), BEN)
    gone = disconnect(table, ANN, 1, now=NOON)
    assert public_view(gone, 7) == events.Table(
        code="mint-otter-42",
        version=7,
        host=ANN,
        phase="gathering",
        settings=events.TableSettings(game="canfield", cap=10, seats=16, public=False),
        race="mint-otter-42/1",
        rules=table.rules_version,
        commitment=table.commitment,
        seats=[
            events.Seat(player=ANN, name="Ann", connected=False, epoch=1),
            events.Seat(player=BEN, name="Ben", ready=True, epoch=2),
        ],
    )


# Timers, links and bounds


@pytest.mark.parametrize("phase", TablePhase)
def test_before_the_next_timer_nothing_happens(phase: TablePhase) -> None:
    table = in_phase(phase)
    at = due(table)
    assert (at is None) == (phase is TablePhase.CLOSED)
    assert elapse(table, after(0) if at is None else Millis(at - 1), OTHER_SEED) is table


def test_a_table_is_not_closed_when_its_countdown_is_called_off_after_a_step_of_the_clock() -> None:
    table = all_shown(counting(ANN, BEN), ANN)
    assert table.reveal_by
    # the countdown was started while the clock was two days behind, and planned again since
    table = replace(table, touched=Millis(table.touched - 48 * 3_600_000))
    called_off = elapse(table, table.reveal_by, OTHER_SEED)
    assert called_off.phase is TablePhase.GATHERING
    assert called_off.touched == table.reveal_by


def test_a_table_remembers_only_so_many_kicked_players() -> None:
    table = replace(seated(ANN, BEN), kicked=(CLEO, *map(str, range(MOST_KICKED - 1))))
    kicked = kick(table, ANN, target=BEN, now=NOON, fresh_seed=OTHER_SEED).kicked
    assert (len(kicked), kicked[-1], CLEO in kicked) == (MOST_KICKED, BEN, False)


def test_a_table_remembers_a_bounded_number_of_players_who_voided_a_countdown() -> None:
    table = seated(ANN)
    for number in range(MOST_BLOCKED + 1):
        table = table.blaming(f"player {number}")
    assert len(table.voids) == len(table.blocked) == MOST_BLOCKED
    assert "player 0" not in table.blocked
