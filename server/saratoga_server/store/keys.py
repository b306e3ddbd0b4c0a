"""Where everything lies in the store, and how long it stays.

Tables fall into 256 partitions by a hash of their code. The partition is the hash tag, so all keys
of a table share a slot and one Function call can change them together.

| key | type | holds | stays |
|---|---|---|---|
| `{pN}:table:CODE` | hash | version, body, the write that made it, the race that runs | `TABLE_KEPT`; \
closed without a race: `UNRACED_KEPT` |
| `{pN}:table:CODE:records` | hash | finished races by number: the records' texts | with its table |
| `{pN}:table:CODE:race:R` | hash | start, deadline, racers, commits so far, boards open; of each \
board, behind `PLAYER:`, epoch, last id, length, banked, state, when each count was reached | with its table |
| ... `:log:PLAYER` | list | `ms-since-start number command-id text` an entry | with its race |
| `{pN}:due` | sorted set | table codes by when their next timer runs out | entry by entry |
| `{pN}:outbox` | list | settlements not yet on the leaderboards | until settled |
| `{pN}:unread` | list | settlements that no node could read yet | until one can, or for good |
| `{public}:listed` | sorted set | codes of public tables by when they were first listed | `LISTING_KEPT` |
| `{public}:summaries` | hash | code to summary | with its listing |
| `{players}:player:ID` | hash | a player, and the codes of the last two tables it made | `GUEST_KEPT`; named: for good |
| `{players}:name:SKELETON` | string | the player who holds the name | until given up |
| `{leaderboard:GAME}:RANKING:PERIOD:KIND` | sorted set | player by one number | `periods.py` |
| ... `:rows` | hash | player to the race behind that number | with its ranking |
| `{leaderboard:GAME}:results:PLAYER` | hash | every result, by sequence number | until forgotten |
| `{leaderboard:GAME}:race:RACE` | string | the race is settled: who took part, which periods | `SETTLED_KEPT` |
| `{leaderboard:GAME}:sequence` | string | how many results were settled | for good |
| `leaderboard:games` | set | games that have a leaderboard | for good |
| `node:NAME` | string | this server process lives | seconds (`nodes.py`) |
| `{...}:replicated` | string | nothing; written before a replica is waited for | for good |
| `audit` | sorted set | acts of administrators | the newest `AUDIT_KEPT` |

In a cluster what stands between the braces decides which primary has a key. Partitions spread over
all of them. Players and their names share one tag, so that taking a name, giving up the old one and
writing the row is one step: that no two players hold one name is worth more than a second primary
for rows that are written once a visit. Whoever adds a key gives it the tag of what it changes with.

`{pN}:news` is no key but a channel: what changes in the partition is said there (`node_events.py`).

A table and its races go as a whole: every write of the table gives all of them the same end. Once
a race is over its record says everything, and the logs behind it go after `FINISHED_LOGS_KEPT`.
"""

from collections.abc import Sequence
from typing import Final
from zlib import crc32

PARTITIONS: Final = 256
"""Fixed for ever: another number would lose every table."""

_DAY: Final = 24 * 60 * 60 * 1000

TABLE_KEPT: Final = 90 * _DAY
"""Milliseconds from the last write of a table until it and its races go."""

UNRACED_KEPT: Final = 1 * _DAY
"""Milliseconds from when a table closes that never saw a race until it goes."""

FINISHED_LOGS_KEPT: Final = 1 * _DAY
"""Milliseconds from the end of a race until its boards go; the record stays with the table."""

SETTLED_KEPT: Final = TABLE_KEPT - _DAY
"""Milliseconds a race is known as settled, and can be voided.

Shorter than a table lives: a code may be dealt out again once its table has gone, and its races
must not meet the marks of old ones.
"""

LISTING_KEPT: Final = 3 * 60 * 60 * 1000
"""Milliseconds a public table stays listed unless its summary is set again."""

GUEST_KEPT: Final = TABLE_KEPT
"""Milliseconds from the last write of a player without a name until the row goes."""

AUDIT_KEPT: Final = 10_000
"""Acts."""

PUBLIC: Final = "{public}:listed"
AUDIT: Final = "audit"
LEADERBOARD_GAMES: Final = "leaderboard:games"


def partition(code: str) -> int:
    """The partition of a table, 0 to 255."""
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


def unread_key(outbox: str) -> str:
    """Beside an outbox: what was in it and could not be read."""
    return f"{outbox.removesuffix(':outbox')}:unread"


def news_channel(number: int) -> str:
    """Where a partition's changes are told, by sharded pub/sub."""
    return f"{{p{number}}}:news"


def mark_key(key: str) -> str:
    """A key in the same slot that holds nothing of worth."""
    _, _, rest = key.partition("{")
    tag, brace, _ = rest.partition("}")
    return f"{{{tag if tag and brace else key}}}:replicated"


def player_key(player: str) -> str:
    return f"{{players}}:player:{player}"


def name_key(skeleton: str) -> str:
    return f"{{players}}:name:{skeleton}"


def leaderboard_tag(game: str) -> str:
    """What every key of the game's leaderboards begins with."""
    return f"{{leaderboard:{game}}}"


def ranking_key(game: str, ranking: str, period: str, *, bots: bool) -> str:
    return f"{leaderboard_tag(game)}:{ranking}:{period}:{'bots' if bots else 'people'}"


DUE_KEYS: Final[Sequence[str]] = tuple(due_key(number) for number in range(PARTITIONS))
OUTBOX_KEYS: Final[Sequence[str]] = tuple(outbox_key(number) for number in range(PARTITIONS))
UNREAD_KEYS: Final[Sequence[str]] = tuple(map(unread_key, OUTBOX_KEYS))
