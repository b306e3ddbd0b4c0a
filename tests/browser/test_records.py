"""The page's own hashes, deals, checks of records and memory of races, against Python's."""

import hashlib
import hmac
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any, Final

import msgspec
import pytest
import pytest_asyncio
from playwright.async_api import Page

from kit.browser_pages import Pages, page_url
from kit.messages import racer
from kit.race_lies import TRUTH, foreign_seed, rivals_illegal_move, wrong_result
from kit.races import Entrant, promised, race, settled, void_record, with_line
from kit.scripted_server import CODE, table
from kit.server_process import ServerProcess
from kit.walks import banking, wandering
from saratoga_client.session.witness import WITHHELD
from saratoga_protocol import events
from saratoga_protocol.views import wire_view
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.dealing.shuffle import shuffled_deck
from saratoga_rules.games import GAMES
from saratoga_rules.position import format_position, redact
from saratoga_rules.records.digest_words import digest_words
from saratoga_rules.records.record import RaceRecord, digest_of, format_record
from saratoga_rules.records.replay import steps

VECTOR_SEED: Final = bytes(range(32)).hex()
"""The seed of the test vector in protocol/README.md."""
VECTOR_NONCES: Final = {"a" * 16: "00" * 16, "b" * 16: bytes(range(16)).hex()}

RECORDS: Final = "const page = await import(document.querySelector('script[type=module]').src.replace('main.js', 'records.js'));"
FAIRNESS: Final = RECORDS.replace("records", "fairness")


@pytest_asyncio.fixture(loop_scope="session")
async def page(page_server: ServerProcess, pages: Pages) -> AsyncIterator[Page]:
    yield await pages.open(page_url(page_server))


async def computed(page: Page, body: str, argument: Any = None, module: str = RECORDS) -> Any:
    """Return what a function body computes with the page's module, as `page`, and an argument, as `given`."""
    return await page.evaluate(f"async given => {{ {module} {body} }}", argument)


async def test_hashes_are_those_of_hashlib(page: Page) -> None:
    chance = random.Random(7)
    texts = [chance.randbytes(length) for length in range(200)]
    body = (
        "return given.map(text => [page.hex(page.sha256(page.fromHex(text))),"
        " page.hex(page.hmac(page.fromHex(text).subarray(0, 64), page.fromHex(text)))])"
    )
    found = await computed(page, body, [text.hex() for text in texts], FAIRNESS)
    for text, (hashed, keyed) in zip(texts, found, strict=True):
        assert hashed == hashlib.sha256(text).hexdigest()
        assert keyed == hmac.digest(text[:64], text, "sha256").hex()


async def test_the_test_vector_of_the_protocol_holds(page: Page) -> None:
    body = """
        const key = page.dealKey(given.seed, "mint-otter-42/3", given.nonces);
        const race = {seed: given.seed, game: "canfield", rules: 1, race: "mint-otter-42/3", cap: 10, public: true};
        return [page.commitmentOf(race), key.reduce((text, byte) => text + byte.toString(16).padStart(2, "0"), ""),
            page.shuffledDeck(1, key).join(""), page.dealOf("canfield", key)]"""
    found = await computed(page, body, {"seed": VECTOR_SEED, "nonces": VECTOR_NONCES})
    assert found == [
        "a0ac1dc32defd8122dfd6ace5f2cc6a847567467653f4bb9bedcf899cd9a6206",
        "102c3f0ba3f6a148e1f6bd527f09c9fd14420cccf4e90be66aa39be3776173c7",
        "AHQHTH7H2DJSKDQCAC9D7S7DAS2CAD8SKS4D9CTS6S6C8CTCQSJC3C4C5CKH3HJH2S2H3S9H5H5S6DJDQD4S7CKC5D9S8D6H8H4H3DTD",
        format_position(deal_for_key(GAMES["canfield"], bytes.fromhex(found[1]))),
    ]


async def test_every_game_is_dealt_as_the_rules_deal_it(page: Page) -> None:
    keys = [bytes([number]) * 32 for number in range(20)]
    asked = [[game, key.hex()] for game in GAMES for key in keys]
    body = """return given.map(([game, key]) => {
        const bytes = Uint8Array.from(key.match(/../g), pair => parseInt(pair, 16));
        return [page.dealOf(game, bytes), page.shuffledDeck(2, bytes).join("")];
    })"""
    found = await computed(page, body, asked)
    for (game, key), (dealt, deck) in zip(asked, found, strict=True):
        assert dealt == format_position(deal_for_key(GAMES[game], bytes.fromhex(key)))
        assert deck == "".join(shuffled_deck(2, bytes.fromhex(key)))


async def test_the_four_words_are_the_terminals(page: Page) -> None:
    digests = [hashlib.sha256(bytes([number])).hexdigest() for number in range(100)]
    body = "return [page.WORDS.join(' '), given.map(page.digestWords), page.digestWords('')]"
    words, found, none = await computed(page, body, digests)
    listed = "598273141ef9625f5d71bc8144154f092d4c23ec36dc21bedf1b3eaa2ef0db02"
    assert hashlib.sha256(words.encode()).hexdigest() == listed
    assert found == list(map(digest_words, digests))
    assert none == ""


async def test_the_record_of_an_honest_race_passes_every_check(page: Page) -> None:
    for game in GAMES:
        entrants = [
            Entrant("Anna", banking, patience=40),
            Entrant("Bert", wandering, patience=40),
            Entrant("Zo\u00eb", wandering, bot=True, patience=9),
        ]
        await passes_every_check(page, race(game, 3, entrants))


async def passes_every_check(page: Page, record: RaceRecord) -> None:
    text = format_record(record)
    body = """
        const record = page.parseRecord(given);
        return [page.checksOf(record, given).map(check => [check.name, check.fault]), page.digestOf(given), record.racers.map(racer => racer.name)]"""
    checks, digest, names = await computed(page, body, text)
    assert [check for check in checks if check[1]] == []
    assert [name for name, _ in checks] == [
        *("digest", "commitment", "nonces", "deal", "times", "scores", "finish", "ranked"),
    ]
    assert digest == digest_of(text)
    assert names == [racer.name for racer in record.racers]


async def test_a_position_of_a_record_is_shown_as_the_wire_shows_it(page: Page) -> None:
    entrants = [Entrant("Anna", banking, patience=30), Entrant("Bert", wandering)]
    records = [race(game, 4, entrants) for game in GAMES]
    made = [step.position for each in records for step in steps(each, each.racers[0].player)]
    found = await computed(page, "return given.map(page.viewOf)", list(map(format_position, made)))
    for position, shown in zip(made, found, strict=True):
        view = wire_view(redact(position))
        for part in view.__struct_fields__:
            assert shown[part] == getattr(view, part), part


FORGED: Final = {
    "a foreign seed": (foreign_seed(TRUTH), "the commitment of this seed is"),
    "a wrong result": (wrong_result(TRUTH), "place "),
    "a number left out": (
        settled(with_line(TRUTH, TRUTH.racers[0], 0, number=99)),
        "expected number",
    ),
}


async def test_a_forged_record_fails_a_check(page: Page) -> None:
    body = "return page.checksOf(page.parseRecord(given), given).map(check => check.fault)"
    for name, (record, sentence) in FORGED.items():
        faults = await computed(page, body, format_record(record))
        assert any(sentence in fault for fault in faults), (name, faults)


async def test_an_illegal_move_is_left_to_saratoga_verify(page: Page) -> None:
    body = "return page.checksOf(page.parseRecord(given), given).map(check => check.fault)"
    faults = await computed(page, body, format_record(rivals_illegal_move(TRUTH)))
    assert not any(faults), "the page has no rules"


async def test_a_text_of_another_form_is_no_record(page: Page) -> None:
    text = format_record(TRUTH)
    body = "try { page.parseRecord(given); return ''; } catch (error) { return error.message; }"
    assert await computed(page, body, text) == ""
    for before, after in (
        ("saratoga record 1", "saratoga record 2"),
        ("\nrules 1\n", "\nrules 01\n"),
        ("\npublic no\n", "\npublic maybe\n"),
        ("\nranked ", "\n ranked "),
        ("digest ", "\ndigest "),
        ('person "Anna"', 'person "An\\u200bna"'),
    ):
        assert before in text
        fault = await computed(page, body, text.replace(before, after, 1))
        assert fault.startswith("line "), (before, fault)


async def test_a_voided_race_that_no_server_lists_makes_no_record(page: Page) -> None:
    body = "try { page.parseRecord(given); return ''; } catch (error) { return error.message; }"
    line = void_record(f"{TRUTH.table}/1").line
    many = {f"{'a' * 15}{letter}": "0a" * 16 for letter in "abcdefghijklmnopq"}
    for voided, words in (
        (line, ""),
        (replace(line, nonces=many), "more than 16 racers"),
        (replace(line, cap=0, public=True), "has a time limit"),
    ):
        fault = await computed(page, body, format_record(replace(TRUTH, voided=(voided,))))
        assert words in fault
        assert bool(words) == bool(fault), fault


SEEN = """async events => {
    const page = await import(document.querySelector("script[type=module]").src.replace("main.js", "witness.js"));
    const kept = new Map();
    const witness = new page.Witness({
        player: "aaaaaaaaaaaaaaaa", storage: {read: key => kept.get(key) ?? null, write: (key, text) => text === null ? kept.delete(key) : kept.set(key, text)},
        alarm: () => {}, ask: () => new Promise(() => {}), boards: async () => null, nextId: () => 2, durability: () => "safe",
        nonce: () => "", isConnected: () => true, proved: () => {}, withdraw: () => {},
    });
    for (const event of events) witness.see(event);
    return [...kept.keys()];
}"""


def listed(race: int) -> events.TableChanged:
    """Return the countdown of a race, with its racers."""
    hashed = f"{race:064x}"
    seat = events.Seat(player="b" * 16, name="Bert", ready=True)
    shown = msgspec.structs.replace(
        table(version=race, phase="countdown"),
        race=f"{CODE}/{race}",
        commitment=hashed,
        seats=[seat],
        racers=[racer(seat.player, "Bert", nonce_hash=hashed)],
    )
    return events.TableChanged(table=shown, now=0)


PROOF = """async ([race, text, alarms]) => {
    const page = await import(document.querySelector("script[type=module]").src.replace("main.js", "witness.js"));
    const seen = {player: "", hashes: {}, alarms, startAt: 0};
    return page.proofOf(race, text, each => each === race ? seen : null).faults;
}"""


async def test_alarms_about_a_race_stay_in_its_proof_except_that_the_record_was_missing(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    alarm = "the start or the deadline of the running race has changed"
    race = [TRUTH.race_id, format_record(TRUTH), [WITHHELD, alarm]]
    assert await page.evaluate(PROOF, race) == [alarm]


async def test_a_record_of_a_newer_server_is_no_lie(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    limit = format_record(promised(replace(TRUTH, cap=15)))
    form = format_record(TRUTH).replace("record 1", "record 2", 1)
    for text in (limit, form):
        assert await page.evaluate(PROOF, [TRUTH.race_id, text, []]) == []


@pytest.mark.parametrize("name", ["constructor", "valueof", "monte-carlo"])
async def test_a_record_of_any_game_has_a_proof(
    name: str, page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    text = format_record(TRUTH).replace("game canfield", f"game {name}", 1)
    faults = await page.evaluate(PROOF, [TRUTH.race_id, text, []])
    assert any("digest" in fault for fault in faults)


async def test_the_last_twenty_races_are_kept(page_server: ServerProcess, pages: Pages) -> None:
    page = await pages.open(page_url(page_server))
    sent = [{**msgspec.to_builtins(listed(race)), "type": "table_changed"} for race in range(1, 31)]
    kept = await page.evaluate(SEEN, sent)
    own = "saratoga.races.aaaaaaaaaaaaaaaa"
    assert sorted(kept) == sorted([own, *(f"{own}.{CODE}/{race}" for race in range(11, 31))])
