"""Save the checked records of a table's races, show the verdicts, and find the player's best result."""

import logging
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from saratoga_client.session.bounded import put_newest
from saratoga_client.session.feed import Tone, with_line
from saratoga_client.session.personal_best import best_in
from saratoga_client.session.record_check import CheckedRecord, not_sent
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState, Verification
from saratoga_client.session.state_store import StateStore
from saratoga_client.session.witness import MISSING
from saratoga_rules.records.record import RecordError, parse_record

LOG: Final = logging.getLogger("saratoga.racing")

MOST_VERIFICATIONS: Final = 100
"""The most verdicts in the state; screens show those of the latest races."""


class RecordKeeper:
    """A keeper of checked records: saves them, and puts the verdicts into the session's state."""

    def __init__(self, store: StateStore, records: RecordStore) -> None:
        self._store = store
        self._records = records

    def missing(self, race: str) -> None:
        """Report that the server did not send the record of a race."""
        self._report(
            f"the server did not send the record of race {race}; a review requests it again"
        )
        self._show(race, Verification(False, not_sent(race)))

    def keep(self, race: str, checked: CheckedRecord) -> None:
        """Save the record of a race, and put the verdict into the state.

        The check of a record that is not verified has raised the alarm, with all that is wrong.
        """
        self._withdraw(race)
        text, proof = checked
        if proof.race == race:  # else it may be of a race at another server
            self._keep(text)
        self._show(race, Verification(proof.ok, proof.sentence, proof.is_contradicted))
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
        """Put into the state how the server contradicted itself about a race; before there is one, log it."""
        state = self._store.state
        if state is None:
            sentences = "; ".join(disagreements)
            LOG.error("the server contradicts itself on race %s: %s", race, sentences)
            return
        said = (_sentence(race, sentence) for sentence in disagreements)
        fresh = tuple(alarm for alarm in said if alarm not in state.alarms)
        feed = state.feed
        at = feed.lines[-1].at if feed.lines else 0
        for alarm in fresh:
            feed = with_line(feed, at, alarm, Tone.ALARM)
        self._store.replace(replace(state, alarms=(*state.alarms, *fresh), feed=feed))

    def _withdraw(self, race: str) -> None:
        """Take back the alarm that the record of a race was missing."""
        state = self._store.state
        if state is None:
            return
        missing = {_sentence(race, alarm) for alarm in MISSING}
        alarms = tuple(alarm for alarm in state.alarms if alarm not in missing)
        if alarms != state.alarms:
            lines = tuple(line for line in state.feed.lines if line.text not in missing)
            self._store.replace(
                replace(state, alarms=alarms, feed=replace(state.feed, lines=lines))
            )

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
            if result is None:
                return
            former = self._records.best(result.game, state.player)
            if not self._records.note(result, state.player):
                return
        except OSError as error:
            self._report_unwritten(error)
            return
        # The table may play another race or another game by now.
        if result.game == state.table.settings.game:
            is_new = former is not None and result.race == state.table.race
            self._store.replace(replace(state, best=result, is_new_best=is_new))

    def _show(self, race: str, verification: Verification) -> None:
        state = self._store.state
        if state is not None:
            known = dict(state.verifications)
            put_newest(known, race, verification, MOST_VERIFICATIONS)
            self._store.replace(replace(state, verifications=MappingProxyType(known)))

    def _report(self, text: str) -> None:
        """Add a line to the feed, unless the feed has it already."""
        state = self._store.state
        if state is None or any(line.text == text for line in state.feed_lines):
            return
        at = state.feed_lines[-1].at if state.feed_lines else 0
        feed = with_line(state.feed, at, text, Tone.LINK)
        self._store.replace(replace(state, feed=feed))


def _sentence(race: str, alarm: str) -> str:
    """Return an alarm about a race as players read it."""
    return f"Race {race}: {alarm}."
