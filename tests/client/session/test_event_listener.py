"""Events of a real server change the session's state."""

import pytest
from msgspec.structs import replace

from kit.stepped_session import stepped_session
from saratoga_client.net.connection import Connection
from saratoga_client.net.link_state import LinkState
from saratoga_client.session import event_listener as module
from saratoga_protocol import events
from saratoga_protocol.commands import CreateTable, GetRecord, JoinTable, LeaveTable


async def test_every_event_makes_one_state() -> None:
    async with stepped_session() as there:
        code = await there.gather()
        ben = await there.server.player("Ben")
        await ben.at_table(JoinTable, table=code)
        await ben.ready()
        await there.settle()
        seats = [[seat.ready for seat in state.table.seats] for state in there.seen]
        assert seats[-3:] == [[False], [False, False], [False, True]]


async def test_the_state_shows_the_link() -> None:
    async with stepped_session() as there:
        await there.gather()
        await there.network.cut()
        await there.network.restore()
        links = [state.link for state in there.seen]
        assert list(dict.fromkeys(links)) == [LinkState.CONNECTED, LinkState.RECONNECTING]
        assert links[-1] is LinkState.CONNECTED


async def test_events_of_other_tables_are_ignored() -> None:
    async with stepped_session() as there:
        await there.gather()
        before = there.state
        other = replace(before.table, code="other-table-01", version=99)
        await there.receive(
            events.Snapshot(table=other, now=0), events.TableChanged(table=other, now=0)
        )
        assert there.state is before


async def test_a_late_snapshot_of_a_table_left_before_does_not_begin_the_session() -> None:
    async with stepped_session() as there:
        ben = await there.server.player("Ben")
        left = await ben.at_table(CreateTable, game="canfield", cap=10)
        await ben.ask(LeaveTable, table=left.table.code)
        await there.receive(left)
        assert there.session.state is None
        code = await there.gather()
        assert {state.table.code for state in there.seen} == {code}


@pytest.mark.usefixtures("impatient_checks")
async def test_the_record_of_a_finished_race_is_requested_and_a_refusal_reported() -> None:
    async with stepped_session() as there:
        await there.gather()
        await there.start_race()
        await there.do(there.session.cash_out())
        there.network.refusals.extend([("no_such_race", False)] * 1000)
        await there.pass_time(700_000)
        await there.do(there.session.until(lambda state: bool(state.alarms)))
        assert GetRecord in map(type, there.network.answered)
        assert "did not send the record" in there.state.feed_lines[-1].text


@pytest.mark.parametrize("phase", ["closed", ""])
async def test_no_event_counts_after_the_end_of_the_table(phase: str) -> None:
    async with stepped_session() as there:
        await there.gather()
        table = there.state.table
        end: events.AnyEvent = events.SeatLost(table=table.code, reason="Kicked.")
        if phase:
            end = events.TableChanged(table=replace(table, phase=phase, version=98), now=0)
        await there.receive(end)
        last = there.state
        assert last.seat_lost or last.phase == "closed"
        await there.problem()
        there.network.send_event(
            events.TableChanged(table=replace(table, phase="running", version=99), now=0)
        )
        await there.settle()
        assert there.state is last


async def test_the_round_trip_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "round_trip", 0.0421)
    monkeypatch.setattr(module, "MEASURE_EVERY", 0.0)
    async with stepped_session() as there:
        await there.gather()
        await there.session.until(lambda state: state.round_trip_ms == 42)


async def test_the_last_minute_is_in_the_feed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MEASURE_EVERY", 0.0)
    async with stepped_session() as there:
        await there.gather(cap=3)
        await there.start_race()
        assert there.state.feed_lines == ()
        await there.pass_time(120_000)
        state = await there.session.until(lambda state: bool(state.feed_lines))
        assert [line.text for line in state.feed_lines] == ["the last minute"]
