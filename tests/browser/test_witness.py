"""What the page keeps of races in the browser's storage."""

from dataclasses import replace

import msgspec
import pytest

from kit.browser_pages import Pages, page_url
from kit.race_lies import TRUTH
from kit.races import promised
from kit.scripted_server import CODE, table
from kit.server_process import ServerProcess
from saratoga_client.session.witness import WITHHELD
from saratoga_protocol import events
from saratoga_rules.records.record import format_record

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
    seat = events.Seat(player="b" * 16, name="Bert", ready=True, nonce_hash=hashed)
    shown = msgspec.structs.replace(
        table(version=race, phase="countdown"),
        race=f"{CODE}/{race}",
        commitment=hashed,
        seats=[seat],
        racers=[seat.player],
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
