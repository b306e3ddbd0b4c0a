"""A server with one leaderboard, one table and its finished race, for tests of HTTP."""

import asyncio
import gzip

from saratoga_protocol.commands import GetLeaderboard
from saratoga_protocol.events import Leaderboard
from saratoga_protocol.leaderboard_rows import LeaderboardRow
from saratoga_server.domain.replays import CannotReplay
from saratoga_server.domain.tables import CommandRejected
from saratoga_server.handlers.replays import Replay
from saratoga_server.node import Node

BOARDS = Replay(gzip.compress(b'{"boards":[]}'), "0a1b2c")


class FakePublicServer(Node):
    """A server with one leaderboard and one finished race."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.fault: Exception | None = None
        self.stalls = False
        self.asked: list[GetLeaderboard] = []

    async def why_not_ready(self) -> str | None:
        return self.reason

    async def leaderboard(self, query: GetLeaderboard) -> Leaderboard:
        self.asked.append(query)
        if self.fault is not None:
            raise self.fault
        if self.stalls:
            await asyncio.Event().wait()
        if query.game != "canfield":
            raise CommandRejected("no_such_game")
        return Leaderboard(
            re=query.id,
            game=query.game,
            ranking=query.ranking,
            period=query.period,
            key="2026-09-01",
            bots=query.bots,
            total=1,
            offset=query.offset,
            rows=[LeaderboardRow(rank=1, player="p" * 16, name="Zoë", value=52)],
        )

    async def record(self, race: str) -> str:
        if race == "mint-otter-42/1":
            return "record of Zoë\n"
        raise CommandRejected("race_running" if race == "mint-otter-42/2" else "no_such_race")

    async def replay(self, race: str) -> Replay:
        if race == "mint-otter-42/4":
            raise CannotReplay("That race was voided.")
        if self.stalls:
            await asyncio.Event().wait()
        await self.record(race)
        return BOARDS

    async def has_table(self, code: str) -> bool:
        return code == "mint-otter-42"

    async def has_race(self, race: str) -> bool:
        return race == "mint-otter-42/1"
