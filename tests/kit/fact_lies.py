"""The lies that a server may tell about an evening, each with where it is caught and by which fact.

A lie changes what one client of `kit.evenings` was told, or the records that it is sent, and makes
all else fit: results, digests and the chain of records follow from a changed record.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from operator import not_
from typing import Any, NamedTuple, TypeVar

from msgspec import Struct, structs

from kit.evenings import (
    HOST_ID,
    ME,
    ME_ID,
    RACE,
    RIVAL_ID,
    TABLES,
    VOIDED,
    WATCHER,
    Item,
    Told,
    is_table,
    race_of,
    shown_again,
)
from kit.races import (
    position_before,
    promised,
    renumbered,
    replay,
    settled,
    with_line,
    with_racer,
    with_row,
)
from kit.tables import nonce
from saratoga_protocol import events
from saratoga_protocol.events import Event, MatchRow
from saratoga_rules.analysis import legal_moves
from saratoga_rules.games import GAMES
from saratoga_rules.records.record import CLOSED, RaceRecord, digest_of, format_record, parse_record
from saratoga_rules.records.replay import ReplayError
from saratoga_server.domain.results import outcome_of

LIVE, LATER = "live", "later"
"""Caught as it is told; caught when the record comes."""

Edit = Callable[[Told], Told]
S = TypeVar("S", bound=Struct)


class Lie(NamedTuple):
    """A lie, and how it is caught."""

    edit: Edit
    where: str
    key: str
    """The kind of the fact that catches it, or the name of the check of `verify`."""
    client: str = ME
    """Whose client is lied to."""
    welcomed: bool = True
    """False if the server welcomes the client as another player."""


# Changes of events


def put(old: S, /, **changes: Any) -> S:
    """Return a struct with other fields; a function gets the old value."""
    new = {
        name: value(getattr(old, name)) if callable(value) else value
        for name, value in changes.items()
    }
    return structs.replace(old, **new)


def race_in(event: Event) -> str:
    """Return the race that an event is about; empty if it names none."""
    match event:
        case events.Snapshot() | events.TableChanged():
            return event.table.race
        case events.BoardChanged():
            return event.board.race
        case events.RaceOver():
            return event.outcome.race
    return getattr(event, "race", "")


def changing(kind: Any, number: int | None, change: Callable[[Any], Event]) -> Edit:
    """Return the edit that changes the events of a kind that are about a race, or all of them."""
    return lambda told: told.edited(
        lambda event: (
            change(event)
            if isinstance(event, kind)
            and (number is None or race_in(event) == race_of(told, number))
            else event
        )
    )


def tables(change: Callable[[events.Table], events.Table], number: int | None = None) -> Edit:
    """Return the edit that changes the tables of a race, by default of all."""
    return changing(TABLES, number, lambda event: put(event, table=change))


def table_in(phase: str, **changes: Any) -> Edit:
    """Return the edit that changes the tables of the race in one phase."""
    return tables(lambda table: put(table, **changes) if table.phase == phase else table, RACE)


def boards(change: Callable[[events.BoardChanged], events.BoardChanged]) -> Edit:
    """Return the edit that changes the events of the own board."""
    return changing(events.BoardChanged, RACE, change)


def board_at(count: int, **changes: Any) -> Edit:
    """Return the edit that changes the own board after so many entries."""
    return boards(
        lambda event: (
            put(event, board=put(event.board, **changes)) if event.board.count == count else event
        )
    )


def entry_at(place: int, /, **changes: Any) -> Edit:
    """Return the edit that changes the answer to an own entry."""
    return boards(lambda event: put(event, **changes) if event.place == place else event)


def deal(**changes: Any) -> Edit:
    return boards(lambda event: put(event, **changes) if event.start_at else event)


def standings(change: Callable[[list[events.Standing]], list[events.Standing]]) -> Edit:
    return changing(events.Standings, RACE, lambda event: put(event, standings=change))


def rows(player: str, /, **changes: Any) -> Callable[[list[Any]], list[Any]]:
    """Return the change of a player's row in a list."""
    return lambda old: [put(row, **changes) if row.player == player else row for row in old]


def standing(player: str, /, **changes: Any) -> Edit:
    """Return the edit that changes a racer's rows as soon as the board has ended."""
    return standings(
        lambda old: [
            put(row, **changes) if row.player == player and row.state != "racing" else row
            for row in old
        ]
    )


def outcome(**changes: Any) -> Edit:
    """Return the edit that changes the announced result."""
    return changing(
        events.RaceOver, RACE, lambda event: put(event, outcome=put(event.outcome, **changes))
    )


def result(player: str, /, **changes: Any) -> Edit:
    """Return the edit that changes a racer's row of the announced result."""
    return outcome(results=rows(player, **changes))


def nets_of_match(match: events.Match | None) -> events.Match | None:
    """Return a match in which every net of every race is another."""

    def changed(row: MatchRow) -> MatchRow:
        return put(row, results=[put(each, net=dollars_more) for each in row.results])

    return match and put(match, rows=list(map(changed, match.rows)))


def both(*edits: Edit) -> Edit:
    def edit(told: Told) -> Told:
        for each in edits:
            told = each(told)
        return told

    return edit


def inserted(
    after: Callable[[Told, Event], bool], make: Callable[[Told, Event], Iterable[Event]]
) -> Edit:
    """Return the edit that adds events after the first one that fits."""

    def edit(told: Told) -> Told:
        items, is_done = [], False
        for item in told.items:
            items.append(item)
            if not is_done and after(told, item.event):
                items += [Item(event) for event in make(told, item.event)]
                is_done = True
        assert is_done, "no such event"
        return replace(told, items=tuple(items))

    return edit


# Changes of records


def record(change: Callable[[RaceRecord], RaceRecord], number: int = RACE) -> Edit:
    """Return the edit that changes a record; results, digests and the later records follow."""

    def edit(told: Told) -> Told:
        records = {race: parse_record(text) for race, text in told.records.items()}
        race = race_of(told, number)
        records[race] = change(records[race])
        return published(told, records)

    return edit


def published(told: Told, records: Mapping[str, RaceRecord]) -> Told:
    """Return what is told if these are the records of the evening."""
    texts: dict[str, str] = {}
    digests: dict[str, str] = {}
    for race, given in records.items():
        each, before = given, given.previous
        if before is not None and before.race in digests:
            each = replace(given, previous=before._replace(digest=digests[before.race]))
        texts[race] = format_record(each)
        digests[race] = digest_of(texts[race])

    def changed(event: Event) -> Event:
        if isinstance(event, events.RaceOver):
            race = event.outcome.race
            if records[race].voided or not records[race].results:
                return event
            return put(event, outcome=outcome_of(parse_record(texts[race]), digests[race]))
        if isinstance(event, events.MatchChanged) and event.match is not None:
            rows = [counted(row, records) for row in event.match.rows]
            return put(event, match=put(event.match, rows=rows))
        if isinstance(event, TABLES):
            ended = event.table.previous
            if ended is not None and ended.race in digests:
                ended = put(ended, digest=digests[ended.race])
                return put(event, table=put(event.table, previous=ended))
        return event

    return replace(told.edited(changed), records=texts)


def counted(row: MatchRow, records: Mapping[str, RaceRecord]) -> MatchRow:
    """Return a row of a match with the results of these records."""
    results = []
    for each in row.results:
        placed = [one for one in records[each.race].results if one.player == row.player]
        results += [put(each, place=one.place, net=one.net) for one in placed]
    return put(row, results=results)


def fields(**changes: Any) -> Edit:
    """Return the edit that changes fields of a record, and its commitment, which names the terms."""

    def change(each: RaceRecord) -> RaceRecord:
        new = {
            name: value(getattr(each, name)) if callable(value) else value
            for name, value in changes.items()
        }
        changed = replace(each, **new)
        return promised(changed) if changes.keys() & {"cap", "public"} else changed

    return record(change)


def change_racer(player: str, **changes: Any) -> Callable[[RaceRecord], RaceRecord]:
    return lambda each: with_racer(each, each.racer(player), **changes)


def line_moved(player: str, place: int, by: int) -> Callable[[RaceRecord], RaceRecord]:
    """Move an entry in time, as far as the order of all entries allows."""

    def change(each: RaceRecord) -> RaceRecord:
        log = each.racer(player).log
        return settled(with_line(each, each.racer(player), place, at=log[place].at + by))

    return change


def another_move(player: str) -> Callable[[RaceRecord], RaceRecord]:
    """Play another legal log in place of a racer's, with the same counts and times after every entry."""

    def change(each: RaceRecord) -> RaceRecord:
        counts = [position.banked for position in replay(each, player)]
        for other in _other_logs(each, player):
            try:
                if [position.banked for position in replay(other, player)] == counts:
                    return settled(other)
            except ReplayError:
                continue
        raise AssertionError("no other log has these counts")

    return change


def _other_logs(each: RaceRecord, player: str) -> Iterator[RaceRecord]:
    """Yield the record with one move exchanged for another, or for the one after it."""
    log = each.racer(player).log
    for index, line in enumerate(log[:-1]):
        position = position_before(each, each.racer(player), index)
        for move in legal_moves(GAMES[each.game], position):
            if str(move) != line.text:
                yield with_line(each, each.racer(player), index, text=str(move))
    for index, (line, after) in enumerate(pairwise(log[:-1])):
        if line.text != after.text:
            swapped = with_line(each, each.racer(player), index, text=after.text)
            yield with_line(swapped, swapped.racer(player), index + 1, text=line.text)


def without_entry(player: str, place: int) -> Callable[[RaceRecord], RaceRecord]:
    def change(each: RaceRecord) -> RaceRecord:
        log = list(each.racer(player).log)
        del log[place]
        return settled(renumbered(with_racer(each, each.racer(player), log=tuple(log))))

    return change


def ended_as(player: str, word: str) -> Callable[[RaceRecord], RaceRecord]:
    return lambda each: settled(with_line(each, each.racer(player), -1, text=word))


def exchanged(one: str, other: str) -> Callable[[RaceRecord], RaceRecord]:
    """Exchange the logs of two racers."""

    def change(each: RaceRecord) -> RaceRecord:
        logs = {one: each.racer(other).log, other: each.racer(one).log}
        racers = [replace(row, log=logs.get(row.player, row.log)) for row in each.racers]
        return settled(replace(each, racers=tuple(racers)))

    return change


def never_there(player: str) -> Callable[[RaceRecord], RaceRecord]:
    def change(each: RaceRecord) -> RaceRecord:
        racers = tuple(row for row in each.racers if row.player != player)
        rows = tuple(row for row in each.results if row.player != player)
        return replace(each, racers=racers, results=rows)

    return change


def called_off(each: RaceRecord) -> RaceRecord:
    """Void the race as closed, before the last entry of this player."""
    last = each.racer(ME_ID).log[-1].number
    racers = [
        replace(row, log=tuple(line for line in row.log if line.number < last))
        for row in each.racers
    ]
    return replace(each, voided=CLOSED, racers=tuple(racers), results=())


def as_countdown(each: RaceRecord) -> RaceRecord:
    """Void the race as if only its countdown had been, because of a racer."""
    racers = [
        replace(row, log=(), nonce="" if row.player == RIVAL_ID else row.nonce)
        for row in each.racers
    ]
    return replace(
        each,
        voided="nonce-missing",
        blamed=(RIVAL_ID,),
        deal=None,
        ranked=False,
        racers=tuple(racers),
        results=(),
    )


def ended_changed(number: int, **changes: Any) -> Edit:
    """Return the edit that changes what the tables say of a race that is over."""

    def change(table: events.Table) -> events.Table:
        ended = table.previous
        is_it = ended is not None and ended.race.endswith(f"/{number + 1}")
        return put(table, previous=ended and put(ended, **changes)) if is_it else table

    return tables(change)


def voided(number: int, change: Callable[[RaceRecord], RaceRecord]) -> Edit:
    """Return the edit that voids a race that ran, in place of its result."""

    def edit(told: Told) -> Told:
        race = race_of(told, number)
        told = record(change, number)(told)
        void = parse_record(told.records[race])
        told = ended_changed(number, reason=void.voided, blamed=sorted(void.blamed))(told)
        return told.edited(
            lambda event: None if is_result(event, race) or is_table(event, race, "over") else event
        )

    return edit


def forgotten(number: int) -> Edit:
    """Return the edit in which no table says that a race is over: the one before it was the last."""

    def edit(told: Told) -> Told:
        ends = [item.event.table.previous for item in told.items if isinstance(item.event, TABLES)]
        before = [each for each in ends if each is not None and each.race.endswith(f"/{number}")]

        def change(table: events.Table) -> events.Table:
            ended = table.previous
            is_it = ended is not None and ended.race == race_of(told, number)
            return put(table, previous=next(iter(before), None)) if is_it else table

        return tables(change)(told)

    return edit


def unchained(number: int) -> Edit:
    """Return the edit in which the record after a race follows the one before it."""

    def edit(told: Told) -> Told:
        records = {race: parse_record(text) for race, text in told.records.items()}
        left_out = records[race_of(told, number)]
        after = race_of(told, number + 1)
        records[after] = replace(records[after], previous=left_out.previous)
        return published(told, records)

    return edit


def dollars_more(net: int) -> int:
    return net + 5


def another_view(view: events.View) -> events.View:
    """Show another card on the waste, or on the first column."""
    if view.waste:
        return structs.replace(view, waste=view.waste[:-2] + _other_card(view.waste[-2:]))
    (first, *others) = view.columns
    return structs.replace(view, columns=[first[:-2] + _other_card(first[-2:]), *others])


def _other_card(card: str) -> str:
    return ("2" if card[0] != "2" else "3") + card[1]


def settings(**changes: Any) -> Callable[[events.TableSettings], events.TableSettings]:
    return lambda old: put(old, **changes)


def words(place: int, change: Callable[[str], str]) -> Callable[[list[str]], list[str]]:
    """Return the change of the time, the number or the text of an entry."""

    def changed(entries: list[str]) -> list[str]:
        (line,) = entries
        parts = line.split(" ")
        parts[place] = change(parts[place])
        return [" ".join(parts)]

    return changed


def one_more(number: int | None) -> int:
    return (number or 0) + 1


def without_last(rows: list[Any]) -> list[Any]:
    return rows[:-1]


def is_result(event: Event, race: str) -> bool:
    return isinstance(event, events.RaceOver) and event.outcome.race == race


def once_more(change: Edit) -> Edit:
    """Return the edit in which the result is announced a second time, changed."""

    def edit(told: Told) -> Told:
        race = race_of(told, RACE)
        (again,) = (each.event for each in change(told).items if is_result(each.event, race))
        return inserted(lambda _, event: is_result(event, race), lambda *_: [again])(told)

    return edit


def later_table(number: int, phase: str, /, **changes: Any) -> Edit:
    """Return the edit that adds a changed table after the first one of a phase."""

    def make(told: Told, event: Event) -> Iterable[Event]:
        assert isinstance(event, TABLES)
        yield events.TableChanged(table=put(event.table, **changes), now=event.now)

    return inserted(lambda told, event: is_table(event, race_of(told, number), phase), make)


def reconnected(durability: str) -> Edit:
    """Return the edit in which a snapshot, after own moves, shows the board without the last two entries."""

    def edit(told: Told) -> Told:
        race = race_of(told, RACE)
        shown = [
            item.event
            for item in told.items
            if isinstance(item.event, events.BoardChanged) and item.event.board.race == race
        ]

        def fits(_: Told, event: Event) -> bool:
            return isinstance(event, events.BoardChanged) and event.board == shown[5].board

        snapshot = structs.replace(shown_again(told, RACE, "running"), board=shown[3].board)
        return inserted(fits, lambda *_: [snapshot])(replace(told, durability=durability))

    return edit


LIES: dict[str, Lie] = {
    # the own board and the own moves
    "own board: another card": Lie(board_at(4, view=another_view), LATER, "board"),
    "own deal: another column": Lie(board_at(0, view=another_view), LATER, "board"),
    "own board: one card more": Lie(board_at(4, banked=one_more, net=dollars_more), LATER, "board"),
    "own board: another head": Lie(board_at(4, head="0123456789abcdef"), LATER, "board"),
    "own move at another time": Lie(
        entry_at(3, entries=words(0, lambda at: f"{int(at) - 1}")), LATER, "entry"
    ),
    "own move with another number": Lie(
        entry_at(3, entries=words(1, lambda number: f"{int(number) + 1}")), LATER, "entry"
    ),
    "another move answered": Lie(entry_at(3, entries=words(2, lambda _: "up.C>t1")), LIVE, "entry"),
    "own move answered at another place": Lie(entry_at(3, place=one_more), LIVE, "entry"),
    "own entries lost": Lie(reconnected("safe"), LIVE, "entry"),
    "own board ends as left": Lie(
        boards(
            lambda event: (
                put(event, board=put(event.board, state="left"), entries=[])
                if event.board.state != "racing"
                else event
            )
        ),
        LIVE,
        "left",
    ),
    "own result is left": Lie(result(ME_ID, state="left"), LIVE, "left"),
    # the start and the terms
    "another deadline at the deal": Lie(deal(deadline=1), LIVE, "start"),
    "another start at the deal": Lie(deal(start_at=1), LIVE, "start"),
    "no start at the table": Lie(table_in("running", start_at=0), LIVE, "start"),
    "counts down again after the deal": Lie(
        later_table(RACE, "running", phase="countdown", start_at=0), LIVE, "start"
    ),
    "another time limit in the race": Lie(
        table_in("running", settings=settings(cap=20)), LIVE, "terms"
    ),
    "another game in the race": Lie(
        table_in("running", settings=settings(game="klondike")), LIVE, "terms"
    ),
    "public in the race": Lie(table_in("running", settings=settings(public=True)), LIVE, "terms"),
    "other rules in the race": Lie(table_in("running", rules=99), LIVE, "terms"),
    "a race of friends is called a run": Lie(
        table_in("running", open="day/klondike/2026-09-01"), LIVE, "open"
    ),
    "ranked is taken back": Lie(later_table(RACE, "running", ranked=not_), LIVE, "ranked"),
    "another result is ranked": Lie(outcome(ranked=not_), LIVE, "ranked"),
    # who races
    "another commitment at the listing": Lie(
        table_in("countdown", commitment="d0" * 32), LIVE, "commitment"
    ),
    "another commitment in the race": Lie(
        table_in("running", commitment="d0" * 32), LIVE, "commitment"
    ),
    "own hash exchanged": Lie(
        table_in("countdown", racers=rows(ME_ID, nonce_hash="00" * 32)), LIVE, "hash"
    ),
    "a rival's hash exchanged": Lie(
        later_table(RACE, "countdown", racers=rows(HOST_ID, nonce_hash="00" * 32)), LIVE, "hash"
    ),
    "a racer without a hash": Lie(
        table_in("countdown", racers=rows(HOST_ID, nonce_hash="")), LIVE, "hash"
    ),
    "a rival renamed": Lie(
        table_in("running", racers=rows(RIVAL_ID, name="Robert")), LIVE, "racer"
    ),
    "a bot hidden": Lie(table_in("running", racers=rows(RIVAL_ID, bot=False)), LIVE, "racer"),
    "another racer after the call": Lie(
        table_in("running", racers=rows(RIVAL_ID, player="s" * 16)), LIVE, "racers"
    ),
    "a racer missing after the call": Lie(table_in("running", racers=without_last), LIVE, "racers"),
    "another player welcomed": Lie(lambda told: told, LIVE, "player", welcomed=False),
    # standings
    "a rival's cards never had": Lie(standing(HOST_ID, banked=one_more), LIVE, "head"),
    "a rival's wrong dollars": Lie(standing(HOST_ID, net=dollars_more), LIVE, "head"),
    "a rival's random head": Lie(standing(HOST_ID, head="0123456789abcdef"), LATER, "head"),
    "a racer missing in the standings": Lie(standings(without_last), LIVE, "racers"),
    # the announced result
    "a rival's moves announced": Lie(result(HOST_ID, moves=one_more), LATER, "result"),
    "a rival's end announced": Lie(result(HOST_ID, ended=one_more), LATER, "result"),
    "a rival's rise announced": Lie(result(HOST_ID, reached=one_more), LATER, "result"),
    "rows swapped": Lie(outcome(results=lambda rows: rows[::-1]), LATER, "order"),
    "a row missing": Lie(outcome(results=without_last), LIVE, "racers"),
    "another seed announced": Lie(outcome(seed="5a" * 32), LATER, "seed"),
    "another digest announced": Lie(outcome(digest="5a" * 32), LIVE, "end"),
    "a rival's nonce announced": Lie(
        outcome(nonces=lambda was: {**was, HOST_ID: "5a" * 16}), LIVE, "hash"
    ),
    "a second result": Lie(once_more(result(HOST_ID, moves=one_more)), LIVE, "result"),
    "runs again after its result": Lie(
        inserted(
            lambda told, event: isinstance(event, events.RaceOver),
            lambda told, event: [shown_again(told, RACE, "running")],
        ),
        LIVE,
        "end",
    ),
    "another net in the match": Lie(
        changing(events.MatchChanged, None, lambda event: put(event, match=nets_of_match)),
        LIVE,
        "net",
    ),
    # what is thrown away
    "a void told to nobody": Lie(both(forgotten(VOIDED), unchained(VOIDED)), LIVE, "terms"),
    "a void not in the next record": Lie(unchained(VOIDED), LATER, "terms"),
    "a race vanishes": Lie(both(forgotten(RACE), unchained(RACE)), LIVE, "terms"),
    "gathers again under its number": Lie(
        later_table(RACE, "countdown", phase="gathering", racers=[]), LIVE, "terms"
    ),
    "void and result": Lie(ended_changed(RACE, reason="closed"), LIVE, "void"),
    "another reason for the void": Lie(ended_changed(VOIDED, reason="server-away"), LATER, "void"),
    "somebody else blamed": Lie(ended_changed(VOIDED, blamed=[HOST_ID]), LATER, "void"),
    "blamed, though the nonce was taken": Lie(
        ended_changed(VOIDED, blamed=sorted([ME_ID, RIVAL_ID])), LIVE, "revealed"
    ),
    "blamed in the record too, though the nonce was taken": Lie(
        both(
            record(
                lambda each: replace(
                    change_racer(ME_ID, nonce="")(each), blamed=tuple(sorted([ME_ID, RIVAL_ID]))
                ),
                VOIDED,
            ),
            ended_changed(VOIDED, blamed=sorted([ME_ID, RIVAL_ID])),
        ),
        LIVE,
        "revealed",
    ),
    "blamed as left": Lie(ended_changed(VOIDED, reason="racer-left", blamed=[ME_ID]), LIVE, "left"),
    "blamed as left in the record too": Lie(
        both(
            record(
                lambda each: replace(
                    each,
                    voided="racer-left",
                    blamed=(ME_ID,),
                    racers=tuple(
                        replace(row, nonce=row.nonce or nonce(row.player)) for row in each.racers
                    ),
                ),
                VOIDED,
            ),
            ended_changed(VOIDED, reason="racer-left", blamed=[ME_ID]),
        ),
        LIVE,
        "left",
    ),
    "only the countdown was voided": Lie(voided(RACE, as_countdown), LATER, "start"),
    "voided without the own ending": Lie(voided(RACE, called_off), LATER, "entry"),
    # the record
    "record: another time limit": Lie(fields(cap=20), LATER, "terms"),
    "record: public": Lie(fields(public=not_), LATER, "terms"),
    "record: another start": Lie(fields(start_at=lambda at: at - 1), LATER, "start"),
    "record: ranked": Lie(fields(ranked=not_), LIVE, "ranked"),
    "record: a rival's name": Lie(record(change_racer(RIVAL_ID, name="Robert")), LATER, "racer"),
    "record: own name": Lie(record(change_racer(ME_ID, name="Robert")), LATER, "racer"),
    "record: a bot was a person": Lie(record(change_racer(RIVAL_ID, bot=False)), LATER, "racer"),
    "record: rival never there": Lie(record(never_there(RIVAL_ID)), LIVE, "racers"),
    "record: own nonce of a void": Lie(
        record(change_racer(ME_ID, nonce="5a" * 16, nonce_hash="5a" * 32), VOIDED), LATER, "hash"
    ),
    "record: own move left out": Lie(record(without_entry(ME_ID, -2)), LATER, "entry"),
    "record: another own move": Lie(record(another_move(ME_ID)), LATER, "entry"),
    "record: own board ended as left": Lie(record(ended_as(ME_ID, "left")), LIVE, "left"),
    "record: own board ended as idle": Lie(record(ended_as(ME_ID, "idle")), LATER, "entry"),
    "record: own board exchanged": Lie(record(exchanged(ME_ID, HOST_ID)), LATER, "entry"),
    "record: rivals exchanged": Lie(record(exchanged(HOST_ID, RIVAL_ID)), LATER, "head"),
    "record: a rival's move earlier": Lie(record(line_moved(HOST_ID, 1, -1)), LATER, "head"),
    "record: another move of a rival, equal counts": Lie(
        record(another_move(HOST_ID)), LATER, "head"
    ),
    "record: a rival's move left out": Lie(record(without_entry(HOST_ID, 0)), LATER, "head"),
    "record: a rival ended as idle": Lie(record(ended_as(HOST_ID, "idle")), LATER, "endings"),
    "record: a rival's illegal move": Lie(
        record(lambda each: with_line(each, each.racer(HOST_ID), 0, text="up.C>t1")), LATER, "moves"
    ),
    "record: another seed": Lie(fields(seed="5a" * 32), LATER, "commitment"),
    "record: a later rise": Lie(
        record(lambda each: with_row(each, -1, reached=(each.results[-1].reached or 0) + 1)),
        LATER,
        "finish",
    ),
    "record: newer rules and another own move": Lie(
        record(lambda each: promised(replace(another_move(ME_ID)(each), rules_version=99))),
        LATER,
        "entry",
    ),
    # what a watcher is told
    "watcher: another commitment": Lie(
        table_in("running", commitment="d0" * 32), LIVE, "commitment", WATCHER
    ),
    "watcher: a rival's move earlier": Lie(
        record(line_moved(HOST_ID, 1, -1)), LATER, "head", WATCHER
    ),
    "watcher: a racer missing in the standings": Lie(
        standings(without_last), LIVE, "racers", WATCHER
    ),
    "watcher: a race vanishes": Lie(both(forgotten(RACE), unchained(RACE)), LIVE, "terms", WATCHER),
}
