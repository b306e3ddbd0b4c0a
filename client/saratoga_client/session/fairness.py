"""A player's part in fair deals at one table, and the witness of its races; people and bots share the code.

`FairnessDuties` draws the player's nonce, sends `ready` with its hash, and reveals the nonce in the countdown.
`TableWitness` keeps and compares what the server shows, and `RecordCheck` compares the records of the races
with it. It must see every event of the connection, in order.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from saratoga_client.net.connection import Connection, LinkState
from saratoga_client.net.errors import (
    ClientClosed,
    CommandRefused,
    DealSpent,
    RequestTimedOut,
    ServerClosed,
    Unreachable,
)
from saratoga_client.session.record_check import CHECKS_WITHIN, RecordCheck
from saratoga_client.session.witness import TableWitness, Witness
from saratoga_protocol import events
from saratoga_protocol.commands import Command, NotReady, Ready, Reveal
from saratoga_protocol.events import Event
from saratoga_rules.dealing.fairness import NONCE_BYTES, nonce_hash
from saratoga_rules.records.facts import CONTRADICTED, Finding

if TYPE_CHECKING:
    from saratoga_client.session.verdict import Proof

LOG: Final = logging.getLogger("saratoga.seat")

CONNECTION_ENDS: Final = (ClientClosed, ServerClosed, Unreachable)
"""The errors that end a connection."""

HASH_DIGITS: Final = 64


class FairnessDuties:
    """A client's part in fair deals. An instance serves one player or watcher at one table."""

    def __init__(
        self,
        connection: Connection,
        witness: Witness,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        """Keep what was seen in `witness`; call `changed` whenever `alarms` may have changed."""
        self._connection = connection
        self._changed = changed
        self.findings: list[Finding] = []
        """How the server has contradicted itself."""
        self._stop_observing: Callable[[], None] | None = None
        self.observed = TableWitness(connection, witness, self._tell)
        self.records = RecordCheck(connection, self.observed, witness, changed)
        self._ready: tuple[str, Ready] | None = None
        """The race and the `ready` of this connection that stands for it; `None` if another device may
        have sent another."""
        self._revealed: tuple[str, int] | None = None
        """The countdown whose nonce was revealed: commitment and `reveal_by`, which is another if the
        countdown begins again."""

    def close(self) -> None:
        """Stop to observe the answers of the connection, which may be used for another table."""
        if self._stop_observing is not None:
            self._stop_observing()

    @property
    def alarms(self) -> tuple[str, ...]:
        """Sentences on how the server contradicts itself, and on the races whose records are missing."""
        from saratoga_client.session.verdict import alarm_sentence, missing_sentence

        records = (alarm for alarms in self.records.contradicted.values() for alarm in alarms)
        missing = map(missing_sentence, sorted(self.records.missing))
        return tuple(dict.fromkeys([*map(alarm_sentence, self.findings), *records, *missing]))

    @property
    def table(self) -> events.Table | None:
        """The latest version of the table."""
        return self.observed.table

    @property
    def player(self) -> str:
        return self._connection.player

    async def ready(self) -> None:
        """Mark the player ready, with a nonce for this deal; draw another after it was taken back or refused.

        Raises `DealSpent`, or an error of `Connection.request`.
        """
        table = self.table
        assert table is not None, "no snapshot has been handled yet"
        if self.observed.is_spent(table.race, table.commitment):
            raise DealSpent(f"the nonces for race {table.race} are known already")
        if not self._nonce(table):
            self._keep_nonce(table, secrets.token_hex(NONCE_BYTES))
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

    def see(self, event: Event) -> None:
        """Keep the facts of an event. Then `records.take_due` has the records to check, and a nonce may be due."""
        if self._stop_observing is None:
            # not before: a session that never enters its table is never closed
            self._stop_observing = self._connection.observe_answers(self._see_answer)
        if isinstance(event, events.Snapshot):
            self._ready = None
        self.observed.see(event)
        table = self.table
        if table is not None and table.phase == "countdown" and self._is_racer(table):
            self._see_countdown(table)

    @property
    def has_to_reveal(self) -> bool:
        """Test whether this player races in the table's countdown and has not revealed the nonce."""
        table = self.table
        return (
            table is not None
            and table.phase == "countdown"
            and self._is_racer(table)
            and self._revealed != (table.commitment, table.reveal_by)
        )

    async def reveal(self) -> None:
        """Reveal the nonce in the countdown, unless the server has changed what it promised."""
        table = self.table
        if table is None or not self.has_to_reveal:
            return
        seen, nonce = self.observed.seen(table.race), self._nonce(table)
        listed = {racer.player: racer.nonce_hash for racer in table.racers}
        if not nonce or listed[self.player] != nonce_hash(bytes.fromhex(nonce)):
            LOG.warning("another device got ready for race %s, so it has the nonce", table.race)
            return
        if seen is None or seen.clashes:
            return
        self._revealed = table.commitment, table.reveal_by
        states = [self._connection.state]
        unsubscribe = self._connection.subscribe(states.append)
        try:
            await self._connection.request(
                partial(Reveal, table=table.code, commitment=table.commitment, nonce=nonce)
            )
        except CommandRefused as refusal:
            # Probably too late: the server cancels the countdown and informs all players, or the
            # countdown goes on, and the nonce is revealed again.
            self._revealed = None
            LOG.info("the nonce for race %s was not accepted: %s", table.race, refusal)
        except RequestTimedOut:
            self._revealed = None
            if set(states) == {LinkState.CONNECTED}:
                # a server that never answers may not say later that the nonce was missing
                self._note_revealed(table.race)
        finally:
            unsubscribe()

    async def finish(self, table: str, keep: Callable[[str, "Proof"], None]) -> None:
        """Ask a last time for the records of a table that the player has left or cannot enter; `keep` what comes.

        What does not come in `CHECKS_WITHIN` seconds is asked for when the player comes to that table again.
        """

        async def check(race: str) -> None:
            proof = await self.records.check(race, lambda _: None, is_final=True)
            if proof is not None:
                keep(race, proof)

        with suppress(TimeoutError, *CONNECTION_ENDS):
            async with asyncio.timeout(CHECKS_WITHIN):
                await asyncio.gather(*map(check, self.observed.unchecked(table)))

    def _see_answer(self, command: Command, answer: Event) -> None:
        """Keep the facts of an answer, and what it confirms, in the order of all events."""
        self.observed.see_answer(command, answer)
        if isinstance(answer, events.Done) and self.table is not None:
            match command:
                case Ready():
                    self._ready = self.table.race, command
                case NotReady():
                    self._ready = None
                case Reveal():
                    self._note_revealed(self.table.race)

    def _note_revealed(self, race: str) -> None:
        self.observed.add((("revealed", race, self.player), "yes"))

    def _see_countdown(self, table: events.Table) -> None:
        """Compare the countdown with what this connection's `ready` said."""
        for racer in table.racers:
            if len(racer.nonce_hash) != HASH_DIGITS:
                key = "hash", table.race, racer.player
                self.observed.tell(Finding(CONTRADICTED, key, "a hash", racer.nonce_hash))
        if self._ready is not None and self._ready[0] == table.race:
            _, ready = self._ready
            self.observed.add((("commitment", table.race), ready.commitment))
            self.observed.add((("hash", table.race, self.player), ready.nonce_hash))

    def _tell(self, found: Finding) -> None:
        LOG.error("the server contradicts itself: %s", found)
        self.findings.append(found)
        self._changed()

    def _nonce(self, table: events.Table) -> str:
        return self.observed.nonce(table.race, table.commitment)

    def _keep_nonce(self, table: events.Table, nonce: str) -> None:
        self.observed.note(table.race, "nonce", table.commitment, nonce)

    def _drop_nonce(self, table: events.Table) -> None:
        """Forget a nonce that was taken back or refused, unless its countdown has started meanwhile."""
        if not self.observed.is_spent(table.race, table.commitment):
            self._keep_nonce(table, "")

    def _is_racer(self, table: events.Table) -> bool:
        return any(racer.player == self.player for racer in table.racers)
