"""What is kept across races, as players ask for it: leaderboards and records."""

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Struct, field

from saratoga_protocol.commands import (
    GetLeaderboard,
    GetRecord,
    SubscribeLeaderboard,
    UnsubscribeLeaderboard,
)
from saratoga_protocol.events import Done, Leaderboard, LeaderboardRow, Record
from saratoga_rules.games import GAMES
from saratoga_server.clock import ServerClock
from saratoga_server.domain.periods import periods
from saratoga_server.domain.tables import Phase, Refusal
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.session import Session
from saratoga_server.live.table_cache import TableCache
from saratoga_server.metrics.counters import Metrics
from saratoga_server.ports import (
    BoardKey,
    LeaderboardStore,
    PlayerStore,
    RankedRow,
    Settlement,
    TableStore,
)

PERIODS: Final = ("day", "week", "month", "all")
SETTLED_AT_ONCE: Final = 64
OTHERS_EVERY: Final = 5
"""Looks between two at pages that only another node can have changed."""


class PageReads(Struct):
    """What was read for one look at the leaderboards, and need not be read again for it."""

    stretches: dict[tuple[BoardKey, int, int], tuple[int, list[RankedRow]]] = field(
        default_factory=dict
    )
    """By leaderboard, offset and limit."""
    asked: set[str] = field(default_factory=set)
    """Players whose names were asked for; some have none any more."""
    names: dict[str, str] = field(default_factory=dict)


class LeaderboardHandlers:
    """Serves leaderboards and records, and settles finished races."""

    def __init__(
        self,
        leaderboards: LeaderboardStore,
        tables: TableStore,
        players: PlayerStore,
        table_cache: TableCache,
        broadcaster: Broadcaster,
        clock: ServerClock,
        metrics: Metrics,
    ) -> None:
        self._leaderboards = leaderboards
        self._tables = tables
        self._players = players
        self._table_cache = table_cache
        self._broadcaster = broadcaster
        self._clock = clock
        self._metrics = metrics
        self._changed: set[str] = set()
        self._looks = 0
        self.on_settled: Callable[[list[str]], None] | None = None
        """Told of the games to whose leaderboards results have come."""
        self._shown: dict[Session, Leaderboard] = {}

    # Leaderboards

    async def get_leaderboard(self, session: Session, command: GetLeaderboard) -> Leaderboard:
        """A page of a leaderboard; raises `Refusal`."""
        return await self.page(command, session.player)

    async def subscribe(self, session: Session, command: SubscribeLeaderboard) -> Leaderboard:
        """The page now, and whenever it changes."""
        page = await self.page(command, session.player)
        session.leaderboard = command
        self._shown[session] = msgspec.structs.replace(page, re=None)
        return page

    async def unsubscribe(self, session: Session, command: UnsubscribeLeaderboard) -> Done:
        self.forget(session)
        return Done(re=command.id)

    def forget(self, session: Session) -> None:
        """The connection follows no leaderboard any more."""
        session.leaderboard = None
        self._shown.pop(session, None)

    async def page(self, query: GetLeaderboard, player: str = "") -> Leaderboard:
        """The page that `query` asks for, with the row of `player`; raises `Refusal`."""
        return await self._page(query, player, PageReads())

    async def _page(self, query: GetLeaderboard, player: str, look: PageReads) -> Leaderboard:
        if query.game not in GAMES:
            raise Refusal("no_such_leaderboard", f"There is no game {query.game!r}.")
        period = periods(self._clock.now())[PERIODS.index(query.period)]
        key = BoardKey(game=query.game, ranking=query.ranking, period=period.name, bots=query.bots)
        own = await self._leaderboards.row(key, player) if player else None
        offset = query.offset
        if query.around_me and own is not None:
            offset = max(0, own.rank - 1 - query.limit // 2)
        stretch = (key, offset, query.limit)
        if stretch not in look.stretches:
            look.stretches[stretch] = await self._leaderboards.page(*stretch)
        total, rows = look.stretches[stretch]
        wanted = {row.player for row in rows} | ({own.player} if own else set())
        if unknown := sorted(wanted - look.asked):
            look.names |= await self._players.load_names(unknown)
            look.asked |= wanted
        names = look.names
        return Leaderboard(
            re=query.id,
            game=query.game,
            ranking=query.ranking,
            period=query.period,
            key=period.name,
            bots=query.bots,
            total=total,
            offset=offset,
            rows=[_wire_row(row, names) for row in rows],
            me=None if own is None else _wire_row(own, names),
        )

    def leaderboard_changed(self, game: str) -> None:
        """Show the game's leaderboards again to those who follow them."""
        self._changed.add(game)

    async def tell_changes(self) -> None:
        """Send the followed pages that have changed; called once a second.

        What several follow is read once; each one's own row is a question of its own.
        """
        self._looks += 1
        changed, self._changed = self._changed, set()
        all_games = self._looks % OTHERS_EVERY == 0
        look = PageReads()
        for session in list(self._shown):
            query = session.leaderboard
            if query is None or not (all_games or query.game in changed):
                continue
            page = await self._page(query, session.player, look)
            page = msgspec.structs.replace(page, re=None)
            if self._shown.get(session) not in (None, page):
                self._shown[session] = page
                session.tell(page)

    async def settle(self) -> list[Settlement]:
        """Bring finished races from the outbox to the leaderboards."""
        settled = await self._leaderboards.settle_outbox(SETTLED_AT_ONCE)
        self._tell_settled(settled)
        return settled

    async def settle_unread(self) -> None:
        """Bring there too what an older node could not read, if this one can."""
        settled, self._metrics.unread_results = await self._leaderboards.settle_unread()
        self._tell_settled(settled)

    def _tell_settled(self, settled: list[Settlement]) -> None:
        games = sorted({each.game for each in settled})
        for game in games:
            self.leaderboard_changed(game)
        if games and self.on_settled is not None:
            self.on_settled(games)

    # Records

    async def get_record(self, session: Session, command: GetRecord) -> Record:
        return Record(re=command.id, race=command.race, text=await self.record(command.race))

    async def record(self, race: str) -> str:
        """The record of a finished race; raises `Refusal`."""
        code, _, number = race.partition("/")
        text = await self._tables.load_record(code, int(number))
        if text is not None:
            return text
        live_table = await self._table_cache.live_table(code)
        state = live_table.state
        if state.race == int(number) and state.phase is not Phase.CLOSED:
            raise Refusal("race_running", "That race is not over yet; its record opens then.")
        raise Refusal("no_such_race")


def _wire_row(row: RankedRow, names: dict[str, str]) -> LeaderboardRow:
    return LeaderboardRow(
        rank=row.rank,
        player=row.player,
        name=names.get(row.player, "(forgotten)"),
        value=row.value,
        net=row.net,
        elapsed=row.elapsed,
        race=row.race,
        races=row.races,
    )
