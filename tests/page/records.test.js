/** Hashes, deals, digests and positions, against Python's and node's own, and against the recorded games. */

import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { test } from "node:test";

import { cases, recorded } from "./cases.js";
import { ahead, readMove, targetOf, viewOf, viewText, wholeView } from "../../client/web/cards.js";
import { fromHex, hex, hmac, sha256 } from "../../client/web/hash.js";
import * as records from "../../client/web/records.js";

test("hashes are those of node", () => {
  for (let length = 0; length < 200; length++) {
    const bytes = Uint8Array.from({ length }, (_, at) => (at * 167 + length) % 256);
    const key = bytes.subarray(0, 64);
    assert.equal(hex(sha256(bytes)), createHash("sha256").update(bytes).digest("hex"));
    assert.equal(hex(hmac(key, bytes)), createHmac("sha256", key).update(bytes).digest("hex"));
  }
});

test("the test vector of the protocol holds", () => {
  const seed = hex(Uint8Array.from({ length: 32 }, (_, at) => at));
  const racers = [
    { player: "a".repeat(16), nonce: "00".repeat(16) },
    { player: "b".repeat(16), nonce: seed.slice(0, 32) },
  ];
  const race = "mint-otter-42/3";
  const head = { seed, game: "canfield", rules: "1", race, cap: "10", public: "yes" };
  const promised = "a0ac1dc32defd8122dfd6ace5f2cc6a847567467653f4bb9bedcf899cd9a6206";
  assert.equal(records.commitmentOf(head), promised);
  const key = records.dealKey(seed, race, racers);
  assert.equal(hex(key), "102c3f0ba3f6a148e1f6bd527f09c9fd14420cccf4e90be66aa39be3776173c7");
  const deck =
    "AHQHTH7H2DJSKDQCAC9D7S7DAS2CAD8SKS4D9CTS6S6C8CTCQSJC3C4C5CKH3HJH2S2H3S9H5H5S6DJDQD4S7CKC5D9S8D6H8H4H3DTD";
  assert.equal(records.shuffledDeck(1, key).join(""), deck);
});

test("a key is dealt as the rules deal it", () => {
  for (const { game, key, deal } of cases.deals)
    assert.equal(records.dealOf(game, fromHex(key)), deal);
  for (const [key, deck] of Object.entries(cases.decks))
    assert.equal(records.shuffledDeck(2, fromHex(key)).join(""), deck);
  assert.equal(records.dealOf("monte-carlo", new Uint8Array(32)), "");
});

test("the recorded games begin as their decks are dealt", () => {
  const cards = (text) => text.replaceAll("10", "T").replaceAll(" ", "");
  for (const [game, games] of Object.entries(recorded))
    for (const { deck, start } of games) {
      const view = viewOf(records.laidOut(game, cards(deck).match(/../g)));
      assert.deepEqual(
        view.columns,
        start.columns.map((column, at) => cards(column).slice(2 * (start.face_down?.[at] ?? 0))),
      );
      assert.equal(view.stock, cards(start.stock).length / 2);
      assert.equal(view.reserve_top, cards(start.reserve ?? "").slice(-2));
      assert.deepEqual(
        view.up,
        [..."CSHD"].flatMap((suit) => start.up[suit]),
      );
    }
});

test("four words of a digest are the terminal's", () => {
  for (const [digest, words] of Object.entries(cases.words))
    assert.equal(records.digestWords(digest), words);
  assert.equal(records.digestWords(""), "");
  const { text } = cases.truth;
  assert.equal(records.digestOf(text), /^digest (.+)$/m.exec(text)[1]);
});

test("a position of a record is shown as the wire shows it", () => {
  for (const { positions, views } of Object.values(cases.races))
    positions.forEach((position, at) =>
      assert.equal(viewText(viewOf(position)), viewText(views[at])),
    );
});

test("a carry is shown ahead as the server then shows it", () => {
  for (const { views, moves } of Object.values(cases.races))
    moves.forEach((text, at) => {
      const [before, after] = [wholeView(views[at]), wholeView(views[at + 1])];
      const move = readMove(text);
      if (!move.to) return;
      const shown = ahead(before, move);
      assert.deepEqual([shown.up, shown.down], [after.up, after.down]);
      const target = targetOf(before, move);
      if (target[0] === "t")
        assert.equal(shown.columns[target.slice(1) - 1], after.columns[target.slice(1) - 1]);
    });
});
