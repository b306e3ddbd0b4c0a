"""Open races: one deal that each entrant runs on a clock of their own, until the race closes.

Pure. A run is a race of one at a table of its own, so boards, moves, commits and reconnections are
those of every race. An open race adds what stands here: its deal, its runs, what a player may see
of them, and the closing record.
"""

import hashlib
import re
from base64 import b32encode
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from saratoga_protocol.events import OpenRace, OpenResult, Racer, TableSettings
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.dealing.fairness import commitment, deal_key
from saratoga_rules.games import RULES, RULES_VERSION
from saratoga_rules.money import net
from saratoga_rules.records.record import (
    KNOWN,
    LogLine,
    RaceRecord,
    RacerLog,
    format_record,
)
from saratoga_rules.records.replay import steps
from saratoga_rules.records.standing import Placed, RacerScore, Reached, State, ranking
from saratoga_server.domain.board import Board
from saratoga_server.domain.tables import TablePhase, TableState
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS, MINUTE
from saratoga_server.domain.tables.seating import new_table
from saratoga_server.domain.tables.state import OpenRun
from saratoga_server.ports import Damage, Millis, Run

DAY: Final = "day"
CHALLENGE: Final = "challenge"

CAP: Final = 10
"""The time limit of a run, in minutes."""

DAYS_AHEAD: Final = 30
"""The days to come whose deals are committed to."""

CHALLENGE_MILLIS: Final = 7 * 24 * 60 * MINUTE
"""Milliseconds for which a challenge can be entered."""

LAST_RUN_MILLIS: Final = COUNTDOWN_MILLIS + CAP * MINUTE
"""Milliseconds from the closing to the end of the last run."""

MOST_GHOSTS: Final = 7
"""The most earlier runs that a player sees: with the player, one less than a race panel's rows."""

MOST_RUNS: Final = 2_000
MOST_SHOWN: Final = 100
"""The most results in one `OpenRace`."""

_OPEN_ID: Final = re.compile(r"day/.+|[a-z2-7]{16}")


class OpenState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An open race as the store keeps it, with its secrets."""

    id: str
    kind: str
    game: str
    rules: int
    opened: Millis
    closes: Millis
    seed: str
    """The seed in hexadecimal; of a known deal the deal key. Secret until the race is closed."""
    commitment: str = ""
    by: str = ""
    """The player id of the challenger."""
    name: str = ""
    """The challenger's name."""
    ghost: Run | None = None
    """The challenger's run in the race whose deal is known."""

    @property
    def key(self) -> bytes:
        """The deal key."""
        seed = bytes.fromhex(self.seed)
        return seed if self.kind == KNOWN else deal_key(seed, self.id, {})


_DECODER: Final = msgspec.msgpack.Decoder(OpenState)
_RUN_DECODER: Final = msgspec.msgpack.Decoder(Run)


def unpack_open(body: bytes) -> OpenState:
    """Return the open race that msgpack made these bytes of. Raises `Damage`."""
    try:
        return _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Damage(f"this is not an open race: {error}") from error


def unpack_run(body: bytes) -> Run:
    """Return the run that msgpack made these bytes of. Raises `Damage`."""
    try:
        return _RUN_DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Damage(f"this is not a run: {error}") from error


def is_open_id(race: str) -> bool:
    """Return whether a race's id is that of an open race."""
    return _OPEN_ID.fullmatch(race) is not None


# Opening: days, challenges, known deals


def date_of(now: Millis) -> date:
    """Return the day (UTC) of a time."""
    return datetime.fromtimestamp(now / 1000, UTC).date()


def day_id(game: str, day: date) -> str:
    return f"{DAY}/{game}/{day}"


def day_of(race_id: str) -> date:
    """Return the day of a day's race."""
    return date.fromisoformat(race_id.rpartition("/")[2])


def days_from(first: date) -> list[date]:
    """Return a day and the days ahead of it whose deals are committed to."""
    return [first + timedelta(days=ahead) for ahead in range(DAYS_AHEAD + 1)]


def day_race(game: str, day: date, seed: bytes, now: Millis) -> OpenState:
    """Return the race on a day's deal, which is committed to now and can be entered on that day."""
    closes = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)
    return _fresh(day_id(game, day), DAY, game, seed, now, Millis(int(closes.timestamp() * 1000)))


def starts(race: OpenState) -> Millis:
    """Return from when an open race can be entered: a day from its midnight on."""
    if race.kind != DAY:
        return race.opened
    return Millis(race.closes - 24 * 60 * MINUTE)


def challenge(race_id: str, game: str, seed: bytes, by: str, name: str, now: Millis) -> OpenState:
    """Return a challenge on a fresh deal."""
    fresh = _fresh(race_id, CHALLENGE, game, seed, now, Millis(now + CHALLENGE_MILLIS))
    return replace(fresh, by=by, name=name)


def _fresh(
    race_id: str, kind: str, game: str, seed: bytes, opened: Millis, closes: Millis
) -> OpenState:
    committed = commitment(seed, game, RULES_VERSION, race_id, 1, cap=CAP, public=True)
    return OpenState(
        id=race_id,
        kind=kind,
        game=game,
        rules=RULES_VERSION,
        opened=opened,
        closes=closes,
        seed=seed.hex(),
        commitment=committed,
    )


def challenge_id(player: str, key: str) -> str:
    """Return the id of the challenge that a player opens with a random key: 80 bits."""
    digest = hashlib.sha256(f"saratoga challenge {player} {key}".encode()).digest()
    return b32encode(digest).decode().lower()[:16]


def known_deal(race_id: str, record: RaceRecord, player: str, now: Millis) -> OpenState:
    """Return a challenge on the deal of a finished race in which the challenger raced.

    Raises `KeyError` if the player did not race there, and `ReplayError` if the race is by unknown
    rules.
    """
    racer = record.racer(player)
    row = next(row for row in record.results if row.player == player)
    ghost = Run(
        player=player,
        name=racer.name,
        bot=racer.bot,
        table="",
        state=row.state,
        banked=row.banked,
        reached=None if row.reached is None else Reached(row.reached, 0),
        ended=racer.log[-1].at if racer.log else 0,
        climb=_climb(record, player),
    )
    return OpenState(
        id=race_id,
        kind=KNOWN,
        game=record.game,
        rules=record.rules_version,
        opened=now,
        closes=Millis(now + CHALLENGE_MILLIS),
        seed=record.key.hex(),
        by=player,
        name=racer.name,
        ghost=ghost,
    )


def _climb(record: RaceRecord, player: str) -> tuple[int, ...]:
    rises, before = {}, record.opening.banked
    for line, position in steps(record, player):
        if position.banked > before:
            rises[position.banked] = line.at
        before = position.banked
    return tuple(rises[count] for count in sorted(rises))


# A run: a table of one, whose deal is fixed


def run_table(
    race: OpenState, entry: Run, *, ghosts: Sequence[Run], node: str, hello: int
) -> TableState:
    """Return the table at which a run begins after the countdown."""
    table = new_table(
        entry.table,
        TableSettings(game=race.game, cap=CAP, seats=1, public=False, races=1),
        entry.player,
        entry.name,
        bot=entry.bot,
        node=node,
        hello=hello,
        now=Millis(entry.started - COUNTDOWN_MILLIS),
        fresh_seed=bytes(32),
    )
    racer = Racer(player=entry.player, name=entry.name, bot=entry.bot, nonce_hash="")
    return replace(
        table,
        phase=TablePhase.COUNTDOWN,
        rules_version=race.rules,
        seed=race.seed,
        deal_key=race.key.hex(),
        commitment=race.commitment,
        racers={entry.player: racer},
        reveal_by=entry.started,
        start_at=entry.started,
        deadline=Millis(entry.started + CAP * MINUTE),
        open=OpenRun(
            id=race.id,
            kind=race.kind,
            opened=race.opened,
            closes=race.closes,
            young=entry.young,
            ghosts=tuple(ghosts),
        ),
    )


def ghosts_for(race: OpenState, runs: Sequence[Run], player: str) -> list[Run]:
    """Return the runs that a player sees while running: none on a day, else the challenger's and the best."""
    if race.kind == DAY:
        return []
    ended = [run for run in runs if run.state != State.RACING]
    if race.ghost is not None:
        ended.append(race.ghost)
    others = [run for run in ended if run.player != player]
    others.sort(key=lambda run: (run.player != race.by, -run.banked, run.player))
    return others[:MOST_GHOSTS]


class Ghosts:
    """The ghosts of a run: their counts up to the time that the player's own clock shows."""

    def __init__(self, runs: Sequence[Run], opening: int, elapsed: Callable[[], int]) -> None:
        """`opening`: the deal's count. `elapsed` returns milliseconds from the player's start."""
        self.players = [run.player for run in runs]
        self._runs = runs
        self._opening = opening
        self._elapsed = elapsed
        self._shown: list[RacerScore] = []

    def scores(self) -> list[RacerScore]:
        """Return the ghosts' scores now."""
        self._shown = self._now()
        return self._shown

    def moved(self) -> bool:
        """Return whether the scores differ from those last returned."""
        return self._now() != self._shown

    def _now(self) -> list[RacerScore]:
        elapsed = self._elapsed()
        return [_score_at(run, self._opening, elapsed) for run in self._runs]


def _score_at(run: Run, opening: int, elapsed: int) -> RacerScore:
    if elapsed >= run.ended:
        last = Reached(run.climb[-1], 0) if run.climb else None
        return RacerScore(player=run.player, banked=run.banked, state=run.state, reached=last)
    made = [at for at in run.climb if at <= elapsed]
    last = Reached(made[-1], 0) if made else None
    return RacerScore(
        player=run.player, banked=opening + len(made), state=State.RACING, reached=last
    )


def ended_run(table: TableState, board: Board, opening: int) -> Run:
    """Return a run that has ended, for the store; `opening` is the count of the deal."""
    (player,) = table.racers
    racer, run = table.racers[player], table.open
    assert run is not None
    climb = tuple(
        board.rises[count].at
        for count in range(opening + 1, board.banked + 1)
        if count in board.rises
    )
    return Run(
        player=player,
        name=racer.name,
        bot=racer.bot,
        young=run.young,
        table=table.code,
        started=table.start_at,
        state=board.state.value,
        banked=board.banked,
        reached=board.reached,
        ended=board.log[-1].at - table.start_at if board.length else 0,
        climb=climb,
    )


# What a player may see, and the closing record


def placed(race: OpenState, runs: Sequence[Run]) -> list[Placed]:
    """Return the ended runs in order of place."""
    scores = [
        RacerScore(player=run.player, banked=run.banked, state=run.state, reached=run.reached)
        for run in runs
        if run.state != State.RACING
    ]
    return ranking(RULES[race.rules][race.game], scores)


def shown(
    race: OpenState, runs: Sequence[Run], player: str, *, digest: str, streak: int, now: Millis
) -> OpenRace:
    """Return what a player may see of an open race: before the own run's end no card and count."""
    if race.ghost is not None:  # the challenger has raced on the deal already
        runs = [*runs, race.ghost]
    mine = next((run for run in runs if run.player == player), None)
    bare = OpenRace(
        id=race.id,
        kind=race.kind,
        game=race.game,
        rules=race.rules,
        cap=CAP,
        opened=race.opened,
        closes=race.closes,
        commitment=race.commitment,
        by=race.name,
        entrants=len(runs),
        mine="" if mine is None else mine.state,
        streak=streak,
        digest=digest,
    )
    if not digest and (mine is None or mine.state == State.RACING):
        return bare
    game, by_player = RULES[race.rules][race.game], {run.player: run for run in runs}
    ranked = placed(race, [run for run in runs if not run.young])
    young = placed(race, [run for run in runs if run.young])
    rows = [(row.place, row) for row in ranked] + [(0, row) for row in young]
    results = [
        OpenResult(
            player=row.player,
            name=by_player[row.player].name,
            bot=by_player[row.player].bot,
            young=by_player[row.player].young,
            place=place,
            banked=row.banked,
            net=row.net,
            state=row.state,
            elapsed=by_player[row.player].ended,
        )
        for place, row in rows
    ]
    own = [each for each in results[MOST_SHOWN:] if each.player == player]
    racing = [
        OpenResult(
            player=run.player,
            name=run.name,
            bot=run.bot,
            young=run.young,
            banked=0,
            net=net(game, 0),
            state=run.state,
            elapsed=max(0, now - run.started),
        )
        for run in runs
        if run.state == State.RACING
    ]
    people = sorted(
        (run for run in runs if run.state != State.RACING and not run.bot),
        key=lambda run: (run.banked, run.player),
    )
    counts = [0] * (1 + max((run.banked for run in people), default=0))
    for run in people:
        counts[run.banked] += 1
    return replace(
        bare,
        results=[*results[:MOST_SHOWN], *own, *racing[:MOST_SHOWN]],
        counts=counts,
        climb=[] if mine is None else list(mine.climb),
        middle=list(people[len(people) // 2].climb) if people else [],
    )


def closing_record(race: OpenState, runs: Sequence[Run], logs: Mapping[str, str]) -> str:
    """Return the record of an open race after its last run; `logs` by player, a line an entry."""
    racers = tuple(
        RacerLog(
            player=run.player,
            name=run.name,
            bot=run.bot,
            nonce="",
            nonce_hash="",
            started=run.started,
            log=tuple(_line(line) for line in logs[run.player].splitlines()),
        )
        for run in sorted(runs, key=lambda run: run.player)
    )
    game = RULES[race.rules][race.game]
    return format_record(
        RaceRecord(
            game=race.game,
            rules_version=race.rules,
            kind=race.kind,
            table=race.id,
            race=1,
            start_at=race.opened,
            closes=race.closes,
            cap=CAP,
            public=True,
            ranked=False,
            commitment=race.commitment,
            seed=race.seed,
            deal=deal_for_key(game, race.key),
            racers=racers,
            results=tuple(placed(race, runs)),
        )
    )


def _line(line: str) -> LogLine:
    at, number, text = line.split(" ", 2)
    return LogLine(int(at), int(number), text)


# Streaks


def next_streak(last: str, day: date, days_on: frozenset[str]) -> str:
    """Return a streak after a run on `day`, as the store keeps it: `DAY LENGTH`.

    `days_on` are the days on which the server ran: a day without it neither feeds nor breaks a
    streak.
    """
    return f"{day} {_length(last, day, days_on) + 1}"


def streak_at(last: str, day: date, days_on: frozenset[str]) -> int:
    """Return the length of a streak that still lasts on `day`; 0 if there is none."""
    if last.startswith(f"{day} "):
        return int(last.split(" ")[1])
    return _length(last, day, days_on)


def _length(last: str, day: date, days_on: frozenset[str]) -> int:
    if not last:
        return 0
    played, length = last.split(" ")
    missed = date.fromisoformat(played) + timedelta(days=1)
    while missed < day:
        if str(missed) in days_on:
            return 0
        missed += timedelta(days=1)
    return int(length)
