"""Commands of seated players: settings, kick, lock, ready, start, reveal and others. Each is one transition."""

from typing import TYPE_CHECKING

from saratoga_protocol import commands as wire
from saratoga_protocol.events import Done
from saratoga_server.domain import tables
from saratoga_server.domain.tables import CommandRejected, TableState
from saratoga_server.live.session import Session
from saratoga_server.live.tables import Transition
from saratoga_server.ports import Millis

if TYPE_CHECKING:
    from saratoga_server.node import Node


async def change_settings(node: "Node", session: Session, command: wire.ChangeSettings) -> Done:
    if command.public:
        node.public_tables.check_place(session, command.table)
    answer = await _act(
        node,
        session,
        command.id,
        command.table,
        lambda table, now: tables.change_settings(
            table,
            session.player,
            commitment=command.commitment,
            game=command.game,
            cap=command.cap,
            seats=command.seats,
            public=command.public,
            races=command.races,
            now=now,
            fresh_seed=node.new_seed(),
        ),
    )
    if command.public:
        node.public_tables.take_place(session, command.table)
    return answer


async def kick(node: "Node", session: Session, command: wire.Kick) -> Done:
    return await _act(
        node,
        session,
        command.id,
        command.table,
        lambda table, now: tables.kick(
            table,
            session.player,
            target=command.player,
            epoch=command.epoch,
            now=now,
            fresh_seed=node.new_seed(),
        ),
    )


async def lock(node: "Node", session: Session, command: wire.LockTable) -> Done:
    return await _act(
        node,
        session,
        command.id,
        command.table,
        lambda table, now: tables.lock(
            table, session.player, race=command.race, locked=command.locked, now=now
        ),
    )


async def allow_ready(node: "Node", session: Session, command: wire.AllowReady) -> Done:
    return await _act(
        node,
        session,
        command.id,
        command.table,
        lambda table, now: tables.allow_ready(
            table, session.player, target=command.player, now=now
        ),
    )


async def ready(node: "Node", session: Session, command: wire.Ready) -> Done:
    return await _act(
        node,
        session,
        command.id,
        command.table,
        lambda table, now: tables.ready(
            table,
            session.player,
            commitment=command.commitment,
            nonce_hash=command.nonce_hash,
            now=now,
        ),
    )


async def not_ready(node: "Node", session: Session, command: wire.NotReady) -> Done:
    return await _act(
        node,
        session,
        command.id,
        command.table,
        lambda table, now: tables.not_ready(table, session.player, now=now),
    )


async def start(node: "Node", session: Session, command: wire.Start) -> Done:
    return await _act(
        node,
        session,
        command.id,
        command.table,
        lambda table, now: tables.start(table, session.player, race=command.race, now=now),
    )


async def reveal(node: "Node", session: Session, command: wire.Reveal) -> Done:
    # the store may stall while this command waits for the table
    arrived = node.clock.now()
    return await _act(
        node,
        session,
        command.id,
        command.table,
        lambda table, now: tables.reveal(
            table,
            session.player,
            commitment=command.commitment,
            nonce=command.nonce,
            now=min(arrived, now),
        ),
    )


async def end_race(node: "Node", session: Session, command: wire.EndRace) -> Done:
    return await _act(
        node,
        session,
        command.id,
        command.race.partition("/")[0],
        lambda table, now: tables.end_race(table, session.player, race_id=command.race, now=now),
    )


async def next_race(node: "Node", session: Session, command: wire.NextRace) -> Done:
    return await _act(
        node,
        session,
        command.id,
        command.table,
        lambda table, now: tables.next_race(
            table, session.player, race=command.race, now=now, fresh_seed=node.new_seed()
        ),
    )


async def _act(
    node: "Node", session: Session, command_id: int, code: str, transition: Transition
) -> Done:
    """Make one transition of a table at which this connection holds the player's seat, if any."""

    def checked(table: TableState, now: Millis) -> TableState:
        seat = table.seat(session.player)
        if seat is not None and (session.seat != table.code or session.has_lost(seat)):
            raise CommandRejected(
                "taken_over", "This connection does not hold your seat. Join the table again."
            )
        return transition(table, now)

    await node.tables.change(code, checked)
    return Done(re=command_id)
