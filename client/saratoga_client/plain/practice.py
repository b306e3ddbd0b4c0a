"""Practice as lines: any deal, with undo, hints and restart. It never looks like a race."""

from collections.abc import Callable, Iterator

from saratoga_client.plain.board_answers import BoardAnswers, rules_lines
from saratoga_client.plain.card_names import CardNames
from saratoga_client.plain.grammar import Context, ParsedLine
from saratoga_client.plain.move_lines import move_words, moved_line
from saratoga_client.plain.parser import parse_typed_move
from saratoga_client.plain.position import money_words, position_lines
from saratoga_client.plain.session import ExitReason, PlainSession, open_session
from saratoga_client.practice.deals import BadSeed, PracticeDeal, from_seed
from saratoga_client.practice.game import PracticeGame, is_known_stuck, undo
from saratoga_client.practice.ghost import gap_text
from saratoga_client.practice.practice_session import PracticeSession, drawn_seed
from saratoga_client.practice.run_store import RunStore
from saratoga_client.wording import counted, minutes_and_seconds
from saratoga_rules.game import Game


async def run_practice(
    game: Game,
    seed: str = "",
    *,
    session: PlainSession | None = None,
    shelf: RunStore | None = None,
    dealt: PracticeDeal | None = None,
    with_ghost: bool = False,
) -> ExitReason:
    """Play by oneself until one has enough; without a `seed` one is drawn. Raises `BadSeed`."""
    deal = dealt or from_seed(game, seed or drawn_seed())
    return await PlainPractice(
        session or open_session(), deal, shelf, with_ghost=with_ghost
    ).go_on()


class PlainPractice:
    """Somebody practises."""

    def __init__(
        self,
        session: PlainSession,
        dealt: PracticeDeal,
        shelf: RunStore | None = None,
        *,
        with_ghost: bool = False,
    ) -> None:
        self._session = session
        self._write = session.output.write
        self._shelf = shelf
        self._desk = PracticeSession(dealt, shelf=shelf, with_ghost=with_ghost)
        self._handlers: dict[str, Callable[[str], None]] = {
            "undo": self._undo,
            "redo": self._redo,
            "hint": self._hint,
            "safe": self._bank_safe,
            "restart": self._restart,
            "seed": self._seed,
            "new": self._new,
            "cards": session.choose_cards,
        }
        self._answers: dict[str, Callable[[str], Iterator[str]]] = {
            "look": lambda _: self._asked().look(),
            "where": lambda words: self._asked().context(words),
            "legal": lambda _: self._asked().legal(),
            "clock": lambda _: self._clock(),
            "ghost": self._ghost,
            "share": lambda _: (f"share: {line}" for line in self._desk.share.splitlines()),
            "rules": lambda words: rules_lines(words, self._game),
        }

    async def go_on(self) -> ExitReason:
        """Carry out orders until there are no more."""
        self._session.output.write_all(self._deal_lines())
        while True:
            parsed = await self._session.command(Context.PRACTICE)
            name = "" if parsed is None or parsed.command is None else parsed.command.name
            if parsed is None or name in ("leave", "quit"):
                self._keep()
                self._write(f"practice: over, {self._money()}")
                return {"leave": ExitReason.LEFT, "quit": ExitReason.QUIT}.get(
                    name, ExitReason.INPUT_ENDED
                )
            self._obey(name, parsed)

    @property
    def _practice(self) -> PracticeGame:
        return self._desk.practice

    @property
    def _game(self) -> Game:
        return self._practice.game

    @property
    def _card_names(self) -> CardNames:
        return self._session.card_names

    def _obey(self, name: str, parsed: ParsedLine) -> None:
        if parsed.is_move:
            self._move(parsed.line)
        elif name in self._handlers:
            self._handlers[name](parsed.arguments)
        elif name in self._answers:
            self._session.output.write_all(self._answers[name](parsed.arguments))
        else:
            self._session.help(Context.PRACTICE)

    def _asked(self) -> BoardAnswers:
        practice = self._practice
        return BoardAnswers(practice.game, practice.view, len(practice.made), self._card_names)

    # What changes the board

    def _move(self, words: str) -> None:
        before = self._practice.view
        move = parse_typed_move(self._game, before, words, Context.PRACTICE, self._card_names)
        if isinstance(move, str):
            self._write(move)
            return
        self._desk.play(move)
        after = self._practice
        number = len(after.made)
        self._write(moved_line(self._game, before, after.view, move, number, self._card_names))
        self._session.output.write_all(self._news())

    def _news(self) -> Iterator[str]:
        """Whether the game is at its end."""
        if self._practice.is_won:
            yield f"won: every card is banked, in {minutes_and_seconds(self._desk.elapsed)}"
            yield from self._trouble()
        elif is_known_stuck(self._game, self._practice.position):
            yield "stuck: nothing more can be banked. Say undo, restart, or new for another deal."

    def _undo(self, words: str) -> None:
        before = self._practice
        if not before.made:
            self._write("no: There is no move to take back.")
            return
        self._desk.undo()
        self._tell("undone", before)

    def _redo(self, words: str) -> None:
        if not self._practice.undone:
            self._write("no: There is nothing to make again.")
            return
        self._desk.redo()
        self._tell("made again", self._practice)

    def _tell(self, deed: str, longer: PracticeGame) -> None:
        """Say the last move of `longer`, in the words of the position where it was made."""
        shorter = undo(longer, longer.last_at)
        move = longer.made[-1].move
        words = move_words(self._game, shorter.view, move, self._card_names)
        now = self._practice
        self._write(f"{deed} {move}: {words}; {counted(len(now.made), 'move')}, {self._money()}")

    def _hint(self, words: str) -> None:
        advised = self._desk.hint(self._card_names.card)
        move = "" if advised.move is None else f" {advised.move}"
        self._write(f"hint{move}: {advised.says.removeprefix('Hint: ')}")

    def _bank_safe(self, words: str) -> None:
        before = self._practice.banked
        parsed = self._desk.bank_safe()
        banked = self._practice.banked - before
        if not banked:
            self._write("no: Nothing is safe to bank now. Say legal for what can be banked.")
            return
        self._write(f"safe: {counted(banked)} banked; {self._money()}")
        if self._practice.is_won:
            self._write(f"won: {parsed}")

    def _restart(self, words: str) -> None:
        self._desk.restart()
        self._show_deal()

    def _new(self, words: str) -> None:
        self._desk.deal_anew()
        self._show_deal()

    def _seed(self, words: str) -> None:
        if not words:
            self._write(f"seed: {self._practice.dealt.title}. Say new for another.")
            return
        try:
            dealt = from_seed(self._game, words)
        except BadSeed as fault:
            self._write(f"no: {fault}")
            return
        self._keep()
        self._desk = PracticeSession(dealt, shelf=self._shelf, with_ghost=self._desk.with_ghost)
        self._show_deal()

    # What is said

    def _show_deal(self) -> None:
        self._session.output.write_all(self._trouble())
        self._session.output.write_all(self._deal_lines())

    def _deal_lines(self) -> Iterator[str]:
        practice = self._practice
        yield f"practice: {self._game.title}, {practice.dealt.title}, {self._money()}"
        yield from position_lines(self._game, practice.view, self._card_names)
        if self._desk.with_ghost:
            yield f"ghost: {self._desk.greeting()}"

    def _clock(self) -> Iterator[str]:
        yield f"clock: {minutes_and_seconds(self._desk.elapsed)} gone; it does not count"

    def _ghost(self, words: str) -> Iterator[str]:
        """How the own best run of this deal was going by now; `off` and `on` as one likes."""
        if (words.lower() or "on") != ("on" if self._desk.with_ghost else "off"):
            self._desk.toggle_ghost()
        ghost = self._desk.ghost
        if not self._desk.with_ghost:
            yield "ghost: off"
        elif ghost is None:
            yield "ghost: No run of this deal is kept yet; this one will be your ghost."
        else:
            gap = gap_text(ghost, self._practice.banked, self._desk.elapsed)
            yield f"ghost: {ghost.words}; you are {gap}"

    def _keep(self) -> None:
        """Keep the run, if anything was done."""
        self._desk.keep()
        self._session.output.write_all(self._trouble())

    def _trouble(self) -> Iterator[str]:
        if self._desk.trouble:
            yield f"note: {self._desk.trouble}"

    def _money(self) -> str:
        return money_words(self._game, self._practice.view)
