/** The player's part in a fair deal: a nonce for each deal, revealed in its countdown. */

import { nonceHash, randomHex } from "./hash.js";
import { store, storedJson } from "./identity.js";

/**
 * `listed`: the racers for whom the nonce was revealed, with their hashes; empty before.
 * @typedef {{commitment: string, nonce: string, listed: string}} Promised
 * @typedef {Wire.Table} Table
 */

/** How many deals' nonces this browser keeps. */
const KEPT = 8;

/** The nonces of one player: one for each deal, revealed for one list of racers only. */
export class Nonces {
  /** @param {string} player @param {(race: string, sentence: string) => void} alarm */
  constructor(player, alarm) {
    this.player = player;
    this.alarm = alarm;
    this.key = `saratoga.nonces.${player}`;
    /** The countdown in which the nonce was revealed; empty again if that was refused. */
    this.revealed = "";
    /** The deal for which this page got ready; empty once another device may have done so. */
    this.ready = "";
  }

  /** The nonce drawn for a deal; empty without one. @param {string} commitment */
  of(commitment) {
    return this.#known(commitment)?.nonce ?? "";
  }

  /** The hash for `ready`; empty if the nonce was revealed before. @param {string} commitment */
  hashFor(commitment) {
    const known = this.#known(commitment) ?? { commitment, nonce: randomHex(16), listed: "" };
    if (known.listed) return "";
    this.ready = commitment;
    this.#keep(commitment, known);
    return nonceHash(known.nonce);
  }

  /** Draw another nonce after `not_ready`. @param {string} commitment */
  drop(commitment) {
    if (!this.#known(commitment)?.listed) this.#keep(commitment);
  }

  /** Return the nonce to reveal now, or an empty text. @param {Table} table */
  due(table) {
    const { commitment, phase, race, racers = [] } = table;
    const countdown = `${commitment} ${table.reveal_by}`;
    const known = this.#known(commitment);
    const own = racers.find((racer) => racer.player === this.player);
    if (phase !== "countdown" || !own || !known || this.revealed === countdown) return "";
    this.revealed = countdown;
    const listed = JSON.stringify(racers.map((racer) => [racer.player, racer.nonce_hash]));
    const isOwn = own.nonce_hash === nonceHash(known.nonce);
    const isListed = listed === (known.listed || listed);
    if (isOwn && isListed) this.#keep(commitment, { ...known, listed });
    else if (isOwn || this.ready === commitment)
      this.alarm(race, "the racers, or what they add to the shuffle, have changed");
    return isOwn && isListed ? known.nonce : "";
  }

  #stored() {
    return storedJson(this.key, /** @type {Promised[]} */ ([]));
  }

  /** @param {string} commitment */
  #known(commitment) {
    return this.#stored().find((each) => each.commitment === commitment);
  }

  /**
   * Keep a nonce, or no nonce any more, for a deal.
   * @param {string} commitment @param {...Promised} kept
   */
  #keep(commitment, ...kept) {
    const others = this.#stored().filter((each) => each.commitment !== commitment);
    store(this.key, JSON.stringify([...others, ...kept].slice(-KEPT)));
  }
}
