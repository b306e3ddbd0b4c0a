"""Lies about a race, finished or voided. Each breaks a rule of the protocol page; all else is written to fit it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import Final

from kit.log_lies import LOG_LIES, Lie
from kit.races import (
    entries_of,
    promised,
    renumbered,
    settled,
    with_racer,
    with_row,
)
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


_Put = str | Callable[[re.Match[str]], str]

LOOSE: Final[tuple[tuple[str, _Put], ...]] = (
    ("([0-9]+)", r"0\1"),
    ("([0-9]+)", r"+\1"),
    ("([0-9]+)", r"\g<1>.0"),
    ("([0-9]+)", r"-0\1"),
    ("([0-9])", "\uff11"),
    ("([0-9]+)", r"\g<1>0000000000000000"),
    (" ", "  "),
    (" ", "\t"),
    ("$", " "),
    ("$", "\r"),
    ("$", "\n"),
    ("^", " "),
    ("^", "\ufeff"),
    ("([a-f])", lambda found: found[1].upper()),
    ("u00([a-f]+)", lambda found: f"u00{found[1].upper()}"),
    ('"', "'"),
    ('"(.)', r'"\\u0041'),
    ('"(.)', r'"\\n'),
    ("([a-z])", lambda found: found[1].upper()),
    (">t([0-9])", r">t0\1"),
    ("(>t[0-9]+)$", r"\1:1"),
    ("([a-z]+)-([a-z]+)-([0-9]+)", r"\1-\2-4"),
    ("[|]", "||"),
    ("/[A-Z0-9]+[|]", "/-|"),
    ("columns=", "columns=|"),
)
"""Changes that leave the meaning, or nearly: a pattern and its replacement."""


def sealed(lines: list[str]) -> str:
    """Return the lines of a record with the digest that fits them."""
    body = "\n".join([*lines, "digest"])
    return f"{body} {digest_of(body + chr(10))}\n"


def loosened(line: str, sought: str, put: _Put) -> str:
    """Return the line with the first place that fits replaced; unchanged if there is none, or in a name."""
    name = line.find('"') if line.startswith("racer ") else -1
    found = re.search(sought, line)
    is_another_name = found is not None and 0 <= name < found.start() and '"' not in found[0]
    return line if is_another_name else re.sub(sought, put, line, count=1)
