"""Boards that the test itself shows, without a race on the server: the six games at many sizes, and gestures."""

from typing import Any, Final

import msgspec
import pytest
from playwright.async_api import Page, expect

from kit.browser_pages import DESKTOP, Pages, page_url, take_screenshot
from kit.scripted_server import NOON, PLAYER, table
from kit.server_process import ServerProcess
from kit.walks import Step, banking, walk
from saratoga_protocol.events import BoardView, Seat, Snapshot, Standing
from saratoga_protocol.views import wire_view
from saratoga_rules.games import GAMES
from saratoga_rules.views import redact

SIZES: Final = (
    *((320, 568), (360, 640), (375, 667), (390, 844), (430, 932)),
    *((640, 360), (667, 375), (844, 390), (932, 430), (600, 960), (768, 1024), (820, 1180)),
    *((900, 720), (960, 600), (1024, 768), (1093, 614), (1120, 720), (1180, 820), (1240, 720)),
    *((1280, 720), (1280, 800), (1366, 768), (1920, 1080), (2560, 1440)),
)

SHOW_RACE: Final = """async snapshot => {
    const from = name => import(document.querySelector("script[type=module]").src.replace("main.js", name));
    const [{RaceScreen}, {firstState}] = await Promise.all([from("race.js"), from("session.js")]);
    const state = firstState(snapshot.standings[0].player, snapshot, false);
    const app = {state, now: () => snapshot.now, takeOpening: () => "", waited: () => 0, idleLeft: 0,
        connection: {link: "connected", silence: 0}};
    const screen = new RaceScreen(app);
    screen.show(state);
    document.getElementById("screen").replaceChildren(screen.node);
    window.shown = screen;
}"""
"""A function that shows the race of a snapshot, as the variable `shown`."""

FAULTS: Final = """() => {
    const faults = [];
    const covers = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
    const hits = (x, y, within) => document.elementFromPoint(x, y)?.closest(".card, .space, .pile")?.closest(within);
    const piles = [...document.querySelectorAll(".race .pile")];
    const cards = new Map(piles.map(pile => [pile, [...pile.querySelectorAll(":scope > :is(.card, .space)")]
        .map(card => card.getBoundingClientRect()).filter(box => box.width)]));
    for (const pile of piles) {
        const name = pile.dataset.pile;
        const box = pile.getBoundingClientRect();
        if (hits(box.x + box.width / 2, box.y + box.height / 2, ".pile") !== pile) faults.push(`the middle of ${name} is covered`);
        for (const card of [box, ...cards.get(pile)])
            if (card.left < -1 || card.top < -1 || card.right > innerWidth + 1 || card.bottom > innerHeight + 1)
                faults.push(`${name} is not on the screen`);
        for (const other of piles)
            if (other !== pile && cards.get(pile).some(card => cards.get(other).some(each => covers(card, each))))
                faults.push(`${name} lies on ${other.dataset.pile}`);
    }
    for (const card of document.querySelectorAll(".race .fan > .card"))
        for (const mark of [...card.querySelectorAll(":scope > svg")].slice(0, 2)) {
            const box = mark.getBoundingClientRect();
            if (box.width && hits(box.right - 1, box.y + box.height / 2, ".card") !== card) faults.push(`${card.dataset.card} cannot be read`);
        }
    if (document.querySelector(".race .say").getBoundingClientRect().width < 150) faults.push("a message has no room");
    return [...new Set(faults)];
}"""
"""A function that returns what is wrong with the places of the piles, and what cannot be read."""


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
    )
    standings = [
        Standing(player=player, place=place, banked=9, net=-12, state="racing")
        for place, player in enumerate(players, 1)
    ]
    sent: dict[str, Any] = msgspec.to_builtins(
        Snapshot(table=shown, board=board, standings=standings, now=NOON, next_id=1)
    )
    return sent


async def shown_race(pages: Pages, server: ServerProcess, game: str, **options: Any) -> Page:
    """Open the page, and show the race in place of the lobby."""
    page = await pages.open(page_url(server), **options)
    await page.get_by_text("None now").wait_for()
    await page.evaluate(SHOW_RACE, snapshot(game))
    return page


async def faults(page: Page, game: str) -> list[str]:
    """Return what is wrong at each size."""
    found = []
    sizes = [("right", size) for size in SIZES] + [("left", size) for size in SIZES[::6]]
    for hand, (width, height) in sizes:
        await page.evaluate("hand => document.documentElement.dataset.hand = hand", hand)
        await page.set_viewport_size({"width": width, "height": height})
        found += [f"{width}x{height} {hand}: {fault}" for fault in await page.evaluate(FAULTS)]
        await take_screenshot(page, f"board-{game}-{width}x{height}")
    return found


@pytest.mark.parametrize("game", GAMES)
async def test_no_pile_covers_another_at_any_size(
    page_server: ServerProcess, pages: Pages, game: str
) -> None:
    page = await shown_race(pages, page_server, game)
    assert await faults(page, game) == []


async def test_a_mouse_released_beside_the_board_swallows_no_click(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await shown_race(pages, page_server, "lafayette", size=DESKTOP)
    # its left edge is that of all columns
    column = page.locator("[data-pile=t1]")
    box = await column.bounding_box()
    assert box is not None
    await page.mouse.move(box["x"] + 1, box["y"] + 20)
    await page.mouse.down()
    await page.mouse.move(box["x"] - 2, box["y"] + 20)
    await page.mouse.up()
    await column.click(position={"x": 20, "y": 20})
    await expect(column).to_have_attribute("aria-pressed", "true")


async def test_a_second_slash_opens_no_second_finder(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await shown_race(pages, page_server, "klondike")
    for _ in range(2):
        await page.evaluate("shown.key(new KeyboardEvent('keydown', {key: '/'}))")
    await expect(page.locator(".finder")).to_have_count(1)
    await expect(page.locator(".finder input")).to_be_focused()
