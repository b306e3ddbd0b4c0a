"""A player's fairness checks on a connection whose answers a test chooses, at the table of an honest or lying server."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from kit.messages import racer
from kit.scripted_server import CODE, NOON, PLAYER, RACE, snapshot, table, welcome
from saratoga_client.net.errors import CommandRefused, LinkState
from saratoga_client.session.fairness import FairnessDuties
from saratoga_client.session.record_keeper import RecordKeeper
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state_store import StateStore
from saratoga_client.session.witness import Witness
from saratoga_protocol import commands, events
from saratoga_protocol.commands import Command
from saratoga_protocol.events import Event
from saratoga_protocol.views import wire_view
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.dealing.fairness import commitment, deal_key, nonce_hash
from saratoga_rules.games import GAMES, RULES_VERSION
from saratoga_rules.position import Position, redact
from saratoga_rules.records.record import LogLine, RaceRecord, RacerLog
from saratoga_rules.records.standing import Placed, State

SEED = bytes(range(32))
PROMISE = commitment(SEED, "canfield", RULES_VERSION, CODE, 1, cap=10, public=False)
RIVAL = "rrrrrrrrrrrrrrrr"
RIVALS_NONCE = bytes(16)


def confirmed(command: Command) -> Event:
    return events.Done(re=command.id)


class FakeConnection:
    """A connection on which every command is confirmed, unless a test says otherwise."""

    def __init__(self, player: str, durability: str = "safe", welcomed: str = "") -> None:
        self.player = player
        greeting = welcome(commands.Hello(id=1, token="00" * 32))
        self.welcome = replace(greeting, player=welcomed or player, durability=durability)
        self.losses = 0
        self.state = LinkState.CONNECTED
        self.sent: list[Command] = []
        self.reply: Callable[[Command], Event] = confirmed
        """Returns the answer to a command, or raises the error of the request."""
        self.observer: Callable[[Command, Event], None] = lambda command, event: None

    def observe_answers(self, observer: Callable[[Command, Event], None]) -> None:
        self.observer = observer

    async def request(self, draft: Callable[..., Command], within: float = 0.0) -> Event:
        command = draft(id=1)
        self.sent.append(command)
        answer = self.reply(command)
        self.observer(command, answer)
        if isinstance(answer, events.Refused):
            raise CommandRefused(answer)
        return answer

    async def ask(self, draft: Callable[..., Command], kind: object, within: float = 0.0) -> Event:
        return await self.request(draft)


class DutifulPlayer:
    """A player who takes part in fair deals, and compares records."""

    def __init__(self, folder: Path, welcomed: str = "") -> None:
        self.connection = FakeConnection(PLAYER, welcomed=welcomed)
        self.kept = RecordStore(folder / "races")
        connection = cast(Any, self.connection)
        self.duties = FairnessDuties(connection, Witness(folder))
        self.records = RecordKeeper(connection, self.duties, self.kept, StateStore(lambda: NOON))

    @property
    def contradicted(self) -> list[str]:
        """The kinds of the facts about which the server has contradicted itself."""
        return [found.key[0] for found in self.duties.findings]

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

    async def listed(self) -> str:
        """Let the racers be listed, and reveal the nonce; return it."""
        await self.see(gathering())
        reveal = await self.see(countdown((await self.ready()).nonce_hash))
        assert isinstance(reveal, commands.Reveal)
        return reveal.nonce


def gathering(promise: str = PROMISE, version: int = 1) -> events.Snapshot:
    return replace(snapshot(), table=replace(table(version=version), commitment=promise))


def countdown(own_hash: str, promise: str = PROMISE, version: int = 2) -> events.TableChanged:
    seats = [
        events.Seat(player=PLAYER, name="Anna", ready=True),
        events.Seat(player=RIVAL, name="Bert", ready=True),
    ]
    racers = [
        racer(PLAYER, "Anna", nonce_hash=own_hash),
        racer(RIVAL, "Bert", nonce_hash=nonce_hash(RIVALS_NONCE)),
    ]
    counting = table(version=version, phase="countdown")
    counting = replace(counting, commitment=promise, seats=seats, racers=racers)
    return events.TableChanged(table=counting, now=NOON)


def changed(event: events.TableChanged, **changes: Any) -> events.TableChanged:
    """Return an event with other fields of its table."""
    return replace(event, table=replace(event.table, **changes))


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
