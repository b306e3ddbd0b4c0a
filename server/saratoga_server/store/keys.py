"""The keys of the store: what each of them holds, and how long it is kept.

| key | type | holds | kept |
|---|---|---|---|
| `table:CODE` | hash | version, body, the write that made it; `counts:R`: the results of race R are on leaderboards | \
`TABLE_KEPT` after it was closed |
| `table:CODE:records` | hash | finished races by number: the records' texts | with its table |
| `table:CODE:race:R` | hash | start, deadline, racers, commits so far, boards open; of each \
board, behind `PLAYER:`, epoch, last id, length, banked, state, when each count was reached | `FINISHED_LOGS_KEPT` \
after the race |
| ... `:log:PLAYER` | list | `ms-since-start number command-id text` an entry | with its race |
| `due` | sorted set | table codes, and keys of open races, by when their next timer runs out | until the table is closed |
| `ledger` | hash | format, generation and sequence of the data (`guard.py`) | for ever |
| `public:listed` | sorted set | codes of public tables by connected people, then by when they were opened | \
while listed |
| `public:summaries` | hash | code to summary | while listed |
| `player:ID` | hash | a player, the table where the player sits, the last table it opened | `GUEST_KEPT` after \
the last hello; with a name: for ever |
| `name:SKELETON` | string | the player who holds the name; nothing: it is held for nobody | for \
ever; given up, or its player forgotten: `NAME_KEPT` |
| `leaderboard:GAME` | hash | `results`: how many results were counted | for ever |
| `leaderboard:GAME:RANKING:PERIOD:KIND` | sorted set | player by one number | `leaderboards.py` |
| ... `:rows` | hash | player to the race behind that number | with its ranking |
| ... `:rivals:PLAYER` | string | a sketch of the people raced against (HyperLogLog) | with its ranking |
| `leaderboard:GAME:rated` | list | ranked races of people, voids, forgotten players: ratings follow from it | for \
ever |
| `leaderboard:GAME:results:PLAYER` | list | the newest `RESULTS_KEPT` results | until forgotten |
| `node:NAME` | string | this server process lives | seconds (`news.py`) |
| `replicated` | string | nothing; written before waiting for a replica | for ever |
| `days` | hash | each day on which a server ran | for ever |
| `open:ID` | hash | an open race, and once closed its record | `TABLE_KEPT` after it was closed |
| ... `:runs`, `:logs` | hash | player to run, and to the log of a run that has ended | with it |
| `streaks:PLAYER` | hash | game to `DAY LENGTH`: the last day played, and how many in a row | `GUEST_KEPT` |
| `audit` | sorted set | administrators' actions | the newest `AUDIT_KEPT` |

`news` is not a key but a pub/sub channel for events between nodes (`news.py`).

A time to live is set only in the write that ends a thing. A store deletes by its own clock, so a wrong clock of its
machine may delete what is kept for a time; never names, or the leaderboards of all time.
"""

from functools import lru_cache
from typing import Final

_DAY: Final = 24 * 60 * 60 * 1000

TABLE_KEPT: Final = 90 * _DAY
"""Milliseconds from the closing of a table until it and its records are deleted."""

FINISHED_LOGS_KEPT: Final = 1 * _DAY
"""Milliseconds from the end of a race until its boards are deleted; the record stays."""

GUEST_KEPT: Final = 90 * _DAY
"""Milliseconds from the last hello of a player without a name until the row expires."""

NAME_KEPT: Final = 30 * _DAY
"""Milliseconds for which a name that was given up, or forgotten, is held."""

RESULTS_KEPT: Final = 1_000
"""The newest results of a player in a game, among which a void finds the next best."""

AUDIT_KEPT: Final = 10_000
"""The number of actions kept in the audit log."""

DAYS: Final = "days"
DUE: Final = "due"
PUBLIC: Final = "public:listed"
SUMMARIES: Final = "public:summaries"
AUDIT: Final = "audit"
LEDGER: Final = "ledger"
FORMER_LEDGER: Final = "{players}:ledger"
"""The ledger of a store of format 1; such stores are refused (`guard.py`)."""
MARK: Final = "replicated"
NEWS: Final = "news"


def table_key(code: str) -> str:
    return f"table:{code}"


@lru_cache(4096)  # every move needs it
def race_key(code: str, race: int) -> str:
    return f"{table_key(code)}:race:{race}"


def log_key(code: str, race: int, player: str) -> str:
    return f"{race_key(code, race)}:log:{player}"


def records_key(code: str) -> str:
    return f"{table_key(code)}:records"


def player_key(player: str) -> str:
    return f"player:{player}"


def name_key(skeleton: str) -> str:
    return f"name:{skeleton}"


def open_key(open_id: str) -> str:
    return f"open:{open_id}"


def runs_key(open_id: str) -> str:
    return f"{open_key(open_id)}:runs"


def run_logs_key(open_id: str) -> str:
    return f"{open_key(open_id)}:logs"


def streaks_key(player: str) -> str:
    return f"streaks:{player}"


def leaderboard_key(game: str) -> str:
    """Return the beginning of every key of the game's leaderboards."""
    return f"leaderboard:{game}"


def rated_key(game: str) -> str:
    return f"{leaderboard_key(game)}:rated"


def ranking_key(game: str, ranking: str, period: str, *, bots: bool) -> str:
    return f"{leaderboard_key(game)}:{ranking}:{period}:{'bots' if bots else 'people'}"
