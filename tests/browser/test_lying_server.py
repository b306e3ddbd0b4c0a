"""A server that lies about a race is found out by the page, as far as that needs no rules."""

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

import pytest
from msgspec.structs import replace
from playwright.async_api import Page, expect
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from kit.browser_pages import PHONE, SHOWN_WITHIN, Pages, look
from kit.evenings import (
    ME,
    RACE,
    Retelling,
    Told,
    is_table,
    moves_of,
    one_race,
    played_evening,
    race_of,
    retold,
)
from kit.fact_lies import LIES, Edit, ended_changed, tables
from kit.page_player import visit
from kit.players import token_of
from kit.tables import nonce
from saratoga_protocol import events
from saratoga_protocol.codec import CODECS, JSON
from saratoga_protocol.commands import MakeMove
from saratoga_protocol.events import BoardChanged, Event, RaceOver
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


@pytest.fixture(scope="module")
def evening() -> Told:
    return asyncio.run(played_evening(2))[ME]


@dataclass
class LyingPage:
    """The page of a player whose server lies."""

    page: Page
    liar: Retelling
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
        for move in moves_of(self.liar.told):
            self.answered.clear()
            await self.play(move.move if isinstance(move, MakeMove) else "cash-out")
            async with asyncio.timeout(SHOWN_WITHIN):
                await self.answered.wait()

    async def play(self, move: str) -> None:
        """Make a move by a click on its source, then its target; or cash out."""
        if move == "cash-out":
            await self.page.keyboard.press("x")
            dialog = self.page.get_by_role("dialog")
            await dialog.get_by_role("button", name="Cash out").click()
        elif ">" not in move:
            await self.page.locator('.pile[data-pile="stock"]').click()
        else:
            source, target = move.split(":")[0].split(">")
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
    pages: Pages, told: Told, changes: Changes = NO_CHANGES
) -> AsyncIterator[LyingPage]:
    """Open the page of the racer at the table of a lying server, with changes of the page's files."""
    assert FILES is not None
    files = [FILES.index, *FILES.files.values()]
    assert all(any(text in file.body for file in files) for text in changes)
    async with retold(told, has_seat=True) as (server, liar):
        server.pages = lambda request: _answer(request, liar, changes)
        page = await pages.open("about:blank", PHONE, reduced_motion="reduce")
        await page.context.add_init_script(
            KNOWN_PLAYER % (json.dumps(token_of(ME)), json.dumps(nonce(told.player)))
        )
        try:
            code = race_of(told, RACE).partition("/")[0]
            seen = LyingPage(page, liar, server.url.replace("ws:", "http:") + f"/{code}")
            await page.goto(seen.url)
            yield seen
        finally:
            await page.context.close()


def _answer(request: Request, liar: Retelling, changes: Changes) -> Response | None:
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


def _boards(liar: Retelling) -> Response:
    try:
        body = replay_json(liar.told.records[race_of(liar.told, RACE)])
    except (CannotReplay, KeyError) as error:
        return _response(HTTPStatus.NOT_FOUND, "application/json", json.dumps(str(error)).encode())
    return _response(HTTPStatus.OK, "application/json", body)


def _response(status: HTTPStatus, kind: str, body: bytes) -> Response:
    headers = Headers([*PAGE_RULES, ("Content-Type", kind), ("Content-Length", str(len(body)))])
    headers["Connection"] = "close"
    return Response(status.value, status.phrase, headers, body)


NOT_ANNOUNCED: Final = "not the one that the server announced"
NOT_FIXED: Final = "the deal is not the one that was fixed before the race"

TOLD: Final[dict[str, tuple[Edit, str]]] = {
    **{
        name: (LIES[name].edit, "your move ")
        for name in ("record: another own move", "voided without the own ending")
    },
    "another digest announced": (LIES["another digest announced"].edit, NOT_ANNOUNCED),
    "another digest at the table": (ended_changed(RACE, digest="0" * 64), NOT_ANNOUNCED),
    "record: another seed": (LIES["record: another seed"].edit, NOT_FIXED),
}
"""Lies about the race, each with a part of what the page says; `tests/page` has more of each kind."""

GOES_ON: Final = ("voided without the own ending", "record: another seed")
"""The lies after which the table gathers for the next race at once."""


def unanswered(told: Told, *, is_next_open: bool) -> Told:
    """Return one race whose record the server does not have."""
    shorter = one_race(
        dataclasses.replace(told, records={**told.records}), is_next_open=is_next_open
    )
    del shorter.records[race_of(told, RACE)]
    return shorter


async def test_a_game_that_the_page_does_not_know_is_no_contradiction(
    pages: Pages, evening: Told
) -> None:
    async with lying_page(pages, one_race(evening), GAME_UNKNOWN) as seen:
        await seen.race()
        await seen.page.locator(".seal").get_by_text("Not all of this can be checked").wait_for()
        assert await seen.page.locator(".alarms").inner_text() == ""


@pytest.mark.parametrize("name", TOLD)
async def test_a_lie_about_the_race_is_found_out(name: str, pages: Pages, evening: Told) -> None:
    edit, sentence = TOLD[name]
    told = one_race(edit(evening), is_next_open=name in GOES_ON)
    async with lying_page(pages, told) as seen:
        await seen.race()
        await seen.tells(sentence)
        if name not in GOES_ON:
            await seen.page.get_by_role("heading", name="This race does not add up").wait_for()


async def test_a_race_whose_end_is_not_announced_and_whose_record_does_not_come_is_missed(
    pages: Pages, evening: Told
) -> None:
    def silent(event: Event) -> Event | None:
        is_end = isinstance(event, RaceOver) or is_table(event, race_of(evening, RACE), "over")
        return None if is_end else event

    told = unanswered(evening, is_next_open=True).edited(silent)
    async with lying_page(pages, told, IMPATIENT) as seen:
        await seen.race()
        await seen.tells("the server has not sent the record")


async def test_an_outage_accuses_nobody_and_a_record_that_comes_late_is_believed(
    pages: Pages, evening: Told
) -> None:
    told = unanswered(evening, is_next_open=False)
    async with lying_page(pages, told, IMPATIENT) as seen:
        seen.liar.missing_as = "store_unavailable"
        bar = seen.page.locator(".alarms")
        await seen.race()
        async with asyncio.timeout(SHOWN_WITHIN):
            await seen.is_refused_often.wait()
        assert await bar.inner_text() == ""
        seen.liar.missing_as = "no_such_race"
        await seen.tells("the server has not sent the record")
        seen.liar.told.records.update(evening.records)
        await seen.page.locator(".seal").get_by_text("Fair deal.").wait_for()
        await expect(seen.page.locator("dialog.alarm")).to_have_count(0)
        await expect(bar).to_be_empty()


async def test_the_table_of_a_match_is_shown_with_totals_that_the_page_adds_up(
    pages: Pages, evening: Told
) -> None:
    race = race_of(evening, RACE)
    results = [events.MatchResult(race=race, place=1, net=net) for net in (-15, 40)]

    def second(event: Event) -> Event:
        if not isinstance(event, events.MatchChanged) or event.match is None:
            return event
        first, *others = event.match.rows
        rows = [replace(first, results=results)]
        rows += [replace(each, results=results[:1]) for each in others]
        finished = [race, f"{race}0"]
        return replace(event, match=replace(event.match, finished=finished, rows=rows))

    async with lying_page(pages, one_race(evening).edited(second)) as seen:
        await seen.race()
        await seen.page.get_by_role("heading", name="Match after race 2 of 3").wait_for()
        table = seen.page.get_by_role("table", name="Match")
        lines = await table.get_by_role("row").all_inner_texts()
        assert [line.split()[0] for line in lines[1:]] == ["1", "2", "2"]
        assert lines[1].split()[-1] == "+$25"
        assert {line.split()[-1] for line in lines[2:]} == {"\u2212$15"}


async def test_an_alarm_stays_on_every_screen_and_after_a_reload(
    pages: Pages, evening: Told
) -> None:
    told = one_race(LIES["another commitment in the race"].edit(evening))
    async with lying_page(pages, told) as seen:
        await seen.race()
        await seen.tells(NOT_FIXED)
        page = seen.page
        await page.get_by_role("button", name="I have read it").click()
        for path in ("/", "/leaderboards/canfield"):
            await visit(page, path)
            bar = page.locator(".alarms").get_by_role("button")
            await bar.click()
            assert NOT_FIXED in await page.locator("dialog.alarm").inner_text()
            await look(page, "alarm")
            await page.get_by_role("button", name="I have read it").click()
        await page.goto(seen.url)
        await seen.tells(NOT_FIXED)


async def test_an_honest_server_is_believed_and_markup_in_its_result_is_text(
    pages: Pages, evening: Told
) -> None:
    name = "<img src=x onerror=alert(1)>"

    def renamed(table: events.Table) -> events.Table:
        seats = [replace(each, name=name) for each in table.seats]
        racers = [replace(each, name=name) for each in table.racers]
        return replace(table, seats=seats, racers=racers)

    async with lying_page(pages, one_race(tables(renamed)(evening))) as seen:
        await seen.race()
        await seen.page.locator(".seal").get_by_text("Fair deal.").wait_for()
        assert await seen.page.locator(".alarms").inner_text() == ""
        assert await seen.page.locator("#screen img").count() == 0
        assert "<img src=x" in await seen.page.get_by_role("table", name="Results").inner_text()
