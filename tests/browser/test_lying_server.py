"""A server that lies about a race is found out by the page, as far as that needs no rules."""

from typing import Final

import msgspec
import pytest
from playwright.async_api import expect

from kit.browser_pages import Pages, look
from kit.earlier_lies import EARLIER, EARLIER_LIES, LISTED, MATCH_LIES, TRUE_MATCH
from kit.lying_page import GAME_UNKNOWN, IMPATIENT, lying_page
from kit.lying_server import Lie
from kit.page_tables import visit
from kit.race_lies import ABSENCES, DISCARDED, ENDED, LIES, OWN, TRUTH, UNVERIFIED, VANISHED, VOIDS
from saratoga_protocol import events

UNSEEN: Final = {"a rival's illegal move"}
"""Lies that only a replay shows: `saratoga verify` finds them out. SECURITY.md names them."""


async def test_an_honest_server_is_believed(pages: Pages) -> None:
    async with lying_page(pages, Lie()) as seen:
        await seen.race()
        await seen.page.locator(".seal").get_by_text("witnessed here").wait_for()
        assert await seen.page.locator(".alarms").inner_text() == ""


async def test_a_race_of_a_game_that_the_page_does_not_know_is_no_contradiction(
    pages: Pages,
) -> None:
    async with lying_page(pages, Lie(), GAME_UNKNOWN) as seen:
        await seen.race()
        seal = seen.page.locator(".seal")
        await seal.get_by_text("witnessed here").wait_for()
        assert (
            "this page does not know the game, so it did not deal and count"
            in await seal.inner_text()
        )
        assert await seen.page.locator(".alarms").inner_text() == ""


@pytest.mark.parametrize("name", [*LIES, *sorted(UNVERIFIED.keys() - UNSEEN)])
async def test_a_lie_about_the_race_is_found_out(name: str, pages: Pages) -> None:
    pages.forgive("404 (Not Found)")
    lie, sentence = {**LIES, **UNVERIFIED}[name]
    async with lying_page(pages, lie) as seen:
        await seen.race()
        await seen.tells(sentence)
        if not lie.is_next_open:
            await seen.page.get_by_role("heading", name="NOT VERIFIED").wait_for()


@pytest.mark.parametrize(
    "boards",
    [{"boards": [{"player": OWN.player, "entries": [{}] * len(OWN.log)}]}, {"boards": 7}],
    ids=["empty entries", "no list"],
)
async def test_boards_in_no_form_of_the_wire_silence_no_alarm(boards: object, pages: Pages) -> None:
    async with lying_page(pages, Lie(), boards=msgspec.json.encode(boards)) as seen:
        await seen.race()
        await seen.tells("what the server sent of this race cannot be compared")
        await seen.page.get_by_role("heading", name="NOT VERIFIED").wait_for()


@pytest.mark.parametrize("name", sorted(UNSEEN))
async def test_what_only_a_replay_shows_is_said_to_be_unchecked(name: str, pages: Pages) -> None:
    pages.forgive("404 (Not Found)")
    async with lying_page(pages, UNVERIFIED[name][0]) as seen:
        await seen.race()
        seal = seen.page.locator(".seal")
        await seal.get_by_text(f"saratoga verify {TRUTH.race_id}").wait_for()
        assert "the moves were not replayed here" in await seal.inner_text()


@pytest.mark.parametrize("reason", VOIDS)
async def test_a_void_record_without_the_own_ending_is_found_out(reason: str, pages: Pages) -> None:
    async with lying_page(pages, VOIDS[reason]) as seen:
        await seen.race()
        await seen.tells(f"the record lacks this player's entry {len(OWN.log)}, cash-out")


@pytest.mark.parametrize("name", [*ABSENCES, *DISCARDED])
async def test_a_race_that_is_not_shown_to_its_end_is_missed(name: str, pages: Pages) -> None:
    lie, sentence = {**ABSENCES, **DISCARDED}[name]
    async with lying_page(pages, lie, IMPATIENT) as seen:
        await seen.race()
        await seen.tells(sentence)


@pytest.mark.parametrize("name", ENDED)
async def test_a_race_that_is_taken_away_with_the_table_is_missed(name: str, pages: Pages) -> None:
    async with lying_page(pages, ENDED[name], IMPATIENT) as seen:
        await seen.race()
        await seen.tells(VANISHED)


async def test_an_outage_accuses_nobody_and_a_record_that_comes_late_is_believed(
    pages: Pages,
) -> None:
    asks = b"const answer = await this.#asked(race);"
    hasty = IMPATIENT | {
        b"const ANSWERED_WITHIN = 10_000;": b"const ANSWERED_WITHIN = 20;",
        asks: b"performance.mark('asked'); " + asks,
    }
    async with lying_page(pages, Lie(is_sent=False, refused_as="store_unavailable"), hasty) as seen:
        bar = seen.page.locator(".alarms")
        await seen.race()
        # many times the wait after which a record is withheld
        await seen.page.wait_for_function("() => performance.getEntriesByName('asked').length > 20")
        assert await bar.inner_text() == ""
        seen.liar.lie = Lie(is_sent=False)
        await seen.tells("did not send the record")
        seen.liar.lie = Lie()
        await seen.page.locator(".seal").get_by_text("witnessed here").wait_for()
        await expect(seen.page.locator("dialog.alarm")).to_have_count(0)
        await expect(bar).to_be_empty()


async def test_an_honest_list_of_voided_races_is_believed(pages: Pages) -> None:
    async with lying_page(pages, LISTED) as seen:
        await seen.race()
        seal = seen.page.locator(".seal")
        await seal.get_by_text("witnessed here").wait_for()
        said = f"the voided races are listed as this page saw them: {EARLIER.race_id}"
        assert said in await seal.inner_text()
        assert await seen.page.locator(".alarms").inner_text() == ""


@pytest.mark.parametrize("name", EARLIER_LIES)
async def test_a_lie_about_a_race_that_was_voided_before_is_found_out(
    name: str, pages: Pages
) -> None:
    lie, sentence = EARLIER_LIES[name]
    async with lying_page(pages, lie) as seen:
        await seen.race()
        await seen.tells(f"the record is not verified: {sentence}")
        await seen.page.get_by_role("heading", name="NOT VERIFIED").wait_for()


async def test_an_honest_table_of_a_match_is_believed(pages: Pages) -> None:
    async with lying_page(pages, TRUE_MATCH) as seen:
        await seen.race()
        await seen.page.get_by_role("heading", name="Match after race 2 of 3").wait_for()
        table = seen.page.get_by_role("table", name="Match")
        assert await table.get_by_role("row").count() == 1 + len(TRUTH.racers)
        await seen.page.locator(".seal").get_by_text("witnessed here").wait_for()
        assert await seen.page.locator(".alarms").inner_text() == ""


@pytest.mark.parametrize("name", MATCH_LIES)
async def test_a_lie_in_the_table_of_a_match_is_found_out(name: str, pages: Pages) -> None:
    lie, sentence = MATCH_LIES[name]
    async with lying_page(pages, lie) as seen:
        await seen.race()
        await seen.tells(sentence)


async def test_an_alarm_stays_on_every_screen_and_after_a_reload(pages: Pages) -> None:
    lie, sentence = LIES["another cap while it runs"]
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
    def renamed(outcome: events.Outcome) -> list[events.Outcome]:
        rows = [
            msgspec.structs.replace(row, name="<img src=x onerror=alert(1)>")
            for row in outcome.results
        ]
        return [msgspec.structs.replace(outcome, results=rows)]

    async with lying_page(pages, Lie(outcomes=renamed)) as seen:
        await seen.race()
        await seen.tells("the announced name of")
        assert await seen.page.locator("#screen img").count() == 0
        assert "<img src=x" in await seen.page.get_by_role("table", name="Results").inner_text()
