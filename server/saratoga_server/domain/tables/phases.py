"""The phases of a table, and the commands allowed in each.

    gathering --start--> call --call_until--> countdown --all nonces shown, start_at--> running
      ^  ^  ^              |                      |                                        |
      |  |  +-- nobody ready, or the host not     |                                     finish, when
      |  |      ready any more: the same deal     |                                     every board
      |  |                                        |                                     has ended
      |  +-- a nonce missing, or a racer left: voided, the next race number               |
      |                                                                                    |
      +---------------------------------next_race---------------------------- over <-------+

    Every phase but `closed` ends in `closed` when the table is closed, or idle for too long.

`ALLOWED` lists what is allowed; everything else is refused. A command is checked in this order: the
table is open, the player is seated, the player is host if only the host may do it, and the phase
allows it. The transition then checks the command's content. A host may not kick a racer
(`checked_sits_out`).
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from saratoga_server.domain.tables.state import CommandRejected, TablePhase, TableSeat, TableState


class Act(StrEnum):
    """An act on a table: a command by its name on the wire, or `finish`."""

    JOIN = "join_table"
    LEAVE = "leave_table"
    KICK = "kick"
    LOCK = "lock_table"
    ADD_BOT = "add_bot"
    ALLOW_READY = "allow_ready"
    CHANGE_SETTINGS = "change_settings"
    READY = "ready"
    NOT_READY = "not_ready"
    START = "start"
    REVEAL = "reveal"
    END_RACE = "end_race"
    NEXT_RACE = "next_race"
    HAND_OVER = "hand_over"
    FINISH = "finish"
    """The act that ends a race; the server does it when every board has ended."""


COMING_AND_GOING: Final = frozenset(
    {Act.JOIN, Act.LEAVE, Act.KICK, Act.ALLOW_READY, Act.ADD_BOT, Act.HAND_OVER}
)

ALLOWED: Final[Mapping[TablePhase, frozenset[Act]]] = {
    TablePhase.GATHERING: COMING_AND_GOING
    | {Act.LOCK, Act.CHANGE_SETTINGS, Act.READY, Act.NOT_READY, Act.START},
    TablePhase.CALL: COMING_AND_GOING | {Act.READY, Act.NOT_READY},
    TablePhase.COUNTDOWN: COMING_AND_GOING | {Act.REVEAL},
    TablePhase.RUNNING: COMING_AND_GOING | {Act.LOCK, Act.FINISH, Act.END_RACE},
    TablePhase.OVER: COMING_AND_GOING | {Act.LOCK, Act.NEXT_RACE},
    TablePhase.CLOSED: frozenset(),
}

BETWEEN_RACES: Final = frozenset({TablePhase.GATHERING, TablePhase.OVER})
"""The phases in which the table waits for its host."""

HOST_ONLY: Final = frozenset(
    {
        Act.KICK,
        Act.LOCK,
        Act.ADD_BOT,
        Act.ALLOW_READY,
        Act.CHANGE_SETTINGS,
        Act.START,
        Act.NEXT_RACE,
        Act.HAND_OVER,
    }
)

_NOW: Final[Mapping[TablePhase, str]] = {
    TablePhase.GATHERING: "This race has not started yet.",
    TablePhase.CALL: "The countdown is running.",
    TablePhase.COUNTDOWN: "The countdown is running.",
    TablePhase.RUNNING: "The race is running.",
    TablePhase.OVER: "The race is over, and the host has not opened the next one yet.",
}

_REMEDY: Final[Mapping[Act, str]] = {
    Act.LOCK: "Lock or unlock the table when the race has begun.",
    Act.CHANGE_SETTINGS: "Change the settings when the next race is open.",
    Act.READY: "Get ready when the next race is open.",
    Act.NOT_READY: "Your place in this race is fixed. To give it up, leave the table.",
    Act.START: "Start the next race when it is open and you are ready.",
    Act.REVEAL: "Reveal the nonce in the countdown of your race, when the racers are listed.",
    Act.END_RACE: "Only a running race can be ended.",
    Act.NEXT_RACE: "Open the next race when this one is over.",
    Act.FINISH: "Only a running race can be finished.",
}


def checked_open(table: TableState) -> None:
    if table.phase is TablePhase.CLOSED:
        raise CommandRejected("table_closed", "This table is closed. Join another, or open one.")


def checked_seat(table: TableState, player: str) -> TableSeat:
    """Return the player's seat at an open table. Raises `CommandRejected`."""
    checked_open(table)
    seat = table.seat(player)
    if seat is None:
        raise CommandRejected(
            "not_seated", f"You have no seat at {table.code}. Join the table first."
        )
    return seat


def seated(table: TableState, player: str) -> TableState:
    """Return the table, unchanged, if the player has a seat there. Raises `CommandRejected`."""
    checked_seat(table, player)
    return table


def checked(table: TableState, player: str, act: Act) -> TableSeat:
    """Return the player's seat if the player may do `act` now. Raises `CommandRejected`."""
    seat = checked_seat(table, player)
    if act in HOST_ONLY and player != table.host:
        raise CommandRejected(
            "host_only", f"Only the host may do that. Ask {table.name(table.host)}."
        )
    checked_phase(table, act)
    return seat


def checked_phase(table: TableState, act: Act) -> None:
    if table.open and act is Act.NEXT_RACE:
        raise CommandRejected("wrong_phase", "A run has no next race. Leave it, and open a table.")
    if act not in ALLOWED[table.phase]:
        raise CommandRejected("wrong_phase", f"{_NOW[table.phase]} {_REMEDY[act]}")


def checked_race(table: TableState, race: str | None) -> None:
    """Raise `CommandRejected` if a command names another race than the table's."""
    if race and race != table.race_id:
        raise CommandRejected("no_such_race", f"The race at this table is {table.race_id}.")


def checked_sits_out(table: TableState, player: str) -> None:
    """Raise `CommandRejected` if the player is in a countdown or running race."""
    if table.is_racing(player):
        name = table.name(player)
        raise CommandRejected(
            "wrong_phase", f"{name} is in this race. Kick {name} when it is over."
        )
