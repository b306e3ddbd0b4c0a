/**
 * The screens of a race: the countdown, the player's board, and watching.
 */

import { Board, feel } from "./board.js";
import { GAMES, gamePicture, gameTitle, nameOfSign, shortRules, suitColours } from "./cards.js";
import { Screen, button, fill, form, h, morph, openQuestion, openSheet } from "./page.js";
import { pageHead, picture, svg, unbroken, write } from "./page.js";
import {
  capWords,
  capitalised,
  clockText,
  counted,
  dollars,
  followed,
  ordinal,
  shownName,
} from "./page.js";
import { tableOf, tone } from "./page.js";
import * as session from "./session.js";
import { initialOf, racerClass, racerNodes } from "./racers.js";
import { nameOf, ownRow, ownSeat, raceClock, rows } from "./session.js";
import { stateWords, takesReady } from "./session.js";

/** The clock warns during this many milliseconds before the time limit. */
const LATE = 30_000;
const LAST_TEN = 10_000;
/** A board that opens so soon after the start is dealt before the player's eyes. */
const FRESH = 4_000;
/** Milliseconds without an answer after which the board says so. */
const PATIENCE = 2_000;
/** The least milliseconds between two lines of news read aloud. */
const NEWS_EVERY = 3_000;
const LAST_MINUTE = 60_000;
/** The beginning of what is said meanwhile. */
const NO_ANSWER = "No answer, ";
/** The seconds before the host may end the last board. */
const LAST_BOARD = 60;

/** The words at the end of the own board, by its state: a heading and a sentence. @type {Record<string, [string, string]>} */
const ENDINGS = {
  won: ["You have won!", "All {banked} cards are banked."],
  "cash-out": ["Cashed out", "You keep {banked} banked."],
  stuck: [
    "No more cards can be banked",
    "The house has checked every card: your board is complete, {banked} banked.",
  ],
  "out-of-time": ["Time is up", "{banked} banked. All of it counts."],
  left: ["You left the race", "{banked} banked. All of it counts."],
  gone: ["You were away for too long", "{banked} banked. All of it counts."],
  "ended-by-host": ["The host has ended the race", "{banked} banked. All of it counts."],
  "ended-by-vote": ["You all ended the race", "{banked} banked. All of it counts."],
  idle: [
    "Your board ended after 3 minutes without a sign of you",
    "{banked} banked. Your seat is kept; the next race comes after this one.",
  ],
};

/** The keys of a race, those of the terminal among them, with their effects. */
export const KEYS = [
  [
    "1 \u2026 0 - =",
    "a column: pick it, or carry the picked cards there; the same key again banks the top card",
  ],
  ["w, r", "the waste, the reserve"],
  ["space", "draw or deal; redeal where the rules allow it"],
  ["f, g", "bank up, bank down: the picked card, or the only one that can be banked"],
  ["b", "take a card back from a foundation"],
  ["tab, shift+tab", "choose a legal move; enter plays it, or finishes a board that is won"],
  ["f6, or shift+esc", "leave the board for the rest of the page, or return to it"],
  ["arrows", "go to the pile beside; enter taps it"],
  ["+, -", "carry more or fewer cards together"],
  ["esc", "drop the picked cards"],
  ["s", "spell out all cards of the pile with the focus"],
  ["o", "quick: a pile with only one legal move plays it at the first tap or key"],
  ["/", "find cards by rank, suit or both"],
  ["x", "cash out; once your board has ended, end the race; both ask first"],
  ["e", "agree to end the race; once your board has ended, say something to the table"],
  ["p", "standings and menu"],
  ["c, t", "colours of the suits, colours of the page"],
  ["q", "leave the table; asks first"],
];

/**
 * @typedef {import("./session.js").State} State
 * @typedef {import("./session.js").Row} Row
 * @typedef {import("./session.js").OwnBoard} OwnBoard
 * @typedef {import("./main.js").App} App
 */

// The figures of a race

/** The scale of the bars: the next ten above the leader, and at least twice the break-even count. @param {{banked: number, net: number}[]} all */
function scaleOf(all) {
  const even = all.length ? session.evenAt(all[0]) : 10;
  const most = Math.max(0, ...all.map((row) => row.banked));
  return { even, top: Math.max(2 * even, (Math.floor(most / 10) + 1) * 10) };
}

/** @param {number} part @param {number} whole */
function percent(part, whole) {
  return `${(Math.min(1, part / whole) * 100).toFixed(2)}%`;
}

/**
 * A bar as long as the banked cards, with the post at the count that pays for the packs.
 * @param {number} banked @param {{even: number, top: number}} scale @param {number} y @param {number} height
 * @param {string} racer the class of the racer's colour
 */
function bar(banked, { even, top }, y, height, racer) {
  const shape = { y, height, rx: height / 2 };
  const x = percent(even, top);
  return [
    svg("rect.way", { width: "100%", ...shape }),
    svg(`rect.won.${racer}`, { width: percent(banked, top), ...shape }),
    svg("line.even", { x1: x, x2: x, y1: y - 4, y2: y + height + 4 }),
  ];
}

/** The own place among the racers, as soon as it tells one from another. @param {State} state */
function placeNodes(state) {
  const all = rows(state);
  const row = ownRow(state);
  if (!row || all.length < 2) return [];
  if (all.every(({ place }) => place === row.place)) return [h("span.dim", "all level")];
  return [h("b", ordinal(row.place)), " ", h("span.dim", `of ${all.length}`)];
}

/** The track: the money meter and everybody's standing in one bar. @param {State} state */
function track(state) {
  const all = rows(state);
  // the own board shows what the standings do not tell yet
  const own = state.own ?? ownRow(state);
  const scale = scaleOf(own ? [...all, own] : all);
  const { even, top } = scale;
  const rivals = all.filter((row) => row.player !== state.player);
  const others = rivals.map((row) => `${shownName(row)} ${row.banked}`).join(", ");
  const label = `${own ? `You have ${own.banked}, ` : ""}even at ${even}${others && `; ${others}`}`;
  // the leader lies above the others, the player above all
  const discs = [...rivals.reverse(), ...all.filter((row) => row.player === state.player)];
  const drawn = discs.map((row) => {
    const banked = row.player === state.player && own ? own.banked : row.banked;
    const kind = `chip.${racerClass(all, state.player, row.player)}`;
    return svg(
      `svg.${kind}`,
      { x: percent(banked, top), y: 5, width: 1, height: 1 },
      svg("rect", { x: -8, width: 16, height: 16, rx: row.bot ? 4 : 8 }),
      svg("text", { y: 12 }, initialOf(state.player, row)),
    );
  });
  return svg(
    "svg.track",
    { role: "img", "aria-label": label },
    ...bar(own?.banked ?? 0, scale, 9, 8, "me"),
    ...drawn,
  );
}

/** A racer's short state in the table. @param {State} state @param {Row} row */
function stateWord(state, row) {
  if (row.state !== "racing") return stateWords(row.state);
  return session.seatAt(state.table, row.player)?.connected === false ? "away" : "";
}

/** @param {State} state */
function standingsTable(state) {
  const all = rows(state);
  const scale = scaleOf(all);
  const body = all.map((row) => {
    const isMe = row.player === state.player;
    const racer = racerClass(all, state.player, row.player);
    return h(
      isMe ? "tr.me" : row.state === "racing" && !row.ghost ? "tr" : "tr.out",
      h("td", row.place),
      h(
        "td",
        racerNodes(all, state.player, row, stateWord(state, row)),
        svg("svg.track", { "aria-hidden": "true" }, ...bar(row.banked, scale, 4, 5, racer)),
      ),
      h("td", row.banked),
      h(`td.${tone(row.net)}`, dollars(row.net)),
    );
  });
  return tableOf("Standings", ["#", "racer.wide-name", "banked", "net"], body, "standings");
}

/** The height of a label at the end of a line. */
const LABEL = 12;

/**
 * Everybody's banked cards over the time; grey while nobody looked.
 * @param {Pick<State, "player" | "history"> & {gaps?: State["gaps"]}} course
 * @param {(import("./racers.js").Named & {banked: number, net: number})[]} all first place first
 * @param {number} at milliseconds since the start @param {number} [width] @param {number} [height]
 */
export function climbChart({ player, history, gaps = [] }, all, at, width = 300, height = 120) {
  const { even, top } = scaleOf(all);
  const [left, right, ceiling, floor] = [24, width - 64, 12, height - 16];
  const x = (/** @type {number} */ time) =>
    Math.round(left + ((right - left) * Math.min(time, at)) / Math.max(at, 1000));
  const y = (/** @type {number} */ banked) =>
    Math.round(floor - ((floor - ceiling) * banked) / top);
  const nameIn = (/** @type {typeof all[0]} */ row, /** @type {string} */ name) =>
    `${row.player === player ? "You" : name} ${row.banked}`;
  const drawn = all.filter((row, index) => index < 6 || row.player === player);
  let label = -Infinity;
  const lines = drawn.flatMap((row, index) => {
    const racer = racerClass(all, player, row.player);
    const [first, ...points] = history[row.player] ?? [];
    const path = points.map((point) => `H${x(point.at)}V${y(point.banked)}`).join("");
    const d = first && `M${x(first.at)} ${y(first.banked)}${path}H${x(at)}`;
    // each label below the one before, with room for those that follow
    const lowest = floor + 8 - LABEL * (drawn.length - 1 - index);
    label = Math.min(Math.max(label + LABEL, y(row.banked) + 4), lowest);
    const name = nameIn(row, followed([...row.name].slice(0, 7).join("")));
    return [
      d && svg(`path.${racer}`, { d }),
      svg(`text.${racer}`, { x: right + 5, y: label }, name),
    ];
  });
  const unseen = gaps.map(([from, to]) => {
    const [start, end] = [x(from), x(to)];
    const words = end - start > 60 && svg("text", { x: start + 6, y: ceiling + 10 }, "not seen");
    const shape = { x: start, y: ceiling, width: end - start, height: floor - ceiling };
    return svg("g", svg("rect.gap", shape), words);
  });
  const told = [
    ...all.map((row) => nameIn(row, shownName(row))),
    ...gaps.map(([from, to]) => `not seen from ${clockText(from)} to ${clockText(to)}`),
  ].join(", ");
  const end = { "text-anchor": "end" };
  return svg(
    "svg.chart",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Banked over time: ${told}` },
    ...unseen,
    svg("path.axis", { d: `M${left} ${ceiling}V${floor}H${right}` }),
    svg("path.evenline", { d: `M${left} ${y(even)}H${right}` }),
    svg("text", { x: left - 4, y: y(even) + 4, ...end }, even),
    svg("text", { x: left - 4, y: ceiling + 4, ...end }, top),
    svg("text", { x: left, y: height - 3 }, "0:00"),
    svg("text", { x: right, y: height - 3, ...end }, clockText(at)),
    ...lines,
  );
}

/** The newest lines, newest first. @param {State} state @param {number} most */
function newsList(state, most) {
  const lines = state.feed.lines.slice(-most).reverse();
  const told = lines.map(({ at, text }) =>
    h("li", h("time", clockText(at)), h("span", ...unbroken(text))),
  );
  return told.length ? h("ol.news", ...told) : h("p.dim", "Nothing new yet.");
}

/** A sentence with cards: the signs for the eye, the names for the ear. @param {string} text */
function spoken(text) {
  const parts = text.split(/((?:10|[A2-9JQK])[\u2660\u2665\u2666\u2663])/);
  // every second part is a card
  return parts.flatMap(
    /** @returns {import("./page.js").Child[]} */ (part, at) =>
      at % 2
        ? [h("b", { "aria-hidden": "true" }, `${part}\ufe0e`), h("span.unseen", nameOfSign(part))]
        : [part],
  );
}

/** Whether the server can be heard. @param {string} link @param {string} [tag] */
function liveSign(link, tag = "p") {
  const isLive = link === "connected";
  return h(`${tag}.${isLive ? "gain" : "loss"}`, isLive ? "\u25cf live" : "\u25cb waiting");
}

/** The class of the own money: coloured once the packs are paid for. @param {OwnBoard} own */
function ahead({ net }) {
  return net < 0 ? "" : ".gain";
}

// The countdown

export class CountdownScreen extends Screen {
  /** What is said once: read aloud each second, the numbers would drown it. */
  starts = "";

  view() {
    const { app, state } = this;
    const { table, player } = state;
    const title = gameTitle(table.settings.game);
    const racing = table.racers?.length ? table.racers : table.seats.filter((seat) => seat.ready);
    const crowd = racing.map((racer) => {
      return racerNodes(racing, player, { ...racer, ...state.labels[racer.player] });
    });
    const all = crowd.length === 2 ? "both" : `all ${crowd.length}`;
    const seat = ownSeat(state);
    const seconds = Math.ceil(raceClock(state, app.now()).untilStart / 1000);
    if (seconds) this.starts ||= `The race starts in ${counted(seconds, "second")}.`;
    const isReady = Boolean(seat?.ready);
    const ready = () => app.ready(!isReady);
    document.title = `${title} \u00b7 Saratoga`;
    return [
      h(
        "header.top",
        h("p.brand", title),
        liveSign(state.link),
        h("p", h("b", table.settings.cap ? `${table.settings.cap}:00` : "no limit")),
      ),
      h(
        "main.bigcount",
        h("h1", { tabindex: -1 }, crowd.length > 1 ? `${title}, one deal for ${all}` : title),
        // another element for another second: it comes with a beat
        h("p.number", { "aria-hidden": "true", "data-key": seconds }, seconds || "Go!"),
        h("p.unseen", { role: "status" }, this.starts),
        h("p.crowd", ...crowd),
        h("p", { role: "status" }, this.said || this.#words(seat)),
        h(
          "p",
          seat &&
            takesReady(table) &&
            button(isReady ? "Not ready" : "Ready", ready, isReady ? "" : "main", "ready"),
        ),
        h("div.in-short", gamePicture(table.settings.game), shortRules(table.settings.game)),
      ),
    ];
  }

  /** @param {Wire.Seat | null} seat */
  #words(seat) {
    const { table, player } = this.app.state;
    const isCall = takesReady(table);
    if (table.open)
      return `One run, ${capWords(table.settings.cap)}. Your clock goes on if you leave the page.`;
    if (!seat) return "You are watching this race. It shows the standings, not the boards.";
    if (isCall && !seat.ready) return "The host has started the race. Press Ready now to be in it.";
    if (isCall || session.isRacer(table, player))
      return "Get ready: all racers get the same deal at the same moment.";
    return "You weren't ready, so this race started without you.";
  }

  tick() {
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  key({ key }) {
    const { state } = this.app;
    const seat = ownSeat(state);
    if (key.toLowerCase() !== "r" || !seat || !takesReady(state.table)) return false;
    this.app.ready(!seat.ready);
    return true;
  }
}

// The race

export class RaceScreen extends Screen {
  said = "";
  saidTakenBack = "";
  saidLast = "";
  /** The second of the last ten that was heard. */
  second = 0;
  /** How many votes to end the race the player has seen and not followed. */
  declined = 0;
  newsAt = -NEWS_EVERY;
  isLastMinute = true;
  /** @type {HTMLElement | null} */
  sheetBody = null;
  /** @type {HTMLDialogElement | null} */
  sheet = null;
  rail = h("header.rail");
  status = h("p", { role: "status" });
  /** The newest line of news, seen for a while where no panel is. */
  news = h("p.moment", { "aria-live": "polite" });
  messages = h("div.say", h("div", this.news, this.status));
  /** What waits for an answer, over the board. */
  notice = h("div.notice");
  turned = h("p.unseen", { "aria-live": "polite" });
  side = h("aside.side", { "aria-label": "The race" });

  /** @param {App} app */
  constructor(app) {
    super(app);
    const { state } = app;
    const own = /** @type {OwnBoard} */ (state.own);
    this.game = state.table.settings.game;
    this.saidState = own.state === "racing" ? "racing" : "";
    this.saidNews = state.feed.lines.at(-1) ?? null;
    this.board = new Board(this.game, own, {
      play: (move) => app.play(move),
      why: async (move, about) => {
        const reason = await app.why(move);
        if (reason) this.say(about + (about ? reason[0].toLowerCase() + reason.slice(1) : reason));
      },
      say: (text) => this.say(text),
      isConnected: () => app.state.link === "connected",
    });
    const { found, cols, hand } = this.board;
    this.main = h("main.board", h("div.felt", found, cols, hand, this.messages), this.notice);
    this.node = h("div.race", this.rail, this.main, this.side, this.turned);
    if (this.game in GAMES) this.node.classList.add(this.game);
    this.node.style.setProperty("--columns", String(cols.children.length));
    this.node.style.setProperty("--up", String(found.children.length));
    document.title = `${gameTitle(this.game)} \u00b7 ${state.table.code} \u00b7 Saratoga`;
    const opening = own.count
      ? "Your board, as you left it."
      : "Go! Tap a pile, then its place, or drag. A second tap banks.";
    this.say(app.takeOpening() || opening);
    this.showLook();
  }

  /** Called when the screen stands in the document. */
  shown() {
    this.board.focus();
    const { state } = this.app;
    if (!state.own?.count && raceClock(state, this.app.now()).elapsed < FRESH) this.board.deal();
  }

  showLook() {
    this.node.dataset.suits = String(suitColours(this.game));
  }

  /** @param {string} text */
  say(text) {
    if (this.said === text) return;
    this.said = text;
    fill(this.status, ...spoken(text));
  }

  /** @param {State} state */
  show(state) {
    const { own } = state;
    if (!own) return;
    const turned = session.turnedUp(this.board.own, own);
    this.board.show(own);
    if (turned) fill(this.turned, ...spoken(turned));
    this.#report(state, own);
    this.tick();
    this.#showFigures();
  }

  /** Show the figures beside the board, and in the drawer if it is open. */
  #showFigures() {
    const { app, state } = this;
    const own = /** @type {OwnBoard} */ (state.own);
    const net = dollars(own.net);
    const at = raceClock(state, app.now()).elapsed;
    const figures = () => [
      h(
        "div.meter",
        h(`p.big${ahead(own)}`, net),
        h("p", ...placeNodes(state)),
        h("p.dim", `${capitalised(session.toEven(own))}, ${session.gap(state)}`),
      ),
      standingsTable(state),
      h("h2", "The climb"),
      climbChart(state, rows(state), at, 300, 112),
      h("h2", "News"),
      newsList(state, 5),
    ];
    morph(
      this.side,
      h("div.race-figures", ...figures()),
      own.state === "racing"
        ? button(`Cash out ${net}`, () => this.askToCashOut())
        : button("Watch the race", () => app.watchRace(true)),
    );
    if (this.sheetBody) morph(this.sheetBody, ...figures());
  }

  /** Show what is above the board. @param {boolean} isAway */
  #showRail(isAway) {
    const { app, state } = this;
    const own = /** @type {OwnBoard} */ (state.own);
    const { left, elapsed } = raceClock(state, app.now());
    const isLate = left !== null && left < LATE;
    const alarm = app.alarms.length > 0;
    const net = dollars(own.net);
    morph(
      this.rail,
      h("h1.title", gameTitle(this.game), " ", h("span", !state.table.open && state.table.code)),
      h("p.place", ...placeNodes(state)),
      // another element for another amount: it comes with a motion
      h(`p.net${ahead(own)}`, h("span.tick", { "data-key": net }, net)),
      h("div.track-place", track(state)),
      alarm ? h("p.live.alarm", "ALARM") : h("p.live", isAway ? "\u25cb waiting" : "\u25cf live"),
      h(
        `p.clock${isLate ? ".loss" : ""}${left !== null && left < LAST_TEN ? ".last" : ""}`,
        h("span.unseen", "time left "),
        h("span", clockText(left ?? elapsed)),
      ),
      h(
        "button.icon.menu",
        { type: "button", "aria-label": "Standings and menu", onclick: () => this.#openMenu() },
        picture("menu"),
      ),
    );
  }

  /** Say what the player's own taps did not cause. @param {State} state @param {OwnBoard} own */
  #report(state, own) {
    if (own.takenBack && own.takenBack !== this.saidTakenBack) this.say(own.takenBack);
    this.saidTakenBack = own.takenBack;
    if (own.state !== this.saidState) {
      this.saidState = own.state;
      if (own.state !== "racing") this.#ended(state, own);
    }
    if (state.table.last_racer && state.table.last_racer !== this.saidLast)
      this.say(lastBoard(state, this.app.now()));
    this.saidLast = state.table.last_racer ?? "";
    this.#tellNews(state);
  }

  /** @param {State} state @param {OwnBoard} own */
  #ended(state, own) {
    const [heading, words] = ENDINGS[own.state] ?? ["Your board is over", "{banked} banked."];
    const net = dollars(own.net);
    this.say(`${heading}: ${own.banked} banked, ${net}.`);
    this.sheet?.close();
    if (state.outcome || state.table.open) return;
    const others = rows(state).filter(
      (row) => row.state === "racing" && row.player !== state.player,
    );
    const who = others.length === 1 ? `${shownName(others[0])} is` : `${others.length} are`;
    const still = others.length ? ` ${who} still racing.` : "";
    const sentence = ` \u00b7 ${words.replace("{banked}", String(own.banked))}${still}`;
    this.sheet = openSheet(
      { title: heading },
      h("p", h(`b.${tone(own.net)}`, net), sentence),
      h(
        "div.row",
        button("See my board", () => this.sheet?.close()),
        button("Watch the race", () => this.app.watchRace(true), "main"),
      ),
    );
  }

  /** Tell the most important new line, at most one in three seconds. @param {State} state */
  #tellNews({ feed: { lines } }) {
    const now = performance.now();
    const fresh = lines.slice(this.saidNews ? lines.lastIndexOf(this.saidNews) + 1 : 0);
    if (!fresh.length || now - this.newsAt < NEWS_EVERY) return;
    this.saidNews = lines[lines.length - 1];
    this.newsAt = now;
    const kinds = ["won", "even", "lead", "ending", "pass", "people", "milestone", "link"];
    const line = kinds.flatMap((kind) => fresh.find((each) => each.tone === kind) ?? [])[0];
    if (line) this.#tell(`${capitalised(line.text)}.`);
  }

  /** @param {string} text */
  #tell(text) {
    fill(this.news, h("span", ...unbroken(text)));
  }

  /** Show what changes with time. */
  tick() {
    const { state, connection, idleLeft } = this.app;
    const { left } = raceClock(state, this.app.now());
    const isLast = left !== null && left <= LAST_MINUTE;
    const second = left !== null && left < LAST_TEN ? Math.ceil(left / 1000) : 0;
    if (second && second !== this.second && state.own?.state === "racing") feel("tick");
    this.second = second;
    if (
      isLast &&
      !this.isLastMinute &&
      state.table.phase === "running" &&
      left > LAST_MINUTE - 5_000
    )
      this.#tell("The last minute.");
    this.isLastMinute = isLast;
    const silence = connection.link === "connected" ? this.app.waited() : connection.silence;
    const isAway = silence > PATIENCE;
    this.node.classList.toggle("away", isAway);
    this.#showRail(isAway);
    morph(this.notice, ...this.#asked(idleLeft));
    // not read aloud each second
    if (isAway)
      this.say(`${NO_ANSWER}${Math.floor(silence / 5_000) * 5 || 2} s. Trying; all is kept.`);
    else if (this.said.startsWith(NO_ANSWER)) this.say("Connected again; nothing is lost.");
    this.#tellNews(state);
  }

  /** What waits for an answer: silence, a won board, a vote. @param {number} idleLeft */
  #asked(idleLeft) {
    const { app, board } = this;
    const { table, own, player } = app.state;
    const { votes = [] } = table;
    const words = (/** @type {string} */ text) => h("p", { role: "status" }, text);
    if (own?.state !== "racing") return [];
    const isAsked = votes.length > this.declined && !votes.includes(player);
    const idle = idleLeft ? `No sign of you: your board ends in ${idleLeft} s. ` : "";
    // any press is a sign, also of an answer
    if (idle && !isAsked) return [words(idle), button("I am here", () => {})];
    if (board.finishing && !board.isFinishing)
      return [words("Banking the rest wins."), button("Finish", () => board.finish(), "main")];
    if (!isAsked) return [];
    const playOn = () => {
      this.declined = votes.length;
      this.tick();
    };
    return [
      words(
        `${idle}${nameOf(app.state, votes[votes.length - 1])} wants to end the race now. All must agree; everyone keeps the banked cards.`,
      ),
      button("End it", () => app.endRace()),
      button("Play on", playOn),
    ];
  }

  // Sheets

  askToCashOut() {
    const { app, state } = this;
    const { own } = state;
    if (own?.state !== "racing") return;
    const all = rows(state);
    const row = ownRow(state);
    const behind = all.filter((each) => each.state === "racing" && row && each.place > row.place);
    const who = behind.length === 1 ? "One behind you is" : `${behind.length} behind you are`;
    this.sheet?.close();
    this.sheet = openQuestion(
      `Cash out with ${dollars(own.net)}?`,
      "Keep playing",
      `Cash out ${dollars(own.net)}`,
      () => {
        this.say("Cashing out.");
        app.cashOut();
      },
      h(
        "p",
        "You end with ",
        h("b", `${own.banked} banked`),
        row && all.length > 1 ? `, ${ordinal(row.place)} now.` : ".",
        behind.length > 0 && ` ${who} still racing and can pass you.`,
        " This cannot be taken back.",
      ),
    );
  }

  /** Look for cards: what is typed lights up. */
  #openFinder() {
    const open = /** @type {HTMLElement | null} */ (this.messages.querySelector(".finder input"));
    if (open) return open.focus();
    const found = h("span", { role: "status" });
    const input = h("input", {
      "aria-label": "Find cards by rank, suit or both",
      placeholder: "9, h, 10d, qs",
      autocomplete: "off",
      oninput: () => {
        const where = this.board.find(input.value);
        write(found, input.value && where);
      },
      onkeydown: (/** @type {KeyboardEvent} */ { key }) => void (key === "Escape" && close()),
    });
    const close = () => {
      this.board.find("");
      finder.remove();
      this.board.focus();
    };
    const finder = form("finder", close, input, found);
    this.messages.append(finder);
    input.focus();
  }

  #openMenu() {
    const { app, game } = this;
    const { own } = app.state;
    const { left, elapsed } = raceClock(app.state, app.now());
    const isRacing = own?.state === "racing";
    const title = `${gameTitle(game)} \u00b7 ${left === null ? clockText(elapsed) : `${clockText(left)} left`}`;
    const act = (/** @type {string} */ words, /** @type {() => void} */ action) =>
      button(words, () => {
        sheet.close();
        action();
      });
    this.sheetBody = h("div.race-figures");
    const sheet = openSheet(
      { title, class: "both", onclose: () => (this.sheetBody = null) },
      this.sheetBody,
      h(
        "div.row",
        act("Rules, look", () => app.openLook()),
        isRacing
          ? act(`Cash out ${dollars(own.net)}`, () => this.askToCashOut())
          : act("Leave", () => app.askToLeave()),
        mayEndRace(app.state) &&
          act(isRacing ? "Agree to end" : "End the race", () => askToEndRace(app)),
        button("Back", () => sheet.close(), "main"),
      ),
    );
    this.sheet = sheet;
    this.#showFigures();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { app, board, game } = this;
    this.node.classList.add("keyed");
    const active = document.activeElement;
    const isOnBoard = active === document.body || this.main.contains(active);
    const { key } = event;
    if (key === "F6" || (key === "Escape" && event.shiftKey)) {
      if (this.main.contains(active))
        /** @type {HTMLElement | null} */ (this.rail.querySelector(".menu"))?.focus();
      else board.focus();
      return true;
    }
    if (!isOnBoard && ["Tab", "Enter", " "].includes(key)) return false;
    /** @type {Record<string, () => unknown>} */
    const actions = {
      x: () => (board.own.state === "racing" ? this.askToCashOut() : askToEndRace(app)),
      "/": () => this.#openFinder(),
      e: () => (board.own.state === "racing" ? askToEndRace(app) : app.openSay()),
      c: () => {
        app.nextSuits(game);
        this.say(`Suits in ${suitColours(game) === 4 ? "four" : "two"} colours.`);
      },
      p: () => this.#openMenu(),
    };
    const action = Object.hasOwn(actions, key.toLowerCase()) && actions[key.toLowerCase()];
    if (action) action();
    // once the board has ended, Tab is the browser's
    const isBoards = key !== "Tab" || board.own.state === "racing";
    return action ? true : isBoards && board.key(event);
  }

  close() {
    this.board.drag.close();
    this.sheet?.close();
  }
}

/** Whose board is the last one racing, and when the host may end it. @param {State} state @param {number} now */
export function lastBoard(state, now) {
  const { table, player } = state;
  const { last_racer: last, end_from = 0, host, phase } = table;
  if (phase !== "running" || !last) return "";
  const isHost = host === player;
  if (last === player && isHost) return "Only you are still racing.";
  const racer = last === player ? "you are" : `${nameOf(state, last)} is`;
  const wait = Math.max(0, Math.min(LAST_BOARD, Math.ceil((end_from - now) / 1000)));
  const when = wait ? `in ${wait} s` : "now";
  return `Only ${racer} still racing; ${isHost ? "you" : nameOf(state, host)} can end the race ${when}.`;
}

/** Whether the player may ask or agree to end the race, or end it. @param {State} state */
function mayEndRace(state) {
  const { votes = [], last_racer: last, host, phase } = state.table;
  if (phase !== "running") return false;
  if (state.own?.state === "racing") return votes.length > 0 && !votes.includes(state.player);
  return Boolean(state.own) || Boolean(last && host === state.player);
}

/** End the race as host, or ask or agree to end it, after a question. @param {App} app */
function askToEndRace(app) {
  const { state } = app;
  const { last_racer: last = "", end_from = 0, host } = state.table;
  const words = lastBoard(state, app.now());
  if (!mayEndRace(state)) return app.notify(words || "Nobody has asked to end the race.");
  const isAllowed = words && host === state.player && last !== host && end_from <= app.now();
  if (!isAllowed && !state.own) return app.notify(words);
  if (!isAllowed) {
    const agrees = "It ends when everyone who still races agrees. All keep their cards.";
    openQuestion("End the race?", "Wait", "End the race", () => app.endRace(), agrees);
    return;
  }
  const name = nameOf(state, last);
  const keeps = `${name} keeps the banked cards.`;
  openQuestion(`End the race of ${name}?`, "Wait", "End the race", () => app.endRace(), keeps);
}

// Watching

/** The button in the head of a page that leaves the table. @param {App} app */
export function leaveButton(app) {
  return h("button.link", { type: "button", onclick: () => app.askToLeave() }, "Leave");
}

export class WatchScreen extends Screen {
  /** The news that were read aloud last. @type {import("./session.js").NewsLine | undefined} */
  told = undefined;
  toldAt = 0;
  /** The second that is shown. */
  second = 0;

  view() {
    const { app, state } = this;
    const { table } = state;
    const { even } = scaleOf(rows(state));
    const { left, elapsed } = raceClock(state, app.now());
    const title = gameTitle(table.settings.game);
    document.title = `Watch ${title} \u00b7 Saratoga`;
    const post = `The mark stands at ${even} cards, which pay for the packs. Boards open when the race is over: on one deal, their cards are everybody's secrets.`;
    const chart = climbChart(state, rows(state), elapsed, 360, 170);
    const clock = left === null ? clockText(elapsed) : `${clockText(left)} left`;
    return [
      pageHead(leaveButton(app)),
      h(
        "main.page.split",
        h(
          "div.box",
          { role: "region", "aria-labelledby": "left" },
          h("p.dim", `${title} \u00b7 ${table.code} \u00b7 `, liveSign(state.link, "span")),
          h("h1", { id: "left", tabindex: -1 }, clock),
          standingsTable(state),
          h("p.dim", post),
        ),
        h(
          "div.page",
          h("div.box", h("h2", "The climb"), chart),
          h(
            "div.box",
            h("h2", "News"),
            newsList(state, 8),
            h("p", { role: "status" }, this.said),
            app.reactions(),
            h("div.actions", ...this.#actions()),
          ),
        ),
        h("p.unseen", { "aria-live": "polite" }, this.told && `${capitalised(this.told.text)}.`),
      ),
    ];
  }

  #actions() {
    const { app, state } = this;
    const { table, own } = state;
    const reason = session.whyNoSeat(table);
    const seat = own
      ? [button("See my board", () => app.watchRace(false))]
      : ownSeat(state)
        ? [h("p", "You have a seat for the next race.")]
        : [
            reason && h("p", reason),
            button("Sit in on the next race", () => app.sitIn(), reason ? "" : "main"),
          ];
    if (own?.state === "racing" || !mayEndRace(state)) return seat;
    const end = button("End the race", () => askToEndRace(app));
    return [...seat, h("p", lastBoard(state, app.now())), end];
  }

  tick() {
    const { state } = this.app;
    const { elapsed } = raceClock(state, this.app.now());
    const second = Math.floor(elapsed / 1000);
    if (second === this.second) return;
    this.second = second;
    if (performance.now() - this.toldAt >= NEWS_EVERY) {
      this.toldAt = performance.now();
      this.told = state.feed.lines.at(-1);
    }
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  key({ key }) {
    if (key === "x") askToEndRace(this.app);
    return key === "x";
  }
}
