"""The record of a race is asked for until it comes, and compared with what the player saw."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from kit.scripted_server import CODE, NOON, RACE, snapshot
from kit.scripted_table import DutifulPlayer, changed, countdown, record_of
from saratoga_client.net.errors import RequestTimedOut
from saratoga_protocol import events
from saratoga_protocol.commands import Command, GetRecord
from saratoga_protocol.events import Event
from saratoga_rules.records.record import digest_of, format_record
from saratoga_server.domain.results import outcome_of

pytestmark = pytest.mark.usefixtures("impatient_checks")

MISSING = f"Missing: the server started race {RACE}, and does not show what became of it."

SILENCE = "no answer"


class Table:
    """A player who was in a race's countdown, and the server, which refuses the race's record first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.player = DutifulPlayer(folder)
        self.refusals: list[str] = []
        """The codes of the refusals before the record is sent."""
        self.text = ""

    async def run(self) -> None:
        self.record = record_of(await self.player.listed())
        self.text = format_record(self.record)
        self.player.connection.reply = self.reply

    def restart(self) -> None:
        """Start the player's program again."""
        self.player = DutifulPlayer(self.folder)
        self.player.connection.reply = self.reply

    def reply(self, command: Command) -> Event:
        assert isinstance(command, GetRecord)
        code = self.refusals.pop(0) if self.refusals else ""
        if code == SILENCE:
            raise RequestTimedOut
        if not code:
            return events.Record(re=command.id, race=RACE, text=self.text)
        is_brief = code in ("store_unavailable", "race_running")
        return events.Refused(re=command.id, code=code, message="No.", retry=is_brief)

    def later(self) -> events.TableChanged:
        """Return the table that gathers for the next race."""
        ended = events.Ended(race=RACE, digest=digest_of(self.text))
        seen = countdown("", "d0" * 32, version=9)
        return changed(seen, phase="gathering", race=f"{CODE}/2", racers=[], previous=ended)

    @property
    def alarms(self) -> tuple[str, ...]:
        return self.player.duties.alarms


@pytest.fixture
async def there(tmp_path: Path) -> Table:
    table = Table(tmp_path)
    await table.run()
    return table


async def test_a_record_is_asked_for_once(there: Table) -> None:
    await there.player.see(there.later())
    records = there.player.records
    assert [records.take_due(), records.take_due()] == [[RACE], []]
    assert await records.check(RACE) is not None
    assert (records.take_due(), there.alarms) == ([], ())


async def test_what_is_shown_after_the_check_is_compared_too(there: Table) -> None:
    await there.player.see(there.later())
    await there.player.records.check(RACE)
    before = there.alarms
    outcome = outcome_of(there.record, digest_of(there.text))
    await there.player.see(events.RaceOver(outcome=replace(outcome, seed="5a" * 32)))
    await there.player.records.check(*there.player.records.take_due())
    changed = f"Race {RACE}: the server has changed the deal. Do not trust it."
    assert [before, there.alarms] == [(), (changed,)]


async def test_a_record_refused_for_the_moment_is_asked_for_again(there: Table) -> None:
    await there.player.see(there.later())
    there.refusals = ["race_running", "no_such_race", "store_unavailable"]
    checked = await there.player.records.check(RACE)
    assert checked is not None
    assert (checked.verdict, there.alarms) == ("raced", ())


@pytest.mark.parametrize("code", ["race_running", "no_such_race"])
async def test_a_record_that_is_not_sent_is_missing_until_it_comes(there: Table, code: str) -> None:
    await there.player.see(there.later())
    there.refusals = [code] * 1_000_000
    alarmed = asyncio.Event()
    there.player.duties.on_alarms = alarmed.set
    checking = asyncio.ensure_future(there.player.records.check(RACE))
    async with asyncio.timeout(10):
        await alarmed.wait()
    before = there.alarms
    there.refusals.clear()
    checked = await checking
    assert checked is not None
    assert checked.ok
    assert [before, there.alarms] == [(MISSING,), ()]


@pytest.mark.parametrize(
    "code", ["store_unavailable", "server_fault", "damaged", "of_a_newer_server", SILENCE]
)
async def test_an_outage_is_no_accusation(there: Table, code: str) -> None:
    await there.player.see(there.later())
    there.refusals = [code] * 1_000_000
    await there.player.records.finish(CODE)
    assert there.alarms == ()


async def test_a_restarted_program_asks_for_a_race_that_disappeared(there: Table) -> None:
    there.restart()
    await there.player.see(replace(snapshot(), table=there.later().table))
    assert there.player.records.take_due() == [RACE]
    there.refusals = ["no_such_race"]
    await there.player.records.check(RACE, is_final=True)
    assert there.alarms == (MISSING,)


async def test_a_table_that_cannot_be_entered_any_more_is_asked_about(there: Table) -> None:
    there.restart()
    await there.player.records.finish(CODE)
    assert there.player.kept.text(RACE) == there.text


@pytest.mark.parametrize("why", ["it runs", "table gone", "next race", "time over"])
async def test_a_server_may_only_say_of_the_present_race_that_it_runs(
    there: Table, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    seen = countdown("", version=8)
    running = changed(seen, phase="running", start_at=NOON, deadline=NOON + 600_000, racers=[])
    await there.player.see(running)
    if why == "table gone":
        await there.player.see(changed(running, version=9, phase="closed"))
    elif why == "next race":
        await there.player.see(there.later())
    elif why == "time over":
        race = there.player.duties.seen(RACE)
        assert race is not None
        much_later = race.seen_at + 16 * 60_000
        monkeypatch.setattr("saratoga_client.session.record_keeper.now", lambda: much_later)
    there.refusals = ["race_running"] * 1_000_000
    await there.player.records.finish(CODE)
    assert there.alarms == (() if why == "it runs" else (MISSING,))


async def test_a_record_of_a_newer_release_is_no_contradiction(there: Table) -> None:
    there.text = there.text.replace("record 2", "record 3", 1)
    seen = there.later()
    ended = events.Ended(race=RACE, digest=there.text[-65:-1])
    await there.player.see(changed(seen, previous=ended))
    await there.player.records.check(RACE)
    assert there.alarms == ()
