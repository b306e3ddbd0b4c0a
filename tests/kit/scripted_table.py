"""A player's fairness checks at the table of a scripted server, which is honest or not."""

import asyncio
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from kit.messages import racer
from kit.scripted_server import (
    CODE,
    NOON,
    PLAYER,
    RACE,
    ScriptedPeer,
    snapshot,
    table,
)
from saratoga_client.net.connection import Connection
from saratoga_client.session.fairness import FairnessDuties
from saratoga_client.session.record_keeper import RecordKeeper
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state_store import StateStore
from saratoga_client.session.verdict import Proof
from saratoga_client.session.witness import Witness
from saratoga_protocol import commands, events
from saratoga_protocol.events import Event
from saratoga_protocol.views import wire_view
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.dealing.fairness import commitment, deal_key, nonce_hash
from saratoga_rules.games import GAMES, RULES_VERSION
from saratoga_rules.position import Position, redact
from saratoga_rules.records.record import (
    LogLine,
    RaceRecord,
    RacerLog,
)
from saratoga_rules.records.standing import Placed, State

SEED = bytes(range(32))
PROMISE = commitment(SEED, "canfield", RULES_VERSION, CODE, 1, cap=10, public=False)
RIVAL = "rrrrrrrrrrrrrrrr"
RIVALS_NONCE = bytes(16)


async def handle(duties: FairnessDuties, event: Event) -> None:
    """See an event, and reveal the nonce if that is due, as a session does."""
    duties.see(event)
    if duties.has_to_reveal:
        await duties.reveal()


class DutifulPlayer:
    """A player's fairness checks, the connection, and the server's side of the connection."""

    def __init__(self, client: Connection, peer: ScriptedPeer, folder: Path) -> None:
        self.peer = peer
        self.alarmed = asyncio.Event()
        """Set when the alarms may have changed."""
        self._client = client
        self._folder = folder
        self._reading = asyncio.ensure_future(self._read())
        self.seat = self.restarted()

    async def _read(self) -> None:
        """Reach the answers in the stream of events, as the reader of a session does."""
        async for _ in self._client.events():
            pass

    def restarted(self) -> FairnessDuties:
        """Return the fairness checks of a program that has just been started."""
        duties = FairnessDuties(self._client, Witness(self._folder))
        self.kept = RecordStore(self._folder / "races")
        self.records = RecordKeeper(self._client, duties, self.kept, StateStore(lambda: 0))
        duties.on_alarms = self.alarmed.set
        return duties

    @property
    def alarms(self) -> list[str]:
        """The kinds of the facts about which the server has contradicted itself."""
        return [found.key[0] for found in self.seat.findings]

    @property
    def due(self) -> list[str]:
        """The races whose records are to be asked for now."""
        return self.records.take_due()

    async def check(self, race: str, *, is_final: bool = False) -> Proof | None:
        """Ask for a record, in the background of the test."""
        return await self.records.check(race, is_final=is_final)

    async def answer(self, duty: Any) -> commands.Command:
        """Run one of the fairness checks' coroutines; confirm the one command it sends and return it."""
        doing = asyncio.ensure_future(duty)
        command = await self.peer.command()
        await self.peer.send(events.Done(re=command.id))
        await doing
        return command

    async def answer_refused(self, duty: Any) -> None:
        """Run one of the fairness checks' coroutines; refuse the one command it sends."""
        doing = asyncio.ensure_future(duty)
        command = await self.peer.command()
        await self.peer.send(events.Refused(re=command.id, code="wrong_phase", message=""))
        await doing

    async def ready(self) -> commands.Ready:
        command = await self.answer(self.seat.ready())
        assert isinstance(command, commands.Ready)
        return command

    async def race(self) -> str:
        """Send the events up to the deal; return the nonce that the player revealed."""
        await handle(self.seat, gathering())
        ready = await self.ready()
        reveal = await self.answer(handle(self.seat, countdown(ready.nonce_hash)))
        assert isinstance(reveal, commands.Reveal)
        await handle(self.seat, dealt(reveal.nonce))
        return reveal.nonce

    async def hear_the_record(self, text: str) -> None:
        """Answer the request for the one record that is due."""
        (race,) = self.due
        doing = asyncio.ensure_future(self.check(race))
        command = await self.peer.command()
        assert command == commands.GetRecord(id=command.id, race=race)
        await self.peer.send(events.Record(re=command.id, race=race, text=text))
        await doing


def gathering(promise: str = PROMISE, version: int = 1) -> Event:
    return replace(snapshot(), table=replace(table(version=version), commitment=promise))


def countdown(own_hash: str, promise: str = PROMISE, version: int = 2) -> events.TableChanged:
    seats = [
        events.Seat(player=PLAYER, name="Anna", ready=True),
        events.Seat(player=RIVAL, name="Bert", ready=True),
    ]
    counting = replace(
        table(version=version, phase="countdown"),
        commitment=promise,
        seats=seats,
        racers=[
            racer(PLAYER, "Anna", nonce_hash=own_hash),
            racer(RIVAL, "Bert", nonce_hash=nonce_hash(RIVALS_NONCE)),
        ],
    )
    return events.TableChanged(table=counting, now=NOON)


def the_deal(nonce: str) -> Position:
    nonces = {PLAYER: bytes.fromhex(nonce), RIVAL: RIVALS_NONCE}
    return deal_for_key(GAMES["canfield"], deal_key(SEED, RACE, nonces))


def dealt(nonce: str) -> Event:
    view = wire_view(redact(the_deal(nonce)))
    board = events.BoardView(
        race=RACE, count=0, view=view, banked=1, net=-45, state="racing", head="0" * 16
    )
    return events.BoardChanged(board=board, start_at=NOON, deadline=NOON + 600_000, now=NOON)


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
        public=False,
        commitment=PROMISE,
        seed=SEED.hex(),
        deal=the_deal(nonce),
        ranked=False,
        racers=racers,
        results=tuple(
            Placed(place=1, player=player, banked=1, net=-45, reached=None, state=State.CASH_OUT)
            for player in (PLAYER, RIVAL)
        ),
    )
