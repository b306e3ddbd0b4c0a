"""The record of a race is asked for until it comes, and compared with what the player saw."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from kit.evenings import ME, RACE, Client, Told, is_table, one_race, race_of
from saratoga_client.net.errors import RequestTimedOut
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.witness import Witness
from saratoga_protocol import events
from saratoga_protocol.commands import Command, GetRecord
from saratoga_protocol.events import Event, TableChanged

pytestmark = pytest.mark.usefixtures("impatient_checks")

SILENCE = "no answer"


class Asking(Client):
    """A player who was in a race's countdown, and the server, which refuses the race's record first."""

    def __init__(self, told: Told, folder: Path) -> None:
        super().__init__(
            one_race(told, is_next_open=True), Witness(folder), kept=RecordStore(folder / "races")
        )
        self.folder = folder
        self.race = race_of(told, RACE)
        self.code = self.race.partition("/")[0]
        self.text = told.records[self.race]
        self.refusals: list[str] = []
        """The codes of the refusals before the record is sent."""
        self.connection.reply = self.answer

    @property
    def missing(self) -> str:
        return f"Missing: the server started race {self.race}, and does not show what became of it."

    @property
    def alarms(self) -> tuple[str, ...]:
        return self.duties.alarms

    def answer(self, command: Command) -> Event:
        if not isinstance(command, GetRecord):
            return events.Done(re=command.id)
        code = self.refusals.pop(0) if self.refusals else ""
        if code == SILENCE:
            raise RequestTimedOut
        if not code:
            return events.Record(re=command.id, race=self.race, text=self.text)
        is_brief = code in ("store_unavailable", "race_running")
        return events.Refused(re=command.id, code=code, message="No.", retry=is_brief)

    def table_in(self, phase: str) -> TableChanged:
        """Return the first table of the race in this phase."""
        items = self.told.items
        found = next(each.event for each in items if is_table(each.event, self.race, phase))
        assert isinstance(found, TableChanged)
        return found

    def reopen(self) -> None:
        """Start the player's program again, on the files of before."""
        self.witness = Witness(self.folder)
        self.restart()

    def later(self) -> TableChanged:
        """Return the table that gathers for the next race."""
        event = self.told.items[-1].event
        assert isinstance(event, TableChanged)
        return event


@pytest.fixture
async def there(evening: Mapping[str, Told], tmp_path: Path) -> Asking:
    player = Asking(evening[ME], tmp_path)
    listed = player.table_in("countdown")
    for item in player.told.items:
        await player.hear(item)
        if item.event is listed:
            break
    return player


async def test_a_record_is_asked_for_once(there: Asking) -> None:
    there.duties.see(there.later())
    records = there.records
    assert [records.take_due(), records.take_due()] == [[there.race], []]
    assert await records.check(there.race) is not None
    assert (records.take_due(), there.alarms) == ([], ())


async def test_what_is_shown_after_the_check_is_compared_too(there: Asking) -> None:
    there.duties.see(there.later())
    await there.records.check(there.race)
    before = there.alarms
    over = next(each.event for each in there.told.items if isinstance(each.event, events.RaceOver))
    there.duties.see(replace(over, outcome=replace(over.outcome, seed="5a" * 32)))
    await there.records.check(*there.records.take_due())
    changed = f"Race {there.race}: the server has changed the deal. Do not trust it."
    assert [before, there.alarms] == [(), (changed,)]


async def test_a_record_refused_for_the_moment_is_asked_for_again(there: Asking) -> None:
    there.duties.see(there.later())
    there.refusals = ["race_running", "no_such_race", "store_unavailable"]
    checked = await there.records.check(there.race)
    assert checked is not None
    assert (checked.verdict, there.alarms) == ("raced", ())


@pytest.mark.parametrize("code", ["race_running", "no_such_race"])
async def test_a_record_that_is_not_sent_is_missing_until_it_comes(
    there: Asking, code: str
) -> None:
    there.duties.see(there.later())
    there.refusals = [code] * 1_000_000
    alarmed = asyncio.Event()
    there.duties.on_alarms = alarmed.set
    checking = asyncio.ensure_future(there.records.check(there.race))
    async with asyncio.timeout(10):
        await alarmed.wait()
    before = there.alarms
    there.refusals.clear()
    checked = await checking
    assert checked is not None
    assert checked.ok
    assert [before, there.alarms] == [(there.missing,), ()]


@pytest.mark.parametrize(
    "code", ["store_unavailable", "server_fault", "damaged", "of_a_newer_server", SILENCE]
)
async def test_an_outage_is_no_accusation(there: Asking, code: str) -> None:
    there.duties.see(there.later())
    there.refusals = [code] * 1_000_000
    await there.records.finish(there.code)
    assert there.alarms == ()


async def test_a_restarted_program_asks_for_a_race_that_disappeared(there: Asking) -> None:
    there.reopen()
    there.duties.see(events.Snapshot(table=there.later().table, now=0))
    assert there.records.take_due() == [there.race]
    there.refusals = ["no_such_race"]
    await there.records.check(there.race, is_final=True)
    assert there.alarms == (there.missing,)


async def test_a_table_that_cannot_be_entered_any_more_is_asked_about(there: Asking) -> None:
    there.reopen()
    await there.records.finish(there.code)
    assert there.kept.text(there.race) == there.text


@pytest.mark.parametrize("why", ["it runs", "table gone", "next race", "time over"])
async def test_a_server_may_only_say_of_the_present_race_that_it_runs(
    there: Asking, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    running = there.table_in("running")
    there.duties.see(running)
    if why == "table gone":
        closed = replace(running.table, version=running.table.version + 1, phase="closed")
        there.duties.see(replace(running, table=closed))
    elif why == "next race":
        there.duties.see(there.later())
    elif why == "time over":
        race = there.duties.seen(there.race)
        assert race is not None
        much_later = race.seen_at + 16 * 60_000
        monkeypatch.setattr("saratoga_client.session.record_keeper.now", lambda: much_later)
    there.refusals = ["race_running"] * 1_000_000
    await there.records.finish(there.code)
    assert there.alarms == (() if why == "it runs" else (there.missing,))


async def test_a_record_of_a_newer_release_is_no_contradiction(there: Asking) -> None:
    there.text = there.text.replace("record 2", "record 3", 1)
    seen = there.later()
    ended = events.Ended(race=there.race, digest=there.text[-65:-1])
    there.duties.see(replace(seen, table=replace(seen.table, previous=ended)))
    await there.records.check(there.race)
    assert there.alarms == ()
