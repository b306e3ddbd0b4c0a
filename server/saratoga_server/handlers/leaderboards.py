"""Handlers of the leaderboard commands."""

from saratoga_protocol.commands import (
    GetLeaderboard,
    SubscribeLeaderboard,
    UnsubscribeLeaderboard,
)
from saratoga_protocol.events import Done, Leaderboard
from saratoga_server.live.leaderboards import Leaderboards
from saratoga_server.live.session import Session


class LeaderboardHandlers:
    """The handlers of queries and subscriptions of leaderboards."""

    def __init__(self, leaderboards: Leaderboards) -> None:
        self._leaderboards = leaderboards

    async def get_leaderboard(self, session: Session, command: GetLeaderboard) -> Leaderboard:
        """Return a page of a leaderboard. Raises `CommandRejected`."""
        return await self._leaderboards.page(command, session.player)

    async def subscribe(self, session: Session, command: SubscribeLeaderboard) -> Leaderboard:
        """Return the page, and send it whenever it changes. Raises `CommandRejected`."""
        return await self._leaderboards.follow(session, command)

    async def unsubscribe(self, session: Session, command: UnsubscribeLeaderboard) -> Done:
        self._leaderboards.unfollow(session)
        return Done(re=command.id)
