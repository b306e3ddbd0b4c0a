"""Practice in plain lines: any deal, with undo, hints and restart, marked as practice."""

from collections.abc import Callable, Iterator

from saratoga_client.plain.board import (
    BoardAnswers,
    money_words,
    move_words,
    moved_line,
    parse_typed_move,
    position_lines,
    rule_line,
    rules_lines,
)
from saratoga_client.plain.card_names import CardNames
from saratoga_client.plain.grammar import Context, ParsedLine
from saratoga_client.plain.session import ExitReason, PlainSession, open_session
from saratoga_client.practice.deals import BadSeed, PracticeDeal, from_seed
from saratoga_client.practice.game import PracticeGame, is_known_stuck, undo
from saratoga_client.practice.ghost import RunStore, gap_text
from saratoga_client.practice.practice_session import PracticeSession, drawn_seed
from saratoga_client.wording import counted, minutes_and_seconds
from saratoga_rules.game import Game


async def run_practice(
    game: Game,
    seed: str = "",
    *,
    session: PlainSession | None = None,
    store: RunStore | None = None,
    dealt: PracticeDeal | None = None,
    with_ghost: bool = False,
) -> ExitReason:
    """Practise until the player leaves; without a `seed`, deal at random. Raises `BadSeed`."""
    deal = dealt or from_seed(game, seed or drawn_seed())
    return await PlainPractice(session or open_session(), deal, store, with_ghost=with_ghost).stay()


class PlainPractice:
    """The command loop of practice."""

    def __init__(
        self,
        session: PlainSession,
        dealt: PracticeDeal,
        store: RunStore | None = None,
        *,
        with_ghost: bool = False,
    ) -> None:
        self._session = session
        self._write = session.output.write
        self._store = store
        self._practice = PracticeSession(dealt, run_store=store, with_ghost=with_ghost)
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
            "look": lambda _: self._board().look(),
            "where": lambda words: self._board().where(words),
            "legal": lambda _: self._board().legal(),
            "clock": lambda _: self._clock(),
            "ghost": self._ghost,
            "share": lambda _: (f"share: {line}" for line in self._practice.share.splitlines()),
            "rules": lambda words: rules_lines(words, self._game),
        }

    async def stay(self) -> ExitReason:
        """Carry out commands until the player leaves or the input ends."""
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
            self._do(name, parsed)

    @property
    def _progress(self) -> PracticeGame:
        return self._practice.practice

    @property
    def _game(self) -> Game:
        return self._progress.game

    @property
    def _card_names(self) -> CardNames:
        return self._session.card_names

    def _do(self, name: str, parsed: ParsedLine) -> None:
        if parsed.is_move:
            self._move(parsed.line)
        elif name in self._handlers:
            self._handlers[name](parsed.arguments)
        elif name in self._answers:
            self._session.output.write_all(self._answers[name](parsed.arguments))
        else:
            self._session.help(Context.PRACTICE)

    def _board(self) -> BoardAnswers:
        progress = self._progress
        return BoardAnswers(progress.game, progress.view, len(progress.made), self._card_names)

    # Commands that change the board

    def _move(self, words: str) -> None:
        before = self._progress.view
        move = parse_typed_move(self._game, before, words, Context.PRACTICE, self._card_names)
        if isinstance(move, str):
            self._write(move)
            return
        self._practice.play(move)
        after = self._progress
        number = len(after.made)
        self._write(moved_line(self._game, before, after.view, move, number, self._card_names))
        self._session.output.write_all(self._end_lines())

    def _end_lines(self) -> Iterator[str]:
        """Return a line if the game is won or stuck."""
        if self._progress.is_won:
            yield f"won: every card is banked, in {minutes_and_seconds(self._practice.elapsed)}"
            yield from self._save_error()
        elif is_known_stuck(self._game, self._progress.position):
            yield "stuck: nothing more can be banked. Type undo, restart, or new for another deal."

    def _undo(self, words: str) -> None:
        before = self._progress
        if not before.made:
            self._write("no: There is no move to undo.")
            return
        self._practice.undo()
        self._write_move("undone", before)

    def _redo(self, words: str) -> None:
        if not self._progress.undone:
            self._write("no: There is no undone move to make again.")
            return
        self._practice.redo()
        self._write_move("made again", self._progress)

    def _write_move(self, kind: str, longer: PracticeGame) -> None:
        """Write the line for the last move of `longer`, described from the position before it."""
        shorter = undo(longer, longer.last_at)
        move = longer.made[-1].move
        words = move_words(self._game, shorter.view, move, self._card_names)
        now = self._progress
        self._write(f"{kind} {move}: {words}; {counted(len(now.made), 'move')}, {self._money()}")

    def _hint(self, words: str) -> None:
        advised = self._practice.hint(self._card_names.card)
        move = "" if advised.move is None else f" {advised.move}"
        self._write(f"hint{move}: {advised.says.removeprefix('Hint: ')}")

    def _bank_safe(self, words: str) -> None:
        before = self._progress.banked
        sentence = self._practice.bank_safe()
        banked = self._progress.banked - before
        if not banked:
            self._write("no: No card is safe to bank now. Type legal to see what can be banked.")
            return
        self._write(f"safe: {counted(banked)} banked; {self._money()}")
        if self._progress.is_won:
            self._write(f"won: {sentence}")

    def _restart(self, words: str) -> None:
        self._practice.restart()
        self._show_deal()

    def _new(self, words: str) -> None:
        self._practice.deal_anew()
        self._show_deal()

    def _seed(self, words: str) -> None:
        if not words:
            self._write(f"seed: {self._progress.deal.title}. Type new for another.")
            return
        try:
            dealt = from_seed(self._game, words)
        except BadSeed as error:
            self._write(f"no: {error}")
            return
        self._keep()
        self._practice = PracticeSession(
            dealt, run_store=self._store, with_ghost=self._practice.with_ghost
        )
        self._show_deal()

    # Output

    def _show_deal(self) -> None:
        self._session.output.write_all(self._save_error())
        self._session.output.write_all(self._deal_lines())

    def _deal_lines(self) -> Iterator[str]:
        progress = self._progress
        yield f"practice: {self._game.title}, {progress.deal.title}, {self._money()}"
        yield from position_lines(self._game, progress.view, self._card_names)
        yield rule_line(self._game, progress.view)
        if self._practice.with_ghost:
            yield f"ghost: {self._practice.greeting()}"

    def _clock(self) -> Iterator[str]:
        yield f"clock: {minutes_and_seconds(self._practice.elapsed)} passed; practice time does not count"

    def _ghost(self, words: str) -> Iterator[str]:
        """Return the comparison with the player's best run; `on` and `off` switch it."""
        if (words.lower() or "on") != ("on" if self._practice.with_ghost else "off"):
            self._practice.toggle_ghost()
        ghost = self._practice.ghost
        if not self._practice.with_ghost:
            yield "ghost: off"
        elif ghost is None:
            yield "ghost: There is no earlier run of this deal; this run will be your ghost."
        else:
            gap = gap_text(ghost, self._progress.banked, self._practice.elapsed)
            yield f"ghost: {ghost.words}; you are {gap}"

    def _keep(self) -> None:
        """Save the run if it has a move, and write a note if that fails."""
        self._practice.keep()
        self._session.output.write_all(self._save_error())

    def _save_error(self) -> Iterator[str]:
        if self._practice.save_error:
            yield f"note: {self._practice.save_error}"

    def _money(self) -> str:
        return money_words(self._game, self._progress.view)
