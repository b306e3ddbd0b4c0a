"""The boards of finished races for the page's review: replayed in a thread and kept.

All racers open the review when a race is over, so the boards of the last races are kept, and
requests for the same race wait for one replay.
"""

import asyncio
import gzip
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final

from msgspec import Struct

from saratoga_server.background_tasks import BackgroundTasks
from saratoga_server.domain import replays

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
