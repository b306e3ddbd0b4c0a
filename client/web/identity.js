/**
 * Who this browser is to this server, and how the player likes the board to look. All of it lies in the browser's storage.
 */

import { fromHex, randomHex, sha256 } from "./hash.js";

const TOKEN = "saratoga.token";
const NAME = "saratoga.name";
const LOOK = "saratoga.look";
const WATCHES = "saratoga.watches";
const IS_TOKEN = /^[0-9a-f]{64}$/;

/** What the browser's storage does not take (it is full, or a private window has none), until the page is closed. @type {Map<string, string | null>} */
const memory = new Map();

/** @param {string} key @param {"localStorage" | "sessionStorage"} [storage] */
export function stored(key, storage = "localStorage") {
  if (memory.has(key)) return memory.get(key) ?? null;
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

/** What is stored as JSON; `otherwise` if nothing can be read. @template T @param {string} key @param {T} otherwise @returns {T} */
export function storedJson(key, otherwise) {
  try {
    return JSON.parse(stored(key) ?? "null") ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** @param {string} key @param {string | null} value @param {"localStorage" | "sessionStorage"} [storage] */
export function store(key, value, storage = "localStorage") {
  try {
    if (value === null) window[storage].removeItem(key);
    else window[storage].setItem(key, value);
    memory.delete(key);
  } catch {
    memory.set(key, value);
  }
}

/** The token of this browser's player, made at the first call. */
export function token() {
  const known = stored(TOKEN);
  if (known && IS_TOKEN.test(known)) return known;
  const made = randomHex(32);
  store(TOKEN, made);
  return made;
}

/** The public id that follows from a token. @param {string} [secret] */
export function playerId(secret = token()) {
  const tag = new TextEncoder().encode("saratoga player");
  const hash = sha256(Uint8Array.from([...tag, ...fromHex(secret)]));
  let bits = "";
  for (const byte of hash.subarray(0, 10)) bits += byte.toString(2).padStart(8, "0");
  return (bits.match(/.{5}/g) ?? [])
    .map((five) => "abcdefghijklmnopqrstuvwxyz234567"[parseInt(five, 2)])
    .join("");
}

/** The server's origin as `saratoga token` writes it: with its port, and one name for all loopback addresses. */
export function origin() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const host = location.hostname.replace(/\.$/, "");
  const name = /^(127(\.[0-9]+){3}|\[::1\])$/.test(host) ? "localhost" : host;
  return `${scheme}://${name}:${location.port || (scheme === "wss" ? 443 : 80)}`;
}

/** One line for `saratoga token import`, which makes a terminal the same player. */
export function exportedToken() {
  return `saratoga token ${origin()} ${token()}`;
}

/**
 * Return the token in a line of `saratoga token export --server`, or what is wrong with the line.
 * @param {string} line @returns {{token: string, problem: string}}
 */
export function readToken(line) {
  const [program, kind, server, secret, ...more] = line.trim().split(/\s+/);
  const wanted = `In a terminal: saratoga token export --show --server ${origin()}`;
  if (program === "saratoga" && kind === "secret")
    return {
      token: "",
      problem: `That is your secret, which is for all servers. This page needs a token for this server only. ${wanted}`,
    };
  if (program !== "saratoga" || kind !== "token" || more.length || !IS_TOKEN.test(secret ?? ""))
    return { token: "", problem: `That line holds no token. ${wanted}` };
  if (server !== origin())
    return {
      token: "",
      problem: `That token is for ${server}, and this server is ${origin()}. ${wanted}`,
    };
  return { token: secret, problem: "" };
}

/** Become the player of a token, from the next connection on. @param {string} imported */
export function becomePlayerOf(imported) {
  store(TOKEN, imported);
  store(NAME, null);
}

/** The name that this player gave last. */
export function lastName() {
  return stored(NAME) ?? "";
}

/** @param {string} name */
export function rememberName(name) {
  store(NAME, name);
}

/** Whether the player chose in this tab to watch a table without a seat; a tab that is loaded again knows. @param {string} code */
export function watchesOnly(code) {
  return stored(`${WATCHES}.${code}`, "sessionStorage") !== null;
}

/** @param {string} code @param {boolean} isWatching */
export function rememberWatching(code, isWatching) {
  store(`${WATCHES}.${code}`, isWatching ? "only" : null, "sessionStorage");
}

/**
 * How the page looks: `theme` felt, paper, contrast or empty for the system's; `hand` left or right; `suits` by game, 2 or 4;
 * and whether single keys act, a pile plays its only move at the first tap, and sounds are heard: `on` or `off`.
 * @typedef {{theme: string, hand: string, suits: Record<string, number>, keys: string, quick: string, sound: string}} Look
 * @returns {Look}
 */
export function look() {
  const usual = { theme: "", hand: "right", suits: {}, keys: "on", quick: "off", sound: "off" };
  return { ...usual, ...storedJson(LOOK, {}) };
}

/** Change the look and show it. @param {Partial<Look>} change */
export function changeLook(change) {
  store(LOOK, JSON.stringify({ ...look(), ...change }));
  showLook();
}

/** Set the look's attributes on the document. */
export function showLook() {
  const { theme, hand } = look();
  const root = document.documentElement;
  const wanted = theme || (matchMedia("(prefers-contrast: more)").matches ? "contrast" : "");
  if (wanted) root.dataset.theme = wanted;
  else delete root.dataset.theme;
  root.dataset.hand = hand;
}
