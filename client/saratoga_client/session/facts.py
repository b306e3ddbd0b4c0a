"""The facts that a server's events state about the races at a table. Pure.

A fact is a key and a value that never changes (`saratoga_rules.records.facts` lists them). The
value `None` says that the fact must not be known yet: a race that gathers has not listed its
racers, a running race has not ended.
"""

import json
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from saratoga_protocol import events
from saratoga_protocol.events import Event
from saratoga_protocol.views import rules_view
from saratoga_rules.dealing.fairness import nonce_hash
from saratoga_rules.records.facts import Key, view_hash, yes
from saratoga_rules.records.record import NONCE_MISSING, RACER_LEFT

Fact: TypeAlias = tuple[Key, str | None]

LEFT = "left"
"""The state of a board that its player has left by command."""


def facts(event: Event, player: str) -> Iterator[Fact]:
    """Yield the facts in an event that a player, or a watcher with that id, has received."""
    match event:
        case events.Snapshot():
            yield from _of_snapshot(event, player)
        case events.TableChanged(table=table):
            yield from _of_table(table, player)
        case events.BoardChanged(board=board):
            if event.start_at:
                yield ("start", board.race), f"{event.start_at} {event.deadline}"
            for place, line in enumerate(event.entries, start=event.place):
                yield ("entry", board.race, player, str(place)), line
            yield from _of_board(board, player)
        case events.Refused():
            yield from _of_board(event.board, player)
        case events.Standings(race=race, standings=standings):
            yield from _of_standings(race, standings)
        case events.RaceOver(outcome=outcome):
            yield from _of_outcome(outcome, player)
        case events.MatchChanged(match=match):
            yield from _of_match(match)


def _of_snapshot(snapshot: events.Snapshot, player: str) -> Iterator[Fact]:
    table = snapshot.table
    yield from _of_table(table, player)
    if table.phase == "running":
        yield from _of_standings(table.race, snapshot.standings)
    yield from _of_board(snapshot.board, player)
    if snapshot.outcome is not None:
        yield from _of_outcome(snapshot.outcome, player)
    yield from _of_match(snapshot.match)


def _of_table(table: events.Table, player: str) -> Iterator[Fact]:
    race, settings = table.race, table.settings
    if table.previous is not None:
        yield from _of_ended(table.previous, player)
    if table.phase in ("gathering", "call"):
        yield ("terms", race), None
    if not table.racers or table.phase == "closed":
        return
    yield (
        ("terms", race),
        f"{settings.game} {table.rules} {settings.cap} {yes(settings.public)}",
    )
    yield ("commitment", race), table.commitment
    yield ("racers", race), _ids(table.racers)
    for racer in table.racers:
        kind = "bot" if racer.bot else "person"
        yield ("racer", race, racer.player), f"{kind} {json.dumps(racer.name)}"
        yield ("hash", race, racer.player), racer.nonce_hash
    if table.phase == "countdown":
        yield ("start", race), None
        return
    yield ("start", race), f"{table.start_at} {table.deadline}"
    yield ("ranked", race), yes(table.ranked)
    if table.phase == "running":
        yield ("end", race), None


def _of_ended(ended: events.Ended, player: str) -> Iterator[Fact]:
    yield ("end", ended.race), ended.digest
    yield ("void", ended.race), " ".join([ended.reason, *ended.blamed]) if ended.reason else None
    if player in ended.blamed and ended.reason == NONCE_MISSING:
        yield ("revealed", ended.race, player), "no"
    if player in ended.blamed and ended.reason == RACER_LEFT:
        yield ("left", ended.race, player), "yes"


def _of_board(board: events.BoardView | None, player: str) -> Iterator[Fact]:
    if board is None:
        return
    race, count = board.race, board.count
    row = f"{board.banked} {board.net} {board.state}"
    yield ("board", race, player, str(count)), f"{_hash_of(board.view)} {row} {board.head}"
    yield ("entry", race, player, str(count + 1)), None
    if board.state == LEFT:
        yield ("left", race, player), "yes"


def _of_standings(race: str, rows: Sequence[events.Standing]) -> Iterator[Fact]:
    if rows:
        yield ("racers", race), _ids(rows)
    for row in rows:
        yield ("head", race, row.player, row.head), f"{row.banked} {row.net} {row.state}"


def _of_outcome(outcome: events.Outcome, player: str) -> Iterator[Fact]:
    race = outcome.race
    yield ("void", race), None
    yield ("racers", race), _ids(outcome.results)
    yield ("ranked", race), yes(outcome.ranked)
    yield ("seed", race), outcome.seed
    yield ("end", race), outcome.digest
    yield ("order", race), " ".join(row.player for row in outcome.results)
    for racer, nonce in outcome.nonces.items():
        yield ("hash", race, racer), _hash_of_nonce(nonce)
    for row in outcome.results:
        reached = "-" if row.reached is None else row.reached
        yield ("net", race, row.player), f"{row.place} {row.net}"
        yield (
            ("result", race, row.player),
            f"{row.place} {row.banked} {row.net} {row.moves} {reached} {row.ended} {row.state}",
        )
        yield ("head", race, row.player, row.head), f"{row.banked} {row.net} {row.state}"
        if row.player == player and row.state == LEFT:
            yield ("left", race, player), "yes"


def _of_match(match: events.Match | None) -> Iterator[Fact]:
    for row in [] if match is None else match.rows:
        for result in row.results:
            yield ("net", result.race, row.player), f"{result.place} {result.net}"


def _ids(rows: Sequence[events.Racer | events.Standing | events.Result]) -> str:
    return " ".join(sorted(row.player for row in rows))


def _hash_of(view: events.View) -> str:
    """Return the hash of a view; empty for one that is no board."""
    try:
        return view_hash(rules_view(view))
    except ValueError:
        return ""


def _hash_of_nonce(nonce: str) -> str:
    """Return the hash of a nonce; empty for a text that is none."""
    try:
        return nonce_hash(bytes.fromhex(nonce))
    except ValueError:
        return ""
