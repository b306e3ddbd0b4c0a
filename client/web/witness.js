/**
 * What this page saw of a race, and how the race's record compares with it.
 *
 * A fact is a key with one value for ever: `commitment`, `nonce` (the own one), `deal`, `digest`
 * and `entry N` (of the own log, as a record writes it). The rest is for `saratoga verify`.
 */

import { GAMES, RULES, viewOf, viewText } from "./cards.js";
import { Refused } from "./connection.js";
import { nonceHash } from "./hash.js";
import { store, storedJson } from "./identity.js";
import { IS_CODE } from "./page.js";
import { commitmentOf, dealOfRecord, digestOf, madeBy, readRecord } from "./records.js";
import { takesReady } from "./session.js";

/** The most races that are kept, and for how many milliseconds. */
const MOST_RACES = 20;
const KEPT_FOR = 8 * 24 * 3_600_000;
/** Milliseconds between two requests for a record, and the refusals after which it is missing. */
const ASK_EVERY = 2_000;
const MOST_REFUSALS = 15;

/** What is said if a fact is the record's. @type {Record<string, string>} */
const RIGHT = {
  deal: "These are the cards that you were dealt.",
  entry: "Your moves stand in the record, each at its time.",
  digest: "It is the record that the server announced.",
};
/** What is said if it is not, or has another value later. @type {Record<string, string>} */
const WRONG = {
  commitment: "the deal is not the one that was fixed before the race",
  nonce: "what you added to the shuffle was changed",
  deal: "the cards are not those that you were dealt",
  digest: "the record is not the one that the server announced",
};

/**
 * `isLost`: the server said that it lost moves or the result.
 * @typedef {{race: string, facts: Record<string, string>, seenAt: number, isLost: boolean,
 *   hasRecord: boolean, alarms: string[]}} Sighting
 * @typedef {{digest: string, racers: import("./records.js").Racer[], right: string[], faults: string[],
 *   unchecked: string[]}} Proof
 * @typedef {import("./records.js").RaceRecord} RaceRecord
 */

/** @param {string} key @param {string} seen @param {string} [found] */
function faultOf(key, seen, found) {
  const [kind, place] = key.split(" ");
  return WRONG[kind] ?? `your move ${place} was "${seen}", and now is "${found ?? ""}"`;
}

/**
 * Check a record as far as that needs no rules of play, and compare it with what was seen.
 * @param {string} race @param {string} text @param {string} player @param {Sighting} seen
 */
export function proofOf(race, text, player, seen) {
  const record = readRecord(text);
  const [digest, racers] = [digestOf(text), record?.racers ?? []];
  /** @type {Proof} */
  const proof = { digest, racers, right: [], faults: [...seen.alarms], unchecked: [] };
  if (madeBy(text)) proof.unchecked.push(`made by ${madeBy(text)} than this page`);
  else if (!record || idOf(record.head, race) !== race)
    proof.faults.push("what came is not the record of this race");
  else {
    const isWhole = record.digest === proof.digest;
    judge(proof, isWhole, "the record was changed after it was written");
    compare(proof, record, checkedDeal(proof, record), player, seen);
  }
  return proof;
}

/** The race of a record: at a table, or open if the wanted one is. @param {Record<string, string>} head @param {string} wanted */
function idOf({ kind, open, race }, wanted) {
  const isOpen = !IS_CODE.test(wanted.split("/")[0]);
  if (isOpen) return kind ? open : "";
  return kind ? "" : race;
}

/** @param {Proof} proof @param {boolean} isRight @param {string} fault @param {string} [words] */
function judge({ right, faults }, isRight, fault, words = "") {
  const [list, said] = isRight ? [right, words] : [faults, fault];
  if (said && !list.includes(said)) list.push(said);
}

/**
 * Check the deal of a record, and return what its racers were shown: empty if nothing was dealt,
 * `null` if this page does not know the rules.
 * @param {Proof} proof @param {RaceRecord} record
 */
function checkedDeal(proof, record) {
  const { head, racers } = record;
  const isKnown = head.kind === "known";
  const isFixed = head.commitment === (isKnown ? "-" : commitmentOf(head));
  const fixed = isKnown ? "" : "The deal was fixed before the race began.";
  judge(proof, isFixed, WRONG.commitment, fixed);
  const isOpen = Boolean(head.kind) || racers.every(({ nonce }) => nonce);
  const isKept = racers.every(({ nonce, hash }) => !nonce || nonceHash(nonce) === hash);
  const changed = "what a racer added to the shuffle was changed";
  const words = head.kind ? "" : "So was what each racer added to the shuffle.";
  judge(proof, isKept && (isOpen || "voided" in head), changed, words);
  if (!(head.game in GAMES) || Number(head.rules) !== RULES) {
    proof.unchecked.push("the cards: their rules are newer than this page");
    return null;
  }
  if (!isOpen) {
    proof.unchecked.push("the cards: none were dealt");
    return "";
  }
  const deal = dealOfRecord(record);
  const isDealt = (head.deal ?? deal) === deal;
  judge(proof, isDealt, "the cards do not follow from this", "The cards follow from this.");
  return viewText(viewOf(deal));
}

/**
 * Compare a record with what was seen of its race.
 * @param {Proof} proof @param {RaceRecord} record @param {string | null} deal
 * @param {string} player @param {Sighting} seen
 */
function compare(proof, { head: { commitment }, racers }, deal, player, seen) {
  const own = racers.find((racer) => racer.player === player);
  if (seen.isLost) proof.unchecked.push("what the server said that it lost");
  if (own?.isDamaged) proof.unchecked.push("moves that the server could not read");
  // null cannot be had here
  /** @type {Record<string, string | null>} */
  const found = { commitment, nonce: own?.nonce || null, deal, digest: proof.digest };
  own?.log.forEach((line, at) => (found[`entry ${at + 1}`] = line));
  for (const [key, value] of Object.entries(seen.facts)) {
    const [kind] = key.split(" ");
    const known = found[key] ?? (kind === "entry" && !own?.isDamaged ? "" : null);
    if (known === null) continue;
    judge(proof, known === value, faultOf(key, value, known), RIGHT[kind]);
    // the first move that differs says it all
    if (known !== value && kind === "entry") break;
  }
}

/** Keeps what the player saw of races on this server, and compares their records with it. */
export class Witness {
  /** @param {import("./main.js").App} app */
  constructor(app) {
    this.app = app;
    this.key = `saratoga.races.${app.player}`;
    /** By race. @type {Map<string, Sighting>} */
    this.sightings = new Map();
    /** By race. @type {Map<string, Proof>} */
    this.proofs = new Map();
    /** The ids of open races by those of the own runs in them. @type {Map<string, string>} */
    this.runs = new Map();
    /** Races whose record was asked for. @type {Set<string>} */
    this.asked = new Set();
    for (const sign of ["pagehide", "visibilitychange"]) addEventListener(sign, () => this.#save());
  }

  /** What was seen of a race, open ones included. @param {string} id @returns {Sighting} */
  of(id) {
    const race = this.runs.get(id) ?? id;
    const known = this.sightings.get(race) ?? this.#stored().find((each) => each.race === race);
    const none = { isLost: false, hasRecord: false, alarms: [] };
    const seen = known ?? { race, facts: {}, seenAt: Date.now(), ...none };
    this.sightings.set(race, seen);
    return seen;
  }

  /**
   * Note the facts of an event; `sent` is the move or the ending that a board answers.
   * @param {Wire.Event} event @param {string} [sent]
   */
  see(event, sent) {
    const open = "table" in event && typeof event.table === "object" && event.table.open;
    if (open) this.runs.set(/** @type {Wire.Snapshot} */ (event).table.race, open);
    if (event.type === "snapshot") this.#seeSnapshot(event);
    if (event.type === "table_changed") this.#seeTable(event.table);
    if (event.type === "race_over") this.seeEnd(event.outcome);
    if (event.type !== "board") return;
    const { board, place = 0, entries = [] } = event;
    if (!entries.length) this.#note(board.race, "deal", viewText(board.view));
    entries.forEach((line, index) => {
      const [at, number, text] = line.split(" ");
      const own = index ? text : (sent ?? text);
      this.#note(board.race, `entry ${place + index}`, `${at} ${number} ${own}`);
    });
  }

  /** @param {Wire.Snapshot} snapshot */
  #seeSnapshot({ table, board, outcome }) {
    const { code, race, phase } = table;
    for (const seen of this.#stored().filter((each) => each.race.startsWith(`${code}/`)))
      for (const sentence of this.of(seen.race).alarms) this.app.alarm(seen.race, sentence);
    const { facts } = this.of(race);
    const isLost =
      (board && `entry ${board.count + 1}` in facts) ||
      (phase === "running" && "digest" in facts) ||
      (takesReady(table) && "commitment" in facts);
    if (isLost && this.app.connection.welcome?.durability === "fast") {
      Object.assign(this.of(race), { facts: {}, isLost: true, hasRecord: false });
      this.asked.delete(race);
    }
    this.#seeTable(table);
    if (board?.count === 0) this.#note(race, "deal", viewText(board.view));
    if (outcome) this.seeEnd(outcome);
  }

  /** @param {Wire.Table} table */
  #seeTable({ code, race, commitment, phase, previous, open, racers = [] }) {
    if (racers.length) this.#note(race, "commitment", commitment || "-");
    if (open) return;
    const own = racers.find(({ player }) => player === this.app.player);
    const nonce = this.app.nonces.of(commitment);
    // another device may have got ready with a nonce of its own
    if (own?.nonce_hash === nonceHash(nonce)) this.#note(race, "nonce", nonce);
    if (previous && this.of(previous.race).facts.commitment) this.seeEnd(previous);
    const numberOf = (/** @type {string} */ id) => Number(id.split("/")[1]);
    for (const seen of this.sightings.values()) {
      if (seen.hasRecord || !seen.facts.commitment || !seen.race.startsWith(`${code}/`)) continue;
      const isClosed = phase === "closed" && seen.race === race;
      if (isClosed || numberOf(seen.race) < numberOf(race)) this.check(seen.race);
    }
  }

  /** Note the digest of a race that is over, and check its record; an open race has none until it closes. @param {{race: string, digest: string}} end */
  seeEnd({ race, digest }) {
    if (!digest) return;
    this.#note(race, "digest", digest);
    this.check(race);
  }

  /** @param {string} id @param {string} key @param {string} value */
  #note(id, key, value) {
    const { race, facts } = this.of(id);
    const known = facts[key] ?? value;
    if (known !== value) this.#raise(race, faultOf(key, known, value));
    if (key in facts) return;
    facts[key] = value;
    // entries are saved when the page is hidden
    if (!key.startsWith("entry")) this.#save();
  }

  /** @param {string} race @param {string} sentence */
  #raise(race, sentence) {
    const { alarms } = this.of(race);
    if (!alarms.includes(sentence)) alarms.push(sentence);
    this.#save();
    this.app.alarm(race, sentence);
  }

  /** Fetch the record of a race and compare it; ask on while it is missing. @param {string} race */
  async check(race) {
    if (this.asked.has(race)) return;
    this.asked.add(race);
    for (let refusals = 0; ;) {
      const answer = await this.app.connection.request("get_record", { race }).catch((why) => why);
      if (answer.type === "record") return this.#prove(race, answer.text);
      if (!(answer instanceof Refused)) return this.asked.delete(race);
      // one that may be tried again says nothing about the record: the store is away
      if (!answer.event.retry) refusals++;
      const isMissing = refusals >= MOST_REFUSALS;
      if (isMissing) this.app.alarm(race, "the server has not sent the record", true);
      await new Promise((resolve) => setTimeout(resolve, ASK_EVERY * (isMissing ? 15 : 1)));
    }
  }

  /** @param {string} race @param {string} text */
  #prove(race, text) {
    const seen = this.of(race);
    const proof = proofOf(race, text, this.app.player, seen);
    seen.hasRecord = true;
    this.proofs.set(race, proof);
    this.app.withdraw(race);
    for (const fault of proof.faults) this.#raise(race, fault);
    this.#save();
    this.app.show();
  }

  #stored() {
    const all = storedJson(this.key, /** @type {Sighting[]} */ ([]));
    return all.filter((seen) => Date.now() - seen.seenAt < KEPT_FOR);
  }

  /** Store the last races, with those that other tabs have seen. */
  #save() {
    const others = this.#stored().filter(({ race }) => !this.sightings.has(race));
    const kept = [...others, ...this.sightings.values()].filter((seen) => seen.facts.commitment);
    store(this.key, JSON.stringify(kept.slice(-MOST_RACES)));
  }
}
