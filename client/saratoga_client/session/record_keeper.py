"""Save the checked records of a table's races, show the verdicts and alarms, and find the player's best result."""

import logging
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from saratoga_client.session.news import FeedLine, Tone, with_line
from saratoga_client.session.personal_best import best_in
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState, Verification
from saratoga_client.session.state_store import StateStore
from saratoga_client.session.table_view import put_newest

if TYPE_CHECKING:
    from saratoga_client.session.verdict import Proof

LOG: Final = logging.getLogger("saratoga.racing")

MOST_VERIFICATIONS: Final = 100
"""The most verdicts in the state; screens show those of the latest races."""


class RecordKeeper:
    """A keeper of checked records: saves them, and puts verdicts and alarms into the session's state."""

    def __init__(self, store: StateStore, records: RecordStore) -> None:
        self._store = store
        self._records = records

    def late(self, race: str) -> None:
        """Show that the server has not sent the record of a race."""
        from saratoga_client.session.verdict import not_sent_sentence

        self._show(race, Verification(False, not_sent_sentence(race)))

    def keep(self, race: str, proof: "Proof") -> None:
        """Save the record of a race, and put the verdict into the state."""
        if proof.race == race:  # else it may be of a race at another server
            try:
                self._records.keep(
                    race, proof.text
                )  # a wrong one too, as evidence against the server
            except OSError as error:
                self._report_unwritten(error)
        self._show(race, Verification(proof.ok, proof.sentence, proof.is_contradicted))
        state = self._store.state
        if proof.ok and proof.record is not None and state is not None:
            result = best_in(proof.record, state.player)
            former = self._records.best(proof.record.game, state.player)
            try:
                is_best = result is not None and self._records.note(result, state.player)
            except OSError as error:
                self._report_unwritten(error)
                return
            # the table may play another race or another game by now
            if is_best and result is not None and result.game == state.table.settings.game:
                is_new = former is not None and result.race == state.table.race
                self._store.replace(replace(state, best=result, is_new_best=is_new))

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

    def show_alarms(self, alarms: tuple[str, ...]) -> None:
        """Put the alarms that hold now into the state; before there is one, only the log has them."""
        state = self._store.state
        if state is None or alarms == state.alarms:
            return
        withdrawn, fresh = set(state.alarms) - set(alarms), set(alarms) - set(state.alarms)
        lines = [line for line in state.feed.lines if line.text not in withdrawn]
        feed = replace(state.feed, lines=tuple(lines))
        for alarm in alarms:
            if alarm in fresh:
                feed = with_line(feed, _newest(feed.lines), alarm, Tone.ALARM)
        self._store.replace(replace(state, alarms=alarms, feed=feed))

    def report(self, text: str) -> None:
        """Add a line to the feed, unless the feed has it already."""
        state = self._store.state
        if state is not None and all(line.text != text for line in state.feed.lines):
            feed = with_line(state.feed, _newest(state.feed.lines), text, Tone.LINK)
            self._store.replace(replace(state, feed=feed))

    def _report_unwritten(self, error: OSError) -> None:
        LOG.warning("the record was not saved: %s", error)
        self.report(f"the record was not saved on this machine: {error.strerror or error}")

    def _show(self, race: str, verification: Verification) -> None:
        state = self._store.state
        if state is not None:
            known = dict(state.verifications)
            put_newest(known, race, verification, MOST_VERIFICATIONS)
            self._store.replace(replace(state, verifications=MappingProxyType(known)))


def _newest(lines: tuple[FeedLine, ...]) -> int:
    return lines[-1].at if lines else 0
