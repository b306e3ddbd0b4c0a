"""Practice in plain lines: any deal, with undo, hints and restart, marked as practice."""

from collections.abc import Callable, Iterable, Iterator

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
from saratoga_client.plain.grammar import Context
from saratoga_client.plain.session import ExitReason, PlainSession, open_session
from saratoga_client.practice.deals import BadSeed, PracticeDeal, drawn_seed, from_seed
from saratoga_client.practice.practice_session import PracticeSession, gap_text, is_known_stuck
from saratoga_client.wording import counted, minutes_and_seconds
from saratoga_rules.game import Game
from saratoga_rules.moves import Move
from saratoga_rules.position import View


async def run_practice(
    game: Game, seed: str = "", *, session: PlainSession | None = None
) -> ExitReason:
    """Practise until the player leaves; without a `seed`, deal at random. Raises `BadSeed`."""
    deal = from_seed(game, seed or drawn_seed())
    return await PlainPractice(session or open_session(), deal).stay()


class PlainPractice:
    """The command loop of practice; each command returns its lines."""

    def __init__(self, session: PlainSession, deal: PracticeDeal) -> None:
        self._session = session
        self._game = deal.game
        self._practice = PracticeSession(deal)
        self._commands: dict[str, Callable[[str], Iterable[str]]] = {
            "undo": lambda _: self._undo(),
            "redo": lambda _: self._redo(),
            "hint": lambda _: self._hint(),
            "safe": lambda _: self._bank_safe(),
            "restart": lambda _: self._begin(self._practice.deal),
            "new": lambda _: self._begin(from_seed(self._game, drawn_seed())),
            "seed": self._seed,
            "look": lambda _: self._board().look(),
            "where": lambda words: self._board().where(words),
            "legal": lambda _: self._board().legal(),
            "clock": lambda _: self._clock(),
            "ghost": lambda _: self._ghost(),
            "share": lambda _: (f"share: {line}" for line in self._practice.share.splitlines()),
            "rules": lambda words: rules_lines(words, self._game),
        }

    async def stay(self) -> ExitReason:
        """Carry out commands until the player leaves or the input ends."""
        write_all = self._session.output.write_all
        write_all(self._deal_lines())
        while True:
            parsed = await self._session.command(Context.PRACTICE)
            name = "" if parsed is None or parsed.command is None else parsed.command.name
            if parsed is None or name in ("leave", "quit"):
                self._practice.keep()
                write_all((*self._save_error(), f"practice: over, {self._money()}"))
                reasons = {"leave": ExitReason.LEFT, "quit": ExitReason.QUIT}
                return reasons.get(name, ExitReason.INPUT_ENDED)
            if parsed.is_move:
                write_all(self._move(parsed.line))
            elif name in self._commands:
                write_all(self._commands[name](parsed.arguments))
            elif name == "cards":
                self._session.choose_cards(parsed.arguments)
            else:
                self._session.help(Context.PRACTICE)

    def _board(self) -> BoardAnswers:
        practice = self._practice
        return BoardAnswers(self._game, practice.view, len(practice.made), self._session.card_names)

    # Commands that change the board

    def _move(self, words: str) -> Iterator[str]:
        practice, card_names = self._practice, self._session.card_names
        before = practice.view
        move = parse_typed_move(self._game, before, words, Context.PRACTICE, card_names)
        if isinstance(move, str):
            yield move
            return
        practice.play(move)
        number = len(practice.made)
        yield moved_line(self._game, before, practice.view, move, number, card_names)
        if practice.is_won:
            yield f"won: every card is banked, in {minutes_and_seconds(practice.elapsed)}"
            yield from self._save_error()
        elif is_known_stuck(self._game, practice.position):
            yield "stuck: nothing more can be banked. Type undo, restart, or new for another deal."

    def _undo(self) -> Iterator[str]:
        practice = self._practice
        if not practice.made:
            yield "no: There is no move to undo."
            return
        move = practice.made[-1].move
        practice.undo()
        yield self._moved("undone", move, practice.view)

    def _redo(self) -> Iterator[str]:
        practice = self._practice
        if not practice.undone:
            yield "no: There is no undone move to make again."
            return
        move, before = practice.undone[-1].move, practice.view
        practice.redo()
        yield self._moved("made again", move, before)

    def _moved(self, kind: str, move: Move, before: View) -> str:
        """Return the line on a move from the position `before`."""
        words = move_words(self._game, before, move, self._session.card_names)
        made = counted(len(self._practice.made), "move")
        return f"{kind} {move}: {words}; {made}, {self._money()}"

    def _hint(self) -> Iterator[str]:
        move, says = self._practice.hint(self._session.card_names.card)
        yield f"hint{'' if move is None else f' {move}'}: {says.removeprefix('Hint: ')}"

    def _bank_safe(self) -> Iterator[str]:
        before = self._practice.banked
        says = self._practice.bank_safe()
        banked = self._practice.banked - before
        if not banked:
            yield "no: No card is safe to bank now. Type legal to see what can be banked."
            return
        yield f"safe: {counted(banked)} banked; {self._money()}"
        if self._practice.is_won:
            yield f"won: {says}"

    def _begin(self, deal: PracticeDeal) -> Iterator[str]:
        self._practice.begin(deal)
        yield from self._save_error()
        yield from self._deal_lines()

    def _seed(self, words: str) -> Iterator[str]:
        if not words:
            yield f"seed: {self._practice.deal.title}. Type new for another."
            return
        try:
            deal = from_seed(self._game, words)
        except BadSeed as error:
            yield f"no: {error}"
        else:
            yield from self._begin(deal)

    # Output

    def _deal_lines(self) -> Iterator[str]:
        game, practice = self._game, self._practice
        yield f"practice: {game.title}, {practice.deal.title}, {self._money()}"
        yield from position_lines(game, practice.view, self._session.card_names)
        yield rule_line(game, practice.view)
        if practice.ghost is not None:
            yield f"ghost: {practice.greeting()}"

    def _clock(self) -> Iterator[str]:
        passed = minutes_and_seconds(self._practice.elapsed)
        yield f"clock: {passed} passed; practice time does not count"

    def _ghost(self) -> Iterator[str]:
        """Return the comparison with the player's best run."""
        practice = self._practice
        if practice.ghost is None:
            yield "ghost: There is no earlier run of this deal; this run will be your ghost."
        else:
            gap = gap_text(practice.ghost, practice.banked, practice.elapsed)
            yield f"ghost: {practice.ghost.words}; you are {gap}"

    def _save_error(self) -> Iterator[str]:
        if self._practice.save_error:
            yield f"note: {self._practice.save_error}"

    def _money(self) -> str:
        return money_words(self._game, self._practice.view)
