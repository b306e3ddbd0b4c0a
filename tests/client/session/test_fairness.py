"""The fairness duties at the table of a scripted server, honest or not."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from kit.scripted_server import (
    CODE,
    NOON,
    PLAYER,
    RACE,
    TOKEN,
    ScriptedPeer,
    ScriptedServer,
    scripted_server,
    snapshot,
    table,
)
from saratoga_client.net.connection import Connection, Timing
from saratoga_client.net.errors import DealSpent
from saratoga_client.session.fairness import COUNTDOWN_CHANGED, DEAL_REUSED, FairnessDuties
from saratoga_client.session.witness import Witness
from saratoga_protocol import commands, events
from saratoga_protocol.events import AnyEvent
from saratoga_protocol.views import wire_view
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.dealing.fairness import commitment, deal_key, nonce_hash
from saratoga_rules.games import GAMES, RULES_VERSION
from saratoga_rules.position import Position
from saratoga_rules.records.record import (
    LogLine,
    RaceRecord,
    RacerLog,
    ResultLine,
    digest_of,
    format_record,
)
from saratoga_rules.records.standing import State
from saratoga_rules.views import redact

SEED = bytes(range(32))
PROMISE = commitment(SEED, "canfield", RULES_VERSION, CODE, 1)
RIVAL = "rrrrrrrrrrrrrrrr"
RIVALS_NONCE = bytes(16)

Alarms = list[tuple[str, tuple[str, ...]]]


class Player:
    """A player's duties, the connection, and the server's side of it."""

    def __init__(self, client: Connection, peer: ScriptedPeer, folder: Path) -> None:
        self.peer = peer
        self.alarms: Alarms = []
        self.seat = FairnessDuties(
            client, Witness(folder), lambda race, faults: self.alarms.append((race, faults))
        )

    async def answer(self, duty: Any) -> commands.AnyCommand:
        """Handle an event and accept the one command that the duties send."""
        doing = asyncio.ensure_future(duty)
        command = await self.peer.command()
        await self.peer.send(events.Done(re=command.id))
        await doing
        return command

    async def ready(self) -> commands.Ready:
        command = await self.answer(self.seat.ready())
        assert isinstance(command, commands.Ready)
        return command

    async def race(self) -> str:
        """Go from the gathering to the deal; return the revealed nonce."""
        await self.seat.handle(gathering())
        ready = await self.ready()
        reveal = await self.answer(self.seat.handle(countdown(ready.nonce_hash)))
        assert isinstance(reveal, commands.Reveal)
        await self.seat.handle(dealt(reveal.nonce))
        return reveal.nonce

    async def hear_the_end(self, record: RaceRecord, outcome: events.Outcome) -> None:
        doing = asyncio.ensure_future(self.seat.handle(events.RaceOver(outcome=outcome)))
        command = await self.peer.command()
        assert command == commands.GetRecord(id=command.id, race=RACE)
        text = format_record(record)
        await self.peer.send(events.Record(re=command.id, race=RACE, text=text))
        await doing


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with scripted_server() as running:
        yield running


@pytest.fixture
async def player(server: ScriptedServer, tmp_path: Path) -> AsyncIterator[Player]:
    async with Connection(server.url, TOKEN) as client:
        yield Player(client, await server.peer(), tmp_path)


def gathering(promise: str = PROMISE, version: int = 1) -> AnyEvent:
    return replace(snapshot(), table=replace(table(version=version), commitment=promise))


def countdown(own_hash: str, promise: str = PROMISE, version: int = 2) -> events.TableChanged:
    seats = [
        events.Seat(player=PLAYER, name="Anna", ready=True, nonce_hash=own_hash),
        events.Seat(player=RIVAL, name="Bert", ready=True, nonce_hash=nonce_hash(RIVALS_NONCE)),
    ]
    counting = replace(
        table(version=version, phase="countdown"),
        commitment=promise,
        seats=seats,
        racers=[PLAYER, RIVAL],
    )
    return events.TableChanged(table=counting, now=NOON)


def the_deal(nonce: str) -> Position:
    nonces = {PLAYER: bytes.fromhex(nonce), RIVAL: RIVALS_NONCE}
    return deal_for_key(GAMES["canfield"], deal_key(SEED, RACE, nonces))


def dealt(nonce: str) -> AnyEvent:
    view = wire_view(redact(the_deal(nonce)))
    board = events.BoardView(race=RACE, count=0, view=view, banked=1, net=-45, state="racing")
    return events.Dealt(board=board, start_at=NOON, deadline=NOON + 600_000, now=NOON)


def record_of(nonce: str) -> RaceRecord:
    """Return the record of a race in which both players cash out at once."""
    racers = tuple(
        RacerLog(
            player=player,
            name=name,
            bot=False,
            nonce=shown,
            nonce_hash=nonce_hash(bytes.fromhex(shown)),
            log=(LogLine(number, number, "cash-out"),),
            banked=1,
            state=State.CASHED_OUT,
        )
        for number, (player, name, shown) in enumerate(
            [(PLAYER, "Anna", nonce), (RIVAL, "Bert", RIVALS_NONCE.hex())], start=1
        )
    )
    return RaceRecord(
        game="canfield",
        rules_version=RULES_VERSION,
        table=CODE,
        race=1,
        start_at=NOON,
        cap=10,
        commitment=PROMISE,
        seed=SEED.hex(),
        chosen_seed=False,
        deal=the_deal(nonce),
        ranked=False,
        racers=racers,
        results=tuple(
            ResultLine(
                place=1, player=player, banked=1, net=-45, reached=None, state=State.CASHED_OUT
            )
            for player in (PLAYER, RIVAL)
        ),
    )


def outcome_of(record: RaceRecord) -> events.Outcome:
    return events.Outcome(
        race=RACE,
        game=record.game,
        results=[
            events.Result(
                player=row.player,
                name="",
                place=row.place,
                banked=row.banked,
                net=row.net,
                state=row.state,
                moves=0,
            )
            for row in record.results
        ],
        seed=record.seed,
        nonces={racer.player: racer.nonce for racer in record.racers},
        digest=digest_of(format_record(record)),
    )


async def test_ready_names_the_commitment_and_the_hash_of_a_nonce(player: Player) -> None:
    await player.seat.handle(gathering())
    ready = await player.ready()
    assert (ready.table, ready.commitment) == (CODE, PROMISE)
    reveal = await player.answer(player.seat.handle(countdown(ready.nonce_hash)))
    assert isinstance(reveal, commands.Reveal)
    assert nonce_hash(bytes.fromhex(reveal.nonce)) == ready.nonce_hash


async def test_every_deal_gets_a_nonce_of_its_own(player: Player) -> None:
    await player.seat.handle(gathering())
    first = await player.ready()
    await player.seat.handle(gathering("d0" * 32, version=2))
    second = await player.ready()
    assert second.commitment == "d0" * 32
    assert first.nonce_hash != second.nonce_hash


async def test_the_nonce_is_revealed_once(player: Player) -> None:
    await player.seat.handle(gathering())
    ready = await player.ready()
    await player.answer(player.seat.handle(countdown(ready.nonce_hash)))
    # A further command would wait here for an answer.
    await player.seat.handle(countdown(ready.nonce_hash, version=3))


async def test_an_older_version_of_the_table_is_ignored(player: Player) -> None:
    await player.seat.handle(gathering(version=5))
    await player.seat.handle(countdown("00" * 32, version=4))
    assert player.seat.table is not None
    assert player.seat.table.phase == "gathering"


async def test_a_restarted_program_still_knows_its_nonce(
    server: ScriptedServer, tmp_path: Path
) -> None:
    async with Connection(server.url, TOKEN) as client:
        before = Player(client, await server.peer(), tmp_path)
        await before.seat.handle(gathering())
        ready = await before.ready()
    async with Connection(server.url, TOKEN) as client:
        after = Player(client, await server.peer(), tmp_path)
        reveal = await after.answer(after.seat.handle(countdown(ready.nonce_hash)))
    assert isinstance(reveal, commands.Reveal)
    assert nonce_hash(bytes.fromhex(reveal.nonce)) == ready.nonce_hash


async def test_the_player_does_not_get_ready_again_for_a_deal_after_its_countdown(
    player: Player,
) -> None:
    await player.seat.handle(gathering())
    ready = await player.ready()
    await player.answer(player.seat.handle(countdown(ready.nonce_hash)))
    await player.seat.handle(gathering(version=3))
    assert player.alarms == [(RACE, (DEAL_REUSED,))]
    with pytest.raises(DealSpent):
        await player.seat.ready()


async def test_a_restarted_program_does_not_get_ready_again_for_that_deal(
    server: ScriptedServer, tmp_path: Path
) -> None:
    async with Connection(server.url, TOKEN) as client:
        before = Player(client, await server.peer(), tmp_path)
        await before.seat.handle(gathering())
        ready = await before.ready()
        await before.answer(before.seat.handle(countdown(ready.nonce_hash)))
    async with Connection(server.url, TOKEN) as client:
        after = Player(client, await server.peer(), tmp_path)
        await after.seat.handle(gathering(version=3))
        assert after.alarms == [(RACE, (DEAL_REUSED,))]
        with pytest.raises(DealSpent):
            await after.seat.ready()


async def test_a_reused_deal_is_noticed_although_another_came_between(player: Player) -> None:
    await player.seat.handle(gathering())
    ready = await player.ready()
    await player.answer(player.seat.handle(countdown(ready.nonce_hash)))
    await player.seat.handle(gathering("d0" * 32, version=3))
    assert player.alarms == []
    await player.ready()
    await player.seat.handle(gathering(version=4))
    assert player.alarms == [(RACE, (DEAL_REUSED,))]
    with pytest.raises(DealSpent):
        await player.seat.ready()


@pytest.mark.parametrize(
    "others",
    [[], [events.Seat(player=RIVAL, name="Bert", ready=True, nonce_hash="00" * 32)]],
    ids=["a racer less", "another hash"],
)
async def test_a_countdown_with_changed_nonce_hashes_raises_the_alarm(
    player: Player, others: list[events.Seat]
) -> None:
    await player.seat.handle(gathering())
    honest = countdown((await player.ready()).nonce_hash)
    await player.answer(player.seat.handle(honest))
    seats = [honest.table.seats[0], *others]
    racers = [seat.player for seat in seats]
    again = replace(honest.table, version=3, seats=seats, racers=racers)
    await player.seat.handle(events.TableChanged(table=again, now=NOON))
    assert player.alarms == [(RACE, (COUNTDOWN_CHANGED,))]


async def test_a_racer_who_leaves_in_the_countdown_raises_no_alarm(player: Player) -> None:
    await player.seat.handle(gathering())
    honest = countdown((await player.ready()).nonce_hash)
    await player.answer(player.seat.handle(honest))
    left = replace(honest.table, version=3, seats=honest.table.seats[:1])
    await player.seat.handle(events.TableChanged(table=left, now=NOON))
    assert player.alarms == []


async def test_no_nonce_is_revealed_for_a_deal_the_player_is_not_ready_for(player: Player) -> None:
    await player.seat.handle(gathering())
    ready = await player.ready()
    await player.seat.handle(countdown(ready.nonce_hash, promise="d0" * 32))
    ((race, faults),) = player.alarms
    assert race == RACE
    assert "has not said ready" in faults[0]


async def test_no_nonce_is_revealed_if_the_server_names_another_hash(player: Player) -> None:
    await player.seat.handle(gathering())
    await player.ready()
    await player.seat.handle(countdown("00" * 32))
    ((_, faults),) = player.alarms
    assert "did not send" in faults[0]


async def test_a_nonce_that_the_server_refuses_is_no_error(player: Player) -> None:
    await player.seat.handle(gathering())
    ready = await player.ready()
    showing = asyncio.create_task(player.seat.handle(countdown(ready.nonce_hash)))
    command = await player.peer.command()
    await player.peer.send(events.Refused(re=command.id, code="wrong_phase", message="Late."))
    await showing
    assert player.alarms == []


async def test_an_honest_race_is_witnessed(player: Player) -> None:
    record = record_of(await player.race())
    await player.hear_the_end(record, outcome_of(record))
    said = player.seat.testimonies[RACE]
    assert said.verdict == "witnessed here"
    assert said.seen == ("commitment", "nonces", "deal", "digest")
    assert player.alarms == []


async def test_a_record_is_requested_once(player: Player) -> None:
    record = record_of(await player.race())
    outcome = outcome_of(record)
    await player.hear_the_end(record, outcome)
    # A second request would wait here for an answer.
    await player.seat.handle(replace(snapshot(), table=table(version=9), outcome=outcome))


@pytest.mark.parametrize(
    ("lie", "sentence"),
    [
        ({"seed": "00" * 32}, "seed"),
        ({"nonces": {PLAYER: "00" * 16}}, "nonces"),
        ({"results": []}, "announced result"),
        ({"digest": "00" * 32}, "digest"),
    ],
)
async def test_a_result_that_differs_from_the_record_raises_the_alarm(
    player: Player, lie: dict[str, Any], sentence: str
) -> None:
    record = record_of(await player.race())
    await player.hear_the_end(record, replace(outcome_of(record), **lie))
    ((race, faults),) = player.alarms
    assert race == RACE
    assert sentence in " ".join(faults)
    assert player.seat.testimonies[RACE].verdict == "not the race seen here"


async def test_a_record_refused_for_the_moment_is_requested_again(player: Player) -> None:
    record = record_of(await player.race())
    doing = asyncio.ensure_future(player.seat.handle(events.RaceOver(outcome=outcome_of(record))))
    command = await player.peer.command()
    no = events.Refused(re=command.id, code="race_running", message="Later.", retry=True)
    await player.peer.send(no)
    await doing
    await player.hear_the_end(record, outcome_of(record))
    assert player.seat.testimonies[RACE].verdict == "witnessed here"


async def test_a_refused_record_is_not_requested_again(player: Player) -> None:
    outcome = outcome_of(record_of(await player.race()))
    doing = asyncio.ensure_future(player.seat.handle(events.RaceOver(outcome=outcome)))
    command = await player.peer.command()
    await player.peer.send(events.Refused(re=command.id, code="no_such_race", message="No."))
    await doing
    # A second request would wait here for an answer.
    await player.seat.handle(replace(snapshot(), table=table(version=9), outcome=outcome))
    assert player.seat.testimonies == {}


async def test_a_record_request_without_an_answer_is_not_repeated(
    server: ScriptedServer, tmp_path: Path
) -> None:
    async with Connection(server.url, TOKEN, timing=Timing(answer_within=0.1)) as client:
        watcher = Player(client, await server.peer(), tmp_path)
        outcome = outcome_of(record_of("00" * 16))
        over = replace(snapshot(), outcome=outcome)
        for _ in range(2):
            await watcher.seat.handle(over)
        assert isinstance(await watcher.peer.command(), commands.GetRecord)
        await watcher.answer(watcher.seat.not_ready())


async def test_a_commitment_changed_since_the_countdown_raises_the_alarm(player: Player) -> None:
    await player.race()
    running = replace(table(version=7, phase="running"), commitment="d0" * 32)
    for _ in range(2):
        await player.seat.handle(events.TableChanged(table=running, now=NOON))
    ((_, faults),) = player.alarms
    assert "changed since the countdown" in faults[0]


async def test_a_watcher_reveals_nothing_and_still_witnesses_the_race(player: Player) -> None:
    seats = [events.Seat(player=RIVAL, name="Bert", nonce_hash=nonce_hash(RIVALS_NONCE))]
    counting = replace(table(phase="countdown"), commitment=PROMISE, seats=seats, racers=[RIVAL])
    await player.seat.handle(events.TableChanged(table=counting, now=NOON))
    record = record_of("00" * 16)
    await player.hear_the_end(record, outcome_of(record))
    said = player.seat.testimonies[RACE]
    assert said.seen == ("commitment", "nonces", "digest")
    assert said.disagreements == (f"{PLAYER} is in the record, but was not in the countdown",)
