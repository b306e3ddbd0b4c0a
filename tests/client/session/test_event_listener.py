"""What the house says becomes the evening, and the seat does its duty by it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from kit.model_house import ModelConnection, breathe, model_game
from kit.session_states import CODE, START, board, outcome, snapshot, standings, table
from saratoga_client.net.connection import LinkState
from saratoga_client.net.errors import UnexpectedAnswer
from saratoga_client.session.event_listener import EventListener
from saratoga_client.session.fairness import FairnessDuties
from saratoga_client.session.record_keeper import RecordKeeper
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.session_tasks import SessionTasks
from saratoga_client.session.state import SessionState
from saratoga_client.session.state_store import StateStore
from saratoga_client.session.witness import Witness
from saratoga_protocol import events
from saratoga_protocol.commands import GetRecord


class Ear:
    """A listener, and all that it needs."""

    def __init__(self, folder: Path) -> None:
        self.seen: list[SessionState] = []
        self.gone: list[SessionState | None] = []
        self.wire = ModelConnection(model_game("canfield", 3))
        self.desk = StateStore()
        self.desk.subscribe(self.seen.append)
        self.chores = SessionTasks(lambda trouble: trouble)
        witness = Witness(folder / "w")
        registrar = RecordKeeper(self.desk, RecordStore(folder / "k"), witness)
        self.seat = FairnessDuties(self.wire, witness, registrar.raise_alarm)
        self.listener = EventListener(self.wire, self.desk, self.seat, registrar, self.chores)

    async def hear(self, *told: events.AnyEvent) -> None:
        for event in told:
            self.wire.say(event)
        await self.wire.settle()

    async def follow(self) -> None:
        self.gone.append(await self.listener.follow())

    async def listen(self) -> None:
        self.chores.start(self.follow())
        self.wire.come_up()
        await breathe()


@pytest.fixture
async def ear(tmp_path: Path) -> Ear:
    return Ear(tmp_path)


async def test_events_become_the_evening_one_by_one(ear: Ear) -> None:
    await ear.listen()
    await ear.hear(standings("a5 y3 r1"), standings("y6 a5 r1"))
    assert [evening.table_view.standings[0].banked for evening in ear.seen[-2:]] == [5, 6]


async def test_the_first_snapshot_knows_how_the_connection_is(ear: Ear) -> None:
    await ear.listen()
    assert ear.seen[0].link is not LinkState.CLOSED
    ear.listener.link_changed(LinkState.RECONNECTING)
    assert ear.seen[-1].link is LinkState.RECONNECTING


async def test_other_tables_are_passed_over(ear: Ear) -> None:
    await ear.listen()
    before = ear.desk.state
    other = snapshot(shown=replace(table(), code="other-table-01"))
    await ear.hear(other, events.TableChanged(table=other.table, now=START))
    assert ear.desk.state is before
    assert ear.seat.table is not None
    assert ear.seat.table.code == CODE


async def test_the_last_word_of_a_table_that_was_left_does_not_begin_the_evening(ear: Ear) -> None:
    ear.wire.is_up = True
    ear.wire.say(snapshot(shown=replace(table(), code="other-table-01")))
    ear.wire.let_player_hear()
    await ear.listen()
    assert {evening.table.code for evening in ear.seen} == {CODE}
    assert ear.seat.table is not None
    assert ear.seat.table.code == CODE


async def test_the_record_of_a_finished_race_is_asked_for(ear: Ear) -> None:
    await ear.listen()
    await ear.hear(events.RaceOver(outcome=outcome("a12 y9:stuck")))
    (asked,) = ear.wire.house.heard
    assert isinstance(asked, GetRecord)
    assert "did not send the record" in ear.seen[-1].feed_lines[-1].text


@pytest.mark.parametrize(
    "end",
    [
        events.SeatLost(table=CODE, reason="The host has kicked you from the table."),
        events.TableChanged(table=table(phase="closed", version=9), now=START),
    ],
)
async def test_the_end_of_the_table_is_told_once(ear: Ear, end: events.AnyEvent) -> None:
    await ear.listen()
    await ear.hear(end, standings("a5 y3 r1"))
    (gone,) = ear.gone
    assert gone is not None
    assert gone.seat_lost or gone.phase == "closed"


async def test_a_house_that_shows_no_board_is_not_believed(ear: Ear) -> None:

    bad = board()
    bad = replace(bad, view=replace(bad.view, columns=["ZZ"]))
    await ear.listen()
    await ear.hear(events.BoardEnded(board=replace(bad, race=f"{CODE}/1", count=9), at=1))
    with pytest.raises(UnexpectedAnswer, match="invalid board"):
        await ear.chores.wait_for_end()


async def test_how_long_the_way_is_is_measured(ear: Ear, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ModelConnection, "round_trip", 0.0421)
    await ear.listen()
    ear.chores.start(ear.listener.measure())
    await breathe()
    await ear.chores.cancel()
    assert ear.seen[-1].round_trip_ms == 42
