/** Open races: paths and ids, commitments that change, the own result in words, results of the own challenges. */

import assert from "node:assert/strict";
import { test } from "node:test";

import "./cases.js";

const races = await import("../../client/web/open_races.js");
const NOW = Date.UTC(2026, 10, 28, 23, 59);
const MINE = { player: "me", name: "Mira", banked: 9, net: -7, state: "cash-out", elapsed: 1 };

test("a day and a challenge have a path, which names them", () => {
  for (const id of [races.dayId("klondike", NOW), "abcdefgh234567ij"])
    assert.equal(races.openOf(races.openPath(id)), id);
  assert.equal(races.dayId("klondike", NOW, 1), "day/klondike/2026-11-27");
  for (const path of ["/", "/c/short", "/day/klondike/today", "/races/mint-otter-42/1"])
    assert.equal(races.openOf(path), "");
});

test("a day is today's until midnight UTC", () => {
  const day = { id: races.dayId("klondike", NOW), kind: "day", game: "klondike" };
  assert.equal(races.openTitle(day, NOW), "Today's Klondike");
  assert.equal(races.openTitle(day, NOW + 120_000), "Klondike of 28 November");
});

test("a commitment that changes is told, and the first one is kept", () => {
  const [day, old] = ["day/klondike/2026-11-29", "day/klondike/2026-10-01"];
  const first = races.withCommitments({ [old]: "c" }, [[day, "a"]], NOW);
  assert.deepEqual(first, { known: { [day]: "a" }, changed: [] });
  const second = races.withCommitments(first.known, [[day, "b"]], NOW);
  assert.deepEqual(second, { known: { [day]: "a" }, changed: [day] });
});

test("a place is one so far until the race closes, and a newcomer has none", () => {
  const others = [1, 2].map((place) => ({ ...MINE, player: `r${place}`, place }));
  const placed = (row, more) => races.ownResult({ results: [...others, row], ...more }, "me").place;
  assert.equal(placed({ ...MINE, place: 3 }), "3rd of 3 so far");
  assert.equal(placed({ ...MINE, place: 3 }, { digest: "ab" }), "3rd of 3");
  const alone = { results: [{ ...MINE, place: 1 }] };
  assert.equal(races.ownResult(alone, "me").place, "The only run so far");
  assert.equal(placed({ ...MINE, young: true }), "New here today; ranked from tomorrow");
  assert.equal(placed({ ...MINE, state: "racing" }), "");
});

test("a result in the own challenge is news until it is seen", () => {
  const open = { results: [MINE, { ...MINE, player: "ben" }, { ...MINE, player: "cy" }] };
  const fresh = races.unseen({ seen: ["cy"] }, open, "me");
  assert.deepEqual(
    fresh.map((row) => row.player),
    ["ben"],
  );
});
