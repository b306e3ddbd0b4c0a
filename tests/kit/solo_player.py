"""A player who uses the screens of practice and review by keys and clicks.

The pictures of the screens are golden: `python -m kit.solo_player` (from the folder `tests`) paints
all of them again; look at the difference before committing it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

from hypothesis import strategies as st
from textual.pilot import Pilot
from textual.screen import Screen

from kit.races import Entrant, race
from kit.table_screens import painted_text
from kit.walks import STRATEGIES, banking, wandering
from saratoga_client.input.move_text import card_name
from saratoga_client.practice.deals import from_seed
from saratoga_client.practice.practice_session import PracticeSession
from saratoga_client.review.boards import open_boards
from saratoga_client.review.share_text import race_text
from saratoga_client.tui.app import SaratogaApp
from saratoga_client.tui.base_screen import MessageLine
from saratoga_client.tui.screens.practice import PracticeScreen
from saratoga_client.tui.screens.review import ReviewScreen
from saratoga_client.tui.theme import Appearance
from saratoga_rules.analysis import legal_moves
from saratoga_rules.games import GAMES
from saratoga_rules.records.record import RaceRecord

FOLDER: Final = Path(__file__).parent.parent / "client" / "tui" / "solo_pictures"

SMALL: Final = (80, 24)
LARGE: Final = (120, 40)

ENTRANTS: Final = (
    Entrant("Anna", banking, patience=60),
    Entrant("Otto", wandering, patience=30),
    Entrant("Zoë", banking, bot=True, patience=45),
)


@cache
def finished(name: str = "lafayette", seed: int = 1) -> RaceRecord:
    """Return the record of a finished race of two people and a bot."""
    return race(name, seed, ENTRANTS)


@dataclass
class StoppedClock:
    """A clock that a test sets."""

    at: float = 0.0

    def __call__(self) -> float:
        return self.at


def reviewed(
    record: RaceRecord, player: str = "", clock: StoppedClock | None = None
) -> ReviewScreen:
    """Return the screen of a finished race."""
    boards = open_boards(record)
    share = race_text(record, boards, player)
    return ReviewScreen(record.race_id, boards, player, share, seconds=clock or StoppedClock())


@dataclass
class Player:
    """A player who uses a screen by keys and mouse clicks."""

    app: SaratogaApp
    pilot: Pilot[int]

    @property
    def screen(self) -> Screen[Any]:
        return self.app.screen

    def sees(self, screen: Screen[Any]) -> bool:
        """Return whether this screen is the active one."""
        return self.app.screen is screen

    @property
    def lines(self) -> list[str]:
        """The text of the screen, line by line."""
        return painted_text(self.screen)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def message(self) -> str:
        """The text of the message line."""
        return self.screen.query_one(MessageLine).text

    async def press(self, *keys: str) -> str:
        """Press keys; return the message shown after the last key."""
        await self.pilot.press(*keys)
        answers = self.screen.query(MessageLine)
        return answers.first().text if answers else ""

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until a condition holds; fail after a long timeout."""
        async with asyncio.timeout(30):
            while not holds():
                await self.pilot.pause(0.01)


@asynccontextmanager
async def before(
    screen: Screen[None],
    size: tuple[int, int] = SMALL,
    appearance: Appearance = Appearance(),  # noqa: B008 - frozen
) -> AsyncIterator[Player]:
    """Run the app with this screen in a terminal of this size, and yield its player."""

    async def errand(app: SaratogaApp) -> None:
        await app.push_screen_wait(screen)

    app = SaratogaApp(errand, appearance)
    async with app.run_test(size=size) as pilot:
        while app.screen is not screen:
            await pilot.pause()
        await pilot.pause()
        yield Player(app, pilot)


PICTURES: Final = {
    "practice-canfield-80x24": ("canfield", SMALL, False, "space 1"),
    "practice-caprice-ascii-80x24": ("caprice", SMALL, True, "h"),
    "practice-lady-palk-120x40": ("lady-palk", LARGE, False, "space z"),
    "practice-klondike-80x24": ("klondike", SMALL, False, "h enter space"),
    "practice-lafayette-60x24": ("lafayette", (60, 24), False, ""),
    "review-canfield-aisleriot-80x24": ("canfield-aisleriot", SMALL, False, "n"),
    "review-lafayette-face-down-80x24": ("lafayette", SMALL, True, "pagedown h"),
    "review-klondike-face-down-80x24": ("klondike", SMALL, False, "pagedown h"),
    "review-caprice-120x40": ("caprice", LARGE, False, "end"),
}
"""The golden pictures: a game, the size of the screen, whether it is in ASCII, and the keys before the picture."""


async def picture(name: str) -> str:
    """Paint the picture of that name in `PICTURES`; return it as text."""
    game, size, ascii_only, keys = PICTURES[name]
    screen: Screen[None] = PracticeScreen(from_seed(GAMES[game], "7"), seconds=StoppedClock())
    if name.startswith("review"):
        screen = reviewed(finished(game))
    async with before(screen, size, Appearance(ascii=ascii_only)) as player:
        await player.press(*keys.split())
        return player.text + "\n"


async def _paint() -> None:
    for name in PICTURES:
        (FOLDER / f"{name}.txt").write_text(await picture(name), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(_paint())


LONGEST = 120
SEEDS = 12


@cache
def _practised(name: str, seed: int) -> tuple[PracticeSession, ...]:
    """Return practice after each step: moves, undos, redos and hints, some seconds apart."""
    chance = Random(f"practice {name} {seed}")
    strategy = STRATEGIES[seed % len(STRATEGIES)]
    clock = StoppedClock()
    session = PracticeSession(from_seed(GAMES[name], f"walk {seed}"), seconds=clock)
    walked = [copied(session)]
    while len(walked) < LONGEST:
        clock.at += chance.random() * 4
        roll = chance.random()
        legal = legal_moves(session.game, session.position)
        if roll < 0.1 and session.made:
            session.undo()
        elif roll < 0.16 and session.undone:
            session.redo()
        elif roll < 0.2:
            session.hint(card_name)
        elif legal:
            session.play(strategy(legal, chance))
        elif session.made:
            session.undo()
        else:
            break
        walked.append(copied(session))
    return tuple(walked)


def practised_to(name: str, place: int) -> PracticeSession:
    """Return practice of a game for a test to go on with; `place` determines the seed and the step."""
    walked = _practised(name, place // LONGEST)
    return copied(walked[place % LONGEST % len(walked)])


def copied(session: PracticeSession) -> PracticeSession:
    """Return a session that goes on from the same state."""
    other = copy(session)
    other.made, other.undone = session.made[:], session.undone[:]
    other.counts = session.counts[:]
    return other


places_in_practice = st.integers(0, SEEDS * LONGEST - 1)
"""Numbers of every step of every practice walk."""
