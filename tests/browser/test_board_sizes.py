"""The boards of all games at every size: nothing is covered, hidden or off the screen, in the middle of a game and at its fullest."""

from collections.abc import Iterable
from typing import Any, Final

from playwright.async_api import Page

from kit.browser_pages import Pages, open_for_races, race_snapshot
from kit.server_process import ServerProcess
from saratoga_rules.games import GAMES

SIZES: Final = (
    *((320, 568), (360, 640), (375, 667), (390, 844), (430, 932)),
    *((568, 320), (640, 360), (667, 375), (844, 390), (932, 430)),
    *((600, 960), (768, 1024), (820, 1180)),
    *((900, 720), (960, 600), (1024, 768), (1093, 614), (1180, 820), (1240, 720)),
    *((1280, 720), (1280, 800), (1366, 768), (1920, 1080), (2560, 1440)),
)

LARGE_TYPE: Final = 24
"""The size in pixels of the letters of someone who has chosen very large ones."""

FULLEST: Final = {"klondike": (6, 13), "lady-palk": (0, 20), "caprice": (0, 16)}
"""How many cards a long column has face down and face up; of the other games 13."""

LONG: Final = "".join(f"{rank}{'SH'[at % 2]}" for at, rank in enumerate("KQJT98765432A" * 2))

FAULTS: Final = """races => Object.entries(races).flatMap(([game, race]) => {
    showRace(race);
    shown.node.classList.add("keyed");
    const faults = [];
    const area = each => each.getBoundingClientRect();
    const covers = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
    const isWithin = (a, b) => a.left >= b.left - 1 && a.top >= b.top - 1 && a.right <= b.right + 1 && a.bottom <= b.bottom + 1;
    const screen = {left: 0, top: 0, right: innerWidth, bottom: innerHeight};
    const at = (box, x, y) => document.elementFromPoint(box.x + box.width * x, box.y + box.height * y);
    const piles = [...document.querySelectorAll(".pile")].map(pile => ({pile, id: pile.dataset.pile, box: area(pile),
        cards: [...pile.querySelectorAll(":scope > :is(.card, .space)")].map(card => ({card, box: area(card)})).filter(({box}) => box.width)}));
    for (const one of piles) {
        const {pile, id, box, cards} = one;
        if (at(box, .5, .5)?.closest(".pile") !== pile) faults.push(`the middle of ${id} is covered`);
        if (cards.length && at(cards.at(-1).box, .5, .6)?.closest(".pile") !== pile) faults.push(`the top of ${id} is covered`);
        if (![one, ...cards].every(({box}) => isWithin(box, screen))) faults.push(`${id} is not on the screen`);
        for (const other of piles)
            if (other !== one && [one, ...cards].some(mine => [other, ...other.cards].some(each => covers(mine.box, each.box))))
                faults.push(`${id} lies on ${other.id}`);
        cards.forEach(({card, box}, place) => {
            if (!card.dataset.card) return;
            const above = cards.slice(place + 1);
            for (const mark of [...card.children].slice(0, 2)) {
                const sign = area(mark);
                // to ask what lies at a point takes milliseconds
                const isSeen = above.length ? !above.some(({box}) => covers(sign, box))
                    : [[.1, .1], [.9, .9]].every(([x, y]) => at(sign, x, y)?.closest(".card") === card);
                if (sign.height < 7 || !isWithin(sign, box) || !isSeen) faults.push(`${card.dataset.card} of ${id} cannot be read`);
            }
        });
    }
    const controls = [...document.querySelectorAll(".rail > *, .race button")].filter(each => area(each).width > 1 && !each.closest(".pile"));
    for (const control of controls) {
        const named = control.getAttribute("aria-label") ?? control.className;
        if (!isWithin(area(control), screen) || control.scrollWidth > control.clientWidth + 1) faults.push(`${named} is not on the screen`);
        for (const other of controls)
            if (other !== control && !other.contains(control) && !control.contains(other) && covers(area(control), area(other)))
                faults.push(`${named} lies on ${other.getAttribute("aria-label") ?? other.className}`);
    }
    if (area(document.querySelector(".say")).width < 150) faults.push("a message has no room");
    if (document.documentElement.scrollWidth > innerWidth) faults.push("the page is too wide");
    return [...new Set(faults)].map(fault => `${game}: ${fault}`);
})"""
"""A function that shows races, and returns what is wrong with each."""


def fullest(game: str) -> dict[str, Any]:
    """Return a snapshot of a race in the middle of the game, but with three long columns."""
    sent = race_snapshot(game)
    view = sent["board"]["view"]
    hidden, seen = FULLEST.get(game, (0, 13))
    view["face_down"] = view.get("face_down") or [0] * len(view["columns"])
    for index, shorter in ((0, 0), (2, 2), (3, 0)):
        view["columns"][index] = LONG[: 2 * (seen - shorter)]
        view["face_down"][index] = hidden
    return sent


RACES: Final = {game: race_snapshot(game) for game in GAMES}
FULL_RACES: Final = {game: fullest(game) for game in GAMES}


async def faults(
    page: Page, races: dict[str, Any], sizes: Iterable[tuple[int, int]] = SIZES, hand: str = "right"
) -> list[str]:
    """Return what is wrong at each size."""
    await page.evaluate("hand => void (document.documentElement.dataset.hand = hand)", hand)
    found = []
    for width, height in sizes:
        await page.set_viewport_size({"width": width, "height": height})
        wrong = await page.evaluate(FAULTS, races)
        found += [f"{width}x{height}: {fault}" for fault in wrong]
    return found


async def test_all_of_a_board_is_seen_at_every_size(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await open_for_races(pages, page_server, reduced_motion="reduce")
    found = await faults(page, FULL_RACES)
    found += await faults(page, RACES, SIZES[1::6], "left")
    assert not found, "\n".join(found)


async def test_all_of_a_board_is_seen_with_large_type(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await open_for_races(pages, page_server, reduced_motion="reduce")
    browser = await page.context.new_cdp_session(page)
    await browser.send("Page.setFontSizes", {"fontSizes": {"standard": LARGE_TYPE}})
    assert await page.evaluate("getComputedStyle(document.documentElement).fontSize") == "24px"
    found = await faults(page, RACES, SIZES[::2])
    assert not found, "\n".join(found)


PLACES: Final = """snapshot => {
    showRace(snapshot);
    const places = [...document.querySelectorAll(".pile")].map(pile => [pile.dataset.pile, pile.getBoundingClientRect()]);
    return Object.fromEntries(places.map(([id, box]) => [id, [Math.round(box.left), Math.round(box.top)]]));
}"""
"""A function that shows a race, and returns where each pile begins."""


def emptiest(game: str) -> dict[str, Any]:
    """Return a snapshot of a race with no card on the waste and at most one in the reserve and each column."""
    sent = race_snapshot(game)
    view = sent["board"]["view"]
    view |= {"waste": "", "face_down": [], "columns": [cards[:2] for cards in view["columns"]]}
    if "reserve" in view:
        view["reserve"] = 1
    return sent


async def test_no_pile_wanders_while_others_grow(page_server: ServerProcess, pages: Pages) -> None:
    page = await open_for_races(pages, page_server)
    for width, height in ((360, 640), (640, 360), (1280, 800)):
        await page.set_viewport_size({"width": width, "height": height})
        for game, race in FULL_RACES.items():
            places = await page.evaluate(PLACES, race)
            assert await page.evaluate(PLACES, emptiest(game)) == places, f"{game} at {width}"


async def test_cards_grow_with_the_screen(page_server: ServerProcess, pages: Pages) -> None:
    page = await open_for_races(pages, page_server)
    widths = []
    for width, height in ((360, 640), (1280, 800), (1920, 1080), (2560, 1440)):
        await page.set_viewport_size({"width": width, "height": height})
        await page.evaluate("race => showRace(race)", RACES["klondike"])
        card = await page.locator(".col > .card").first.bounding_box()
        assert card is not None
        widths.append(round(card["width"]))
    assert widths[0] >= 46
    assert widths[1] >= 115
    assert widths[2] == 150
    assert widths[3] >= 190
