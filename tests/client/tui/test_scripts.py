"""Screens answer keys, clicks and events as the scripts in the folder `scripts` say.

`== NAME` begins a case and `[SCENE]` opens a screen. `> KEYS` presses keys, `! WORDS` lets
something happen (`HAPPENS`). The lines below say what follows from it:

    says TEXT       the whole message; ... stands for any text
    sent COMMANDS   the commands that were sent, separated by commas; without this line none was
    sees, lacks     a text that is on the screen, or nowhere on it
    head, foot      a text in the first row, or in the last; no head, no foot: a text that is not
    pile, no pile   a pile of the board, and a card that it shows, or does not
    rings, no rings whether the bell rang
    moves           the moves that were made in practice
    copied          a text in the clipboard
    screen NAME     the screen that is shown
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import pytest
from msgspec import structs

from kit.positions import draw
from kit.screens import (
    FakeSession,
    ScreenPlayer,
    StoppedClock,
    TablePlayer,
    before,
    last_racer,
    race,
    reviewed,
    table_player,
)
from kit.session_states import (
    CAP,
    CODE,
    START,
    board,
    finished,
    finished_race,
    in_match,
    outcome,
    over,
    racer_of,
    seat,
    snapshot,
    standings,
    state_after,
    table,
)
from saratoga_client.net.errors import LinkState
from saratoga_client.practice.deals import PracticeDeal, from_seed
from saratoga_client.session.state import SessionState
from saratoga_client.tui.game_screen import BoardPane
from saratoga_client.tui.screens.practice import PracticeScreen
from saratoga_client.tui.screens.review import ReviewScreen
from saratoga_client.tui.table_screen import TableScreen
from saratoga_protocol import events
from saratoga_protocol.events import BoardChanged, RaceOver
from saratoga_rules.games import GAMES

DEALT: Final = BoardChanged(board=board(), start_at=START, deadline=START + CAP, now=START)
FOLDER: Final = Path(__file__).parent / "scripts"
ANY: Final = "..."


class Act(NamedTuple):
    """Keys that are pressed, or what happens, and the lines that say what follows."""

    line: str
    expected: list[str]


@dataclass
class Case:
    """One case of a script: the screens that are opened one after the other, and the acts on each."""

    name: str
    scenes: list[tuple[str, list[Act]]] = field(default_factory=list)


def cases() -> list[Case]:
    """Read all scripts."""
    found: list[Case] = []
    for path in sorted(FOLDER.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("== "):
                found.append(Case(f"{path.stem}: {line.removeprefix('== ')}"))
            elif line.startswith("["):
                found[-1].scenes.append((line[1:-1], [Act("", [])]))
            elif line.startswith(("> ", "! ")):
                found[-1].scenes[-1][1].append(Act(line, []))
            elif line and not line.startswith("# "):
                found[-1].scenes[-1][1][-1].expected.append(line)
    return found


def fields(words: str) -> dict[str, str]:
    """Return the values of `name=value`; a value goes on to the next name."""
    return dict(re.findall(r"(\w+)=(.*?)(?= \w+=|$)", words))


def state_of(scene: str) -> SessionState:
    """Return the state of a table, as the first words of a scene say."""
    kind, _, words = scene.partition(" ")
    given = fields(words)
    letters, ready, host = given.get("seats", "yao"), given.get("ready", ""), given.get("host", "y")
    seats = [seat(letter, ready=letter in ready) for letter in letters]
    match kind:
        case "gathering":
            game = given.get("game", "canfield")
            shown = table(phase="gathering", host=host, seats=seats, game=game)
        case "match":
            races = [race.strip() for race in given["races"].split(",") if race.strip()]
            numbered = table(phase="gathering", race=f"{CODE}/{len(races) + 1}")
            return state_after(first=snapshot(shown=in_match(numbered, *races)))
        case "watching":
            counts = given.get("standings", "a1 r1")
            there = table(given.get("seats", "ar"), host=given.get("host", "a"))
            return state_after(first=snapshot(counts, shown=there))
        case "call":
            called = table(letters, phase="call", host=host, seats=seats)
            shown = structs.replace(called, call_until=START - 3000)
        case "countdown":
            shown = table(letters, phase="countdown", host=host, seats=seats)
            if "racers" in given:
                shown = structs.replace(shown, racers=[racer_of(each) for each in given["racers"]])
        case "results":
            return over(finished_race(), you=given.get("you", "Zoë"), host=given.get("host", "ana"))
        case _:
            return state_after()
    return state_after(first=snapshot(shown=shown))


@dataclass
class Stage:
    """A screen that is open, and what it has sent."""

    player: ScreenPlayer
    clock: StoppedClock | None = None
    sent: list[str] = field(default_factory=list)
    bells: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.player.app.bell = lambda: self.bells.append(1)  # type: ignore[method-assign]
        if isinstance(self.player, TablePlayer):
            self.sent = self.player.seat.asked

    @property
    def at_table(self) -> FakeSession:
        assert isinstance(self.player, TablePlayer)
        return self.player.seat

    def change(self, **changed: Any) -> None:
        """Change the state of the session without an event."""
        self.at_table.change_to(replace(self._state(), **changed))

    async def mouse(self, pile: str, button: int = 1, times: int = 1) -> None:
        point = self.player.point(pile)
        await self.player.pilot.click(BoardPane, offset=point, button=button, times=times)

    async def drag(self, piles: str) -> None:
        source, target = map(self.player.point, piles.split())
        await self.player.pilot.mouse_down(BoardPane, offset=source)
        await self.player.pilot.hover(BoardPane, offset=target)
        await self.player.pilot.mouse_up(BoardPane, offset=target)

    def _state(self) -> SessionState:
        assert self.at_table.state is not None
        return self.at_table.state

    async def tick(self, millis: int = 0) -> None:
        """Let the server's clock advance, and the screens look at it."""
        await self.player.settled()
        self.at_table.time += millis
        self.at_table.look()
        for screen in self.player.app.screen_stack:
            if isinstance(screen, TableScreen):
                screen.tick()

    def table_changes(self, given: dict[str, str]) -> None:
        """Let the server change the table."""
        shown = self._state().table
        changed: dict[str, object] = {"version": shown.version + 1, **given}
        if "host" in given:
            named = (each.player for each in shown.seats if each.name == given["host"])
            changed["host"] = next(named)
        if "locked" in given:
            changed["locked"] = given["locked"] == "yes"
        if "seats" in given:
            ready, blocked, away = (given.get(each, "") for each in ("ready", "blocked", "away"))
            changed["seats"] = [
                seat(
                    each,
                    ready=each in ready,
                    connected=each not in away,
                    blocked=each in blocked,
                    voids=2 * (each in blocked),
                )
                for each in given["seats"]
            ]
        for name in ("ready", "blocked", "away"):
            changed.pop(name, None)
        if "bots" in given:
            changed["bots"] = given["bots"].split(",")
        if "racers" in given:
            changed["racers"] = [racer_of(each) for each in given["racers"]]
        newer = structs.replace(shown, **changed)
        self.at_table.receive(events.TableChanged(table=newer, now=START))

    async def acts(self, line: str) -> None:
        kind, _, words = line.partition(" ")
        if kind == ">":
            await self.player.pilot.press(*words.split())
        elif kind == "!":
            what, _, rest = words.partition(" ")
            if (waits := HAPPENS[what](self, rest)) is not None:
                await waits
        await self.player.settled()

    def follows(self, expected: list[str]) -> None:
        """Check the lines below an act."""
        sent = ", ".join(self.sent)
        self.sent.clear()
        rang = len(self.bells)
        self.bells.clear()
        assert sent == next((each[5:] for each in expected if each.startswith("sent ")), "")
        for line in expected:
            is_so = not line.startswith("no ")
            kind, _, text = line.removeprefix("no ").partition(" ")
            if kind == "rings":
                assert rang == is_so
            elif kind != "sent":
                assert HOLDS[kind](self, text) is is_so, (
                    line,
                    self.player.message,
                    self.player.rows,
                )

    def says(self, text: str) -> bool:
        return bool(re.fullmatch(".*".join(map(re.escape, text.split(ANY))), self.player.message))

    def has_pile(self, words: str) -> bool:
        pile, _, card = words.partition(" ")
        return card in self.player.board_column(pile)

    def has_moves(self, text: str) -> bool:
        made = cast(PracticeScreen, self.player.screen).session.made
        return " ".join(str(each.move) for each in made) == text


HOLDS: Final[dict[str, Callable[[Stage, str], bool]]] = {
    "says": Stage.says,
    "sees": lambda stage, text: text in stage.player.words,
    "lacks": lambda stage, text: text not in stage.player.words,
    "head": lambda stage, text: text in " ".join(stage.player.rows[0].split()),
    "foot": lambda stage, text: text in " ".join(stage.player.rows[-1].split()),
    "pile": Stage.has_pile,
    "moves": Stage.has_moves,
    "copied": lambda stage, text: text in stage.player.app.clipboard,
    "screen": lambda stage, name: type(stage.player.app.screen).__name__ == name,
}


LINKS: Final = {"lost": LinkState.RECONNECTING, "back": LinkState.CONNECTED}

HAPPENS: Final[dict[str, Callable[[Stage, str], Awaitable[None] | None]]] = {
    "confirm": lambda stage, state: stage.at_table.confirm(state or "racing"),
    "refuse": lambda stage, reason: stage.at_table.refuse(reason),
    "refuses": lambda stage, _: setattr(stage.at_table, "refuses", True),
    "link": lambda stage, state: stage.at_table.link(LINKS[state]),
    "time": lambda stage, millis: stage.tick(int(millis)),
    "now": lambda stage, scene: stage.at_table.change_to(state_of(scene)),
    "idle": lambda stage, seconds: stage.change(idle_left=int(seconds)),
    "alarm": lambda stage, text: stage.change(alarms=(text,)),
    "standings": lambda stage, words: stage.at_table.receive(standings(words)),
    "last": lambda stage, words: stage.at_table.receive(last_racer(**fields(words))),
    "announce": lambda stage, text: stage.at_table.receive(events.Announcement(text=text)),
    "table": lambda stage, words: stage.table_changes(fields(words)),
    "over": lambda stage, words: stage.at_table.receive(RaceOver(outcome=outcome(words))),
    "dealt": lambda stage, _: stage.at_table.receive(DEALT),
    "clock": lambda stage, seconds: setattr(stage.clock, "at", float(seconds)),
    "resize": lambda stage, size: stage.player.pilot.resize_terminal(*map(int, size.split())),
    "quiet": lambda stage, _: cast(TableScreen, stage.player.app.screen).say(""),
    "click": lambda stage, pile: stage.mouse(pile),
    "double": lambda stage, pile: stage.mouse(pile, times=2),
    "right": lambda stage, pile: stage.mouse(pile, button=3),
    "drag": lambda stage, piles: stage.drag(piles),
}


def review(given: dict[str, str], clock: StoppedClock) -> ReviewScreen:
    """Return the review of a finished race, of the board at a place or of so many boards."""
    record = finished()
    player = record.results[int(given.get("player", 1)) - 1].player
    boards = int(given.get("boards", len(record.results)))
    return reviewed(replace(record, results=record.results[:boards]), player, clock)


@asynccontextmanager
async def opened(scene: str) -> AsyncIterator[Stage]:
    """Open the screen of a scene."""
    kind, _, words = scene.partition(" ")
    given = fields(words)
    match kind:
        case "race":
            async with race(shorthand=words or "y4 a3 r2") as at_table:
                yield Stage(at_table)
        case "board":
            name, _, picture = words.partition(" ")
            position = draw(GAMES[name], picture.replace("; ", "\n"))
            shown = snapshot("y4 a3 r2", board(position, game=name), table(game=name))
            async with table_player(state_after(first=shown), position=position) as at_table:
                yield Stage(at_table)
        case "practice" | "review":
            clock = StoppedClock()
            if kind == "review":
                screen: Any = review(given, clock)
            elif "picture" in given:
                position = draw(GAMES[given["game"]], given["picture"].replace("; ", "\n"))
                deal = PracticeDeal(GAMES[given["game"]], position, race="mint-otter-42/3")
                screen = PracticeScreen(deal, seconds=clock)
            else:
                deal = from_seed(GAMES[given["game"]], "7")
                screen = PracticeScreen(deal, seconds=clock)
            async with before(screen) as alone:
                yield Stage(alone, clock)
        case _:
            record = finished_race() if kind == "results" and "record" not in given else None
            async with table_player(state_of(scene), record=record) as at_table:
                yield Stage(at_table)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
async def test_a_screen_answers_as_its_script_says(case: Case) -> None:
    for scene, acts in case.scenes:
        async with opened(scene) as stage:
            for act in acts:
                await stage.acts(act.line)
                stage.follows(act.expected)
