"""A player's part in fair deals at one table, and the comparison of all that the server states about its races.

`FairnessDuties` draws the player's nonce, sends `ready` with its hash, and reveals the nonce in the
countdown. A server that states another value of a fact than before contradicts itself, at once or
by its record (`record_keeper`). People and bots share the code.
"""

import logging
import secrets
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Final

from saratoga_client.net.connection import Connection, LinkState
from saratoga_client.net.errors import CommandRefused, RequestTimedOut
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.facts import Fact, facts
from saratoga_client.session.verdict import alarm_sentence
from saratoga_client.session.witness import SeenRace, Witness, number_of
from saratoga_protocol import events
from saratoga_protocol.commands import CashOut, Command, MakeMove, NotReady, Ready, Reveal
from saratoga_protocol.events import Event
from saratoga_rules.dealing.fairness import NONCE_BYTES, nonce_hash
from saratoga_rules.records.facts import CONTRADICTED, MISSING, Finding, skipped

LOG: Final = logging.getLogger("saratoga.seat")

HASH_DIGITS: Final = 64

FAST: Final = "fast"
"""The durability at which a server may lose what it has acknowledged."""

MAX_FACTS: Final = 100_000
"""Maximum number of facts of one race; the longest logs of a full table have fewer."""
MAX_CLASHES: Final = 100
"""Maximum number of contradictions at one table that are kept and told."""
MAX_VALUE: Final = 400
"""Maximum number of characters of a value; the longest names sixteen players."""


def is_run(table: events.Table, player: str) -> bool:
    """Test whether a table is that of the player's run in an open race: nobody else sits or races there."""
    others = [seat for seat in table.seats if seat.player != player]
    rivals = [racer for racer in table.racers if racer.player != player and not racer.ghost]
    return bool(table.open) and table.settings.seats == 1 and not (others or rivals)


class FairnessDuties:
    """A client's part in fair deals at one table; it must see every event of the connection, in order."""

    def __init__(self, connection: Connection, witness: Witness) -> None:
        """Keep what was seen in `witness`."""
        self._connection = connection
        self.witness = witness
        self.on_alarms: Callable[[], None] = lambda: None
        """Called whenever `alarms` may have changed."""
        self.player: Final = connection.player
        self.table: events.Table | None = None
        """The latest version of the table."""
        self.findings: list[Finding] = []
        """How the server has contradicted itself."""
        self._alarms: dict[str, None] = {}
        self.losses = 0
        """How often the server has lost data of an unfinished race that this program saw."""
        self._announced = 0
        """How often the server had said that it lost data when the last snapshot came."""
        self._racing = ""
        """The race in which this connection has shown the player seated, and racing or in the countdown."""
        self._is_run = False
        """True if the table is that of the player's own run in an open race, fixed by the first snapshot."""
        self._ready: tuple[str, Ready] | None = None
        """The race and the `ready` of this connection that stands for it; `None` if another device
        may have sent another."""
        self._revealed: tuple[str, int] | None = None
        """The countdown whose nonce was revealed: commitment and `reveal_by`, which is another if
        the countdown begins again."""

    @property
    def alarms(self) -> tuple[str, ...]:
        """Sentences on how the server contradicts itself, and on the races whose records are missing."""
        return tuple(self._alarms)

    def alarm(self, *sentences: str) -> None:
        """Raise alarms; each is said once."""
        self._alarms.update(dict.fromkeys(sentences))
        self.on_alarms()

    def withdraw(self, sentence: str) -> None:
        """Withdraw an alarm, if it was raised."""
        self._alarms.pop(sentence, None)
        self.on_alarms()

    # The player's nonce

    async def ready(self) -> None:
        """Mark the player ready, with a nonce for this deal; draw another after it was taken back or refused.

        Raises `Problem` for a deal whose countdown has started before, because its nonces are known
        and a new nonce would let the server choose among deals. Raises the errors of
        `Connection.request`, too.
        """
        table = self.table
        assert table is not None, "no snapshot has been handled yet"
        if self._is_spent(table):
            raise Problem(
                "The server offers a deal again although its nonces are already known.",
                "A known deal is unfair, so you were not made ready. Ask the host to change a setting.",
                Exit.REFUSED,
            )
        if not self._nonce(table):
            self.note(table.race, "nonce", table.commitment, secrets.token_hex(NONCE_BYTES))
        hashed = nonce_hash(bytes.fromhex(self._nonce(table)))
        ready = partial(Ready, table=table.code, commitment=table.commitment, nonce_hash=hashed)
        try:
            await self._connection.request(ready)
        except CommandRefused as refusal:
            if refusal.code == "wrong_nonce":
                self._drop_nonce(table)
            raise

    async def not_ready(self) -> None:
        """Remove the player's ready mark; raises `CommandRefused`."""
        table = self.table
        assert table is not None, "no snapshot has been handled yet"
        await self._connection.request(partial(NotReady, table=table.code))
        self._drop_nonce(table)

    @property
    def has_to_reveal(self) -> bool:
        """Test whether this player races in the table's countdown and has not revealed the nonce."""
        table = self.table
        return (
            table is not None
            and table.phase == "countdown"
            and not self._is_run
            and table.racer(self.player) is not None
            and self._revealed != (table.commitment, table.reveal_by)
        )

    async def reveal(self) -> None:
        """Reveal the nonce in the countdown, unless the server has changed what it promised."""
        table = self.table
        if table is None or not self.has_to_reveal:
            return
        seen, nonce = self.seen(table.race), self._nonce(table)
        listed = {racer.player: racer.nonce_hash for racer in table.racers}
        if not nonce or listed[self.player] != nonce_hash(bytes.fromhex(nonce)):
            LOG.warning("another device got ready for race %s, so it has the nonce", table.race)
            return
        if seen is None or seen.clashes:
            return
        self._revealed = table.commitment, table.reveal_by
        welcome = self._connection.welcome
        reveal = partial(Reveal, table=table.code, commitment=table.commitment, nonce=nonce)
        try:
            await self._connection.request(reveal)
        except CommandRefused as refusal:
            # Probably too late: the server cancels the countdown and informs all players, or the
            # countdown goes on, and the nonce is revealed again.
            self._revealed = None
            LOG.info("the nonce for race %s was not accepted: %s", table.race, refusal)
        except RequestTimedOut:
            self._revealed = None
            is_held = self._connection.state is LinkState.CONNECTED
            if is_held and self._connection.welcome is welcome:
                # a server that never answers may not say later that the nonce was missing
                self._add((("revealed", table.race, self.player), "yes"))

    def _nonce(self, table: events.Table) -> str:
        """Return the nonce that this player drew for the table's deal; empty without one."""
        seen = self.seen(table.race)
        return "" if seen is None else seen.notes.get(("nonce", table.race, table.commitment), "")

    def _drop_nonce(self, table: events.Table) -> None:
        """Forget a nonce that was taken back or refused, unless its countdown has started meanwhile."""
        if not self._is_spent(table):
            self.note(table.race, "nonce", table.commitment, "")

    def _is_spent(self, table: events.Table) -> bool:
        """Test whether the racers were listed for the table's deal, so that its nonces may be known."""
        seen = self.seen(table.race)
        return seen is not None and ("listed", table.race, table.commitment) in seen.notes

    # What was seen

    def seen(self, race: str) -> SeenRace | None:
        """Return what was seen of a race; `None` if nothing was."""
        return self.witness.races.get(race)

    def note(self, race: str, kind: str, *more: str) -> None:
        """Keep a note of a race, with its value last; the race's facts are kept from now on."""
        seen = self.witness.open(race, self.player, self._connection.welcome.durability)
        seen.add(kind, *more)
        seen.save()

    def leaving(self) -> None:
        """Note that this program sends the command to leave."""
        if self._racing:
            self.note(self._racing, "leave", "yes")

    def unchecked(self, table: str) -> list[str]:
        """Return the recent races at a table whose record was not compared with all that was seen."""
        if self.table is None:
            self.witness.recall(table, self.player)
        return [each.race for each in self.witness.races.values() if each.is_missed]

    def waiting(self) -> list[str]:
        """Return those of the unchecked races that are over."""
        table = self.table
        if table is None:
            return []
        seen = self.seen(table.race)
        is_over = seen is not None and ("end", table.race) in seen.facts
        is_over = is_over or table.phase in ("over", "closed")
        return [race for race in self.unchecked(table.code) if is_over or race != table.race]

    # Events

    def see(self, event: Event) -> None:
        """Compare and keep the facts in an event. Then a nonce may be due, and records (`waiting`)."""
        if isinstance(event, events.Snapshot | events.TableChanged) and not self._take(event):
            return
        stated = list(facts(event, self.player))
        if isinstance(event, events.Snapshot):
            self._see_snapshot(event.table, stated)
        elif isinstance(event, events.Refused) and event.board is not None:
            self._see_refused(event.board.race, stated)
        self._add(*stated, *self._own_ending(event))
        self._see_gaps(event)
        if isinstance(event, events.Snapshot | events.TableChanged):
            self._see_countdown(event.table)

    def _take(self, event: events.Snapshot | events.TableChanged) -> bool:
        """Take over the table of an event, unless it is an older version; keep the facts of its race from now on."""
        table, known = event.table, self.table
        if known is None:
            self._connection.observe_answers(self._see_answer)
            self.witness.recall(table.code, self.player)
            self._is_run = is_run(table, self.player)
        elif isinstance(event, events.TableChanged) and known.version > table.version:
            return False
        self.table = table
        if bool(table.open) != self._is_run:
            # a table of friends that calls itself a run would owe nobody a nonce or a record
            was, said = ("a run", "a race")[:: 1 if self._is_run else -1]
            self._tell(Finding(CONTRADICTED, ("open", table.race), was, said))
        is_over = table.phase == "closed" or self._is_spent(table)
        # the deal of an open race is fixed without nonces, and its record opens later (`run_watch`)
        if table.racers and not self._is_run and not is_over:
            self.note(table.race, "listed", table.commitment, table.phase)
        return True

    def _see_answer(self, command: Command, answer: Event) -> None:
        """Keep the facts of an answer, and what it confirms, in the order of all events."""
        if isinstance(command, MakeMove | CashOut):
            self.see(answer)
            if isinstance(answer, events.BoardChanged):
                self._see_own_entry(command, answer)
        elif isinstance(answer, events.Done) and self.table is not None:
            match command:
                case Ready():
                    self._ready = self.table.race, command
                case NotReady():
                    self._ready = None
                case Reveal():
                    self._add((("revealed", self.table.race, self.player), "yes"))

    def _see_own_entry(self, command: MakeMove | CashOut, answer: events.BoardChanged) -> None:
        """Compare the entry that the server has made of a command with the command."""
        made, place = "cash-out", answer.place
        if isinstance(command, MakeMove):
            made, place = command.move, command.after + 1
        entry = answer.entries[0] if answer.entries else ""
        if entry.split(" ")[2:] != [made] or answer.place != place:
            key = "entry", command.race, self.player, str(place)
            self._tell(Finding(CONTRADICTED, key, made, entry))

    def _see_snapshot(self, table: events.Table, stated: list[Fact]) -> None:
        """Note what a server at `fast` may have lost; compare the player that the server has welcomed."""
        self._racing, self._ready = "", None
        welcomed = self._connection.welcome.player
        if welcomed != self.player:
            key = "player", table.race
            self._tell(Finding(CONTRADICTED, key, self.player, welcomed))
        is_announced = self._announced != self._connection.losses
        self._announced = self._connection.losses
        number = number_of(table.race)
        lossy = [
            each
            for each in self.witness.races.values()
            if each.durability == FAST
            if not each.is_checked or number_of(each.race) >= number
        ]
        is_loss = (
            is_announced
            or any(number_of(each.race) > number for each in lossy)
            or any(seen.clash(key, value) for seen in lossy for key, value in stated)
        )
        for seen in lossy:
            if is_loss or any(key[0] == "head" for key in seen.facts):
                self.note(seen.race, "lost", "all" if is_loss else "head")
        self.losses += bool(lossy) and is_loss

    def _see_refused(self, race: str, stated: list[Fact]) -> None:
        """Note that a server at `fast` has lost entries, as it says only after the refusal that shows so."""
        seen = self.seen(race)
        if seen is None or seen.durability != FAST:
            return
        if any(seen.clash(key, value) for key, value in stated):
            self.note(race, "lost", "all")

    def _see_countdown(self, table: events.Table) -> None:
        """Compare the player's countdown with what this connection's `ready` said."""
        if table.phase != "countdown" or self._is_run or table.racer(self.player) is None:
            return
        for racer in table.racers:
            if len(racer.nonce_hash) != HASH_DIGITS:
                key = "hash", table.race, racer.player
                self._tell(Finding(CONTRADICTED, key, "a hash", racer.nonce_hash))
        if self._ready is not None and self._ready[0] == table.race:
            _, ready = self._ready
            self._add(
                (("commitment", table.race), ready.commitment),
                (("hash", table.race, self.player), ready.nonce_hash),
            )

    def _own_ending(self, event: Event) -> Iterator[Fact]:
        """Yield that the player has not left, when the board ends and this program sent no such command."""
        match event:
            case events.Snapshot(board=board) | events.BoardChanged(board=board) if (
                board is not None and board.state == "racing"
            ):
                self._racing = board.race
            case events.Snapshot(table=table) | events.TableChanged(table=table):
                seated = any(seat.player == self.player for seat in table.seats)
                if table.phase == "countdown" and seated and table.racer(self.player) is not None:
                    self._racing = table.race
                elif table.previous is not None and table.previous.reason:
                    yield from self._stayed(table.previous.race)
            case events.BoardChanged(board=board):
                yield from self._stayed(board.race)
            case events.RaceOver(outcome=outcome):
                yield from self._stayed(outcome.race)
            case events.SeatLost():
                self._racing = ""

    def _stayed(self, race: str) -> Iterator[Fact]:
        seen = self.seen(race)
        if race == self._racing and seen is not None and ("leave", race) not in seen.notes:
            yield ("left", race, self.player), "no"

    def _see_gaps(self, event: Event) -> None:
        """Raise the alarm about races that the table or the match no longer shows between two others."""
        if isinstance(event, events.Snapshot | events.TableChanged):
            table = event.table
            before = "" if table.previous is None else table.previous.race
            if before != table.race and table.phase != "closed":
                self._tell_skipped(before, table.race, "terms")
        if isinstance(event, events.Snapshot | events.MatchChanged) and event.match is not None:
            for before, race in pairwise(event.match.finished):
                self._tell_skipped(before, race, "order")

    def _tell_skipped(self, before: str, race: str, kind: str) -> None:
        """Raise the alarm about seen races with such a fact between two others."""
        if number_of(race) and (number_of(before) or not before):
            for each in [*self.witness.races.values()]:
                listed = {key: value for key, value in each.facts.items() if key[0] == kind}
                for found in skipped(listed, before, race, kind):
                    if found.kind != MISSING:
                        self._tell(found)

    # Comparing

    def _add(self, *stated: Fact) -> None:
        """Compare facts with those seen before, and keep the new ones."""
        for key, whole in stated:
            seen, value = self.seen(key[1]), whole and whole[:MAX_VALUE]
            if seen is None or (seen.is_lost and key[0] == "head"):
                # what others lost is not announced: their rows may be those from before the loss
                continue
            if clash := seen.clash(key, value):
                self._tell(clash)
            elif value is not None and key not in seen.facts and len(seen.facts) < MAX_FACTS:
                seen.add(key[0], *key[2:], value)
                if seen.is_checked:
                    seen.add("checked", "")
        for seen in self.witness.races.values():
            seen.save()

    def _tell(self, found: Finding) -> None:
        """Tell a contradiction and keep it, once."""
        if found in self.findings or len(self.findings) >= MAX_CLASHES:
            return
        LOG.error("the server contradicts itself: %s", found)
        self.findings.append(found)
        kind, race, *more = found.key
        if (seen := self.seen(race)) is not None and found not in seen.clashes:
            self.note(race, "clash", kind, *more, found.seen, found.found[:MAX_VALUE])
        self.alarm(alarm_sentence(found))
