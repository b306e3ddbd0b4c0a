/**
 * The results of a race, with the tie explained and the seal; and the race's own page, with boards side by side.
 *
 * The boards come from the server, which replays the race: this page has no rules.
 */

import * as cards from "./cards.js";
import { gameTitle, readMove, viewOf } from "./cards.js";
import { origin, store, storedJson } from "./identity.js";
import * as page from "./page.js";
import {
  Screen,
  button,
  clockText,
  counted,
  dollars,
  h,
  pageHead,
  shownName,
  tone,
} from "./page.js";
import { climbChart, leaveButton } from "./race.js";
import { digestOf, digestWords } from "./records.js";
import { climbOf, matchTotals, ownSeat, priceOf, rows, stateWords } from "./session.js";
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
  const path = page.svg("path", { d: SIGNS[name], "fill-rule": "evenodd" });
  return page.svg("svg", { "aria-hidden": "true", viewBox: "0 0 24 24" }, path);
}

/**
 * @typedef {import("./main.js").App} App
 * @typedef {import("./session.js").State} State
 * @typedef {import("./witness.js").Proof} Proof
 * @typedef {Wire.ReplayedBoard & {level: string}} Reviewed
 * @typedef {import("./session.js").Row & {reached?: number | null}} Result
 * @typedef {{race: string, game: string, player: string, results: Result[], digest: string, ranked: boolean}} Finish
 *   what both screens show of a race
 */

// Words

/** A time in a race to the millisecond. @param {number} millis */
function exactTime(millis) {
  return `${clockText(millis)}.${String(millis % 1000).padStart(3, "0")}`;
}

/**
 * The place in a sentence: `You finished 2nd of 3`, or whom it is shared with.
 * @param {Finish} finish @param {Result} row @param {string} name
 */
function placeWords({ results }, row, name) {
  const place = page.ordinal(row.place);
  const sharing = results.filter((each) => each !== row && each.place === row.place).map(shownName);
  if (!sharing.length) return `${name} finished ${place} of ${results.length}`;
  const others = sharing.length > 2 ? `${sharing.length} others` : page.listed(sharing);
  return `${name} share${name === "You" ? "" : "s"} ${place} place with ${others}`;
}

/** Whether the time decided that a racer is ahead of the next. @param {Result | undefined} ahead @param {Result} row */
function isTied(ahead, row) {
  return Boolean(ahead && ahead.banked === row.banked && ahead.place !== row.place);
}

/**
 * The tie that decided the own place, else the first place, in one sentence with both times; empty without one.
 * @param {Finish} finish @returns {[string, string] | null}
 */
export function tieWords({ results, player }) {
  const ties = results.flatMap((row, index) =>
    isTied(results[index - 1], row) ? [[results[index - 1], row]] : [],
  );
  const [ahead, row] =
    ties.find((pair) => pair.some((each) => each.player === player)) ?? ties[0] ?? [];
  if (typeof row?.reached !== "number") return null;
  const who = (/** @type {Result} */ each) => (each.player === player ? "you" : shownName(each));
  const first =
    typeof ahead.reached === "number"
      ? `${who(ahead)} banked card ${ahead.banked} at ${exactTime(ahead.reached)}`
      : `${who(ahead)} had ${counted(ahead.banked)} from the deal`;
  const order =
    ahead.reached === row.reached
      ? "Then the order in which the server took the moves decides."
      : "The earlier one is ahead.";
  const times = `${page.capitalised(first)}, ${who(row)} at ${exactTime(row.reached)}.`;
  return [`A tie at ${dollars(row.net)}.`, `${times} ${order}`];
}

/** The text about a race for friends: it names no card, so that they can still play the deal. @param {Finish} finish */
export function shareText(finish) {
  const { race, game, results, player, digest } = finish;
  const own = results.find((row) => row.player === player);
  const named = results.slice(0, MOST_NAMED);
  if (own && !named.includes(own)) named.splice(MOST_NAMED - 1, 1, own);
  const left = results.length - named.length;
  const words = digestWords(digest);
  const lines = named.map((row) => {
    const reached = row.reached ? `, reached at ${clockText(row.reached)}` : "";
    const score = `${row.banked} banked, ${dollars(row.net)}${reached}`;
    return `${row.place}. ${shownName(row)}: ${score}, ${stateWords(row.state)}`;
  });
  const place = own && results.length > 1 && `${placeWords(finish, own, shownName(own))}.`;
  return [
    `Saratoga, ${gameTitle(game)}, race ${race}`,
    place,
    ...lines,
    left && `and ${left} more`,
    words && `Four words: ${words}`,
    `See it: ${location.origin}/races/${race}`,
    `Check it: saratoga verify ${race}${words && `#${words}`} --server ${origin()}`,
  ]
    .filter(Boolean)
    .join("\n");
}

/** Show the text to share, and copy it. @param {Finish} finish */
function openShare(finish) {
  const text = shareText(finish);
  const said = h("p", { role: "status" });
  const shown = h("textarea.share", { readonly: true, "aria-label": "Text to share" });
  shown.rows = text.split("\n").length + 4;
  shown.value = text;
  const copy = () => {
    const isCopied = page.copyText(text);
    const otherwise = "Your browser does not copy here: the text is selected, copy it by hand.";
    page.write(said, isCopied ? "Copied." : otherwise);
    if (!isCopied) shown.select();
  };
  const back = button("Back", () => sheet.close());
  const buttons = h("div.row", button("Copy", copy, "main"), back);
  const sheet = page.openSheet({ title: "Share the result" }, shown, said, buttons);
}

// Parts of both screens

/** @param {Result} row @param {string} player */
function nameCell(row, player) {
  return row.player === player ? ["You"] : page.nameNodes(row);
}

/** @param {Finish} finish */
function resultsTable({ results, player }) {
  const heads = ["#", "racer.wide-name", "banked.n", "net.n", "last banked.n.wide-only"];
  const body = results.map((row) =>
    h(
      row.player === player ? "tr.me" : "tr",
      h("td", row.place),
      h("td", ...nameCell(row, player), h("br"), h("small", stateWords(row.state))),
      h("td.n", row.banked),
      h(`td.n.${tone(row.net)}`, dollars(row.net)),
      h("td.n.wide-only", typeof row.reached === "number" ? exactTime(row.reached) : "\u2013"),
    ),
  );
  return page.tableOf("Results", heads, body);
}

/**
 * The seal: whether the deal was fair, in one line; what was checked opens below.
 * @param {{race: string, digest: string}} finish
 * @param {Proof | null} [proof] `null`: the record is missing
 */
function sealBox({ race, digest }, proof) {
  const words = digestWords(digest);
  const friends = ["Four words: ", h("code", words), ". Your friends see the same ones."];
  /** @param {string} kind @param {string} heading @param {...page.Child} more */
  const box = (kind, heading, ...more) =>
    h(
      `section.box.seal${kind}`,
      { "aria-label": "Fairness" },
      sign("seal"),
      h("div", h("h2", heading), words && h("p", ...friends)),
      ...more,
    );
  if (proof === undefined) return box("", "Checking the record\u2026");
  if (proof === null) return box("", "The server has not sent the record of this race yet");
  /** @param {string} kind @param {string} mark @param {string[]} lines */
  const list = (kind, mark, lines) =>
    lines.map((text) => h(`li${kind}`, !mark && page.picture("yes"), h("span", mark + text)));
  const { faults, right, unchecked } = proof;
  if (faults.length)
    return box(
      ".broken",
      "This race does not add up",
      h("ul", ...list(".loss", "\u2717 ", faults)),
    );
  const others =
    "\u2013 The other moves, the result, and this page itself, which the same server sent, are for ";
  const command = h("code", `saratoga verify ${race}`);
  return box(
    "",
    unchecked.length ? "Not all of this can be checked here" : "A fair deal",
    h(
      "details.rules",
      h("summary", "What was checked"),
      h(
        "ul",
        ...list("", "", right),
        ...list(".dim", "\u2013 not checked here: ", unchecked),
        h("li.dim", h("span", others, command, " in a terminal.")),
      ),
    ),
  );
}

/** @param {Wire.Match} match @param {string} player */
function matchBox(match, player) {
  const { races, finished } = match;
  const isOver = finished.length >= races;
  const totals = matchTotals(match);
  const first = totals
    .filter((row) => row.place === 1)
    .map((row) => (row.player === player ? "You" : shownName(row)));
  const verb = first[0] === "You" ? "are" : "is";
  const words =
    first.length > 1
      ? `${page.listed(first)} share the evening.`
      : `${first[0]} ${verb} the champion of the evening.`;
  const body = totals.map((row) => {
    const cells = finished.map((race) => {
      const found = row.results.find((each) => each.race === race);
      if (!found) return h("td.n", "\u2013");
      return h(`td.n.${tone(found.net)}`, `${page.ordinal(found.place)} ${dollars(found.net)}`);
    });
    const name = row.player === player ? ["You"] : page.nameNodes(row);
    const net = h(`td.n.${tone(row.net)}`, dollars(row.net));
    const kind = row.player === player ? "tr.me" : "tr";
    return h(kind, h("td", row.place), h("td", ...name), ...cells, net);
  });
  const after = `Match after race ${finished.length} of ${races}`;
  const heads = ["#", "racer", ...finished.map((_, at) => `race ${at + 1}.n`), "net.n"];
  return h(
    "section.box",
    h("h2", isOver ? `Match of ${counted(races, "race")}` : after),
    isOver && h("p.why", words),
    h(
      "div.scrolls",
      { tabindex: "0", role: "group", "aria-label": "Table of the match" },
      page.tableOf("Match", heads, body),
    ),
  );
}

/** @param {Finish} finish @param {Wire.TableSettings} settings */
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
  /** @type {Record<string, {race: string, banked: number, net: number, reached: number}>} */
  const bests = storedJson(key, {});
  const former = bests[game];
  const { banked, net, reached } = own;
  // a race in which nothing was banked beyond the deal is no best
  const isNew =
    typeof reached === "number" &&
    (!former || banked > former.banked || (banked === former.banked && reached < former.reached));
  if (isNew) store(key, JSON.stringify({ ...bests, [game]: { race, banked, net, reached } }));
  if (!former || former.race === race) return null;
  const best = isNew ? own : former;
  const whose = isNew ? "A new" : "Your";
  return { isNew, words: `${whose} personal best: ${best.banked} banked, ${dollars(best.net)}.` };
}

// The results at the table

export class ResultsScreen extends Screen {
  /** The state in which the race was over: the table may gather again since. @type {State | null} */
  result = null;
  /** How the result compares with the personal best; `undefined` before it is compared. */
  best = /** @type {ReturnType<typeof bestWords> | undefined} */ (undefined);

  /** @param {State} state */
  show(state) {
    if (state.table.phase !== "gathering" && state.outcome) this.result = state;
    document.title = "Results \u00b7 Saratoga";
    this.draw();
  }

  /** @returns {Finish | null} */
  get finish() {
    const { result } = this;
    if (!result?.outcome) return null;
    const { race, game, digest, ranked = false } = result.outcome;
    return { race, game, player: result.player, results: rows(result), digest, ranked };
  }

  view() {
    const { app, result, finish } = this;
    const head = pageHead(leaveButton(app));
    // the heading stays the same element, and keeps the focus
    if (!result?.outcome || !finish)
      return [head, h("main.page.split", h("div.box", h("h1", { tabindex: -1 })))];
    const { race, game, player, results } = finish;
    const own = results.find((row) => row.player === player);
    const tie = tieWords(finish);
    const proof = app.witness.proofs.get(race) ?? (app.isMissing(race) ? null : undefined);
    if (proof && !proof.faults.length && this.best === undefined) this.best = bestWords(finish);
    const place =
      results.length > 1 ? own && placeWords(finish, own, "You") : `You banked ${own?.banked}`;
    const heading = own
      ? [`${place}, `, h("span", { class: tone(own.net) }, dollars(own.net))]
      : ["The race is over"];
    const end = Math.max(1000, ...result.outcome.results.map((row) => row.ended ?? 0));
    // a page that came late has not seen all of it
    const isProven = proof && !proof.faults.length;
    const history = isProven ? climbOf(proof.racers, result.outcome.results) : result.history;
    return [
      head,
      h(
        "main.page.split",
        h(
          "div.box",
          h("p.dim", `${gameTitle(game)} \u00b7 ${race.replace("/", " \u00b7 race ")}`),
          h("h1", { tabindex: -1 }, ...heading),
          tie && h("p.why", h("b", tie[0]), ` ${tie[1]}`),
          h("div", resultsTable(finish)),
          h(this.best?.isNew ? "p.gain" : "p.dim", ...page.unbroken(this.best?.words ?? "")),
          h("p.dim", rankedWords(finish, result.table.settings)),
          h("p", { role: "status" }, this.said || this.#outlook()),
          h(
            "div.act",
            h("a.button", { href: `/races/${race}`, "data-key": "review" }, "Review"),
            button("Share", () => openShare(finish), "", "share"),
            this.#next && button("Next race", () => app.goOn(), "main", "next"),
          ),
        ),
        h(
          "div.page",
          h("div", result.match?.rows.length && matchBox(result.match, player)),
          h("div", sealBox(finish, proof)),
          h("section.box", h("h2", "The climb"), climbChart({ ...result, history }, end, 420, 190)),
        ),
      ),
    ];
  }

  /** What comes next. */
  #outlook() {
    const { table } = this.app.state;
    const { game, cap } = table.settings;
    if (table.phase === "gathering")
      return `The next race: ${gameTitle(game)}, ${page.capWords(cap)}.`;
    return !this.#next && ownSeat(this.app.state) && "The host opens the next race.";
  }

  /** Whether the player can go on to the next race. */
  get #next() {
    const { table, player } = this.app.state;
    return table.host === player || table.phase === "gathering";
  }

  /** @param {KeyboardEvent} event */
  key({ key }) {
    const { finish, app } = this;
    if (!finish) return false;
    if (key === "v") app.go(`/races/${finish.race}`);
    else if (key === "s" || key === "y") openShare(finish);
    else if (key === "n" && this.#next) app.goOn();
    else return key === "n";
    return true;
  }
}

// The page of a race: results and review

/**
 * How many entries are the same from the start.
 * @param {Wire.ReplayedEntry[]} mine @param {Wire.ReplayedEntry[]} theirs
 */
function common(mine, theirs) {
  let at = 0;
  while (at < mine.length && at < theirs.length && mine[at].entry === theirs[at].entry) at++;
  return at;
}

/** Whether an entry is a move, not the board's end. @param {cards.Move} move */
function isMove({ to, text }) {
  return to || text === "draw" || text === "redeal";
}

export class ReviewScreen extends Screen {
  /** How many moves are shown, and how many are the same on both boards. */
  at = 0;
  fork = 0;
  timer = 0;
  /** The race's record; empty before it comes. */
  text = "";
  /** @type {Proof | undefined} */
  proof = undefined;
  /** @type {Wire.ReplayedRace | null} */
  replayed = null;
  /** @type {Reviewed[]} */
  results = [];
  /** The boards that are shown: one, or two side by side. @type {Reviewed[]} */
  chosen = [];

  /** @param {App} app */
  constructor(app) {
    super(app);
    const [, , code, number] = location.pathname.split("/");
    this.code = code;
    this.race = `${code}/${number}`;
    this.said = "Loading the race\u2026";
    document.title = `Race ${this.race} \u00b7 Saratoga`;
    this.#load();
  }

  async #load() {
    const { app, race } = this;
    try {
      // asked for over the connection: a refusal there is no error in the browser's console
      this.text = (await app.connection.request("get_record", { race })).text;
      this.proof =
        app.witness.proofs.get(race) ?? proofOf(race, this.text, app.player, app.witness.of(race));
      if (/^voided /m.test(this.text))
        return this.say("The server voided this race, so it has no result and no boards.");
      this.replayed = await app.replayed(race);
    } catch (error) {
      const { message } = /** @type {Error} */ (error);
      const isAway = error instanceof TypeError;
      return this.say(
        isAway ? "The server does not answer. Load the page again in a moment." : message,
      );
    }
    try {
      this.results = this.replayed.boards.map((board) => ({ level: "", ...board }));
      const [first, next] = this.results;
      const own = this.results.find((row) => row.player === app.player);
      const second = own && own !== first ? own : next;
      this.#choose(second ? [first, second] : [first]);
    } catch {
      this.replayed = null;
      this.say("The boards that the server sent cannot be shown.");
    }
  }

  /** Show boards where they parted. @param {Reviewed[]} chosen */
  #choose(chosen) {
    const [one, two] = chosen;
    this.chosen = chosen;
    this.fork = two ? common(one.entries, two.entries) : 0;
    this.#go(this.fork);
  }

  /** The number of moves of the longer board. */
  get last() {
    return Math.max(0, ...this.chosen.map(({ entries }) => entries.length));
  }

  get finish() {
    const { race, results, replayed, app } = this;
    const { game = "", ranked = false } = replayed ?? {};
    return { race, game, player: app.player, results, digest: digestOf(this.text), ranked };
  }

  /** @param {Reviewed} board @param {string} [you] */
  #nameOf(board, you = "You") {
    return board.player === this.app.player ? you : shownName(board);
  }

  view() {
    const { replayed, race, text } = this;
    const head = pageHead(h("a", { href: `/${this.code}` }, "Table"));
    const words = this.#words();
    const about = replayed && [
      gameTitle(replayed.game),
      race,
      new Date(replayed.start_at).toLocaleString(),
    ];
    const says = [h("p", { role: "status" }, this.said), text && sealBox(this.finish, this.proof)];
    return [
      head,
      h(
        "main.page.review",
        h("p.dim", about?.join(" \u00b7 ")),
        h("h1", { tabindex: -1 }, replayed ? words[0] : `Race ${race}`),
        h("div.page", ...(replayed ? this.#body(replayed, words.slice(1)) : says)),
      ),
    ];
  }

  /** @param {Wire.ReplayedRace} replayed @param {page.Child[]} why */
  #body(replayed, why) {
    const { results, chosen, finish, race } = this;
    const tie = tieWords(finish);
    const { columns } = viewOf(replayed.deal);
    const choices = chosen.map((board, at) => {
      const words = (/** @type {Reviewed} */ row) => `${row.place}. ${this.#nameOf(row)}`;
      const changed = (/** @type {Reviewed} */ row) => this.#choose(chosen.with(at, row));
      return page.field(at ? "Right" : "Left", page.choice(results, words, board, changed));
    });
    return [
      h(
        "div.page",
        h("h2.unseen", "Boards"),
        h("p.why", ...why),
        results.length > 2 && h("div.two-up.picks", ...choices),
        h(`div.two-up.n${columns.length}`, ...chosen.map((each) => this.#board(replayed, each))),
        this.#scrub(),
      ),
      h(
        "div.page.split",
        h(
          "div.box",
          h("h2", "Results"),
          tie && h("p.why", h("b", tie[0]), ` ${tie[1]}`),
          resultsTable(finish),
          h(
            "div.act",
            h("a.button", { href: `/api/records/${race}` }, "Record"),
            button("Share", () => openShare(finish)),
          ),
        ),
        h("div.page", sealBox(finish, this.proof), this.#climb(replayed)),
      ),
    ];
  }

  /** The board of a racer after the moves. @param {Wire.ReplayedRace} replayed @param {Reviewed} board */
  #board({ deal, game }, { entries, state, left_out, ...board }) {
    const at = Math.min(this.at, entries.length);
    const view = viewOf(at ? entries[at - 1].position : deal);
    const banked = [...view.up, ...view.down].reduce((sum, height) => sum + height, 0);
    const net = banked * cards.PRIZE - priceOf(board);
    const next = entries[at];
    const move = next && readMove(next.entry);
    const marks = next && isMove(move) ? [move.from, move.to && cards.targetOf(view, move)] : [];
    const end = left_out
      ? "The rest of this log is too long to be shown."
      : `The end: ${stateWords(state)}.`;
    const then = marks.length
      ? `Next, at ${clockText(next.at)}: ${cards.describeMove(view, move, game)}`
      : `Then, at ${clockText(next?.at ?? 0)}: ${stateWords(state)}.`;
    const found = cards.foundationPiles(view);
    /** @param {string} pile */
    const drawn = (pile) => {
      const isDeal = pile === "stock" && !cards.hasWaste(game);
      const kind = pile[0] === "t" ? ".col" : pile === "w" ? ".fan" : isDeal ? ".deal" : "";
      return h(
        `div.pile${kind}${marks.includes(pile) ? ".mark" : ""}`,
        { role: "img", "data-pile": pile, "aria-label": cards.pileLabel(view, pile, game) },
        ...(isDeal ? [h("i.count", view.stock)] : cards.drawPile(view, pile, game)),
      );
    };
    const name = this.#nameOf({ ...board, entries, state, left_out });
    const score = h("b", { class: tone(net) }, dollars(net));
    const time = clockText(at ? entries[at - 1].at : 0);
    return h(
      `section.mini.n${view.columns.length}.f${found.length}`,
      { "aria-label": `Board of ${name}`, "data-suits": cards.suitColours(game) },
      h("h2", h("span", name), h("span", `${banked} `, score, h("small", ` ${time}`))),
      h(
        "div.tops",
        h("div.found.line", ...found.map(drawn)),
        h("div.hand.line", ...cards.handPiles(view, game).map(drawn)),
      ),
      h("div.cols", ...view.columns.map((_, index) => drawn(`t${index + 1}`))),
      h("p.next", next ? then : end),
    );
  }

  /** The controls that step through the race. */
  #scrub() {
    const { at, last, timer } = this;
    /** @param {Sign} name @param {string} label @param {() => void} action */
    const step = (name, label, action) => {
      const main = name === "play" || name === "pause" ? ".main" : "";
      const attributes = { type: "button", "aria-label": label, onclick: action };
      return h(`button.button${main}`, attributes, sign(name));
    };
    const range = {
      type: "range",
      min: 0,
      max: last,
      "aria-label": "Move",
      "aria-valuetext": `move ${at} of ${last}`,
    };
    return h(
      "div.scrub",
      { role: "group", "aria-label": "Step through the race" },
      step("start", "To the deal", () => this.#go(0)),
      step("back", "One move back", () => this.#go(at - 1)),
      step(timer ? "pause" : "play", timer ? "Pause" : "Play", () => this.#toggle()),
      step("on", "One move on", () => this.#go(at + 1)),
      this.chosen.length > 1 && step("fork", "Where they parted", () => this.#go(this.fork)),
      h("output", `${at} / ${last}`),
      h("input", { ...range, oninput: ({ target }) => this.#go(Number(target.value)) }),
    );
  }

  /** @param {Wire.ReplayedRace} replayed */
  #climb({ banked }) {
    const { results, finish } = this;
    const history = Object.fromEntries(
      results.map((row) => [row.player, [{ at: 0, banked }, ...row.entries]]),
    );
    const end = Math.max(1000, ...results.map((row) => row.entries.at(-1)?.at ?? 0));
    const scores = { player: finish.player, outcome: { results }, standings: [], labels: {} };
    const state = { ...scores, own: null, history };
    return h(
      "section.box",
      h("h2", "The climb"),
      climbChart(/** @type {any} */ (state), end, 420, 190),
    );
  }

  /** The heading, and where the chosen boards part in words. @returns {page.Child[]} */
  #words() {
    const { replayed, fork, chosen } = this;
    const [one, two] = chosen;
    if (!replayed || !two) return ["The board", "Step through the moves."];
    if (fork === one.entries.length && fork === two.entries.length)
      return ["The same moves", "Both made the same moves."];
    const view = viewOf(fork ? one.entries[fork - 1].position : replayed.deal);
    /** @param {Reviewed} board @param {string} name */
    const part = (board, name) => {
      const next = board.entries[fork];
      if (!next) return [`${name}: `, h("b", "the board ended there")];
      const move = readMove(next.entry);
      const words = isMove(move)
        ? cards.describeMove(view, move, replayed.game)
        : stateWords(board.state);
      return [`${name} at ${clockText(next.at)}: `, h("b", words)];
    };
    const same = `${counted(fork, "move")} ${fork === 1 ? "was" : "were"} the same. `;
    const isOwn = chosen.some(({ player }) => player === this.app.player);
    return [
      `Where ${isOwn ? "you" : "they"} parted`,
      fork ? same : "The first moves differ. ",
      ...part(one, this.#nameOf(one)),
      "; ",
      ...part(two, this.#nameOf(two, "you")),
      ".",
    ];
  }

  draw() {
    super.draw();
    const range = this.node.querySelector("input");
    if (range) range.value = String(this.at);
  }

  /** Show the boards after so many moves. @param {number} at */
  #go(at) {
    this.at = Math.max(0, Math.min(this.last, at));
    if (this.at === this.last) this.#stop();
    this.draw();
  }

  #toggle() {
    if (this.timer) this.#stop();
    else {
      if (this.at === this.last) this.#go(0);
      this.timer = setInterval(() => this.#go(this.at + 1), STEP);
    }
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  key({ key, target }) {
    if (!this.replayed) return false;
    /** @type {Record<string, number>} */
    const steps = {
      ArrowLeft: this.at - 1,
      ArrowRight: this.at + 1,
      Home: 0,
      End: this.last,
      f: this.fork,
    };
    const isButton = /** @type {HTMLElement} */ (target).matches("button, a");
    if (key === " " && !isButton) this.#toggle();
    else if (key in steps) this.#go(steps[key]);
    else return false;
    return true;
  }

  #stop() {
    clearInterval(this.timer);
    this.timer = 0;
  }

  close() {
    super.close();
    this.#stop();
  }
}
