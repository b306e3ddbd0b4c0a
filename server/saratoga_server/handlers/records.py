"""Records of finished races, for players and over HTTP."""

from typing import TYPE_CHECKING

from saratoga_protocol.commands import GetRecord
from saratoga_protocol.events import Record
from saratoga_server.domain.open_races import is_open_id
from saratoga_server.domain.tables import CommandRejected, TablePhase, TableState
from saratoga_server.live.session import Session

if TYPE_CHECKING:
    from saratoga_server.node import Node


async def get_record(node: "Node", session: Session, command: GetRecord) -> Record:
    return Record(re=command.id, race=command.race, text=await record(node, command.race))


async def record(node: "Node", race: str) -> str:
    """Return the record of a finished race. Raises `CommandRejected`."""
    if is_open_id(race):
        return await node.open_races.record(race)
    code, _, number = race.partition("/")
    text = await node.store.tables.load_record(code, int(number))
    if text is not None:
        return text
    state = (await node.tables.get(code)).state
    if state.race == int(number) and state.phase is not TablePhase.CLOSED:
        raise CommandRejected(
            "race_running", "That race is not over yet. Its record opens when it is."
        )
    raise CommandRejected("no_such_race")


async def table(node: "Node", code: str) -> TableState | None:
    """Return the open table with this code, if there is one."""
    state = await _state(node, code)
    return None if state is None or state.phase is TablePhase.CLOSED else state


async def has_race(node: "Node", race: str) -> bool:
    """Return whether a race with this id has been gathered; its record may not be open yet."""
    code, _, number = race.partition("/")
    state = await _state(node, code)
    return state is not None and int(number) <= state.race


async def _state(node: "Node", code: str) -> TableState | None:
    try:
        return (await node.tables.get(code)).state
    except CommandRejected:
        return None
