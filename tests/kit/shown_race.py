"""A race that a test itself shows on the page, in the middle of a game: no server deals it."""

from typing import Any, Final

import msgspec
from playwright.async_api import Page

from kit.browser_pages import Pages, page_url
from kit.scripted_server import NOON, PLAYER, table
from kit.server_process import ServerProcess
from kit.walks import Step, banking, walk
from saratoga_protocol.events import BoardView, Seat, Snapshot, Standing
from saratoga_protocol.views import wire_view
from saratoga_rules.position import redact

LOAD: Final = """async () => {
    const from = name => import(document.querySelector("script[type=module]").src.replace("main.js", name));
    const [{RaceScreen}, {firstState}] = await Promise.all([from("race.js"), from("session.js")]);
    window.showRace = snapshot => {
        const state = firstState(snapshot.standings[0].player, snapshot, false);
        const app = {state, now: () => snapshot.now, takeOpening: () => "", waited: () => 0, idleLeft: 0, alarms: [],
            connection: {link: "connected", silence: 0}};
        const screen = new RaceScreen(app);
        screen.show(state);
        document.getElementById("screen").replaceChildren(screen.node);
        window.shown = screen;
    };
}"""
"""A function that defines `showRace`, which shows the race of a snapshot as the variable `shown`."""


def middle_game(game: str) -> Step:
    """Return a position in the middle of a game, with a fan of at least three cards on the waste."""
    steps = walk(game, 3, banking)
    fanned = [step for step in steps if len(step.position.waste) >= 3] or list(steps)
    return max(fanned, key=lambda step: max(map(len, step.position.columns)))


def snapshot(game: str) -> dict[str, Any]:
    """Return a snapshot of a race of five in the middle of the game."""
    step = middle_game(game)
    shown = table(phase="running")
    players = [PLAYER, *(letter * 16 for letter in "bcde")]
    shown = msgspec.structs.replace(
        shown,
        settings=msgspec.structs.replace(shown.settings, game=game),
        racers=players,
        seats=[Seat(player=player, name=f"Racer {player[0]}", ready=True) for player in players],
    )
    board = BoardView(
        race=shown.race,
        count=7,
        view=wire_view(redact(step.position)),
        banked=9,
        net=-12,
        state="racing",
        legal=[str(move) for move in step.legal],
        head="0" * 16,
    )
    standings = [
        Standing(player=player, place=place, banked=9, net=-12, state="racing", head="0" * 16)
        for place, player in enumerate(players, 1)
    ]
    sent: dict[str, Any] = msgspec.to_builtins(
        Snapshot(table=shown, board=board, standings=standings, now=NOON)
    )
    return sent


async def open_for_races(pages: Pages, server: ServerProcess, **options: Any) -> Page:
    """Open a page on which `showRace` shows a race in place of the home."""
    page = await pages.open(page_url(server), **options)
    await page.get_by_text("None now").wait_for()
    await page.evaluate(LOAD)
    return page


async def shown_race(pages: Pages, server: ServerProcess, game: str, **options: Any) -> Page:
    """Show a race in the middle of the game."""
    page = await open_for_races(pages, server, **options)
    await page.evaluate("snapshot => showRace(snapshot)", snapshot(game))
    return page
