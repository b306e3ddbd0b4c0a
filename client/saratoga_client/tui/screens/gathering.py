"""The table before a race: the players get ready, and the host chooses the race and starts it."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from rich.console import Group, RenderableType
from textual.containers import Horizontal
from textual.widget import Widget

from saratoga_client.board_view.roles import Role, money_role
from saratoga_client.board_view.symbols import Symbols
from saratoga_client.local.origins import is_this_machine
from saratoga_client.local.settings import CAPS, MATCHES
from saratoga_client.problems import Problem
from saratoga_client.session.match_text import race_of_match, totals_of
from saratoga_client.session.start_question import left_behind, start_question
from saratoga_client.session.state import FEWEST_SEATS, MOST_SEATS, SessionState
from saratoga_client.session.voided import check_line, void_reason
from saratoga_client.text import fitted
from saratoga_client.tui.base_screen import Key, Keys
from saratoga_client.tui.rich_view import Ink, RichView, ScrollPage
from saratoga_client.tui.table_screen import SETTINGS_WAIT, TableScreen
from saratoga_client.wording import (
    BOT_LEVELS,
    cap_words,
    counted,
    dollars,
    game_title,
    match_words,
    shown_name,
)
from saratoga_protocol.commands import (
    AddBot,
    AllowReady,
    ChangeSettings,
    HandOver,
    Kick,
    LockTable,
    Start,
)
from saratoga_protocol.events import Match, Seat, TableSettings
from saratoga_protocol.visible_text import sanitised
from saratoga_rules.games import GAMES
from saratoga_rules.records.record import CLOSED

Value = TypeVar("Value")


NAME: Final = 26
"""Width of a name in cells, with the mark of a bot."""
MOST_ALARMS: Final = 2
"""Maximum number of alarms on a page; the program lists all of them when it ends."""
SEATS: Final = 52
"""Width of the list of seats in cells."""


def invitation_part(state: SessionState, invitation: Sequence[str], ink: Ink) -> RenderableType:
    """Return the alarms, if there are any, and the invitation for friends without its install line."""
    what, line, *_, command = invitation
    link = line.rpartition(" ")[2]
    code = ((" (", Role.TEXT), ("o", Role.KEY), (": QR code)", Role.TEXT))
    return Group(
        *alarms_part(state, ink),
        ink.line(
            (opened_by(link), Role.TEXT),
            (link, Role.YOU),
            # a phone cannot open an address of this machine
            *(() if is_this_machine(link) else code),
            (" or type", Role.TEXT),
        ),
        *(ink.indented(line.strip(), Role.TITLE, 3) for line in (what, command)),
    )


def opened_by(link: str) -> str:
    """Return the words before a table's link, which say who can open it."""
    return " Only on this machine: " if is_this_machine(link) else " Friends open "


def seats_part(state: SessionState, chosen: str, symbols: Symbols, ink: Ink) -> RenderableType:
    """Return the list of seats; `chosen` is the id of the player to mark for a kick, or empty.

    The heading is line 0, and each seat takes one line.
    """
    table = state.table
    totals = {seat.player: totals_of(table, state.match, seat) for seat in table.seats}
    grid = ink.grid(1, 2, NAME, 12, 5, 6, right={5})
    for seat in table.seats:
        is_you = seat.player == state.player
        sign = symbols.away if not seat.connected else symbols.ready if seat.ready else symbols.rest
        races, wins, dollars_won = totals[seat.player]
        won, net = (f"{wins}/{races}", dollars(dollars_won)) if races else ("", "")
        grid.add_row(
            ink.text(symbols.mark if seat.player == chosen else "", Role.WARNING),
            ink.text(sign, Role.MONEY_UP if seat.ready else Role.DIM),
            ink.text(
                fitted(shown_name(seat.name, seat.bot), NAME, symbols.dots),
                Role.YOU if is_you else Role.TEXT,
            ),
            ink.text(", ".join(_states(state, seat)), Role.DIM),
            ink.text(won, Role.COUNT),
            ink.text(net, money_role(dollars_won)),
        )
    heading = f" SEATS {len(table.seats)} of {table.settings.seats}"
    match = "" if table.settings.races == 1 else "match: "
    heads = f"{match}won     net" if any(each.races for each in totals.values()) else ""
    return Group(ink.text(f"{heading:<{SEATS - len(heads)}}{heads}", Role.LABEL), grid)


def _states(state: SessionState, seat: Seat) -> Iterator[str]:
    if seat.player == state.table.host:
        yield "host"
    if not seat.connected:
        yield "away"
    elif seat.blocked:
        yield "blocked"
    elif seat.ready:
        yield "ready"


def race_part(state: SessionState, symbols: Symbols, ink: Ink) -> RenderableType:
    """Return the settings of the next race, with their keys for the host."""
    settings, is_host = state.table.settings, state.is_host
    race = race_of_match(state.table, state.match)
    rows = (
        ("g", game_title(settings.game)),
        ("c", cap_words(settings.cap)),
        ("p", "public" if settings.public else "private, by code"),
        ("+-", f"{settings.seats} seats"),
        ("m", f"match, {race}" if race else match_words(settings.races)),
        ("l", "locked to newcomers" if state.table.locked else "open to newcomers"),
    )
    number = state.table.race.rpartition("/")[2]
    grid = ink.grid(1, 3, None)
    for key, text in rows:
        mark = ink.text(key, Role.KEY) if is_host else ink.text(symbols.rest, Role.DIM)
        grid.add_row("", mark, ink.text(text))
    return Group(
        ink.text(f" {(race or f'race {number}').upper()}", Role.LABEL),
        grid,
        *voided_part(state, ink),
    )


def alarms_part(state: SessionState, ink: Ink) -> Iterator[RenderableType]:
    """Return the latest alarms at this table, and an empty line; nothing without an alarm."""
    if not state.alarms:
        return
    earlier = len(state.alarms) - MOST_ALARMS
    heading = f" ALARM, and {counted(earlier, 'earlier alarm')}" if earlier > 0 else " ALARM"
    yield ink.text(heading, Role.ALARM)
    for alarm in state.alarms[-MOST_ALARMS:]:
        yield ink.indented(alarm, Role.ALARM)
    yield ""


def voided_part(state: SessionState, ink: Ink) -> Iterator[RenderableType]:
    """Return the race before this one if the server voided it, else nothing."""
    voided = state.table.previous
    if voided is None or not voided.reason:
        return
    yield ""
    yield ink.text(" VOIDED BY THE SERVER", Role.WARNING)
    number = voided.race.rpartition("/")[2]
    reason = void_reason(voided, state.table.seats)
    what = "counts for nothing" if voided.reason == CLOSED else "did not start"
    yield ink.indented(f"Race {number} {what}: {reason}.", Role.TEXT)
    yield ink.indented(check_line(voided.race, state.server), Role.DIM)


SETTING_KEYS: Final = {
    "g": "the game",
    "c": "the time limit",
    "m": "the length of the match",
    "p": "public or private",
    "+": "more seats",
    "-": "fewer seats",
}
"""The keys that change the settings of a table, each with what it changes."""


def changed_setting(settings: TableSettings, key: str) -> dict[str, Any]:
    """Return the setting that a key of the host changes, with its next value; empty for any other key."""
    match key:
        case "g":
            return {"game": _following(tuple(GAMES), settings.game)}
        case "c":
            # a public table has a time limit
            caps = tuple(cap for cap in CAPS if cap or not settings.public)
            return {"cap": _following(caps, settings.cap)}
        case "m":
            return {"races": _following(MATCHES, settings.races)}
        case "p":
            return {"public": not settings.public}
        case "+" | "-":
            seats = settings.seats + (1 if key == "+" else -1)
            return {"seats": max(FEWEST_SEATS, min(MOST_SEATS, seats))}
    return {}


def _following(values: tuple[Value, ...], value: Value) -> Value:
    """Return the next of `values`; the first one after an unknown value."""
    return values[(values.index(value) + 1) % len(values)] if value in values else values[0]


class GatheringScreen(TableScreen):
    """The seats, the settings of the next race, and the invitation."""

    DEFAULT_CSS = f"""
    GatheringScreen #invitation {{ margin-bottom: 1; }}
    GatheringScreen #both {{ height: auto; }}
    GatheringScreen #seats {{ width: {SEATS + 1}; }}
    GatheringScreen #race {{ width: 1fr; }}
    GatheringScreen.-ticker #both {{ layout: vertical; }}
    GatheringScreen.-ticker #race {{ margin-top: 1; }}
    """

    _chosen = ""
    """The id of the player whom the key `k` kicks; empty for none."""
    _left_behind: tuple[str, ...] = ()
    """The names in the question whether to start without these players; empty if it is not open."""
    _ready_for = ""
    """The commitment for which a ready mark is on its way; empty for none."""
    _start_waits = False
    """True while a start waits for the host's own ready mark."""

    HEADING = "KEYS AT THE TABLE"

    def body(self) -> Iterable[Widget]:
        with ScrollPage():
            yield RichView(self._draw_invitation, id="invitation")
            with Horizontal(id="both"):
                yield RichView(self._draw_seats, id="seats")
                yield RichView(self._draw_race, id="race")

    @property
    def _invitation(self) -> tuple[str, ...]:
        """The lines of the invitation to this table, with its present settings."""
        return self.controls.inviter.lines(self.state.table)

    def _show_invitation(self) -> None:
        from saratoga_client.tui.screens.invitation import InvitationScreen

        table = self.state.table
        self.cover(InvitationScreen(table.code, self.controls.inviter.page(table)))

    def _draw_invitation(self, ink: Ink) -> RenderableType:
        return invitation_part(self.state, self._invitation, ink)

    def _draw_seats(self, ink: Ink) -> RenderableType:
        return seats_part(self.state, self._chosen, self.symbols, ink)

    def _draw_race(self, ink: Ink) -> RenderableType:
        return race_part(self.state, self.symbols, ink)

    def begin(self) -> None:
        self.say(self.state.table.notice or self.resting)

    def changed(self, state: SessionState) -> None:
        if not self.is_asking:
            self._left_behind = ()
        if self._left_behind:
            self._renew_start_question()
        if state.seat is not None and state.seat.ready:
            self._ready_for = ""
            if self._start_waits:
                self._start_waits = False
                self._start()
        super().changed(state)

    def _renew_start_question(self) -> None:
        """Ask again about the players who are not ready now; drop the question if everybody is."""
        if left_behind(self.state.table) == self._left_behind:
            return
        self.drop_question()
        if left_behind(self.state.table):
            self._start()
        else:
            self._left_behind = ()
            self.say("Everybody is ready: press s to start.")

    @property
    def resting(self) -> str:
        if self.state.seat is None:
            return "You are watching this table; a race is shown when it starts."
        if self.state.is_host:
            return "Press r when you are ready, and s to start with every player who is ready."
        return "Press r when you are ready; the host starts the race."

    def facts(self) -> list[str]:
        table = self.state.table
        settings = table.settings
        return [
            game_title(settings.game).upper(),
            table.code,
            cap_words(settings.cap),
            "public" if settings.public else "private",
            race_of_match(table, self.state.match),
        ]

    @property
    def _code_or_link(self) -> str:
        """What `o` shows: a phone cannot open an address of this machine."""
        return "link" if is_this_machine(self.controls.inviter.server) else "QR code"

    def keys(self) -> Keys:
        state, seat, blocked = self.state, self.state.seat, self._blocked
        copies, links = "copy the invitation for friends", "the link for browsers, with its QR code"
        usual = (
            Key("y", "copy invitation", copies, self._copy_invitation),
            Key("o", self._code_or_link, links, self._show_invitation),
        )
        if seat is None:
            return (*usual, *super().keys())
        host = partial(Key, when=state.is_host, why="Only the host can do that.")
        allow, starts = (
            f"allow {blocked[0].name}" if blocked else "",
            "start with all who are ready",
        )
        settings = (
            host(key, "", f"for the host: {what}", partial(self._press_setting, key))
            for key, what in SETTING_KEYS.items()
        )
        return (
            self.ready_key(seat),
            host("a", allow, "for the host: let a blocked player get ready again", self._allow),
            host(
                "s", "start" if state.is_connected else "", f"for the host: {starts}", self._start
            ),
            Key(
                "b",
                "add a bot" if self._bots else "",
                "for the host: add a bot, up to three" if self._bots else "",
                self._ask_for_bot,
                when=state.is_host and bool(self._bots),
                why="Only the host can do that." if self._bots else "This server has no bots.",
            ),
            *usual,
            # the page shows these keys beside the settings that they change
            *settings,
            host("l", "", "for the host: lock the table, or unlock it", self._lock),
            host("k", "kick", "for the host: kick a player", partial(self._choose, "k")),
            host("h", "", "for the host: make another person the host", partial(self._choose, "h")),
            self.say_key(),
            self.fair_key(),
            Key("up", "", "", partial(self._choose, "up"), when=state.is_host),
            Key("down", "", "", partial(self._choose, "down"), when=state.is_host),
            *super().keys(),
        )

    def press(self, key: str) -> None:
        self._left_behind, self._start_waits = (), False
        super().press(key)

    def _copy_invitation(self) -> None:
        self.copy("The invitation", "\n".join(map(sanitised, self._invitation)))

    def press_ready(self, seat: Seat) -> None:
        self._ready_for = "" if seat.ready else self.state.table.commitment
        super().press_ready(seat)

    @property
    def _bots(self) -> list[str]:
        """The strengths of the bots that can be added, weakest first."""
        return [level for level in BOT_LEVELS if level in self.state.table.bots]

    def _ask_for_bot(self) -> None:
        keys = ", ".join(f"{level[0]} is {level}" for level in self._bots)
        self.ask(
            f"Which bot? {keys}; escape adds none.",
            **{level[0]: (level, partial(self._add_bot, level)) for level in self._bots},
        )

    def _add_bot(self, level: str) -> None:
        self.controls.do(self.controls.seat.send(AddBot, level=level))

    async def get_ready(self) -> None:
        try:
            await super().get_ready()
        except Problem:
            self._ready_for, self._start_waits = "", False
            raise

    def _press_setting(self, key: str) -> None:
        if key == "m" and self.state.match is not None:
            self._ask_to_end_match(self.state.match)
        else:
            self._change(**changed_setting(self.state.table.settings, key))

    def _lock(self) -> None:
        self.controls.do(self.controls.seat.send(LockTable, locked=not self.state.table.locked))

    @property
    def _blocked(self) -> list[Seat]:
        """The seats of the players who voided a countdown and wait for the host's permission."""
        return [seat for seat in self.state.table.seats if seat.blocked]

    def _allow(self) -> None:
        """Let the first player who voided a countdown get ready again, after a question."""
        if not self._blocked:
            self.say("Nobody waits for your permission to get ready.")
            return
        seat = self._blocked[0]
        times = counted(seat.voids, "countdown")
        self.ask(
            f"{seat.name} has voided {times}. Allow {seat.name} to get ready again? (y/n)",
            y=(
                "allow",
                lambda: self.controls.do(self.controls.seat.send(AllowReady, player=seat.player)),
            ),
        )

    def _ask_to_end_match(self, match: Match) -> None:
        """End a match that has begun, after a question."""
        done = len(match.finished)
        self.ask(
            f"End the match after {done} of {match.races} races, without a champion? (y/n)",
            y=("end the match", lambda: self._change(races=1)),
        )

    def _change(self, **settings: Any) -> None:
        self.controls.do(self.controls.seat.send(ChangeSettings, **settings))
        if not self.state.is_connected:
            self.say(SETTINGS_WAIT)
        elif any(seat.ready for seat in self.state.table.seats):
            self.say("The race has changed: all players must press r again.")

    def _start(self) -> None:
        seat = self.state.seat
        if seat is None or not seat.ready:
            self._start_waits = self._ready_for == self.state.table.commitment
            waits = "The race starts as soon as you are ready."
            self.say(waits if self._start_waits else "Press r first: the host races too.")
            return
        self._left_behind = left_behind(self.state.table)
        if not self._left_behind:
            self._start_now()
            return
        self.ask(
            f"{start_question(self._left_behind)} s starts, any other key waits.",
            s=("start", self._start_now),
        )

    def _start_now(self) -> None:
        self._left_behind = ()
        self.controls.do(self.controls.seat.send(Start))

    def _kick(self, player: str) -> None:
        for seat in self.state.table.seats:
            if seat.player == player:
                kick = self.controls.seat.send(Kick, player=player, epoch=seat.epoch)
                self.controls.do(kick)

    def _choose(self, key: str) -> None:
        """Choose another player by an arrow key; `k` asks whether to kick the chosen one, `h` hands the table over."""
        others = [each for each in self.state.table.seats if each.player != self.state.player]
        if not others:
            self._chosen = ""
            self.say("No other player is at this table.")
            return
        players = [each.player for each in others]
        place = players.index(self._chosen) if self._chosen in players else -1
        if key == "k" and place >= 0:
            player, self._chosen = self._chosen, ""
            name = shown_name(others[place].name, others[place].bot)
            self.ask(
                f"Kick {name} for good? (y/n)",
                y=("kick", lambda: self._kick(player)),
            )
            return
        if key == "h" and place >= 0:
            hand = self.controls.seat.send(HandOver, player=self._chosen)
            self._chosen = ""
            self.controls.do(hand)
            return
        step = -1 if key == "up" else 1
        self._chosen = players[(place + step) % len(players)] if place >= 0 else players[0]
        everyone = [each.player for each in self.state.table.seats]
        line = everyone.index(self._chosen)
        name = self.state.table.seats[line].name
        self.say(f"k kicks {name}, h makes {name} host; up and down choose another player.")
        self.query_one(ScrollPage).show_line(self.query_one("#seats"), line + 1)
