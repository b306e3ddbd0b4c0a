"""Handlers of `hello` and `claim_name`."""

import hashlib
from typing import TYPE_CHECKING, Final

from saratoga_protocol.commands import ClaimName, Hello, player_id
from saratoga_protocol.events import NameClaimed, Welcome
from saratoga_protocol.refusals import ABUSE, TAKEN_OVER
from saratoga_rules.games import GAMES
from saratoga_server.domain import tables
from saratoga_server.domain.tables import CommandRejected
from saratoga_server.domain.usernames import BadName, checked_name
from saratoga_server.limits import MAX_CONNECTIONS_PER_PLAYER, Action
from saratoga_server.live.refusals import too_much, unknown_player
from saratoga_server.live.session import Session
from saratoga_server.ports import PlayerRow
from saratoga_server.store.news import PlayerChanged
from saratoga_server.store.players import NotClaimed

if TYPE_CHECKING:
    from saratoga_server.node import Node

TOKEN_TAG: Final = b"saratoga token"
MOST_REFUSED: Final = 5
"""Refused `hello` commands after which a connection is closed."""


def token_hash(token: str) -> str:
    """Return the hash of a token that the store keeps."""
    return hashlib.sha256(TOKEN_TAG + bytes.fromhex(token)).hexdigest()


async def hello(node: "Node", session: Session, command: Hello) -> Welcome:
    """Identify the connection's player and return the answer. Raises `CommandRejected`.

    After `MOST_REFUSED` refused `hello` commands the connection is closed.
    """
    if wait := session.quota.wait(Action.HELLO_REFUSED):
        raise too_much("Too many failed attempts from your address to identify a player.", wait)
    try:
        return await _welcome(node, session, command)
    except CommandRejected as refusal:
        session.refused_hellos += 1
        if not refusal.retry:
            session.quota.take(Action.HELLO_REFUSED)
        if session.refused_hellos >= MOST_REFUSED:
            session.connection.leave(ABUSE)
        raise


async def _welcome(node: "Node", session: Session, command: Hello) -> Welcome:
    if session.player:
        raise CommandRejected("hello_twice")
    player, secret = player_id(command.token), token_hash(command.token)
    row = await node.store.players.meet_player(player)
    wants_name = command.name is not None and (row is None or row.name is None)
    if row is None and (wait := session.quota.wait(Action.NEW_PLAYER)):
        raise too_much("Too many new players come from your address.", wait)
    if wants_name:
        _count_name(session)
    if row is None:
        if command.name is not None:
            _, skeleton = _checked(command.name)  # before a new player is stored
            if await node.store.players.find_player(skeleton) is not None:
                raise CommandRejected("name_taken")
        session.quota.take(Action.NEW_PLAYER)
        now = node.clock.now()
        row = await node.store.players.create_player(
            PlayerRow(player=player, token_hash=secret, bot=command.bot, created=now, hello=now)
        )
    if row.token_hash != secret:
        raise CommandRejected("wrong_token")
    if row.banned:
        raise CommandRejected("banned")
    name = row.name
    if command.name is not None and name is None:
        name = await _claim(node, player, command.name)
    session.player, session.name, session.bot = player, name, row.bot
    session.level = command.level if row.bot else ""
    session.hello = row.hello
    session.legal = command.legal
    session.home = row.table
    session.quota.authenticated(player)
    _make_room(node, session)
    return Welcome(
        re=command.id,
        player=player,
        name=name,
        bot=row.bot,
        now=node.clock.now(),
        server=node.program,
        node=node.name,
        games=list(GAMES),
        table=row.table,
        owner=player == node.owner,
        durability=node.store.durability,
    )


def _make_room(node: "Node", session: Session) -> None:
    """Close one of the player's other connections on this node if there are too many.

    That is the oldest without a seat, or else the oldest.
    """
    others = [
        each
        for each in node.broadcaster.sessions_of(session.player)
        if each is not session and each.connection.is_open
    ]
    if len(others) >= MAX_CONNECTIONS_PER_PLAYER:
        least = min(others, key=lambda each: (each.seat is not None, each.number))
        least.connection.close(TAKEN_OVER)


async def claim_name(node: "Node", session: Session, command: ClaimName) -> NameClaimed:
    """Give the player a name, or change it, and return the answer. Raises `CommandRejected`."""
    _count_name(session)
    player = session.player
    name = await _claim(node, player, command.name)
    for each in node.broadcaster.sessions_of(player):
        each.name = name
    await _rename_at_table(node, player, name)
    await node.store.events.publish(PlayerChanged(player))
    return NameClaimed(re=command.id, name=name)


async def _rename_at_table(node: "Node", player: str, name: str) -> None:
    row = await node.store.players.load_player(player)
    if row is None or row.table is None:
        return

    try:
        await node.tables.change(row.table, lambda state, now: tables.rename(state, player, name))
    except CommandRejected as refusal:
        if refusal.code != "no_such_table":  # otherwise the table has been deleted
            raise


async def _claim(node: "Node", player: str, wanted: str) -> str:
    """Give the player the name and return it. Raises `CommandRejected`."""
    name, skeleton = _checked(wanted)
    match await node.store.players.claim_name(player, name, skeleton):
        case NotClaimed.TAKEN:
            raise CommandRejected("name_taken")
        case NotClaimed.GONE:
            raise unknown_player()
    return name


def _count_name(session: Session) -> None:
    if wait := session.quota.take(Action.NAME):
        raise too_much("You requested too many names.", wait)


def _checked(wanted: str) -> tuple[str, str]:
    """Return the normalised name and its skeleton. Raises `CommandRejected`."""
    try:
        return checked_name(wanted)
    except BadName as error:
        raise CommandRejected("bad_name", str(error)) from None
