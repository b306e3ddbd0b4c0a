"""The state of a session at one table: the table, the player's own board, the news, the times.

Pure: no I/O and no clock. `now` is always the server's clock in milliseconds
(`TableSession.now()`), so the time left on the screen is the time that the server allows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from saratoga_client.net.errors import LinkState
from saratoga_client.session.history import PersonalBest
from saratoga_client.session.own_board import OwnBoard, own_board, with_board
from saratoga_client.session.table_view import (
    BEFORE_THE_RACE,
    RACE_PHASES,
    TableView,
    first_view,
    next_view,
    rows,
)
from saratoga_protocol import events
from saratoga_protocol.events import BoardView, Event
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES


class Kind(StrEnum):
    """The subject of news."""

    LOST = "lost"
    RESTORED = "restored"
    HOUSE = "house"
    VOIDED = "voided"
    NOTICE = "notice"
    ALARM = "alarm"
    REPORT = "report"
    JOINED = "joined"
    SEAT = "seat"
    HOST = "host"
    SETTINGS = "settings"
    PHASE = "phase"
    VOTE = "vote"
    SAID = "said"
    """A reaction of another player."""
    IDLE = "idle"
    TAKEN_BACK = "taken back"
    ALONE = "alone"
    BOARD_OVER = "board over"
    """The player's own board has ended."""
    ENDING = "ending"
    WON = "won"
    EVEN = "even"
    LEAD = "lead"
    PASS = "pass"  # noqa: S105 - on the road
    MILESTONE = "milestone"
    LAST_MINUTE = "last minute"
    RESULT = "result"


class News(NamedTuple):
    """One piece of news."""

    kind: Kind
    text: str
    about: str = ""
    """The id of the player or the race that it is about, if it is about one."""
    at: int | None = None
    """Milliseconds from the start of the race; `None` before it."""


MAX_NEWS: Final = 60
"""Maximum number of news kept; the oldest are dropped first."""


def newest(before: tuple[News, ...], after: tuple[News, ...]) -> tuple[News, ...]:
    """Return the news of `after` that follow those of `before`, of which some may be missing: old, or withdrawn."""
    known = set(map(id, before))
    at = next((at for at in reversed(range(len(after))) if id(after[at]) in known), -1)
    return after[at + 1 :]


def _nothing() -> Mapping[str, int]:
    return MappingProxyType({})


LONG_AGO: Final = -1_000_000
"""A time before every pause between news, in milliseconds from the start of the race."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the news of a race have told so far. Times are milliseconds from the start of the race."""

    leader: str = ""
    """The id of the racer last told as leading; empty without one."""
    leader_at: int = LONG_AGO
    """The time of the last news on the lead."""
    sides: Mapping[str, int] = field(default_factory=_nothing)
    """By rival's id: -1 if last told as ahead of the player, 1 if behind; absent if never either."""
    sides_at: Mapping[str, int] = field(default_factory=_nothing)
    """By rival's id: the time of the last news on passing."""
    milestones: Mapping[str, int] = field(default_factory=_nothing)
    """The last milestone told, in banked cards, by player id."""
    is_even: bool = False
    """True from the news on, or the first look, that found the player without a loss."""
    ended: frozenset[str] = frozenset()
    """Ids of the racers whose board has ended."""


FEWEST_SEATS: Final = 1
MOST_SEATS: Final = 16
"""The maximum number of seats at a table."""

MAX_POINTS: Final = 400
"""Maximum points per racer in the chart; above it every second point is dropped."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of checking a finished race on this machine."""

    ok: bool
    sentence: str
    is_alarm: bool = False
    """True if the record contradicts itself or what this machine saw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """All data that the player has about the table and the race."""

    player: str
    """The id of this program's player, who may also be a watcher."""
    table_view: TableView
    link: LinkState = LinkState.CONNECTED
    own: OwnBoard | None = None
    """The player's own board, from the deal to the next gathering; `None` for a non-racer."""
    news: tuple[News, ...] = ()
    """The latest news since the table was opened for the present race, the oldest first (`session/differ.py`)."""
    told: Told = field(default_factory=Told)
    history: Mapping[str, tuple[tuple[int, int], ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """The course of the racers' banked cards in the present race, by player id; of `MOST_SEATS`
    racers at most: milliseconds from the start, and the number from then on."""
    alarms: tuple[str, ...] = ()
    """Sentences on how the server contradicted itself, shown until the session ends."""
    announcement: str = ""
    """The latest announcement of the server's operator."""
    reaction: events.Reacted | None = None
    """The latest reaction at the table."""
    best: PersonalBest | None = None
    """The player's best result in this game on this machine, the present race included."""
    is_new_best: bool = False
    """True if the race that is over is better than the best before; a player's first race is no news."""
    verifications: Mapping[str, Verification] = field(default_factory=lambda: MappingProxyType({}))
    """The checks of the latest finished races, by race id, the newest last."""
    idle_since: int = 0
    """The server's time from which the player's idleness counts, as of the last snapshot; 0 if it does not count."""
    idle_until: int = 0
    """The server's time at which a warned player loses the board; 0 without a warning."""
    idle_left: int = 0
    """Seconds until a player who gives no sign of activity loses the board, or between races the
    host's place; 0: no warning yet."""
    server: str = ""
    """The address that printed commands have to name; empty if they go to this server anyway."""
    host_until: str = ""
    """The id of the race in which another player became host in place of this one; empty if none did."""
    seat_lost: str = ""
    """The reason why the seat is lost; empty while the player has it."""

    @property
    def table(self) -> events.Table:
        return self.table_view.table

    @property
    def phase(self) -> str:
        """The table's phase: `gathering`, `countdown`, `running`, `over` or `closed`."""
        return self.table_view.table.phase

    @property
    def game(self) -> Game | None:
        """The table's game; `None` if this program does not know it."""
        return GAMES.get(self.table_view.table.settings.game)

    @property
    def is_between_races(self) -> bool:
        """True while the table waits for its host: after a race, and while players get ready."""
        return self.phase in ("over", "gathering")

    @property
    def is_connected(self) -> bool:
        return self.link is LinkState.CONNECTED

    @property
    def is_host(self) -> bool:
        return self.table.host == self.player

    @property
    def seat(self) -> events.Seat | None:
        """The player's own seat; `None` for a watcher."""
        return next((seat for seat in self.table.seats if seat.player == self.player), None)

    @property
    def match(self) -> events.Match | None:
        """The match in progress, or the one that the race has ended."""
        return self.table_view.match

    @property
    def is_left_out(self) -> bool:
        """True if the player has a seat, and the race started without them."""
        return self.seat is not None and self.table.racer(self.player) is None

    @property
    def start_at(self) -> int:
        """The start of the race, in milliseconds since 1970 by the server's clock; 0 if unknown."""
        return self.own.start_at if self.own is not None else self.table.start_at

    @property
    def deadline(self) -> int:
        """The deadline, in milliseconds since 1970 by the server's clock; 0 without a time limit."""
        return self.own.deadline if self.own is not None else self.table.deadline


def first_state(player: str, snapshot: events.Snapshot) -> SessionState:
    """Return the initial state from a snapshot; raises `ValueError` if its board is invalid."""
    view, idle_since = first_view(snapshot), snapshot.now
    state = SessionState(player=player, table_view=view, idle_since=idle_since)
    return _with_history(_with_own(state, snapshot), snapshot.now)


def next_state(state: SessionState, event: Event, now: int) -> SessionState:
    """Return the state after an event; events of other tables change nothing."""
    before = state
    match event:
        case events.Announcement(text=text):
            return replace(state, announcement=text)
        case events.Reacted(table=code) if code == state.table.code:
            return replace(state, reaction=event)
        case events.SeatLost(table=code, reason=reason) if code == state.table.code:
            return replace(state, seat_lost=reason or "The seat is gone.")
        case events.BoardChanged(board=board, entries=[]) if board.race == state.table.race:
            state = _dealt(state, event)
        case events.BoardChanged(board=board, re=None, entries=[_, *_]):
            state = confirm(state, board)
        case _:
            view = next_view(state.table_view, event)
            if view is state.table_view:
                return state
            state = _after_table_change(replace(state, table_view=view), event)
            if before.is_host and not state.is_host:
                state = replace(state, host_until=state.table.race)
    return _with_history(state, now)


def confirm(state: SessionState, board: BoardView, is_final: bool = False) -> SessionState:
    """Return the state after the server has sent the player's board.

    With `is_final` the sent board counts even if more moves had been confirmed before.
    """
    if state.own is None:
        return state
    own, outcome = with_board(state.own, board, is_final), state.table_view.outcome
    if own.is_racing and outcome is not None:
        # A late answer does not reopen the board of a finished race.
        own = _ended_by(own, state.player, outcome)
    return replace(state, own=own)


def link_changed(state: SessionState, link: LinkState) -> SessionState:
    """Return the state after the connection was lost or restored."""
    if link is state.link:
        return state
    # An announced restart has happened by the time the connection is back.
    announcement = "" if link is LinkState.CONNECTED else state.announcement
    return replace(state, link=link, announcement=announcement)


class RaceClock(NamedTuple):
    """The time of a race, in milliseconds."""

    until_start: int
    """Milliseconds until the start; 0 after the start."""
    elapsed: int
    """Milliseconds since the start; 0 before the start."""
    left: int | None
    """Milliseconds until the deadline; before the start, the whole time limit.

    `None` if the race has no time limit, or if no race counts down or runs.
    """


def race_clock(state: SessionState, now: int) -> RaceClock:
    """Return the race's time at `now`."""
    start, deadline = state.start_at, state.deadline
    if state.phase not in RACE_PHASES or not start:
        return RaceClock(0, 0, None)
    left = max(0, deadline - max(now, start)) if deadline else None
    return RaceClock(max(0, start - now), max(0, now - start), left)


def disconnected_players(table: events.Table) -> frozenset[str]:
    """Return the ids of the players who have a seat and no connection."""
    return frozenset(seat.player for seat in table.seats if not seat.connected)


# The own board


def _after_table_change(state: SessionState, event: Event) -> SessionState:
    if isinstance(event, events.Snapshot):
        state = replace(state, idle_since=event.now)
    if state.phase in BEFORE_THE_RACE:
        return replace(
            state,
            own=None,
            history=MappingProxyType({}),
            is_new_best=False,
        )
    if isinstance(event, events.Snapshot):
        state = _with_own(state, event)
    own, table = state.own, state.table
    if own is not None and table.race != own.race:
        return replace(state, own=None)
    if own is not None and state.table_view.outcome is not None and own.is_racing:
        return replace(state, own=_ended_by(own, state.player, state.table_view.outcome))
    return state


def _with_own(state: SessionState, snapshot: events.Snapshot) -> SessionState:
    """Return the state with the snapshot's board; drop the moves in flight."""
    table, board, game = snapshot.table, snapshot.board, state.game
    if board is None or game is None or board.race != table.race:
        own = state.own
        return state if own is not None and own.race == table.race else replace(state, own=None)
    if state.own is not None and state.own.race == board.race:
        return confirm(state, board, is_final=True)
    return replace(state, own=own_board(board, game, table.start_at, table.deadline))


def _dealt(state: SessionState, event: events.BoardChanged) -> SessionState:
    game = state.game
    if game is None:
        return state
    own = state.own
    if own is None or own.race != event.board.race:
        own = own_board(event.board, game, event.start_at, event.deadline)
    own = replace(with_board(own, event.board), start_at=event.start_at, deadline=event.deadline)
    return replace(state, own=own)


def _ended_by(own: OwnBoard, player: str, outcome: events.Outcome) -> OwnBoard:
    """Return the own board as ended with the race, even if no event reported its end.

    The answers to the moves in flight may still confirm them.
    """
    state = next((each.state for each in outcome.results if each.player == player), own.state)
    return replace(own, state=state, awaited=False, is_cashing_out=False)


# The history


def _with_history(state: SessionState, now: int) -> SessionState:
    found = rows(state.table_view)
    if not found or state.phase not in ("running", "over"):
        return state
    at = max(0, now - state.start_at)
    history: dict[str, tuple[tuple[int, int], ...]] = {}
    for row in found[:MOST_SEATS]:
        known = state.history.get(row.player, ())
        if not known or known[-1][1] != row.banked:
            known = known[::2] if len(known) >= MAX_POINTS else known
            known = (*known, (at, row.banked))
        history[row.player] = known
    return replace(state, history=MappingProxyType(history))
