"""The screen of a replay: all boards of a finished race, by move or at the race's speed."""

import time
from collections.abc import Callable, Mapping
from typing import Final

from saratoga_client.board_view.roles import Role
from saratoga_client.practice.deals import from_record
from saratoga_client.practice.ghost import ghost_of_board
from saratoga_client.review.divergence import first_divergence, last_divergence
from saratoga_client.review.replay import replay_of
from saratoga_client.review.share_text import race_text
from saratoga_client.tui.game_screen import COPY_KEY
from saratoga_client.tui.lines import Guide
from saratoga_client.tui.pages.replay_words import (
    first_divergence_text,
    last_divergence_text,
)
from saratoga_client.tui.screens.practice import PracticeScreen
from saratoga_client.tui.screens.replay import BOTH, ReplayScreen
from saratoga_client.wording import NO_LEVELS, counted
from saratoga_rules.records.record import RaceRecord

ONLY_BOARD: Final = "There is only this board: no one else raced."


class ReviewScreen(ReplayScreen):
    """The screen of a finished race's boards; `dismiss` closes it."""

    def __init__(
        self,
        record: RaceRecord,
        player: str = "",
        levels: Mapping[str, str] = NO_LEVELS,
        share: str = "",
        *,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """Show a player's board first; without a `player`, the winner's.

        `share` is the text for friends that can be copied; by default it follows from the record alone.
        Raises `ReplayError` if the record cannot be replayed, and `ValueError` if it has no boards.
        """
        super().__init__(replay_of(record, player, levels), player, seconds=seconds)
        self.record = record
        self._share = share or race_text(record, self.replay.boards, player)

    def game_keys(self) -> Guide:
        several = len(self.replay.boards) > 1
        return (
            ("left right", "moves"),
            ("space", "stop" if self.speed else "play"),
            *((("tab", "next racer"), ("d", "difference")) if several else ()),
            *((("x", "the other"),) if self.replay.ahead is not None else ()),
            *((("b", "both boards"),) if several and self.size.width >= BOTH else ()),
            ("w", "longest pause"),
            ("o", "chart" if self._names_hidden else "face down"),
            ("s", "play it yourself"),
            (COPY_KEY, "copy"),
        )

    def press_game(self, key: str) -> None:
        if key.isdigit() and key != "0":
            self._show_place(int(key))
        else:
            super().press_game(key)

    def key_actions(self) -> dict[str, Callable[[], None]]:
        return {
            **super().key_actions(),
            "tab": lambda: self._show(self.replay.shown + 1),
            "shift+tab": lambda: self._show(self.replay.shown - 1),
            "x": lambda: self._show(self.replay.rival),
            "d": self._show_difference,
            "b": self._show_both,
            "o": self._toggle_hidden,
            "s": self._practise,
            COPY_KEY: self._copy_result,
        }

    def _show(self, index: int) -> None:
        if len(self.replay.boards) == 1:
            self.say(ONLY_BOARD)
            return
        self.replay = self.replay.of(index % len(self.replay.boards))
        self.say_move()

    def _show_place(self, place: int) -> None:
        boards = len(self.replay.boards)
        if place <= boards:
            self._show(place - 1)
        else:
            self.say(
                f"There is no place {place}: {counted(boards, 'board')} in this race.", Role.DIM
            )

    def _show_difference(self) -> None:
        """Go to the first difference from the rival's board; from there, to the last common position."""
        replay = self.replay
        pair = (replay.board, replay.boards[replay.rival])
        first, last = first_divergence(replay.game, *pair), last_divergence(replay.game, *pair)
        if len(replay.boards) == 1:
            self.say(ONLY_BOARD)
        elif first is None or last is None:
            self.say("The moves of these two boards are the same.")
        elif replay == replay.at_divergence(first):
            self.speed = 0
            self.replay = replay.at_divergence(last)
            self.say(last_divergence_text(self.replay, last))
        else:
            self.speed = 0
            self.replay = replay.at_divergence(first)
            self.say(first_divergence_text(self.replay, first))

    def _toggle_hidden(self) -> None:
        """Name the hidden cards in the panel, or show the chart there."""
        self._names_hidden = not self._names_hidden
        self.say(
            "The panel names the hidden cards; o shows the chart." if self._names_hidden else ""
        )

    def _show_both(self) -> None:
        if len(self.replay.boards) == 1:
            self.say(ONLY_BOARD)
        elif self.size.width < BOTH:
            self.say(f"Two boards need {BOTH} columns; here tab changes from one to the other.")
        else:
            self.toggle_class("-both")
            self.call_after_refresh(self.redraw)

    def _practise(self) -> None:
        """Open practice with this deal and the shown board's ghost."""
        self.speed = 0
        ghosts = (ghost_of_board(self.record, self.replay.board.player),)
        deal = from_record(self.record)
        self.app.push_screen(PracticeScreen(deal, with_ghost=True, ghosts=ghosts))

    def _copy_result(self) -> None:
        self.copy(self._share)
