/**
 * Bytes, SHA-256 and HMAC: browsers offer theirs in a secure context only, and plain http is none.
 */

const ROUND = new Uint32Array(64);
const START = new Uint32Array(8);
{
  // the fractions of the square and cube roots of the first primes
  let found = 0;
  for (let number = 2; found < 64; number++) {
    let isPrime = true;
    for (let factor = 2; factor * factor <= number; factor++)
      if (number % factor === 0) isPrime = false;
    if (!isPrime) continue;
    if (found < 8) START[found] = (Math.sqrt(number) % 1) * 2 ** 32;
    ROUND[found++] = (Math.cbrt(number) % 1) * 2 ** 32;
  }
}

/** A 32-bit word turned to the right. @param {number} word @param {number} by */
function turn(word, by) {
  return (word >>> by) | (word << (32 - by));
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
  for (let block = 0; block < padded.length; block += 64) {
    for (let i = 0; i < 16; i++) words[i] = data.getUint32(block + i * 4);
    for (let i = 16; i < 64; i++) {
      const [a, b] = [words[i - 15], words[i - 2]];
      const mixed =
        (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10));
      words[i] = words[i - 16] + words[i - 7] + mixed;
    }
    let [a, b, c, d, e, f, g, last] = state;
    for (let i = 0; i < 64; i++) {
      const chosen = (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g));
      const first = last + chosen + ROUND[i] + words[i];
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

/**
 * HMAC-SHA-256 with a key of at most 64 bytes.
 * @param {Uint8Array} key @param {Uint8Array} message
 */
export function hmac(key, message) {
  const [inner, outer] = [0x36, 0x5c].map((mask) =>
    Uint8Array.from({ length: 64 }, (_, at) => (key[at] ?? 0) ^ mask),
  );
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
