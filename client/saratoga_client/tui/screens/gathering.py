"""The table before a race: the players get ready, and the host chooses the race and starts it."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from rich.console import Group, RenderableType
from rich.text import Text
from textual.containers import Horizontal
from textual.widget import Widget

from saratoga_client.board_view.roles import LETTERS, Role, Symbols, money_role
from saratoga_client.input.move_text import ascii_card_name, card_name
from saratoga_client.local.origins import is_this_machine
from saratoga_client.local.settings import CAPS, MATCHES
from saratoga_client.problems import Problem
from saratoga_client.session.result_text import check_line, race_of_match, totals_of, void_reason
from saratoga_client.session.starting import left_behind, start_question
from saratoga_client.session.state import FEWEST_SEATS, MOST_SEATS, Kind, SessionState
from saratoga_client.text import fitted
from saratoga_client.tui.base_screen import Key, Keys, ReadingScreen
from saratoga_client.tui.table_screen import SETTINGS_WAIT, TableScreen
from saratoga_client.tui.widgets import Ink, RichView, ScrollPage
from saratoga_client.wording import (
    BOT_LEVELS,
    cap_words,
    counted,
    dollars,
    game_title,
    match_words,
    money_meter,
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
from saratoga_rules.cards import PACK, card_of, rank
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.money import CARD_PRIZE
from saratoga_rules.records.record import CLOSED

Value = TypeVar("Value")


NAME: Final = 22
"""Width of a name in cells, with the sign of a bot."""
MOST_ALARMS: Final = 2
"""Maximum number of alarms on a page; the program lists all of them when it ends."""
SEATS: Final = 52
"""Width of the list of seats in cells."""


def invitation_part(state: SessionState, invitation: Sequence[str], ink: Ink) -> RenderableType:
    """Return the alarms, if there are any, and the invitation for friends without its install line."""
    _, line, *_, command = invitation
    link = line.rpartition(" ")[2]
    # a phone cannot open an address of this machine
    is_here = is_this_machine(link)
    keys = "i shows the link" if is_here else "i shows a QR code"
    where = "only on this machine" if is_here else "any browser, nothing to install"
    told = ((link, where), (command.strip(), "in the terminal"))
    lines = (ink.line((f"   {text}", Role.TITLE), (f"   {what}", Role.DIM)) for text, what in told)
    heading = ((" SEND THIS TO YOUR FRIENDS", Role.LABEL), (f"  (y copies it, {keys})", Role.DIM))
    return Group(*alarms_part(state, ink), ink.line(*heading), *lines)


def seats_part(state: SessionState, chosen: str, symbols: Symbols, ink: Ink) -> RenderableType:
    """Return the list of seats; `chosen` is the id of the marked player, or empty.

    The heading is line 0, and each seat takes one line.
    """
    table = state.table
    totals = {seat.player: totals_of(table, state.match, seat) for seat in table.seats}
    grid = ink.grid(1, 2, NAME, 16, 5, 6, right={5})
    for seat in table.seats:
        is_you = seat.player == state.player
        sign = symbols.away if not seat.connected else symbols.ready if seat.ready else symbols.rest
        races, wins, dollars_won = totals[seat.player]
        won, net = (f"{wins}/{races}", dollars(dollars_won)) if races else ("", "")
        grid.add_row(
            ink.text(symbols.mark if seat.player == chosen else "", Role.WARNING),
            ink.text(sign, Role.MONEY_UP if seat.ready else Role.DIM),
            ink.text(
                fitted("YOU" if is_you else shown_name(seat.name, seat.bot), NAME, symbols.dots),
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
    elif seat.bot:
        yield f"{seat.level} bot".strip()
    elif seat.blocked:
        yield "blocked"
    else:
        yield "ready" if seat.ready else "not ready"


def setting_rows(state: SessionState) -> tuple[tuple[str, str], ...]:
    """Return the settings of the next race, each a name and its value in words."""
    settings = state.table.settings
    return (
        ("game", game_title(settings.game)),
        ("limit", cap_words(settings.cap)),
        ("match", race_of_match(state.table, state.match) or match_words(settings.races)),
        ("who", "everybody" if settings.public else "with the code"),
        ("seats", f"{settings.seats}"),
        ("door", "locked to newcomers" if state.table.locked else "open to newcomers"),
    )


def race_part(state: SessionState, marked: str, symbols: Symbols, ink: Ink) -> RenderableType:
    """Return the settings of the next race; `marked` is the name of the one that the host changes, or empty."""
    host = next((seat for seat in state.table.seats if seat.player == state.table.host), None)
    by = "" if state.is_host or host is None else f", set by {host.name}"
    grid = ink.grid(2, 7, None)
    for name, value in setting_rows(state):
        is_marked = name == marked
        role = Role.KEY if is_marked else Role.TEXT
        shown = f"< {value} >" if is_marked else value
        mark = ink.text(symbols.mark if is_marked else "", role)
        grid.add_row(mark, ink.text(name, Role.LABEL), ink.text(shown, role))
    heading = ink.text(f"  THE RACE{by}", Role.LABEL)
    return Group(heading, grid, *voided_part(state, ink))


RULES: Final = {"columns": "COLUMNS", "empty column": "EMPTY COLUMN", "stock": "STOCK"}
"""The rules that the page shows, each with its heading."""


def rules_part(game: Game | None, symbols: Symbols, ink: Ink) -> Iterator[RenderableType]:
    """Return how a game is played in a few lines, beside a picture of how its columns build."""
    if game is None:
        return
    rules, money = dict(game.describe()), money_meter(game, 0)
    lines = [(heading, rules[rule]) for rule, heading in RULES.items()]
    costs = f"${game.pack_price} the pack, ${CARD_PRIZE} a card: {money.even} cards and you are {money.even_word}"
    picture = Text("\n").join(ink.text(row, Role.CARD_BLACK) for row in _run(game, symbols))
    picture.highlight_regex("[0-9AJQK]+[\u2666\u2665dh]", ink.style(Role.CARD_RED))
    words, grid = ink.grid(14, None), ink.grid(1, 9, None)
    for heading, text in (*lines, ("MONEY", costs)):
        words.add_row(ink.text(heading, Role.LABEL), ink.text(text))
    grid.add_row("", picture, words)
    yield grid
    yield ""


def _run(game: Game, symbols: Symbols) -> Iterator[str]:
    """Return four rows with three cards that lie in a column of the game."""
    is_ascii = symbols is LETTERS
    card = card_of(9, "H")
    for _ in range(3):
        name = (ascii_card_name if is_ascii else card_name)(card)
        yield f"+{name:-<4}+" if is_ascii else f"╭{name:─<4}╮"
        lower = (each for each in PACK if rank(each) == rank(card) - 1)
        card = next(each for each in lower if each in game.columns.build.onto[card])
    yield "+----+" if is_ascii else "╰────╯"


MOST_NEWS: Final = 4
NEWS: Final = (Kind.JOINED, Kind.SEAT, Kind.HOST, Kind.NOTICE, Kind.SAID)
"""The kinds of news that the page lists."""


def news_part(state: SessionState, ink: Ink) -> Iterator[RenderableType]:
    """Return the latest news of the table, the newest last; nothing without any."""
    news = [each for each in state.news if each.kind in NEWS][-MOST_NEWS:]
    if news:
        yield ink.text(" NEWS", Role.LABEL)
        yield from (ink.indented(each.text, Role.DIM, 3) for each in news)


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


def changed_setting(settings: TableSettings, name: str, step: int) -> dict[str, Any]:
    """Return the setting of a name with its next value, or for a step of -1 the one before."""
    match name:
        case "game":
            return {"game": _following(tuple(GAMES), settings.game, step)}
        case "limit":
            # a public table has a time limit
            caps = tuple(cap for cap in CAPS if cap or not settings.public)
            return {"cap": _following(caps, settings.cap, step)}
        case "match":
            return {"races": _following(MATCHES, settings.races, step)}
        case "who":
            return {"public": not settings.public}
    return {"seats": max(FEWEST_SEATS, min(MOST_SEATS, settings.seats + step))}


def _following(values: tuple[Value, ...], value: Value, step: int) -> Value:
    """Return the value `step` further in `values`; the first one after an unknown value."""
    return values[(values.index(value) + step) % len(values)] if value in values else values[0]


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
    """The id of the marked player; empty for none."""
    _setting = ""
    """The name of the setting that left and right change; empty for none."""
    _left_behind: tuple[str, ...] = ()
    """The names in the question whether to start without these players; empty if it is not open."""
    _ready_for = ""
    """The commitment for which a ready mark is on its way; empty for none."""
    _start_waits = False
    """True while a start waits for the host's own ready mark."""

    HEADING = "KEYS AT THE TABLE"

    def body(self) -> Iterable[Widget]:
        with ScrollPage():
            yield RichView(
                lambda ink: invitation_part(self.state, self._invitation, ink), id="invitation"
            )
            with Horizontal(id="both"):
                yield RichView(
                    lambda ink: seats_part(self.state, self._chosen, self.symbols, ink), id="seats"
                )
                yield RichView(
                    lambda ink: race_part(self.state, self._setting, self.symbols, ink), id="race"
                )
            yield RichView(self._draw_rest)

    @property
    def _invitation(self) -> tuple[str, ...]:
        """The lines of the invitation to this table, with its present settings."""
        return self.controls.inviter.lines(self.state.table)

    def _show_invitation(self) -> None:
        from saratoga_client.tui.reading import invitation_page

        table = self.state.table
        page = partial(invitation_page, self.controls.inviter.page(table))
        self.cover(ReadingScreen("i", [table.code, "invitation"], page))

    def _draw_rest(self, ink: Ink) -> RenderableType:
        rules = rules_part(self.state.game, self.symbols, ink)
        return Group("", *rules, *news_part(self.state, ink))

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
            return "Press enter when you are ready, and s to start with all who are ready."
        return "Press enter when you are ready; the host starts the race."

    def facts(self) -> list[str]:
        table = self.state.table
        race = race_of_match(table, self.state.match)
        return [game_title(table.settings.game).upper(), table.code, race]

    def status(self) -> list[tuple[str, Role]]:
        seats = self.state.table.seats
        ready = sum(seat.ready for seat in seats)
        return [*super().status(), (f"{len(seats)} here, {ready} ready", Role.TITLE)]

    def keys(self) -> Keys:
        state, seat, server = self.state, self.state.seat, self.controls.inviter.server
        link = "link" if is_this_machine(server) else "QR code"
        usual = (
            Key("y", "copy", "copy the invitation for friends", self._copy_invitation),
            Key("i", link, "the link for browsers, with its QR code", self._show_invitation),
        )
        if seat is None:
            return (*usual, *super().keys())
        host = partial(Key, when=state.is_host, why="Only the host can do that.")
        starts, adds = "start" if state.is_connected else "", bool(self._bots)
        no_bots = "Only the host can do that." if adds else "This server has no bots."
        has_bot = any(each.bot for each in state.table.seats)
        marked = self._marked_seat
        return (
            *((self.ready_key(seat),) if marked is None else self._seat_keys(marked)),
            host("s", starts, "for the host: start with all who are ready", self._start),
            Key("+", "bot", "for the host: add a bot, up to three", self._ask_for_bot,
                when=state.is_host and adds, why=no_bots),
            usual[0],
            host("tab", "settings", "for the host: mark a setting; left and right change it", partial(self._mark_setting, 1)),
            self.say_key(),
            host("-", "bot away" if has_bot else "", "for the host: send the last bot away", self._bot_away),
            usual[1],
            Key("shift+tab", "", "", partial(self._mark_setting, -1), when=state.is_host),
            Key("right", "", "", partial(self._turn, 1), when=bool(self._setting)),
            Key("left", "", "", partial(self._turn, -1), when=bool(self._setting)),
            Key("up", "", "for the host: mark a seat, to make that player host or to remove them",
                partial(self._mark_seat, -1), when=state.is_host, shown="up  down"),
            Key("down", "", "", partial(self._mark_seat, 1), when=state.is_host),
            Key("escape", "", "", self._unmark, when=bool(self._setting or marked)),
            self.fair_key(),
            *super().keys(),
        )  # fmt: skip

    @property
    def _marked_seat(self) -> Seat | None:
        seats = self.state.table.seats if self.state.is_host else ()
        return next((seat for seat in seats if seat.player == self._chosen), None)

    def _seat_keys(self, seat: Seat) -> Keys:
        """Return the keys for the marked seat."""
        remove = Key("x", "remove", "remove the marked player", partial(self._remove, seat))
        if seat.bot:
            return (remove,)
        if seat.blocked:
            return (
                Key(
                    "enter", "allow", "let the marked player get ready", partial(self._allow, seat)
                ),
                remove,
            )
        make = partial(self._hand_over, seat.player)
        return (Key("enter", "make host", "make the marked player host", make), remove)

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
        levels = dict(enumerate(self._bots, 1))
        self.ask(
            f"Which bot? {', '.join(f'{at} {level}' for at, level in levels.items())}",
            **{f"{at}": (level, partial(self._add_bot, level)) for at, level in levels.items()},
        )

    def _add_bot(self, level: str) -> None:
        self.controls.do(self.controls.seat.send(AddBot, level=level))

    async def get_ready(self) -> None:
        try:
            await super().get_ready()
        except Problem:
            self._ready_for, self._start_waits = "", False
            raise

    def _bot_away(self) -> None:
        """Remove the bot that came last."""
        bots = [seat for seat in self.state.table.seats if seat.bot]
        if bots:
            self._kick(bots[-1])
        else:
            self.say("There is no bot at this table.")

    def _mark_setting(self, step: int) -> None:
        names = ["", *(name for name, _ in setting_rows(self.state))]
        self._setting = names[(names.index(self._setting) + step) % len(names)]
        self._chosen = ""
        self.say("left and right change it; tab goes on." if self._setting else "")

    def _turn(self, step: int) -> None:
        """Change the marked setting."""
        name, match = self._setting, self.state.match
        if name == "match" and match is not None:
            self._ask_to_end_match(match)
        elif name == "door":
            self.controls.do(self.controls.seat.send(LockTable, locked=not self.state.table.locked))
        else:
            self._change(**changed_setting(self.state.table.settings, name, step))

    def _unmark(self) -> None:
        self._setting = self._chosen = ""
        self.say("")

    def _allow(self, seat: Seat) -> None:
        """Let a player who voided a countdown get ready again."""
        self._unmark()
        self.controls.do(self.controls.seat.send(AllowReady, player=seat.player))

    def _hand_over(self, player: str) -> None:
        self._unmark()
        self.controls.do(self.controls.seat.send(HandOver, player=player))

    def _remove(self, seat: Seat) -> None:
        """Remove a player, after a question; a bot at once."""
        self._unmark()
        if seat.bot:
            self._kick(seat)
        else:
            self.ask(f"Remove {seat.name} for good? (y/n)", y=("remove", partial(self._kick, seat)))

    def _kick(self, seat: Seat) -> None:
        kick = self.controls.seat.send(Kick, player=seat.player, epoch=seat.epoch)
        self.controls.do(kick)

    def _mark_seat(self, step: int) -> None:
        """Mark the next other player."""
        seats = self.state.table.seats
        others = [each.player for each in seats if each.player != self.state.player]
        if not others:
            self.say("No other player is at this table.")
            return
        at = others.index(self._chosen) + step if self._chosen in others else 0
        self._chosen, self._setting = others[at % len(others)], ""
        line = [each.player for each in seats].index(self._chosen)
        self.query_one(ScrollPage).show_line(self.query_one("#seats"), line + 1)
        answers = [f"{key.names} {key.label}" for key in self._seat_keys(seats[line])]
        self.say(f"{seats[line].name}: {', '.join(answers)}, escape neither.")

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
            self.say("The race has changed: everybody gets ready again.")

    def _start(self) -> None:
        seat = self.state.seat
        if seat is None or not seat.ready:
            self._start_waits = self._ready_for == self.state.table.commitment
            waits = "The race starts as soon as you are ready."
            self.say(waits if self._start_waits else "Press enter first: the host races too.")
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
