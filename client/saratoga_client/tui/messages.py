"""The news of a table on the message line of the screen that the player reads."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from saratoga_client.board_view.roles import Role
from saratoga_client.session.state import Kind, News, SessionState, newest
from saratoga_client.text import fitted
from saratoga_client.tui.base_screen import BaseScreen
from saratoga_client.wording import capitalised

if TYPE_CHECKING:
    from saratoga_client.tui.table_flow import TableFlow

WAITS: Final = 3_000
"""Milliseconds for which news wait for a free message line; then they are dropped."""

SHOWN: Final = 6_000
"""Milliseconds for which news of the moment are shown, unless another message comes."""

QUIET: Final = 2_000
"""Milliseconds after a lost connection in which news that wait are dropped: they are old."""

LONG: Final = 10_000
"""Milliseconds without a connection after which the message says that the server may have been closed."""

LONG_LOST: Final = "Still no connection; the server may have been closed. Trying again; q leaves."

URGENT: Final[Mapping[Kind, Role]] = MappingProxyType(
    {
        Kind.ALARM: Role.ALARM,
        Kind.IDLE: Role.ALERT,
        Kind.LOST: Role.WARNING,
        Kind.TAKEN_BACK: Role.WARNING,
        Kind.HOUSE: Role.WARNING,
        Kind.RESTORED: Role.TEXT,
        Kind.NOTICE: Role.TEXT,
        Kind.VOTE: Role.WARNING,
        Kind.ALONE: Role.WARNING,
    }
)
"""News that replace a message at once, the most important first, each with its colour."""

COVERED: Final[Mapping[Kind, Role]] = MappingProxyType(
    {Kind.RESULT: Role.WARNING, Kind.BOARD_OVER: Role.WARNING, Kind.PHASE: Role.WARNING}
)
"""News that a screen over the table's screen shows at once too: the table's own screen shows them anyway."""

CALM: Final[Mapping[Kind, Role]] = MappingProxyType(
    {
        Kind.LAST_MINUTE: Role.WARNING,
        Kind.SAID: Role.LEADER,
        Kind.WON: Role.LEADER,
        Kind.EVEN: Role.LEADER,
        Kind.LEAD: Role.LEADER,
        Kind.JOINED: Role.TEXT,
        Kind.SEAT: Role.TEXT,
    }
)
"""News that wait until the message line is free, the most important first, each with its colour."""

SEATS: Final = frozenset({Kind.JOINED, Kind.SEAT})

IMPORTANCE: Final = (*URGENT, *COVERED, *CALM)

BETWEEN_RACES: Final = frozenset({Kind.NOTICE, *SEATS})
"""News that the panel has during a race."""

PASSING: Final = frozenset({*CALM, Kind.RESTORED, Kind.NOTICE})
"""News that are shown for a while; the others stay until a key, a message or the end of what they tell."""

RINGS: Final = frozenset({Kind.IDLE, Kind.JOINED, Kind.LAST_MINUTE, Kind.SAID, Kind.VOTE})
"""News that ring the terminal's bell."""


class Messages:
    """The message line of a table's screens, or of the screen over them."""

    def __init__(self, table: "TableFlow") -> None:
        self._table = table
        self._known = table.seat.state.news if table.seat.state is not None else ()
        self._waiting: News | None = None
        self._waits_until = 0
        self._shown: News | None = None
        self._text = ""
        """The shown news as they are on the message line."""
        self._shown_at = 0
        self._quiet_until = 0

    def tell(self, screen: BaseScreen, *, covers: bool) -> None:
        """Show what is new on the screen, which may cover the table's; take away what holds no longer."""
        state, now = self._table.state, self._table.now()
        if not state.is_connected:
            self._quiet_until = now + QUIET
        fresh = newest(self._known, state.news)
        shown = [news for news in fresh if self._is_shown(news, state, now, covers=covers)]
        if any(news.kind in RINGS for news in shown):
            screen.app.bell()
        for news in shown:
            self._take(news, now)
        self._known = state.news
        self._clear(screen, state, now)
        waiting = self._waiting
        if waiting is None or (self._warns(screen) and waiting.kind not in (Kind.ALARM, Kind.IDLE)):
            return
        if waiting.kind not in CALM or screen.may_cover_message(self._text):
            self._waiting = None
            self._show(screen, waiting, state)
        elif now >= self._waits_until:
            self._waiting = None

    def again(self, kind: Kind) -> None:
        """Show the latest news of a kind once more, on a screen that has just opened."""
        found = [news for news in self._table.state.news if news.kind is kind]
        if found:
            self._waiting = found[-1]

    def _is_shown(self, news: News, state: SessionState, now: int, *, covers: bool) -> bool:
        if news.kind in BETWEEN_RACES and not state.is_between_races:
            return False
        if news.kind in CALM:
            return now >= self._quiet_until
        if news.kind is Kind.ALONE:
            return state.own is not None and state.own.is_racing
        if news.kind is Kind.PHASE:
            return covers and news.text == "gathering"
        return news.kind in URGENT or (covers and news.kind in COVERED)

    def _take(self, news: News, now: int) -> None:
        """Let the news wait, unless more important ones do."""
        waiting = self._waiting
        if waiting is not None and {waiting.kind, news.kind} <= SEATS:
            self._waiting = News(Kind.SEAT, f"{_sentence(waiting)} {_sentence(news)}", news.about)
        elif waiting is None or IMPORTANCE.index(news.kind) <= IMPORTANCE.index(waiting.kind):
            self._waiting, self._waits_until = news, now + WAITS

    def _warns(self, screen: BaseScreen) -> bool:
        """Return whether the message is a warning to an idle player, which only a key takes away."""
        shown = self._shown
        return shown is not None and shown.kind is Kind.IDLE and screen.message == self._text

    def _clear(self, screen: BaseScreen, state: SessionState, now: int) -> None:
        news = self._shown
        if news is None:
            return
        if screen.message != self._text:
            self._shown = None
        elif not _holds(news, state) or (news.kind in PASSING and now >= self._shown_at + SHOWN):
            if not screen.is_asking:
                self._shown = None
                screen.say(screen.resting)
        elif news.kind is Kind.LOST and now >= self._shown_at + LONG and not state.announcement:
            self._text = LONG_LOST
            screen.say(LONG_LOST, Role.WARNING)

    def _show(self, screen: BaseScreen, news: News, state: SessionState) -> None:
        if news.kind is Kind.IDLE:
            # the key that keeps the board must not answer a question that the warning covers
            screen.drop_question()
        text = self._words(screen, news, state)
        if news.kind in CALM or news.kind is Kind.ALARM:
            # one line covers nothing; the panel or the page has all of it
            text = fitted(text, screen.size.width - 2, screen.symbols.dots).rstrip()
        self._shown, self._text, self._shown_at = news, text, self._table.now()
        screen.say(text, {**URGENT, **COVERED, **CALM}[news.kind])

    def _words(self, screen: BaseScreen, news: News, state: SessionState) -> str:
        match news.kind:
            case Kind.IDLE:
                keeps = (
                    "keeps you host" if state.is_between_races else "keeps your board in the race"
                )
                return f"You pressed no key for two minutes. Any key {keeps}."
            case Kind.VOTE if state.own is not None and state.own.is_racing:
                return f"{news.text}: e agrees, or play on."
            case Kind.RESULT:
                return f"{news.text} q shows the results."
            case Kind.PHASE:
                return "The table is open for the next race: q goes there."
            case Kind.SEAT if state.phase == "gathering":
                ready = sum(seat.ready for seat in state.table.seats)
                count = f" {ready} of {len(state.table.seats)} ready for the next race."
                return _sentence(news) + (count if ready else "")
        return _sentence(news)


def _holds(news: News, state: SessionState) -> bool:
    """Return whether news still hold, as far as they are of something that passes."""
    match news.kind:
        case Kind.IDLE:
            return bool(state.idle_left)
        case Kind.LOST:
            return not state.is_connected
        case Kind.HOUSE:
            return state.announcement == news.text
        case Kind.ALONE:
            return state.table.last_racer == news.about
    return True


def _sentence(news: News) -> str:
    text = news.text
    if news.kind not in (Kind.NOTICE, Kind.HOUSE) and (not news.about or text.startswith("you ")):
        # a player's name stays as it is
        text = capitalised(text)
    return text if text.endswith((".", "!", "?")) else f"{text}."
