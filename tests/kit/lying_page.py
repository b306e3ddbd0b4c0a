"""The page on a server that lies: the bundled files over HTTP, and the lying server's race on the WebSocket.

The browser's player is the racer of the race that exists already, and draws that racer's nonce.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace
from playwright.async_api import Page
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from kit.browser_pages import PHONE, SHOWN_WITHIN, Pages
from kit.lying_server import Lie, LyingServer
from kit.race_lies import OWN, TOKEN, TRUTH
from kit.scripted_server import ScriptedPeer, scripted_server, welcome
from saratoga_protocol.codec import CODECS
from saratoga_protocol.events import BoardView, MoveMade, Snapshot
from saratoga_protocol.version import JSON
from saratoga_rules.judge import legal_moves
from saratoga_rules.position import Position
from saratoga_rules.records.record import LogLine, format_record
from saratoga_rules.records.replay import game_of
from saratoga_rules.records.standing import State
from saratoga_server.domain.replays import CannotReplay, replay_json
from saratoga_server.transport.web_files import STATIC, load_web_files, web_folder
from saratoga_server.transport.web_page import PAGE_RULES

FILES: Final = load_web_files(web_folder())

Changes = Mapping[bytes, bytes]
"""Texts in the page's files, each with the text that is sent in its place."""

IMPATIENT: Final = {
    b"const WITHHELD_AFTER = 30_000;": b"const WITHHELD_AFTER = 60;",
    b"const ASK_AGAIN_AFTER = 2_000;": b"const ASK_AGAIN_AFTER = 10;",
}
"""The page's waits for a record, and those of a test in which it never comes."""

PATIENT: Final[dict[bytes, bytes]] = {b"const SILENCE = 6_000;": b"const SILENCE = 600_000;"}
"""The page's wait for a server that is silent, and one that no pause of the machine exceeds.

The lying server cannot go on with a race on a second connection.
"""

GAME_UNKNOWN: Final = {b'"canfield":{"title"': b'"monte-carlo":{"title"'}
"""A page that does not know the game of the race."""

NO_CHANGES: Final[Changes] = MappingProxyType({})

KNOWN_PLAYER: Final = """
localStorage.setItem("saratoga.token", %s);
Crypto.prototype.getRandomValues = bytes => {
    bytes.set(%s.match(/../g).map(pair => parseInt(pair, 16)));
    return bytes;
};
"""
"""A script that makes the browser's player that of the race, with the nonce that the race has."""


class LyingServerOfPages(LyingServer):
    """A lying server whose welcome names the seat, and whose boards have the legal moves, as the page needs them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.server.greeting = lambda hello: replace(
            welcome(hello), name=self.own.name, table=self.truth.table
        )

    def board(self, position: Position, count: int, state: State) -> BoardView:
        board = super().board(position, count, state)
        moves = legal_moves(game_of(self.truth), position) if state == State.RACING else []
        return replace(board, legal=list(map(str, moves)))


@dataclass
class LyingPage:
    """The page of a player whose server lies."""

    page: Page
    liar: LyingServer
    url: str
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a move was answered."""

    def __post_init__(self) -> None:
        self.page.on("websocket", lambda socket: socket.on("framereceived", self._received))

    def _received(self, frame: str | bytes) -> None:
        if isinstance(CODECS[JSON].decode_event(frame), MoveMade):
            self.answered.set()

    async def race(self) -> None:
        """Get ready, and make the moves of the player's log."""
        await self.page.get_by_role("button", name="ready").click()
        if self.liar.lie.is_discarded or self.liar.lie.is_blamed or self.liar.lie.instead:
            return
        await self.page.locator(".race .pile").first.wait_for()
        for line in OWN.log:
            self.answered.clear()
            await self.play(line)
            async with asyncio.timeout(SHOWN_WITHIN):
                await self.answered.wait()

    async def play(self, line: LogLine) -> None:
        """Make a move by a click on its source, then its target; or cash out."""
        if line.text == "cash-out":
            await self.page.keyboard.press("x")
            dialog = self.page.get_by_role("dialog")
            await dialog.get_by_role("button", name="Cash out").click()
        elif line.is_move and ">" not in line.text:
            await self.page.locator('.pile[data-pile="stock"]').click()
        else:
            source, target = line.text.split(":")[0].split(">")
            await self.page.locator(f'.pile[data-pile="{source}"]').click()
            lit = f'.pile.lit[data-pile^="{target}"]'
            await self.page.locator(lit).first.click()

    async def tells(self, sentence: str) -> None:
        """Wait for an alarm with this sentence in it."""
        bar = self.page.locator(".alarms").get_by_role("button")
        await bar.wait_for()
        # the sheet may open by itself at this moment
        await bar.dispatch_event("click")
        await self.page.locator("dialog.alarm li").get_by_text(sentence).first.wait_for()


@asynccontextmanager
async def lying_page(
    pages: Pages, lie: Lie, changes: Changes = NO_CHANGES, boards: bytes | None = None
) -> AsyncIterator[LyingPage]:
    """Open the page of the racer at the table of a lying server, with changes of the page's files.

    `boards` is sent as the race's boards; by default they are those of the record.
    """
    assert FILES is not None
    files = [FILES.index, *FILES.files.values()]
    assert all(any(text in file.body for file in files) for text in changes)
    async with scripted_server() as server:
        liar = LyingServerOfPages(server, TRUTH, lie)
        server.pages = lambda request: _answer(request, liar, changes, boards)

        async def serve() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(liar.race(await server.peer()))
                while True:
                    await _show_end(await server.peers.get(), liar)

        serving = asyncio.create_task(serve())
        page = await pages.open("about:blank", PHONE, reduced_motion="reduce")
        await page.context.add_init_script(
            KNOWN_PLAYER % (json.dumps(TOKEN), json.dumps(OWN.nonce))
        )
        try:
            url = server.url.replace("ws:", "http:") + f"/{TRUTH.table}"
            seen = LyingPage(page, liar, url)
            await page.goto(url)
            yield seen
        finally:
            await page.context.close()
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)


async def _show_end(peer: ScriptedPeer, liar: LyingServer) -> None:
    """Show the table after its race to a page that was loaded again."""
    entry = await peer.command()
    await peer.send(Snapshot(re=entry.id, table=liar.table("over"), now=liar.now))


def _answer(
    request: Request, liar: LyingServer, changes: Changes, boards: bytes | None
) -> Response | None:
    """Return the file or the boards that a request asks for; `None` for a WebSocket."""
    assert FILES is not None
    if request.headers.get("Upgrade"):
        return None
    if request.path.startswith("/api/records/"):
        return (
            _boards(liar)
            if boards is None
            else _response(HTTPStatus.OK, "application/json", boards)
        )
    name = request.path.removeprefix(f"{STATIC}{FILES.version}/")
    file = FILES.files.get(name, FILES.index)
    body = file.body
    for text, changed in {**PATIENT, **changes}.items():
        body = body.replace(text, changed)
    return _response(HTTPStatus.OK, file.kind, body)


def _boards(liar: LyingServer) -> Response:
    try:
        body = replay_json(format_record(liar.told))
    except CannotReplay as error:
        return _response(HTTPStatus.NOT_FOUND, "application/json", json.dumps(str(error)).encode())
    return _response(HTTPStatus.OK, "application/json", body)


def _response(status: HTTPStatus, kind: str, body: bytes) -> Response:
    headers = Headers([*PAGE_RULES, ("Content-Type", kind), ("Content-Length", str(len(body)))])
    headers["Connection"] = "close"
    return Response(status.value, status.phrase, headers, body)
