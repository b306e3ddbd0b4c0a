"""The typed commands about a finished race: its record, its text for friends, its review."""

import asyncio
import re
from contextlib import suppress
from typing import Final

from saratoga_client.local.hosting import friends_address
from saratoga_client.plain.result_lines import verification_line
from saratoga_client.plain.review import review_lines
from saratoga_client.plain.session import PlainSession
from saratoga_client.problems import Problem
from saratoga_client.review.boards import open_boards, par_sentence
from saratoga_client.review.share_text import race_text
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


async def _record_of(table: TableSession, over: SessionState) -> RaceRecord | None:
    """Return the record of the race that is over in this state; `None` before the first result."""
    outcome = over.table_view.outcome
    return None if outcome is None else await table.record(outcome.race)


async def verify(
    session: PlainSession, table: TableSession, over: SessionState, words: str
) -> None:
    """Check the record of a race, by default the one that is over, and write the verdict. Raises `Problem`."""
    write = session.output.write
    race, sign, friends = words.partition("#")
    try:
        friends = parse_digest_words(friends) if sign else ""
    except ValueError as fault:
        write(f"no: {friends!r} are not the words of a digest: {fault}")
        return
    if (race := race.strip()) and not (race := race_id(race, over.table.code)):
        write(
            "no: Type verify 2 for race 2 of this table, "
            f"or name its table, too: verify {over.table.code}/2."
        )
        return
    record = await (table.record(race) if race else _record_of(table, over))
    if record is None:
        write(NO_RACE_OVER)
        return
    text = format_record(record)
    seen = Witness().evidence(record.race_id)
    proof = await asyncio.to_thread(prove, text.encode(), record.race_id, seen, friends)
    write(*(f"check {check.name}: {check.mark}, {check.detail}" for check in proof.checks))
    write(f"digest: {digest_of(text)}")
    write(verification_line(Verification(proof.ok, proof.sentence, proof.is_contradicted)))
    if proof.is_contradicted:
        session.alarms.append(proof.sentence)


async def share(session: PlainSession, table: TableSession, over: SessionState) -> None:
    """Write the result of the race that is over as text for friends. Raises `Problem`."""
    if (record := await _record_of(table, over)) is None:
        session.output.write(NO_RACE_OVER)
        return
    server = session.friends or await friends_address(table.server)
    text = race_text(record, open_boards(record), over.player, server, over.match)
    session.output.write_all(f"share: {line}" for line in text.splitlines())


async def review(session: PlainSession, table: TableSession, over: SessionState) -> None:
    """Write the player's first difference from the winner, and the longest pauses. Raises `Problem`."""
    if (record := await _record_of(table, over)) is None:
        session.output.write(NO_RACE_OVER)
        return
    session.output.write_all(review_lines(record, over.player, session.card_names))
    with suppress(Problem):  # an older server, or one that is busy
        par = await table.par(record)
        if par is not None and (said := par_sentence(par, open_boards(record))):
            session.output.write(f"par: {said}")
