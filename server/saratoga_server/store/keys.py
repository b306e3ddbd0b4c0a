"""The keys of the store: what each of them holds, and how long it is kept.

Tables fall into 256 partitions by a hash of their code. The partition is the hash tag, so all keys
of a table share a slot and one Function call can change them together.

| key | type | holds | kept |
|---|---|---|---|
| `{pN}:table:CODE` | hash | version, body, the write that made it, the race that runs | `TABLE_KEPT`; \
closed without a race: `UNRACED_KEPT` |
| `{pN}:table:CODE:records` | hash | finished races by number: the records' texts | with its table |
| `{pN}:table:CODE:race:R` | hash | start, deadline, racers, commits so far, boards open; of each \
board, behind `PLAYER:`, epoch, last id, length, banked, state, when each count was reached | with its table; \
finished: `FINISHED_LOGS_KEPT` |
| ... `:log:PLAYER` | list | `ms-since-start number command-id text` an entry | with its race |
| `{pN}:due` | sorted set | table codes by when their next timer runs out | entry by entry |
| `{pN}:outbox` | list | settlements not yet on the leaderboards | until settled |
| `{players}:ledger` | hash | generation, sequence and \
newest time of the data, and for each process how long it had run, and when (`ledger.py`) | for ever |
| `{public}:listed` | sorted set | codes of public tables by connected people, then by when they were first \
listed | `LISTING_KEPT` |
| `{public}:summaries` | hash | code to the opener's address, as a keyed hash, and summary | with its listing |
| `{public}:places` | hash | an address, as a keyed hash, to the codes that it lists | with its listings |
| `{public}:address-key` | string | the key of these hashes | for ever |
| `{players}:player:ID` | hash | a player, and the codes of the last eight tables it made | `GUEST_KEPT`; with a name: for ever |
| `{players}:name:SKELETON` | string | the player who holds the name; nothing: it is held for nobody | for \
ever; given up, or its player forgotten: `NAME_KEPT` |
| `{leaderboard:GAME}:RANKING:PERIOD:KIND` | sorted set | player by one number | `periods.py` |
| ... `:rows` | hash | player to the race behind that number | with its ranking |
| ... `:rivals` | hash | player to the ids of the people raced against, while they are few | with its ranking |
| `{leaderboard:GAME}:results:PLAYER` | hash | every result, by sequence number | until forgotten |
| `{leaderboard:GAME}:race:RACE` | string | the race is settled: when it started, who took part, which \
periods | `SETTLED_KEPT` |
| `{leaderboard:GAME}:sequence` | string | how many results were settled | for ever |
| `leaderboard:games` | set | games that have a leaderboard | for ever |
| `{...}:expiring` | sorted set | what is deleted when, in its partition, its game or among players | entry by entry |
| `{...}:swept` | hash | when the sweeper was last there, and from when on it may delete | for ever |
| `node:NAME` | string | this server process lives | seconds (`nodes.py`) |
| `replicated` | string | nothing; written before waiting for a replica | for ever |
| `audit` | sorted set | administrators' actions | the newest `AUDIT_KEPT` |

In a cluster the part in braces, the hash tag, decides which primary has a key. Partitions are spread over
all primaries. Players and their names share one tag, so that taking a name, giving up the old one and
writing the row is one atomic step. That no two players have one name is worth more than spreading rows
that are written once per visit. Give a new key the tag of the keys that are changed together with it.

`news` is not a key but a pub/sub channel for events between nodes (`node_events.py`).

Only `{players}:player:ID` without a name and `node:NAME` have a TTL. A store writes a TTL as an absolute
time and deletes by its own clock, so a wrong clock would delete results. Everything else that is kept for
a time has an entry in `{...}:expiring`, written with it, and is deleted by the sweeper (`retention.py`),
which first checks the clocks. A member of `{pN}:expiring` is a table's code, or `CODE:race:R` for the logs
of a finished race; in `{leaderboard:GAME}:expiring` and `{players}:expiring` it is the rest of a key. A table is deleted with its
records and its races. When a race is over, its record has everything.
"""

from collections.abc import Sequence
from typing import Final
from zlib import crc32

PARTITIONS: Final = 256
"""The number of partitions. It must never change, because another number would lose every table."""

_DAY: Final = 24 * 60 * 60 * 1000

TABLE_KEPT: Final = 90 * _DAY
"""Milliseconds from the last write of a table until it and its races are deleted."""

UNRACED_KEPT: Final = 1 * _DAY
"""Milliseconds from the closing of a table without a race until it is deleted."""

FINISHED_LOGS_KEPT: Final = 1 * _DAY
"""Milliseconds from the end of a race until its boards are deleted; the record stays with the table."""

SETTLED_KEPT: Final = TABLE_KEPT
"""Milliseconds for which a settled race is remembered and can be voided.

The code of a deleted table may be used again. Its races then have the ids of older races, but other
starts, so an older race's mark does not stand for them.
"""

CLOCK_JUMP: Final = 30 * _DAY
"""Milliseconds between two visits of the sweeper above which it cannot tell a pause from a wrong clock."""

UNTRUSTED_FOR: Final = TABLE_KEPT
"""Milliseconds after such a jump, or after a step back, during which the sweeper deletes nothing."""

CLOCKS_WITHIN: Final = 60 * 1000
"""Milliseconds by which a node's clock and the store's may differ while the sweeper deletes."""

LISTING_KEPT: Final = 3 * 60 * 60 * 1000
"""Milliseconds for which a public table stays listed after its summary was last written."""

GUEST_KEPT: Final = TABLE_KEPT
"""Milliseconds from the last write of a player without a name until the row expires."""

NAME_KEPT: Final = 30 * _DAY
"""Milliseconds for which a name that was given up is held for its owner, or that of a forgotten player for nobody."""

AUDIT_KEPT: Final = 10_000
"""The number of actions kept in the audit log."""

PUBLIC: Final = "{public}:listed"
PLAYERS: Final = "{players}"
ADDRESS_KEY: Final = "{public}:address-key"
AUDIT: Final = "audit"
LEADERBOARD_GAMES: Final = "leaderboard:games"
LEDGER: Final = "{players}:ledger"
MARK: Final = "replicated"
NEWS: Final = "news"


def partition(code: str) -> int:
    """Return the partition of a table, 0 to 255."""
    return crc32(code.encode()) % PARTITIONS


def table_key(code: str) -> str:
    return f"{{p{partition(code)}}}:table:{code}"


def race_key(code: str, race: int) -> str:
    return f"{table_key(code)}:race:{race}"


def records_key(code: str) -> str:
    return f"{table_key(code)}:records"


def due_key(number: int) -> str:
    return f"{{p{number}}}:due"


def outbox_key(number: int) -> str:
    return f"{{p{number}}}:outbox"


def expiring_key(tag: str) -> str:
    """Return the key of what is to be deleted in a partition or a game; `tag` is in braces."""
    return f"{tag}:expiring"


def player_key(player: str) -> str:
    return f"{{players}}:player:{player}"


def name_key(skeleton: str) -> str:
    return f"{{players}}:name:{skeleton}"


def leaderboard_tag(game: str) -> str:
    """Return the beginning of every key of the game's leaderboards."""
    return f"{{leaderboard:{game}}}"


def ranking_key(game: str, ranking: str, period: str, *, bots: bool) -> str:
    return f"{leaderboard_tag(game)}:{ranking}:{period}:{'bots' if bots else 'people'}"


DUE_KEYS: Final[Sequence[str]] = tuple(due_key(number) for number in range(PARTITIONS))
OUTBOX_KEYS: Final[Sequence[str]] = tuple(outbox_key(number) for number in range(PARTITIONS))
EXPIRING_KEYS: Final[Sequence[str]] = tuple(
    expiring_key(f"{{p{number}}}") for number in range(PARTITIONS)
)
