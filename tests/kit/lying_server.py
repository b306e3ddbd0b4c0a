"""A server on a real socket that shows a client a race whose record exists already, and then lies about it.

The client has to draw the nonce of that record and to make its moves. So a test can change any event of the
race, or the record, and compute everything else anew, as a server could that knows the whole protocol.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec.structs import replace

from kit.messages import racer
from kit.races import ended, state_in
from kit.scripted_server import ScriptedPeer, ScriptedServer, welcome
from saratoga_protocol import commands, events
from saratoga_protocol.refusals import RETRIED
from saratoga_protocol.views import wire_view
from saratoga_rules.dealing.fairness import deal_key
from saratoga_rules.money import net
from saratoga_rules.position import Position, redact
from saratoga_rules.records.heads import heads
from saratoga_rules.records.record import (
    CLOSED,
    LogLine,
    RaceRecord,
    digest_of,
    format_record,
)
from saratoga_rules.records.replay import game_of, steps
from saratoga_rules.records.standing import RacerScore, Reached, State, ranking
from saratoga_server.domain.results import outcome_of


def announced(record: RaceRecord) -> events.Outcome:
    """Return the result that an honest server announces."""
    return outcome_of(record, digest_of(format_record(record)))


Change = Callable[[RaceRecord], RaceRecord]


def same(record: RaceRecord) -> RaceRecord:
    return record


@dataclass
class Lie:
    """How the server departs from the truth; without arguments it is honest."""

    record: Change = same
    """Changes the record after the race; the announced result and digest follow from the changed one."""
    tables: Callable[[events.Table], events.Table] = lambda table: table
    """Changes the tables that are sent."""
    outcomes: Callable[[events.Outcome], list[events.Outcome]] = lambda outcome: [outcome]
    """Returns the results that are announced one after another."""
    is_announced: bool = True
    """Whether the result is announced; else the table gathers for the next race at once."""
    is_sent: bool = True
    """Whether the record is sent when the client asks for it."""
    is_next_open: bool = False
    """Whether the table gathers for the next race before the record is sent."""
    void: Callable[[RaceRecord], RaceRecord] | None = None
    """Returns the record with which the race is voided at its end, in the place of a result."""
    match: events.Match | None = None
    """The match that is shown with the result; not a lie."""
    refused_as: str = "no_such_race"
    """The code of the refusal to send the record."""


@dataclass
class LyingServer:
    """One race for one client, the racer with the lowest player id."""

    server: ScriptedServer
    truth: RaceRecord
    lie: Lie
    is_watched: bool = False
    """Whether the client watches, and all racers move by themselves."""
    version: int = 1
    told: RaceRecord = field(init=False)

    def __post_init__(self) -> None:
        self.own = self.truth.racers[0]
        self.told = self.lie.record(self.truth)
        self.game = game_of(self.truth)
        key = deal_key(bytes.fromhex(self.truth.seed), self.truth.race_id, self.truth.nonces)
        self.heads = {
            racer.player: heads(key, self.truth.race_id, racer.player, racer.log)
            for racer in self.truth.racers
        }
        self.server.greeting = lambda hello: replace(welcome(hello), name=self.own.name)

    async def race(self, peer: ScriptedPeer) -> None:
        """Answer the client's commands from its entry until it asks for no record any more."""
        entry = await peer.command()
        first = self.table("gathering")
        await peer.send(events.Snapshot(re=entry.id, table=first, now=self.now))
        if self.is_watched:
            await peer.send(self.changed("countdown"), self.changed("running"))
        else:
            await self.take_part(peer)
        await self.run(peer)
        await self.end(peer)
        await self.serve_records(peer)

    async def take_part(self, peer: ScriptedPeer) -> None:
        """Let the client get ready and reveal its nonce, and deal."""
        ready = await peer.command()
        assert isinstance(ready, commands.Ready)
        assert ready.nonce_hash == self.own.nonce_hash, "the client drew another nonce"
        await peer.send(events.Done(re=ready.id), self.changed("countdown"))
        reveal = await peer.command()
        assert isinstance(reveal, commands.Reveal)
        await peer.send(events.Done(re=reveal.id), self.changed("running"), self.dealt())

    async def run(self, peer: ScriptedPeer) -> None:
        """Let the client make its moves, and send the standings after every entry of the race."""
        made = {racer.player: steps(self.truth, racer.player) for racer in self.truth.racers}
        entries = sorted(
            (line.number, player, place)
            for player, course in made.items()
            for place, (line, _) in enumerate(course, start=1)
        )
        now = {racer.player: (self.truth.opening, 0) for racer in self.truth.racers}
        for _, player, place in entries:
            line, position = made[player][place - 1]
            now[player] = position, place
            if player == self.own.player and not self.is_watched:
                await self.answer(peer, line, position, place)
            await peer.send(self.standings(now))

    async def answer(
        self, peer: ScriptedPeer, line: LogLine, position: Position, place: int
    ) -> None:
        command = await peer.command()
        assert isinstance(command, commands.MakeMove | commands.CashOut), command
        assert line.text == (command.move if isinstance(command, commands.MakeMove) else "cash-out")
        is_over = place == len(self.own.log)
        state = state_in(self.truth, self.own.player) if is_over else State.RACING
        board = self.board(position, place, state)
        entry = f"{line.at} {line.number} {line.text}"
        await peer.send(
            events.BoardChanged(re=command.id, board=board, place=place, entries=[entry])
        )

    async def end(self, peer: ScriptedPeer) -> None:
        if self.lie.void is not None:
            await peer.send(self.voiding(self.lie.void(self.truth)))
            return
        if self.lie.is_announced:
            told = self.lie.outcomes(announced(self.told))
            overs = [events.RaceOver(outcome=outcome) for outcome in told]
            match = events.MatchChanged(table=self.truth.table, match=self.lie.match)
            await peer.send(self.changed("over"), match, *overs)
            if self.lie.is_next_open:
                await peer.send(self.gathering_again())
            return
        await peer.send(self.gathering_again())

    def gathering_again(self) -> events.TableChanged:
        """Return the table that gathers after the race."""
        return self.changed("gathering", self.truth.race + 1)

    def voiding(self, record: RaceRecord) -> events.TableChanged:
        """Return the table that is closed, or gathers again, after its race was voided."""
        changed = self.changed("closed") if record.voided == CLOSED else self.gathering_again()
        return replace(changed, table=replace(changed.table, previous=ended(record)))

    async def serve_records(self, peer: ScriptedPeer) -> None:
        while True:
            command = await peer.command()
            if isinstance(command, commands.GetRecord) and self.lie.is_sent:
                void = self.lie.void
                text = format_record(self.told if void is None else void(self.truth))
                await peer.send(events.Record(re=command.id, race=command.race, text=text))
            elif isinstance(command, commands.GetRecord):
                code = self.lie.refused_as
                retry = code in RETRIED
                no = events.Refused(re=command.id, code=code, message="No record.", retry=retry)
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

    def changed(self, phase: str, race: int = 0) -> events.TableChanged:
        """Return the next version of the table, with the deal of another race if one is given."""
        self.version += 1
        table = self.table(phase)
        if race:
            table = replace(table, race=f"{self.truth.table}/{race}", commitment="d0" * 32)
        return events.TableChanged(table=table, now=self.now)

    def dealt(self) -> events.BoardChanged:
        return events.BoardChanged(
            board=self.board(self.truth.opening, 0, State.RACING),
            start_at=self.truth.start_at,
            deadline=self.deadline,
            now=self.now,
        )

    def table(self, phase: str) -> events.Table:
        is_before = phase == "gathering"
        shown = events.Table(
            code=self.truth.table,
            version=self.version,
            host=self.truth.racers[1].player,
            phase=phase,
            settings=events.TableSettings(
                game=self.truth.game, cap=self.truth.cap, seats=16, public=self.truth.public
            ),
            race=self.truth.race_id,
            rules=self.truth.rules_version,
            commitment=self.truth.commitment,
            seats=[
                events.Seat(
                    player=racer.player,
                    name=racer.name,
                    bot=racer.bot,
                    ready=not is_before,
                )
                for racer in self.truth.racers
            ],
            racers=[]
            if is_before
            else [
                racer(each.player, each.name, each.bot, each.nonce_hash)
                for each in self.truth.racers
            ],
            reveal_by=0 if is_before else self.truth.start_at - 500,
            start_at=0 if is_before else self.truth.start_at,
            deadline=0 if is_before else self.deadline,
            ranked=self.truth.ranked and not is_before,
        )
        return self.lie.tables(shown)

    def board(self, position: Position, count: int, state: str) -> events.BoardView:
        return events.BoardView(
            race=self.truth.race_id,
            count=count,
            view=wire_view(redact(position)),
            banked=position.banked,
            net=net(self.game, position.banked),
            state=state,
            head=self.heads[self.own.player][count],
        )

    def head(self, player: str, count: int) -> str:
        """Return the head of the last of so many entries that changed a racer's count or state."""
        rows = [
            (position.banked, state_in(self.truth, player) if place == len(made) else State.RACING)
            for made in (steps(self.truth, player),)
            for place, (_, position) in enumerate(made, start=1)
        ]
        rows.insert(0, (self.truth.opening.banked, State.RACING))
        while count and rows[count] == rows[count - 1]:
            count -= 1
        return self.heads[player][count]

    def standings(self, now: dict[str, tuple[Position, int]]) -> events.Standings:
        scores = [
            RacerScore(
                player=racer.player,
                banked=now[racer.player][0].banked,
                state=state_in(self.truth, racer.player)
                if now[racer.player][1] == len(racer.log)
                else State.RACING,
                reached=Reached(0, 0),
            )
            for racer in self.truth.racers
        ]
        rows = [
            events.Standing(
                player=row.player,
                place=row.place,
                banked=row.banked,
                net=row.net,
                state=row.state,
                head=self.head(row.player, now[row.player][1]),
            )
            for row in ranking(self.game, scores)
        ]
        return events.Standings(race=self.truth.race_id, standings=rows)
