"""A whole race of two players in terminals, by keys alone, on a real server.

The players use only what their screens show, and fail on a screen with truncated text.
"""

import asyncio
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rich.cells import cell_len

from kit.server_process import ServerProcess
from kit.tmux import Pane, Screen, Tmux, open_tmux

SARATOGA: Final = (sys.executable, "-m", "saratoga_client")
PANEL: Final = {80: 24, 100: 28}
"""The width of the panel beside a board, by the width of the screen."""
INVITATION: Final = "saratoga join"
"""Words in the invitation at the top of a table's page before a race."""
PATIENCE: Final = 40
"""Moves in a row without a card banked, after which a player cashes out."""

_CODE: Final = re.compile(r"\b[a-z]+-[a-z]+-\d+\b")
_PLACE: Final = re.compile(r"^.([ \d]\d) (\S.{20}) ([ \d]{6}) +([-+]?\$\d+) +(?:\d+:\d\d +)?(\S.*)")
_LIT: Final = re.compile(r"^ (?:\d+ of (?P<all>\d+): )?(?P<move>.*?)(?:; enter plays it)?\.$")
_BANK: Final = re.compile(r"(?:^| )([fg]) bank")
_WHICH: Final = re.compile(r"^ (\S+)(?: \S+)*? bank  esc drop")
_BANKED: Final = re.compile(r"╎\d+ = (?:even|ahead) +(\d+)/\d+")
"""The row of the panel with the number of the player's banked cards."""


def is_whole(screen: Screen, columns: int, lines: int) -> bool:
    """Return whether a screen has its title, message and keys, and no line that is cut or too long."""
    return (
        len(screen.lines) == lines
        and all(screen.lines[line].strip() for line in (0, -2))
        and screen.lines[-1].rstrip().endswith(("q leave", "any other key no"))
        and not any(
            cell_len(line) > columns or line.rstrip().endswith(("..", "…")) for line in screen.lines
        )
    )


def board_of(screen: Screen) -> str:
    """Return the board's part of a race's screen, without the side panel."""
    (width,) = {found.end() for line in screen.lines if (found := _BANKED.search(line))}
    left = width - PANEL[width]
    return "\n".join(line[:left].rstrip() for line in screen.lines[1:-2])


def may_play(screen: Screen) -> bool:
    """Return whether the player can move: the keys for a race are shown and no card is picked."""
    keys = screen.lines[-1]
    is_asked = "play" in keys or "no" in keys.split()
    return _BANKED.search(str(screen)) is not None and "cash out" in keys and not is_asked


def is_over(screen: Screen) -> bool:
    """Return whether this player's board has ended."""
    keys = screen.lines[-1]
    return "enter again" in keys or (
        _BANKED.search(str(screen)) is not None
        and keys.split()[:2] in (["p", "panel"], ["x", "end"])
    )


@dataclass
class KeyboardPlayer:
    """A player at a terminal."""

    pane: Pane
    columns: int
    lines: int
    made: int = 0
    """The number of moves made."""
    _tried: set[tuple[str, str]] = field(default_factory=set)
    """Pairs of a board's picture and a move that was tried on it."""

    async def sees(self, wanted: str | Callable[[Screen], bool]) -> Screen:
        """Wait for a complete screen that matches."""

        def matches(screen: Screen) -> bool:
            assert "ended: " not in screen, f"the program has ended:\n{screen}"
            found = wanted in screen if isinstance(wanted, str) else wanted(screen)
            # a screen that is being painted is not whole
            return found and is_whole(screen, self.columns, self.lines)

        while True:
            screen = await self.pane.until(matches)
            if await self.pane.is_painted() and screen == await self.pane.screen():
                return screen

    async def races(self) -> None:
        """Play until the board ends; cash out after `PATIENCE` moves without a card banked."""
        since_banked, banked = 0, 0
        while True:
            screen = await self.sees(lambda screen: may_play(screen) or is_over(screen))
            if is_over(screen):
                return
            found = _BANKED.search(str(screen))
            assert found is not None, str(screen)
            since_banked = 0 if int(found[1]) != banked else since_banked + 1
            banked = int(found[1])
            if since_banked > PATIENCE or not await self._moves(screen):
                break
            self.made += 1
        await self.pane.press("x")
        # the server may end the board before the confirmation
        screen = await self.sees(lambda screen: "Cash out with" in screen or is_over(screen))
        if not is_over(screen):
            await self.pane.press("y")
            await self.sees(is_over)

    async def _moves(self, screen: Screen) -> bool:
        """Bank a card if possible, else make the first move that Tab offers and that was not tried.

        Returns False if every move was tried on this board.
        """
        board, before = board_of(screen), screen
        if bank := _BANK.search(screen.lines[-1]):
            await self._play(board, bank[1], screen.lines[-2])
            return True
        for number in range(1, 100):
            said = before.lines[-2]
            await self.pane.press("Tab")
            before = await self.sees(
                lambda after, said=said: (  # type: ignore[misc]
                    ("enter play" in after.lines[-1] and after.lines[-2] != said) or is_over(after)
                )
            )
            if is_over(before):
                return True
            lit = _LIT.match(before.lines[-2])
            assert lit is not None, str(before)
            if (board, lit["move"]) not in self._tried:
                self._tried.add((board, lit["move"]))
                await self._play(board, "Enter", before.lines[-2])
                return True
            if number == int(lit["all"] or 100):
                break
        await self.pane.press("Escape")
        await self.sees(lambda screen: may_play(screen) or is_over(screen))
        return False

    async def _play(self, board: str, key: str, said: str) -> None:
        """Press the key of a move, say which card if that is asked, and wait until the board has changed."""
        await self.pane.press(key)
        after = await self.sees(
            lambda after: is_over(after) or (after.lines[-2], board_of(after)) != (said, board)
        )
        if which := _WHICH.match(after.lines[-1]):
            await self.pane.press(which[1])
        await self.sees(
            lambda after: is_over(after) or (may_play(after) and board_of(after) != board)
        )


async def opened(
    tmux: Tmux, server: ServerProcess, home: Path, *words: str, columns: int = 80, lines: int = 24
) -> KeyboardPlayer:
    """Start a program that leads to a table, in a terminal of this size."""
    env = {"SARATOGA_SERVER": server.url, "SARATOGA_HOME": str(home)}
    pane = await tmux.open(*SARATOGA, *words, columns=columns, lines=lines, env=env)
    return KeyboardPlayer(pane, columns, lines)


async def test_two_players_finish_a_race_by_keys_alone(
    quick_server: ServerProcess, tmp_path: Path
) -> None:
    async with open_tmux() as tmux:
        words = ("host", "canfield-aisleriot", "--name", "Anna")
        anna = await opened(tmux, quick_server, tmp_path / "anna", *words)
        code = _CODE.search(str(await anna.sees(INVITATION)))
        assert code is not None
        words = ("join", code[0], "--name", "Bert")
        bert = await opened(tmux, quick_server, tmp_path / "bert", *words, columns=100, lines=30)
        await bert.sees(INVITATION)
        for player in (anna, bert):
            await player.pane.press("r")
            await player.sees(lambda screen: "not ready" in screen.lines[-1])
        await anna.sees(lambda screen: str(screen).count("ready") > 2)
        await anna.pane.press("s")
        await asyncio.gather(anna.races(), bert.races())
        results = []
        for player, name in ((anna, "Anna"), (bert, "Bert")):
            screen = await player.sees("fair deal")
            found = (_PLACE.match(line.replace("YOU ", f"{name}")) for line in screen.lines)
            results.append([[each.strip() for each in row.groups()] for row in found if row])
            assert player.made
        assert results[0] == results[1]
        places, names, banked, *_ = zip(*results[0], strict=True)
        assert places in (("1", "2"), ("1", "1"))
        assert set(names) == {"Anna", "Bert"}
        assert int(banked[0]) >= int(banked[1])
        await anna.pane.press("Enter")
        for player in (anna, bert):
            await player.sees(
                lambda screen: INVITATION in screen and "ready" in screen.lines[-1].split()
            )
