"""Ask for the records of the races at one table, and compare them with what this machine saw.

A record that does not come in 30 seconds of answers is missing until it comes. Answers that say nothing about
the race, such as a store that is away, and no answer at all do not count.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused, RequestTimedOut, UnexpectedAnswer
from saratoga_client.session.witness import TableWitness, Witness, now
from saratoga_protocol import events
from saratoga_protocol.commands import GetRecord

if TYPE_CHECKING:
    from saratoga_client.session.verdict import Proof

LOG: Final = logging.getLogger("saratoga.seat")

MISSING_AFTER: Final = 30.0
"""Seconds of answers without a record after which the record counts as missing."""
ASK_AGAIN_AFTER: Final = 2.0
"""Seconds between two requests for a record."""
CHECKS_WITHIN: Final = 35.0
"""Seconds for which the end of a session waits for records that have not come."""

RUNNING: Final = "race_running"
DENIALS: Final = frozenset({RUNNING, "no_such_race", "no_such_table", "table_closed"})
"""The codes of the refusals that say that there is no record."""

LONGEST_DELAY: Final = 5 * 60_000
"""Milliseconds from the listing of the racers, besides the time limit, for which a race may run."""


class RecordCheck:
    """The requests for the records of one table's races."""

    def __init__(
        self,
        connection: Connection,
        observed: TableWitness,
        witness: Witness,
        changed: Callable[[], None],
    ) -> None:
        """Call `changed` whenever a record turns out to be missing, or contradicted, or comes after all."""
        self._connection = connection
        self._observed = observed
        self._witness = witness
        self._changed = changed
        self._begun: set[str] = set()
        self._awaited: set[str] = set()
        """The races whose record is neither there nor late."""
        self._denied: dict[str, int] = {}
        """How often the server has answered that there is no record."""
        self.missing: set[str] = set()
        self.contradicted: dict[str, tuple[str, ...]] = {}
        """The alarms about the records that contradict themselves, or what was seen."""

    def take_due(self) -> list[str]:
        """Return the races whose record is to be asked for now, each once: pass them to `check`."""
        due = [race for race in self._observed.waiting() if race not in self._begun]
        self._begun.update(due)
        self._awaited.update(due)
        return due

    def is_awaiting(self, race: str = "") -> bool:
        """Test whether the record of a race, by default of any, was asked for and is neither there nor late."""
        return race in self._awaited if race else bool(self._awaited)

    async def check(
        self, race: str, late: Callable[[str], None], *, is_final: bool = False
    ) -> "Proof | None":
        """Ask for the record of a race until it comes, and compare it; call `late` once if it is late.

        A check that `is_final` returns `None` when the record is missing, or if the race may still run.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + MISSING_AFTER
        try:
            while True:
                try:
                    ask = partial(GetRecord, race=race)
                    answer = await self._connection.ask(ask, events.Record, MISSING_AFTER / 3)
                    return await self.prove(race, answer.text)
                except CommandRefused as refusal:
                    LOG.info("the server did not send the record of race %s: %s", race, refusal)
                    if refusal.code == RUNNING and self._may_run(race):
                        if is_final:
                            return None
                    elif refusal.code in DENIALS:
                        # a final refusal stays one, and a session that ends waits for no other
                        self._deny(race, most=is_final and not refusal.retry)
                except (RequestTimedOut, UnexpectedAnswer) as error:
                    LOG.info("the server did not send the record of race %s: %s", race, error)
                is_late = race in self.missing or clock() >= until
                if is_late and race in self._awaited:
                    self._awaited.discard(race)
                    late(race)
                if is_final and race in self.missing:
                    return None
                await asyncio.sleep(ASK_AGAIN_AFTER)
        finally:
            self._awaited.discard(race)
            self._begun.discard(race)

    def _deny(self, race: str, *, most: bool) -> None:
        self._denied[race] = self._denied.get(race, 0) + 1
        if most or self._denied[race] * ASK_AGAIN_AFTER >= MISSING_AFTER:
            self.missing.add(race)
            self._changed()

    async def prove(self, race: str, text: str) -> "Proof":
        """Compare a record with what was seen of its race."""
        # imported only after a race, so that the program starts faster
        from saratoga_client.session.verdict import prove

        seen = self._witness.evidence(race, self._observed.player)
        proof = await asyncio.to_thread(prove, text.encode("ascii", "replace"), race, seen)
        if seen is not None:
            self._observed.note(race, "checked", proof.digest)
        was_missing = race in self.missing
        self.missing.discard(race)
        if proof.alarms:
            self.contradicted[race] = proof.alarms
        if was_missing or proof.alarms:
            self._changed()
        return proof

    def _may_run(self, race: str) -> bool:
        """Test whether an honest server may still say that a race runs."""
        table, seen = self._observed.table, self._observed.seen(race)
        if table is not None and (table.race != race or table.phase in ("over", "closed")):
            return False
        terms = "" if seen is None else seen.facts.get(("terms", race), "")
        cap = int(terms.split()[-2]) if terms else 0
        return not cap or seen is None or now() - seen.seen_at < cap * 60_000 + LONGEST_DELAY
