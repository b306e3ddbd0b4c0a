"""Save and check the records of a table's races, and find the player's best result in them."""

import asyncio
import logging
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from saratoga_client.session.feed import Tone, with_line
from saratoga_client.session.personal_best import best_in
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState, Verification
from saratoga_client.session.state_store import StateStore
from saratoga_client.session.witness import Witness
from saratoga_rules.records.lines import RecordError
from saratoga_rules.records.record import parse_record

LOG: Final = logging.getLogger("saratoga.racing")


class RecordKeeper:
    """A keeper of records: saves and checks them, and puts the verdicts into the session's state."""

    def __init__(self, store: StateStore, records: RecordStore, witness: Witness) -> None:
        self._store = store
        self._records = records
        self._witness = witness

    def missing(self, race: str) -> None:
        """Report that the server did not send the record of a race."""
        self._report(
            f"the server did not send the record of race {race}; a review requests it again"
        )

    async def keep_and_check(self, race: str, text: str) -> None:
        """Save the record of a race, check it, and put the verdict into the state."""
        self._keep(text)
        sighting = self._witness.load(race)
        # Imported only after a race, so that the program starts faster.
        from saratoga_client.session.verification import prove

        proof = await asyncio.to_thread(
            prove, text.encode("ascii", "replace"), race, sighting, self._witness
        )
        sentence = proof.sentence
        if not proof.ok:
            faults = [check.detail for check in proof.checks if not check.ok]
            sentence = f"{sentence} {'; '.join(faults)}"
        self._show(race, Verification(proof.ok, sentence))
        if proof.ok:
            self._note_best(text)

    def kept(self, race: str) -> str | None:
        """Return the text of a race's record saved on this machine; `None` without one.

        If the state has the race's result, only the record with the announced digest counts.
        """
        state = self._store.state
        outcome = None if state is None else state.table_view.outcome
        is_this_race = outcome is not None and outcome.race == race
        digest = outcome.digest if outcome is not None and is_this_race else ""
        return self._records.text(race, digest)

    def with_best(self, state: SessionState) -> SessionState:
        """Return the state with the player's best result in the table's game."""
        game, before = state.table.settings.game, self._store.state
        is_known = before is not None and before.table.settings.game == game
        if is_known or (state.best is not None and state.best.game == game):
            return state
        return replace(state, best=self._records.best(game, state.player))

    def raise_alarm(self, race: str, disagreements: tuple[str, ...]) -> None:
        """Log how the server contradicted itself about a race, and put that into the state."""
        LOG.error("the server contradicts itself on race %s: %s", race, "; ".join(disagreements))
        state = self._store.state
        if state is not None:
            fresh = tuple(f"Race {race}: {sentence}." for sentence in disagreements)
            self._store.replace(replace(state, alarms=(*state.alarms, *fresh)))

    def _keep(self, text: str) -> None:
        """Save a record, even if its check fails, as evidence against the server."""
        try:
            self._records.keep(text)
        except OSError as error:
            self._report_unwritten(error)

    def _report_unwritten(self, error: OSError) -> None:
        LOG.warning("the record was not saved: %s", error)
        self._report(f"the record was not saved on this machine: {error.strerror or error}")

    def _note_best(self, text: str) -> None:
        """Update the player's best result from a verified record."""
        state = self._store.state
        if state is None:
            return
        try:
            result = best_in(parse_record(text), state.player)
        except RecordError:
            return
        try:
            if result is None or not self._records.note(result, state.player):
                return
        except OSError as error:
            self._report_unwritten(error)
            return
        # The table may play another race or another game by now.
        if result.game == state.table.settings.game:
            is_this_race = result.race == state.table.race
            self._store.replace(replace(state, best=result, is_new_best=is_this_race))

    def _show(self, race: str, verification: Verification) -> None:
        state = self._store.state
        if state is not None:
            known = MappingProxyType({**state.verifications, race: verification})
            self._store.replace(replace(state, verifications=known))

    def _report(self, text: str) -> None:
        """Add a line to the feed, unless the feed has it already."""
        state = self._store.state
        if state is None or any(line.text == text for line in state.feed_lines):
            return
        at = state.feed_lines[-1].at if state.feed_lines else 0
        feed = with_line(state.feed, at, text, Tone.LINK)
        self._store.replace(replace(state, feed=feed))
