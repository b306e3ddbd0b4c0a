"""Records of finished races, for players and over HTTP, and their boards for the page's review.

Boards are replayed in a thread. All racers open the review when a race is over, so the boards of
the last races are kept, and requests for the same race wait for one replay.
"""

import asyncio
import gzip
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from saratoga_protocol.commands import GetRecord
from saratoga_protocol.events import Record
from saratoga_server.background_tasks import BackgroundTasks
from saratoga_server.domain import replays
from saratoga_server.domain.open_races import is_open_id
from saratoga_server.domain.tables import CommandRejected, TablePhase, TableState
from saratoga_server.live.session import Session

if TYPE_CHECKING:
    from saratoga_server.node import Node

MOST_WAITING: Final = 8
"""The most races that are being replayed or wait for it; a record has up to two megabytes."""

MOST_KEPT: Final = 8 * 1024 * 1024
"""The most bytes of compressed boards that are kept."""

LoadRecord = Callable[[str], Awaitable[str]]
"""A function that returns the record of a finished race. Raises `CommandRejected`."""


class Replay(Struct, frozen=True):
    """The boards of a race as compressed JSON."""

    compressed: bytes
    tag: str
    """A hash of the JSON."""


class TooManyReplays(Exception):
    """Too many races are being replayed, or the node is stopping: try again later."""


class Replays:
    """The boards of finished races."""

    def __init__(self, load_record: LoadRecord, background_tasks: BackgroundTasks) -> None:
        self._load_record = load_record
        self._background_tasks = background_tasks
        self._kept: OrderedDict[bytes, Replay] = OrderedDict()
        """The boards by the record's hash, the ones asked for longest ago first."""
        self._replaying: dict[bytes, asyncio.Future[Replay]] = {}
        self._one_at_a_time = asyncio.Lock()
        self._is_stopping = False

    def stop(self) -> None:
        """Refuse the replays that have not begun."""
        self._is_stopping = True

    async def boards(self, race: str) -> Replay:
        """Return the boards of a finished race.

        Raises `CommandRejected`, `CannotReplay` and `TooManyReplays`.
        """
        text = await self._load_record(race)
        record = hashlib.sha256(text.encode()).digest()
        kept = self._kept.get(record)
        if kept is not None:
            self._kept.move_to_end(record)
            return kept
        replaying = self._replaying.get(record)
        if replaying is None:
            if len(self._replaying) >= MOST_WAITING:
                raise TooManyReplays
            replaying = self._replaying[record] = asyncio.get_running_loop().create_future()
            self._background_tasks.spawn(self._replay(record, text, replaying))
        # a caller that gives up leaves the replay to the others
        return await asyncio.shield(replaying)

    async def _replay(self, record: bytes, text: str, done: asyncio.Future[Replay]) -> None:
        try:
            async with self._one_at_a_time:
                if self._is_stopping:
                    raise TooManyReplays
                replay = await asyncio.to_thread(_replayed, text)
        except Exception as fault:  # every caller gets it; nobody may be waiting any more
            done.set_exception(fault)
            done.exception()
        else:
            self._keep(record, replay)
            done.set_result(replay)
        finally:
            del self._replaying[record]
            done.cancel()

    def _keep(self, record: bytes, replay: Replay) -> None:
        self._kept[record] = replay
        while sum(len(each.compressed) for each in self._kept.values()) > MOST_KEPT:
            self._kept.popitem(last=False)


def _replayed(text: str) -> Replay:
    body = replays.replay_json(text)
    return Replay(gzip.compress(body, 6, mtime=0), hashlib.sha256(body).hexdigest()[:20])


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
