"""A player's part in fair deals."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from kit.client_servers import SteppedSession, stepped_session
from kit.evenings import (
    HOST_ID,
    LAST,
    ME,
    ME_ID,
    RACE,
    Client,
    Told,
    is_table,
    race_of,
    shown_again,
)
from kit.players import MemoryPlayer
from kit.session_states import YOU, table
from saratoga_client.net.errors import CommandRefused, LinkState, RequestTimedOut
from saratoga_client.problems import Problem
from saratoga_client.session import record_keeper
from saratoga_client.session.fairness import is_run
from saratoga_client.session.witness import Witness
from saratoga_protocol import commands, events
from saratoga_protocol.commands import (
    AllowReady,
    ChangeSettings,
    Command,
    CreateTable,
    JoinTable,
    NextRace,
    Reveal,
    Start,
)
from saratoga_protocol.events import Event
from saratoga_rules.dealing.fairness import nonce_hash
from saratoga_server.domain.tables.countdown import CALL_MILLIS, COUNTDOWN_MILLIS

OTHER_DEAL = "d0" * 32


def changed(event: Any, **changes: Any) -> Any:
    """Return an event with other fields of its table."""
    return replace(event, table=replace(event.table, **changes))


class Player(Client):
    """A player with nonces of its own, who is told of a race of an evening as a test likes."""

    def __init__(self, told: Told, folder: Path, welcomed: str = "") -> None:
        super().__init__(told, Witness(folder), welcomed)
        self.race = race_of(told, RACE)

    async def see(self, event: Event) -> Command | None:
        """See an event, and reveal the nonce if that is due, as a session does; return the command that was sent."""
        before = len(self.connection.sent)
        self.duties.see(event)
        if self.duties.has_to_reveal:
            await self.duties.reveal()
        return next(iter(self.connection.sent[before:]), None)

    async def ready(self) -> commands.Ready:
        await self.duties.ready()
        ready = self.connection.sent[-1]
        assert isinstance(ready, commands.Ready)
        return ready

    async def listed(self) -> None:
        """Get ready, let the racers be listed, and reveal the nonce."""
        await self.see(self.gathering())
        await self.see(self.countdown((await self.ready()).nonce_hash))

    # What the server shows

    def gathering(self, version: int = 1, **changes: Any) -> events.Snapshot:
        shown = shown_again(self.told, RACE, "gathering")
        return changed(shown, version=version, **changes)  # type: ignore[no-any-return]

    def countdown(self, own_hash: str, version: int = 2) -> events.TableChanged:
        """Return the table when the racers are listed, with this hash of the own nonce."""
        items = self.told.items
        seen = next(each.event for each in items if is_table(each.event, self.race, "countdown"))
        assert isinstance(seen, events.TableChanged)
        return with_hash(changed(seen, version=version), ME_ID, own_hash)

    def deal(self) -> Event:
        boards = [e.event for e in self.told.items if isinstance(e.event, events.BoardChanged)]
        return next(each for each in boards if each.start_at and each.board.race == self.race)

    def voided(self) -> events.Snapshot:
        """Return the next gathering, after a countdown in which this player's nonce was missing."""
        void = events.Ended(
            race=self.race, digest="ab" * 32, reason="nonce-missing", blamed=[ME_ID]
        )
        return changed(shown_again(self.told, LAST, "gathering"), version=9, previous=void)  # type: ignore[no-any-return]


def with_hash(seen: events.TableChanged, player: str, nonce_hash: str) -> events.TableChanged:
    """Return a countdown with another nonce hash of one racer."""
    racers = [
        replace(each, nonce_hash=nonce_hash) if each.player == player else each
        for each in seen.table.racers
    ]
    return changed(seen, racers=racers)  # type: ignore[no-any-return]


@pytest.fixture
def player(evening: Mapping[str, Told], tmp_path: Path) -> Player:
    return Player(evening[ME], tmp_path)


def refusing(code: str) -> Any:
    return lambda command: events.Refused(re=command.id, code=code, message="No.")


def test_only_a_table_for_one_where_nobody_else_sits_or_races_is_a_run() -> None:
    friends = table("ya")
    alone = replace(table("y"), open="day/klondike", settings=replace(friends.settings, seats=1))
    ghost = replace(friends.racers[1], ghost=True)
    assert is_run(alone, YOU)
    assert is_run(replace(alone, racers=[*alone.racers, ghost]), YOU)
    for other in (
        replace(alone, open=""),
        replace(alone, settings=friends.settings),
        replace(alone, seats=friends.seats),
        replace(alone, racers=friends.racers),
    ):
        assert not is_run(other, YOU)


async def test_every_deal_gets_a_nonce_of_its_own(player: Player) -> None:
    await player.see(player.gathering())
    first = await player.ready()
    await player.see(player.gathering(2, commitment=OTHER_DEAL))
    second = await player.ready()
    assert second.commitment == OTHER_DEAL
    assert first.nonce_hash != second.nonce_hash


async def test_a_nonce_is_not_sent_again_after_the_ready_mark_was_removed(
    player: Player,
) -> None:
    await player.see(player.gathering())
    first = await player.ready()
    await player.duties.not_ready()
    second = await player.ready()
    assert second.nonce_hash != first.nonce_hash
    # a countdown with the hash that was taken back is not this player's
    await player.see(player.countdown(first.nonce_hash))
    assert player.contradicted == ["hash"]


async def test_a_nonce_is_not_sent_again_after_it_was_refused(player: Player) -> None:
    await player.see(player.gathering())
    for code in ("wrong_nonce", "too_fast"):
        player.connection.reply = refusing(code)
        with pytest.raises(CommandRefused):
            await player.duties.ready()
    hashes = [getattr(command, "nonce_hash", "") for command in player.connection.sent]
    player.connection.reply = lambda command: events.Done(re=command.id)
    third = await player.ready()
    assert hashes[0] != hashes[1] == third.nonce_hash, "only a refused nonce is dropped"


async def test_a_hash_that_a_rival_copied_is_no_alarm_and_the_nonce_is_revealed(
    player: Player,
) -> None:
    await player.see(player.gathering())
    own = (await player.ready()).nonce_hash
    seen = player.countdown(own)
    copied = [replace(each, nonce_hash=own) for each in seen.table.racers]
    assert isinstance(await player.see(changed(seen, racers=copied)), Reveal)
    assert player.contradicted == []


async def test_the_nonce_is_revealed_once_for_each_countdown(player: Player) -> None:
    await player.see(player.gathering())
    first = player.countdown((await player.ready()).nonce_hash)
    shown = await player.see(first)
    assert await player.see(changed(first, version=3)) is None
    again = await player.see(changed(first, version=4, reveal_by=first.table.reveal_by + 60_000))
    assert isinstance(shown, Reveal)
    assert shown.commitment == first.table.commitment
    assert (again, player.contradicted) == (shown, [])


async def test_a_server_that_gives_the_player_another_id_does_not_change_the_evidence(
    player: Player, tmp_path: Path
) -> None:
    await player.listed()
    await player.see(player.deal())
    after = Player(player.told, tmp_path, welcomed="z" * 16)
    await after.see(after.gathering(9, race=race_of(player.told, LAST), commitment=OTHER_DEAL))
    assert after.contradicted == ["player", "terms"], "and the race before was thrown away"
    assert after.records.take_due() == [player.race], "the race is missed all the same"


async def test_a_restarted_program_still_knows_its_nonce(player: Player, tmp_path: Path) -> None:
    await player.see(player.gathering())
    ready = await player.ready()
    reveal = await Player(player.told, tmp_path).see(player.countdown(ready.nonce_hash))
    assert isinstance(reveal, Reveal)
    assert nonce_hash(bytes.fromhex(reveal.nonce)) == ready.nonce_hash


@pytest.mark.parametrize("is_another_between", [False, True])
async def test_the_player_does_not_get_ready_again_for_a_deal_after_its_countdown(
    player: Player, is_another_between: bool
) -> None:
    await player.listed()
    if is_another_between:
        await player.see(player.gathering(3, commitment=OTHER_DEAL))
        await player.ready()
    await player.see(player.gathering(4))
    assert player.contradicted == ["terms"], "a voided countdown has a number of its own"
    with pytest.raises(Problem, match="offers a deal again"):
        await player.duties.ready()


@pytest.mark.parametrize(
    ("lie", "fact"),
    [
        (lambda seen: changed(seen, commitment=OTHER_DEAL), "commitment"),
        (lambda seen: with_hash(seen, ME_ID, "00" * 32), "hash"),
        (lambda seen: with_hash(seen, HOST_ID, ""), "hash"),
    ],
    ids=["another deal", "another hash", "a racer without a hash"],
)
async def test_no_nonce_is_revealed_in_another_countdown_than_was_promised(
    player: Player, lie: Callable[[events.TableChanged], Event], fact: str
) -> None:
    await player.see(player.gathering())
    honest = player.countdown((await player.ready()).nonce_hash)
    assert await player.see(lie(honest)) is None
    assert player.contradicted == [fact]


async def test_no_nonce_is_revealed_if_the_racers_have_changed_since_before_a_restart(
    player: Player, tmp_path: Path
) -> None:
    await player.see(player.gathering())
    honest = player.countdown((await player.ready()).nonce_hash)
    player.duties.see(honest)
    after = Player(player.told, tmp_path)
    assert await after.see(changed(honest, version=3, racers=honest.table.racers[:-1])) is None
    assert after.contradicted == ["racers"]


async def test_a_refused_reveal_is_no_error_and_is_sent_again_if_the_countdown_goes_on(
    player: Player,
) -> None:
    await player.see(player.gathering())
    honest = player.countdown((await player.ready()).nonce_hash)
    player.connection.reply = refusing("wrong_phase")
    assert isinstance(await player.see(honest), Reveal)
    assert isinstance(await player.see(changed(honest, version=3)), Reveal)
    await player.see(player.voided())
    assert player.contradicted == [], "a nonce that was not confirmed may be missing"


async def test_a_player_gets_ready_in_the_call_and_reveals_nothing_before_its_end(
    player: Player,
) -> None:
    await player.see(player.gathering())
    assert await player.see(changed(player.countdown(""), phase="call", racers=[])) is None
    ready = await player.ready()
    reveal = await player.see(player.countdown(ready.nonce_hash, version=3))
    assert isinstance(reveal, Reveal)
    assert player.contradicted == []


async def test_a_call_that_is_called_off_leaves_the_deal_as_it_is(player: Player) -> None:
    await player.see(player.gathering())
    before = await player.ready()
    await player.see(changed(player.countdown(""), phase="call", racers=[]))
    await player.see(player.gathering(3))
    again = await player.ready()
    assert (again.commitment, player.contradicted) == (before.commitment, [])


@pytest.mark.parametrize("is_first", [True, False], ids=["void first", "void last"])
@pytest.mark.parametrize("is_lost", [False, True], ids=["connected", "connection lost"])
async def test_a_reveal_without_an_answer_raises_the_alarm_if_the_connection_was_never_lost(
    player: Player, is_first: bool, is_lost: bool
) -> None:
    await player.see(player.gathering())
    ready = await player.ready()

    def unanswered(command: Command) -> Event:
        if is_first:
            player.duties.see(player.voided())
        if is_lost:
            player.connection.state = LinkState.RECONNECTING
        raise RequestTimedOut

    player.connection.reply = unanswered
    assert isinstance(await player.see(player.countdown(ready.nonce_hash)), Reveal)
    player.duties.see(player.voided())
    assert player.contradicted == ([] if is_lost else ["revealed"])


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
