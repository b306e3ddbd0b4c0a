"""Forgeries: no record with a lie is accepted, though all its digests are right.

A record alone does not prove a racer's name, when the race started, the table's race before, who of
two racers left, whether a racer cashed out, left or was removed, or the time of an entry as long as
the order of all entries stays; if nothing was dealt, not even who raced. What a client saw proves
them. All else is forged here.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.positions import banking, wandering
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
    with_line,
    with_racer,
    with_row,
)
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


class NoPlace(Exception):
    """An error: the record has no place for the lie."""


Lie = Callable[[RaceRecord, Random], RaceRecord]
"""A function that returns a record with one lie. Raises `NoPlace`."""

MOVES: Final = "draw redeal w>up w>down r>up r>t1 t1>t2 t2>t1 t3>up t1>t2:2"


def if_so(holds: object) -> None:
    """Raise `NoPlace` unless something holds."""
    if not holds:
        raise NoPlace


def some_racer(record: RaceRecord, chance: Random, least: int = 1) -> RacerLog:
    """Return a racer whose log has at least so many entries."""
    able = [racer for racer in record.racers if len(racer.log) >= least]
    if_so(able)
    return chance.choice(able)


def last_ending(record: RaceRecord) -> Entry:
    """Return the last entry of a race, which must end a board before the time is up."""
    last = entries_of(record)[-1]
    if_so(not last.line.is_move and last.line.text != "out-of-time")
    return last


# Entries and endings


def illegal_move(record: RaceRecord, chance: Random) -> RaceRecord:
    """Exchange a move for one that the rules do not allow on the position before it."""
    racer = some_racer(record, chance, least=2)
    index = chance.randrange(len(racer.log) - 1)
    legal = set(map(str, legal_moves(GAMES[record.game], position_before(record, racer, index))))
    text = chance.choice([move for move in MOVES.split() if move not in legal])
    return settled(with_line(record, racer, index, text=text))


def move_after_ending(record: RaceRecord, chance: Random) -> RaceRecord:
    """Add an entry to a board that has ended."""
    racer = some_racer(record, chance)
    last = racer.log[-1]
    legal = legal_moves(GAMES[record.game], position_before(record, racer, len(racer.log)))
    text = str(chance.choice(legal)) if legal and chance.random() < 0.7 else "cash-out"
    entry = LogLine(last.at, last.number, text)
    return settled(renumbered(with_racer(record, racer, log=(*racer.log, entry))))


def ending_left_out(record: RaceRecord, chance: Random) -> RaceRecord:
    """Drop the last entry of a board; its place may still say how it ended."""
    racer = some_racer(record, chance)
    if_so(not racer.log[-1].is_move)
    shorter = renumbered(with_racer(record, racer, log=racer.log[:-1]))
    return settled(shorter) if chance.random() < 0.5 else shorter


def no_log(record: RaceRecord, chance: Random) -> RaceRecord:
    """Drop the whole log of a racer."""
    return settled(renumbered(with_racer(record, some_racer(record, chance), log=())))


def unknown_ending(record: RaceRecord, chance: Random) -> RaceRecord:
    """End a board with a word that these rules do not have, in the log and in the place."""
    last = entries_of(record)[-1]
    place = next(n for n, row in enumerate(record.results) if row.player == last.racer.player)
    changed = with_line(record, last.racer, last.place, text="unwell")
    return with_row(changed, place, state="unwell")


def stuck(record: RaceRecord, chance: Random) -> RaceRecord:
    """End a board as stuck before every card of the stock was seen, or although more could have been banked."""
    racer = some_racer(record, chance, least=2)
    index = chance.randrange(len(racer.log))
    position = position_before(record, racer, index)
    if_so(not may_declare(position) or is_stuck(GAMES[record.game], position, limit=200) is False)
    line = replace(racer.log[index], text="stuck")
    return settled(renumbered(with_racer(record, racer, log=(*racer.log[:index], line))))


def ended_by_host_too_early(record: RaceRecord, chance: Random) -> RaceRecord:
    """Let the host end a board less than a minute after the last other one."""
    last = last_ending(record)
    rivals = [racer for racer in record.racers if racer is not last.racer]
    # people do not wait for bots
    rivals = [racer for racer in rivals if not racer.bot] or rivals
    others = [racer.log[-1].at for racer in rivals if racer.log]
    at = max(others, default=0) + chance.randrange(LAST_BOARD_MILLIS) if others else last.line.at
    if_so(at < (record.time_allowed or at + 1))
    at = max(at, last.racer.log[-2].at if len(last.racer.log) > 1 else 0)
    if_so(not others or at - max(others) < LAST_BOARD_MILLIS)
    return settled(with_line(record, last.racer, last.place, text="ended-by-host", at=at))


def stopped_a_person(record: RaceRecord, chance: Random) -> RaceRecord:
    """End a person's board because only bots still raced, or a bot's while a person still raced."""
    entries = entries_of(record)
    for line, racer, place in entries:
        people = any(each.line.at > line.at and not each.racer.bot for each in entries)
        if line.text == "cash-out" and (not racer.bot or people):
            return settled(with_line(record, racer, place, text="bots-stopped"))
    raise NoPlace


def voted_alone(record: RaceRecord, chance: Random) -> RaceRecord:
    """End the board of the only racer by a vote."""
    last = last_ending(record)
    if_so(len(record.racers) == 1)
    return settled(with_line(record, last.racer, last.place, text="ended-by-vote"))


def idle_too_early(record: RaceRecord, chance: Random) -> RaceRecord:
    """End a board as idle less than three minutes after its last move."""
    last = last_ending(record)
    before = last.racer.log[-2].at if len(last.racer.log) > 1 else 0
    if_so(last.line.at - before < IDLE_MILLIS)
    return settled(with_line(record, last.racer, last.place, text="idle"))


# Times and numbers


def beyond_the_limit(record: RaceRecord, chance: Random) -> RaceRecord:
    """Give the last entry the time of the limit or a later one."""
    last = entries_of(record)[-1]
    if_so(record.time_allowed is not None and last.line.text != "out-of-time")
    at = (record.time_allowed or 0) + chance.choice((0, 0, 1, 5000))
    return settled(with_line(record, last.racer, last.place, at=at))


def out_of_time_early(record: RaceRecord, chance: Random) -> RaceRecord:
    """Claim that the time ran out before it did."""
    last = last_ending(record)
    if_so(last.line.at < (record.time_allowed or 0))
    return settled(with_line(record, last.racer, last.place, text="out-of-time"))


def out_of_time_without_limit(record: RaceRecord, chance: Random) -> RaceRecord:
    """Claim that the time ran out in a race without a time limit."""
    if_so(any(row.state == State.OUT_OF_TIME for row in record.results))
    return promised(replace(record, cap=0, ranked=False))


def swapped(record: RaceRecord, chance: Random) -> RaceRecord:
    """Swap the times, or the commit numbers, of two entries that follow each other at the table."""
    pairs = [pair for pair in pairwise(entries_of(record)) if pair[0].line.at < pair[1].line.at]
    if_so(pairs)
    one, other = chance.choice(pairs)
    name = chance.choice(("at", "number"))
    for entry, source in ((one, other.line), (other, one.line)):
        here = record.racer(entry.racer.player)
        record = with_line(record, here, entry.place, **{name: getattr(source, name)})
    return settled(record)


def number_missing(record: RaceRecord, chance: Random) -> RaceRecord:
    """Leave a gap in the commit numbers."""
    entries = entries_of(record)
    for line, racer, place in entries[chance.randrange(len(entries)) :]:
        record = with_line(record, record.racer(racer.player), place, number=line.number + 1)
    return settled(record)


def number_twice(record: RaceRecord, chance: Random) -> RaceRecord:
    """Give two entries one commit number."""
    entries = entries_of(record)
    if_so(len(entries) > 1)
    place = chance.randrange(1, len(entries))
    number = entries[place - 1].line.number
    return settled(with_line(record, entries[place].racer, entries[place].place, number=number))


# Single fields and rows: each is changed alone, and with all that follows from it


def other_values(record: RaceRecord, chance: Random) -> Mapping[str, object]:
    """Return a false value for each field of a record that the record proves."""
    seed, digest = chance.randbytes(32).hex(), chance.randbytes(32).hex()
    races = (record.race_id, f"{record.table}/{record.race + 1}", "mint-otter-43/1")
    return {
        "game": chance.choice([name for name in GAMES if name != record.game]),
        "table": "mint-otter-43",
        "race": record.race + 1,
        "cap": chance.choice([cap for cap in (0, 3, 5, 20) if cap != record.cap]),
        "public": not record.public,
        "ranked": True,
        "seed": seed,
        "commitment": digest,
        "deal": None,
        "previous": Previous(chance.choice(races), digest),
    }


def field_changed(name: str) -> Lie:
    """Return the lie about one field; half of the time the commitment follows, where it can."""

    def lie(record: RaceRecord, chance: Random) -> RaceRecord:
        value = other_values(record, chance)[name]
        if_so(value != getattr(record, name))
        changed = replace(record, **{name: value})  # type: ignore[arg-type]
        if name == "table":
            changed = replace(changed, previous=None)
        is_committed = name in ("seed", "table", "race") and (name != "seed" or record.deal)
        return promised(changed) if is_committed and chance.random() < 0.5 else changed

    return lie


def racer_changed(name: str) -> Lie:
    """Return the lie about a racer's nonce, its hash, both, or the player, where that keeps the order."""

    def lie(record: RaceRecord, chance: Random) -> RaceRecord:
        racer = chance.choice([each for each in record.racers if each.nonce])
        nonce = chance.randbytes(16)
        letter = chance.choice([each for each in "ab27" if each != racer.player[-1]])
        changes: dict[str, dict[str, object]] = {
            "nonce": {"nonce": nonce.hex()},
            "nonce hash": {"nonce_hash": nonce_hash(nonce)},
            "nonce with its hash": {"nonce": nonce.hex(), "nonce_hash": nonce_hash(nonce)},
            "no nonce": {"nonce": ""},
            "player": {"player": racer.player[:-1] + letter},
        }
        changed = with_racer(record, racer, **changes[name])
        return settled(changed) if name == "player" else changed

    return lie


def result_changed(name: str) -> Lie:
    """Return the lie about a count, with the money for it, about the moment it was reached, or the ending."""

    def lie(record: RaceRecord, chance: Random) -> RaceRecord:
        place = chance.randrange(len(record.results))
        row = record.results[place]
        if name == "count":
            more = chance.choice((-1, 1, 2) if row.banked else (1, 2))
            return with_row(record, place, banked=row.banked + more, net=row.net + 5 * more)
        others = [None, *range(5000), *([] if row.reached is None else [row.reached + 1])]
        values: dict[str, list[object]] = {"reached": [*others], "state": [*State]}
        value = chance.choice([each for each in values[name] if each != getattr(row, name)])
        return with_row(record, place, **{name: value})

    return lie


ROWS: Final[Mapping[str, Callable[[list[object], int], object]]] = {
    "left out": lambda rows, at: rows.pop(at),
    "twice": lambda rows, at: rows.insert(at, rows[at]),
    "swapped": lambda rows, at: rows.insert(0, rows.pop()),
}


def rows_changed(name: str, how: str) -> Lie:
    """Return the lie about the list of racers or of results; without a racer, the results follow."""

    def lie(record: RaceRecord, chance: Random) -> RaceRecord:
        rows = list(getattr(record, name))
        if_so(len(rows) > 1)
        ROWS[how](rows, chance.randrange(len(rows)))
        if how == "swapped" and name == "results" and chance.random() < 0.5:
            places = [row.place for row in record.results]
            rows = [replace(row, place=at) for row, at in zip(rows, places, strict=True)]
        changed = replace(record, **{name: tuple(rows)})  # type: ignore[arg-type]
        return settled(renumbered(changed)) if (name, how) == ("racers", "left out") else changed

    return lie


FIELDS = (
    "game",
    "table",
    "race",
    "cap",
    "public",
    "ranked",
    "seed",
    "commitment",
    "deal",
    "previous",
)
FIELD_LIES: Final[dict[str, Lie]] = {
    **{f"another {name}": field_changed(name) for name in FIELDS},
    **{
        f"another {name} of a racer": racer_changed(name)
        for name in ("nonce", "nonce hash", "nonce with its hash", "no nonce", "player")
    },
    **{
        f"another {name} in the results": result_changed(name)
        for name in ("count", "reached", "state")
    },
    **{f"{name} {how}": rows_changed(name, how) for name in ("racers", "results") for how in ROWS},
}


# The deal


def swapped_nonces(record: RaceRecord, chance: Random) -> RaceRecord:
    if_so(len(record.racers) > 1)
    one, other = chance.sample(record.racers, 2)
    swapped = with_racer(record, one, nonce=other.nonce, nonce_hash=other.nonce_hash)
    return with_racer(swapped, other, nonce=one.nonce, nonce_hash=one.nonce_hash)


def another_deal(record: RaceRecord, chance: Random) -> RaceRecord:
    """Swap two cards of the stock."""
    stock = list(record.opening.stock)
    one, other = chance.sample(range(len(stock)), 2)
    if_so(stock[one] != stock[other])
    stock[one], stock[other] = stock[other], stock[one]
    return settled(replace(record, deal=record.opening._replace(stock=tuple(stock))))


def exchanged_face_down_cards(record: RaceRecord, chance: Random) -> RaceRecord:
    """Swap two face-down cards, or one with a card of the stock."""
    stock, columns = list(record.opening.stock), [list(pile) for pile in record.opening.face_down]
    places = [(pile, at) for pile in columns for at in range(len(pile))]
    if_so(places)
    (one, here), (other, there) = chance.choice(places), (stock, chance.randrange(len(stock)))
    if chance.random() < 0.5:
        other, there = chance.choice(places)
    if_so(one[here] != other[there])
    one[here], other[there] = other[there], one[here]
    deal = record.opening._replace(stock=tuple(stock), face_down=tuple(map(tuple, columns)))
    return settled(replace(record, deal=deal))


def another_card_face_up(record: RaceRecord, chance: Random) -> RaceRecord:
    """Turn up one more card of a column, or all face-down cards."""
    piles = list(zip(record.opening.face_down, record.opening.columns, strict=False))
    if_so(piles)
    most = chance.choice((1, len(piles)))
    column = chance.choice([at for at, (below, _) in enumerate(piles) if below])
    for at, (below, shown) in enumerate(piles):
        if most > 1 or at == column:
            piles[at] = (below[:-most], below[-most:] + shown)
    face_down, columns = zip(*piles, strict=True)
    deal = record.opening._replace(face_down=face_down if any(face_down) else (), columns=columns)
    return settled(replace(record, deal=deal))


# The racers


def added_racer(record: RaceRecord, chance: Random) -> RaceRecord:
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


def another_reason(record: RaceRecord, chance: Random) -> RaceRecord:
    """Give a reason that does not fit what was dealt, or who is blamed."""
    fits = {NONCE_MISSING, RACER_LEFT, RACER_GONE} if record.blamed else {CLOSED}
    if not record.blamed and record.deal is None:
        fits = {SERVER_AWAY, CLOSED_IN_COUNTDOWN}
    others = [reason for reason in VOID_REASONS if reason not in fits | {record.voided}]
    if record.blamed and record.voided != NONCE_MISSING:
        others.append(NONCE_MISSING)
    return replace(record, voided=chance.choice(others))


def entries_without_a_deal(record: RaceRecord, chance: Random) -> RaceRecord:
    if_so(record.deal is None)
    return with_racer(record, record.racers[0], log=(LogLine(1, 1, "draw"),))


def blamed_wrongly(record: RaceRecord, chance: Random) -> RaceRecord:
    """Blame nobody, somebody who did not race, or everybody."""
    everybody = tuple(racer.player for racer in record.racers)
    if_so(len(everybody) > 1)
    guesses = [(), ("n" * 16,), everybody]
    return replace(
        record, blamed=chance.choice([each for each in guesses if each != record.blamed])
    )


def named(*lies: Lie) -> dict[str, Lie]:
    return {lie.__name__.replace("_", " "): lie for lie in lies}


LIES: Final[Mapping[str, Lie]] = FIELD_LIES | named(
    *(illegal_move, move_after_ending, ending_left_out, no_log, unknown_ending, stuck),
    *(ended_by_host_too_early, stopped_a_person, voted_alone, idle_too_early, beyond_the_limit),
    *(out_of_time_early, out_of_time_without_limit, swapped, number_missing, number_twice),
    *(swapped_nonces, another_deal, exchanged_face_down_cards, another_card_face_up, added_racer),
)
"""Every lie about a finished race, by its name."""

VOID_LIES: Final[Mapping[str, Lie]] = {
    **{
        f"another {name}": field_changed(name)
        for name in ("seed", "commitment", "previous", "public")
    },
    "another nonce of a racer": racer_changed("nonce"),
    **named(another_reason, blamed_wrongly, entries_without_a_deal),
}
"""Every lie about a voided race."""


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
                try:
                    forged = lie(record, chance)
                except NoPlace:
                    continue
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


@pytest.mark.parametrize("count", [700, pytest.param(10_000, marks=pytest.mark.long)])
def test_no_forgery_is_accepted(count: int) -> None:
    found, tried = accepted(count, seed=1)
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
