"""Forgeries: no record with a lie is accepted, though all its digests are right.

A record alone does not prove a racer's name, when the race started, the table's race before, who of two racers
left, whether a racer cashed out, left or was removed, or the time of an entry as long as the order of all entries
stays; if nothing was dealt, not even who raced. What a client saw proves them. All else is forged here.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.races import (
    BEFORE,
    Entrant,
    Entry,
    closed,
    countdown_voided,
    entries_of,
    position_before,
    promised,
    race,
    renumbered,
    sealed,
    settled,
    some_racer,
    with_line,
    with_racer,
    with_row,
)
from kit.walks import banking, wandering
from saratoga_rules.analysis import legal_moves
from saratoga_rules.dealing.fairness import nonce_hash
from saratoga_rules.games import GAMES
from saratoga_rules.records.record import (
    CLOSED,
    CLOSED_IN_COUNTDOWN,
    NONCE_MISSING,
    RACER_GONE,
    RACER_LEFT,
    SERVER_AWAY,
    VOID_REASONS,
    LogLine,
    Previous,
    RaceRecord,
    RacerLog,
    digest_of,
    format_record,
    parse_record,
)
from saratoga_rules.records.standing import IDLE_MILLIS, LAST_BOARD_MILLIS, State
from saratoga_rules.records.verify import verify
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
    rivals = [racer for racer in record.racers if racer is not last.racer]
    # people do not wait for bots
    rivals = [racer for racer in rivals if not racer.bot] or rivals
    others = [racer.log[-1].at for racer in rivals if racer.log]
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


# The results


def another_count(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Claim that a racer banked more or fewer cards, with the money for it."""
    place = chance.randrange(len(record.results))
    row = record.results[place]
    banked = row.banked + chance.choice((-1, 1, 2))
    if banked < 0:
        return None
    return with_row(record, place, banked=banked, net=row.net + 5 * (banked - row.banked))


def another_moment(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Claim that a racer reached the final count at another time."""
    place = chance.randrange(len(record.results))
    reached = record.results[place].reached
    others = [None, *range(5000), *([] if reached is None else [reached + 1, reached - 1])]
    others = [other for other in others if other != reached and (other is None or other >= 0)]
    return with_row(record, place, reached=chance.choice(others))


def swapped_rows(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Swap two racers in the order of finish, their places too or not."""
    if len(record.results) < 2:
        return None
    first = chance.randrange(len(record.results) - 1)
    rows = list(record.results)
    one, other = rows[first : first + 2]
    rows[first : first + 2] = other, one
    if chance.random() < 0.5:
        rows[first : first + 2] = replace(other, place=one.place), replace(one, place=other.place)
    return replace(record, results=tuple(rows))


def row_left_out(record: RaceRecord, chance: Random) -> RaceRecord | None:
    place = chance.randrange(len(record.results))
    return replace(record, results=record.results[:place] + record.results[place + 1 :])


def row_twice(record: RaceRecord, chance: Random) -> RaceRecord | None:
    place = chance.randrange(len(record.results))
    return replace(record, results=record.results[: place + 1] + record.results[place:])


def falsely_ranked(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Claim that a race counts that had no time limit or a single person."""
    return None if record.ranked else replace(record, ranked=True)


# What was fixed before the race


def another_seed(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Exchange the seed, and commit to the new one."""
    seed = chance.randbytes(32).hex()
    return promised(replace(record, seed=seed))


def another_promise(record: RaceRecord, chance: Random) -> RaceRecord | None:
    return replace(record, commitment=chance.randbytes(32).hex())


def another_nonce(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Exchange a nonce together with its hash, or only one of the two."""
    racer = chance.choice(record.racers)
    nonce = chance.randbytes(16)
    put: Mapping[str, object] = {"nonce": nonce.hex(), "nonce_hash": nonce_hash(nonce)}
    kept = chance.choice((None, "nonce", "nonce_hash"))
    return with_racer(record, racer, **{name: value for name, value in put.items() if name != kept})


def swapped_nonces(record: RaceRecord, chance: Random) -> RaceRecord | None:
    if len(record.racers) < 2:
        return None
    one, other = chance.sample(record.racers, 2)
    swapped = with_racer(record, one, nonce=other.nonce, nonce_hash=other.nonce_hash)
    return with_racer(swapped, other, nonce=one.nonce, nonce_hash=one.nonce_hash)


def another_deal(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Swap two cards of the stock."""
    stock = list(record.opening.stock)
    one, other = chance.sample(range(len(stock)), 2)
    if stock[one] == stock[other]:
        return None
    stock[one], stock[other] = stock[other], stock[one]
    return settled(replace(record, deal=record.opening._replace(stock=tuple(stock))))


def exchanged_face_down_cards(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Swap two face-down cards, or one with a card of the stock."""
    stock, columns = list(record.opening.stock), [list(pile) for pile in record.opening.face_down]
    places = [(pile, at) for pile in columns for at in range(len(pile))]
    if not places:
        return None
    (one, here), (other, there) = chance.choice(places), (stock, chance.randrange(len(stock)))
    if chance.random() < 0.5:
        other, there = chance.choice(places)
    if one[here] == other[there]:
        return None
    one[here], other[there] = other[there], one[here]
    deal = record.opening._replace(stock=tuple(stock), face_down=tuple(map(tuple, columns)))
    return settled(replace(record, deal=deal))


def another_card_face_up(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Turn up one more card of a column, or all face-down cards."""
    piles = list(zip(record.opening.face_down, record.opening.columns, strict=False))
    if not piles:
        return None
    most = chance.choice((1, len(piles)))
    column = chance.choice([at for at, (below, _) in enumerate(piles) if below])
    for at, (below, shown) in enumerate(piles):
        if most > 1 or at == column:
            piles[at] = (below[:-most], below[-most:] + shown)
    face_down, columns = zip(*piles, strict=True)
    deal = record.opening._replace(face_down=face_down if any(face_down) else (), columns=columns)
    return settled(replace(record, deal=deal))


def another_game(record: RaceRecord, chance: Random) -> RaceRecord | None:
    game = chance.choice([name for name in GAMES if name != record.game])
    return replace(record, game=game)


def another_race(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Pass the record off as another race of the table, or of another table, with a commitment that fits."""
    if chance.random() < 0.5:
        return promised(replace(record, race=record.race + 1))
    return promised(replace(record, table="mint-otter-43", previous=None))


def another_cap(record: RaceRecord, chance: Random) -> RaceRecord | None:
    cap = chance.choice([cap for cap in (0, 3, 5, 20) if cap != record.cap])
    return replace(record, cap=cap)


def shorter_cap(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Shorten the time limit and commit to it, though somebody moved after it."""
    late = entries_of(record)[-1].line
    if record.cap <= 3 or late.at < 180_000:
        return None
    shorter = promised(replace(record, cap=3))
    ends = [entry.line for entry in entries_of(record) if entry.line.at >= 180_000]
    return shorter if any(line.text != "out-of-time" for line in ends) else None


def not_public(record: RaceRecord, chance: Random) -> RaceRecord | None:
    return replace(record, public=not record.public)


def another_previous(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Name a race as the one before that was not before, or was at another table."""
    race = chance.choice((record.race_id, f"{record.table}/{record.race + 1}", "mint-otter-43/1"))
    return replace(record, previous=Previous(race, chance.randbytes(32).hex()))


def hidden_nonce(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Say that a nonce was not revealed, though the race was dealt."""
    return with_racer(record, chance.choice(record.racers), nonce="")


def not_dealt(record: RaceRecord, chance: Random) -> RaceRecord | None:
    return replace(record, deal=None)


# The racers


def racer_left_out(record: RaceRecord, chance: Random) -> RaceRecord | None:
    if len(record.racers) < 2:
        return None
    gone = chance.choice(record.racers)
    rest = replace(record, racers=tuple(racer for racer in record.racers if racer is not gone))
    return settled(renumbered(rest))


def racer_twice(record: RaceRecord, chance: Random) -> RaceRecord | None:
    place = chance.randrange(len(record.racers))
    racers = record.racers[: place + 1] + record.racers[place:]
    return replace(record, racers=racers)


def racers_out_of_order(record: RaceRecord, chance: Random) -> RaceRecord | None:
    return replace(record, racers=record.racers[::-1]) if len(record.racers) > 1 else None


def another_player(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Put another player id in the place of a racer's, where it keeps the order."""
    racer = chance.choice(record.racers)
    player = racer.player[:-1] + chance.choice([c for c in "ab27" if c != racer.player[-1]])
    return settled(with_racer(record, racer, player=player))


def added_racer(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Add a racer who leaves at once."""
    nonce = chance.randbytes(16)
    last = entries_of(record)[-1].line
    racer = RacerLog(
        player="z" * 16,
        name="Eve",
        bot=True,
        nonce=nonce.hex(),
        nonce_hash=nonce_hash(nonce),
        log=(LogLine(min(last.at, 600_000 - 1), last.number + 1, "left"),),
    )
    return settled(replace(record, racers=(*record.racers, racer)))


# Races that were voided


def another_reason(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Give a reason that does not fit what was dealt, or who is blamed."""
    fits = {NONCE_MISSING, RACER_LEFT, RACER_GONE} if record.blamed else {CLOSED}
    if not record.blamed and record.deal is None:
        fits = {SERVER_AWAY, CLOSED_IN_COUNTDOWN}
    others = [reason for reason in VOID_REASONS if reason not in fits | {record.voided}]
    if record.blamed and record.voided != NONCE_MISSING:
        others.append(NONCE_MISSING)
    return replace(record, voided=chance.choice(others))


def blamed_wrongly(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Blame nobody, somebody who did not race, or everybody."""
    everybody = tuple(racer.player for racer in record.racers)
    if len(everybody) < 2:
        return None
    guesses = [(), ("n" * 16,), everybody]
    return replace(
        record, blamed=chance.choice([each for each in guesses if each != record.blamed])
    )


def entries_without_a_deal(record: RaceRecord, chance: Random) -> RaceRecord | None:
    if record.deal is not None:
        return None
    return with_racer(record, record.racers[0], log=(LogLine(1, 1, "draw"),))


def foreign_seed(record: RaceRecord, chance: Random) -> RaceRecord | None:
    return replace(record, seed=chance.randbytes(32).hex())


def foreign_nonce(record: RaceRecord, chance: Random) -> RaceRecord | None:
    """Exchange a nonce, but not its hash."""
    racer = chance.choice([racer for racer in record.racers if racer.nonce])
    return with_racer(record, racer, nonce=chance.randbytes(16).hex())


VOID_LIES: Final[Mapping[str, Lie]] = {
    lie.__name__.replace("_", " "): lie
    for lie in (
        another_reason,
        blamed_wrongly,
        entries_without_a_deal,
        foreign_seed,
        another_promise,
        another_previous,
        foreign_nonce,
        not_public,
    )
}
"""Every lie about a voided race."""

LIES: Final[Mapping[str, Lie]] = {
    lie.__name__.replace("_", " "): lie
    for lie in (
        *LOG_LIES,
        another_count,
        another_moment,
        swapped_rows,
        row_left_out,
        row_twice,
        falsely_ranked,
        another_seed,
        another_promise,
        another_nonce,
        swapped_nonces,
        another_deal,
        exchanged_face_down_cards,
        another_card_face_up,
        another_game,
        another_race,
        another_cap,
        shorter_cap,
        not_public,
        another_previous,
        hidden_nonce,
        not_dealt,
        racer_left_out,
        racer_twice,
        racers_out_of_order,
        another_player,
        added_racer,
    )
}
"""Every lie about a finished race, by its name."""


class Forgery(NamedTuple):
    """A forged record, its digest computed again."""

    lie: str
    text: str


FIELD: Final = (
    Entrant("Anna", banking, patience=30),
    Entrant("Zoë", wandering, goes=State.LEFT, patience=20),
    Entrant("Cay", banking, bot=True, patience=12),
    Entrant("Ben", wandering, patience=2),
    Entrant("Dan", wandering, patience=1),
)
STUCK_FIELD: Final = (Entrant("Anna", banking), Entrant("Ben", banking))


RECORDS: Final = Path(__file__).parent.parent / "rules" / "records"


@cache
def honest_races() -> tuple[RaceRecord, ...]:
    """Return honest races of every game, also won ones, ones that end at the time limit, one racer alone."""
    files = [*RECORDS.glob("caprice-won-*.record"), *RECORDS.glob("klondike-won-*.record")]
    won = [parse_record(path.read_text("ascii")) for path in files]
    played = [
        record
        for name in GAMES
        for record in (
            race(name, 0, FIELD),
            race(name, 1, FIELD, pace=30_000, previous=BEFORE),
            race(name, 2, FIELD[:1]),
        )
    ]
    stuck = [race(name, 3, STUCK_FIELD) for name in ("klondike", "canfield", "lafayette")]
    return (*won, *played, *stuck)


@cache
def honest_voids() -> tuple[RaceRecord, ...]:
    """Return honest voided races, for every reason."""
    record = race("canfield", 4, FIELD, previous=BEFORE)
    countdowns = [countdown_voided(record, reason) for reason in VOID_REASONS if reason != "closed"]
    return (*countdowns, closed(record, 20), closed(race("caprice", 1, STUCK_FIELD), 30))


def forgeries(count: int, seed: int = 0) -> Iterator[Forgery]:
    """Yield forged records; every kind of lie in turn, each about a race that chance chooses."""
    chance = Random(f"forgeries {seed}")
    sources = [
        *((name, lie, honest_races()) for name, lie in LIES.items()),
        *((f"voided: {name}", lie, honest_voids()) for name, lie in VOID_LIES.items()),
    ]
    made = 0
    while made < count:
        for name, lie, records in sources:
            for record in chance.sample(records, 7):
                forged = lie(record, chance)
                if forged is not None:
                    yield Forgery(name, format_record(forged))
                    break
            else:
                continue
            made += 1
        for record in chance.sample((*honest_races(), *honest_voids()), 12):
            text = format_record(record)
            if record.deal is not None:
                yield Forgery("one field", one_field(text, chance))
                made += 1


PROVED: Final = (
    r"^(?:game|rules|race|cap|public|commitment|seed|deal|nonce-hash) (.+)$|^nonce ([0-9a-f]+)$"
    r"|^racer ([a-z2-7]+) |^[0-9]+ ([0-9]+) |^[0-9]+ [0-9]+ ((?:draw|redeal|.+>.+))$"
    r"|^place ([0-9]+) |^place [0-9]+ ([a-z2-7]+) |^place \S+ \S+ ([0-9]+) |^place (?:\S+ ){3}(\S+) "
    r"|^place (?:\S+ ){4}(\S+) |^place .+ (\S+)$"
)
"""The fields that a record proves by itself."""


def one_field(text: str, chance: Random) -> str:
    """Return a record with another character in one field that the record proves."""
    lines = text.split("\n")[:-2]
    while True:
        at = chance.randrange(1, len(lines))
        found = re.search(PROVED, lines[at])
        if found is None or found.lastindex is None:
            continue
        start, end = found.span(found.lastindex)
        place = chance.randrange(start, end)
        other = chance.choice("0123456789abcdefCSHDAJ>twr")
        changed = lines[at][:place] + other + lines[at][place + 1 :]
        if changed != lines[at]:
            return sealed([*lines[:at], changed, *lines[at + 1 :]])


@pytest.mark.parametrize(
    "record",
    [*honest_races(), *honest_voids()],
    ids=lambda record: f"{record.game} {record.voided}",
)
def test_the_races_that_are_forged_are_honest(record: RaceRecord) -> None:
    verdict = verify(record)
    assert verdict.ok, verdict.faults


def accepted(count: int, seed: int) -> tuple[list[str], Counter[str]]:
    """Return the forgeries that are not contradicted, and how many there were of each lie.

    One that claims to be made by another release may not be checkable.
    """
    found, tried = [], Counter[str]()
    for lie, text in forgeries(count, seed):
        tried[lie] += 1
        verdict = verify(text)
        unknown = {check.name for check in verdict.checks if check.unknown}
        if verdict.ok or not (verdict.is_contradicted or unknown <= {"text", "rules"}):
            found.append(f"{lie}: {digest_of(text)}")
    return found, tried


def test_no_forgery_is_accepted() -> None:
    found, tried = accepted(2000, seed=1)
    assert found == []
    lies = {*LIES, *(f"voided: {name}" for name in VOID_LIES)}
    assert lies <= set(tried), "every lie was told"


# Tampering: every changed byte is detected, and no forgery crashes the verifier


DIGEST_LINE = "digest\n"
SHORT = format_record(
    race(
        "caprice", 2, [Entrant("Anna", banking, patience=2), Entrant("Ben", wandering, patience=1)]
    )
)


def test_every_single_byte_counts() -> None:
    for at in range(len(SHORT)):
        assert not verify(SHORT[:at] + SHORT[at + 1 :]).ok, f"without byte {at}"
        other = "1" if SHORT[at] != "1" else "2"
        assert not verify(SHORT[:at] + other + SHORT[at + 1 :]).ok, f"another byte {at}"


@given(st.binary(max_size=60))
def test_random_bytes_are_not_a_record(junk: bytes) -> None:
    assert not verify(junk).ok
    assert verify(junk).record is None


@given(st.integers(0, 10**6), st.text('0123456789abcdefCSHD#=/-,.>:" ', max_size=3))
def test_verifying_a_forgery_raises_no_other_error(place: int, put: str) -> None:
    at = place % SHORT.index("\ndigest ")
    body = SHORT[:at] + put + SHORT[at + 1 :].rsplit("digest ", 1)[0]
    verdict = verify(f"{body}digest {digest_of(body + DIGEST_LINE)}\n")
    assert "digest" not in {check.name for check in verdict.faults}
