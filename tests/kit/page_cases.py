"""What the page's tests in `tests/page` compare its modules with: facts, deals, positions and records from the rules' own code.

`make reference` writes `tests/page/cases.jsonl`: one named value a line.
"""

import hashlib
import json
from dataclasses import replace
from typing import Any, Final

from msgspec import to_builtins

from kit.races import Entrant, countdown_voided, race
from kit.walks import banking, wandering
from saratoga_protocol.commands import player_id
from saratoga_protocol.views import wire_view
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.dealing.fairness import commitment, deal_key
from saratoga_rules.dealing.shuffle import shuffled_deck
from saratoga_rules.games import GAMES
from saratoga_rules.position import format_position, redact
from saratoga_rules.records.digest_words import digest_words
from saratoga_rules.records.record import KNOWN, format_record
from saratoga_rules.records.replay import steps
from saratoga_server.domain.open_races import DAY
from saratoga_server.transport.web_files import game_facts

TRUTH: Final = race(
    "canfield",
    5,
    [
        Entrant("Anna", banking, patience=7),
        Entrant("Bert", banking, patience=14, player=player_id("75" * 32)),
        Entrant("Carl", wandering, patience=9),
        Entrant("Zora", wandering, bot=True, patience=5),
    ],
    public=False,
)
OWN: Final = TRUTH.racers[0]
"""The race about which the page is lied to, and its racer."""

KEYS: Final = [bytes([number]) * 32 for number in range(3)]
"""The keys of the deals."""


def text() -> str:
    """Return the file's text."""
    named = {
        "facts": json.loads(game_facts()),
        "deals": [
            {"game": name, "key": key.hex(), "deal": format_position(deal_for_key(game, key))}
            for name, game in GAMES.items()
            for key in KEYS
        ],
        "decks": {key.hex(): "".join(shuffled_deck(2, key)) for key in KEYS},
        "words": {digest: digest_words(digest) for digest in map(_digest, range(20))},
        "races": {name: _race(name) for name in GAMES},
        "truth": {"race": TRUTH.race_id, "text": format_record(TRUTH), "player": OWN.player},
        "voided": format_record(countdown_voided(TRUTH)),
        "open": {kind: _open_race(kind) for kind in (DAY, KNOWN)},
    }
    return "".join(json.dumps({name: value}) + "\n" for name, value in named.items())


def _open_race(kind: str) -> dict[str, str]:
    """Return a record of an open race with the racers of `TRUTH`, whose moves fit the known deal only."""
    race_id = "a" * 16 if kind == KNOWN else "day/canfield/2026-11-28"
    seed = TRUTH.key if kind == KNOWN else bytes.fromhex(TRUTH.seed)
    key = seed if kind == KNOWN else deal_key(seed, race_id, {})
    committed = commitment(seed, "canfield", TRUTH.rules_version, race_id, 1, cap=10, public=True)
    record = replace(
        TRUTH,
        kind=kind,
        table=race_id,
        closes=TRUTH.start_at + 1,
        cap=10,
        commitment="" if kind == KNOWN else committed,
        seed=seed.hex(),
        deal=deal_for_key(GAMES["canfield"], key),
        racers=tuple(replace(each, started=TRUTH.start_at) for each in TRUTH.racers),
    )
    return {"race": race_id, "text": format_record(record)}


def _digest(number: int) -> str:
    return hashlib.sha256(bytes([number])).hexdigest()


def _race(game: str) -> dict[str, Any]:
    """Return the record of a race, and the first racer's positions with their moves, as records and as the wire write them."""
    entrants = [
        Entrant("Anna", banking, patience=20),
        Entrant("Zo\u00eb", wandering, bot=True, patience=9),
    ]
    record = race(game, 3, entrants)
    made = steps(record, record.racers[0].player)
    positions = [record.opening, *(each.position for each in made)]
    return {
        "race": record.race_id,
        "text": format_record(record),
        "positions": [format_position(position) for position in positions],
        "views": [to_builtins(wire_view(redact(position))) for position in positions],
        "moves": [each.line.text for each in made],
    }
