"""The page's own hashes, deals, nonces and proofs of records, against Python's."""

import hashlib
import hmac
import itertools
import random
import re
from collections.abc import AsyncIterator
from typing import Any, Final

import pytest_asyncio
from playwright.async_api import Page

from kit.browser_pages import Pages, page_url
from kit.races import Entrant, countdown_voided, race
from kit.server_process import ServerProcess
from kit.walks import banking, wandering
from saratoga_protocol.commands import player_id
from saratoga_protocol.views import wire_view
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.dealing.fairness import commitment
from saratoga_rules.dealing.shuffle import shuffled_deck
from saratoga_rules.games import GAMES
from saratoga_rules.position import format_position, redact
from saratoga_rules.records.digest_words import WORDS, digest_words
from saratoga_rules.records.record import digest_of, format_record
from saratoga_rules.records.replay import steps

VECTOR_SEED: Final = bytes(range(32)).hex()
"""The seed of the test vector in protocol/FAIRNESS.md."""
VECTOR_NONCES: Final = {"a" * 16: "00" * 16, "b" * 16: bytes(range(16)).hex()}


@pytest_asyncio.fixture(loop_scope="session")
async def page(page_server: ServerProcess, pages: Pages) -> AsyncIterator[Page]:
    yield await pages.open(page_url(page_server))


async def computed(page: Page, modules: str, body: str, argument: Any = None) -> Any:
    """Return what a function body computes with modules of the page, and an argument, as `given`."""
    script = "document.querySelector('script[type=module]').src"
    loads = "".join(
        f"const {name} = await import({script}.replace('main.js', '{name}.js')); "
        for name in modules.split()
    )
    return await page.evaluate(f"async given => {{ {loads} {body} }}", argument)


async def test_hashes_are_those_of_hashlib(page: Page) -> None:
    chance = random.Random(7)
    texts = [chance.randbytes(length) for length in range(200)]
    body = """return given.map(text => {
        const bytes = hash.fromHex(text);
        return [hash.hex(hash.sha256(bytes)), hash.hex(hash.hmac(bytes.subarray(0, 64), bytes))];
    })"""
    found = await computed(page, "hash", body, [text.hex() for text in texts])
    for text, (hashed, keyed) in zip(texts, found, strict=True):
        assert hashed == hashlib.sha256(text).hexdigest()
        assert keyed == hmac.digest(text[:64], text, "sha256").hex()


async def test_the_test_vector_of_the_protocol_holds(page: Page) -> None:
    body = """
        const key = records.dealKey(given.seed, "mint-otter-42/3", given.racers);
        const head = {seed: given.seed, game: "canfield", rules: "1", race: "mint-otter-42/3", cap: "10", public: "yes"};
        return [records.commitmentOf(head), hash.hex(key), records.shuffledDeck(1, key).join(""),
            records.dealOf("canfield", key)]"""
    racers = [{"player": player, "nonce": nonce} for player, nonce in VECTOR_NONCES.items()]
    found = await computed(page, "records hash", body, {"seed": VECTOR_SEED, "racers": racers})
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
        const bytes = hash.fromHex(key);
        return [records.dealOf(game, bytes), records.shuffledDeck(2, bytes).join("")];
    })"""
    found = await computed(page, "records hash", body, asked)
    for (game, key), (dealt, deck) in zip(asked, found, strict=True):
        assert dealt == format_position(deal_for_key(GAMES[game], bytes.fromhex(key)))
        assert deck == "".join(shuffled_deck(2, bytes.fromhex(key)))


async def test_the_four_words_are_the_terminals(page: Page) -> None:
    digests = [hashlib.sha256(bytes([number])).hexdigest() for number in range(100)]
    body = "return [cards.WORDS, given.map(records.digestWords), records.digestWords('')]"
    words, found, none = await computed(page, "records cards", body, digests)
    assert words == list(WORDS)
    assert found == list(map(digest_words, digests))
    assert none == ""


async def test_a_position_of_a_record_is_shown_as_the_wire_shows_it(page: Page) -> None:
    entrants = [Entrant("Anna", banking, patience=30), Entrant("Bert", wandering)]
    records = [race(game, 4, entrants) for game in GAMES]
    made = [step.position for each in records for step in steps(each, each.racers[0].player)]
    texts = list(map(format_position, made))
    found = await computed(page, "cards", "return given.map(cards.viewOf)", texts)
    for position, shown in zip(made, found, strict=True):
        view = wire_view(redact(position))
        for part in view.__struct_fields__:
            assert shown[part] == getattr(view, part), part


# Proofs

TRUTH: Final = race(
    "canfield",
    5,
    [
        Entrant("Anna", banking, patience=7),
        Entrant("Bert", banking, patience=14, player=player_id("75" * 32)),
        Entrant("Carl", wandering, patience=9),
        Entrant("Zora", wandering, bot=True, patience=5),
    ],
    public=False,
)
OWN: Final = TRUTH.racers[0]
TEXT: Final = format_record(TRUTH)
LINES: Final = TEXT.splitlines()
FAIR: Final = [
    "The deal was fixed before the race began.",
    "So was what each racer added to the shuffle.",
    "The cards follow from this.",
]
SAME: Final = [
    "These are the cards that you were dealt.",
    "It is the record that the server announced.",
    "Your moves stand in the record, each at its time.",
]


def forged(line: str, other: str, text: str = TEXT) -> str:
    """Return a record with another line in the place of one, and the digest that follows."""
    lines = text.splitlines()
    assert line in lines
    lines[lines.index(line)] = other
    lines[-1] = f"digest {digest_of(chr(10).join([*lines, '']))}"
    return "\n".join([*lines, ""])


def line_of(word: str) -> str:
    return next(line for line in LINES if line.startswith(f"{word} "))


async def proved(page: Page, text: str, *, race: str = TRUTH.race_id, **changes: str) -> Any:
    """Return the page's proof of a record, if the first racer saw the true race, but for changes."""
    log = LINES[LINES.index(line_of("nonce-hash")) + 1 :]
    entries = itertools.takewhile(lambda line: line[0].isdigit(), log)
    facts = {
        "commitment": line_of("commitment").split()[1],
        "nonce": line_of("nonce").split()[1],
        "deal": line_of("deal").removeprefix("deal "),
        "digest": digest_of(TEXT),
        **{f"entry {place}": line for place, line in enumerate(entries, start=1)},
    }
    body = """
        const {race, text, player, facts} = given;
        facts.deal = cards.viewText(cards.viewOf(facts.deal));
        return witness.proofOf(race, text, player, {facts, alarms: [], isLost: false});"""
    given = {"race": race, "text": text, "player": OWN.player, "facts": facts | changes}
    return await computed(page, "witness cards", body, given)


async def test_an_honest_record_is_right_in_all_that_was_seen(page: Page) -> None:
    proof = await proved(page, TEXT)
    assert (proof["right"], proof["faults"], proof["unchecked"]) == ([*FAIR, *SAME], [], [])


async def test_the_deal_of_every_game_follows_from_its_record(page: Page) -> None:
    body = "return witness.proofOf(given.race, given.text, '', {facts: {}, alarms: []})"
    for game in GAMES:
        entrants = [
            Entrant("Anna", banking, patience=40),
            Entrant("Zo\u00eb", wandering, bot=True, patience=9),
        ]
        record = race(game, 3, entrants)
        given = {"race": record.race_id, "text": format_record(record)}
        proof = await computed(page, "witness", body, given)
        assert (proof["right"], proof["faults"], proof["unchecked"]) == (FAIR, [], []), game


FIXED: Final = "the deal is not the one that was fixed before the race"
ANNOUNCED: Final = "the record is not the one that the server announced"
ENTRY: Final = "3894 4 t2>up"
"""The first entry of the first racer."""

FORGED: Final = {
    "seed": (line_of("seed"), line_of("seed")[:-64] + "5a" * 32, FIXED),
    "time limit": ("cap 10", "cap 20", FIXED),
    "nonce": (line_of("nonce"), f"nonce {'0b' * 16}", "what you added to the shuffle was changed"),
    "deal": (line_of("deal"), line_of("deal").replace("=QH", "=QD"), "the cards do not follow"),
    "move": (ENTRY, "3894 4 t1>up", f'your move 1 was "{ENTRY}", and now is "3894 4 t1>up"'),
    "time": (ENTRY, "3895 4 t2>up", f'your move 1 was "{ENTRY}", and now is "3895 4 t2>up"'),
    "form": (ENTRY, "At once t2>up", "what came is not the record of this race"),
}
"""Lines of the record, each with the one in its place and what is said of it."""


async def test_a_forged_record_is_found_out(page: Page) -> None:
    for line, other, sentence in FORGED.values():
        faults = (await proved(page, forged(line, other)))["faults"]
        assert any(sentence in fault for fault in faults), (other, faults)
        assert sum("your move" in fault for fault in faults) <= 1


async def test_what_was_shown_otherwise_is_found_out(page: Page) -> None:
    shown = line_of("deal").removeprefix("deal ").replace("5H base", "6H base")
    for changes, sentence in (
        ({"deal": shown}, "the cards are not those that you were dealt"),
        ({"digest": "0" * 64}, ANNOUNCED),
        ({"commitment": "0" * 64}, FIXED),
        ({"entry 99": "40000 60 draw"}, 'your move 99 was "40000 60 draw", and now is ""'),
        ({"race": "mint-otter-42/7"}, "what came is not the record of this race"),
    ):
        assert (await proved(page, TEXT, **changes))["faults"] == [sentence]
    proof = await proved(page, TEXT.replace(ENTRY, "3895 4 t2>up"))
    assert "the record was changed after it was written" in proof["faults"]


def of_other_rules(game: str, rules: int) -> str:
    """Return the record as if its game or rules were others, with the commitment that follows."""
    seed = bytes.fromhex(TRUTH.seed)
    kept = commitment(
        seed, game, rules, TRUTH.table, TRUTH.race, cap=TRUTH.cap, public=TRUTH.public
    )
    text = forged("game canfield", f"game {game}")
    text = forged("rules 1", f"rules {rules}", text)
    return forged(line_of("commitment"), f"commitment {kept}", text)


async def test_what_another_release_made_cannot_be_checked_and_is_no_lie(page: Page) -> None:
    cards = "the cards: their rules are newer than this page"
    newer = TEXT.replace("saratoga record 2", "saratoga record 9").replace(ENTRY, "7 new >> move")
    older = TEXT.replace("saratoga record 2", "saratoga void record 1")
    for text, said in (
        (newer, "made by a newer release than this page"),
        (older, "made by an older release than this page"),
        (of_other_rules("canfield", 9), cards),
        (of_other_rules("monte-carlo", 1), cards),
        (of_other_rules("constructor", 1), cards),
    ):
        known = re.search("commitment (.+)", text)
        assert known is not None
        proof = await proved(page, text, commitment=known[1], digest=digest_of(text))
        assert (proof["faults"], proof["unchecked"]) == ([], [said])
    # what needs no rules is compared all the same
    text = of_other_rules("canfield", 9)
    proof = await proved(page, forged(ENTRY, "3895 4 t2>up", text))
    assert any("your move 1 was" in fault for fault in proof["faults"])


async def test_what_the_server_could_not_read_cannot_be_checked(page: Page) -> None:
    text = forged("31659 38 cash-out", "damaged")
    proof = await proved(page, text, digest=digest_of(text))
    assert (proof["faults"], proof["unchecked"]) == ([], ["moves that the server could not read"])


async def test_a_voided_countdown_has_no_cards_and_none_were_shown(page: Page) -> None:
    text = format_record(countdown_voided(TRUTH))
    body = "return witness.proofOf(given[0], given[1], '', {facts: {}, alarms: []})"
    proof = await computed(page, "witness", body, [TRUTH.race_id, text])
    assert (proof["faults"], proof["unchecked"]) == ([], ["the cards: none were dealt"])
    faults = (await proved(page, text, digest=digest_of(text)))["faults"]
    assert "the cards are not those that you were dealt" in faults
    # a finished race has what every racer added
    text = forged(line_of("nonce"), "nonce -")
    assert "what a racer added to the shuffle was changed" in (await proved(page, text))["faults"]


# Nonces

COUNTDOWN: Final = {
    "phase": "countdown",
    "race": "mint-otter-42/3",
    "commitment": "c1" * 32,
    "reveal_by": 1000,
    "version": 7,
    "racers": {"me": "own", "rival": "aa"},
}
"""A countdown with the nonce hash of each racer, `own` for the one that the page has sent."""

REVEALED: Final = """
    localStorage.clear();
    const alarms = [];
    const nonces = new fairness.Nonces("me", (race, sentence) => alarms.push(sentence));
    const own = nonces.hashFor(given[0].commitment);
    const revealed = given.map(table => {
        if (table.is_snapshot) nonces.ready = "";
        const racers = Object.entries(table.racers).map(([player, hash]) =>
            ({player, nonce_hash: hash === "own" ? own : hash}));
        return nonces.due({...table, racers}) !== "";
    });
    return [revealed, alarms, nonces.hashFor(given[0].commitment) === own];
"""


async def test_a_nonce_is_revealed_once_in_the_countdown_of_its_deal_alone(page: Page) -> None:
    async def revealed(*changes: dict[str, Any]) -> list[Any]:
        tables = [COUNTDOWN, *(COUNTDOWN | change for change in changes)]
        found: list[Any] = await computed(page, "fairness", REVEALED, tables)
        return found

    # a table that changes in the countdown asks for nothing more; nor does a spent deal for ready
    assert await revealed({"version": 8}) == [[True, False], [], False]
    # in another countdown for the same racers, the first answer may have been lost
    assert await revealed({"reveal_by": 2000}) == [[True, True], [], False]
    assert await revealed({"commitment": "d2" * 32}) == [[True, False], [], False]
    changed = "the racers, or what they add to the shuffle, have changed"
    for racers in ({"me": "own", "rival": "bb"}, {"me": "own"}, {"me": "cc", "rival": "aa"}):
        table = {"reveal_by": 2000, "racers": racers}
        assert await revealed(table) == [[True, False], [changed], False]
    # another device may have got ready while this page was away
    table = {"is_snapshot": True, "reveal_by": 2000, "racers": {"me": "cc", "rival": "aa"}}
    assert await revealed(table) == [[True, False], [], False]


LOST: Final = """
    const [text, race, losses, durability] = given;
    const alarms = [];
    const app = {
        player: "", nonces: {of: () => ""}, withdraw() {}, show() {},
        alarm: (race, sentence) => alarms.push(sentence),
        connection: {welcome: {durability}, request: async () => ({type: "record", text})},
    };
    const seer = new witness.Witness(app);
    const [, commitment] = /^commitment (.+)$/m.exec(text);
    const [code] = race.split("/");
    const running = {code, race, commitment, phase: "running", racers: [{player: ""}]};
    const board = count => ({race, count, view: {}});
    seer.see({type: "table_changed", table: running});
    for (const place of [1, 2]) seer.see({type: "board", board: board(place), place, entries: ["7 7 draw"]});
    for (const [phase, count] of losses)
        seer.see({type: "snapshot", table: {...running, phase, racers: []}, board: count && board(count)});
    await seer.check(race);
    return [alarms, seer.proofs.get(race).unchecked];
"""


async def test_what_the_server_says_that_it_lost_is_set_aside(page: Page) -> None:
    for phase, count in (("running", 1), ("gathering", 0)):
        for durability, alarms, unchecked in (
            ("fast", [], ["what the server said that it lost"]),
            ("safe", ['your move 1 was "7 7 draw", and now is ""'], []),
        ):
            given = [TEXT, TRUTH.race_id, [[phase, count]], durability]
            found = await computed(page, "witness", f"localStorage.clear(); {LOST}", given)
            assert found == [alarms, unchecked], (phase, durability)


async def test_the_last_twenty_races_are_kept(page: Page) -> None:
    body = """
        const app = {player: "me", nonces: {of: () => ""}, connection: {request: () => new Promise(() => {})}};
        const seer = new witness.Witness(app);
        for (let number = 1; number <= 30; number++) {
            const race = `mint-otter-42/${number}`;
            const table = {code: "mint-otter-42", race, commitment: `${number}`, phase: "countdown", racers: [{player: "me"}]};
            seer.see({type: "table_changed", table});
        }
        return JSON.parse(localStorage.getItem("saratoga.races.me")).map(seen => seen.race);"""
    kept = await computed(page, "witness", body)
    assert kept == [f"mint-otter-42/{number}" for number in range(11, 31)]
