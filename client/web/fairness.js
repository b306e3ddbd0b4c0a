// @ts-check
/**
 * The player's part in a fair deal: hashes and nonces, without anything that needs a secure context.
 */

const ROUND = new Uint32Array(64);
const START = new Uint32Array(8);
{
  // the fractions of the square and cube roots of the first primes
  let found = 0;
  for (let number = 2; found < 64; number++) {
    let isPrime = true;
    for (let factor = 2; factor * factor <= number; factor++) if (number % factor === 0) isPrime = false;
    if (!isPrime) continue;
    if (found < 8) START[found] = (Math.sqrt(number) % 1) * 2 ** 32;
    ROUND[found++] = (Math.cbrt(number) % 1) * 2 ** 32;
  }
}

/** SHA-256 of some bytes. @param {Uint8Array} bytes @returns {Uint8Array} */
export function sha256(bytes) {
  const length = bytes.length;
  const padded = new Uint8Array(((length + 8) >> 6) * 64 + 64);
  padded.set(bytes);
  padded[length] = 0x80;
  const data = new DataView(padded.buffer);
  data.setUint32(padded.length - 8, Math.floor(length / 2 ** 29));
  data.setUint32(padded.length - 4, length << 3);
  const state = Uint32Array.from(START);
  const words = new Uint32Array(64);
  const turn = (/** @type {number} */ word, /** @type {number} */ by) => (word >>> by) | (word << (32 - by));
  for (let block = 0; block < padded.length; block += 64) {
    for (let i = 0; i < 16; i++) words[i] = data.getUint32(block + i * 4);
    for (let i = 16; i < 64; i++) {
      const [a, b] = [words[i - 15], words[i - 2]];
      words[i] = words[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + words[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10));
    }
    let [a, b, c, d, e, f, g, last] = state;
    for (let i = 0; i < 64; i++) {
      const first = last + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ROUND[i] + words[i];
      const second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [last, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    [a, b, c, d, e, f, g, last].forEach((word, i) => (state[i] += word));
  }
  const hash = new Uint8Array(32);
  const out = new DataView(hash.buffer);
  state.forEach((word, i) => out.setUint32(i * 4, word));
  return hash;
}

/** @param {Uint8Array} bytes */
export function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {string} digits */
export function fromHex(digits) {
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** Random bytes as hexadecimal digits. @param {number} count */
export function randomHex(count) {
  return hex(crypto.getRandomValues(new Uint8Array(count)));
}

/** The hash that `ready` carries for a nonce. @param {string} nonce 32 hexadecimal digits */
export function nonceHash(nonce) {
  return hex(sha256(fromHex(nonce)));
}

/** HMAC-SHA-256 with a key of at most 64 bytes. @param {Uint8Array} key @param {Uint8Array} message */
export function hmac(key, message) {
  const [inner, outer] = [0x36, 0x5c].map((mask) => Uint8Array.from({ length: 64 }, (_, at) => (key[at] ?? 0) ^ mask));
  return sha256(joined(outer, sha256(joined(inner, message))));
}

/** @param {...Uint8Array} parts */
export function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const BYTES = new TextEncoder();

/** @param {string} text */
export function bytesOf(text) {
  return BYTES.encode(text);
}

// Nonces

/** @typedef {import("./connection.js").Table} Table */

const NONCES = "saratoga.nonces";
/** How many deals' nonces this browser keeps. */
const KEPT = 8;

/**
 * The nonces of one player at one table: drawn for a deal, revealed in its countdown, kept over a reload of the page.
 *
 * @typedef {{commitment: string, nonce: string, listed: Record<string, string> | null}} Promised `listed`: the racers and
 *   their hashes as first listed for the deal; `null` before
 */
export class Nonces {
  /**
   * @param {string} player
   * @param {{read: () => string | null, write: (text: string) => void}} storage
   * @param {(race: string, sentences: string[]) => void} alarm
   */
  constructor(player, storage, alarm) {
    this.player = player;
    this.storage = storage;
    this.alarm = alarm;
    /** The countdown whose nonce was revealed: its commitment and `reveal_by`. */
    this.revealed = "";
    /**
     * The hash with which the last snapshot of a table showed this player ready without a nonce of this browser: another
     * device with the player's token may have it. By the table's code. @type {Record<string, string>}
     */
    this.foreign = {};
    this.promised = this.#stored();
  }

  /** @returns {Promised[]} */
  #stored() {
    try {
      return JSON.parse(this.storage.read() ?? "[]");
    } catch {
      return [];
    }
  }

  /** @param {string} player */
  static keyOf(player) {
    return `${NONCES}.${player}`;
  }

  /** Note the racers that a table lists for its deal. @param {Table} table @param {boolean} [isSnapshot] */
  see(table, isSnapshot = false) {
    // another tab may have drawn the nonce
    const known = this.#of(table.commitment) ?? this.#stored().find((each) => each.commitment === table.commitment);
    if (known && !this.#of(table.commitment)) this.promised = [...this.promised, known].slice(-KEPT);
    if (isSnapshot) this.foreign[table.code] = !known && table.seats.find((seat) => seat.player === this.player)?.ready ? table.commitment : "";
    if (known && !known.listed && table.racers?.length) this.#save({ ...known, listed: hashesOf(table) });
  }

  /** Return the nonce hash for `ready`; empty if the deal's racers were listed already. @param {string} commitment */
  hashFor(commitment) {
    const known = this.#of(commitment) ?? { commitment, nonce: randomHex(16), listed: null };
    if (known.listed) return "";
    this.#save(known);
    return nonceHash(known.nonce);
  }

  /** Draw another nonce after `not_ready`. @param {string} commitment */
  drop(commitment) {
    if (!this.#of(commitment)?.listed) this.#write(this.promised.filter((each) => each.commitment !== commitment));
  }

  /** Return the nonce to reveal now, or an empty text. @param {Table} table */
  due(table) {
    const countdown = `${table.commitment} ${table.reveal_by}`;
    if (table.phase !== "countdown" || !table.racers?.some((racer) => racer.player === this.player) || this.revealed === countdown) return "";
    this.revealed = countdown;
    const known = this.#of(table.commitment);
    const hashes = hashesOf(table);
    const own = hashes[this.player];
    if (!known && this.foreign[table.code] === table.commitment) return "";
    const faults = [];
    if (!known) faults.push("the countdown is for a deal for which this player has not said ready");
    else if (own !== nonceHash(known.nonce)) faults.push("the countdown has a nonce hash for this player that this player did not send");
    if (!Object.values(hashes).every(Boolean)) faults.push("the countdown has racers without a nonce hash");
    if (known?.listed && haveRacersChanged(table, known.listed)) faults.push(COUNTDOWN_CHANGED);
    if (faults.length) this.alarm(table.race, faults);
    return known && !faults.length ? known.nonce : "";
  }

  /** The nonce drawn for a deal; empty without one. @param {string} commitment */
  of(commitment) {
    return this.#of(commitment)?.nonce ?? "";
  }

  /** Try to reveal again: the last one was refused. */
  again() {
    this.revealed = "";
  }

  /** @param {string} commitment */
  #of(commitment) {
    return this.promised.find((each) => each.commitment === commitment);
  }

  /** @param {Promised} promised */
  #save(promised) {
    this.#write([...this.promised.filter((each) => each.commitment !== promised.commitment), promised].slice(-KEPT));
  }

  /** @param {Promised[]} promised */
  #write(promised) {
    this.promised = promised;
    this.storage.write(JSON.stringify(promised));
  }
}

export const COUNTDOWN_CHANGED = "the racers or their nonce hashes have changed since the countdown began";

/** The racers of a table with their nonce hashes. @param {Table} table @returns {Record<string, string>} */
export function hashesOf(table) {
  return Object.fromEntries((table.racers ?? []).map((racer) => [racer.player, racer.nonce_hash]));
}

/** Whether racers or hashes differ from those first listed. @param {Table} table @param {Record<string, string>} seen */
export function haveRacersChanged(table, seen) {
  return !isSame(hashesOf(table), seen);
}

/** Whether two plain values are equal. @param {unknown} one @param {unknown} two */
export function isSame(one, two) {
  return JSON.stringify(one) === JSON.stringify(two);
}
