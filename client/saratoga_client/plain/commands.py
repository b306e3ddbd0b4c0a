"""The commands at a table: their effects, and their answers as lines."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Final, TypeAlias

from saratoga_client.local.hosting import friends_address
from saratoga_client.plain.board import BoardAnswers, money_words, parse_typed_move, rules_lines
from saratoga_client.plain.event_lines import ChangeWriter, clock_line, table_lines
from saratoga_client.plain.finished_race import STILL_RACING, review, share, verify
from saratoga_client.plain.grammar import (
    MOVE_COMMANDS,
    Context,
    ParsedLine,
    not_understood,
    read_settings,
    wrong,
)
from saratoga_client.plain.result_lines import (
    climb_lines,
    result_lines,
    standings_lines,
    totals_lines,
)
from saratoga_client.plain.session import PlainSession
from saratoga_client.problems import Problem
from saratoga_client.session.invitation import Destination, qr_lines
from saratoga_client.session.own_board import OwnBoard
from saratoga_client.session.result_text import gap
from saratoga_client.session.starting import left_behind, start_question
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.table_view import BEFORE_THE_RACE, RACE_PHASES, is_call, takes_ready
from saratoga_client.wording import (
    BOT_LEVELS,
    REACTIONS,
    settings_words,
    shown_name,
    state_words,
    unmarked,
)
from saratoga_protocol import events
from saratoga_protocol.commands import (
    AddBot,
    AllowReady,
    ChangeSettings,
    EndRace,
    HandOver,
    Kick,
    LockTable,
    NextRace,
    React,
    Start,
)
from saratoga_rules.play import IllegalMove

CommandHandler: TypeAlias = Callable[[str], Awaitable[None]]

WAITS: Final[Mapping[str, Callable[[SessionState], bool]]] = {
    "countdown": lambda state: state.phase in RACE_PHASES,
    "deal": lambda state: state.phase == "running" and state.own is not None,
    "gathering": lambda state: state.phase == "gathering",
    "result": lambda state: state.phase == "over" and state.table_view.outcome is not None,
}
"""The events in the state that the command `wait` can wait for, each with its condition."""

NOT_ASKED: Final = "no: There is no question to answer."


class TableCommands:
    """The commands of one player or watcher at one table."""

    def __init__(
        self,
        session: PlainSession,
        table_session: TableSession,
        writer: ChangeWriter,
        context: Context,
    ) -> None:
        self._session = session
        self._write = session.output.write
        self._write_all = session.output.write_all
        self._table = table_session
        self._writer = writer
        self._context = context
        self._question = ""
        """The command that waits for the answer `yes`; empty without one."""
        self._voided: frozenset[str] | None = None
        """The voided races that were known when the last `wait` ended; `None` before the first command."""
        self.has_left = False
        """True after the player has left the table."""
        self._handlers: dict[str, CommandHandler] = {
            "ready": self._ready,
            "not ready": self._not_ready,
            "start": self._start,
            "end race": lambda _: self._table.send(EndRace),
            "next": lambda _: self._table.send(NextRace),
            "settings": self._settings,
            "bot": self._add_bot,
            "say": self._say,
            "hand over": self._hand_over,
            "kick": self._kick,
            "allow": self._allow,
            "qr": self._qr,
            "lock": lambda _: self._table.send(LockTable),
            "unlock": lambda _: self._table.send(LockTable, locked=False),
            "verify": lambda words: verify(session, table_session, self._over, words),
            "share": lambda _: share(session, table_session, self._over),
            "review": self._review,
            "cash out": self._cash_out,
            "leave": self._leave,
            "yes": self._yes,
            "wait": self._wait,
        }
        self._answers: dict[str, Callable[[str], Iterator[str]]] = {
            "look": lambda _: self._about_board(lambda board: board.look()),
            "where": lambda words: self._about_board(lambda board: board.where(words)),
            "legal": lambda _: self._about_board(lambda board: board.legal()),
            "table": lambda _: table_lines(self._state),
            "totals": lambda _: totals_lines(self._state),
            "results": lambda _: result_lines(self._over),
            "standings": lambda _: standings_lines(self._state),
            "climb": lambda _: climb_lines(self._state, table_session.now()),
            "gap": lambda _: iter([f"gap: {gap(self._state) or 'no race is running'}"]),
            "clock": lambda _: iter([clock_line(self._state, table_session.now())]),
            "rules": lambda words: rules_lines(words, self._state.game),
        }

    @property
    def _state(self) -> SessionState:
        assert self._table.state is not None, "commands are read once the table is known"
        return self._table.state

    @property
    def _over(self) -> SessionState:
        return self._writer.over(self._state)

    @property
    def _own(self) -> OwnBoard | None:
        return self._state.own

    async def do(self, parsed: ParsedLine) -> None:
        """Carry out a command and write its answer; a `Problem` becomes a `no:` line."""
        name = "" if parsed.command is None else parsed.command.name
        if self._voided is None:
            self._voided = _voided(self._state)
        try:
            await self._do(name, parsed)
        except Problem as problem:
            self._write(f"no: {problem}")
        if name not in ("cash out", "leave", "start"):
            self._question = ""

    async def _do(self, name: str, parsed: ParsedLine) -> None:
        if parsed.is_move:
            await self._move(parsed.line)
        elif name in self._answers:
            self._write_all(self._answers[name](parsed.arguments))
        elif name in self._handlers:
            await self._handlers[name](parsed.arguments)
        elif name == "cards":
            self._session.choose_cards(parsed.arguments)
        elif name == "verbose":
            self._session.choose_verbose(parsed.arguments)
        elif name == "no":
            self._write(f"ok: {self._question} was not done" if self._question else NOT_ASKED)
        else:
            self._session.help(self._context)

    # The board

    def _about_board(self, answer: Callable[[BoardAnswers], Iterator[str]]) -> Iterator[str]:
        own = self._own
        if own is None:
            yield self._no_board()
            return
        count = own.count if own.is_racing else None
        yield from answer(
            BoardAnswers(own.game, own.shown, count, self._session.card_names, not own.is_racing)
        )

    def _no_board(self) -> str:
        match self._state.phase:
            case "gathering":
                return "no: There is no deal yet. Type ready; the host types start."
            case "call" | "countdown":
                return "no: The deal comes at the end of the countdown."
            case "running":
                return "no: You are not in this race. Type ready when the next one gathers."
            case _:
                return f"no: This race is over. {self._who_prepares()} to prepare another one."

    def _who_prepares(self) -> str:
        return "Type next" if self._state.is_host else "The host types next"

    async def _move(self, words: str) -> None:
        own = self._own
        if own is None:
            is_move = ">" in words or words.split()[0].lower() in MOVE_COMMANDS
            self._write(self._no_board() if is_move else not_understood(words, self._context))
            return
        if not own.is_racing:
            raise wrong(
                f"Your board has ended: {state_words(own.state)}. Type standings, or wait for the result."
            )
        move = parse_typed_move(own.game, own.shown, words, self._context, self._session.card_names)
        if isinstance(move, str):
            self._write(move)
            return
        try:
            if not self._table.play(move):
                raise wrong("The server has not answered your last move yet. Try again.")
        except IllegalMove as illegal:
            raise wrong(f"{illegal.refusal}") from None
        if not self._state.is_connected:
            self._write(f"ok: {move} waits for the connection")
        await self._table.until(lambda state: not (state.own and state.own.in_flight))

    async def _cash_out(self, words: str) -> None:
        own = self._own
        if own is None or not own.is_racing:
            self._write(
                f"no: Your board has ended: {state_words(own.state)}." if own else self._no_board()
            )
            return
        if words.lower() not in ("yes", "y"):
            self._question = "cash out"
            money = money_words(own.game, own.view)
            self._write(f"cash out: your race would end with {money}. Type yes or no.")
            return
        await self._table.cash_out()

    async def _review(self, words: str) -> None:
        if self._own is not None and self._state.table_view.outcome is None:
            self._write(STILL_RACING)
            return
        await review(self._session, self._table, self._over)

    # The table

    async def _ready(self, words: str) -> None:
        if self._state.phase == "over":
            raise wrong(f"The next race is not being prepared yet. {self._who_prepares()}.")
        if not takes_ready(self._state.table):
            raise wrong("This race has begun. You can be ready for the next one.")
        await self._table.ready()
        start = (
            "Type start when the others are." if self._state.is_host else "The host types start."
        )
        if is_call(self._state.table):
            start = "The race starts soon."
        self._write(f"ok: you are ready. {start}")

    async def _not_ready(self, words: str) -> None:
        await self._table.not_ready()
        self._write("ok: you are not ready")

    async def _start(self, words: str) -> None:
        names = left_behind(self._state.table) if self._state.is_host else ()
        if names and self._question != "start" and words.lower() not in ("now", "yes"):
            self._question = "start"
            self._write(f"start: {start_question(names)} Type start again, or wait.")
            return
        self._question = ""
        await self._table.send(Start)

    async def _settings(self, words: str) -> None:
        if not words:
            self._write(f"settings: {settings_words(self._state.table.settings)}")
        else:
            await self._table.send(ChangeSettings, **read_settings(words))

    async def _add_bot(self, words: str) -> None:
        if (level := words.lower()) not in BOT_LEVELS:
            raise wrong("Which bot? Type bot weak, bot even, or bot strong.")
        await self._table.send(AddBot, level=level)
        self._write(f"ok: your {level} bot is on its way")

    async def _say(self, words: str) -> None:
        if (reaction := words.lower()) not in REACTIONS:
            raise wrong(f"Type say and one of {', '.join(REACTIONS)}.")
        await self._table.send(React, reaction=reaction)
        self._write(f"ok: you say {REACTIONS[reaction]}")

    async def _hand_over(self, words: str) -> None:
        await self._table.send(HandOver, player=self._named("hand over", words).player)

    async def _kick(self, words: str) -> None:
        seat = self._named("kick", words)
        await self._table.send(Kick, player=seat.player, epoch=seat.epoch)

    async def _allow(self, words: str) -> None:
        await self._table.send(AllowReady, player=self._named("allow", words).player)

    async def _qr(self, words: str) -> None:
        """Write the table's link for browsers, and the link as a QR code."""
        server = self._session.friends or await friends_address(self._table.server)
        link = Destination(self._state.table.code, server).page
        self._write(f"link: {link}", *qr_lines(link))

    def _named(self, command: str, words: str) -> events.Seat:
        """Return the seat of the player whom the words name. Raises `Problem` with what to type."""
        seats = self._state.table.seats
        named = [seat for seat in seats if seat.name.casefold() == unmarked(words).casefold()]
        if not words or not named:
            others = ", ".join(
                shown_name(seat.name, seat.bot)
                for seat in seats
                if seat.player != self._state.player
            )
            raise wrong(f"Type {command} NAME. At this table: {others or 'only you'}.")
        return named[0]

    async def _leave(self, words: str) -> None:
        own = self._own
        if own is not None and own.is_racing and words.lower() not in ("yes", "y"):
            self._question = "leave"
            money = money_words(own.game, own.view)
            self._write(f"leave: your race would end with {money}. Type yes or no.")
            return
        await self.leave()

    async def leave(self) -> None:
        """Give up the seat, or stop watching. Raises `Problem`."""
        own = self._own
        kept = ""
        if own is not None and own.is_racing:
            kept = f"; your race ended with {money_words(own.game, own.view)}"
        self._writer.pause()
        is_known = True
        try:
            # a watcher has no seat to give up
            if self._context is Context.TABLE:
                is_known = await self._table.leave()
        except Problem:
            self._writer.resume()
            raise
        self.has_left = True
        if is_known:  # otherwise the session ends with a problem
            self._write(f"left: {self._state.table.code}{kept}")

    async def _yes(self, words: str) -> None:
        match self._question:
            case "cash out":
                await self._cash_out("yes")
            case "leave":
                await self._leave("yes")
            case "start":
                await self._start("now")
            case _:
                self._write(NOT_ASKED)

    async def _wait(self, words: str) -> None:
        kind, _, number = words.lower().partition(" ")
        if kind == "ready" and (not number or number.isdecimal()):
            wanted = int(number or 0)
            holds: Callable[[SessionState], bool] = lambda state: _are_ready(state, wanted)  # noqa: E731
        elif kind in WAITS and not number:
            holds = WAITS[kind]
        elif kind == "verified" and not number:
            holds = self._is_verified
        else:
            events = ", ".join((*WAITS, "verified"))
            raise wrong(f"Type wait ready, wait ready 3, or wait with {events}.")
        await self._table.until(lambda state: holds(state) or self._has_new_void(state))
        if not holds(self._state):
            self._write(f"no: The race was voided, so {kind} does not come. Get ready again.")
        self._voided = _voided(self._state)

    def _is_verified(self, state: SessionState) -> bool:
        """Return whether the running or latest race was checked; the next one may be open already."""
        if state.phase in BEFORE_THE_RACE and state.verifications:
            return not self._table.is_checking
        return state.table.race in state.verifications

    def _has_new_void(self, state: SessionState) -> bool:
        """Return whether a race was voided since the last `wait`: what it waits for may never come."""
        return not _voided(state) <= (self._voided or frozenset())


def _are_ready(state: SessionState, wanted: int) -> bool:
    """Return whether `wanted` players are ready; 0 means all connected players, at least two."""
    here = [seat for seat in state.table.seats if seat.connected]
    ready = sum(seat.ready for seat in here)
    return ready >= (wanted or max(2, len(here)))


def _voided(state: SessionState) -> frozenset[str]:
    previous = state.table.previous
    return frozenset({previous.race} if previous is not None and previous.reason else ())
