"""An honest server raises no alarm, whatever happens at the table while a client is away or there."""

from collections.abc import AsyncIterator
from contextlib import suppress
from random import Random

import pytest

from kit.players import MemoryPlayer
from kit.stepped_connection import SteppedSession, stepped_session
from saratoga_client.problems import Problem
from saratoga_client.session import record_keeper
from saratoga_protocol.commands import (
    AllowReady,
    ChangeSettings,
    CreateTable,
    JoinTable,
    NextRace,
    Reveal,
    Start,
)
from saratoga_server.domain.tables.countdown import CALL_MILLIS, COUNTDOWN_MILLIS

ROUNDS = 6


class Evening:
    """Ann's session at a table of Ben's, whose connection is lost and restored at random."""

    def __init__(self, there: SteppedSession, ben: MemoryPlayer, chance: Random) -> None:
        self.there = there
        self.ben = ben
        self.chance = chance

    async def link(self) -> None:
        """Perhaps cut or restore Ann's connection."""
        if self.chance.random() < 0.3:
            network = self.there.network
            await (network.cut() if network.is_up else network.restore())
        await self.there.settle()

    async def round(self) -> None:
        """Gather, perhaps with other settings, and race, or void the countdown."""
        there, ben, chance = self.there, self.ben, self.chance
        table = ben.table.code
        if there.network.is_up and chance.random() < 0.8:
            with suppress(Problem):
                await there.do(there.session.ready())
        await self.link()
        if chance.random() < 0.5:
            await ben.ask(ChangeSettings, table=table, cap=chance.choice((3, 5, 10)))
            await self.link()
        if there.network.is_up and chance.random() < 0.5:
            with suppress(Problem):
                await there.do(there.session.ready())
        await ben.ready()
        await ben.ask(Start, table=table)
        await self.link()
        await there.pass_time(CALL_MILLIS)
        await self.link()
        if chance.random() < 0.7:
            assert ben.table.racers
            await ben.reveal()
        await self.link()
        await there.pass_time(COUNTDOWN_MILLIS)
        await self.link()
        if ben.table.phase == "running":
            await ben.cash_out()
        await self.link()
        if chance.random() < 0.3:
            await self.restart()
        await there.network.restore()
        await there.settle()
        if there.state.own is not None and there.state.own.is_racing:
            await there.do(there.session.cash_out())
        # a countdown without any nonce begins again, once
        await there.pass_time(2 * COUNTDOWN_MILLIS)
        await self.ben.ask(NextRace, table=table)
        await self.ben.ask(AllowReady, table=table, player=there.state.player)
        await there.settle()

    async def restart(self) -> None:
        """Restart the server, as if it had been killed."""
        if self.there.network.is_up:
            await self.there.network.cut()
        code = self.ben.table.code
        await self.there.server.restart()
        self.ben = await self.there.server.player("Ben")
        await self.ben.at_table(JoinTable, table=code)


@pytest.fixture(autouse=True)
def eager_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_keeper, "ASK_AGAIN_AFTER", 0.01)


@pytest.fixture
async def there() -> AsyncIterator[SteppedSession]:
    async with stepped_session() as stepped:
        yield stepped


@pytest.mark.parametrize("seed", range(8))
async def test_an_honest_server_raises_no_alarm(there: SteppedSession, seed: int) -> None:
    ben = await there.server.player("Ben")
    code = (await ben.at_table(CreateTable, game="canfield", cap=10, races=3)).table.code
    await there.do(there.session.sit_down(code))
    evening = Evening(there, ben, Random(f"honest {seed}"))
    for _ in range(ROUNDS):
        await evening.round()
        assert there.state.alarms == ()
    while there.session.is_checking:
        await there.settle()
    assert there.state.alarms == ()
    assert all(found.ok for found in there.state.verifications.values())
    assert any(isinstance(command, Reveal) for command in there.network.answered)


@pytest.mark.parametrize("is_revealed", [False, True])
async def test_a_device_that_takes_the_seat_of_a_ready_one_raises_no_alarm(
    there: SteppedSession, is_revealed: bool
) -> None:
    ben = await there.server.player("Ben")
    code = (await ben.at_table(CreateTable, game="canfield", cap=10)).table.code
    await there.network.cut()
    device = await there.server.player("Ann")
    await device.at_table(JoinTable, table=code)
    await device.ready()
    await ben.ready()
    await ben.ask(Start, table=code)
    if is_revealed:
        await there.pass_time(CALL_MILLIS)
        await device.reveal()
    await there.network.restore()
    await there.do(there.session.sit_down(code))
    await there.pass_time(CALL_MILLIS)
    await ben.reveal()
    await there.pass_time(2 * COUNTDOWN_MILLIS)
    if is_revealed:
        await ben.cash_out()
        await there.do(there.session.cash_out())
        while not there.state.verifications:
            await there.settle()
        (found,) = there.state.verifications.values()
        assert found.ok
        assert "did not see all of it" in found.sentence
    else:
        await there.pass_time(2 * COUNTDOWN_MILLIS)
        assert there.state.table.previous is not None, "only the other device has the nonce"
    assert there.state.alarms == ()
