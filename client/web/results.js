/**
 * The results of a race, with the tie explained and the seal; and the race's own page, with boards side by side.
 *
 * The boards come from the server, which replays the race: this page has no rules.
 */

import * as cards from "./cards.js";
import { gameTitle, readMove, viewOf } from "./cards.js";
import { origin, store, storedJson } from "./identity.js";
import { challenge, openPath } from "./open_races.js";
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
import { disc, racerClass, racerRow } from "./racers.js";
import { digestOf, digestWords } from "./records.js";
import { climbOf, matchTotals, ownSeat, priceOf, rows, stateWords } from "./session.js";
import { proofOf } from "./witness.js";

export { LeaderboardsScreen } from "./leaderboards.js";

/** Milliseconds for which the money counts up. */
const COUNTS_FOR = 1_200;
/** Milliseconds between two moves that are played. */
const STEP = 600;

/** @typedef {"start" | "back" | "play" | "pause" | "on" | "fork"} Sign */
/** @type {Record<Sign, string>} */
const SIGNS = {
  start: "M5 4h3v16H5zM20 4v16L9 12z",
  back: "M18 4v16L7 12z",
  play: "M7 3v18l14-9z",
  pause: "M6 4h4v16H6zM14 4h4v16h-4z",
  on: "M5 4v16l11-8zM17 4h3v16h-3z",
  fork: "M10.5 22v-8L4 7V3h3v3l5 5.5L17 6V3h3v4l-6.5 7v8z",
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
 * @typedef {Wire.ReplayedBoard} Reviewed
 * @typedef {import("./session.js").Row & {reached?: number | null}} Result
 * @typedef {{race: string, game: string, player: string, results: Result[], digest: string, ranked: boolean,
 *   title?: string, path?: string}} Finish
 *   what the screens show of a race; `title` and `path` as a shared text has them, if not the game's and the race's
 */

// Words

/** A time in a race to the millisecond. @param {number} millis */
function exactTime(millis) {
  return `${clockText(millis)}.${String(millis % 1000).padStart(3, "0")}`;
}

/** A racer's name in the headline, without mark. @param {Finish} finish @param {Result} row */
function nameIn({ player }, row) {
  return row.player === player ? "You" : page.followed(row.name);
}

/**
 * The result in one line: `Ben wins by $20`, or the own place and the nearest rival, such as `You finished 2nd, 12 cards ahead of Greta`.
 * @param {Finish} finish
 */
export function headline(finish) {
  const { results, player } = finish;
  const at = results.findIndex((row) => row.player === player);
  const row = results[Math.max(0, at)];
  const name = nameIn(finish, row);
  if (results.length === 1) return `${name} banked ${counted(row.banked)}`;
  const sharing = results.filter((each) => each !== row && each.place === row.place).map(shownName);
  if (sharing.length) {
    const others = sharing.length > 2 ? `${sharing.length} others` : page.listed(sharing);
    return `${name} share${at < 0 ? "s" : ""} ${page.ordinal(row.place)} place with ${others}`;
  }
  const behind = results[Math.max(0, at) + 1];
  if (row.place === 1) {
    const wins = `${name} win${at < 0 ? "s" : ""}`;
    return row.net > behind.net ? `${wins} by $${row.net - behind.net}` : `${wins} by the clock`;
  }
  const rival = behind ?? results[at - 1];
  const by = Math.abs(row.banked - rival.banked);
  const side = behind ? "ahead of" : "behind";
  const distance = by ? `${counted(by)} ${side}` : "level with";
  return `You finished ${page.ordinal(row.place)}, ${distance} ${shownName(rival)}`;
}

/** What stands below the headline: the winner, or the winner's lead. @param {Finish} finish */
function lead(finish) {
  const [first, second] = finish.results;
  if (!second || second.place === 1) return "";
  const name = nameIn(finish, first);
  if (name !== "You" && finish.results.some((row) => row.player === finish.player))
    return `${name} wins with ${counted(first.banked)}.`;
  const by = first.banked - second.banked;
  return by ? `${counted(by)} ahead of ${nameIn(finish, second)}.` : "";
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

const BARS = "\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588";
/** How many bars the strip of a shared result has. */
const STRIP = 10;

/**
 * The result for friends in three lines: the result, the climb, the link. It names no card, so that they can still play the deal.
 * @param {Finish} finish @param {State["history"]} history
 */
export function shareText({ race, game, results, player, ...finish }, history) {
  const { title = gameTitle(game), path = `/races/${race}` } = finish;
  const own = results.find((row) => row.player === player) ?? results[0];
  const place = results.length > 1 ? ` ${page.ordinal(own.place)} of ${results.length},` : "";
  const climb = history[own.player] ?? [];
  const end = Math.max(1, ...Object.values(history).map((points) => points.at(-1)?.at ?? 0));
  const most = Math.max(1, ...results.map((row) => row.banked));
  const strip = Array.from({ length: STRIP }, (_, at) => {
    const banked = climb.findLast((point) => point.at <= (end * (at + 1)) / STRIP)?.banked ?? 0;
    return BARS[Math.round((7 * banked) / most)];
  });
  return [
    `Saratoga, ${title}: ${shownName(own)}${place} ${counted(own.banked)}, ${dollars(own.net)}`,
    strip.join(""),
    location.origin + path,
  ].join("\n");
}

/** The result for friends, and what sends or copies it. @param {Finish} finish @param {State["history"]} history @param {(said: string) => void} say */
export function shareBox(finish, history, say) {
  return postcard("Share it", shareText(finish, history), say);
}

/** A text for friends, and what sends or copies it. @param {string} title @param {string} text @param {(said: string) => void} say */
export function postcard(title, text, say) {
  const share = () => {
    // the browser's own way needs a secure context; the player may think better of it
    if (navigator.share) return navigator.share({ text }).catch(() => {});
    say(page.copyText(text) ? "Copied." : "Your browser does not copy here: select the text.");
  };
  const shared = button("Share", share, "", "share");
  return h("section.box", h("h2", title), h("p.postcard", text), shared);
}

// Parts of both screens

/** @param {Finish} finish */
function resultsTable({ results, player }) {
  const heads = ["#", "racer.wide-name", "banked.n", "net.n", "last banked.n.wide-only"];
  const body = results.map((row) => {
    const reached = typeof row.reached === "number" ? exactTime(row.reached) : "\u2013";
    const cells = [h("td.n", row.banked), page.moneyCell(row.net), h("td.n.wide-only", reached)];
    return racerRow(results, player, row, stateWords(row.state), ...cells);
  });
  return page.tableOf("Results", heads, body);
}

/** The first three, who stand in the table too. @param {Finish} finish */
function podium(finish) {
  const { results, player } = finish;
  const steps = results
    .slice(0, 3)
    .map((row) =>
      h(
        `li.${racerClass(results, player, row.player)}`,
        disc(results, player, row),
        h("span.name", nameIn(finish, row)),
        h(`span.step.place${row.place}`, row.place, h("small", counted(row.banked))),
      ),
    );
  return h("ol.podium", { "aria-hidden": "true" }, ...steps);
}

/**
 * Whether the deal was fair, in one line; what was checked unfolds.
 * @param {{race: string, digest: string}} finish
 * @param {Proof | null} [proof] `null`: the record is missing
 */
export function fairLine({ race, digest }, proof) {
  if (!proof)
    return h(
      "p.seal.dim",
      proof === null
        ? "The server has not sent the record of this race yet."
        : "Checking the deal\u2026",
    );
  const { faults, right, unchecked } = proof;
  /** @param {string} kind @param {string} mark @param {string[]} lines */
  const list = (kind, mark, lines) => lines.map((text) => h(`li${kind}`, mark + text));
  if (faults.length)
    return h(
      "section.box.seal.broken",
      { "aria-label": "Fairness" },
      h("h2", "This race does not add up"),
      h("ul", ...list(".loss", "\u2717 ", faults)),
    );
  const words = digestWords(digest);
  const command = h("code", `saratoga verify ${race}${words && `#${words}`} --server ${origin()}`);
  const others =
    "The other moves, the result, and this page itself, which the same server sent, are for ";
  const [mark, says] = unchecked.length
    ? ["\u2013", "Not all of this can be checked here."]
    : [page.picture("yes"), "Fair deal."];
  return h(
    "details.seal",
    h("summary", h("span.mark", mark), h("span", says, " ", h("u", "How?"))),
    h(
      "ul",
      words && h("li", "Your friends see the same four words: ", h("b", words), "."),
      ...list("", "", right),
      ...list(".dim", "Not checked here: ", unchecked),
      h("li.dim", others, command, " in a terminal."),
    ),
  );
}

/**
 * What the deal of a race that is over could have banked: as many as the server's line of moves, or as the best run.
 * @param {App} app @param {{race: string, game: string, results: {banked: number}[]}} finish
 */
export function parLine(app, { race, game, results }) {
  const par = app.parOf(race);
  const most = Math.max(par, ...results.map((row) => row.banked));
  const isAll = most === 52 * cards.GAMES[game]?.packs;
  const bound = isAll ? "all of its cards" : `at least ${most}. That is a lower bound`;
  return h("p.dim", par > 0 && `This deal could have banked ${bound}.`);
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
      return page.moneyCell(found.net, `${page.ordinal(found.place)} `);
    });
    return racerRow(match.rows, player, row, "", ...cells, page.moneyCell(row.net));
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
 * Note the own result of a checked record if it is the best in its game; return how it compares, in words; empty without another.
 * @param {Finish} finish
 */
export function bestWords({ race, game, results, player }) {
  const own = results.find((row) => row.player === player);
  if (!own) return "";
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
  if (!former || former.race === race) return "";
  const best = isNew ? own : former;
  const whose = isNew ? "A new" : "Your";
  return `${whose} personal best: ${best.banked} banked, ${dollars(best.net)}.`;
}

// The results at the table

export class ResultsScreen extends Screen {
  /** The state when the race was over. @type {State | null} */
  result = null;
  /** Whether the player gets ready for the next race as soon as its table is open. */
  wantsNext = false;
  /** How the result compares with the personal best; `undefined` before it is compared. */
  best = /** @type {string | undefined} */ (undefined);

  /** @param {State} state */
  show(state) {
    if (state.table.phase !== "gathering" && state.outcome) this.result = state;
    else if (this.wantsNext && state.table.phase === "gathering") return this.#race();
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
      return [head, h("main.page.split", h("section.result", h("h1", { tabindex: -1 })))];
    const { race, game, player, results } = finish;
    const own = results.find((row) => row.player === player);
    const tie = tieWords(finish);
    const proof = app.witness.proofs.get(race) ?? (app.isMissing(race) ? null : undefined);
    const isProven = proof && !proof.faults.length;
    if (isProven && this.best === undefined) this.best = bestWords(finish);
    const end = Math.max(1000, ...result.outcome.results.map((row) => row.ended ?? 0));
    // a page that came late has not seen all of it
    const history = isProven ? climbOf(proof.racers, result.outcome.results) : result.history;
    const course = isProven ? { player, history } : result;
    return [
      head,
      h(
        "main.page.split",
        h(
          own?.place === 1 && results.length > 1 ? "section.result.won" : "section.result",
          h("p", `${gameTitle(game)} \u00b7 ${race.replace("/", " \u00b7 race ")}`),
          h("h1", { tabindex: -1 }, headline(finish)),
          own && h("p.purse", dollars(own.net)),
          h("p", lead(finish), " ", ...page.unbroken(this.best ?? "")),
          results.length > 1 && podium(finish),
        ),
        h("div.whole-row", result.match?.rows.length && matchBox(result.match, player)),
        h(
          "div.box",
          h("h2", "The race"),
          tie && h("p.why", h("b", tie[0]), ` ${tie[1]}`),
          resultsTable(finish),
          parLine(app, finish),
          fairLine(finish, proof),
          h("p.dim", rankedWords(finish, result.table.settings)),
          app.reactions(),
        ),
        h(
          "div.page",
          h(
            "section.box",
            h("h2", "The climb"),
            climbChart(course, results, end, 420, 190),
            h("a.button", { href: `/races/${race}`, "data-key": "review" }, "See all boards"),
            own &&
              button("Challenge a friend on this deal", () =>
                challenge(app, game, race).catch((error) => this.say(error.message)),
              ),
          ),
          shareBox(finish, history, (said) => this.say(said)),
        ),
        h(
          "div.act",
          h("p", { role: "status" }, this.said || this.#outlook()),
          this.#again && button(this.#again, () => this.#race(), "main", "again"),
        ),
      ),
    ];
  }

  /** Let the money count from the price of the packs to what it came to. */
  shown() {
    super.shown();
    const purse = this.node.querySelector(".purse");
    const own = this.finish?.results.find((row) => row.player === this.app.player);
    if (!purse || !own || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const from = -priceOf(own);
    const since = performance.now();
    const count = (/** @type {number} */ now) => {
      const part = Math.max(0, Math.min(1, (now - since) / COUNTS_FOR));
      purse.textContent = dollars(Math.round(from + (own.net - from) * part));
      if (part < 1) requestAnimationFrame(count);
    };
    count(since);
  }

  /** What comes next, and who is ready for it. */
  #outlook() {
    const { table, player } = this.app.state;
    const { game, cap } = table.settings;
    if (table.phase !== "gathering") return "";
    const ready = table.seats.filter((seat) => seat.ready && seat.player !== player);
    const names = ready.map((seat) => page.shownName(seat));
    const are = names.length > 1 ? "are" : "is";
    const who = names.length ? ` ${page.listed(names)} ${are} ready.` : "";
    return `The next race: ${gameTitle(game)}, ${page.capWords(cap)}.${who}`;
  }

  /** What the button to the next race says; empty without one, as while no server answers. */
  get #again() {
    const { state, connection } = this.app;
    if (connection.link !== "connected") return "";
    if (ownSeat(state)) return "Again";
    return state.table.phase === "gathering" ? "To the table" : "";
  }

  /** Race again: the host opens the next race, others ask for it and get ready once it is open. */
  async #race() {
    const { app } = this;
    const { code, phase, race, host } = app.state.table;
    const isFirst = !this.wantsNext;
    this.wantsNext = Boolean(ownSeat(app.state));
    if (phase === "gathering") {
      if (this.wantsNext) app.ready(true);
      this.wantsNext = false;
      app.goOn();
    } else if (host === app.player) app.ask("next_race", { table: code, race });
    else if (isFirst) {
      app.ask("react", { table: code, reaction: "again" });
      this.say("You are in for the next race.");
    }
  }

  /** @param {KeyboardEvent} event */
  key({ key, target }) {
    const { finish, app } = this;
    const isPressed =
      key === "Enter" && /** @type {HTMLElement} */ (target).matches("a, button, summary");
    if (!finish || isPressed) return false;
    if (key === "v") app.go(`/races/${finish.race}`);
    else if (key === "s" || key === "y")
      /** @type {HTMLElement | null} */ (this.node.querySelector("[data-key=share]"))?.click();
    else if (["n", "r", "Enter"].includes(key) && this.#again) this.#race();
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
    this.race = location.pathname.slice("/races/".length);
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
      this.said = "";
    } catch (error) {
      const { message } = /** @type {Error} */ (error);
      const isAway = error instanceof TypeError;
      return this.say(
        isAway ? "The server does not answer. Load the page again in a moment." : message,
      );
    }
    try {
      this.results = this.replayed.boards;
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
    const [code] = race.split("/");
    const isOpen = !page.IS_CODE.test(code);
    const path = isOpen ? openPath(race) : `/${code}`;
    const head = pageHead(h("a", { href: path }, isOpen ? "Results" : "Table"));
    const words = this.#words();
    const about = replayed && [
      gameTitle(replayed.game),
      race,
      !isOpen && new Date(replayed.start_at).toLocaleString(),
    ];
    const says = [h("p", { role: "status" }, this.said), text && fairLine(this.finish, this.proof)];
    return [
      head,
      h(
        "main.page.review",
        h("p.dim", about?.filter(Boolean).join(" \u00b7 ")),
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
          parLine(this.app, finish),
          h("div.act", h("a.button", { href: `/api/records/${race}` }, "Record")),
          fairLine(finish, this.proof),
        ),
        h("div.page", ...this.#climb(replayed), h("p", { role: "status" }, this.said)),
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
      h("p.next", next ? then : end),
      h(
        "div.tops",
        h("div.found.line", ...found.map(drawn)),
        h("div.hand.line", ...cards.handPiles(view, game).map(drawn)),
      ),
      h("div.cols", ...view.columns.map((_, index) => drawn(`t${index + 1}`))),
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
    const chart = climbChart({ player: finish.player, history }, results, end, 420, 190);
    return [
      h("section.box", h("h2", "The climb"), chart),
      shareBox(finish, history, (said) => this.say(said)),
    ];
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
