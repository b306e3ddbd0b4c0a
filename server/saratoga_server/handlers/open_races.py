"""Open races: entering one, opening a challenge, and looking at one."""

import asyncio
import secrets
from typing import TYPE_CHECKING

from saratoga_protocol.commands import CreateChallenge, EnterOpen, GetOpen
from saratoga_protocol.events import Day, OpenRaceShown, Snapshot
from saratoga_rules.dealing.fairness import SEED_BYTES
from saratoga_rules.games import GAMES
from saratoga_rules.records.record import RecordError, parse_record
from saratoga_rules.records.replay import ReplayError
from saratoga_rules.records.standing import State
from saratoga_server.domain import open_races
from saratoga_server.domain.open_races import DAY, MOST_RUNS, OpenState, date_of
from saratoga_server.domain.table_codes import table_code
from saratoga_server.domain.tables import CommandRejected
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS
from saratoga_server.domain.tables.state import listed
from saratoga_server.handlers import records, seats
from saratoga_server.limits import Action
from saratoga_server.live.refusals import too_much, unknown_player
from saratoga_server.live.session import Session
from saratoga_server.live.tables import LiveTable
from saratoga_server.ports import Millis, Run
from saratoga_server.store.tables import NotSaved

if TYPE_CHECKING:
    from saratoga_server.node import Node


async def get(node: "Node", session: Session, command: GetOpen) -> OpenRaceShown:
    """Return an open race as the player may see it. Raises `CommandRejected`."""
    return await _shown(node, session, command.id, await node.open_races.get(command.open))


async def _shown(node: "Node", session: Session, re: int, race: OpenState) -> OpenRaceShown:
    days = []
    if race.kind == DAY:
        ahead = await node.open_races.days(race.game, date_of(open_races.starts(race)))
        days = [Day(open=each.id, commitment=each.commitment) for each in ahead]
    return OpenRaceShown(re=re, open=await node.open_races.shown(race, session.player), days=days)


async def challenge(node: "Node", session: Session, command: CreateChallenge) -> OpenRaceShown:
    """Open a challenge, on a fresh deal or on that of a race. Raises `CommandRejected`."""
    name, now = seats.check_named(session), node.clock.now()
    if command.game not in GAMES:
        raise CommandRejected("no_such_game", f"Choose from {listed(GAMES)}.")
    if wait := session.quota.take(Action.TABLE):
        raise too_much("You opened too many tables.", wait)
    race_id = open_races.challenge_id(session.player, command.key)
    if command.race is None:
        seed = secrets.token_bytes(SEED_BYTES)
        race = open_races.challenge(race_id, command.game, seed, session.player, name, now)
    else:
        text = await records.record(node, command.race)
        try:
            race = await asyncio.to_thread(
                lambda: open_races.known_deal(race_id, parse_record(text), session.player, now)
            )
        except KeyError:
            raise CommandRejected("not_racing", "You have not raced on that deal.") from None
        except (RecordError, ReplayError, StopIteration, ValueError):
            raise CommandRejected("no_such_race", "That race has no results.") from None
    return await _shown(node, session, command.id, await node.store.open_races.open(race))


async def enter(node: "Node", session: Session, command: EnterOpen) -> Snapshot:
    """Begin a run or come back to it; return its table's snapshot. Raises `CommandRejected`."""
    seats.check_named(session)
    race = await node.open_races.get(command.open)
    if race.ghost is not None and race.by == session.player:
        raise CommandRejected("entered")
    run = await node.store.open_races.run(race.id, session.player)
    if run is None:
        opened = await _begin(node, session, race)
        if isinstance(opened, LiveTable):
            return await seats.seated(node, session, command.id, opened, opened.state.epoch)
        if opened is not NotSaved.ENTERED:
            raise await seats.sits_elsewhere(node, session)
        run = await node.store.open_races.run(race.id, session.player)
    if run is None:
        raise CommandRejected("open_closed")
    if run.state != State.RACING:
        raise CommandRejected("entered")
    return await seats.sit_down(node, session, command.id, run.table)


async def _begin(node: "Node", session: Session, race: OpenState) -> LiveTable | NotSaved:
    """Open the table of a run, or return why it was not written. Raises `CommandRejected`."""
    now, name = node.clock.now(), seats.check_named(session)
    if now >= race.closes:
        raise CommandRejected("open_closed")
    if now < open_races.starts(race):
        raise CommandRejected("no_such_open", "That deal can be run when its day has come.")
    if wait := session.quota.take(Action.ENTRY):
        raise too_much("Too many runs were begun from your address.", wait)
    runs = await node.store.open_races.runs(race.id)
    if len(runs) >= MOST_RUNS:
        raise CommandRejected("open_closed", f"{MOST_RUNS} players have run that deal; it is full.")
    row = await node.store.players.load_player(session.player)
    if row is None:
        raise unknown_player()
    for _ in range(seats.ATTEMPTS):
        entry = Run(
            player=session.player,
            name=name,
            bot=session.bot,
            young=race.kind == DAY and row.created >= open_races.starts(race),
            table=table_code(secrets.randbelow),
            started=Millis(node.clock.now() + COUNTDOWN_MILLIS),
        )
        table = open_races.run_table(
            race,
            entry,
            ghosts=open_races.ghosts_for(race, runs, session.player),
            node=node.name,
            hello=session.hello,
        )
        opened = await node.tables.open(table, entry=entry)
        if opened is not NotSaved.CHANGED:
            return opened
    raise CommandRejected("store_unavailable", "The server found no free table code. Try again.")
