/**
 * The results of a race, with the tie explained and the seal; and the race's own page, with boards side by side.
 *
 * The boards come from the server, which replays the race: this page has no rules.
 */

import {
  PRIZE,
  contentOf,
  describeMove,
  drawPile,
  foundationPiles,
  gameTitle,
  handPiles,
  hasWaste,
  pileLabel,
  readMove,
  suitColours,
  targetOf,
  viewOf,
} from "./cards.js";
import { origin, store, storedJson } from "./identity.js";
import {
  button,
  clockText,
  copyText,
  counted,
  dollars,
  either,
  fill,
  h,
  nameNodes,
  openSheet,
  ordinal,
  pageHead,
  picture,
  shownName,
  svg,
  tone,
  write,
} from "./page.js";
import { climbChart, leaveButton } from "./race.js";
import { digestOf, digestWords } from "./records.js";
import { matchTotals, ownSeat, priceOf, rows, stateWords } from "./session.js";
import { proofOf } from "./witness.js";

export { LeaderboardsScreen } from "./leaderboards.js";

/** The most racers that the text to share names. */
const MOST_NAMED = 4;
/** Milliseconds between two moves that are played. */
const STEP = 600;

/** @typedef {"start" | "back" | "play" | "pause" | "on" | "fork" | "seal"} Sign */
/** @type {Record<Sign, string>} */
const SIGNS = {
  start: "M5 4h3v16H5zM20 4v16L9 12z",
  back: "M18 4v16L7 12z",
  play: "M7 3v18l14-9z",
  pause: "M6 4h4v16H6zM14 4h4v16h-4z",
  on: "M5 4v16l11-8zM17 4h3v16h-3z",
  fork: "M10.5 22v-8L4 7V3h3v3l5 5.5L17 6V3h3v4l-6.5 7v8z",
  seal: "M12 1 21 4.5v7c0 6-4 9.5-9 11.5-5-2-9-5.5-9-11.5v-7zM10.8 16.5l6.7-7-1.8-1.7-5 5.2-2.4-2.3-1.7 1.7z",
};

/** @param {Sign} name */
function sign(name) {
  return svg(
    "svg",
    { "aria-hidden": "true", viewBox: "0 0 24 24" },
    svg("path", { d: SIGNS[name], "fill-rule": "evenodd" }),
  );
}

/**
 * @typedef {import("./main.js").App} App
 * @typedef {import("./session.js").State} State
 * @typedef {import("./connection.js").ReplayedRace} ReplayedRace
 * @typedef {import("./connection.js").ReplayedBoard} ReplayedBoard
 * @typedef {ReplayedBoard & {level: string}} Reviewed
 * @typedef {import("./session.js").Row & {reached?: number | null, moves?: number}} Result
 * @typedef {{race: string, game: string, player: string, results: Result[], digest: string, ranked: boolean}} Finish what both screens show of a race
 */

// Words

/** A time in a race to the millisecond. @param {number} millis */
function exactTime(millis) {
  return `${clockText(millis)}.${String(millis % 1000).padStart(3, "0")}`;
}

/** The place in a sentence: `You finished 2nd of 3`, or whom it is shared with. @param {Finish} finish @param {Result} row @param {string} name */
function placeWords({ results }, row, name) {
  const sharing = results.filter((each) => each !== row && each.place === row.place).map(shownName);
  if (!sharing.length) return `${name} finished ${ordinal(row.place)} of ${results.length}`;
  return `${name} share${name === "You" ? "" : "s"} ${ordinal(row.place)} place with ${sharing.length > 2 ? `${sharing.length} others` : either(sharing, "and")}`;
}

/** Whether the time decided that a racer is ahead of the next. @param {Result | undefined} ahead @param {Result} row */
function isTied(ahead, row) {
  return Boolean(ahead && ahead.banked === row.banked && ahead.place !== row.place);
}

/** The tie that decided the own place, else the first place, in one sentence with both times; empty without one. @param {Finish} finish @returns {[string, string] | null} */
export function tieWords({ results, player }) {
  const ties = results.flatMap((row, index) =>
    isTied(results[index - 1], row) ? [[results[index - 1], row]] : [],
  );
  const [ahead, row] =
    ties.find((pair) => pair.some((each) => each.player === player)) ?? ties[0] ?? [];
  if (!ahead || !row || row.reached === undefined || row.reached === null) return null;
  const who = (/** @type {Result} */ each) => (each.player === player ? "you" : shownName(each));
  const first =
    ahead.reached === undefined || ahead.reached === null
      ? `${who(ahead)} had ${counted(ahead.banked)} from the deal`
      : `${who(ahead)} banked card ${ahead.banked} at ${exactTime(ahead.reached)}`;
  const order =
    ahead.reached === row.reached
      ? "Then the order in which the server took the moves decides."
      : "The earlier one is ahead.";
  return [
    `A tie at ${dollars(row.net)}.`,
    `${first.replace(/^you/, "You")}, ${who(row)} at ${exactTime(row.reached)}. ${order}`,
  ];
}

/** The text about a race for friends: it names no card, so that they can still play the deal. @param {Finish} finish */
export function shareText(finish) {
  const { race, game, results, player, digest } = finish;
  const own = results.find((row) => row.player === player);
  const named = results.slice(0, MOST_NAMED);
  if (own && !named.includes(own)) named.splice(MOST_NAMED - 1, 1, own);
  const left = results.length - named.length;
  const words = digestWords(digest);
  return [
    `Saratoga, ${gameTitle(game)}, race ${race}`,
    ...(own && results.length > 1 ? [`${placeWords(finish, own, shownName(own))}.`] : []),
    ...named.map(
      (row) =>
        `${row.place}. ${shownName(row)}: ${row.banked} banked, ${dollars(row.net)}${row.reached ? `, reached at ${clockText(row.reached)}` : ""}, ${stateWords(row.state)}`,
    ),
    ...(left ? [`and ${left} more`] : []),
    ...(words ? [`Four words: ${words}`] : []),
    `See it: ${location.origin}/races/${race}`,
    `Check it: saratoga verify ${race}${words ? `#${words}` : ""} --server ${origin()}`,
  ].join("\n");
}

/** Show the text to share, and copy it. @param {Finish} finish */
function openShare(finish) {
  const text = shareText(finish);
  const said = h("p", { role: "status" });
  const shown = h("textarea", {
    readonly: true,
    rows: text.split("\n").length + 4,
    "aria-label": "Text to share",
    class: "share",
  });
  shown.value = text;
  const copy = () => {
    const isCopied = copyText(text);
    write(
      said,
      isCopied
        ? "Copied."
        : "Your browser does not copy here: the text is selected, copy it by hand.",
    );
    if (!isCopied) shown.select();
  };
  const sheet = openSheet(
    { title: "Share the result" },
    shown,
    said,
    h(
      "div",
      { class: "row" },
      button("Copy", copy, "main"),
      button("Back", () => sheet.close()),
    ),
  );
}

// Parts of both screens

/** @param {Finish} finish */
function resultsTable({ results, player }) {
  const body = results.map((row) =>
    h(
      "tr",
      { class: row.player === player ? "me" : "" },
      h("td", {}, row.place),
      h(
        "td",
        {},
        ...(row.player === player ? ["You"] : nameNodes(row)),
        h("br"),
        h("small", {}, stateWords(row.state)),
      ),
      h("td", { class: "n" }, row.banked),
      h("td", { class: `n ${tone(row.net)}` }, dollars(row.net)),
      h(
        "td",
        { class: "n wide-only" },
        row.reached === undefined || row.reached === null ? "\u2013" : exactTime(row.reached),
      ),
    ),
  );
  const head = (/** @type {string} */ text, /** @type {string} */ kind) =>
    h("th", { scope: "col", class: kind }, text);
  return h(
    "table",
    { class: "rows" },
    h("caption", { class: "unseen" }, "Results"),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        head("#", ""),
        head("racer", "wide-name"),
        head("banked", "n"),
        head("net", "n"),
        head("last banked", "n wide-only"),
      ),
    ),
    h("tbody", {}, ...body),
  );
}

/**
 * The seal: whether the deal was fair, in one line; what was checked opens below.
 * @param {{race: string, digest: string}} finish
 * @param {import("./witness.js").Proof | null} [proof] `null`: the record is missing
 */
function sealBox({ race, digest }, proof) {
  const words = digestWords(digest);
  const friends =
    words && h("p", {}, "Four words: ", h("code", {}, words), ". Your friends see the same ones.");
  const box = (
    /** @type {string} */ kind,
    /** @type {string} */ heading,
    /** @type {any[]} */ ...more
  ) =>
    h(
      "section",
      { class: `box seal ${kind}`, "aria-label": "Fairness" },
      sign("seal"),
      h("div", {}, h("h2", {}, heading), friends),
      ...more,
    );
  if (proof === undefined) return box("", "Checking the record\u2026");
  if (proof === null) return box("", "The server has not sent the record of this race yet");
  const list = (/** @type {string[]} */ lines, /** @type {string} */ kind) =>
    lines.map((text) =>
      h("li", { class: kind }, kind ? null : picture("yes"), h("span", {}, text)),
    );
  if (proof.faults.length)
    return box(
      "broken",
      "This race does not add up",
      h(
        "ul",
        {},
        ...list(
          proof.faults.map((fault) => `\u2717 ${fault}`),
          "loss",
        ),
      ),
    );
  const unchecked = proof.unchecked.map((what) => `\u2013 not checked here: ${what}`);
  return box(
    "",
    unchecked.length ? "Not all of this can be checked here" : "A fair deal",
    h(
      "details",
      { class: "rules" },
      h("summary", {}, "What was checked"),
      h(
        "ul",
        {},
        ...list(proof.right, ""),
        ...list(unchecked, "dim"),
        h(
          "li",
          { class: "dim" },
          h(
            "span",
            {},
            "\u2013 The other moves, the result, and this page itself, which the same server sent, are for ",
            h("code", {}, `saratoga verify ${race}`),
            " in a terminal.",
          ),
        ),
      ),
    ),
  );
}

/** @param {import("./connection.js").Match} match @param {string} player */
function matchBox(match, player) {
  const isOver = match.finished.length >= match.races;
  const totals = matchTotals(match);
  const first = totals
    .filter((row) => row.place === 1)
    .map((row) => (row.player === player ? "You" : shownName(row)));
  const words = !isOver
    ? ""
    : first.length > 1
      ? `${either(first, "and")} share the evening.`
      : `${first[0]} ${first[0] === "You" ? "are" : "is"} the champion of the evening.`;
  const body = totals.map((row) =>
    h(
      "tr",
      { class: row.player === player ? "me" : "" },
      h("td", {}, row.place),
      h("td", {}, ...(row.player === player ? ["You"] : nameNodes(row))),
      ...match.finished.map((/** @type {string} */ race) => {
        const found = row.results.find((each) => each.race === race);
        return h(
          "td",
          { class: `n ${found ? tone(found.net) : ""}` },
          found ? `${ordinal(found.place)} ${dollars(found.net)}` : "\u2013",
        );
      }),
      h("td", { class: `n ${tone(row.net)}` }, dollars(row.net)),
    ),
  );
  return h(
    "section",
    { class: "box" },
    h(
      "h2",
      {},
      isOver
        ? `Match of ${counted(match.races, "race")}`
        : `Match after race ${match.finished.length} of ${match.races}`,
    ),
    words && h("p", { class: "why" }, words),
    h(
      "div",
      { class: "scrolls", tabindex: "0", role: "group", "aria-label": "Table of the match" },
      h(
        "table",
        { class: "rows" },
        h("caption", { class: "unseen" }, "Match"),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, "#"),
            h("th", { scope: "col" }, "racer"),
            ...match.finished.map((/** @type {string} */ _, /** @type {number} */ at) =>
              h("th", { scope: "col", class: "n" }, `race ${at + 1}`),
            ),
            h("th", { scope: "col", class: "n" }, "net"),
          ),
        ),
        h("tbody", {}, ...body),
      ),
    ),
  );
}

/** @param {Finish} finish @param {import("./connection.js").Settings} settings */
function rankedWords({ ranked, results }, settings) {
  if (ranked) return "It counts for the leaderboards.";
  if (results.filter((row) => !row.bot).length < 2)
    return "A race counts for people's leaderboards only if at least 2 people race.";
  return settings.cap
    ? "On this server only races at public tables count for the leaderboards."
    : "A race without a time limit does not count for the leaderboards.";
}

// The personal best

/**
 * Note the own result of a checked record if it is the best in its game; say how it compares, in words, or return `null`.
 * @param {Finish} finish @returns {{isNew: boolean, words: string} | null}
 */
export function bestWords({ race, game, results, player }) {
  const own = results.find((row) => row.player === player);
  if (!own) return null;
  const key = `saratoga.bests.${player}`;
  const bests = storedJson(
    key,
    /** @type {Record<string, {race: string, banked: number, net: number, reached: number}>} */ ({}),
  );
  const former = bests[game];
  const { banked, net, reached } = own;
  // a race in which nothing was banked beyond the deal is no best
  const isBetter =
    typeof reached === "number" &&
    (!former || banked > former.banked || (banked === former.banked && reached < former.reached));
  if (isBetter) store(key, JSON.stringify({ ...bests, [game]: { race, banked, net, reached } }));
  if (!former || former.race === race) return null;
  const best = isBetter ? own : former;
  return {
    isNew: isBetter,
    words: `${isBetter ? "A new" : "Your"} personal best: ${best.banked} banked, ${dollars(best.net)}.`,
  };
}

// The results at the table

export class ResultsScreen {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.heading = h("h1", { tabindex: -1 });
    this.about = h("p", { class: "dim" });
    this.tie = h("p", { class: "why" });
    this.best = h("p");
    this.list = h("div");
    this.counts = h("p", { class: "dim" });
    this.said = h("p", { role: "status" });
    this.actions = h("div", { class: "act" });
    this.climb = h("section", { class: "box" });
    this.seal = h("div");
    this.match = h("div");
    /** @type {Finish | null} */
    this.finish = null;
    this.shownAs = "";
    /** Whether the result is compared with the personal best. */
    this.isCompared = false;
    this.node = h(
      "div",
      { class: "plain" },
      pageHead(leaveButton(app)),
      h(
        "main",
        { class: "page split" },
        h(
          "div",
          { class: "box" },
          this.about,
          this.heading,
          this.tie,
          this.list,
          this.best,
          this.counts,
          this.said,
          this.actions,
        ),
        h("div", { class: "page" }, this.match, this.seal, this.climb),
      ),
    );
    document.title = "Results \u00b7 Saratoga";
  }

  shown() {
    this.heading.focus();
  }

  /** @param {State} state */
  show(state) {
    if (state.table.phase !== "gathering" && state.outcome) this.#showResult(state, state.outcome);
    if (this.finish) this.#showSeal(this.finish);
    this.#showActions(state);
  }

  /** @param {State} state @param {import("./connection.js").Outcome} outcome */
  #showResult(state, outcome) {
    const { table, player } = state;
    const finish = {
      race: outcome.race,
      game: outcome.game,
      player,
      results: /** @type {Result[]} */ (rows(state)),
      digest: outcome.digest,
      ranked: Boolean(outcome.ranked),
    };
    const shownAs = JSON.stringify([finish, state.match]);
    if (shownAs === this.shownAs) return;
    this.shownAs = shownAs;
    this.finish = finish;
    const own = finish.results.find((row) => row.player === player);
    write(
      this.about,
      `${gameTitle(finish.game)} \u00b7 ${table.code} \u00b7 race ${finish.race.split("/")[1]}`,
    );
    if (!own) fill(this.heading, "The race is over");
    else
      fill(
        this.heading,
        finish.results.length > 1
          ? `${placeWords(finish, own, "You")}, `
          : `You banked ${own.banked}, `,
        h("span", { class: tone(own.net) }, dollars(own.net)),
      );
    const tie = tieWords(finish);
    fill(this.tie, tie && h("b", {}, tie[0]), tie && document.createTextNode(` ${tie[1]}`));
    this.tie.hidden = !tie;
    fill(this.list, resultsTable(finish));
    write(this.counts, rankedWords(finish, table.settings));
    const end = Math.max(
      1000,
      ...outcome.results.map((row) => row.ended ?? 0),
      ...Object.values(state.history).map((points) => points.at(-1)?.at ?? 0),
    );
    fill(this.climb, h("h2", {}, "The climb"), climbChart(state, end, 420, 190));
    fill(this.match, state.match?.rows.length ? matchBox(state.match, player) : null);
  }

  /** @param {Finish} finish */
  #showSeal(finish) {
    const { app } = this;
    const proof =
      app.witness.proofs.get(finish.race) ?? (app.isMissing(finish.race) ? null : undefined);
    if (this.seal.firstChild && proof === this.proof) return;
    this.proof = proof;
    fill(this.seal, sealBox(finish, proof));
    if (!proof || proof.faults.length || this.isCompared) return;
    this.isCompared = true;
    const best = bestWords(finish);
    write(this.best, best?.words ?? "");
    this.best.className = best?.isNew ? "gain" : "dim";
  }

  /** @param {State} state */
  #showActions(state) {
    const { table } = state;
    const { finish } = this;
    const isHost = table.host === state.player;
    const next =
      isHost || table.phase === "gathering"
        ? button("Next race", () => this.app.goOn(), "main")
        : null;
    const key = `${table.phase} ${isHost} ${finish?.race}`;
    if (this.actions.dataset.key === key) return;
    this.actions.dataset.key = key;
    fill(
      this.actions,
      finish && h("a", { class: "button", href: `/races/${finish.race}` }, "Review"),
      finish && button("Share", () => openShare(finish)),
      next,
    );
    write(this.said, !next && ownSeat(state) ? "The host opens the next race." : "");
  }

  /** @param {string} text */
  say(text) {
    write(this.said, text);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { finish, app } = this;
    if (event.ctrlKey || event.metaKey || event.altKey || !finish) return false;
    if (event.key === "v") app.go(`/races/${finish.race}`);
    else if (event.key === "s" || event.key === "y") openShare(finish);
    else if (event.key === "n") this.actions.querySelector(".main")?.click();
    else return false;
    return true;
  }

  close() {}
}

// The page of a race: results and review

/** @param {ReplayedBoard["entries"]} mine @param {ReplayedBoard["entries"]} theirs how many are the same from the start */
function common(mine, theirs) {
  let at = 0;
  while (at < mine.length && at < theirs.length && mine[at].entry === theirs[at].entry) at++;
  return at;
}

/** The board of one racer in the review. */
class ReviewBoard {
  /** @param {string} game @param {string} deal */
  constructor(game, deal) {
    this.game = game;
    this.deal = deal;
    this.name = h("span");
    this.score = h("span");
    this.next = h("p", { class: "next" });
    this.found = h("div", { class: "found line" });
    this.cols = h("div", { class: "cols" });
    this.hand = h("div", { class: "hand line" });
    this.node = h(
      "section",
      { class: `mini n${viewOf(deal).columns.length} f${foundationPiles(viewOf(deal)).length}` },
      h("h2", {}, this.name, this.score),
      h("div", { class: "tops" }, this.found, this.hand),
      this.cols,
      this.next,
    );
    this.node.dataset.suits = String(suitColours(game));
    /** @type {Map<string, HTMLElement>} */
    this.piles = new Map();
    /** @type {any} */
    this.board = null;
  }

  /** @param {ReplayedBoard} board @param {string} player */
  take(board, player) {
    this.board = board;
    this.shownName = board.player === player ? "You" : shownName(board);
    write(this.name, this.shownName);
    this.node.setAttribute("aria-label", `Board of ${this.shownName}`);
  }

  /** Show the board after so many entries. @param {number} count @param {number} price */
  show(count, price) {
    const { board, game } = this;
    const at = Math.min(count, board.entries.length);
    const view = viewOf(at ? board.entries[at - 1].position : this.deal);
    const banked = [...view.up, ...view.down].reduce((sum, height) => sum + height, 0);
    const next = board.entries[at];
    const time = at ? clockText(board.entries[at - 1].at) : "0:00";
    fill(
      this.score,
      document.createTextNode(`${banked} `),
      h("b", { class: tone(banked * PRIZE - price) }, dollars(banked * PRIZE - price)),
      h("small", {}, ` ${time}`),
    );
    const move = next && readMove(next.entry);
    const isMove = next && (move.to || ["draw", "redeal"].includes(next.entry));
    const marks = isMove ? [move.from, move.to ? targetOf(view, move) : ""] : [];
    const said = !next
      ? board.left_out
        ? "The rest of this log is too long to be shown."
        : `The end: ${stateWords(board.state)}.`
      : isMove
        ? `Next, at ${clockText(next.at)}: ${describeMove(view, move, game)}`
        : `Then, at ${clockText(next.at)}: ${stateWords(board.state)}.`;
    write(this.next, said);
    const piles = {
      found: foundationPiles(view),
      cols: view.columns.map((_, index) => `t${index + 1}`),
      hand: handPiles(view, game),
    };
    for (const part of /** @type {("found" | "cols" | "hand")[]} */ (["found", "cols", "hand"]))
      for (const pile of piles[part]) this.#drawPile(this[part], view, pile, marks);
  }

  /** @param {Element} into @param {import("./cards.js").View} view @param {string} pile @param {string[]} marks */
  #drawPile(into, view, pile, marks) {
    const node = this.piles.get(pile) ?? h("div", { role: "img" });
    if (!this.piles.has(pile)) into.append(node);
    this.piles.set(pile, node);
    const isMarked = marks.includes(pile);
    const isDeal = pile === "stock" && !hasWaste(this.game);
    const drawn = JSON.stringify([isMarked, contentOf(view, pile)]);
    if (node.dataset.drawn === drawn) return;
    node.dataset.drawn = drawn;
    node.dataset.pile = pile;
    node.className = `pile${pile[0] === "t" ? " col" : pile === "w" ? " fan" : ""}${isDeal ? " deal" : ""}${isMarked ? " mark" : ""}`;
    node.setAttribute("aria-label", pileLabel(view, pile, this.game));
    fill(
      node,
      ...(isDeal ? [h("i", { class: "count" }, view.stock)] : drawPile(view, pile, this.game)),
    );
  }
}

export class ReviewScreen {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    const [, , code, number] = location.pathname.split("/");
    this.race = `${code}/${number}`;
    this.heading = h("h1", { tabindex: -1 }, `Race ${this.race}`);
    this.about = h("p", { class: "dim" });
    this.why = h("p", { class: "why" });
    this.body = h("div", { class: "page" }, h("p", { role: "status" }, "Loading the race\u2026"));
    this.node = h(
      "div",
      { class: "plain" },
      pageHead(h("a", { href: `/${code}` }, "Table")),
      h("main", { class: "page review" }, this.about, this.heading, this.body),
    );
    document.title = `Race ${this.race} \u00b7 Saratoga`;
    this.at = 0;
    this.fork = 0;
    this.timer = 0;
    this.game = "";
    /** The position before the first move. */
    this.deal = "";
    /** The boards that are shown: one, or two side by side. @type {Reviewed[]} */
    this.chosen = [];
    this.text = "";
    this.#load();
  }

  async #load() {
    /** @type {ReplayedRace} */
    let replayed;
    try {
      // asked for over the connection: a refusal there is no error in the browser's console
      this.text = /** @type {string} */ (
        (await this.app.connection.request("get_record", { race: this.race })).text
      );
      if (/^voided /m.test(this.text))
        return this.#cannot(
          "The server voided this race, so it has no result and no boards.",
          this.text,
        );
      replayed = await this.app.replayed(this.race);
    } catch (error) {
      return this.#cannot(
        error instanceof TypeError
          ? "The server does not answer. Load the page again in a moment."
          : /** @type {Error} */ (error).message,
        this.text,
      );
    }
    try {
      this.#build(replayed);
    } catch {
      this.#cannot("The boards that the server sent cannot be shown.", this.text);
    }
  }

  /** @param {string} sentence @param {string} text the record; empty without one */
  #cannot(sentence, text) {
    fill(
      this.body,
      h("p", { role: "status" }, sentence),
      text ? sealBox({ race: this.race, digest: digestOf(text) }, this.#proof(text)) : null,
    );
  }

  /** @param {string} text the race's record */
  #proof(text) {
    const { witness, player } = this.app;
    return witness.proofs.get(this.race) ?? proofOf(this.race, text, player, witness.of(this.race));
  }

  /** @param {ReplayedRace} replayed */
  #build(replayed) {
    const { app } = this;
    const { player } = app;
    [this.game, this.deal] = [replayed.game, replayed.deal];
    const results = replayed.boards.map((board) => ({ level: "", ...board }));
    const digest = digestOf(this.text);
    this.finish = {
      race: this.race,
      game: replayed.game,
      player,
      results,
      digest,
      ranked: replayed.ranked,
    };
    this.price = results.length ? priceOf(results[0]) : 0;
    const own = results.find((row) => row.player === player);
    write(
      this.about,
      `${gameTitle(replayed.game)} \u00b7 ${this.race} \u00b7 ${new Date(replayed.start_at).toLocaleString()}`,
    );
    const tie = tieWords(this.finish);
    const [first, next] = results;
    const second = own && own !== first ? own : next;
    this.boards = [
      new ReviewBoard(replayed.game, replayed.deal),
      ...(second ? [new ReviewBoard(replayed.game, replayed.deal)] : []),
    ];
    this.chosen = [first, ...(second ? [second] : [])];
    this.clock = h("output");
    this.range = h("input", {
      type: "range",
      min: 0,
      value: 0,
      "aria-label": "Move",
      oninput: () => this.#go(Number(this.range.value)),
    });
    this.play = h(
      "button",
      { type: "button", class: "button main", "aria-label": "Play", onclick: () => this.#toggle() },
      sign("play"),
    );
    const step = (
      /** @type {Sign} */ name,
      /** @type {string} */ label,
      /** @type {() => void} */ action,
    ) =>
      h(
        "button",
        { type: "button", class: "button", "aria-label": label, onclick: action },
        sign(name),
      );
    const scrub = h(
      "div",
      { class: "scrub", role: "group", "aria-label": "Step through the race" },
      step("start", "To the deal", () => this.#go(0)),
      step("back", "One move back", () => this.#go(this.at - 1)),
      this.play,
      step("on", "One move on", () => this.#go(this.at + 1)),
      second && step("fork", "Where they parted", () => this.#go(this.fork)),
      this.clock,
      this.range,
    );
    const choices = this.chosen.map((board, at) => this.#choice(results, board, at));
    const history = Object.fromEntries(
      results.map((row) => [
        row.player,
        [
          { at: 0, banked: replayed.banked },
          ...row.entries.map((entry) => ({ at: entry.at, banked: entry.banked })),
        ],
      ]),
    );
    const end = Math.max(1000, ...results.map((row) => row.entries.at(-1)?.at ?? 0));
    fill(
      this.body,
      h(
        "div",
        { class: "page" },
        h("h2", { class: "unseen" }, "Boards"),
        this.why,
        results.length > 2 ? h("div", { class: "two-up picks" }, ...choices) : null,
        h(
          "div",
          { class: `two-up n${viewOf(replayed.deal).columns.length}` },
          ...this.boards.map((board) => board.node),
        ),
        scrub,
      ),
      h(
        "div",
        { class: "page split" },
        h(
          "div",
          { class: "box" },
          h("h2", {}, "Results"),
          tie && h("p", { class: "why" }, h("b", {}, tie[0]), ` ${tie[1]}`),
          resultsTable(this.finish),
          h(
            "div",
            { class: "act" },
            h("a", { class: "button", href: `/api/records/${this.race}` }, "Record"),
            button("Share", () => this.finish && openShare(this.finish)),
          ),
        ),
        h(
          "div",
          { class: "page" },
          sealBox(this.finish, this.#proof(this.text)),
          h(
            "section",
            { class: "box" },
            h("h2", {}, "The climb"),
            climbChart(
              /** @type {any} */ ({
                player,
                outcome: { results },
                standings: [],
                labels: {},
                own: null,
                history,
              }),
              end,
              420,
              190,
            ),
          ),
        ),
      ),
    );
    this.#takeBoards();
  }

  /** @param {Reviewed[]} results @param {Reviewed} board @param {number} at */
  #choice(results, board, at) {
    const { player } = this.app;
    return h(
      "label",
      { class: "field" },
      at ? "Right" : "Left",
      h(
        "select",
        {
          onchange: (/** @type {any} */ event) => {
            this.chosen[at] = results.find((row) => row.player === event.target.value) ?? board;
            this.#takeBoards();
          },
        },
        ...results.map((row) =>
          h(
            "option",
            { value: row.player, selected: row === board },
            `${row.place}. ${row.player === player ? "You" : shownName(row)}`,
          ),
        ),
      ),
    );
  }

  /** Show the chosen boards where they parted. */
  #takeBoards() {
    const [one, two] = this.chosen;
    this.boards?.forEach((board, at) => board.take(at ? two : one, this.app.player));
    this.last = Math.max(one.entries.length, two?.entries.length ?? 0);
    this.range.max = String(this.last);
    this.fork = two ? common(one.entries, two.entries) : 0;
    const words = two ? this.#forkWords(one, two) : null;
    write(
      this.heading,
      two
        ? words
          ? two.player === this.app.player || one.player === this.app.player
            ? "Where you parted"
            : "Where they parted"
          : "The same moves"
        : "The board",
    );
    fill(
      this.why,
      ...(words ?? [
        document.createTextNode(two ? "Both made the same moves." : "Step through the moves."),
      ]),
    );
    this.#go(this.fork);
  }

  /** @param {ReplayedBoard} one @param {ReplayedBoard} two @returns {Node[] | null} */
  #forkWords(one, two) {
    if (this.fork === one.entries.length && this.fork === two.entries.length) return null;
    const view = viewOf(this.fork ? one.entries[this.fork - 1].position : this.deal);
    const part = (/** @type {any} */ board, /** @type {boolean} */ isFirst) => {
      const next = board.entries[this.fork];
      const name = board.player === this.app.player ? (isFirst ? "You" : "you") : shownName(board);
      if (!next) return [`${name}: `, h("b", {}, "the board ended there")];
      const move = readMove(next.entry);
      const words =
        move.to || ["draw", "redeal"].includes(next.entry)
          ? describeMove(view, move, this.game)
          : stateWords(board.state);
      return [`${name} at ${clockText(next.at)}: `, h("b", {}, words)];
    };
    const same = this.fork
      ? `${counted(this.fork, "move")} ${this.fork === 1 ? "was" : "were"} the same. `
      : "The first moves differ. ";
    return [same, ...part(one, true), "; ", ...part(two, false), "."].map((each) =>
      typeof each === "string" ? document.createTextNode(each) : each,
    );
  }

  /** Show the boards after so many moves. @param {number} at */
  #go(at) {
    const last = this.last ?? 0;
    this.at = Math.max(0, Math.min(last, at));
    this.boards?.forEach((board) => board.show(this.at, this.price ?? 0));
    this.range.value = String(this.at);
    this.range.setAttribute("aria-valuetext", `move ${this.at} of ${last}`);
    write(this.clock, `${this.at} / ${last}`);
    if (this.at === last) this.#stop();
  }

  #toggle() {
    if (this.timer) return this.#stop();
    if (this.at === this.last) this.#go(0);
    this.play.setAttribute("aria-label", "Pause");
    fill(this.play, sign("pause"));
    this.timer = setInterval(() => this.#go(this.at + 1), STEP);
  }

  #stop() {
    clearInterval(this.timer);
    this.timer = 0;
    this.play?.setAttribute("aria-label", "Play");
    if (this.play) fill(this.play, sign("play"));
  }

  shown() {
    this.heading.focus();
  }

  show() {}

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!this.boards || event.ctrlKey || event.metaKey || event.altKey) return false;
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.key === " " && target.matches("button, a")) return false;
    const steps = {
      ArrowLeft: this.at - 1,
      ArrowRight: this.at + 1,
      Home: 0,
      End: this.last ?? 0,
      f: this.fork,
    };
    if (event.key === " ") this.#toggle();
    else if (event.key in steps) this.#go(steps[/** @type {"f"} */ (event.key)]);
    else return false;
    return true;
  }

  close() {
    this.#stop();
  }
}
