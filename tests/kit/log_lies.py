"""Lies about the logs of a finished race: entries, endings, times and commit numbers."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Final

from kit.races import (
    Entry,
    entries_of,
    position_before,
    promised,
    renumbered,
    settled,
    some_racer,
    with_line,
    with_racer,
    with_row,
)
from saratoga_rules.analysis import legal_moves
from saratoga_rules.games import GAMES
from saratoga_rules.records.record import LogLine, RaceRecord, RacerLog
from saratoga_rules.records.standing import IDLE_MILLIS, LAST_BOARD_MILLIS, State
from saratoga_rules.stuck.stuck import is_stuck, may_declare

Lie = Callable[[RaceRecord, Random], RaceRecord | None]
"""A function that returns a record with one lie, or `None` if the record has no place for it."""

MOVES: Final = (
    "draw",
    "redeal",
    "w>up",
    "w>down",
    "r>up",
    "r>t1",
    "t1>t2",
    "t2>t1",
    "t3>up",
    "t1>t2:2",
)


# Entries and endings


def illegal_move(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Exchange a move for one that the rules do not allow on the position before it."""
    racer = some_racer(record, chance, least=2)
    if racer is None:
        return None
    index = chance.randrange(len(racer.log) - 1)
    legal = set(map(str, legal_moves(GAMES[record.game], position_before(record, racer, index))))
    text = chance.choice([move for move in MOVES if move not in legal])
    return settled(with_line(record, racer, index, text=text))


def move_after_ending(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Add an entry to a board that has ended."""
    racer = some_racer(record, chance)
    if racer is None:
        return None
    last = racer.log[-1]
    legal = legal_moves(GAMES[record.game], position_before(record, racer, len(racer.log)))
    text = str(chance.choice(legal)) if legal and chance.random() < 0.7 else "cash-out"
    entry = LogLine(last.at, last.number, text)
    longer = with_racer(record, racer, log=(*racer.log, entry))
    return settled(renumbered(longer))


def ending_left_out(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Drop the last entry of a board; its place may still say how it ended."""
    racer = some_racer(record, chance)
    if racer is None or racer.log[-1].is_move:
        return None
    shorter = renumbered(with_racer(record, racer, log=racer.log[:-1]))
    return settled(shorter) if chance.random() < 0.5 else shorter


def no_log(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Drop the whole log of a racer."""
    racer = some_racer(record, chance)
    return settled(renumbered(with_racer(record, racer, log=()))) if racer else None


def another_ending(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Claim another state for a board than its log shows."""
    place = chance.randrange(len(record.results))
    states = [state for state in State if state != record.results[place].state]
    return with_row(record, place, state=chance.choice(states))


def unknown_ending(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """End a board with a word that these rules do not have, in the log and in the place."""
    last = entries_of(record)[-1]
    place = next(n for n, row in enumerate(record.results) if row.player == last.racer.player)
    changed = with_line(record, last.racer, last.place, text="unwell")
    return with_row(changed, place, state="unwell")


def false_win(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Drop a board's ending, and claim that its last move won."""
    racer = some_racer(record, chance, least=2)
    if racer is None or racer.log[-1].is_move:
        return None
    shorter = settled(renumbered(with_racer(record, racer, log=racer.log[:-1])))
    place = next(n for n, row in enumerate(shorter.results) if row.player == racer.player)
    return with_row(shorter, place)


def stuck_too_early(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """End a board as stuck before all cards of the stock have been seen."""
    racer = some_racer(record, chance, least=2)
    if racer is None:
        return None
    index = chance.randrange(len(racer.log))
    if may_declare(position_before(record, racer, index)):
        return None
    return _stuck_at(record, racer, index)


def not_stuck(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """End a board as stuck although more cards could have been banked."""
    racer = some_racer(record, chance, least=2)
    if racer is None:
        return None
    index = chance.randrange(len(racer.log))
    position = position_before(record, racer, index)
    if not may_declare(position) or is_stuck(GAMES[record.game], position, limit=200) is not False:
        return None
    return _stuck_at(record, racer, index)


def _stuck_at(record: RaceRecord, racer: RacerLog, index: int) -> RaceRecord:
    line = replace(racer.log[index], text="stuck")
    shorter = with_racer(record, racer, log=(*racer.log[:index], line))
    return settled(renumbered(shorter))


def ended_by_host_too_early(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Let the host end a board less than a minute after the last other one."""
    last = entries_of(record)[-1]
    if last.line.is_move:
        return None
    others = [racer.log[-1].at for racer in record.racers if racer is not last.racer and racer.log]
    at = max(others, default=0) + chance.randrange(LAST_BOARD_MILLIS) if others else last.line.at
    if at >= (record.time_allowed or at + 1):
        return None
    at = max(at, last.racer.log[-2].at if len(last.racer.log) > 1 else 0)
    if others and at - max(others) >= LAST_BOARD_MILLIS:
        return None
    ended = with_racer(
        record,
        last.racer,
        log=(*last.racer.log[:-1], replace(last.line, text="ended-by-host", at=at)),
    )
    return settled(ended)


def stopped_a_person(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """End a person's board because only bots still raced, or a bot's while a person still raced."""
    ends = [entry for entry in entries_of(record) if entry.line.text == "cash-out"]
    for line, racer, place in ends:
        later = [each for each in entries_of(record) if each.line.at > line.at]
        if not racer.bot or any(not each.racer.bot for each in later):
            return settled(with_line(record, racer, place, text="bots-stopped"))
    return None


def voted_alone(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """End the board of the only racer by a vote."""
    last = entries_of(record)[-1]
    if len(record.racers) > 1 or last.line.is_move or last.line.text == "out-of-time":
        return None
    return settled(with_line(record, last.racer, last.place, text="ended-by-vote"))


def idle_too_early(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """End a board as idle less than three minutes after its last move."""
    last = entries_of(record)[-1]
    before = last.racer.log[-2].at if len(last.racer.log) > 1 else 0
    if last.line.is_move or last.line.at - before >= IDLE_MILLIS:
        return None
    if last.line.text == "out-of-time":
        return None
    log = (*last.racer.log[:-1], replace(last.line, text="idle"))
    return settled(with_racer(record, last.racer, log=log))


# Times and numbers


def beyond_the_limit(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Give the last entries the time of the limit or a later one."""
    allowed = record.time_allowed
    entries = entries_of(record)
    if allowed is None or entries[-1].line.text == "out-of-time":
        return None
    at = allowed + chance.choice((0, 0, 1, 5000))
    return settled(with_line(record, entries[-1].racer, entries[-1].place, at=at))


def out_of_time_early(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Claim that the time ran out before it did."""
    last = entries_of(record)[-1]
    if last.line.is_move or last.line.at >= (record.time_allowed or 0):
        return None
    log = (*last.racer.log[:-1], replace(last.line, text="out-of-time"))
    return settled(with_racer(record, last.racer, log=log))


def out_of_time_without_limit(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Claim that the time ran out in a race without a time limit."""
    if not any(row.state == State.OUT_OF_TIME for row in record.results):
        return None
    return promised(replace(record, cap=0, ranked=False))


def falling_times(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Swap the times of two entries that follow each other at the table."""
    pairs = [pair for pair in pairwise(entries_of(record)) if pair[0].line.at < pair[1].line.at]
    if not pairs:
        return None
    one, other = chance.choice(pairs)
    return settled(_with_two(record, one, other, at=True))


def swapped_numbers(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Swap the commit numbers of two entries with different times."""
    entries = entries_of(record)
    one, other = chance.choice(entries), chance.choice(entries)
    if one.line.at == other.line.at:
        return None
    return settled(_with_two(record, one, other, at=False))


def _with_two(record: RaceRecord, one: Entry, other: Entry, *, at: bool) -> RaceRecord:
    """Return the record with the times or the numbers of two entries swapped."""
    for entry, source in ((one, other.line), (other, one.line)):
        here = record.racer(entry.racer.player)
        put = {"at": source.at} if at else {"number": source.number}
        record = with_line(record, here, entry.place, **put)
    return record


def number_missing(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Leave a gap in the commit numbers."""
    entries = entries_of(record)
    start = chance.randrange(len(entries))
    for line, racer, place in entries[start:]:
        record = with_line(record, record.racer(racer.player), place, number=line.number + 1)
    return settled(record)


def number_twice(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Give two entries one commit number."""
    entries = entries_of(record)
    if len(entries) < 2:
        return None
    place = chance.randrange(1, len(entries))
    entry = entries[place]
    return settled(
        with_line(record, entry.racer, entry.place, number=entries[place - 1].line.number)
    )


LOG_LIES: Final[Sequence[Lie]] = (
    illegal_move,
    move_after_ending,
    ending_left_out,
    no_log,
    another_ending,
    unknown_ending,
    stopped_a_person,
    voted_alone,
    false_win,
    stuck_too_early,
    not_stuck,
    ended_by_host_too_early,
    idle_too_early,
    beyond_the_limit,
    out_of_time_early,
    out_of_time_without_limit,
    falling_times,
    swapped_numbers,
    number_missing,
    number_twice,
)
