"""Practice as lines: any deal, with undo, hints and restart. It never looks like a race."""

import re
import secrets
import time
from collections.abc import Callable, Iterator
from typing import Final

from saratoga_client.clock import now
from saratoga_client.lines.answers import Asked, rules_lines
from saratoga_client.lines.moving import move_words, moved_line
from saratoga_client.lines.orders import Said, Where
from saratoga_client.lines.position import money_words
from saratoga_client.lines.talk import Parting, Talk, open_talk
from saratoga_client.lines.tongue import Tongue, counted
from saratoga_client.lines.understanding import understood
from saratoga_client.practice.dealt import DRAWN_SEED, BadSeed, Dealt, from_seed, seed_of
from saratoga_client.practice.game import (
    Practice,
    begin,
    is_known_stuck,
    make,
    redo,
    restart,
    undo,
)
from saratoga_client.practice.hints import hint
from saratoga_client.practice.runs import Run
from saratoga_client.practice_shelf import Shelf
from saratoga_rules.cards import Card
from saratoga_rules.game import Game
from saratoga_rules.moves import Move

_SHOWN_CARD: Final = re.compile("(10|[A2-9JQK])([\u2663\u2660\u2665\u2666])")
_SIGNS: Final = {"\u2663": "C", "\u2660": "S", "\u2665": "H", "\u2666": "D"}


async def practise(
    game: Game,
    seed: str = "",
    *,
    talk: Talk | None = None,
    shelf: Shelf | None = None,
    dealt: Dealt | None = None,
) -> Parting:
    """Play by oneself until one has enough; without a `seed` one is drawn. Raises `BadSeed`."""
    deal = dealt or from_seed(game, seed or drawn_seed())
    return await Practising(talk or open_talk(), deal, shelf or Shelf()).go_on()


def drawn_seed() -> str:
    """A seed that nobody has chosen."""
    return seed_of(secrets.token_bytes(DRAWN_SEED))


class Practising:
    """Somebody practises."""

    def __init__(
        self,
        talk: Talk,
        dealt: Dealt,
        shelf: Shelf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._talk = talk
        self._say = talk.voice.say
        self._shelf = shelf
        self._clock = clock
        self._practice = begin(dealt)
        self._shown_at = clock()
        self._began = now()
        self._deeds: dict[str, Callable[[str], None]] = {
            "undo": lambda _: self._step(undo, "undone", "There is no move to take back."),
            "redo": lambda _: self._step(redo, "made again", "There is nothing to make again."),
            "hint": lambda _: self._hint(),
            "restart": lambda _: self._begin(restart(self._practice)),
            "seed": self._seed,
            "new": lambda _: self._seed(drawn_seed()),
            "cards": talk.choose_cards,
        }
        self._answers: dict[str, Callable[[str], Iterator[str]]] = {
            "look": lambda _: self._asked().look(),
            "where": lambda words: self._asked().where(words),
            "legal": lambda _: self._asked().legal(),
            "clock": lambda _: iter(
                [f"clock: {self._elapsed() // 1000} seconds; none of them count"]
            ),
            "rules": lambda words: rules_lines(words, self._game),
        }

    async def go_on(self) -> Parting:
        """Carry out orders until there are no more."""
        self._show_deal()
        while True:
            said = await self._talk.order(Where.PRACTICE)
            if said is None or (said.order is not None and said.order.name in ("leave", "quit")):
                self._keep()
                self._say(f"practice: over, {self._money()}")
                if said is None:
                    return Parting.INPUT_ENDED
                assert said.order is not None
                return Parting.LEFT if said.order.name == "leave" else Parting.QUIT
            self._obey(said)

    @property
    def _game(self) -> Game:
        return self._practice.game

    @property
    def _tongue(self) -> Tongue:
        return self._talk.tongue

    def _obey(self, said: Said) -> None:
        name = "" if said.order is None else said.order.name
        if said.is_move:
            self._move(said.line)
        elif name in self._deeds:
            self._deeds[name](said.rest)
        elif name in self._answers:
            self._talk.voice.say_all(self._answers[name](said.rest))
        else:
            self._talk.help(Where.PRACTICE)

    def _asked(self) -> Asked:
        practice = self._practice
        return Asked(practice.game, practice.view, len(practice.made), self._tongue)

    # What changes the board

    def _move(self, words: str) -> None:
        practice = self._practice
        move = understood(self._game, practice.view, words, Where.PRACTICE, self._tongue)
        if isinstance(move, str):
            self._say(move)
            return
        after = make(practice, move, self._elapsed())
        self._practice = after
        self._say(
            moved_line(self._game, practice.view, after.view, move, len(after.made), self._tongue)
        )
        self._talk.voice.say_all(self._news())

    def _news(self) -> Iterator[str]:
        """Whether the game is at its end."""
        if self._practice.is_won:
            yield f"won: every card is banked, {self._money()}"
            self._keep()
        elif is_known_stuck(self._game, self._practice.position):
            yield "stuck: nothing more can be banked. Say undo, restart, or new for another deal."

    def _step(self, do: Callable[[Practice, int], Practice], done: str, cannot: str) -> None:
        before = self._practice
        after = do(before, self._elapsed())
        if after is before:
            self._say(f"no: {cannot}")
            return
        self._practice = after
        longer = max(before, after, key=lambda practice: len(practice.made))
        move = longer.made[-1].move
        said = self._move_before(longer, move)
        self._say(f"{done} {move}: {said}; {counted(len(after.made), 'move')}, {self._money()}")

    def _move_before(self, practice: Practice, move: Move) -> str:
        """The last move of `practice` in the words of the position where it was made."""
        shorter = undo(practice, practice.last_at)
        return move_words(self._game, shorter.view, move, self._tongue)

    def _hint(self) -> None:
        advice = hint(self._practice, self._elapsed())
        self._practice = advice.practice
        words = _in_letters(advice.hint.says, self._tongue).removeprefix("Hint: ")
        move = f" {advice.hint.move}" if advice.hint.move is not None else ""
        self._say(f"hint{move}: {words}")

    def _seed(self, words: str) -> None:
        if not words:
            self._say(f"seed: {self._practice.dealt.title}. Say new for another.")
            return
        try:
            dealt = from_seed(self._game, words)
        except BadSeed as fault:
            self._say(f"no: {fault}")
            return
        self._begin(begin(dealt))

    def _begin(self, practice: Practice) -> None:
        self._keep()
        self._practice = practice
        self._shown_at = self._clock()
        self._began = now()
        self._show_deal()

    def _show_deal(self) -> None:
        self._say(f"practice: {self._game.title}, {self._practice.dealt.title}, {self._money()}")
        _, *piles = self._asked().look()
        self._say(*piles)

    # Beside the board

    def _keep(self) -> None:
        """Keep the run, if anything was done."""
        if not self._practice.log:
            return
        run = Run(practice=self._practice, began=self._began, end=self._elapsed())
        try:
            self._shelf.keep(run)
        except OSError as fault:
            self._say(f"note: this run could not be kept: {fault}")

    def _elapsed(self) -> int:
        return int((self._clock() - self._shown_at) * 1000)

    def _money(self) -> str:
        return money_words(self._game, self._practice.view)


def _in_letters(text: str, tongue: Tongue) -> str:
    """The same text with its cards as lines say them."""
    return _SHOWN_CARD.sub(
        lambda found: tongue.card(Card(found[1].replace("10", "T") + _SIGNS[found[2]])), text
    )
