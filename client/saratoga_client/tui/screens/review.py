"""The screen of a replay: all boards of a finished race, by move or at the race's speed."""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from saratoga_client.board_view.roles import Role
from saratoga_client.practice.deals import from_record
from saratoga_client.practice.ghost import Ghost
from saratoga_client.review.divergence import first_divergence
from saratoga_client.review.replay import replay_of
from saratoga_client.review.share_text import race_text
from saratoga_client.tui.base_screen import Key, Keys
from saratoga_client.tui.screens.practice import PracticeScreen
from saratoga_client.tui.screens.replay import ReplayScreen, divergence_text
from saratoga_client.wording import NO_LEVELS, counted, shown_name
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

    def keys(self) -> Keys:
        if self.finder.is_open:
            return super().keys()
        several = len(self.replay.boards) > 1
        face_down = "chart" if self._names_hidden else "face down"
        racers = "the next racer's board, the one before; 1 to 9 choose by place"
        moves, play, *others = super().keys()
        return (
            moves,
            play,
            Key("tab", "next racer" if several else "", racers, partial(self._show_next, 1)),
            Key("shift+tab", "", "", partial(self._show_next, -1)),
            *(Key(str(place), "", "", partial(self._show_place, place)) for place in range(1, 10)),
            Key(
                "d",
                "difference" if several else "",
                "where this board and the winner's first differ",
                self._show_difference,
            ),
            Key("o", face_down, "name the hidden cards, or show the chart", self._toggle_hidden),
            Key("s", "play it yourself", "practise this deal against this board", self._practise),
            Key("y", "copy", "copy the result for friends", self._copy_result),
            *others,
        )

    def _show_next(self, step: int) -> None:
        self._show(self.replay.shown + step)

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
        """Go to the first difference from the rival's board."""
        replay = self.replay
        divergence = first_divergence(replay.game, replay.board, replay.rival, self.card_name)
        if len(replay.boards) == 1:
            self.say(ONLY_BOARD)
        elif divergence is None:
            self.say("The moves of these two boards are the same.")
        else:
            self.go(replay.stepped(divergence.common - replay.step))
            self.say(divergence_text(self.replay, divergence))

    def _toggle_hidden(self) -> None:
        """Name the hidden cards in the panel, or show the chart there."""
        self._names_hidden = not self._names_hidden
        self.say(
            "The panel names the hidden cards; o shows the chart." if self._names_hidden else ""
        )

    def _practise(self) -> None:
        """Open practice with this deal and the shown board's ghost."""
        self.speed = 0
        board = self.replay.board
        name = shown_name(board.name, board.bot)
        ghosts = (Ghost(f"{name} in {self.replay.race}", board.climb),)
        deal = from_record(self.record)
        self.app.push_screen(PracticeScreen(deal, with_ghost=True, ghosts=ghosts))

    def _copy_result(self) -> None:
        self.copy(self._share)
