/**
 * Who this browser is to this server, and how the player likes the board to look. All of it lies in the browser's storage.
 * The sheet "You" shows it, and makes another device the same player.
 */

import { fromHex, randomHex, sha256 } from "./hash.js";
import {
  button,
  copyText,
  field,
  form,
  h,
  openQuestion,
  openSheet,
  unfold,
  write,
} from "./page.js";

const TOKEN = "saratoga.token";
const LINK = "#you=";
const NAME = "saratoga.name";
const LOOK = "saratoga.look";
const WATCHES = "saratoga.watches";
const SEEN = "saratoga.seen";
/** The most races that are remembered for the home. */
const MOST_RACES = 20;
const IS_TOKEN = /^[0-9a-f]{64}$/;

/** What the browser's storage does not take (it is full, or a private window has none), until the page is closed. @type {Map<string, string | null>} */
const memory = new Map();

/** @typedef {"localStorage" | "sessionStorage"} Storage the second keeps what a tab needs when it is loaded again */
/** @param {string} key @param {Storage} [storage] */
export function stored(key, storage = "localStorage") {
  if (memory.has(key)) return memory.get(key) ?? null;
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

/** What is stored as JSON; `otherwise` if nothing can be read. @template T @param {string} key @param {T} otherwise @param {Storage} [storage] @returns {T} */
export function storedJson(key, otherwise, storage = /** @type {Storage} */ ("localStorage")) {
  try {
    return JSON.parse(stored(key, storage) ?? "null") ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** @param {string} key @param {string | null} value @param {Storage} [storage] */
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

/** The server's origin as `saratoga token` writes it: with port, loopback as `localhost`. */
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

/** The link that makes another browser the same player: what follows the # is sent to no server. */
function ownLink() {
  return `${location.origin}/${LINK}${token()}`;
}

/** Take the token out of such a link, and ask whether to become that player. */
export function followOwnLink() {
  const secret = location.hash.slice(LINK.length);
  if (!location.hash.startsWith(LINK) || !IS_TOKEN.test(secret)) return;
  history.replaceState(null, "", location.pathname + location.search);
  if (secret !== token()) askToBecome(secret);
}

/** Ask whether to become the player of a token. @param {string} secret */
function askToBecome(secret) {
  const become = () => {
    store(TOKEN, secret);
    store(NAME, null);
    location.reload();
  };
  const words =
    "This browser forgets who it is now. Keep your own link first if you want to be that player again.";
  openQuestion("Become that player?", "Stay who you are", "Become that player", become, words);
}

/** The name that this player gave last. */
export function lastName() {
  return stored(NAME) ?? "";
}

/** @param {string} name */
export function rememberName(name) {
  store(NAME, name);
}

/**
 * A race that this browser's player finished; `others`: the names of the other people, `racers`: the number of all with bots.
 * @typedef {{race: string, game: string, place: number, racers: number, banked: number, net: number, others: string[]}} Raced
 */

/** The last races of a player, the newest first. @param {string} player @returns {Raced[]} */
export function lastRaces(player) {
  return storedJson(`saratoga.last.${player}`, []);
}

/** @param {string} player @param {Raced} raced */
export function rememberRace(player, raced) {
  const last = lastRaces(player);
  if (last.some(({ race }) => race === raced.race)) return;
  store(`saratoga.last.${player}`, JSON.stringify([raced, ...last].slice(0, MOST_RACES)));
}

/** The best result of a player in each game. @param {string} player @returns {Record<string, {banked: number, net: number}>} */
export function bests(player) {
  return storedJson(`saratoga.bests.${player}`, {});
}

/** A field for the player's name. @param {import("./main.js").App} app */
export function nameField(app) {
  const value = app.connection.welcome?.name || lastName();
  const input = h("input", { name: "name", maxlength: 20, autocomplete: "nickname", value });
  return field("What shall we call you?", input);
}

/** Claim a name, after which the player has it; reject with what is wrong with it. @param {import("./main.js").App} app @param {string} name */
export async function claimTyped(app, name) {
  if (!name) throw new Error("Give a name, such as Anna; the others see it.");
  await app.claim(name);
}

/** Whether the player chose in this tab to watch a table without a seat; a tab that is loaded again knows. @param {string} code */
export function watchesOnly(code) {
  return stored(`${WATCHES}.${code}`, "sessionStorage") !== null;
}

/** @param {string} code @param {boolean} isWatching */
export function rememberWatching(code, isWatching) {
  store(`${WATCHES}.${code}`, isWatching ? "only" : null, "sessionStorage");
}

/** What this tab saw before it was loaded again. @returns {import("./session.js").Seen | null} */
export function lastSeen() {
  return storedJson(SEEN, null, "sessionStorage");
}

/** @param {import("./session.js").Seen} seen */
export function rememberSeen(seen) {
  store(SEEN, JSON.stringify(seen), "sessionStorage");
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

// The sheet

/** The button with the player's name in the head of a page. @param {import("./main.js").App} app */
export function youButton(app) {
  const attributes = { type: "button", "aria-haspopup": "dialog", onclick: () => openYou(app) };
  return h("button.link", attributes, app.connection.welcome?.name || "You");
}

/**
 * A button that shows a secret line, with a button that copies it.
 * @param {string} words @param {string} label @param {() => string} line @param {...import("./page.js").Child} more
 */
function secretLine(words, label, line, ...more) {
  const shown = h("input", { readonly: true, autocomplete: "off" });
  const said = h("p", { role: "status" });
  const copy = () =>
    write(
      said,
      copyText(`${line()}\n`) ? "Copied. Keep it private." : "Select the line and copy it.",
    );
  const box = h(
    "div.actions",
    { hidden: true },
    field(label, shown),
    button("Copy", copy),
    said,
    ...more,
  );
  /** @type {HTMLButtonElement} */
  const show = button(words, () => {
    shown.value = line();
    box.hidden = false;
    show.hidden = true;
    shown.select();
  });
  return h("div.actions", show, box);
}

/** Open the sheet with the player's name and look, and with the ways to other devices. @param {import("./main.js").App} app */
function openYou(app) {
  const said = h("p", { role: "status" });
  const name = nameField(app);
  const claim = async () => {
    try {
      await claimTyped(app, name.querySelector("input")?.value.trim() ?? "");
      write(said, `You are ${app.connection.welcome?.name}.`);
      app.show();
    } catch (error) {
      write(said, /** @type {Error} */ (error).message);
    }
  };
  const openLook = () => {
    sheet.close();
    app.openLook();
  };
  const called = app.connection.welcome?.name || "the same player";
  /** @type {HTMLDialogElement} */
  const sheet = openSheet(
    { title: "You", back: "Back" },
    form("row-form", claim, name, h("button.button", "Save name"), said),
    button("How it looks and plays", openLook),
    h("h2", "On another device"),
    h(
      "p",
      `Open your link there, and you are ${called} there too. Keep it to yourself: whoever has it plays as you.`,
    ),
    secretLine("Show my link", "Your link", ownLink),
    unfold(
      "With a terminal",
      h("p", `A token identifies you at this server, as player ${app.player}.`),
      secretLine(
        "Show the token",
        "Your token, in one line",
        exportedToken,
        h("p", "In a terminal: ", h("code", "saratoga token import -"), ", then paste the line."),
      ),
      h(
        "p",
        "From a terminal: ",
        h("code", `saratoga token export --show --server ${origin()}`),
        ", then open ",
        h("code", `${location.origin}/${LINK}`),
        " with the last word of its line at the end.",
      ),
    ),
  );
}
