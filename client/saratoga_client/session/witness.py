"""What this machine saw of a race before it was over: the part that a house cannot change later.

A record proves that it holds together. That it is the race that *was* played, only those can say
who kept what was announced at the time: the commitment, the hashes of the racers' nonces, one's
own deal, the digest. That is kept here, a small file a race, and held against the record.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from saratoga_client.codes import RACE_ID
from saratoga_client.local.files import OWNER_ONLY, delete_oldest, replace_file
from saratoga_client.local.identity import home
from saratoga_rules.position import format_position
from saratoga_rules.records.lines import RecordError
from saratoga_rules.records.record import RaceRecord, digest_of, parse_record
from saratoga_rules.views import redact

FOLDER: Final = "witness"

MOST_KEPT: Final = 1000
"""Races; the oldest sightings give way."""


class Sighting(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was seen of one race while its seed was a secret."""

    race: str
    game: str
    commitment: str
    player: str = ""
    """Whose machine this is."""
    nonce: str = ""
    """This player's own, in hexadecimal: a program that starts anew can still show it."""
    nonce_hashes: dict[str, str] = {}
    """Of the racers by player id, from the countdown on."""
    deal: str = ""
    """This player's view of the deal, as `format_position` writes it."""
    digest: str = ""
    """Of the record, as announced when the race was over."""

    @property
    def is_spent(self) -> bool:
        """The countdown was seen, so the nonces are known: nobody may gather for this deal again."""
        return bool(self.nonce_hashes or self.deal or self.digest)


@dataclass(frozen=True, slots=True)
class Testimony:
    """What a sighting says of a record."""

    seen: tuple[str, ...]
    """What was held against the record: of `commitment`, `nonces`, `deal` and `digest`."""
    disagreements: tuple[str, ...]
    """Sentences; none if the record is of the race that was seen."""

    @property
    def verdict(self) -> str:
        """`witnessed here`, `self-consistent only`, or `not the race seen here`."""
        if self.disagreements:
            return "not the race seen here"
        return "witnessed here" if self.seen else "self-consistent only"


class Witness:
    """The sightings of this machine."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = home() / FOLDER if folder is None else folder

    def load(self, race: str) -> Sighting | None:
        """What was seen of the race `mint-otter-42/3`; `None` if nothing, or nothing readable."""
        path = self._path(race)
        if path is None:
            return None
        try:
            return msgspec.json.decode(path.read_bytes(), type=Sighting)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None

    def keep(self, sighting: Sighting) -> None:
        """Remember, in the place of what was remembered of that race. Raises `OSError`.

        What calls itself a race, and does not look like one, is not kept.
        """
        path = self._path(sighting.race)
        if path is None:
            return
        is_new = not path.exists()
        # A nonce is a secret until the countdown. This runs on the event loop: do not wait for
        # the disk.
        replace_file(path, msgspec.json.encode(sighting), mode=OWNER_ONLY, durable=False)
        if is_new:
            delete_oldest(self._folder, "*.json", MOST_KEPT)

    def _path(self, race: str) -> Path | None:
        """Nothing but a race's id becomes the name of a file: it is the house that says it."""
        if not _RACE.fullmatch(race):
            return None
        return self._folder / f"{race.replace('/', '.')}.json"


_RACE: Final = re.compile(RACE_ID)


def held_against(sighting: Sighting | None, text: str) -> Testimony:
    """Hold the text of a record against what was seen of the race."""
    try:
        record = parse_record(text)
    except RecordError as fault:
        return Testimony((), (f"the record cannot be read: {fault}",))
    if sighting is None:
        return Testimony((), ())
    seen = [
        word
        for word, there in (
            ("commitment", sighting.commitment),
            ("nonces", sighting.nonce_hashes),
            ("deal", sighting.deal),
            ("digest", sighting.digest),
        )
        if there
    ]
    return Testimony(tuple(seen), tuple(_disagreements(sighting, record, digest_of(text))))


def _disagreements(sighting: Sighting, record: RaceRecord, digest: str) -> Iterator[str]:
    if record.race_id != sighting.race:
        yield f"the record is of race {record.race_id}, not of {sighting.race}"
    if record.game != sighting.game:
        yield f"{sighting.game} was to be raced, and the record says {record.game}"
    if record.commitment != sighting.commitment:
        yield "the record names another commitment than was announced before the race"
    if sighting.nonce_hashes:
        hashes = {racer.player: racer.nonce_hash for racer in record.racers}
        yield from _nonce_disagreements(sighting.nonce_hashes, hashes)
    nonces = {racer.player: racer.nonce for racer in record.racers}
    if sighting.nonce and nonces.get(sighting.player, sighting.nonce) != sighting.nonce:
        yield "the nonce of this player is another in the record"
    if sighting.deal and sighting.deal != format_position(redact(record.deal)):
        yield "the record has another deal than this player was given"
    if sighting.digest and sighting.digest != digest:
        yield "the record has another digest than was announced at the end of the race"


def _nonce_disagreements(seen: dict[str, str], recorded: dict[str, str]) -> Iterator[str]:
    for player in sorted(seen.keys() | recorded.keys()):
        if player not in recorded:
            yield f"{player} was in the countdown, and is not in the record"
        elif player not in seen:
            yield f"{player} is in the record, and was not in the countdown"
        elif seen[player] != recorded[player]:
            yield f"the nonce of {player} is not the one whose hash was shown in the countdown"
