/** The cases that `make reference` writes, and what the page's modules need of a browser before they are loaded. */

import { readFileSync } from "node:fs";

const text = readFileSync(new URL("cases.jsonl", import.meta.url), "utf8");
export const cases = Object.assign(
  {},
  ...text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line)),
);

const facts = { textContent: JSON.stringify(cases.facts) };
Object.assign(globalThis, { document: { getElementById: () => facts }, addEventListener() {} });

/** The recorded games of `tests/conformance`, by the names of their games. */
export const recorded = Object.fromEntries(
  Object.keys(cases.facts.games).map((game) => {
    const file = new URL(`../conformance/${game}.jsonl`, import.meta.url);
    const lines = readFileSync(file, "utf8").trim().split("\n");
    return [game, lines.map((line) => JSON.parse(line))];
  }),
);
