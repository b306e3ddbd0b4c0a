"""A server that lies about a race is found out by the page, as far as that needs no rules."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

import msgspec
import pytest
from msgspec.structs import replace
from playwright.async_api import Page, expect
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from kit.browser_pages import PHONE, SHOWN_WITHIN, Pages, look
from kit.lying_server import Lie, LyingServer
from kit.page_player import visit
from kit.race_lies import LIES, OWN, TOKEN, TRUTH
from kit.scripted_server import ScriptedPeer, scripted_server, welcome
from saratoga_protocol import events
from saratoga_protocol.codec import CODECS, JSON
from saratoga_protocol.events import BoardChanged, BoardView, Snapshot
from saratoga_rules.analysis import legal_moves
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

IMPATIENT: Final = {b"const ASK_EVERY = 2_000;": b"const ASK_EVERY = 5;"}
"""The page's wait between two requests for a record, and that of a test in which it never comes."""

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

    def board(self, position: Position, count: int, state: str) -> BoardView:
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
    refusals: int = 0
    is_refused_often: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when more requests were refused than those after which a record is missing."""

    def __post_init__(self) -> None:
        self.page.on("websocket", lambda socket: socket.on("framereceived", self._received))

    def _received(self, frame: str | bytes) -> None:
        event = CODECS[JSON].decode_event(frame)
        if isinstance(event, BoardChanged):
            self.answered.set()
        if isinstance(event, events.Refused):
            self.refusals += 1
            if self.refusals > 20:
                self.is_refused_often.set()

    async def race(self) -> None:
        """Get ready, and make the moves of the player's log."""
        await self.page.get_by_role("button", name="ready").click()
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
    pages: Pages, lie: Lie, changes: Changes = NO_CHANGES
) -> AsyncIterator[LyingPage]:
    """Open the page of the racer at the table of a lying server, with changes of the page's files."""
    assert FILES is not None
    files = [FILES.index, *FILES.files.values()]
    assert all(any(text in file.body for file in files) for text in changes)
    async with scripted_server() as server:
        liar = LyingServerOfPages(server, TRUTH, lie)
        server.pages = lambda request: _answer(request, liar, changes)

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


def _answer(request: Request, liar: LyingServer, changes: Changes) -> Response | None:
    """Return the file or the boards that a request asks for; `None` for a WebSocket."""
    assert FILES is not None
    if request.headers.get("Upgrade"):
        return None
    if request.path.startswith("/api/records/"):
        return _boards(liar)
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


FAIR: Final = "A fair deal"


def another_digest(outcome: events.Outcome) -> list[events.Outcome]:
    return [replace(outcome, digest="0" * 64)]


def another_digest_at_the_table(table: events.Table) -> events.Table:
    if table.phase != "over":
        return table
    return replace(table, previous=events.Ended(race=table.race, digest="0" * 64))


def another_commitment_in_the_race(table: events.Table) -> events.Table:
    return replace(table, commitment="d1" * 32) if table.phase == "running" else table


TOLD: Final = {
    **{
        name: (LIES[name], "your move ")
        for name in (
            "own move changed",
            "own move left out",
            "own ending changed",
            "a void without the own ending",
        )
    },
    "another digest": (Lie(outcomes=another_digest), "not the one that the server announced"),
    "another digest at the table": (
        Lie(tables=another_digest_at_the_table),
        "not the one that the server announced",
    ),
    "another commitment": (
        Lie(tables=another_commitment_in_the_race),
        "the deal is not the one that was fixed before the race",
    ),
    "a foreign seed, sent late": (
        LIES["a foreign seed, sent late"],
        "the deal is not the one that was fixed before the race",
    ),
}
"""Lies about the race, each with a part of what the page says about it."""


async def test_an_honest_server_is_believed(pages: Pages) -> None:
    async with lying_page(pages, Lie()) as seen:
        await seen.race()
        await seen.page.locator(".seal").get_by_text(FAIR).wait_for()
        await seen.page.get_by_text("What was checked").click()
        said = await seen.page.locator(".seal").inner_text()
        assert f"saratoga verify {TRUTH.race_id}" in said
        assert "Your moves stand in the record" in said
        assert await seen.page.locator(".alarms").inner_text() == ""


async def test_a_game_that_the_page_does_not_know_is_no_contradiction(pages: Pages) -> None:
    async with lying_page(pages, Lie(), GAME_UNKNOWN) as seen:
        await seen.race()
        await seen.page.locator(".seal").get_by_text("Not all of this can be checked").wait_for()
        assert await seen.page.locator(".alarms").inner_text() == ""


@pytest.mark.parametrize("name", TOLD)
async def test_a_lie_about_the_race_is_found_out(name: str, pages: Pages) -> None:
    lie, sentence = TOLD[name]
    async with lying_page(pages, lie) as seen:
        await seen.race()
        await seen.tells(sentence)
        if lie.is_announced and not lie.is_next_open:
            await seen.page.get_by_role("heading", name="This race does not add up").wait_for()


@pytest.mark.parametrize("is_announced", [True, False])
async def test_a_race_whose_record_does_not_come_is_missed(
    is_announced: bool, pages: Pages
) -> None:
    lie = Lie(is_announced=is_announced, is_sent=False)
    async with lying_page(pages, lie, IMPATIENT) as seen:
        await seen.race()
        await seen.tells("the server has not sent the record")


async def test_an_outage_accuses_nobody_and_a_record_that_comes_late_is_believed(
    pages: Pages,
) -> None:
    away = Lie(is_sent=False, refused_as="store_unavailable")
    async with lying_page(pages, away, IMPATIENT) as seen:
        bar = seen.page.locator(".alarms")
        await seen.race()
        async with asyncio.timeout(SHOWN_WITHIN):
            await seen.is_refused_often.wait()
        assert await bar.inner_text() == ""
        seen.liar.lie = Lie(is_sent=False)
        await seen.tells("the server has not sent the record")
        seen.liar.lie = Lie()
        await seen.page.locator(".seal").get_by_text(FAIR).wait_for()
        await expect(seen.page.locator("dialog.alarm")).to_have_count(0)
        await expect(bar).to_be_empty()


async def test_the_table_of_a_match_is_shown_with_totals_that_the_page_adds_up(
    pages: Pages,
) -> None:
    first, *others = TRUTH.racers
    results = [events.MatchResult(race=TRUTH.race_id, place=1, net=net) for net in (-15, 40)]
    rows = [
        events.MatchRow(player=first.player, name=first.name, results=results),
        *(
            events.MatchRow(player=each.player, name=each.name, results=results[:1])
            for each in others
        ),
    ]
    match = events.Match(races=3, finished=["mint-otter-42/1", TRUTH.race_id], rows=rows)
    async with lying_page(pages, Lie(match=match)) as seen:
        await seen.race()
        await seen.page.get_by_role("heading", name="Match after race 2 of 3").wait_for()
        table = seen.page.get_by_role("table", name="Match")
        lines = await table.get_by_role("row").all_inner_texts()
        assert [line.split()[0] for line in lines[1:]] == ["1", *["2"] * len(others)]
        assert lines[1].split()[-1] == "+$25"
        assert {line.split()[-1] for line in lines[2:]} == {"\u2212$15"}


async def test_an_alarm_stays_on_every_screen_and_after_a_reload(pages: Pages) -> None:
    lie, sentence = TOLD["another commitment"]
    async with lying_page(pages, lie) as seen:
        await seen.race()
        await seen.tells(sentence)
        page = seen.page
        await page.get_by_role("button", name="I have read it").click()
        for path in ("/", "/leaderboards/canfield"):
            await visit(page, path)
            bar = page.locator(".alarms").get_by_role("button")
            await bar.click()
            assert sentence in await page.locator("dialog.alarm").inner_text()
            await look(page, "alarm")
            await page.get_by_role("button", name="I have read it").click()
        await page.goto(seen.url)
        await seen.tells(sentence)


async def test_a_result_with_markup_is_shown_as_text(pages: Pages) -> None:
    name = "<img src=x onerror=alert(1)>"

    def renamed(table: events.Table) -> events.Table:
        seats = [msgspec.structs.replace(each, name=name) for each in table.seats]
        racers = [msgspec.structs.replace(each, name=name) for each in table.racers]
        return msgspec.structs.replace(table, seats=seats, racers=racers)

    async with lying_page(pages, Lie(tables=renamed)) as seen:
        await seen.race()
        await seen.page.locator(".seal").get_by_text(FAIR).wait_for()
        assert await seen.page.locator("#screen img").count() == 0
        assert "<img src=x" in await seen.page.get_by_role("table", name="Results").inner_text()
