"""The typed commands about a finished race: its record, its text for friends, its review."""

import asyncio
import re
from dataclasses import replace
from typing import Final

from saratoga_client.local.hosting import friends_address
from saratoga_client.plain.change_writer import ChangeWriter
from saratoga_client.plain.result_lines import verification_line
from saratoga_client.plain.review import review_lines
from saratoga_client.plain.session import PlainSession
from saratoga_client.review.boards import open_boards
from saratoga_client.review.share_text import race_text
from saratoga_client.session.match_text import with_match
from saratoga_client.session.state import SessionState, Verification
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.verdict import prove
from saratoga_client.session.witness import Witness
from saratoga_rules.records.digest_words import parse_digest_words
from saratoga_rules.records.record import (
    POSITIVE,
    RACE_ID,
    RaceRecord,
    digest_of,
    format_record,
)

NO_RACE_OVER: Final = "no: No race is over yet."

STILL_RACING: Final = (
    "no: The race goes on. Type review when it is over; results shows the last race."
)


def race_id(words: str, code: str) -> str:
    """Return the id of the race that the words name; a number is a race of the table `code`; empty if invalid.

    >>> race_id("2", "mint-otter-42")
    'mint-otter-42/2'
    """
    race = words.lower()
    if re.fullmatch(POSITIVE, race):
        return f"{code}/{race}"
    return race if re.fullmatch(RACE_ID, race) else ""


class FinishedRaceCommands:
    """The commands about the finished races of one table."""

    def __init__(
        self, session: PlainSession, table_session: TableSession, writer: ChangeWriter
    ) -> None:
        self._session = session
        self._write = session.output.write
        self._write_all = session.output.write_all
        self._table = table_session
        self._writer = writer

    @property
    def _state(self) -> SessionState:
        assert self._table.state is not None, "commands are read once the table is known"
        return self._table.state

    @property
    def over(self) -> SessionState:
        """The state with the result of the last race; the present state before the first result."""
        state, last = self._state, self._writer.last_over
        if last is None or state.table_view.outcome is not None:
            return state
        return replace(last, verifications=state.verifications)

    async def _last_record(self) -> RaceRecord | None:
        """Return the record of the table's last race; write a `no:` line if there is none."""
        outcome = self.over.table_view.outcome
        if outcome is None:
            self._write(NO_RACE_OVER)
            return None
        return await self._table.record(outcome.race)

    async def verify(self, words: str) -> None:
        """Check the record of a race, by default the last one. Raises `Problem`."""
        race, sign, friends = words.partition("#")
        try:
            friends = parse_digest_words(friends) if sign else ""
        except ValueError as fault:
            self._write(f"no: {friends!r} are not the words of a digest: {fault}")
            return
        if (race := race.strip()) and not (race := race_id(race, self._state.table.code)):
            self._write(
                "no: Type verify 2 for race 2 of this table, "
                f"or name its table, too: verify {self._state.table.code}/2."
            )
            return
        record = await self._table.record(race) if race else await self._last_record()
        if record is None:
            return
        text = format_record(record)
        seen = Witness().evidence(record.race_id)
        proof = await asyncio.to_thread(prove, text.encode(), record.race_id, seen, friends)
        for check in proof.checks:
            self._write(f"check {check.name}: {check.mark}, {check.detail}")
        self._write(f"digest: {digest_of(text)}")
        found = Verification(proof.ok, proof.sentence, proof.is_contradicted)
        self._write(verification_line(found))
        if proof.is_contradicted:
            self._session.alarms.append(proof.sentence)

    async def share(self, words: str) -> None:
        """Write the result as text for friends. Raises `Problem`."""
        if (record := await self._last_record()) is not None:
            server = self._session.friends or await friends_address(self._table.server)
            boards = open_boards(record, self._state.table_view.levels)
            text = race_text(record, boards, self._state.player, server)
            shared = with_match(text, self.over.match, self._state.table_view.levels)
            self._write(*(f"share: {line}" for line in shared.splitlines()))

    async def review(self, words: str) -> None:
        """Write the player's first difference from the winner, and the longest pauses. Raises `Problem`."""
        if self._state.own is not None and self._state.table_view.outcome is None:
            self._write(STILL_RACING)
            return
        if (record := await self._last_record()) is not None:
            self._write_all(
                review_lines(
                    record,
                    self._state.player,
                    self._session.card_names,
                    self._state.table_view.levels,
                )
            )
