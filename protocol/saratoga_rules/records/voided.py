"""The races that the server voided before the race of a record, one block of lines each.

A voided race has no results: no money, no place, no row on a leaderboard. Its seed and nonces are opened,
so that the deal can be checked, and its logs have a record of their own (`void_record`).

    voided 2 canfield 1 10 yes damaged 2                    race, game, rules, cap, public, reason, complete logs
    voided-commitment 8186f102..                            or `voided-commitment unreadable`
    voided-seed 000102..                                    or `voided-seed unreadable`
    voided-left abcdefghijklmnop                            with the reason `racer-left` only: who left
    voided-nonce abcdefghijklmnop 00010203..                by ascending player id
    voided-nonce bcdefghijklmnopa missing be45cb26..        not revealed in the countdown: its hash

A countdown is voided if the race could not start: then it has no logs, and the line of every racer.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from saratoga_rules.dealing.fairness import commitment
from saratoga_rules.records.grammar import CAP, GAME, HASH, NONCE, NUMBER, PLAYER, POSITIVE, SEAT
from saratoga_rules.records.lines import MOST_RACERS, RecordReader, check_limit

DAMAGED: Final = "damaged"
NONCE_MISSING: Final = "nonce-missing"
RACER_LEFT: Final = "racer-left"
SERVER_AWAY: Final = "server-away"
CLOSED: Final = "closed"
CLOSED_IN_COUNTDOWN: Final = "closed-in-countdown"

VOID_REASONS: Final[Mapping[str, str]] = {
    DAMAGED: "the server's stored data of the race were damaged",
    NONCE_MISSING: "a racer's nonce was missing in the countdown",
    RACER_LEFT: "a racer left in the countdown",
    SERVER_AWAY: "the server was away in the countdown",
    CLOSED: "the table was closed during the race",
    CLOSED_IN_COUNTDOWN: "the table was closed in the countdown",
}
"""All reasons for which a server voids a race, each with the words that say it in a sentence."""

COUNTDOWN_REASONS: Final = frozenset({NONCE_MISSING, RACER_LEFT, SERVER_AWAY, CLOSED_IN_COUNTDOWN})
"""The reasons for which a countdown is voided, before there is a race."""

CLOSED_REASONS: Final = frozenset({CLOSED, CLOSED_IN_COUNTDOWN})
"""The reasons that end a table, so that no later record can list the race."""

MOST_VOIDED: Final = 16
"""The most voided races that a record lists, the latest; each has a record of its own, too."""

UNREADABLE: Final = "unreadable"
"""The text in place of a commitment, seed or nonce that the server could not read."""

SEED_TEXT: Final = re.compile(HASH)
NONCE_TEXT: Final = re.compile(NONCE)

ANY_REASON: Final = "[a-z]{1,32}(?:-[a-z]{1,32}){0,3}"
"""A reason for which a newer server may void a race."""

_REASONS: Final = "|".join(VOID_REASONS)
_VOIDED: Final = re.compile(
    f"voided ({POSITIVE}) ({GAME}) ({POSITIVE}) ({CAP}) (yes|no) ({_REASONS}) (0|{SEAT})"
)
_ANY_VOIDED: Final = re.compile(
    f"voided {POSITIVE} {GAME} {POSITIVE} {NUMBER} (?:yes|no) {ANY_REASON} (?:0|{SEAT})"
)
_COMMITMENT: Final = re.compile(f"voided-commitment ({HASH}|{UNREADABLE})")
_SEED: Final = re.compile(f"voided-seed ({HASH}|{UNREADABLE})")
_LEFT: Final = re.compile(f"voided-left ({PLAYER})")
_NONCE: Final = re.compile(f"voided-nonce ({PLAYER}) (?:({NONCE})|missing ({HASH}))")


@dataclass(frozen=True, slots=True, kw_only=True)
class VoidedLine:
    """A race that the server voided, as the table's next record has it."""

    race: int
    """The number of the race at that table."""
    game: str
    rules_version: int
    cap: int
    """The time limit in minutes; 0 = none."""
    public: bool
    """True if the table was listed for everybody."""
    reason: str
    """A key of `VOID_REASONS`."""
    logs: int
    """The number of racers whose logs could be read to their ends."""
    commitment: str
    """The commitment in hexadecimal; empty if it could not be read."""
    seed: str
    """The seed in hexadecimal; empty if it could not be read."""
    nonces: Mapping[str, str] = field(default_factory=dict)
    """The nonces in hexadecimal, by player id, without those that could not be read."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """The hashes of the nonces that were not revealed in a voided countdown, by player id."""
    left: str = ""
    """The id of the racer who left, with the reason `racer-left`."""


def voided_lines(voided: Iterable[VoidedLine]) -> Iterator[str]:
    """Yield the lines of a record about voided races."""
    for each in voided:
        settings = f"{each.cap} {'yes' if each.public else 'no'}"
        yield (
            f"voided {each.race} {each.game} {each.rules_version} {settings} {each.reason} {each.logs}"
        )
        yield f"voided-commitment {each.commitment or UNREADABLE}"
        yield f"voided-seed {each.seed or UNREADABLE}"
        if each.left:
            yield f"voided-left {each.left}"
        missing = {player: f"missing {hashed}" for player, hashed in each.missing.items()}
        for player, nonce in sorted({**each.nonces, **missing}.items()):
            yield f"voided-nonce {player} {nonce}"


def parse_voided(reader: RecordReader) -> Iterator[VoidedLine]:
    """Yield the voided races of a record. Raise `RecordError` on other lines."""
    for listed in count(1):
        if not reader.starts("voided"):
            return
        found = reader.take(_VOIDED, "a voided race", _ANY_VOIDED).groups()
        race, game, rules, cap, public, reason, logs = found
        check_limit(reader, int(cap), public == "yes")
        if listed > MOST_VOIDED:
            reader.refuse(f"there are more than {MOST_VOIDED} voided races")
        is_countdown = reason in COUNTDOWN_REASONS
        if is_countdown and logs != "0":
            reader.refuse("a voided countdown has no logs")
        committed = reader.take(_COMMITMENT, "the commitment of the voided race")[1]
        seed = reader.take(_SEED, "the seed of the voided race")[1]
        left = reader.take(_LEFT, "the racer who left")[1] if reason == RACER_LEFT else ""
        nonces: dict[str, str] = {}
        missing: dict[str, str] = {}
        while reader.starts("voided-nonce"):
            player, nonce, hashed = reader.take(_NONCE, "a nonce of the voided race").groups()
            if nonce:
                nonces[player] = nonce
            elif is_countdown:
                missing[player] = hashed
            else:
                reader.refuse("a race that started has every nonce")
            if len(nonces) + len(missing) > MOST_RACERS:
                reader.refuse(f"a voided race has more than {MOST_RACERS} racers")
        yield VoidedLine(
            race=int(race),
            game=game,
            rules_version=int(rules),
            cap=int(cap),
            public=public == "yes",
            reason=reason,
            logs=int(logs),
            commitment="" if committed == UNREADABLE else committed,
            seed="" if seed == UNREADABLE else seed,
            nonces=nonces,
            missing=missing,
            left=left,
        )


def seed_fault(voided: VoidedLine, table: str) -> str:
    """Return how a voided race's seed contradicts its commitment; empty if not, or if one is unreadable."""
    if not voided.seed or not voided.commitment:
        return ""
    promised = commitment(
        bytes.fromhex(voided.seed),
        voided.game,
        voided.rules_version,
        table,
        voided.race,
        cap=voided.cap,
        public=voided.public,
    )
    if promised != voided.commitment:
        return f"the seed of voided race {table}/{voided.race} has the commitment {promised}"
    return ""


def reason_fault(
    race: str, reason: str, nonces: Collection[str], missing: Collection[str], left: str
) -> str:
    """Return how the reason of a voided countdown contradicts what is said of its racers; empty if it does not.

    `nonces` and `missing` have the ids of the racers whose nonces were revealed and of those whose were not.
    """
    if reason in (NONCE_MISSING, SERVER_AWAY) and not missing:
        return f"{race} was voided because {VOID_REASONS[reason]}, but every nonce was revealed"
    if reason == RACER_LEFT and left not in (*nonces, *missing):
        return f"{race} was voided because a racer left, but none of its racers is named"
    return ""
