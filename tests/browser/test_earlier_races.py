"""The voided races in a record, and the table of a match: the page says what the terminal says."""

from dataclasses import replace
from typing import Any, Final

import msgspec

from kit.browser_pages import Pages, page_url
from kit.earlier_lies import in_a_match, in_another_order, with_another_net
from kit.race_lies import TRUTH
from kit.races import NONCE, void_record
from kit.server_process import ServerProcess
from kit.sightings import announced
from saratoga_client.session.earlier_races import earlier_witness
from saratoga_client.session.match_check import LEAST_GAP, SeenResults
from saratoga_client.session.witness import GONE, MemoryWitness, Sighting
from saratoga_protocol.match_rows import Match
from saratoga_rules.dealing.fairness import nonce_hash
from saratoga_rules.records.record import RaceRecord, format_record

MODULE: Final = """const page = await import(
    document.querySelector("script[type=module]").src.replace("main.js", "witness.js"));"""

FIRST, SECOND, RACE = TRUTH.race - 2, TRUTH.race - 1, TRUTH.race
LINES: Final = {number: void_record(f"{TRUTH.table}/{number}").line for number in (FIRST, SECOND)}


def recorded(*numbers: int, **changes: Any) -> RaceRecord:
    """Return the race's record that lists these voided races, with changes in each."""
    return replace(TRUTH, voided=tuple(replace(LINES[number], **changes) for number in numbers))


def sighting(number: int, **changes: Any) -> Sighting:
    """Return what a client saw of a voided race."""
    line = LINES[number]
    hashes = {player: nonce_hash(bytes.fromhex(nonce)) for player, nonce in line.nonces.items()}
    seen = Sighting(
        race=f"{TRUTH.table}/{number}",
        game=line.game,
        commitment=line.commitment,
        nonce_hashes=hashes,
        voided="damaged",
    )
    return msgspec.structs.replace(seen, **changes)


CHECK: Final = f"""async ([text, race, sightings]) => {{
    {MODULE}
    const blank = {{player: "", startAt: 0, deal: "", outcome: null, alarms: [], own: [], standings: [], names: {{}}, bots: [],
        cap: null, public: null, ranked: null, durability: "safe", nonce: ""}};
    const load = each => sightings[each] ? {{...blank, ...sightings[each]}} : null;
    const check = page.proofOf(race, text, load).checks.find(each => each.name === "earlier-witness");
    return check ? check.fault || check.says : null;
}}"""


CASES: Final[dict[str, tuple[RaceRecord, list[Sighting]]]] = {
    "nothing was seen": (recorded(FIRST, SECOND), []),
    "both are listed": (recorded(FIRST, SECOND), [sighting(FIRST), sighting(SECOND)]),
    "one is left out": (recorded(SECOND), [sighting(FIRST), sighting(SECOND)]),
    "one is left out before one that was not seen": (recorded(SECOND), [sighting(FIRST)]),
    "one disappeared": (
        recorded(),
        [sighting(FIRST), sighting(SECOND, voided="", alarms=[GONE])],
    ),
    "one was not seen to its end": (recorded(), [sighting(FIRST), sighting(SECOND, voided="")]),
    "one was not promised": (
        recorded(FIRST, SECOND),
        [sighting(SECOND, voided="", commitment="00" * 32, nonce_hashes={})],
    ),
    "another commitment was seen": (
        recorded(FIRST, SECOND),
        [sighting(SECOND, commitment="00" * 32)],
    ),
    "another reason was told": (recorded(SECOND), [sighting(SECOND, voided="tired")]),
    "a result was announced": (
        recorded(SECOND),
        [sighting(SECOND, voided="", outcome=announced(TRUTH))],
    ),
    "another nonce": (
        recorded(SECOND, nonces=dict.fromkeys(LINES[SECOND].nonces, NONCE[::-1])),
        [sighting(SECOND)],
    ),
}


def terminals(record: RaceRecord, seen: list[Sighting]) -> str | None:
    """Return what the terminal says of the earlier races in a record."""
    witness = MemoryWitness()
    for each in seen:
        witness.keep(each)
    check = earlier_witness(record, witness)
    return None if check is None else check.detail.replace("this machine", "this page")


async def test_the_voided_races_in_a_record_are_compared_as_in_the_terminal(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    for name, (record, seen) in CASES.items():
        sightings = {
            each.race: {
                "race": each.race,
                "commitment": each.commitment,
                "voided": each.voided,
                "hashes": each.nonce_hashes,
                "alarms": each.alarms,
                "outcome": msgspec.to_builtins(each.outcome),
            }
            for each in seen
        }
        found = await page.evaluate(CHECK, [format_record(record), TRUTH.race_id, sightings])
        assert found == terminals(record, seen), name


MATCH: Final = f"""async ([race, matches]) => {{
    {MODULE}
    const all = [];
    for (const match of matches) {{
        const told = [];
        const witness = new page.Witness({{
            player: "aaaaaaaaaaaaaaaa", storage: {{read: () => null, write: () => {{}}}}, alarm: (_, faults) => told.push(...faults),
            ask: () => new Promise(() => {{}}), boards: async () => null, nextId: () => 2, durability: () => "safe", nonce: () => "",
            isConnected: () => true, proved: () => {{}}, withdraw: () => {{}},
        }});
        witness.see({{type: "race_over", outcome: race.outcome}});
        witness.see({{type: "table_changed", table: {{...race.table, match}}, now: 0}});
        all.push(told);
    }}
    return all;
}}"""

NUMBERS: Final = {
    "the race is in it": (SECOND, RACE),
    "it came before the race": (FIRST, SECOND),
    "it comes after the race": (RACE + 1,),
    "the race is left out": (SECOND, RACE + 1),
    "a restore has lost the race": (SECOND, SECOND + LEAST_GAP),
}


def matches() -> dict[str, Match]:
    """Return tables of matches, right ones and wrong ones."""
    right = in_a_match(SECOND, RACE)
    first = right.rows[0]
    wrong = {
        field: msgspec.structs.replace(first, **{field: getattr(first, field) + 5})
        for field in ("net", "wins", "place")
    }
    return {
        **{name: in_a_match(*numbers) for name, numbers in NUMBERS.items()},
        **{
            field: msgspec.structs.replace(right, rows=[row, *right.rows[1:]])
            for field, row in wrong.items()
        },
        "another result": with_another_net(right),
        "another order": in_another_order(right),
        "a race too few": msgspec.structs.replace(right, finished=right.finished[:1]),
        "a row without results": msgspec.structs.replace(
            right, rows=[*right.rows[:-1], msgspec.structs.replace(right.rows[-1], results=[])]
        ),
    }


async def test_the_table_of_a_match_is_compared_as_in_the_terminal(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    outcome, cases = announced(TRUTH), matches()
    table = {
        "code": TRUTH.table,
        "version": 1,
        "race": TRUTH.race_id,
        "phase": "closed",
        "settings": {"game": TRUTH.game},
        "commitment": "",
        "seats": [],
    }
    race = {"outcome": msgspec.to_builtins(outcome), "table": table}
    told = await page.evaluate(MATCH, [race, list(map(msgspec.to_builtins, cases.values()))])
    results = SeenResults()
    results.see(outcome)
    expected = {name: list(results.faults(match)) for name, match in cases.items()}
    assert dict(zip(cases, told, strict=True)) == expected
    assert sum(map(bool, told)) == len(cases) - 4
