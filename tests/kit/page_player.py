"""A player who races on the page in a real browser, and notes what the page was sent and what it shows.

`PagePlayer` taps, presses keys and drags as a person does, but knows from the wire which moves are
legal. After every move the drawn board is compared with the board that the server sent.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, Final

from playwright.async_api import Locator, Page, WebSocket, expect

from kit.auditor import check_race
from kit.browser_pages import SHOWN_WITHIN, Pages, page_url
from kit.faulty_link import FaultyLink
from kit.racing_bots import Notes, NotingConnection, RecordedPlayer, noted_session
from kit.server_process import ServerProcess
from saratoga_client.input.move_text import key_of
from saratoga_protocol import events
from saratoga_protocol.codec import CODECS, JSON
from saratoga_protocol.commands import GetPar
from saratoga_protocol.events import BoardView
from saratoga_rules.cards import SUITS, card_of
from saratoga_rules.moves import TAKE_BACK_INDEX, Carry, Move, parse_move
from saratoga_rules.vocabulary.foundations import rank_at

TABLE: Final = re.compile(r"/[a-z]+-[a-z]+-[0-9]{2}$")
"""The end of a table's address."""


def press(page: Page, name: str) -> Locator:
    """Return the button of that name."""
    return page.get_by_role("button", name=name, exact=True)


def press_named(page: Page, name: str) -> Locator:
    """Return the button whose name begins so."""
    return page.get_by_role("button", name=re.compile(f"^{name}"))


def seat_of(page: Page, name: str) -> Locator:
    """Return a player's line in the list of seats."""
    return page.locator(".seats li").filter(has_text=name)


def tile(page: Page, game: str) -> Locator:
    """Return the button of a game on the home, by its title."""
    return page.locator(".tile").filter(has=page.get_by_text(game, exact=True))


async def open_table(page: Page, name: str = "Mira", game: str = "Lafayette") -> str:
    """Open a table from the home as a player without a name, and return its code."""
    await tile(page, game).click()
    await page.get_by_label("What shall we call you?").fill(name)
    await press(page, "Open the table").click()
    await page.wait_for_url(TABLE)
    await expect(page.get_by_role("heading", name=game)).to_be_visible()
    return str(page.url).rpartition("/")[2]


async def sit_down(page: Page, name: str) -> None:
    """Take a seat at the table that the page shows, under a name."""
    await page.get_by_label("What shall we call you?").fill(name)
    await press(page, "Take a seat").click()


async def visit(page: Page, path: str) -> None:
    """Go to another path of the page without loading it again."""
    await page.evaluate(
        f"history.pushState(null, '', '{path}'); dispatchEvent(new PopStateEvent('popstate'))"
    )


async def press_ready(page: Page) -> None:
    """Press the key that gets ready, as soon as the player has a seat."""
    await page.locator(".seats .me").wait_for()
    await page.locator("body").press("r")


async def get_ready(page: Page) -> None:
    """Get ready by the key, and wait until the server has taken it."""
    await press_ready(page)
    await expect(press(page, "Not ready")).to_be_visible()


BRISK: Final = 40
"""The moves a second of a bot whose race is soon over."""

RESULT: Final = re.compile(r"^You (win|finished|share) ")
"""The beginning of the result on the page: the win, a place of one's own, or a shared one."""

RACED_WITHIN: Final = 190.0
"""Longest time in seconds for a race with a time limit of three minutes."""

BOARD: Final = """() => Object.fromEntries([...document.querySelectorAll(".race .pile")].map(pile => {
    const cards = [...pile.querySelectorAll(":scope > .card")].map(card => card.classList.contains("back") ? "##"
        : [...card.querySelectorAll("use")].slice(0, 2).map(use => use.getAttribute("href")).join("").replace("#r", "").replace("#", ""));
    return [pile.dataset.pile, (pile.dataset.pile[0] == "t" ? cards : cards.slice(-1)).join("").toUpperCase()];
}))"""
"""A function that returns what the page draws: columns whole, of other piles the top card."""

SHOWS: Final = f"expected => {{ const drawn = ({BOARD})(); return Object.keys(expected).every(pile => drawn[pile] == expected[pile]); }}"


@dataclass
class PagePlayer:
    """A player on the page."""

    page: Page
    game: str
    notes: Notes = field(default_factory=Notes)
    chance: Random = field(default_factory=partial(Random, 1))
    _heard: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.page.on("websocket", self._follow)
        self.notes.on_news = self._heard.set

    def _follow(self, socket: WebSocket) -> None:
        codec = CODECS[JSON]

        def sent(frame: str | bytes) -> None:
            command = codec.decode_command(frame)
            self.notes.sent[command.id] = command

        def received(frame: str | bytes) -> None:
            event = codec.decode_event(frame)
            asked = self.notes.sent.get(event.re or 0)
            if isinstance(event, events.Welcome):
                self.notes.player = event.player
            elif isinstance(event, events.Snapshot):
                self.notes.take_up(event)
            # a par that is searched for is refused, and asked for again
            elif not isinstance(asked, GetPar):
                self.notes.hear(event)

        socket.on("framesent", sent)
        socket.on("framereceived", received)

    async def until(self, holds: Callable[[], bool], within: float = SHOWN_WITHIN) -> None:
        """Wait until something holds of the notes."""
        async with asyncio.timeout(within):
            while not holds():
                self._heard.clear()
                await self._heard.wait()

    @property
    def board(self) -> BoardView:
        assert self.notes.board is not None
        return self.notes.board

    # From the link to the first card

    async def sit_down(self, name: str) -> None:
        """Take a seat, and wait for the table: a key pressed before would be lost."""
        await sit_down(self.page, name)
        await self.page.get_by_label("What shall we call you?").wait_for(state="detached")

    async def get_ready(self) -> None:
        await press_ready(self.page)

    async def dealt(self) -> None:
        """Wait for the own board."""
        await self.page.locator(".race .pile").first.wait_for()
        await self.until(lambda: self.notes.is_racing)

    # The race

    async def shows_board(self) -> None:
        """Wait until the page draws the board that the server sent last; fail if it never does."""
        await self.page.wait_for_function(SHOWS, arg=drawn(self.board))

    def choose(self) -> Move | None:
        """Return a legal move: a bank if there is one, else any but taking back; of two sizes to one target the larger."""
        legal = map(parse_move, self.board.legal or [])
        by_size = sorted(legal, key=lambda move: move.count if isinstance(move, Carry) else 0)
        largest = {m.source + m.target if isinstance(m, Carry) else str(m): m for m in by_size}
        moves = list(largest.values())
        banks = [move for move in moves if isinstance(move, Carry) and move.destination < 0]
        forward = [m for m in moves if not (isinstance(m, Carry) and m.source in TAKE_BACK_INDEX)]
        return self.chance.choice(banks or forward) if forward else None

    async def carries(self) -> list[Carry]:
        """Return the legal carries between columns, after other moves if the deal allows none."""
        while True:
            legal = map(parse_move, self.board.legal or [])
            carries = [move for move in legal if isinstance(move, Carry)]
            if found := [m for m in carries if min(m.origin, m.destination) >= 0]:
                return found
            move = self.choose()
            assert move is not None, "no card can be carried between columns"
            await self.answered(self.type_move(move))

    async def race(self, make: Callable[[Move], Any], moves: int) -> None:
        """Make so many moves, and compare the drawn board after each."""
        for _ in range(moves):
            move = self.choose()
            if move is None or self.board.state != "racing":
                return
            await self.answered(make(move))

    async def answered(self, doing: Any) -> None:
        """Do something that sends a move, and wait until its answer is drawn."""
        done = len(self.notes.acknowledged) + len(self.notes.refusals)
        await doing
        await self.until(lambda: len(self.notes.acknowledged) + len(self.notes.refusals) > done)
        # after the last board's end the results take its place
        if self.board.state == "racing":
            await self.shows_board()

    async def tap(self, pile: str) -> None:
        """Tap the top card of a pile with a finger."""
        x, y = await self.middle(pile)
        await self.page.touchscreen.tap(x, y)

    async def middle(self, pile: str, *, lit: bool = False) -> tuple[float, float]:
        """Return the middle of the top card of a pile; with `lit`, of the one that is lit among two of a suit."""
        same = f'.pile[data-pile="{pile}"]'
        chosen = f'{same}.lit, .pile[data-pile^="{pile}."].lit' if lit else same
        found = self.page.locator(chosen).first
        top = found.locator(".card, .space, span").last
        async with asyncio.timeout(SHOWN_WITHIN):
            while (box := await top.bounding_box()) is None:
                # an answer replaces the card at this moment
                await self.page.evaluate("() => new Promise(requestAnimationFrame)")
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    async def tap_move(self, move: Move) -> None:
        """Make a move by tapping the source, then the target."""
        if not isinstance(move, Carry):
            await self.tap("stock")
            return
        await self.tap(move.source)
        await self.tap_target(move)

    async def tap_target(self, move: Carry) -> None:
        """Tap the place of a move whose source is picked."""
        await self.page.touchscreen.tap(*await self.middle(self.target(move), lit=True))

    async def drag_move(self, move: Move) -> None:
        """Make a move by dragging with the mouse; draws by a click."""
        mouse = self.page.mouse
        if not isinstance(move, Carry):
            await mouse.click(*await self.middle("stock"))
            return
        x, y = await self.middle(move.source)
        await mouse.move(x, y)
        await mouse.down()
        await mouse.move(x, y - 12)
        await mouse.move(*await self.middle(self.target(move), lit=True), steps=3)
        await mouse.up()

    async def type_move(self, move: Move) -> None:
        """Make a move by keys, as in the terminal."""
        keyboard = self.page.keyboard
        if not isinstance(move, Carry):
            await keyboard.press("Space")
            return
        await keyboard.press(key_of(move.source))
        await keyboard.press(key_of(move.target))

    def target(self, move: Carry) -> str:
        if move.destination >= 0:
            return move.target
        view = self.board.view
        pile = {"w": view.waste, "r": view.reserve_top}.get(move.source)
        if pile is None:
            pile = view.columns[move.origin]
        return f"{move.target}.{pile[-1]}"

    async def cash_out(self) -> None:
        """End the own board by the buttons."""
        await self.page.keyboard.press("x")
        await self.page.get_by_role("dialog").get_by_role("button", name="Cash out").click()
        await self.until(lambda: self.board.state != "racing")

    async def seen_results(self) -> None:
        """Wait until the race is over, here and on the page."""
        race = self.board.race
        await self.until(lambda: race in self.notes.outcomes, RACED_WITHIN)
        await self.page.get_by_text(RESULT).first.wait_for()


def drawn(board: BoardView) -> dict[str, str]:
    """Return what the page has to draw for a board: columns whole, of other piles the top card."""
    view = board.view
    hidden = getattr(view, "face_down", None) or [0] * len(view.columns)
    tops: dict[str, str] = {}
    copies, has_down = len(view.up) // len(SUITS), bool(view.down)
    for suit in "SHDC":
        at = SUITS.index(suit)
        for copy, height in enumerate(view.up[at * copies : (at + 1) * copies], 1):
            top = card_of(rank_at(view.base, height), suit) if height else ""
            tops[f"up.{suit}" if copy == 1 else f"up.{suit}.{copy}"] = top
        if has_down:
            height = view.down[at]
            tops[f"down.{suit}"] = card_of(14 - height, suit) if height else ""
    columns = zip(hidden, view.columns, strict=True)
    tops |= {f"t{at}": "##" * below + cards for at, (below, cards) in enumerate(columns, 1)}
    if view.waste:
        tops["w"] = view.waste[-2:]
    if view.reserve_top:
        tops["r"] = view.reserve_top
    return tops


@asynccontextmanager
async def rival_at(
    server: ServerProcess, game: str, name: str = "Rival"
) -> AsyncIterator[RecordedPlayer]:
    """Seat the host of a new table, who plays as a bot does; the race starts when a second player is ready."""
    # a person, because the boards of bots end with the last person's
    async with NotingConnection(server.url, name, bot=False) as connection:
        session = noted_session(connection)
        await session.open_table(game, cap=3, seats=4)
        yield RecordedPlayer(connection, session, "weak", 1, name)


@asynccontextmanager
async def racing(
    server: ServerProcess,
    pages: Pages,
    game: str,
    *,
    address: str = "",
    link: FaultyLink | None = None,
    pace: float = BRISK,
    seed: int = 1,
    prepare: Callable[[Page], Awaitable[None]] | None = None,
    finishes: bool = True,
    **options: Any,
) -> AsyncIterator[PagePlayer]:
    """Race on the page against a bot: from the link to the first card, and then to the end.

    At the end the record is compared with what both players saw, unless the race is given up
    (`finishes`). `address` is the page's, without the code; with `link`, the browser connects
    through that link. `prepare` gets the page before it is loaded.
    """
    if link is not None:
        address = link.url.replace("ws:", "http:")
    async with rival_at(server, game, f"Rival{seed}") as rival, asyncio.TaskGroup() as group:
        rivals_race = group.create_task(rival.race(1, pace, 2))
        # a finger that waits for nothing would miss a card on its way
        page = await pages.open("about:blank", **{"reduced_motion": "reduce", **options})
        if prepare is not None:
            await prepare(page)
        player = PagePlayer(page, game, chance=Random(seed))
        await page.goto(f"{address or page_url(server, '')}/{rival.notes.code}")
        await player.sit_down(f"Mira {seed}")
        await player.get_ready()
        await player.dealt()
        yield player
        if not finishes:
            rivals_race.cancel()
            return
        if player.board.state == "racing":
            await player.cash_out()
        await player.seen_results()
        await rivals_race
        race = player.board.race
        await check_race(rival.connection, race, [rival.notes, player.notes])
        await page.context.close()
