"""A server on a real socket that shows a client a race whose record exists already, and then lies about it.

The client has to draw the nonce of that record and to make its moves. So a test can change any event of the
race, or the record, and compute everything else anew, as a server could that knows the whole protocol.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec.structs import replace

from kit.scripted_server import ScriptedPeer, ScriptedServer, welcome
from saratoga_protocol import commands, events
from saratoga_protocol.views import wire_view
from saratoga_rules.money import net
from saratoga_rules.position import Position
from saratoga_rules.records.record import LogLine, RaceRecord, digest_of, format_record
from saratoga_rules.records.replay import game_of, steps
from saratoga_rules.records.standing import RacerScore, Reached, State, ranking
from saratoga_rules.records.voided import NONCE_MISSING
from saratoga_rules.views import redact

Change = Callable[[RaceRecord], RaceRecord]


def same(record: RaceRecord) -> RaceRecord:
    return record


@dataclass
class Lie:
    """How the server departs from the truth; without arguments it is honest."""

    record: Change = same
    """Changes the record after the race; the announced result and digest follow from the changed one."""
    standings: Callable[[events.Standings], events.Standings] = lambda shown: shown
    """Changes the standings that are sent during the race."""
    is_announced: bool = True
    """Whether the result is announced; else the table gathers for the next race at once."""
    is_sent: bool = True
    """Whether the record is sent when the client asks for it."""
    is_reused: bool = False
    """Whether the table gathers again under the number of the race that was dealt."""
    is_discarded: bool = False
    """Whether the deal is discarded after the nonces were revealed, without a trace."""
    is_blamed: bool = False
    """Whether the countdown is voided, because the client's nonce, which was confirmed, is missing."""


@dataclass
class LyingServer:
    """One race for one client, the racer with the lowest player id."""

    server: ScriptedServer
    truth: RaceRecord
    lie: Lie
    version: int = 1
    told: RaceRecord = field(init=False)

    def __post_init__(self) -> None:
        self.own = self.truth.racers[0]
        self.told = self.lie.record(self.truth)
        self.game = game_of(self.truth)
        self.server.greeting = lambda hello: replace(
            welcome(hello), player=self.own.player, name=self.own.name
        )

    async def race(self, peer: ScriptedPeer) -> None:
        """Answer the client's commands from its entry until it asks for no record any more."""
        entry = await peer.command()
        await peer.send(events.Snapshot(re=entry.id, table=self.table("gathering"), now=self.now))
        ready = await peer.command()
        assert isinstance(ready, commands.Ready)
        assert ready.nonce_hash == self.own.nonce_hash, "the client drew another nonce"
        await peer.send(events.Done(re=ready.id), self.changed("countdown"))
        reveal = await peer.command()
        assert isinstance(reveal, commands.Reveal)
        if self.lie.is_discarded or self.lie.is_blamed:
            await peer.send(events.Done(re=reveal.id), self.without_race())
            await self.serve_records(peer)
        await peer.send(events.Done(re=reveal.id), self.changed("running"))
        await peer.send(
            events.Dealt(
                board=self.board(self.truth.deal, 0, State.RACING),
                start_at=self.truth.start_at,
                deadline=self.deadline,
                now=self.now,
            )
        )
        await self.run(peer)
        await self.end(peer)
        await self.serve_records(peer)

    async def run(self, peer: ScriptedPeer) -> None:
        """Let the client make its moves, and send the standings after every entry of the race."""
        made = {racer.player: steps(self.truth, racer.player) for racer in self.truth.racers}
        entries = sorted(
            (line.number, player, place)
            for player, course in made.items()
            for place, (line, _) in enumerate(course, start=1)
        )
        now = {racer.player: (self.truth.deal, 0) for racer in self.truth.racers}
        for _, player, place in entries:
            line, position = made[player][place - 1]
            now[player] = position, place
            if player == self.own.player:
                await self.answer(peer, line, position, place)
            await peer.send(self.lie.standings(self.standings(now)))

    async def answer(
        self, peer: ScriptedPeer, line: LogLine, position: Position, place: int
    ) -> None:
        command = await peer.command()
        assert isinstance(command, commands.MakeMove | commands.CashOut), command
        assert line.text == (command.move if isinstance(command, commands.MakeMove) else "cash-out")
        state = self.own.state if place == len(self.own.log) else State.RACING
        board = self.board(position, place, state)
        await peer.send(events.MoveMade(re=command.id, board=board, at=line.at, number=line.number))

    async def end(self, peer: ScriptedPeer) -> None:
        if self.lie.is_announced:
            await peer.send(self.changed("over"), events.RaceOver(outcome=self.outcome()))
            return
        changed = self.changed("gathering")
        number = self.truth.race if self.lie.is_reused else self.truth.race + 1
        race = f"{self.truth.table}/{number}"
        table = replace(changed.table, race=race, commitment="d0" * 32)
        await peer.send(replace(changed, table=table))

    def without_race(self) -> events.TableChanged:
        """Return the table that gathers for another deal instead of the race."""
        changed = self.changed("gathering")
        table = replace(changed.table, commitment="d0" * 32)
        if self.lie.is_blamed:
            voided = events.VoidedRace(
                race=self.truth.race_id,
                game=self.truth.game,
                rules=self.truth.rules_version,
                cap=self.truth.cap,
                public=self.truth.public,
                reason=NONCE_MISSING,
                commitment=self.truth.commitment,
                seed=self.truth.seed,
                nonces={racer.player: racer.nonce for racer in self.truth.racers[1:]},
                missing={self.own.player: self.own.nonce_hash},
            )
            race = f"{self.truth.table}/{self.truth.race + 1}"
            table = replace(table, race=race, voided=[voided])
        return replace(changed, table=table)

    async def serve_records(self, peer: ScriptedPeer) -> None:
        while True:
            command = await peer.command()
            if isinstance(command, commands.GetRecord) and self.lie.is_sent:
                text = format_record(self.told)
                await peer.send(events.Record(re=command.id, race=command.race, text=text))
            elif isinstance(command, commands.GetRecord):
                no = events.Refused(re=command.id, code="no_such_race", message="No such race.")
                await peer.send(no)
            else:
                await peer.send(events.Done(re=command.id))

    # Events

    @property
    def now(self) -> int:
        return self.truth.start_at

    @property
    def deadline(self) -> int:
        return self.truth.start_at + (self.truth.time_allowed or 0)

    def changed(self, phase: str) -> events.TableChanged:
        self.version += 1
        return events.TableChanged(table=self.table(phase), now=self.now)

    def table(self, phase: str) -> events.Table:
        is_before = phase == "gathering"
        return events.Table(
            code=self.truth.table,
            version=self.version,
            host=self.truth.racers[1].player,
            phase=phase,
            settings=events.TableSettings(
                game=self.truth.game, cap=self.truth.cap, seats=16, public=self.truth.public
            ),
            race=self.truth.race_id,
            commitment=self.truth.commitment,
            seats=[
                events.Seat(
                    player=racer.player,
                    name=racer.name,
                    bot=racer.bot,
                    ready=not is_before,
                    nonce_hash="" if is_before else racer.nonce_hash,
                )
                for racer in self.truth.racers
            ],
            racers=[] if is_before else [racer.player for racer in self.truth.racers],
            reveal_by=0 if is_before else self.truth.start_at - 500,
            start_at=0 if is_before else self.truth.start_at,
            deadline=0 if is_before else self.deadline,
            ranked=self.truth.ranked and not is_before,
        )

    def board(self, position: Position, count: int, state: State) -> events.BoardView:
        return events.BoardView(
            race=self.truth.race_id,
            count=count,
            view=wire_view(redact(position)),
            banked=position.banked,
            net=net(self.game, position.banked),
            state=state,
        )

    def standings(self, now: dict[str, tuple[Position, int]]) -> events.Standings:
        scores = [
            RacerScore(
                player=racer.player,
                banked=now[racer.player][0].banked,
                state=racer.state if now[racer.player][1] == len(racer.log) else State.RACING,
                reached=Reached(0, 0),
            )
            for racer in self.truth.racers
        ]
        rows = [
            events.Standing(
                player=row.player, place=row.place, banked=row.banked, net=row.net, state=row.state
            )
            for row in ranking(self.game, scores)
        ]
        return events.Standings(race=self.truth.race_id, standings=rows)

    def outcome(self) -> events.Outcome:
        return events.Outcome(
            race=self.told.race_id,
            game=self.told.game,
            results=[
                events.Result(
                    player=row.player,
                    name=self.told.racer(row.player).name,
                    place=row.place,
                    banked=row.banked,
                    net=row.net,
                    state=row.state,
                    moves=self.told.racer(row.player).moves,
                    bot=self.told.racer(row.player).bot,
                    reached=row.reached,
                )
                for row in self.told.results
            ],
            seed=self.told.seed,
            nonces={racer.player: racer.nonce for racer in self.told.racers},
            digest=digest_of(format_record(self.told)),
            ranked=self.told.ranked,
        )
