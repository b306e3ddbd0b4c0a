"""What a record says, as facts, to compare with what a client saw of the race.

A fact is a key and a value that never changes, both of plain text. A client makes facts of the
events that it receives, and `implied` makes the same facts of a record, by replay. A record that
says anything else of one key was not the race that the client saw. R is the id of the race and P
that of a player:

    terms R           `GAME RULES CAP PUBLIC`: game, version of the rules, minutes, `yes` or `no`
    commitment R      the commitment
    racers R          the racers' ids, ascending
    racer R P         `person "Anna"` or `bot "Zora"`, as in the record
    hash R P          the hash of the racer's nonce
    start R           `START DEADLINE`; the deadline is 0 without a time limit
    ranked R          `yes` or `no`
    head R P HEAD     `BANKED NET STATE`: the count and state that were shown with this head
    order R           the racers' ids in order of place
    net R P           `PLACE NET`
    result R P        `PLACE BANKED NET MOVES REACHED ENDED STATE`
    seed R            the seed
    end R             the digest of the race's record, finished or voided
    void R            `REASON BLAMED..`: why the race was voided, and because of whom

and of the client's own player:

    board R P N       `HASH BANKED NET STATE HEAD`: the board after N entries, with the hash of its view
    entry R P N       the line of entry N, such as `1186 16 r>up`
    revealed R P      `yes` if the nonce was revealed, else `no`
    left R P          `yes` if the player left by command, else `no`
"""

import json
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Final, NamedTuple, TypeAlias

from saratoga_rules.money import net
from saratoga_rules.position import Position, View, format_position, redact
from saratoga_rules.records.heads import heads
from saratoga_rules.records.record import RACER_LEFT, RaceRecord, RacerLog
from saratoga_rules.records.replay import ReplayError, Step, game_of, state_of, steps_from

Key: TypeAlias = tuple[str, ...]
"""The kind of a fact, the id of the race, and what else the table above says."""

CONTRADICTED: Final = "contradicted"
UNCHECKED: Final = "unchecked"
MISSING: Final = "missing"

RESTORED: Final = 1_000
"""More race numbers than this are left out only by a server whose data were restored, which may have lost a race."""

REST: Final = "*"
"""Stands for all other keys of one kind and player."""


class Finding(NamedTuple):
    """A fact of which a record says something else, or nothing that can be compared."""

    kind: str
    """`CONTRADICTED`, `UNCHECKED` or `MISSING`."""
    key: Key
    seen: str
    found: str


def compare(seen: Mapping[Key, str], record: RaceRecord, digest: str, player: str) -> list[Finding]:
    """Return how a record differs from the facts that a player's client saw; `digest` is the record's."""
    known = implied(record, digest, player)
    findings = []
    for key, value in seen.items():
        if key[1] != record.race_id and key not in known:
            continue
        found = _found(known, key, value)
        if found is None:
            findings.append(Finding(UNCHECKED, key, value, ""))
        elif found != value:
            findings.append(Finding(CONTRADICTED, key, value, found))
    before = record.previous.race if record.previous else ""
    return [*findings, *skipped(seen, before, record.race_id)]


def _found(known: Mapping[Key, str | None], key: Key, value: str) -> str | None:
    found = known.get(key, known.get((*key[:3], REST), "nothing"))
    if found is None and key[0] == "board":
        # the head that was shown with a board needs no rules
        return _found(known, ("head", *key[1:3], value.rpartition(" ")[2]), "")
    return found


def skipped(
    seen: Mapping[Key, str], before: str, race: str, kind: str = "terms"
) -> Iterator[Finding]:
    """Yield the races of which such a fact was seen between two that follow each other at one table."""
    table, _, last = race.rpartition("/")
    first = before.rpartition("/")[2] or "0"
    for key in seen:
        code, _, number = key[1].rpartition("/")
        if key[0] == kind and code == table and int(first) < int(number) < int(last):
            is_restored = int(last) - int(first) > RESTORED
            found = f"{race} follows {before or 'no race'}"
            yield Finding(MISSING if is_restored else CONTRADICTED, key, "listed", found)


def implied(record: RaceRecord, digest: str, player: str) -> dict[Key, str | None]:
    """Return the facts in a record; `None` stands for what cannot be computed here."""
    race = record.race_id
    allowed = record.time_allowed
    terms = f"{record.game} {record.rules_version} {record.cap} {yes(record.public)}"
    said: dict[Key, str | None] = {
        ("terms", race): terms,
        ("commitment", race): record.commitment,
        ("racers", race): " ".join(racer.player for racer in record.racers),
        ("ranked", race): yes(record.ranked),
        ("end", race): digest,
    }
    if record.previous is not None:
        said["end", record.previous.race] = record.previous.digest
    if record.deal is not None:
        said["start", race] = f"{record.start_at} {record.start_at + allowed if allowed else 0}"
    if record.voided:
        said["void", race] = " ".join([record.voided, *record.blamed])
    else:
        said["seed", race] = record.seed
        said["order", race] = " ".join(row.player for row in record.results)
    for racer in record.racers:
        kind = "bot" if racer.bot else "person"
        said["racer", race, racer.player] = f"{kind} {json.dumps(racer.name)}"
        said["hash", race, racer.player] = racer.nonce_hash
        said.update(_of_log(record, racer, is_own=racer.player == player))
    said.update(_of_results(record))
    return said


def view_hash(view: View) -> str:
    """Return the hash that stands for a board as its player may see it."""
    return blake2b(format_position(view).encode(), digest_size=8).hexdigest()


def yes(is_so: bool) -> str:
    """Return the value of a fact that is so, or not."""
    return "yes" if is_so else "no"


def _of_results(record: RaceRecord) -> Iterator[tuple[Key, str | None]]:
    logs = {racer.player: racer for racer in record.racers}
    for row in record.results:
        yield ("net", record.race_id, row.player), f"{row.place} {row.net}"
        racer = logs.get(row.player)
        if racer is None or not isinstance(record.deal, Position):
            yield ("result", record.race_id, row.player), None
            continue
        reached = "-" if row.reached is None else row.reached
        times = f"{reached} {racer.log[-1].at if racer.log else 0}"
        result = f"{row.place} {row.banked} {row.net} {racer.moves} {times} {row.state}"
        yield ("result", record.race_id, row.player), result


def _of_log(
    record: RaceRecord, racer: RacerLog, *, is_own: bool
) -> Iterator[tuple[Key, str | None]]:
    """Yield what follows from a racer's log: heads need the deal key, and rows and boards the rules as well."""
    race, player = record.race_id, racer.player
    boards = _boards(record, racer)
    for number, head in enumerate(_heads(record, racer)):
        position, row = boards[number] if boards else (None, None)
        yield ("head", race, player, head), row
        if is_own:
            board = f"{view_hash(redact(position))} {row} {head}" if position is not None else None
            yield ("board", race, player, str(number)), board
    if is_own:
        for number, line in enumerate(racer.log, start=1):
            yield ("entry", race, player, str(number)), str(line)
        is_blamed = record.voided == RACER_LEFT and player in record.blamed
        has_left = is_blamed or any(line.text == "left" for line in racer.log)
        yield ("left", race, player), None if racer.damaged else yes(has_left)
        yield ("revealed", race, player), yes(bool(racer.nonce))
    if racer.damaged:
        for kind in ("entry", "head", "board"):
            yield (kind, race, player, REST), None


def _heads(record: RaceRecord, racer: RacerLog) -> list[str]:
    if record.deal is None or not (record.kind or all(each.nonce for each in record.racers)):
        return []
    return heads(record.key, record.race_id, racer.player, racer.log)


def _boards(record: RaceRecord, racer: RacerLog) -> list[tuple[Position, str]]:
    """Return every position from the deal on, with its `BANKED NET STATE`; nothing without a replay."""
    if not isinstance(record.deal, Position):
        return []
    deal = record.deal
    try:
        game = game_of(record)
        made = steps_from(game, deal, racer.log)
    except ReplayError:
        return []

    def board(last: list[Step]) -> tuple[Position, str]:
        position = last[0].position if last else deal
        row = f"{position.banked} {net(game, position.banked)} {state_of(game, last, deal)}"
        return position, row

    return [board([]), *(board([step]) for step in made)]
