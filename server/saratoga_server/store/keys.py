"""The keys of the store: what each of them holds, and how long it is kept.

| key | type | holds | kept |
|---|---|---|---|
| `table:CODE` | hash | version, body, the write that made it, the race that runs | `TABLE_KEPT`; \
closed without a race: `UNRACED_KEPT` |
| `table:CODE:records` | hash | finished races by number: the records' texts | with its table |
| `table:CODE:race:R` | hash | start, deadline, racers, commits so far, boards open; of each \
board, behind `PLAYER:`, epoch, last id, length, banked, state, when each count was reached | with its table; \
finished: `FINISHED_LOGS_KEPT` |
| ... `:log:PLAYER` | list | `ms-since-start number command-id text` an entry | with its race |
| `due` | sorted set | table codes by when their next timer runs out | entry by entry |
| `outbox` | list | settlements not yet on the leaderboards | until settled |
| `ledger` | hash | format, generation and sequence of the data (`ledger.py`) | for ever |
| `public:listed` | sorted set | codes of public tables by connected people, then by when they were first \
listed | `LISTING_KEPT` |
| `public:summaries` | hash | code to the opener's address, as a keyed hash, and summary | with its listing |
| `public:places` | hash | an address, as a keyed hash, to the codes that it lists | with its listings |
| `public:address-key` | string | the key of these hashes | for ever |
| `player:ID` | hash | a player, and the codes of the last eight tables it made | `GUEST_KEPT`; with a name: for ever |
| `name:SKELETON` | string | the player who holds the name; nothing: it is held for nobody | for \
ever; given up, or its player forgotten: `NAME_KEPT` |
| `leaderboard:GAME:RANKING:PERIOD:KIND` | sorted set | player by one number | `periods.py` |
| ... `:rows` | hash | player to the race behind that number | with its ranking |
| ... `:rivals` | hash | player to the ids of the people raced against, while they are few | with its ranking |
| `leaderboard:GAME:results:PLAYER` | hash | every result, by sequence number | until forgotten |
| `leaderboard:GAME:race:RACE` | string | the race is settled: when it started, who took part, which \
periods | `SETTLED_KEPT` |
| `leaderboard:GAME:sequence` | string | how many results were settled | for ever |
| `expiring` | sorted set | keys by when they are deleted | entry by entry |
| `swept` | hash | when the sweeper was last there, and from when on it may delete | for ever |
| `node:NAME` | string | this server process lives | seconds (`nodes.py`) |
| `replicated` | string | nothing; written before waiting for a replica | for ever |
| `audit` | sorted set | administrators' actions | the newest `AUDIT_KEPT` |

`news` is not a key but a pub/sub channel for events between nodes (`node_events.py`).

Only `player:ID` without a name and `node:NAME` have a TTL. A store writes a TTL as an absolute time
and deletes by its own clock, so a wrong clock would delete results. Everything else that is kept
for a time has an entry in `expiring`, written with it, and is deleted by the sweeper
(`retention.py`), which first checks the clocks. A table is deleted with its records and its races.
When a race is over, its record has everything.
"""

from typing import Final

_DAY: Final = 24 * 60 * 60 * 1000

TABLE_KEPT: Final = 90 * _DAY
"""Milliseconds from the last write of a table until it and its races are deleted."""

UNRACED_KEPT: Final = 1 * _DAY
"""Milliseconds from the closing of a table without a race until it is deleted."""

FINISHED_LOGS_KEPT: Final = 1 * _DAY
"""Milliseconds from the end of a race until its boards are deleted; the record stays."""

SETTLED_KEPT: Final = TABLE_KEPT
"""Milliseconds for which a settled race is remembered and can be voided.

The code of a deleted table may be used again. Its races then have the ids of older races, but other
starts, so an older race's mark does not stand for them.
"""

CLOCK_JUMP: Final = 30 * _DAY
"""Milliseconds between two visits of the sweeper above which a clock may be wrong."""

UNTRUSTED_FOR: Final = TABLE_KEPT
"""Milliseconds after such a jump, or step back, in which the sweeper deletes nothing."""

CLOCKS_WITHIN: Final = 60 * 1000
"""Milliseconds by which a node's clock and the store's may differ while the sweeper deletes."""

LISTING_KEPT: Final = 3 * 60 * 60 * 1000
"""Milliseconds for which a public table stays listed after its summary was last written."""

GUEST_KEPT: Final = TABLE_KEPT
"""Milliseconds from the last write of a player without a name until the row expires."""

NAME_KEPT: Final = 30 * _DAY
"""Milliseconds for which a name that was given up, or forgotten, is held."""

AUDIT_KEPT: Final = 10_000
"""The number of actions kept in the audit log."""

OUTBOX: Final = "outbox"
PUBLIC: Final = "public:listed"
ADDRESS_KEY: Final = "public:address-key"
AUDIT: Final = "audit"
LEDGER: Final = "ledger"
FORMER_LEDGER: Final = "{players}:ledger"
"""The ledger of a store of format 1; such stores are refused (`ledger.py`)."""
MARK: Final = "replicated"
NEWS: Final = "news"


def table_key(code: str) -> str:
    return f"table:{code}"


def race_key(code: str, race: int) -> str:
    return f"{table_key(code)}:race:{race}"


def records_key(code: str) -> str:
    return f"{table_key(code)}:records"


def player_key(player: str) -> str:
    return f"player:{player}"


def name_key(skeleton: str) -> str:
    return f"name:{skeleton}"


def leaderboard_key(game: str) -> str:
    """Return the beginning of every key of the game's leaderboards."""
    return f"leaderboard:{game}"


def ranking_key(game: str, ranking: str, period: str, *, bots: bool) -> str:
    return f"{leaderboard_key(game)}:{ranking}:{period}:{'bots' if bots else 'people'}"
