/**
 * The record of a race: its form, the deal that follows from it, its digest and its four words.
 *
 * Nothing here judges a move: `saratoga verify` replays a race.
 */

import { GAMES, RANKS, SUITS, WORDS } from "./cards.js";
import { bytesOf, fromHex, hex, hmac, joined, sha256 } from "./hash.js";

// The deal: protocol/FAIRNESS.md

/**
 * Fields one after another, each after its length.
 * @param {...(string | number | Uint8Array)} parts
 */
function fields(...parts) {
  const bytes = parts.map((part) => (part instanceof Uint8Array ? part : bytesOf(String(part))));
  return joined(...bytes.flatMap((field) => [bigEndian(4, field.length), field]));
}

/** A number below 2 ** 32 in so many bytes. @param {number} length @param {number} number */
function bigEndian(length, number) {
  const bytes = new Uint8Array(length);
  new DataView(bytes.buffer).setUint32(length - 4, number);
  return bytes;
}

/** The hash that fixes a record's seed before it is shown. @param {Record<string, string>} head */
export function commitmentOf({
  seed,
  game,
  rules,
  kind,
  race,
  open,
  cap,
  public: isPublic = "yes",
}) {
  const [table, number] = kind ? [open, 1] : race.split("/");
  const promised = [game, rules, table, number, cap, isPublic, fromHex(seed)];
  return hex(sha256(fields("saratoga commitment 1", ...promised)));
}

/**
 * The key from which the cards are shuffled; the racers are ordered by id.
 * @param {string} seed @param {string} race @param {{player: string, nonce: string}[]} racers
 */
export function dealKey(seed, race, racers) {
  const shares = racers.flatMap(({ player, nonce }) => [player, fromHex(nonce)]);
  return hmac(fromHex(seed), fields("saratoga deal key 1", race, racers.length, ...shares));
}

/**
 * The shuffled cards, the one dealt first in front.
 * @param {number} packs @param {Uint8Array} key
 */
export function shuffledDeck(packs, key) {
  const pack = [...SUITS].flatMap((suit) => [...RANKS].map((rank) => rank + suit));
  const deck = Array.from({ length: packs }, () => pack).flat();
  const stream = shuffleBytes(key);
  for (let last = deck.length - 1; last > 0; last--) {
    const bound = last + 1;
    let byte = stream.next().value;
    // bytes at the end of the range would favour low numbers
    while (byte >= 256 - (256 % bound)) byte = stream.next().value;
    [deck[last], deck[byte % bound]] = [deck[byte % bound], deck[last]];
  }
  return deck;
}

/** @param {Uint8Array} key @returns {Generator<number, never>} */
function* shuffleBytes(key) {
  for (let number = 0; ; number++)
    yield* hmac(key, joined(bytesOf("saratoga shuffle 1"), bigEndian(8, number)));
}

/**
 * The deck and the piles of a deal; `hidden`: the cards face down under each column.
 * @typedef {{deck: string[], columns: string[], hidden: string[], up: number[], down: number[],
 *   reserve: string[], base: number}} Layout
 */

/**
 * The steps of deals, by the names that the facts of the games give them.
 * @type {Record<string, (layout: Layout, count: number) => void>}
 */
const STEPS = {
  ToReserve(layout, count) {
    layout.reserve.push(...layout.deck.splice(0, count));
  },
  BaseCard(layout) {
    const [card] = layout.deck.splice(0, 1);
    layout.base = RANKS.indexOf(card[0]) + 1;
    bank(layout.up, card);
  },
  ToColumns({ deck, columns }, rows) {
    for (let row = 0; row < rows; row++)
      deck.splice(0, columns.length).forEach((card, at) => (columns[at] += card));
  },
  Triangle({ deck, columns, hidden }) {
    for (let row = 0; row < columns.length; row++) {
      const [shown, ...others] = deck.splice(0, columns.length - row);
      columns[row] += shown;
      others.forEach((card, at) => (hidden[row + 1 + at] += card));
    }
  },
  AcesAndKings({ deck, up, down }) {
    for (const suit of SUITS) {
      bank(up, deck.splice(deck.indexOf(`A${suit}`), 1)[0]);
      bank(down, deck.splice(deck.indexOf(`K${suit}`), 1)[0]);
    }
  },
};

/** Start the first foundation of a card's suit. @param {number[]} heights @param {string} card */
function bank(heights, card) {
  heights[SUITS.indexOf(card[1]) * (heights.length / SUITS.length)] = 1;
}

/**
 * The opening position that follows from a key, as records write it; empty for a game that this page cannot deal.
 * @param {string} game @param {Uint8Array} key
 */
export function dealOf(game, key) {
  const facts = GAMES[game];
  if (!facts?.deal.every(([step]) => step in STEPS)) return "";
  return laidOut(game, shuffledDeck(facts.packs, key));
}

/** A shuffled deck's opening position. @param {string} game @param {string[]} deck */
export function laidOut(game, deck) {
  const facts = GAMES[game];
  const empty = new Array(facts.columns).fill("");
  const [up, down] = [facts.up, facts.down].map((piles) => new Array(piles).fill(0));
  /** @type {Layout} */
  const layout = { deck, columns: empty, hidden: [...empty], up, down, reserve: [], base: 1 };
  for (const [step, count] of facts.deal) STEPS[step](layout, count);
  const { hidden, reserve, base } = layout;
  const columns = layout.columns.map(
    (cards, at) => (hidden[at] && `${hidden[at]}|`) + cards || "-",
  );
  const piles = { stock: deck.join(""), waste: "", reserve: reserve.join(""), up, down };
  const drawn = Object.entries(piles).map(([name, pile]) => `${name}=${pile.toString() || "-"}`);
  return `${drawn.join(" ")} columns=${columns.join("/")} base=${base} passes=1`;
}

/** The deal that follows from a record's seed and nonces. @param {RaceRecord} record */
export function dealOfRecord({ head, racers }) {
  if (head.kind === "known") return dealOf(head.game, fromHex(head.seed));
  return dealOf(
    head.game,
    head.kind ? dealKey(head.seed, head.open, []) : dealKey(head.seed, head.race, racers),
  );
}

// Digests and their four words

/** The digest of all lines of a record but the last. @param {string} text */
export function digestOf(text) {
  let chain = sha256(bytesOf("saratoga record digest 2"));
  for (const line of text.split("\n").slice(0, -2)) chain = sha256(joined(chain, bytesOf(line)));
  return hex(chain);
}

/**
 * Four words of a digest, by which friends compare records; empty without one.
 * @param {string} digest
 */
export function digestWords(digest) {
  if (!/^[0-9a-f]{64}$/.test(digest)) return "";
  const bits = parseInt(digest.slice(0, 10), 16).toString(2).padStart(40, "0");
  return (bits.match(/.{10}/g) ?? []).map((ten) => WORDS[parseInt(ten, 2)]).join("-");
}

// The form of a record: protocol/FAIRNESS.md

/** The format of the records that this page reads. */
const FORMAT = 2;
const ENTRY = /^[0-9]{1,15} [0-9]{1,6} [a-zA-Z0-9.:>-]{1,20}$/;
const LINE = /^([a-z][a-z-]{0,31}) ([ -~]{1,400})$/;

/**
 * `head`: the lines before the first racer, by their first words; `nonce`: empty if it was not
 * revealed; `log`: the entries, as they are written.
 * @typedef {{player: string, nonce: string, hash: string, log: string[], isDamaged: boolean}} Racer
 * @typedef {{head: Record<string, string>, racers: Racer[], digest: string}} RaceRecord
 * @typedef {{lines: Record<string, string>, log: string[]}} Part lines by their first words
 */

/** Which other release made a record; empty if none did. @param {string} text */
export function madeBy(text) {
  const format = Number(/^saratoga (?:void )?record ([1-9][0-9]{0,5})\n/.exec(text)?.[1] ?? FORMAT);
  return format === FORMAT ? "" : format > FORMAT ? "a newer release" : "an older release";
}

/** Return a record; `null` if a text has not the form of one. @param {string} text */
export function readRecord(text) {
  /** @type {Part[]} */
  const parts = [{ lines: {}, log: [] }];
  const lines = text.split("\n");
  for (const line of lines.slice(1, -1)) {
    const [, word, rest] = LINE.exec(line) ?? [];
    if (word === "racer" || word === "run" || word === "place") parts.push({ lines: {}, log: [] });
    const part = parts[parts.length - 1];
    if (word) part.lines[word] = rest;
    else if (ENTRY.test(line)) part.log.push(line);
    else if (line === "damaged") part.lines[line] = line;
    else return null;
  }
  const digest = /^digest ([0-9a-f]{64})$/.exec(lines.at(-2) ?? "")?.[1];
  if (!digest || lines.at(-1) !== "") return null;
  const racers = parts.filter(({ lines: { racer, run } }) => racer || run).map(racerOf);
  const [{ lines: head }] = parts;
  return { head, racers, digest };
}

/** @param {Part} part @returns {Racer} */
function racerOf({ lines, log }) {
  const nonce = /^[0-9a-f]{32}$/.test(lines.nonce) ? lines.nonce : "";
  const hash = lines["nonce-hash"] ?? "";
  return {
    player: (lines.racer ?? lines.run).slice(0, 16),
    nonce,
    hash,
    log,
    isDamaged: "damaged" in lines,
  };
}
