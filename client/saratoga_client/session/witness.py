"""Evidence that this machine saves during a race, so that no server can change it later.

A record alone proves only its own consistency. The evidence connects the record with the race that
was played: the commitment, the hashes of the racers' nonces, the player's own deal and the record's
digest. One small file per race holds them, for a comparison with the record.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from saratoga_client.local.files import OWNER_ONLY, delete_oldest, replace_file
from saratoga_client.local.identity import home
from saratoga_protocol import events
from saratoga_rules.dealing.fairness import commitment, nonce_hash
from saratoga_rules.position import format_position
from saratoga_rules.records.grammar import RACE_ID
from saratoga_rules.records.lines import RecordError
from saratoga_rules.records.record import RaceRecord, digest_of, parse_record
from saratoga_rules.records.replay import ReplayError
from saratoga_rules.records.void_record import VoidRecord, is_void_record, parse_void_record
from saratoga_rules.records.void_replay import void_deal
from saratoga_rules.records.voided import NONCE_TEXT, SEED_TEXT
from saratoga_rules.views import redact

FOLDER: Final = "witness"

MAX_KEPT: Final = 1000
"""Maximum number of saved sightings; the oldest files are deleted first."""


class Sighting(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The evidence of one race that this machine saw before the seed was revealed, and the digest."""

    race: str
    game: str
    commitment: str
    player: str = ""
    """The id of this machine's player."""
    nonce: str = ""
    """This player's nonce in hexadecimal, saved so that a restarted program can reveal it."""
    nonce_hashes: dict[str, str] = {}
    """The racers' nonce hashes by player id, from the countdown on."""
    deal: str = ""
    """This player's view of the deal, in the text form of `format_position`."""
    digest: str = ""
    """The record's digest, as announced at the end of the race."""
    voided: str = ""
    """The reason for which the server said that it voided the race; empty if it did not."""

    @property
    def is_spent(self) -> bool:
        """True after the countdown has started: its nonces are known, so the deal is spent."""
        return bool(self.nonce_hashes or self.deal or self.digest or self.voided)


@dataclass(frozen=True, slots=True)
class Testimony:
    """The comparison of a sighting with a record."""

    seen: tuple[str, ...]
    """The parts that were compared: some of `commitment`, `nonces`, `deal` and `digest`."""
    disagreements: tuple[str, ...]
    """Sentences that describe contradictions; empty if record and sighting agree."""

    @property
    def verdict(self) -> str:
        """Return `witnessed here`, `self-consistent only` or `not the race seen here`."""
        if self.disagreements:
            return "not the race seen here"
        return "witnessed here" if self.seen else "self-consistent only"


class Witness:
    """The sightings saved on this machine."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = home() / FOLDER if folder is None else folder

    def load(self, race: str) -> Sighting | None:
        """Return the sighting of a race such as `mint-otter-42/3`; `None` if none can be read."""
        path = self._path(race)
        if path is None:
            return None
        try:
            return msgspec.json.decode(path.read_bytes(), type=Sighting)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None

    def keep(self, sighting: Sighting) -> None:
        """Save a sighting and replace the earlier one of that race; raises `OSError`.

        A sighting whose race id has the wrong form is ignored.
        """
        path = self._path(sighting.race)
        if path is None:
            return
        is_new = not path.exists()
        # The file has a secret nonce. Not durable, because waiting for the disk would block the
        # event loop.
        replace_file(path, msgspec.json.encode(sighting), mode=OWNER_ONLY, durable=False)
        if is_new:
            delete_oldest(self._folder, "*.json", MAX_KEPT)

    def _path(self, race: str) -> Path | None:
        """Return the file for a race; `None` for an invalid id, because the server chooses ids."""
        if not _RACE.fullmatch(race):
            return None
        return self._folder / f"{race.replace('/', '.')}.json"


_RACE: Final = re.compile(RACE_ID)


def compare_with_record(sighting: Sighting | None, text: str) -> Testimony:
    """Compare the text of a record with the sighting of its race."""
    record: RaceRecord | VoidRecord
    try:
        record = parse_void_record(text) if is_void_record(text) else parse_record(text)
    except RecordError as fault:
        return Testimony((), (f"the record cannot be read: {fault}",))
    if sighting is None:
        return Testimony((), ())
    if isinstance(record, VoidRecord):
        compared = (
            ("commitment", record.commitment),
            ("nonces", sighting.nonce_hashes),
            ("deal", sighting.deal and _deal_of_void(record)),
        )
        parts = tuple(part for part, value in compared if value)
        return Testimony(parts, tuple(_disagreements_of_void(sighting, record)))
    seen = [
        part
        for part, value in (
            ("commitment", sighting.commitment),
            ("nonces", sighting.nonce_hashes),
            ("deal", sighting.deal),
            ("digest", sighting.digest),
        )
        if value
    ]
    return Testimony(tuple(seen), tuple(_disagreements(sighting, record, digest_of(text))))


def _disagreements(sighting: Sighting, record: RaceRecord, digest: str) -> Iterator[str]:
    yield from _disagreements_of_race(sighting, record)
    if sighting.nonce_hashes:
        hashes = {racer.player: racer.nonce_hash for racer in record.racers}
        yield from _nonce_disagreements(sighting.nonce_hashes, hashes)
    nonces = {racer.player: racer.nonce for racer in record.racers}
    if sighting.nonce and nonces.get(sighting.player, sighting.nonce) != sighting.nonce:
        yield "the record's nonce for this player is not the one that this player drew"
    if sighting.deal and sighting.deal != format_position(redact(record.deal)):
        yield "the record's deal is not the one that this player was dealt"
    if sighting.digest and sighting.digest != digest:
        yield "the record's digest is not the one announced at the end of the race"


def _disagreements_of_void(sighting: Sighting, record: VoidRecord) -> Iterator[str]:
    yield from _disagreements_of_race(sighting, record)
    if sighting.nonce_hashes:
        # a nonce that the server could not read is no contradiction
        unread = {racer.player for racer in record.racers if not racer.nonce}
        hashes = {
            racer.player: racer.nonce_hash for racer in record.racers if racer.player not in unread
        }
        seen = {
            player: hashed
            for player, hashed in sighting.nonce_hashes.items()
            if player not in unread
        }
        yield from _nonce_disagreements(seen, hashes)
    if sighting.deal and (deal := _deal_of_void(record)) and deal != sighting.deal:
        yield "the deal of the record's seed and nonces is not the one that this player was dealt"


def _deal_of_void(record: VoidRecord) -> str:
    """Return a player's view of the deal in the text form; empty if it cannot be computed."""
    try:
        deal = void_deal(record)
    except ReplayError:
        return ""
    return "" if deal is None else format_position(redact(deal))


def _disagreements_of_race(sighting: Sighting, record: RaceRecord | VoidRecord) -> Iterator[str]:
    if record.race_id != sighting.race:
        yield f"the record is of race {record.race_id}, not of {sighting.race}"
    if record.game != sighting.game:
        yield f"the race was of {sighting.game}, and the record is of {record.game}"
    # a commitment that the server could not read is no contradiction
    if record.commitment and record.commitment != sighting.commitment:
        yield "the record's commitment is not the one announced before the race"


def _nonce_disagreements(seen: dict[str, str], recorded: dict[str, str]) -> Iterator[str]:
    for player in sorted(seen.keys() | recorded.keys()):
        if player not in recorded:
            yield f"{player} was in the countdown, but is not in the record"
        elif player not in seen:
            yield f"{player} is in the record, but was not in the countdown"
        elif seen[player] != recorded[player]:
            yield f"the nonce of {player} does not match the hash from the countdown"


def faults_of_voided(voided: events.VoidedRace, sighting: Sighting | None) -> Iterator[str]:
    """Yield how a voided race contradicts what this machine saw of it. What is missing is no contradiction."""
    if not _RACE.fullmatch(voided.race):
        yield "the voided race has no valid id"
        return
    table, _, number = voided.race.rpartition("/")
    if voided.commitment and SEED_TEXT.fullmatch(voided.seed):
        seed = bytes.fromhex(voided.seed)
        made = commitment(
            seed,
            voided.game,
            voided.rules,
            table,
            int(number),
            cap=voided.cap,
            public=voided.public,
        )
        if made != voided.commitment:
            yield "the seed of the voided race does not match its commitment"
    if sighting is None:
        return
    if sighting.digest:
        yield "the server announced a result of the race that it says was voided"
    if sighting.voided not in ("", voided.reason):
        yield f"the reason for the void was {sighting.voided}, and now is {voided.reason}"
    if voided.commitment and sighting.commitment != voided.commitment:
        yield "the voided race's commitment is not the one announced before the race"
    for player, nonce in sorted(voided.nonces.items()):
        seen = sighting.nonce_hashes.get(player)
        if seen and (not NONCE_TEXT.fullmatch(nonce) or nonce_hash(bytes.fromhex(nonce)) != seen):
            yield f"the nonce of {player} in the voided race does not match the hash from the countdown"
