/** How racers look: a colour that each rival keeps in this browser, a disc, a name. */

import { store, storedJson } from "./identity.js";
import { h, nameNodes } from "./page.js";

const KEY = "saratoga.colours";
/** How many colours rivals have; more rivals share them, and their initials tell them apart. */
const COLOURS = 5;
/** How many players' colours are kept. */
const MOST_KEPT = 100;

/** The number of each rival's colour. @type {Map<string, number>} */
const colours = new Map(Object.entries(storedJson(KEY, {})));

/** @typedef {{player: string, name: string, bot?: boolean, level?: string}} Named */

/**
 * The class of a racer's colour: the player's own is always `me`. A rival keeps a colour, unless somebody else here has
 * it too while another one is free.
 * @param {{player: string}[]} racers everybody here @param {string} you @param {string} player
 */
export function racerClass(racers, you, player) {
  if (player === you) return "me";
  const rivals = racers.map((racer) => racer.player).filter((id) => id !== you);
  const taken = new Array(COLOURS).fill(0);
  const most = Math.ceil(rivals.length / COLOURS);
  const others = rivals.sort().filter((id) => {
    const colour = colours.get(id) ?? -1;
    return !(taken[colour] < most && ++taken[colour]);
  });
  for (const id of others) {
    const colour = taken.indexOf(Math.min(...taken));
    taken[colour]++;
    colours.set(id, colour);
  }
  if (others.length) store(KEY, JSON.stringify(Object.fromEntries([...colours].slice(-MOST_KEPT))));
  return `r${(colours.get(player) ?? 0) + 1}`;
}

/** A racer's initial; the player's own is Y. @param {string} you @param {Named} row */
export function initialOf(you, { player, name }) {
  return player === you ? "Y" : [...name][0]?.toUpperCase();
}

/** A racer's disc: an initial in the racer's colour; a bot's is square. @param {{player: string}[]} all @param {string} you @param {Named} row */
export function disc(all, you, row) {
  const kind = `${racerClass(all, you, row.player)}${row.bot ? ".is-bot" : ""}`;
  return h(`span.disc.${kind}`, { "aria-hidden": "true" }, initialOf(you, row));
}

/** A racer's disc and name, with words below it. @param {{player: string}[]} all @param {string} you @param {Named} row @param {string} [words] */
export function racerNodes(all, you, row, words) {
  const name = row.player === you ? ["You"] : nameNodes(row);
  return h("span.racer", disc(all, you, row), h("span", ...name, words && h("small", words)));
}

/**
 * A racer's row in a table: the place, the racer with words below, and cells.
 * @param {{player: string}[]} all @param {string} you @param {Named & {place?: number}} row
 * @param {string} words @param {...Element} cells
 */
export function racerRow(all, you, row, words, ...cells) {
  const kind = row.player === you ? "tr.me" : "tr";
  return h(
    kind,
    h("td", row.place || "\u2013"),
    h("td", racerNodes(all, you, row, words)),
    ...cells,
  );
}
