"""The records of a table's races: kept on this machine, checked, and searched for a best of one's own."""

import asyncio
import logging
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from saratoga_client.sanitised import sanitised
from saratoga_client.session.feed import Tone, with_line
from saratoga_client.session.personal_best import best_in
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState, Verification
from saratoga_client.session.state_store import StateStore
from saratoga_client.session.witness import Witness
from saratoga_protocol import events
from saratoga_rules.records.lines import RecordError
from saratoga_rules.records.record import parse_record

LOG: Final = logging.getLogger("saratoga.racing")


class RecordKeeper:
    """Keeps and checks; what it finds goes on the desk."""

    def __init__(self, desk: StateStore, keepsakes: RecordStore, witness: Witness) -> None:
        self._desk = desk
        self._keepsakes = keepsakes
        self._witness = witness

    async def take_in(self, outcome: events.Outcome, record: events.Record | None) -> None:
        """A race is over; `record` is what the house has given last, if anything."""
        evening = self._desk.evening
        if evening is None or outcome.race in evening.verifications:
            return
        if record is None or record.race != outcome.race:
            self._tell(f"the record of race {outcome.race} could not be had; a review asks again")
            return
        await self.file(record.race, record.text)

    async def file(self, race: str, text: str) -> None:
        """Keep the record of a race, and check it."""
        self._keep(text)
        sighting = self._witness.load(race)
        # only now, when no race is waited for
        from saratoga_client.session.verification import prove

        proof = await asyncio.to_thread(prove, text.encode("ascii", "replace"), race, sighting)
        sentence = proof.sentence
        if not proof.ok:
            faults = [check.detail for check in proof.checks if not check.ok]
            sentence = f"{sentence} {'; '.join(faults)}"
        self._lay(race, Verification(proof.ok, sanitised(sentence)))
        if proof.ok:
            self._note_best(text)

    def kept(self, race: str) -> str | None:
        """The record of a race if it is on this machine; of the race of *this* house, where known."""
        evening = self._desk.evening
        outcome = None if evening is None else evening.table_view.outcome
        is_here = outcome is not None and outcome.race == race
        digest = outcome.digest if outcome is not None and is_here else ""
        return self._keepsakes.text(race, digest)

    def with_best(self, evening: SessionState) -> SessionState:
        """The evening with the player's best at the game that is played now."""
        game, before = evening.table.settings.game, self._desk.evening
        is_known = before is not None and before.table.settings.game == game
        if is_known or (evening.best is not None and evening.best.game == game):
            return evening
        return replace(evening, best=self._keepsakes.best(game, evening.player))

    def raise_alarm(self, race: str, disagreements: tuple[str, ...]) -> None:
        """The house's words on a race do not agree: say so loudly."""
        LOG.error("the house's words on race %s do not agree: %s", race, "; ".join(disagreements))
        evening = self._desk.evening
        if evening is not None:
            fresh = tuple(sanitised(f"Race {race}: {sentence}.") for sentence in disagreements)
            self._desk.lay(replace(evening, alarms=(*evening.alarms, *fresh)))

    def _keep(self, text: str) -> None:
        """Keep a record, also one that will not be verified: it shows what the house has said."""
        try:
            self._keepsakes.keep(text)
        except OSError as error:
            self._tell_of_loss(error)

    def _tell_of_loss(self, error: OSError) -> None:
        LOG.warning("the record is not kept: %s", error)
        self._tell(f"the record is not kept on this machine: {error.strerror or error}")

    def _note_best(self, text: str) -> None:
        """See whether a verified record holds a best of one's own."""
        evening = self._desk.evening
        if evening is None:
            return
        try:
            done = best_in(parse_record(text), evening.player)
        except RecordError:
            return
        try:
            if done is None or not self._keepsakes.note(done, evening.player):
                return
        except OSError as error:
            self._tell_of_loss(error)
            return
        # the table may have gone on to another race, or another game
        if done.game == evening.table.settings.game:
            is_this_race = done.race == evening.table.race
            self._desk.lay(replace(evening, best=done, is_new_best=is_this_race))

    def _lay(self, race: str, found: Verification) -> None:
        evening = self._desk.evening
        if evening is not None:
            known = MappingProxyType({**evening.verifications, race: found})
            self._desk.lay(replace(evening, verifications=known))

    def _tell(self, text: str) -> None:
        """Say it among the news, once."""
        evening = self._desk.evening
        if evening is None or any(line.text == text for line in evening.feed):
            return
        at = evening.feed[-1].at if evening.feed else 0
        news = with_line(evening.news, at, sanitised(text), Tone.LINK)
        self._desk.lay(replace(evening, news=news))
