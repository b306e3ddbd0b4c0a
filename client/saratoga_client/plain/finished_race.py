"""A finished race in plain lines: its review move by move, and the typed commands about it."""

import asyncio
import re
from collections.abc import Iterator
from typing import Final

from saratoga_client.local.hosting import friends_address
from saratoga_client.plain.board import money_words, moved_line, position_lines, rule_line
from saratoga_client.plain.card_names import LETTERS, CardNames
from saratoga_client.plain.result_lines import verification_line
from saratoga_client.plain.session import PlainSession
from saratoga_client.problems import Problem
from saratoga_client.review.boards import (
    OpenBoard,
    first_difference,
    longest_pauses,
    open_boards,
    par_sentence,
)
from saratoga_client.review.share_text import race_text
from saratoga_client.session.open_race import PAR_SOON
from saratoga_client.session.state import SessionState, Verification
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.verdict import prove
from saratoga_client.session.witness import Witness
from saratoga_client.wording import (
    counted,
    dollars,
    duration_text,
    minutes_and_seconds,
    state_words,
)
from saratoga_rules.moves import parse_move
from saratoga_rules.position import redact
from saratoga_rules.records.digest_words import parse_digest_words
from saratoga_rules.records.record import POSITIVE, RACE_ID, RaceRecord, digest_of, format_record
from saratoga_rules.records.replay import game_of


def replay_lines(record: RaceRecord, card_names: CardNames = LETTERS) -> Iterator[str]:
    """Return lines for the deal, then for every board by place. Raises `ReplayError`."""
    game, boards = game_of(record), open_boards(record)
    deal = redact(record.opening)
    yield f"race {record.race_id}: {game.name}, {counted(len(boards), 'racer')}"
    yield f"deal: {game.name}, {money_words(game, deal)}"
    yield from position_lines(game, deal, card_names)
    yield rule_line(game, deal)
    for board in boards:
        yield _result_line(board)
        yield from _moves(board, card_names)
        if board is not boards[0]:
            yield from _difference(board, boards[0], card_names)


def review_lines(record: RaceRecord, player: str, card_names: CardNames = LETTERS) -> Iterator[str]:
    """Return lines on a racer's first difference from the winner, and on the longest pauses."""
    boards = open_boards(record)
    own = next((board for board in boards if board.player == player), None)
    if own is None:
        yield "no: You were not in this race. Type results for how it ended."
        return
    yield _result_line(own)
    if own is boards[0]:
        yield "review: no one did better"
    else:
        yield from _difference(own, boards[0], card_names)
    for since, lasted, step in longest_pauses(own):
        after = f"after move {step}" if step else "at the deal"
        yield f"pause: {duration_text(lasted)} {after}, at {_time(since)}"


def _difference(own: OpenBoard, winner: OpenBoard, card_names: CardNames) -> Iterator[str]:
    """Return lines on the first move in which a board differs from the winner's."""
    step = first_difference(own, winner)
    if step is None:
        yield f"parted: never; {winner.shown_name} made the same moves"
        return
    yield f"parted: after {counted(step, 'move')}"
    for board in (own, winner):
        words = board.entry_words(step, card_names.card) or "stopped there"
        yield f"parted {board.shown_name}: {words}, at {_time(board.time_of(step))}"


def _result_line(board: OpenBoard) -> str:
    tie = f" ({board.tie})" if board.tie else ""
    return (
        f"result {board.place}. {board.shown_name}: {board.banked} banked, "
        f"{dollars(board.net)}, {state_words(board.state)}{tie}"
    )


def _moves(board: OpenBoard, card_names: CardNames) -> Iterator[str]:
    for number, line in enumerate(board.entries, start=1):
        if not line.is_move:
            yield f"ended: {state_words(board.state)}, at {_time(line.at)}"
            continue
        before, after = board.view(number - 1), board.view(number)
        move = moved_line(board.game, before, after, parse_move(line.text), number, card_names)
        yield f"{move}; at {_time(line.at)}"


def _time(at: int) -> str:
    return minutes_and_seconds(at, tenths=True)


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
    try:
        par = await table.par(record, PAR_SOON)
    except Problem:  # a server that is busy, or still searches
        session.output.write("par: not known yet; another review may have it")
        return
    if par is not None and (said := par_sentence(par, open_boards(record))):
        session.output.write(f"par: {said}")
