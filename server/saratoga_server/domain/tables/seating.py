"""Seats at a table: joining, leaving, kicking and locking, and the choice of the host.

A lost connection keeps its seat (`disconnect`). A player gives up the seat by leaving, by being
kicked, or after `timers.ABSENCE_MILLIS` without a connection. In a countdown this voids the
countdown; in a running race the player leaves the race. If the host goes, the player in the next
seat becomes host (a bot only if no person is left).
"""

from typing import Final

from msgspec.structs import replace

from saratoga_protocol.events import TableSettings
from saratoga_rules.records.standing import State
from saratoga_server.domain.tables.countdown import NEW_DEAL, voided_for_leaving
from saratoga_server.domain.tables.lifecycle import checked_settings, with_host, with_new_deal
from saratoga_server.domain.tables.phases import (
    BETWEEN_RACES,
    Act,
    checked,
    checked_open,
    checked_race,
    checked_sits_out,
)
from saratoga_server.domain.tables.state import (
    NO_TIME,
    CommandRejected,
    TablePhase,
    TableSeat,
    TableState,
)
from saratoga_server.ports import Millis

MOST_KICKED: Final = 64
"""The most kicked players whom a table remembers: the newest."""

MOST_BOTS: Final = 3
"""The most bots at a table that its host can add."""

KICKED: Final = "The host has kicked you from the table."


def new_table(
    code: str,
    settings: TableSettings,
    player: str,
    name: str,
    *,
    bot: bool = False,
    level: str = "",
    node: str,
    hello: int = 0,
    now: Millis,
    fresh_seed: bytes,
) -> TableState:
    """Return a new table with its host seated."""
    empty = TableState(
        code=code,
        settings=checked_settings(settings),
        created=now,
        touched=now,
    )
    gathering = with_new_deal(empty, fresh_seed)
    return join(gathering, player, name, bot=bot, level=level, node=node, hello=hello, now=now)


def join(
    table: TableState,
    player: str,
    name: str,
    *,
    bot: bool = False,
    level: str = "",
    node: str,
    hello: int = 0,
    now: Millis,
) -> TableState:
    """Return the table after a change that gives a player a seat.

    A new connection of a seated player takes over from the older one. `hello` numbers the player's
    connections: one older than the present one does not take over.
    """
    checked_open(table)
    epoch = table.epoch + 1
    if (seat := table.seat(player)) is not None:
        if seat.is_connected and hello < seat.hello:
            raise CommandRejected("taken_over")
        seat = replace(seat, node=node, absent_since=NO_TIME, epoch=epoch, level=level, hello=hello)
        return replace(table.with_seat(seat), epoch=epoch, touched=now)
    if player in table.kicked:
        raise CommandRejected("kicked", "The host has kicked you from this table. Join another.")
    if table.locked:
        raise CommandRejected(
            "table_locked",
            "The host has locked this table. Ask the host to unlock it, watch it, or join another.",
        )
    if len(table.seats) >= table.settings.seats:
        raise CommandRejected(
            "table_full", "Every seat at this table is taken. Watch it, or join another."
        )
    table = _no_longer_alone(table, bot, now)
    seat = TableSeat(
        player=player,
        name=name,
        bot=bot,
        level=level,
        epoch=epoch,
        node=node,
        hello=hello,
    )
    seated = replace(table, seats=(*table.seats, seat), epoch=epoch, touched=now)
    return _with_host(seated, now)


def check_bot(table: TableState, player: str) -> TableState:
    """Return the table, unchanged, if this player may add a bot to it."""
    checked(table, player, Act.ADD_BOT)
    if sum(seat.bot for seat in table.seats) >= MOST_BOTS:
        raise CommandRejected(
            "no_bots", f"There are {MOST_BOTS} bots at this table already. Remove one first."
        )
    if table.locked:
        raise CommandRejected("table_locked", "This table is locked. Unlock it to add a bot.")
    if len(table.seats) >= table.settings.seats:
        raise CommandRejected(
            "table_full", "Every seat at this table is taken. Add a seat, or remove a player."
        )
    return table


def _no_longer_alone(table: TableState, bot: bool, now: Millis) -> TableState:
    """Return the table with idleness and absence counted from now, if somebody joins a lone player.

    In a race everybody waits for the racers, between races only people for the host.
    """
    if len(table.seats) == 1:
        (seat,) = table.seats
        if not seat.is_connected:
            table = table.with_seat(replace(seat, absent_since=now))
        return replace(table, waited_since=now)
    is_first_person = not bot and all(seat.bot or seat.player == table.host for seat in table.seats)
    if is_first_person and table.phase in BETWEEN_RACES:
        table = replace(table, waited_since=now)
    return table


def disconnect(table: TableState, player: str, epoch: int, *, now: Millis) -> TableState:
    """Return the table with the seat disconnected, unless another epoch holds it."""
    seat = table.seat(player)
    if seat is None or seat.epoch != epoch or not seat.is_connected:
        return table
    return table.with_seat(replace(seat, node="", absent_since=now))


def still_here(table: TableState, player: str, epoch: int, *, node: str) -> TableState:
    """Return the table with a wrongly disconnected seat connected again."""
    seat = table.seat(player)
    if seat is None or seat.epoch != epoch or seat.is_connected:
        return table
    return table.with_seat(replace(seat, node=node, absent_since=NO_TIME))


def rename(table: TableState, player: str, name: str) -> TableState:
    """Return the table with another name of a player; a running race keeps the old one."""
    seat = table.seat(player)
    if seat is None or seat.name == name:
        return table
    return table.with_seat(replace(seat, name=name))


def leave(table: TableState, player: str, *, now: Millis, fresh_seed: bytes) -> TableState:
    """Return the table after a change that frees the seat of a player who leaves the table."""
    seat = checked(table, player, Act.LEAVE)
    return vacated(table, player, f"{seat.name} has left.", now, fresh_seed, State.LEFT)


def force_leave(table: TableState, player: str, *, now: Millis, fresh_seed: bytes) -> TableState:
    """Return the table without the player's seat, which is freed without a command."""
    if table.seat(player) is None:
        return table
    seat = checked(table, player, Act.LEAVE)
    return vacated(table, player, f"{seat.name} has left.", now, fresh_seed)


def kick(
    table: TableState,
    player: str,
    *,
    target: str,
    epoch: int = 0,
    owner: str = "",
    now: Millis,
    fresh_seed: bytes,
) -> TableState:
    """Return the table without a player who is not racing, who cannot join again.

    The `owner` of the server cannot be removed.
    """
    seat = checked(table, player, Act.KICK)
    if target == player:
        raise CommandRejected(
            "no_such_player", "You cannot kick yourself. Leave the table instead."
        )
    kicked = table.seat(target)
    if kicked is None and target in table.kicked:
        return table
    if kicked is None:
        raise CommandRejected(
            "no_such_player", "That player is not at this table. Look at the table again."
        )
    if epoch and epoch != kicked.epoch:
        raise CommandRejected(
            "no_such_player", "That player has come back meanwhile. Look at the table again."
        )
    if target == owner:
        raise CommandRejected("owner_only", f"{kicked.name} runs this server, so stays.")
    checked_sits_out(table, target)
    noted = replace(table, kicked=(*table.kicked, target)[-MOST_KICKED:])
    return vacated(noted, target, f"{seat.name} has kicked {kicked.name}.", now, fresh_seed)


def lock(
    table: TableState, player: str, *, race: str | None = None, locked: bool, now: Millis
) -> TableState:
    """Return the table after a change that locks the table, or unlocks it. Taken seats stay."""
    seat = checked(table, player, Act.LOCK)
    checked_race(table, race)
    if locked is table.locked:
        return table
    notice = (
        f"{seat.name} has locked the table: nobody new can take a seat."
        if locked
        else f"{seat.name} has unlocked the table."
    )
    return replace(table, locked=locked, notice=notice, touched=now)


def vacated(
    table: TableState,
    player: str,
    reason: str,
    now: Millis,
    fresh_seed: bytes,
    ending: State = State.GONE,
) -> TableState:
    """Return the table without that player's seat; a racer leaves the race, a host the place.

    `ending` is how a racing player's board ends: as `left` only after the player's own command.
    """
    if table.phase is TablePhase.COUNTDOWN and player in table.racers and not table.open:
        voided = voided_for_leaving(table, player, ending, fresh_seed)
        gathering = vacated(voided, player, reason, now, fresh_seed)
        notice = f"{gathering.notice} The countdown was voided. {NEW_DEAL}"
        return replace(gathering, notice=notice)
    seat = table.seat(player)
    assert seat is not None, player
    place = table.seats.index(seat)
    emptied = replace(table.without(seat), notice=reason, touched=now)
    if table.is_racing(player):
        emptied = replace(emptied, left={**table.left, player: ending})
    return _with_host(emptied, now, place)


def _with_host(table: TableState, now: Millis, place: int = 0) -> TableState:
    """Return the table with a new host if it has none: people before bots, from `place` on.

    A table without people is unlocked: nobody could come in any more.
    """
    if all(seat.bot for seat in table.seats):
        table = replace(table, locked=False)
    if not table.seats:
        return replace(table, host="")
    if table.seat(table.host) is not None:
        return table
    around = table.seats[place:] + table.seats[:place]
    host = next((seat for seat in around if not seat.bot), around[0])
    notice = f"{table.notice} {host.name} is host now.".lstrip() if table.host else table.notice
    passed = replace(table, deposed=table.deposed or table.host)
    return with_host(passed, host, notice, now)
