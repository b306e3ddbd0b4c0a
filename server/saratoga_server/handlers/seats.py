"""Seats: opening a table, joining, watching, leaving, and lost connections."""

import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from saratoga_protocol.commands import CreateTable, JoinTable, LeaveTable
from saratoga_protocol.events import BoardView, Done, Snapshot, Standing, TableSettings
from saratoga_server.domain import tables
from saratoga_server.domain.table_codes import table_code
from saratoga_server.domain.tables import CommandRejected, TablePhase, TableState
from saratoga_server.limits import MAX_WATCHERS, Action
from saratoga_server.live.refusals import too_much, unknown_player
from saratoga_server.live.session import Session
from saratoga_server.live.tables import LiveTable, SitsElsewhere
from saratoga_server.ports import Millis
from saratoga_server.store.tables import NotSaved

if TYPE_CHECKING:
    from saratoga_server.node import Node

ATTEMPTS: Final = 8
"""The number of codes that are tried for a new table."""

MOST_WATCHED: Final = 16
"""The most tables that one connection may watch."""

# Opening a table


async def create(node: "Node", session: Session, command: CreateTable) -> Snapshot:
    """Open a table with the player as its host; return its snapshot. Raises `CommandRejected`."""
    settings = tables.checked_settings(
        TableSettings(
            game=command.game,
            cap=command.cap,
            seats=command.seats,
            public=command.public,
            races=command.races,
        )
    )
    name = check_named(session)
    if wait := session.quota.take(Action.TABLE):
        raise too_much("You opened too many tables.", wait)
    if settings.public:
        node.public_tables.check_place(session)
    for _ in range(ATTEMPTS):
        table = tables.new_table(
            table_code(secrets.randbelow),
            settings,
            session.player,
            name,
            bot=session.bot,
            level=session.level,
            node=node.name,
            hello=session.hello,
            now=node.clock.now(),
            fresh_seed=node.new_seed(),
        )
        opened = await node.tables.open(table, command.key or "")
        if isinstance(opened, LiveTable):
            if settings.public:
                node.public_tables.take_place(session, table.code)
            return await seated(node, session, command.id, opened, table.epoch)
        if opened is not NotSaved.CHANGED:
            return await _opened_before(node, session, command)
    raise CommandRejected("store_unavailable", "The server found no free table code. Try again.")


async def _opened_before(node: "Node", session: Session, command: CreateTable) -> Snapshot:
    """Return the answer to a repeat that had opened its table. Raises `CommandRejected`."""
    row = await node.store.players.load_player(session.player)
    if row is None:
        raise unknown_player()
    if not command.key or row.made_by != command.key:
        raise await sits_elsewhere(node, session)
    table = await node.tables.get(row.made)
    if table.state.seat(session.player) is not None:
        return await sit_down(node, session, command.id, row.made)
    return await _snapshot(node, session, command.id, table)


async def sits_elsewhere(node: "Node", session: Session) -> CommandRejected:
    """Return why the player cannot sit down: the row names another table, or there is no row.

    A table that cannot be read holds nobody: then the player may try again.
    """
    row = await node.store.players.load_player(session.player)
    if row is None:
        return unknown_player()
    if row.table is None:
        return CommandRejected("store_unavailable", "You have just left a table. Try again.")
    try:
        state = (await node.tables.get(row.table)).state
        if state.open and state.phase is TablePhase.OVER:
            seed = node.new_seed()
            await node.tables.change(
                row.table,
                lambda state, now: tables.force_leave(
                    state, session.player, now=now, fresh_seed=seed
                ),
            )
            return CommandRejected("store_unavailable", "You have just ended a run. Try again.")
    except CommandRejected:
        await node.store.players.free_seat(session.player, row.table)
        return CommandRejected("store_unavailable", "Your last table is lost. Try again.")
    return CommandRejected("elsewhere", f"You have a seat at {row.table}. Leave that table first.")


# Joining and watching


async def join(node: "Node", session: Session, command: JoinTable) -> Snapshot:
    """Give the player a new or present seat, or watch; return a snapshot. Raises as `sit_down`."""
    if command.seat:
        return await sit_down(node, session, command.id, command.table)
    code = command.table
    table = await node.tables.get(code)
    if table.state.phase is TablePhase.CLOSED:
        raise CommandRejected("table_closed")
    if table.state.open and session.seat != code:
        raise CommandRejected("table_full", "A run in an open race cannot be watched.")
    if session.seat != code:
        check_room_to_watch(session, code, node.broadcaster.audience(code))
        session.watching |= {code}
        node.broadcaster.follow(session, code)
    return await _snapshot(node, session, command.id, table)


async def sit_down(node: "Node", session: Session, command_id: int, code: str) -> Snapshot:
    """Give the player's seat to this connection, replacing an older one; return a snapshot."""
    name, taken = check_named(session), 0

    def joined(state: TableState, now: Millis) -> TableState:
        nonlocal taken
        if not session.connection.is_open:
            # the player has another connection, and that one is newer
            raise CommandRejected("taken_over")
        after = tables.join(
            state,
            session.player,
            name,
            bot=session.bot,
            level=session.level,
            node=node.name,
            hello=session.hello,
            now=now,
        )
        taken = session.claimed = after.epoch
        if session.player == node.owner:
            after = tables.host_again(after, node.owner, now)
        return after

    # otherwise this connection would count as the older one
    held, session.seat = session.seat, None
    try:
        table = (await node.tables.change(code, joined)).table
    except SitsElsewhere:
        session.seat = held
        raise await sits_elsewhere(node, session) from None
    except BaseException:
        session.seat = held
        raise
    return await seated(node, session, command_id, table, taken)


async def seated(
    node: "Node", session: Session, command_id: int, table: LiveTable, epoch: int
) -> Snapshot:
    """Register the seat taken with that epoch, and return a snapshot of the table.

    Raises `CommandRejected` if a newer connection has taken the seat over.
    """
    if table.state.seat(session.player) is None:
        raise CommandRejected("not_seated")
    session.seat, session.epoch, session.claimed = table.code, epoch, epoch
    session.lost_seat = ""
    session.active_at = node.clock.now()
    session.watching -= {table.code}
    node.broadcaster.follow(session, table.code)
    node.broadcaster.close_replaced(table.state)
    if session.seat is None:
        raise CommandRejected("taken_over")
    return await _snapshot(node, session, command_id, table)


async def _snapshot(node: "Node", session: Session, command_id: int, table: LiveTable) -> Snapshot:
    """Return everything that the connection may know about the table."""
    state, is_seated = table.state, session.seat == table.code
    board: BoardView | None = None
    standings: list[Standing] = []
    if state.phase is TablePhase.RUNNING:
        race = await node.races.of(table)
        if is_seated and session.player in race.runs:
            own = await node.races.latest(race, session.player)
            board = race.view(own, session.legal)
        # the race may have ended meanwhile
        state = table.state
        if state.phase is TablePhase.RUNNING:
            standings = race.standings().standings
        else:
            board = None
    return Snapshot(
        re=command_id,
        table=node.tables.view(table),
        now=node.clock.now(),
        board=board,
        standings=standings,
        outcome=state.outcome,
        match=state.match,
    )


def check_named(session: Session) -> str:
    if session.name is None:
        raise CommandRejected("name_needed")
    return session.name


def check_room_to_watch(session: Session, code: str, audience: Iterable[Session]) -> None:
    """Raise `CommandRejected` if there are too many watched tables, or watchers of this one."""
    if code in session.watching:
        return
    if len(session.watching) >= MOST_WATCHED:
        raise CommandRejected(
            "watch_limit", f"You watch {MOST_WATCHED} tables already. Stop watching one first."
        )
    watchers = [each.quota for each in audience if code in each.watching]
    if len(watchers) >= MAX_WATCHERS:
        raise CommandRejected(
            "table_full",
            "That table has the greatest possible number of watchers. Try again later.",
        )
    if not session.quota.may_watch_beside(watchers):
        raise CommandRejected(
            "table_full", "That table has too many watchers from your address. Try again later."
        )


# Leaving


async def leave(node: "Node", session: Session, command: LeaveTable) -> Done:
    """Free the seat that this connection holds, or stop watching. Raises `CommandRejected`."""
    code = command.table
    if code in session.watching:
        session.watching -= {code}
        node.broadcaster.unfollow(session, code)
        return Done(re=command.id)

    def left(state: TableState, now: Millis) -> TableState:
        seat = state.seat(session.player)
        if seat is None or seat.hello != session.hello:
            return state
        return tables.leave(state, session.player, now=now, fresh_seed=node.new_seed())

    held = session.seat == code
    if held:  # whoever leaves is told nothing more
        session.seat = None
        node.broadcaster.unfollow(session, code)
    try:
        await node.tables.change(code, left)
    except BaseException:
        if held and session.connection.is_open:
            session.seat = code
            node.broadcaster.follow(session, code)
        raise
    return Done(re=command.id)


async def holds_seat(node: "Node", session: Session) -> bool:
    """Return whether this connection holds the player's seat, according to the store."""
    if session.seat is None:
        return False
    await node.tables.refresh(session.seat)
    table = node.tables.known(session.seat) if session.seat else None
    seat = None if table is None else table.state.seat(session.player)
    return seat is not None and not session.has_lost(seat)


async def disconnected(node: "Node", session: Session) -> None:
    """Mark the seat of a lost connection as disconnected. Raises `CommandRejected`."""
    code, session.seat = session.seat, None
    if code is not None:
        await node.scheduler.disconnect(code, session.player, session.epoch)
