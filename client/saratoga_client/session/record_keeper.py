"""Ask for the records of a table's races, compare them with what this machine saw, save and show them.

A record that does not come in 30 seconds of answers is missing until it comes. Answers that say
nothing about the race, such as a store that is away, and no answer at all do not count.
"""

import asyncio
import logging
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Final

from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import (
    ClientClosed,
    CommandRefused,
    RequestTimedOut,
    ServerClosed,
    UnexpectedAnswer,
    Unreachable,
)
from saratoga_client.session.fairness import FairnessDuties
from saratoga_client.session.history import best_in, raced_in
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState, Verification
from saratoga_client.session.state_store import StateStore
from saratoga_client.session.table_view import put_newest
from saratoga_client.session.verdict import Proof, missing_sentence, not_sent_sentence, prove
from saratoga_client.session.witness import now, with_others
from saratoga_protocol import events
from saratoga_protocol.commands import GetRecord

LOG: Final = logging.getLogger("saratoga.racing")

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

MOST_VERIFICATIONS: Final = 100
"""The most verdicts in the state; screens show those of the latest races."""


class RecordKeeper:
    """The records of one table's races."""

    def __init__(
        self,
        connection: Connection,
        duties: FairnessDuties,
        records: RecordStore,
        store: StateStore,
    ) -> None:
        """Save records in `records`; put verdicts, alarms and best results into the state in `store`."""
        self._connection = connection
        self._duties = duties
        duties.on_alarms = self.show_alarms
        self._records = records
        self._store = store
        self._asked: dict[str, bool] = {}
        """The races whose record is being asked for, and whether it is late."""

    def take_due(self) -> list[str]:
        """Return the races whose record is to be asked for now, each once: pass them to `check`."""
        due = [race for race in self._duties.waiting() if race not in self._asked]
        self._asked.update(dict.fromkeys(due, False))
        return due

    def is_awaiting(self, race: str = "") -> bool:
        """Test whether the record of a race, by default of any, was asked for and is neither there nor late."""
        return any(not late for each, late in self._asked.items() if race in ("", each))

    async def check(self, race: str, *, is_final: bool = False) -> Proof | None:
        """Ask for the record of a race until it comes, and compare it.

        A check that `is_final` returns `None` when the record is missing, or if the race may still
        run.
        """
        clock = asyncio.get_running_loop().time
        until, denials, is_missing = clock() + MISSING_AFTER, 0, False
        ask = partial(GetRecord, race=race)
        try:
            while True:
                try:
                    answer = await self._connection.ask(ask, events.Record, MISSING_AFTER / 3)
                    return await self.prove(race, answer.text)
                except CommandRefused as refusal:
                    LOG.info("the server did not send the record of race %s: %s", race, refusal)
                    if refusal.code == RUNNING and self._may_run(race):
                        if is_final:
                            return None
                    elif refusal.code in DENIALS:
                        denials += 1
                        # a final refusal stays one, and a session that ends waits for no other
                        is_missing = is_missing or (is_final and not refusal.retry)
                except (RequestTimedOut, UnexpectedAnswer) as error:
                    LOG.info("the server did not send the record of race %s: %s", race, error)
                if is_missing or denials * ASK_AGAIN_AFTER >= MISSING_AFTER:
                    is_missing = True
                    self._duties.alarm(missing_sentence(race))
                if (is_missing or clock() >= until) and not self._asked.get(race, True):
                    self._asked[race] = True
                    self._show(race, Verification(False, not_sent_sentence(race)))
                if is_final and is_missing:
                    return None
                await asyncio.sleep(ASK_AGAIN_AFTER)
        finally:
            self._asked.pop(race, None)

    async def finish(self, table: str) -> None:
        """Ask a last time for the records of a table that the player has left or cannot enter.

        What does not come in `CHECKS_WITHIN` seconds is asked for when the player comes to that
        table again.
        """
        checks = [self.check(race, is_final=True) for race in self._duties.unchecked(table)]
        with suppress(TimeoutError, ClientClosed, ServerClosed, Unreachable):
            async with asyncio.timeout(CHECKS_WITHIN):
                await asyncio.gather(*checks)

    async def prove(self, race: str, text: str) -> Proof:
        """Compare a record with what was seen of its race; save it, and show the verdict."""
        seen = self._duties.seen(race)
        if seen is not None:
            seen = with_others(seen, [*self._duties.witness.races.values()])
        proof = await asyncio.to_thread(prove, text.encode("ascii", "replace"), race, seen)
        if seen is not None:
            self._duties.note(race, "checked", proof.digest)
        self._duties.withdraw(missing_sentence(race))
        self._duties.alarm(*proof.alarms)
        self._show(race, Verification(proof.ok, proof.sentence, proof.is_contradicted))
        try:
            self._keep(race, proof)
        except OSError as error:
            LOG.warning("the record was not saved: %s", error)
            self._store.report(
                f"the record was not saved on this machine: {error.strerror or error}"
            )
        return proof

    def _keep(self, race: str, proof: Proof) -> None:
        """Save a record and the player's race, also as the best if it is. Raises `OSError`."""
        if proof.race == race:  # else it may be of a race at another server
            # a wrong one too, as evidence against the server
            self._records.keep(race, proof.text)
        state, player = self._store.state, self._duties.player
        if state is None or proof.record is None or not proof.ok:
            return
        if raced := raced_in(proof.record, player):
            self._records.add(raced)
        result = best_in(proof.record, player)
        former = self._records.best(proof.record.game, player)
        is_best = result is not None and self._records.note(result, player)
        # the table may play another race or another game by now
        if is_best and result is not None and result.game == state.table.settings.game:
            is_new = former is not None and result.race == state.table.race
            self._store.replace(replace(state, best=result, is_new_best=is_new))

    def _may_run(self, race: str) -> bool:
        """Test whether an honest server may still say that a race runs."""
        table, seen = self._duties.table, self._duties.seen(race)
        if table is not None and (table.race != race or table.phase in ("over", "closed")):
            return False
        terms = "" if seen is None else seen.facts.get(("terms", race), "")
        cap = int(terms.split()[-2]) if terms else 0
        return not cap or seen is None or now() - seen.seen_at < cap * 60_000 + LONGEST_DELAY

    def kept(self, race: str) -> str | None:
        """Return the text of a race's record saved on this machine; `None` without one.

        If the state has the race's result, only the record with the announced digest counts.
        """
        state = self._store.state
        outcome = None if state is None else state.table_view.outcome
        digest = outcome.digest if outcome is not None and outcome.race == race else ""
        return self._records.text(race, digest)

    def with_best(self, state: SessionState) -> SessionState:
        """Return the state with the player's best result in the table's game."""
        game, before = state.table.settings.game, self._store.state
        is_known = before is not None and before.table.settings.game == game
        if is_known or (state.best is not None and state.best.game == game):
            return state
        return replace(state, best=self._records.best(game, state.player))

    def show_alarms(self) -> None:
        """Put the alarms that hold now into the state; before there is one, only the log has them."""
        state = self._store.state
        if state is not None:
            self._store.replace(replace(state, alarms=self._duties.alarms))

    def _show(self, race: str, verification: Verification) -> None:
        state = self._store.state
        if state is not None:
            known = dict(state.verifications)
            put_newest(known, race, verification, MOST_VERIFICATIONS)
            self._store.replace(replace(state, verifications=MappingProxyType(known)))
