"""The par of finished races: searched for in a process, one at a time, and kept in memory.

Every node finds the same line for a deal, so nothing is stored: after a restart it is searched for
again.
"""

import asyncio
import gc
import os
import sys
from asyncio.subprocess import PIPE, Process
from typing import TYPE_CHECKING, Final

from saratoga_protocol.commands import GetPar
from saratoga_protocol.events import Par
from saratoga_rules.par import par
from saratoga_rules.records.record import parse_record
from saratoga_rules.records.replay import game_of
from saratoga_server.domain.tables import CommandRejected
from saratoga_server.live.refusals import too_much
from saratoga_server.live.session import Session
from saratoga_server.logs import EventLog

if TYPE_CHECKING:
    from saratoga_server.node import Node

MOST_WAITING: Final = 8
"""The most races whose par is searched for or waits for its search, which takes a few seconds."""

MOST_KEPT: Final = 1000
"""The most races whose par is kept; a line takes about two kilobytes."""

ASK_AGAIN: Final = 2.0
"""Seconds after which to ask again for a par that is being searched for."""

log = EventLog("pars")


class Pars:
    """The pars of the races for which players have asked."""

    def __init__(self, node: "Node") -> None:
        self._node = node
        self._found: dict[str, tuple[str, ...]] = {}
        """By race, the oldest first: the count and the moves of its par; empty if it has none."""
        self._waiting: set[str] = set()
        self._one_at_a_time = asyncio.Lock()
        self._process: Process | None = None
        self._is_stopping = False

    async def get(self, session: Session, command: GetPar) -> Par:
        """Return the par of a race that is over. Raises `CommandRejected`.

        A par that is not there yet is refused with `too_fast` and searched for meanwhile, so that
        no connection waits for it.
        """
        race = command.race
        found = self._found.get(race)
        if found is None:
            if race not in self._waiting:
                text = await self._node.record(race)
                if len(self._waiting) >= MOST_WAITING:
                    raise too_much("The server searches for the par of many races.", ASK_AGAIN)
                if race not in self._waiting:
                    self._waiting.add(race)
                    self._node.background_tasks.spawn(self._find(race, text))
            raise too_much("The server searches for the par of that race.", ASK_AGAIN)
        if not found:
            raise CommandRejected("no_such_race", "That race has no par.")
        return Par(re=command.id, race=race, banked=int(found[0]), moves=list(found[1:]))

    def stop(self) -> None:
        """End the search that runs, and begin no other."""
        self._is_stopping = True
        if self._process is not None:
            self._process.kill()

    async def _find(self, race: str, text: str) -> None:
        """Find the par of the race with this record and keep it, or an empty one."""
        try:
            async with self._one_at_a_time:
                found = () if self._is_stopping else await self._search(text)
            self._found[race] = found
            if len(self._found) > MOST_KEPT:
                del self._found[next(iter(self._found))]
        finally:
            self._waiting.discard(race)

    async def _search(self, text: str) -> tuple[str, ...]:
        """Return the words that the process writes; none if it fails."""
        process = self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "saratoga_server.live.pars"),
            stdin=PIPE,
            stdout=PIPE,
            start_new_session=True,  # Ctrl-C reaches only the server
        )
        try:
            if self._is_stopping:
                return ()
            output, _ = await process.communicate(text.encode())
        finally:
            self._process = None
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode and not self._is_stopping:
            log.warning("par_failed", status=process.returncode)
        return tuple(output.decode().split())


def main() -> None:
    """Search for par in a process of its own: a record in, `BANKED MOVE MOVE ..` out."""
    os.nice(10)
    gc.disable()  # a search keeps all that it makes
    record = parse_record(sys.stdin.read())
    try:
        game, deal = game_of(record), record.opening
    except ValueError:  # of a game that this server does not know: no par
        return
    line = par(game, deal)
    sys.stdout.write(f"{line.banked} {' '.join(map(str, line.moves))}\n")


if __name__ == "__main__":
    main()
