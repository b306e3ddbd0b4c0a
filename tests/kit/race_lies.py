"""Lies that a server may tell a client by the record of one true race; `LyingServer` makes all else fit."""

from dataclasses import replace
from functools import partial

from kit.lying_server import Lie
from kit.races import (
    Entrant,
    position_before,
    race,
    renumbered,
    settled,
    with_line,
    with_racer,
)
from kit.walks import banking, wandering
from saratoga_protocol.commands import player_id
from saratoga_rules.analysis import legal_moves
from saratoga_rules.records.record import CLOSED, RaceRecord
from saratoga_rules.records.replay import game_of


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
OWN = TRUTH.racers[0]


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


def foreign_seed(record: RaceRecord) -> RaceRecord:
    return replace(record, seed="5a" * 32)


LIES = {
    "own move changed": Lie(record=own_move_changed),
    "own move left out": Lie(record=own_move_left_out),
    "own ending changed": Lie(record=own_ending_changed),
    "a foreign seed": Lie(record=foreign_seed),
    "a foreign seed, sent late": Lie(record=foreign_seed, is_next_open=True),
    "a void without the own ending": Lie(
        is_announced=False, void=partial(closed_without_ending_of, OWN.player)
    ),
}
"""Lies about the race by the record that is sent."""
