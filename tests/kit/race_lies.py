"""Lies that a server may tell a client about a race, each with a part of what the client says about it.

Each changes the record, the standings or the result of one true race; `LyingServer` makes all else fit.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from kit.lying_server import Lie
from kit.races import (
    Entrant,
    position_before,
    promised,
    race,
    renumbered,
    settled,
    with_line,
    with_racer,
)
from kit.walks import banking, wandering
from saratoga_protocol import events
from saratoga_protocol.players import player_id
from saratoga_rules.analysis import legal_moves
from saratoga_rules.records.record import CLOSED, RaceRecord, RacerLog
from saratoga_rules.records.replay import game_of
from saratoga_rules.records.standing import State


def closed_without_ending_of(player: str, record: RaceRecord) -> RaceRecord:
    """Return the record of a race that was closed while a player's board still raced, though it had ended."""
    racer = record.racer(player)
    shorter = renumbered(with_racer(record, racer, log=racer.log[:-1]))
    return replace(shorter, voided=CLOSED, results=())


TOKEN = "75" * 32
"""The token of the client; its player id is the lowest of the race."""

TRUTH = race(
    "canfield",
    5,
    [
        Entrant("Anna", banking, patience=7),
        Entrant("Bert", banking, patience=14, player=player_id(TOKEN)),
        Entrant("Carl", wandering, patience=9),
        Entrant("Zora", wandering, bot=True, patience=5),
    ],
    public=False,
)
OWN, RIVAL, OTHER = TRUTH.racers[:3]
RIVALS = (RIVAL.player, OTHER.player)


def exchanged(record: RaceRecord, first: int, second: int) -> RaceRecord:
    """Return the record with the boards of two racers exchanged."""
    racers = list(record.racers)
    one, two = racers[first], racers[second]
    racers[first] = replace(one, log=two.log)
    racers[second] = replace(two, log=one.log)
    return settled(replace(record, racers=tuple(racers)))


def rivals_exchanged(record: RaceRecord) -> RaceRecord:
    return exchanged(record, 1, 2)


def own_board_exchanged(record: RaceRecord) -> RaceRecord:
    return exchanged(record, 0, 1)


def another_cap(record: RaceRecord) -> RaceRecord:
    return promised(replace(record, cap=20))


def another_start(record: RaceRecord) -> RaceRecord:
    return replace(record, start_at=record.start_at - 86_400_000)


def another_name(record: RaceRecord) -> RaceRecord:
    return with_racer(record, record.racers[1], name="Robert")


def person_as_bot(record: RaceRecord) -> RaceRecord:
    return with_racer(record, record.racers[2], bot=True)


def own_move_left_out(record: RaceRecord) -> RaceRecord:
    own = record.racers[0]
    return settled(renumbered(with_racer(record, own, log=(*own.log[:-2], own.log[-1]))))


def own_move_changed(record: RaceRecord) -> RaceRecord:
    """Play another legal move in the place of the last one."""
    own, game = record.racers[0], game_of(record)
    position = position_before(record, own, len(own.log) - 2)
    other = next(str(move) for move in legal_moves(game, position) if str(move) != own.log[-2].text)
    return settled(with_line(record, own, -2, text=other))


def own_ending_changed(record: RaceRecord) -> RaceRecord:
    own = record.racers[0]
    left = (*own.log[:-1], replace(own.log[-1], text="left"))
    return settled(with_racer(record, own, log=left))


def own_time_changed(record: RaceRecord) -> RaceRecord:
    """Move an own entry to the time of the entry before it, as far as the order allows."""
    own = record.racers[0]
    times = {line.number: line.at for racer in record.racers for line in racer.log}
    index, line = next(
        (index, line)
        for index, line in enumerate(own.log)
        if line.number > 1 and times[line.number - 1] < line.at
    )
    return settled(with_line(record, own, index, at=times[line.number - 1]))


def rise_moved_forward(record: RaceRecord) -> RaceRecord:
    """Let a rival have made all moves before everybody else."""
    rival = record.racers[1]
    shift = len(rival.log)
    racers = [
        replace(
            racer,
            log=tuple(
                replace(line, number=line.number + shift, at=line.at + 60_000) for line in racer.log
            ),
        )
        if racer.player != rival.player
        else replace(
            racer,
            log=tuple(
                replace(line, number=place, at=place) for place, line in enumerate(racer.log, 1)
            ),
        )
        for racer in record.racers
    ]
    return settled(renumbered(replace(record, racers=tuple(racers))))


def foreign_seed(record: RaceRecord) -> RaceRecord:
    return replace(record, seed="5a" * 32)


def rivals_illegal_move(record: RaceRecord) -> RaceRecord:
    """Let a rival have turned the waste over where the rules do not allow it."""
    rival = record.racers[1]
    index = next(
        index
        for index, line in enumerate(rival.log)
        if line.text == "draw" and "redeal" not in moves_at(record, rival, index)
    )
    return with_line(record, rival, index, text="redeal")


def moves_at(record: RaceRecord, racer: RacerLog, index: int) -> set[str]:
    """Return the legal moves before an entry of a racer's log."""
    return set(map(str, legal_moves(game_of(record), position_before(record, racer, index))))


def wrong_result(record: RaceRecord) -> RaceRecord:
    """Give two rivals each other's places in the result."""
    first, second = (record.results.index(row) for row in record.results if row.player in RIVALS)
    rows = list(record.results)
    one, two = rows[first], rows[second]
    rows[first] = replace(two, place=one.place)
    rows[second] = replace(one, place=two.place)
    return replace(record, results=tuple(rows))


def public_exchanged(record: RaceRecord) -> RaceRecord:
    return promised(replace(record, public=not record.public))


def ranked_exchanged(record: RaceRecord) -> RaceRecord:
    """Let the race count for nothing: at a private table the server may choose."""
    return replace(record, ranked=not record.ranked)


def changed_row(outcome: events.Outcome, player: str, **changes: Any) -> events.Outcome:
    """Return the result with one player's row changed."""
    rows = [
        msgspec.structs.replace(row, **changes) if row.player == player else row
        for row in outcome.results
    ]
    return msgspec.structs.replace(outcome, results=rows)


def result_under_another_name(outcome: events.Outcome) -> list[events.Outcome]:
    return [changed_row(outcome, RIVAL.player, name="Robert")]


def result_with_another_bot_mark(outcome: events.Outcome) -> list[events.Outcome]:
    return [changed_row(outcome, OTHER.player, bot=True)]


def result_called_unranked(outcome: events.Outcome) -> list[events.Outcome]:
    return [msgspec.structs.replace(outcome, ranked=not outcome.ranked)]


def result_then_another(outcome: events.Outcome) -> list[events.Outcome]:
    """Announce the right result, and then the same with two rivals exchanged."""
    one, two = (row for row in outcome.results if row.player in (RIVAL.player, OTHER.player))
    swapped = changed_row(outcome, one.player, name=two.name)
    return [outcome, changed_row(swapped, two.player, name=one.name)]


def another_hidden_card(board: events.BoardView) -> events.BoardView:
    """Show, between two draws, another card of the stock on the waste."""
    if board.count != 5:
        return board
    waste = board.view.waste[:-2] + "JD"
    view = msgspec.structs.replace(board.view, waste=waste)
    return msgspec.structs.replace(board, view=view)


def one_card_more(shown: events.Standings) -> events.Standings:
    """Show a rival who has ended with one card too many."""
    rows = [
        msgspec.structs.replace(row, banked=row.banked + 1, net=row.net + 5)
        if row.player == OTHER.player and row.state != State.RACING
        else row
        for row in shown.standings
    ]
    placed = [
        msgspec.structs.replace(row, place=1 + sum(other.banked > row.banked for other in rows))
        for row in rows
    ]
    return msgspec.structs.replace(shown, standings=placed)


def one_racer_less(shown: events.Standings) -> events.Standings:
    """Leave a rival out of the standings."""
    rows = [row for row in shown.standings if row.player != OTHER.player]
    return msgspec.structs.replace(shown, standings=rows)


def without_start(table: events.Table) -> events.Table:
    return running_with(table, start_at=0)


def another_deal_in_the_countdown(table: events.Table) -> events.Table:
    """Count down for a deal that the client has not seen, though it got ready for another."""
    if table.phase != "countdown":
        return table
    return msgspec.structs.replace(table, commitment="d1" * 32)


def another_cap_in_the_race(table: events.Table) -> events.Table:
    return running_with(table, settings=msgspec.structs.replace(table.settings, cap=20))


def another_bot_mark_in_the_race(table: events.Table) -> events.Table:
    racers = [
        msgspec.structs.replace(each, bot=not each.bot) if each.player == OTHER.player else each
        for each in table.racers
    ]
    return running_with(table, racers=racers)


def running_with(table: events.Table, **changes: Any) -> events.Table:
    """Return the table with changes if its race runs."""
    return msgspec.structs.replace(table, **changes) if table.phase == "running" else table


LIES = {
    "rivals exchanged": (Lie(record=rivals_exchanged), "was shown with"),
    "own board exchanged": (Lie(record=own_board_exchanged), "this player's entry"),
    "another cap": (Lie(record=another_cap), "the time limit was 10 minutes"),
    "another start": (Lie(record=another_start), "the race started at"),
    "another name": (Lie(record=another_name), "and in the record is Robert"),
    "a person as a bot": (Lie(record=person_as_bot), "raced as a person"),
    "own move changed": (Lie(record=own_move_changed), "this player's entry"),
    "own move left out": (Lie(record=own_move_left_out), "this player's entry"),
    "own ending changed": (Lie(record=own_ending_changed), "this player's entry"),
    "own time changed": (Lie(record=own_time_changed), "this player's entry"),
    "a rival was faster": (Lie(record=rise_moved_forward), "this player's entry"),
    "a standing changed": (Lie(standings=one_card_more), "was shown with"),
    "another hidden card": (Lie(answers=another_hidden_card), "was shown after entry 5 is not"),
    "public exchanged": (Lie(record=public_exchanged), "the table was private, and in the record"),
    "ranked exchanged": (Lie(record=ranked_exchanged), "the race was ranked when it started"),
    "a name in the result": (
        Lie(outcomes=result_under_another_name),
        f"and in the record is {RIVAL.name}",
    ),
    "a bot in the result": (Lie(outcomes=result_with_another_bot_mark), "the announced bot mark"),
    "an unranked result": (Lie(outcomes=result_called_unranked), "the announced mark as ranked"),
    "a second result": (Lie(outcomes=result_then_another), "and in a later announcement is"),
    "a racer left out": (Lie(standings=one_racer_less), "do not list exactly its racers"),
    "no start": (Lie(tables=without_start), "does not say when it started"),
    "another cap while it runs": (
        Lie(tables=another_cap_in_the_race),
        "the settings, or who is a bot, have changed",
    ),
    "another bot mark while it runs": (
        Lie(tables=another_bot_mark_in_the_race),
        "the settings, or who is a bot, have changed",
    ),
}
"""Lies about the race, each with a part of what the client says about it."""

UNVERIFIED = {
    "a foreign seed": (Lie(record=foreign_seed), "the commitment of this seed is"),
    "a rival's illegal move": (Lie(record=rivals_illegal_move), "redeal"),
    "a wrong result": (Lie(record=wrong_result), "place "),
    "a foreign seed, sent late": (
        Lie(record=foreign_seed, is_next_open=True),
        "the commitment of this seed is",
    ),
}
"""Lies with a record that agrees with all that this player saw, each with a part of what the client says."""

CLOSED_LIE = Lie(is_announced=False, void=partial(closed_without_ending_of, OWN.player))
"""The lie with the record of a closed race that leaves out the end of the client's board."""
