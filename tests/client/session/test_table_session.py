"""A person's seat when things go otherwise: each time a sentence on what happened and what is safe."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from msgspec.structs import replace

from kit.finished import finished_race
from kit.model_house import AT_ONCE, ModelConnection, ModelHouse, breathe, model_game
from kit.session_states import CODE, RACE, START, board, outcome, seat, snapshot, standings, table
from saratoga_client.net.connection import Timing
from saratoga_client.net.errors import ClientClosed, ServerClosed
from saratoga_client.problems import Exit, Problem
from saratoga_client.session import table_session as module
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.witness import Witness
from saratoga_protocol import events
from saratoga_protocol.commands import (
    ChangeSettings,
    CreateTable,
    JoinTable,
    Kick,
    LeaveTable,
    NextRace,
    NotReady,
    Ready,
    Reveal,
    Start,
    UnwatchTable,
    WatchTable,
)
from saratoga_protocol.refusals import TAKEN_OVER
from saratoga_rules.moves import DRAW
from saratoga_rules.records.record import digest_of, format_record

RECORD = finished_race()
TEXT = format_record(RECORD)

AT_THE_GATHERING = snapshot(shown=table(phase="gathering"))
IMPATIENT = Timing(answer_within=0.01)


class Sitting:
    """Somebody at a table of a model house."""

    def __init__(self, house: ModelHouse, folder: Path, timing: Timing) -> None:
        self.house = house
        self.wire = ModelConnection(house, timing)
        self.keepsakes = RecordStore(folder / "k")
        self.seen: list[SessionState] = []
        self.seated = TableSession(
            self.wire,
            witness=Witness(folder / "w"),
            records=self.keepsakes,
            backoff=AT_ONCE,
        )
        self.seated.subscribe(self.seen.append)
        self.attending = asyncio.create_task(self.seated.attend())

    @property
    def evening(self) -> SessionState:
        assert self.seated.state is not None
        return self.seated.state

    async def say(self, *told: events.AnyEvent) -> None:
        for event in told:
            self.wire.say(event)
        await self.wire.settle()

    async def do(self, deed: Awaitable[Any]) -> Any:
        """Do it, and let the house do its part."""
        doing = asyncio.ensure_future(deed)
        await breathe()
        await self.wire.settle()
        return await doing

    async def parted(self) -> Problem:
        """Why the seat is gone."""
        with pytest.raises(Problem) as parting:
            await self.attending
        return parting.value


@asynccontextmanager
async def sitting(
    shown: events.Snapshot | None = None,
    timing: Timing = Timing(),  # noqa: B008 - frozen
) -> AsyncIterator[Sitting]:
    """TableSession, in the middle of a race if nothing else is shown."""
    with TemporaryDirectory() as folder:
        house = model_game("canfield", 3)
        house.shown = shown
        found = Sitting(house, Path(folder), timing)
        await breathe()
        found.wire.come_up()
        await breathe()
        try:
            yield found
        finally:
            found.attending.cancel()
            await asyncio.gather(found.attending, return_exceptions=True)


# Coming, and what is asked of the house


async def test_the_table_is_asked_for_and_its_code_known() -> None:
    async with sitting(AT_THE_GATHERING) as there:
        assert (await there.do(there.seated.sit_down(CODE))).code == CODE
        assert there.house.heard == [JoinTable(id=2, table=CODE)]


async def test_the_host_asks_for_what_hosts_may_ask() -> None:
    async with sitting(AT_THE_GATHERING) as there:
        seated = there.seated
        for deed in (
            seated.ready(),
            seated.not_ready(),
            seated.start(),
            seated.next_race(),
            seated.change_settings(game="caprice", cap=3),
            seated.kick("r" * 16),
        ):
            await there.do(deed)
        kinds = [type(command) for command in there.house.heard]
        assert kinds == [Ready, NotReady, Start, NextRace, ChangeSettings, Kick]


async def test_a_table_that_cannot_be_opened_says_why() -> None:
    async with sitting() as there:
        there.house.troubles.append(("no_such_game", False))
        with pytest.raises(Problem, match="There is no game of that name"):
            await there.do(there.seated.open_table("golf"))
        assert CreateTable not in map(type, there.house.heard)


async def test_nobody_gets_ready_for_a_game_that_cannot_be_played_here() -> None:
    shown = table(phase="gathering")
    newer = replace(shown, settings=replace(shown.settings, game="golf"))
    async with sitting(snapshot(shown=newer)) as there:
        with pytest.raises(Problem, match="does not know the game golf") as parting:
            await there.seated.ready()
        assert parting.value.code is Exit.TOO_OLD
        assert there.house.heard == []


async def test_a_deal_whose_nonces_are_known_is_not_played() -> None:
    async with sitting(AT_THE_GATHERING) as there:
        for version, phase in ((2, "countdown"), (3, "gathering")):
            await there.say(
                events.TableChanged(table=table(phase=phase, version=version), now=START)
            )
        with pytest.raises(Problem, match="nonces are already known"):
            await there.seated.ready()
        assert any("nonces are known" in alarm for alarm in there.evening.alarms)


async def test_whoever_is_ready_at_once_is_ready_for_the_deal_that_is_shown() -> None:
    async with sitting(snapshot("y1 =a1", shown=table(phase="over"))) as there:
        fresh = replace(table(phase="gathering", version=2, race=f"{CODE}/2"), commitment="d0" * 32)
        there.wire.say(events.TableChanged(table=fresh, now=START))
        there.wire.let_player_hear()
        # the evening shows it, and nobody else has done anything yet
        await asyncio.sleep(0)
        assert there.evening.phase == "gathering"
        settling = asyncio.create_task(there.wire.settle())
        await there.seated.ready()
        await settling
        (ready,) = there.house.heard
        assert isinstance(ready, Ready)
        assert ready.commitment == fresh.commitment


async def test_a_house_that_does_not_answer_may_have_done_it_all_the_same() -> None:
    async with sitting(AT_THE_GATHERING, IMPATIENT) as there:
        there.wire.cut()
        with pytest.raises(Problem, match="Check whether it was done"):
            await there.seated.ready()


# The seat is lost


async def test_whoever_is_sent_away_is_told_so() -> None:
    async with sitting() as there:
        await there.say(
            events.SeatLost(table=CODE, reason="The host has kicked you from the table.")
        )
        problem = await there.parted()
        assert "The host has kicked you from the table." in problem.what
        assert "The 1 card that you banked" in problem.remedy
        # and whoever still waits for something waits no more
        with pytest.raises(Problem):
            await there.seated.until(lambda evening: False)


async def test_moves_whose_answer_will_not_come_any_more_are_said_to_be_in_doubt() -> None:
    async with sitting() as there:
        there.wire.cut()
        there.seated.play(DRAW)
        there.wire.is_up = True
        await there.say(events.SeatLost(table=CODE, reason="You have no seat at that table."))
        problem = await there.parted()
        assert "you were disconnected for too long" in problem.what
        assert "The server did not say whether your last move was made." in problem.remedy


async def test_a_seat_taken_over_elsewhere_goes_on_there() -> None:
    async with sitting() as there:
        there.seated.play(DRAW)
        cashing = asyncio.create_task(there.seated.cash_out())
        await breathe()
        there.wire.end(ServerClosed(TAKEN_OVER.code, TAKEN_OVER.reason))
        problem = await there.parted()
        assert "another device or window" in problem.what
        assert "is safe" in problem.remedy
        with pytest.raises(Problem):
            await cashing


async def test_a_table_that_is_closed_says_what_becomes_of_the_race() -> None:
    async with sitting() as there:
        closed = replace(table(phase="closed", version=9), notice="Closed for the night.")
        await there.say(events.TableChanged(table=closed, now=START))
        problem = await there.parted()
        assert "Closed for the night." in problem.what
        assert "unless the table was closed" in problem.remedy


async def test_a_house_that_sends_no_board_is_of_another_version() -> None:
    async with sitting() as there:
        bad = board(race=RACE, count=9)
        bad = replace(bad, view=replace(bad.view, columns=["ZZ"]))
        await there.say(events.BoardEnded(board=bad, at=1))
        assert "another version" in (await there.parted()).what


async def test_whoever_hangs_up_has_nothing_to_be_told() -> None:
    async with sitting() as there:
        there.wire.end(ClientClosed("this end has hung up"))
        await there.attending


# Leaving


async def test_leaving_ends_the_evening_and_losing_the_seat_by_it_is_no_trouble() -> None:
    async with sitting() as there:
        leaving = asyncio.create_task(there.seated.leave())
        await breathe()
        there.wire.say(events.SeatLost(table=CODE, reason="You have left."))
        await there.wire.settle()
        await leaving
        await there.attending
        assert [type(command) for command in there.house.heard] == [LeaveTable]


async def test_leaving_a_house_that_is_away_says_when_the_seat_is_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LEAVE_TIMEOUT", 0.01)
    async with sitting() as there:
        there.wire.cut()
        with pytest.raises(Problem, match="does not know that you leave") as parting:
            await there.seated.leave()
        assert "a minute after" in parting.value.remedy
        assert "What you have banked counts." in parting.value.remedy
        assert not there.attending.done()


async def test_leaving_that_is_refused_leaves_the_seat_as_it_was() -> None:
    async with sitting() as there:
        there.house.troubles.append(("not_seated", False))
        with pytest.raises(Problem, match="no seat at that table"):
            await there.do(there.seated.leave())
        assert not there.attending.done()


async def test_a_watcher_goes_without_ado(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAVE_TIMEOUT", 0.01)
    beside = snapshot("a1 =r1", shown=table("ar", host="a"))
    for is_away in (False, True):
        async with sitting(beside) as there:
            await there.do(there.seated.watch(CODE))
            if is_away:
                there.wire.cut()
            await there.do(there.seated.leave())
            await there.attending
            kinds = [type(command) for command in there.house.heard]
            assert kinds == [WatchTable, *([] if is_away else [UnwatchTable])]


async def test_a_watcher_hears_the_race_and_plays_nothing() -> None:
    beside = snapshot("a1 =r1", shown=table("ar", host="a"))
    async with sitting(beside) as there:
        await there.do(there.seated.watch(CODE))
        await there.say(standings("a5 r1"))
        assert there.evening.feed_lines[-1].text == "ana takes the lead with 5"
        assert not there.seated.play(DRAW)
        await there.seated.cash_out()
        await there.say(events.SeatLost(table=CODE, reason="The table is closed."))
        assert "You no longer watch table" in (await there.parted()).what


# Countdown, cashing out, records


async def lost_in_the_countdown(there: Sitting) -> None:
    """Ready, counted down, and the connection lost before the nonce was shown."""
    await there.do(there.seated.ready())
    (ready,) = there.house.heard
    assert isinstance(ready, Ready)
    seats = [seat("y", ready=True, nonce_hash=ready.nonce_hash)]
    counting = table("y", phase="countdown", version=2, seats=seats)
    there.wire.say(events.TableChanged(table=counting, now=START - 5000))
    there.wire.let_player_hear()
    await breathe()
    there.wire.cut()
    assert there.evening.phase == "countdown"
    assert there.evening.link == "reconnecting"


async def test_a_house_that_goes_away_in_the_countdown_comes_back_with_the_race() -> None:
    async with sitting(AT_THE_GATHERING) as there:
        await lost_in_the_countdown(there)
        position = there.house.position
        there.house.shown = snapshot("y1", board(position), table("y", version=4))
        there.wire.come_up()
        await there.wire.settle()
        # the nonce that was not shown is shown when the house is back; it may refuse it
        assert [type(command) for command in there.house.heard] == [Ready, Reveal]
        assert there.seated.play(DRAW)
        await there.wire.settle()
        assert there.house.moves == [DRAW]
        assert there.evening.alarms == ()


async def test_a_countdown_called_off_while_the_house_was_away_gathers_again() -> None:
    async with sitting(AT_THE_GATHERING) as there:
        await lost_in_the_countdown(there)
        notice = "Zoë did not show the nonce. There is a new deal: get ready again."
        fresh = replace(table(phase="gathering", version=4), notice=notice, commitment="d0" * 32)
        there.house.shown = snapshot(shown=fresh)
        there.wire.come_up()
        await there.wire.settle()
        assert (there.evening.phase, there.evening.table.notice) == ("gathering", notice)
        assert there.evening.alarms == ()
        await there.do(there.seated.ready())
        assert type(there.house.heard[-1]) is Ready


async def test_cashing_out_waits_for_a_house_that_is_away() -> None:
    async with sitting() as there:
        there.wire.cut()
        cashing = asyncio.create_task(there.seated.cash_out())
        await breathe()
        assert there.evening.own is not None
        assert there.evening.own.is_cashing_out
        there.wire.come_up()
        await there.wire.settle()
        await cashing
        assert there.evening.own.state == "cashed out"
        assert [text for _, text in there.house.log] == ["cash-out"]


@pytest.mark.parametrize("is_done", [True, False])
@pytest.mark.parametrize("code", ["server_fault", "store_unavailable"])
async def test_cashing_out_that_was_in_doubt_is_asked_again_and_done_once(
    code: str, is_done: bool
) -> None:
    async with sitting() as there:
        there.house.troubles.append((code, is_done))
        await there.do(there.seated.cash_out())
        assert there.evening.own is not None
        assert there.evening.own.state == "cashed out"
        assert [text for _, text in there.house.log] == ["cash-out"]


async def test_a_board_that_ended_first_is_shown_as_it_ended() -> None:
    async with sitting() as there:
        there.house.end()
        await there.do(there.seated.cash_out())
        assert there.evening.own is not None
        assert there.evening.own.state == "out of time"


async def test_a_house_that_will_not_cash_out_says_why_and_play_goes_on() -> None:
    async with sitting() as there:
        there.house.troubles.append(("time_up", False))
        with pytest.raises(Problem, match="The time is up"):
            await there.do(there.seated.cash_out())
        assert there.seated.play(DRAW)


async def test_a_record_is_asked_for_once_and_kept() -> None:
    async with sitting() as there:
        there.house.records[RECORD.race_id] = TEXT
        assert await there.do(there.seated.record(RECORD.race_id)) == RECORD
        assert there.evening.verifications[RECORD.race_id].ok
        there.wire.cut()
        assert await there.seated.record(RECORD.race_id) == RECORD
        assert len(there.house.heard) == 1


async def test_a_record_while_the_house_is_away_comes_later_or_is_said_not_to() -> None:
    async with sitting(timing=IMPATIENT) as there:
        there.wire.cut()
        with pytest.raises(Problem, match="did not answer in time"):
            await there.seated.record(RECORD.race_id)


async def test_a_record_that_nobody_has_is_said_not_to_be_there() -> None:
    async with sitting() as there:
        with pytest.raises(Problem, match="There is no such race"):
            await there.do(there.seated.record(f"{CODE}/99"))


async def test_what_the_house_gives_for_a_record_is_read_with_care() -> None:
    async with sitting() as there:
        there.house.records[RECORD.race_id] = "nonsense"
        with pytest.raises(Problem, match="unreadable record") as parting:
            await there.do(there.seated.record(RECORD.race_id))
        assert "The announced result still counts." in parting.value.remedy
        assert parting.value.code is Exit.NOT_VERIFIED


async def test_the_next_race_may_begin_while_the_results_are_read() -> None:
    async with sitting(snapshot(shown=table(race=RECORD.race_id))) as there:
        over = replace(outcome("a12 y9:stuck"), race=RECORD.race_id, digest=digest_of(TEXT))
        there.house.records[RECORD.race_id] = TEXT
        there.wire.say(events.RaceOver(outcome=over))
        following = table(phase="gathering", version=8, race=f"{CODE}/77")
        there.wire.say(events.TableChanged(table=following, now=START))
        await there.wire.settle()
        await there.seated.until(lambda evening: RECORD.race_id in evening.verifications)
        assert there.evening.phase == "gathering"
        assert not there.evening.is_new_best
        # and the record is there to be reviewed without the house
        there.wire.cut()
        assert await there.seated.record(RECORD.race_id) == RECORD
