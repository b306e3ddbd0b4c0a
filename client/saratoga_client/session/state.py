"""An evening at a table as its player lives it: the table, one's own board, the news, the clock.

Pure: no I/O, no clock. `now` is always the house's clock in milliseconds (`TableSession.now()`), so that
what is shown as time left is what the house will hold one to, through every lost connection.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, NamedTuple

from saratoga_client.net.link_state import LinkState
from saratoga_client.sanitised import sanitised
from saratoga_client.session.feed import (
    Feed,
    FeedLine,
    RaceMoment,
    Tone,
    first_feed,
    next_feed,
    with_line,
)
from saratoga_client.session.own_board import (
    OwnBoard,
    taken_up,
    with_board,
)
from saratoga_client.session.personal_best import PersonalBest
from saratoga_client.session.table_view import TableView, rows
from saratoga_client.session.table_view import first_view as first_picture
from saratoga_client.session.table_view import next_view as next_picture
from saratoga_protocol import events
from saratoga_protocol.events import AnyEvent, BoardView
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES

MOST_POINTS: Final = 400
"""Of one racer in the chart; then every second one is dropped."""


class Moment(NamedTuple):
    """A racer's count as it was heard."""

    at: int
    """Milliseconds from the start."""
    banked: int


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of checking a finished race on this machine."""

    ok: bool
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """All that a player knows."""

    player: str
    """One's own id; who only watches has one too."""
    table_view: TableView
    link: LinkState = LinkState.CONNECTED
    round_trip_ms: int | None = None
    """There and back to the house, when last measured."""
    own: OwnBoard | None = None
    """From the deal until the next gathering; `None` for who sits the race out."""
    news: Feed = field(default_factory=Feed)
    history: Mapping[str, tuple[Moment, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Every racer's count over the present race, as heard live."""
    alarms: tuple[str, ...] = ()
    """Where the house's words do not agree: to be shown loudly, and kept."""
    announcement: str = ""
    """The last word of whoever runs the house."""
    best: PersonalBest | None = None
    """Of this game, on this machine; at the results the new one if there is one."""
    is_new_best: bool = False
    verifications: Mapping[str, Verification] = field(default_factory=lambda: MappingProxyType({}))
    """By race, as soon as it is checked."""
    gone: str = ""
    """Why the seat is gone; empty while it is there."""

    @property
    def feed(self) -> tuple[FeedLine, ...]:
        """The news of the present race, oldest first."""
        return self.news.lines

    @property
    def table(self) -> events.Table:
        return self.table_view.table

    @property
    def phase(self) -> str:
        """`gathering`, `countdown`, `running`, `over` or `closed`."""
        return self.table_view.table.phase

    @property
    def game(self) -> Game | None:
        """`None`: a game of a newer house, which this program does not know."""
        return GAMES.get(self.table_view.table.settings.game)

    @property
    def is_host(self) -> bool:
        return self.table.host == self.player

    @property
    def seat(self) -> events.Seat | None:
        """One's own; `None` for who only watches."""
        return next((seat for seat in self.table.seats if seat.player == self.player), None)

    @property
    def start_at(self) -> int:
        """When the race starts or has started; 0: not known yet."""
        return self.own.start_at if self.own is not None else self.table.start_at

    @property
    def deadline(self) -> int:
        """When the cap ends the race; 0: it has none, or is not on."""
        return self.own.deadline if self.own is not None else self.table.deadline


def first_state(player: str, snapshot: events.Snapshot) -> SessionState:
    """The evening that a snapshot gives by itself; `ValueError` if its board is none."""
    evening = SessionState(player=player, table_view=first_picture(snapshot, snapshot.now))
    evening = _with_own(evening, snapshot)
    look = _look(evening, snapshot.now)
    return _with_history(replace(evening, news=first_feed(look)), look)


def next_state(evening: SessionState, event: AnyEvent, now: int) -> SessionState:
    """The evening after an event of this table; other events leave it as it is."""
    before = evening
    match event:
        case events.Announcement(text=text):
            return replace(evening, announcement=sanitised(text))
        case events.SeatLost(table=code, reason=reason) if code == evening.table.code:
            return replace(evening, gone=sanitised(reason) or "The seat is gone.")
        case events.Dealt(board=board) if board.race == evening.table.race:
            evening = _dealt(evening, event)
        case events.BoardEnded(board=board):
            evening = confirm(evening, board)
        case _:
            picture = next_picture(evening.table_view, event, getattr(event, "now", now))
            if picture is evening.table_view:
                return evening
            evening = _turned(replace(evening, table_view=picture), event)
    return _with_news(before, evening, now)


def confirm(evening: SessionState, board: BoardView, is_final_word: bool = False) -> SessionState:
    """The evening after the house has shown one's board."""
    if evening.own is None:
        return evening
    own, outcome = with_board(evening.own, board, is_final_word), evening.table_view.outcome
    if own.is_racing and outcome is not None:
        # an answer that was on its way does not bring the board to life again
        own = _as_in(own, evening.player, outcome)
    return replace(evening, own=own)


def link_changed(evening: SessionState, link: LinkState, now: int) -> SessionState:
    """The evening after a turn of the connection."""
    if link is evening.link:
        return evening
    news = evening.news
    if evening.phase == "running":
        at = max(0, now - evening.start_at)
        if link is LinkState.RECONNECTING:
            news = with_line(news, at, "connection lost; trying again", Tone.LINK)
        elif link is LinkState.CONNECTED:
            news = with_line(news, at, "connected again", Tone.LINK)
    # whatever was announced, it was this that happened
    word = "" if link is LinkState.CONNECTED else evening.announcement
    return replace(evening, link=link, news=news, announcement=word)


class RaceClock(NamedTuple):
    """The time of a race, in milliseconds."""

    until_start: int
    """0 from the start on."""
    elapsed: int
    left: int | None
    """`None`: the race has no cap, or none is running."""


def race_clock(evening: SessionState, now: int) -> RaceClock:
    """The race's time at `now`."""
    start, deadline = evening.start_at, evening.deadline
    if evening.phase not in ("countdown", "running") or not start:
        return RaceClock(0, 0, None)
    left = max(0, deadline - max(now, start)) if deadline else None
    return RaceClock(max(0, start - now), max(0, now - start), left)


def disconnected_players(table: events.Table) -> frozenset[str]:
    """Who has a seat and no connection."""
    return frozenset(seat.player for seat in table.seats if not seat.connected)


# Subscriptions


def _turned(evening: SessionState, event: AnyEvent) -> SessionState:
    """The table has changed, or has been shown whole."""
    if evening.phase in ("gathering", "countdown"):
        return replace(
            evening, own=None, news=Feed(), history=MappingProxyType({}), is_new_best=False
        )
    if isinstance(event, events.Snapshot):
        evening = _with_own(evening, event)
    own, table = evening.own, evening.table
    if own is not None and table.race != own.race:
        return replace(evening, own=None)
    if own is not None and evening.table_view.outcome is not None and own.is_racing:
        return replace(evening, own=_as_in(own, evening.player, evening.table_view.outcome))
    return evening


def _with_own(evening: SessionState, snapshot: events.Snapshot) -> SessionState:
    """The board as the snapshot has it: what was thought before is of no account."""
    table, board, game = snapshot.table, snapshot.board, evening.game
    if board is None or game is None or board.race != table.race:
        own = evening.own
        return evening if own is not None and own.race == table.race else replace(evening, own=None)
    if evening.own is not None and evening.own.race == board.race:
        return confirm(evening, board, is_final_word=True)
    return replace(evening, own=taken_up(board, game, table.start_at, table.deadline))


def _dealt(evening: SessionState, event: events.Dealt) -> SessionState:
    game = evening.game
    if game is None:
        return evening
    own = evening.own
    if own is None or own.race != event.board.race:
        own = taken_up(event.board, game, event.start_at, event.deadline)
    own = replace(with_board(own, event.board), start_at=event.start_at, deadline=event.deadline)
    return replace(evening, own=own)


def _as_in(own: OwnBoard, player: str, outcome: events.Outcome) -> OwnBoard:
    """The race is over, so the board is, even if nobody said so.

    Whether the moves in flight were still made, their answers tell.
    """
    state = next((each.state for each in outcome.results if each.player == player), own.state)
    return replace(own, state=state, awaited=False, is_cashing_out=False)


# Telling


def _look(evening: SessionState, now: int) -> RaceMoment:
    table = evening.table
    host = next((seat.name for seat in table.seats if seat.player == table.host), "")
    return RaceMoment(
        at=max(0, now - evening.start_at) if evening.start_at else 0,
        you=evening.player,
        rows=rows(evening.table_view),
        away=disconnected_players(table),
        host=table.host,
        host_name=host,
    )


def _with_news(before: SessionState, evening: SessionState, now: int) -> SessionState:
    if evening.phase not in ("running", "over") or not evening.table_view.standings:
        return evening
    look = _look(evening, now)
    if before.phase not in ("running", "over") or not before.table_view.standings:
        evening = replace(evening, news=replace(evening.news, host=look.host, away=look.away))
    return _with_history(replace(evening, news=next_feed(evening.news, look)), look)


def _with_history(evening: SessionState, look: RaceMoment) -> SessionState:
    history = dict(evening.history)
    for row in look.rows:
        known = history.get(row.player, ())
        if known and known[-1].banked == row.banked:
            continue
        if len(known) >= MOST_POINTS:
            known = known[::2]
        history[row.player] = (*known, Moment(look.at, row.banked))
    return replace(evening, history=MappingProxyType(history))
