/** The proof of a record, the nonces, and what is said when a server lies: the same race and lies as Python's. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { cases } from "./cases.js";
import { viewOf, viewText } from "../../client/web/cards.js";
import { Nonces } from "../../client/web/fairness.js";
import { commitmentOf, digestOf, readRecord } from "../../client/web/records.js";
import { Witness, proofOf } from "../../client/web/witness.js";

const { race, text: TEXT, player } = cases.truth;
const FAIR = [
  "The deal was fixed before the race began.",
  "So was what each racer added to the shuffle.",
  "The cards follow from this.",
];
const SAME = [
  "These are the cards that you were dealt.",
  "It is the record that the server announced.",
  "Your moves stand in the record, each at its time.",
];
const FIXED = "the deal is not the one that was fixed before the race";
const ADDED = "what a racer added to the shuffle was changed";
const ENTRY = "3894 4 t2>up";
const ANNOUNCED = "the record is not the one that the server announced";

/** The first line of a record that begins with a word. */
function lineOf(word, text = TEXT) {
  return text.split("\n").find((line) => line.startsWith(`${word} `));
}

/** The record with another line in the place of one, and the digest that follows. */
function forged(line, other, text = TEXT) {
  assert.ok(text.includes(`\n${line}\n`), line);
  const lines = text.replace(`\n${line}\n`, `\n${other}\n`).split("\n");
  lines.splice(-2, 1, `digest ${digestOf(lines.join("\n"))}`);
  return lines.join("\n");
}

/** The proof of a record, if the first racer saw the true race, but for changes. */
function proved(text, changes = {}, of = race) {
  const { racers } = readRecord(TEXT);
  const { log, nonce } = racers.find((racer) => racer.player === player);
  const seen = {
    commitment: lineOf("commitment").split(" ")[1],
    nonce,
    deal: viewText(viewOf(lineOf("deal").slice("deal ".length))),
    digest: digestOf(TEXT),
    ...Object.fromEntries(log.map((line, at) => [`entry ${at + 1}`, line])),
    ...changes,
  };
  const facts = Object.fromEntries(Object.entries(seen).filter(([, value]) => value !== null));
  return proofOf(of, text, player, { facts, alarms: [], isLost: false });
}

test("an honest record is right in all that was seen", () => {
  const { right, faults, unchecked } = proved(TEXT);
  assert.deepEqual([right, faults, unchecked], [[...FAIR, ...SAME], [], []]);
});

test("the record of an open race is right without nonces, and its kind is no way around them", () => {
  const { day, known } = cases.open;
  const unseen = { facts: {}, alarms: [] };
  const proved = (race, text) => proofOf(race, text, player, unseen);
  const { right, faults, racers } = proved(day.race, day.text);
  assert.deepEqual([right, faults], [[FAIR[0], FAIR[2]], []]);
  assert.equal(racers[0].player, player);
  assert.deepEqual(proved(known.race, known.text).right, [FAIR[2]]);
  const seed = lineOf("seed", day.text);
  const changed = forged(seed, seed.slice(0, -64) + "5a".repeat(32), day.text);
  assert.ok(proved(day.race, changed).faults.includes(FIXED));
  const unfixed = forged("kind day", "kind known", day.text);
  assert.ok(proved(day.race, unfixed).faults.includes(FIXED));
  for (const text of [
    forged(`open ${day.race}`, `open ${race}`, day.text),
    forged(`open ${day.race}`, `race ${race}`, day.text),
  ])
    assert.deepEqual(proved(race, text).faults, ["what came is not the record of this race"]);
});

test("the deal of every game follows from its record", () => {
  for (const { race, text } of Object.values(cases.races)) {
    const { right, faults, unchecked } = proofOf(race, text, "", { facts: {}, alarms: [] });
    assert.deepEqual([right, faults, unchecked], [FAIR, [], []]);
  }
});

test("a forged line is found out", () => {
  const [seed, nonce, deal] = ["seed", "nonce", "deal"].map((word) => lineOf(word));
  const now = (entry) => `your move 1 was "${ENTRY}", and now is "${entry}"`;
  for (const [line, other, sentence] of [
    [seed, seed.slice(0, -64) + "5a".repeat(32), FIXED],
    ["cap 10", "cap 20", FIXED],
    [nonce, `nonce ${"0b".repeat(16)}`, "what you added to the shuffle was changed"],
    [deal, deal.replace("=QH", "=QD"), "the cards do not follow from this"],
    [ENTRY, "3894 4 t1>up", now("3894 4 t1>up")],
    [ENTRY, "3895 4 t2>up", now("3895 4 t2>up")],
    [ENTRY, "At once t2>up", "what came is not the record of this race"],
  ]) {
    const { faults } = proved(forged(line, other));
    assert.ok(faults.includes(sentence), `${other}: ${faults}`);
    assert.ok(faults.filter((fault) => fault.includes("your move")).length <= 1);
  }
});

test("what was shown otherwise is found out", () => {
  const shown = viewText(viewOf(lineOf("deal").slice(5).replace("5H base", "6H base")));
  for (const [changes, sentence] of [
    [{ deal: shown }, "the cards are not those that you were dealt"],
    [{ digest: "0".repeat(64) }, ANNOUNCED],
    [{ commitment: "0".repeat(64) }, FIXED],
    [{ "entry 99": "40000 60 draw" }, 'your move 99 was "40000 60 draw", and now is ""'],
  ])
    assert.deepEqual(proved(TEXT, changes).faults, [sentence]);
  const other = proved(TEXT, {}, "mint-otter-42/7");
  assert.deepEqual(other.faults, ["what came is not the record of this race"]);
  const { faults } = proved(TEXT.replace(ENTRY, "3895 4 t2>up"));
  assert.ok(faults.includes("the record was changed after it was written"));
});

/** The record as if its game or rules were others, with the commitment that follows. */
function ofOtherRules(game, rules) {
  const text = forged("rules 1", `rules ${rules}`, forged("game canfield", `game ${game}`));
  const commitment = commitmentOf(readRecord(text).head);
  return forged(lineOf("commitment"), `commitment ${commitment}`, text);
}

test("what another release made cannot be checked, and is no lie", () => {
  const cards = "the cards: their rules are newer than this page";
  const newer = TEXT.replace("saratoga record 2", "saratoga record 9");
  for (const [text, said] of [
    [newer.replace(ENTRY, "7 new >> move"), "made by a newer release than this page"],
    [TEXT.replace("record 2", "void record 1"), "made by an older release than this page"],
    [ofOtherRules("canfield", 9), cards],
    [ofOtherRules("monte-carlo", 1), cards],
    [ofOtherRules("constructor", 1), cards],
  ]) {
    const commitment = lineOf("commitment", text).split(" ")[1];
    const { faults, unchecked } = proved(text, { commitment, digest: digestOf(text) });
    assert.deepEqual([faults, unchecked], [[], [said]]);
  }
  // what needs no rules is compared all the same
  const { faults } = proved(forged(ENTRY, "3895 4 t2>up", ofOtherRules("canfield", 9)));
  assert.ok(faults.some((fault) => fault.includes("your move 1 was")));
});

test("what the server could not read cannot be checked", () => {
  const text = forged("31659 38 cash-out", "damaged");
  const { faults, unchecked } = proved(text, { digest: digestOf(text) });
  assert.deepEqual([faults, unchecked], [[], ["moves that the server could not read"]]);
});

test("a voided countdown has no cards, and none were shown", () => {
  const { voided } = cases;
  const { faults, unchecked } = proofOf(race, voided, "", { facts: {}, alarms: [] });
  assert.deepEqual([faults, unchecked], [[], ["the cards: none were dealt"]]);
  const shown = proved(voided, { digest: digestOf(voided) }).faults;
  assert.ok(shown.includes("the cards are not those that you were dealt"));
  // a finished race has what every racer added
  assert.ok(proved(forged(lineOf("nonce"), "nonce -")).faults.includes(ADDED));
});

// Nonces

let deals = 0;

/** Whether the nonce is revealed in a countdown and after each change of it, the alarms, and whether the deal is spent. */
function revealed(...changes) {
  const me = `player ${deals++}`;
  const alarms = [];
  const nonces = new Nonces(me, (_, sentence) => alarms.push(sentence));
  const commitment = "c1".repeat(32);
  const own = nonces.hashFor(commitment);
  const first = { phase: "countdown", race, commitment, reveal_by: 1000, version: 7 };
  const told = [{}, ...changes].map(({ racers = { me: "own", rival: "aa" }, ...change }) => {
    if (change.isSnapshot) nonces.ready = "";
    const listed = Object.entries(racers).map(([name, hash]) => ({
      player: name === "me" ? me : name,
      nonce_hash: hash === "own" ? own : hash,
    }));
    return nonces.due({ ...first, ...change, racers: listed }) !== "";
  });
  return [told, alarms, nonces.hashFor(commitment) === own];
}

test("a nonce is revealed once, in the countdown of its deal alone", () => {
  // a table that changes in the countdown asks for nothing more; nor does a spent deal for ready
  assert.deepEqual(revealed({ version: 8 }), [[true, false], [], false]);
  // in another countdown for the same racers, the first answer may have been lost
  assert.deepEqual(revealed({ reveal_by: 2000 }), [[true, true], [], false]);
  assert.deepEqual(revealed({ commitment: "d2".repeat(32) }), [[true, false], [], false]);
  const changed = "the racers, or what they add to the shuffle, have changed";
  for (const racers of [{ me: "own", rival: "bb" }, { me: "own" }, { me: "cc", rival: "aa" }])
    assert.deepEqual(revealed({ reveal_by: 2000, racers }), [[true, false], [changed], false]);
  // another device may have got ready while this page was away
  const elsewhere = { isSnapshot: true, reveal_by: 2000, racers: { me: "cc", rival: "aa" } };
  assert.deepEqual(revealed(elsewhere), [[true, false], [], false]);
});

// What is seen of races

/** A witness of a race whose record is the true one, and its alarms. */
function witness(me, durability) {
  const alarms = [];
  const request = async () => ({ type: "record", text: TEXT });
  const seer = new Witness({
    player: me,
    nonces: { of: () => "" },
    withdraw() {},
    show() {},
    alarm: (_, sentence) => alarms.push(sentence),
    connection: { welcome: { durability }, request },
  });
  return { seer, alarms };
}

test("what the server says that it lost is set aside", async () => {
  const [code] = race.split("/");
  const commitment = lineOf("commitment").split(" ")[1];
  for (const [phase, count] of [
    ["running", 1],
    ["gathering", 0],
  ])
    for (const durability of ["fast", "safe"]) {
      const me = `${phase} ${durability}`;
      const { seer, alarms } = witness(me, durability);
      const running = { code, race, commitment, phase: "running", racers: [{ player: me }] };
      const board = { race, view: {}, count };
      seer.see({ type: "table_changed", table: running });
      for (const place of [1, 2])
        seer.see({
          type: "board",
          board: { ...board, count: place },
          place,
          entries: ["7 7 draw"],
        });
      const table = { ...running, phase, racers: [] };
      seer.see({ type: "snapshot", table, board: count && board });
      await seer.check(race);
      const lost = durability === "fast";
      assert.deepEqual(alarms, lost ? [] : ['your move 1 was "7 7 draw", and now is ""']);
      const { unchecked } = seer.proofs.get(race);
      assert.deepEqual(unchecked, lost ? ["what the server said that it lost"] : []);
    }
});

test("the last twenty races are kept", () => {
  const { seer } = witness("keeper", "safe");
  seer.check = async () => {};
  const [code] = race.split("/");
  const table = { code, phase: "countdown", racers: [{ player: "keeper" }] };
  const raced = Array.from({ length: 30 }, (_, at) => `${code}/${at + 1}`);
  for (const each of raced)
    seer.see({ type: "table_changed", table: { ...table, race: each, commitment: each } });
  const later = witness("keeper", "safe").seer;
  const kept = raced.filter((each) => later.of(each).facts.commitment);
  assert.deepEqual(kept, raced.slice(-20));
});
