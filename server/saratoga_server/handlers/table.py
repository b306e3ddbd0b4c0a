"""Commands of seated players: settings, kick, ready, start and others, each one transition."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from saratoga_protocol import commands as wire
from saratoga_protocol.events import Done
from saratoga_server.domain import tables
from saratoga_server.domain.tables import CommandRejected, TableState
from saratoga_server.limits import Action
from saratoga_server.live.refusals import too_much
from saratoga_server.live.session import Session
from saratoga_server.ports import Millis
from saratoga_server.store.news import Reaction

if TYPE_CHECKING:
    from saratoga_server.node import Node

Apply = Callable[["Node", TableState, str, Any, Millis], TableState]
"""A function from table, player, command and time to the next table. Raises `CommandRejected`."""

APPLY: Final[Mapping[type[wire.Command], Apply]] = {
    wire.ChangeSettings: lambda node, table, player, command, now: tables.change_settings(
        table,
        player,
        commitment=command.commitment,
        game=command.game,
        cap=command.cap,
        seats=command.seats,
        public=command.public,
        races=command.races,
        now=now,
        fresh_seed=node.new_seed(),
    ),
    wire.Kick: lambda node, table, player, command, now: tables.kick(
        table,
        player,
        target=command.player,
        epoch=command.epoch,
        owner=node.owner,
        now=now,
        fresh_seed=node.new_seed(),
    ),
    wire.AddBot: lambda _, table, player, command, now: tables.check_bot(table, player),
    wire.LockTable: lambda _, table, player, command, now: tables.lock(
        table, player, race=command.race, locked=command.locked, now=now
    ),
    wire.AllowReady: lambda _, table, player, command, now: tables.allow_ready(
        table, player, target=command.player, now=now
    ),
    wire.Ready: lambda _, table, player, command, now: tables.ready(
        table, player, commitment=command.commitment, nonce_hash=command.nonce_hash, now=now
    ),
    wire.NotReady: lambda _, table, player, command, now: tables.not_ready(table, player, now=now),
    wire.Start: lambda _, table, player, command, now: tables.start(
        table, player, race=command.race, now=now
    ),
    wire.Reveal: lambda _, table, player, command, now: tables.reveal(
        table, player, commitment=command.commitment, nonce=command.nonce, now=now
    ),
    wire.EndRace: lambda node, table, player, command, now: tables.end_race(
        table,
        player,
        race_id=command.race,
        has_ended=node.races.has_ended(command.race, player),
        now=now,
    ),
    wire.HandOver: lambda _, table, player, command, now: tables.hand_over(
        table, player, target=command.player, now=now
    ),
    wire.React: lambda _, table, player, command, now: tables.seated(table, player),
    wire.NextRace: lambda node, table, player, command, now: tables.next_race(
        table, player, race=command.race, now=now, fresh_seed=node.new_seed()
    ),
}


async def act(node: "Node", session: Session, command: Any) -> Done:
    """Make one transition of a table at which this connection holds the player's seat, if any."""
    apply, arrived = APPLY[type(command)], node.clock.now()
    code = command.race.partition("/")[0] if isinstance(command, wire.EndRace) else command.table

    def applied(table: TableState, now: Millis) -> TableState:
        seat = table.seat(session.player)
        if seat is not None and (session.seat != table.code or session.has_lost(seat)):
            raise CommandRejected(
                "taken_over", "This connection does not hold your seat. Join the table again."
            )
        if isinstance(command, wire.Reveal):  # the store may stall while it waits for the table
            now = min(arrived, now)
        return apply(node, table, session.player, command, now)

    await node.tables.change(code, applied)
    return Done(re=command.id)


async def add_bot(node: "Node", session: Session, command: wire.AddBot) -> Done:
    answer = await act(node, session, command)
    await node.bot_hosts.ask(command)
    return answer


async def end_race(node: "Node", session: Session, command: wire.EndRace) -> Done:
    with suppress(CommandRejected):
        # who has ended is known once the race is read
        await node.races.running_at(command.race.partition("/")[0], command.race)
    return await act(node, session, command)


async def react(node: "Node", session: Session, command: wire.React) -> Done:
    if wait := session.quota.take(Action.REACTION):
        raise too_much("You reacted too often.", wait)
    answer = await act(node, session, command)
    reaction = Reaction(command.table, session.player, command.reaction)
    await node.store.events.publish(reaction)
    return answer


async def change_settings(node: "Node", session: Session, command: wire.ChangeSettings) -> Done:
    if command.public:
        node.public_tables.check_place(session, command.table)
    answer = await act(node, session, command)
    if command.public:
        node.public_tables.take_place(session, command.table)
    return answer
