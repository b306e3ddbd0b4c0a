// @ts-check
/**
 * The screens of a race: the countdown, the player's board, and watching.
 */

import { Board } from "./board.js";
import { GAMES, gameTitle, wantsFourColours } from "./cards.js";
import { look } from "./identity.js";
import { button, capitalised, clockText, counted, dollars, fill, h, nameNodes, openSheet, ordinal, pageHead, picture, shownName, svg,
  tone, write } from "./page.js";
import { evenAt, gap, nameOf, ownRow, ownSeat, priceOf, raceClock, rows, takesReady } from "./session.js";

/** The clock warns during this many milliseconds before the time limit. */
const LATE = 30_000;
/** Milliseconds without an answer after which the board says so. */
const PATIENCE = 2_000;
/** The least milliseconds between two lines of news read aloud, and for which a moment is shown. */
const NEWS_EVERY = 3_000;
const MOMENT_SHOWN = 6_000;
/** Milliseconds without a sign of the player after which the server ends the board, and the seconds left when the page warns. */
const IDLE = 180_000;
const WARNED_AT = [15, 60];
const LAST_MINUTE = 60_000;

/** The words at the end of the own board, by its state: a heading and a sentence. @type {Record<string, [string, string]>} */
const ENDINGS = {
  won: ["You have won!", "All {banked} cards are banked."],
  "cashed out": ["Cashed out", "You keep {banked} banked."],
  stuck: ["No more cards can be banked", "The house has checked every card: your board is complete, {banked} banked."],
  "out of time": ["Time is up", "{banked} banked. All of it counts."],
  left: ["You left the race", "{banked} banked. All of it counts."],
  "ended by host": ["The host has ended the race", "{banked} banked. All of it counts."],
  idle: ["Your board ended after 3 minutes without a sign of you", "{banked} banked. Your seat is kept; the next race comes after this one."],
};

/**
 * @typedef {import("./session.js").State} State
 * @typedef {import("./session.js").Row} Row
 * @typedef {import("./main.js").App} App
 */

// The figures of a race

/** The scale of the bars: the next ten above the leader, and at least twice the break-even count. @param {State} state */
function scaleOf(state) {
  const all = rows(state);
  const even = all.length ? evenAt(all[0]) : 10;
  const most = Math.max(0, ...all.map((row) => row.banked), state.own?.banked ?? 0);
  return { even, top: Math.max(2 * even, (Math.floor(most / 10) + 1) * 10) };
}

/** @param {number} part @param {number} whole */
function percent(part, whole) {
  return `${(Math.min(1, part / whole) * 100).toFixed(2)}%`;
}

/** What the player sees of the own board before the standings tell it. @param {State} state */
function ownMoney(state) {
  return state.own ?? ownRow(state);
}

/** The track: the money meter and everybody's standing in one bar. @param {State} state */
export function track(state) {
  const { even, top } = scaleOf(state);
  const own = ownMoney(state);
  const rivals = rows(state).filter((row) => row.player !== state.player);
  const others = rivals.map((row) => `${shownName(row)} ${row.banked}`).join(", ");
  const label = `${own ? `You have ${own.banked}, ` : ""}even is ${even}${others ? `; ${others}` : ""}`;
  const taken = [even];
  const dots = rivals.flatMap((row) => {
    const dot = svg("circle", { class: "dot", cx: percent(row.banked, top), cy: 19, r: 3 });
    if (taken.some((at) => Math.abs(at - row.banked) < top / 24)) return [dot];
    taken.push(row.banked);
    return [dot, svg("text", { x: percent(row.banked, top), y: 10 }, [...row.name][0]?.toUpperCase() ?? "")];
  });
  return svg(
    "svg",
    { class: "track", role: "img", "aria-label": label },
    svg("rect", { class: "way", x: 0, y: 14, width: "100%", height: 10, rx: 5 }),
    own && svg("rect", { class: own.banked < even ? "owed" : "won", x: 0, y: 14, width: percent(own.banked, top), height: 10, rx: 5 }),
    svg("line", { class: "even", x1: percent(even, top), x2: percent(even, top), y1: 3, y2: 26 }),
    svg("text", { x: percent(even, top), y: 9, dx: -7 }, even),
    ...dots,
    own && svg("circle", { class: "you", cx: percent(own.banked, top), cy: 19, r: 7 }),
  );
}

/** A racer's short state in the table. @param {State} state @param {Row} row */
function stateWord(state, row) {
  const away = state.table.seats.some((/** @type {any} */ seat) => seat.player === row.player && seat.connected === false);
  return row.state === "racing" ? (away ? "away" : "") : row.state;
}

/** @param {State} state */
export function standingsTable(state) {
  const { even, top } = scaleOf(state);
  const body = rows(state).map((row) => {
    const isMe = row.player === state.player;
    const word = stateWord(state, row);
    const bar = svg("svg", { class: "track", "aria-hidden": "true" },
      svg("rect", { class: "way", width: "100%", height: 8, rx: 4 }),
      svg("rect", { class: row.banked < even ? "owed" : "won", width: percent(row.banked, top), height: 8, rx: 4 }),
      svg("line", { class: "even", x1: percent(even, top), x2: percent(even, top), y1: -2, y2: 10 }));
    return h("tr", { class: isMe ? "me" : row.state === "racing" ? "" : "out" },
      h("td", {}, row.place),
      h("td", {}, ...(isMe ? ["You"] : nameNodes(row)), word ? h("small", {}, ` ${word}`) : null, bar),
      h("td", {}, row.banked),
      h("td", { class: tone(row.net) }, dollars(row.net)));
  });
  return h("table", { class: "standings" },
    h("caption", { class: "unseen" }, "Standings"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "#"), h("th", { scope: "col", class: "wide-name" }, "racer"), h("th", { scope: "col" }, "banked"), h("th", { scope: "col" }, "net"))),
    h("tbody", {}, ...body));
}

const LINES = ["a", "b", "c", "e"];

/** Everybody's banked cards over the time. @param {State} state @param {number} at milliseconds since the start @param {number} [width] @param {number} [height] */
export function climbChart(state, at, width = 300, height = 120) {
  const { even, top } = scaleOf(state);
  const [left, right, ceiling, floor] = [24, width - 64, 12, height - 16];
  const x = (/** @type {number} */ time) => left + ((right - left) * time) / Math.max(at, 1000);
  const y = (/** @type {number} */ banked) => floor - ((floor - ceiling) * banked) / top;
  const all = rows(state);
  const drawn = all.filter((row, index) => index < 6 || row.player === state.player);
  let lowest = -Infinity;
  const lines = drawn.flatMap((row, index) => {
    const isMe = row.player === state.player;
    const points = state.history[row.player] ?? [];
    const path = points.map((point, step) => (step ? `H${x(point.at).toFixed(0)}V${y(point.banked).toFixed(0)}` : `M${x(Math.min(point.at, at)).toFixed(0)} ${y(point.banked).toFixed(0)}`)).join("");
    const end = y(row.banked);
    lowest = Math.max(lowest + 12, end + 4);
    const name = isMe ? "You" : [...row.name].slice(0, 7).join("");
    const text = lowest > floor + 8 ? null : svg("text", { class: isMe ? "mine-t" : "", x: right + 5, y: lowest.toFixed(0) }, `${name} ${row.banked}`);
    return [path ? svg("path", { class: isMe ? "mine" : LINES[index % LINES.length], d: `${path}H${x(at).toFixed(0)}` }) : null, text];
  });
  return svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Banked over time: ${all.map((row) => `${row.player === state.player ? "You" : shownName(row)} ${row.banked}`).join(", ")}` },
    svg("path", { class: "axis", d: `M${left} ${ceiling}V${floor}H${right}` }),
    svg("path", { class: "evenline", d: `M${left} ${y(even).toFixed(0)}H${right}` }),
    svg("text", { x: left - 4, y: (y(even) + 4).toFixed(0), "text-anchor": "end" }, even),
    svg("text", { x: left - 4, y: ceiling + 4, "text-anchor": "end" }, top),
    svg("text", { x: left, y: height - 3 }, "0:00"),
    svg("text", { x: right, y: height - 3, "text-anchor": "end" }, clockText(at)),
    ...lines);
}

/** The newest lines, newest first. @param {State} state @param {number} most */
export function newsList(state, most) {
  const lines = state.feed.lines.slice(-most).reverse();
  return h("ol", { class: "news" }, ...lines.map((/** @type {any} */ line) => h("li", {}, h("time", {}, clockText(line.at)), line.text)));
}

/** A sentence with cards: the signs for the eye, the names for the ear. @param {string} text @returns {Node[]} */
function spoken(text) {
  const names = { "\u2660": "spades", "\u2665": "hearts", "\u2666": "diamonds", "\u2663": "clubs" };
  const ranks = { A: "ace", J: "jack", Q: "queen", K: "king" };
  return text.split(/((?:10|[A2-9JQK])[\u2660\u2665\u2666\u2663])/).filter(Boolean).flatMap((part) => {
    const found = /^(10|[A2-9JQK])([\u2660\u2665\u2666\u2663])$/.exec(part);
    if (!found) return [document.createTextNode(part)];
    const rank = ranks[/** @type {"A"} */ (found[1])] ?? found[1];
    return [h("b", { "aria-hidden": "true" }, `${part}\ufe0e`), h("span", { class: "unseen" }, `${rank} of ${names[/** @type {"\u2660"} */ (found[2])]}`)];
  });
}

/** The class names of a game's board. @param {string} game @param {number} columns */
function boardClass(game, columns) {
  return `race ${game in GAMES ? game : ""} ${columns === 4 ? "four" : ""}`.trim();
}

// The countdown

export class CountdownScreen {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.number = h("output", { "aria-live": "assertive" });
    this.heading = h("h1");
    this.says = h("p", { role: "status" });
    this.racers = h("p");
    this.seal = h("code");
    this.actions = h("p");
    this.clock = h("b");
    this.live = h("p");
    this.brand = h("p", { class: "brand" });
    this.node = h("div", { class: "plain" },
      h("header", { class: "top" }, this.brand, this.live, h("p", {}, this.clock)),
      h("main", { class: "bigcount" }, this.heading, this.number, this.racers, this.says, this.actions, h("p", { class: "dim" }, "Sealed before the start: ", this.seal)));
  }

  /** @param {State} state */
  show(state) {
    const { table } = state;
    const title = gameTitle(table.settings.game);
    const racing = (table.racers?.length ? table.racers : table.seats.filter((/** @type {any} */ seat) => seat.ready).map((/** @type {any} */ seat) => seat.player));
    const names = racing.map((/** @type {string} */ player) => (player === state.player ? "You" : nameOf(state, player)));
    write(this.brand, title);
    write(this.heading, names.length > 1 ? `${title}, one deal for ${names.length === 2 ? "both" : `all ${names.length}`}` : title);
    write(this.racers, names.join(", "));
    write(this.seal, (table.commitment.slice(0, 12).match(/.{4}/g) ?? []).join(" "));
    write(this.clock, table.settings.cap ? `${table.settings.cap}:00` : "no limit");
    write(this.live, state.link === "connected" ? "\u25cf live" : "\u25cb waiting");
    this.live.className = state.link === "connected" ? "gain" : "loss";
    const seat = ownSeat(state);
    write(this.says, this.#words(state, seat));
    if (seat && takesReady(table)) fill(this.actions, seat.ready ? button("Not ready", () => this.app.ready(false)) : button("Ready", () => this.app.ready(true), "main"));
    else fill(this.actions);
    document.title = `${title} \u00b7 Saratoga`;
    this.tick();
  }

  /** @param {State} state @param {any} seat */
  #words(state, seat) {
    const isCall = takesReady(state.table);
    if (!seat) return "You are watching this race. It shows the standings, not the boards.";
    if (isCall && !seat.ready) return "The host has started the race. Press Ready now to be in it.";
    if (isCall || state.table.racers.includes(state.player)) return "Get ready: all racers get the same deal at the same moment.";
    return "You weren't ready, so this race started without you.";
  }

  tick() {
    const { untilStart } = raceClock(this.app.state, this.app.now());
    write(this.number, untilStart ? String(Math.ceil(untilStart / 1000)) : "Go!");
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const seat = ownSeat(this.app.state);
    if (event.key.toLowerCase() !== "r" || !seat || !takesReady(this.app.state.table)) return false;
    this.app.ready(!seat.ready);
    return true;
  }

  close() {}
}

// The race

export class RaceScreen {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    const state = app.state;
    const own = /** @type {import("./session.js").OwnBoard} */ (state.own);
    this.game = state.table.settings.game;
    this.race = own.race;
    this.saidState = own.state === "racing" ? "racing" : "";
    this.saidTakenBack = "";
    this.saidAnnouncement = state.announcement;
    this.saidLast = "";
    this.saidIdle = 0;
    this.saidNews = state.feed.lines.length ? state.feed.lines[state.feed.lines.length - 1] : null;
    this.newsAt = -NEWS_EVERY;
    this.momentUntil = 0;
    this.spokenAt = 0;
    this.isLastMinute = true;
    /** @type {HTMLElement | null} */
    this.sheetBody = null;
    /** @type {HTMLDialogElement | null} */
    this.sheet = null;

    this.place = h("p", { class: "place" });
    this.net = h("p", { class: "net" });
    this.live = h("p", { class: "live" });
    this.clock = h("p", { class: "clock" });
    this.clockText = h("span");
    this.clock.append(h("span", { class: "unseen" }, "time left "), this.clockText);
    this.trackPlace = h("div", { class: "track-place" });
    this.menu = h("button", { type: "button", class: "menu", "aria-label": "Standings and menu", onclick: () => this.#openMenu() }, picture("menu"));
    const title = h("h1", { class: "title" }, gameTitle(this.game), " ", h("span", {}, state.table.code));
    this.rail = h("header", { class: "rail" }, title, this.place, this.net, this.trackPlace, this.live, this.clock, this.menu);

    this.status = h("p", { role: "status" });
    this.moment = h("p", { class: "moment", "aria-hidden": "true" });
    this.messages = h("div", { class: "say" }, this.status, this.moment);
    this.news = h("p", { class: "unseen", "aria-live": "polite" });
    this.board = new Board(this.game, own, {
      play: (move) => app.play(move),
      why: (move, about) => app.why(move).then((sentence) => sentence && this.#say(about + (about ? sentence[0].toLowerCase() + sentence.slice(1) : sentence))),
      say: (text) => this.#say(text),
      leave: () => this.menu.focus(),
      isConnected: () => app.state.link === "connected",
    });
    this.keys = h("p", { class: "keys", "aria-hidden": "true" }, ...this.#keyCaps());
    this.main = h("main", { class: "board" }, this.board.found, this.board.cols, this.board.hand, this.messages, this.keys);
    this.side = h("aside", { class: "side", "aria-label": "The race" });
    this.node = h("div", { class: boardClass(this.game, own.view.columns.length) }, this.rail, this.main, this.side, this.news);
    this.node.style.setProperty("--columns", String(own.view.columns.length));
    document.title = `${gameTitle(this.game)} \u00b7 ${state.table.code} \u00b7 Saratoga`;
    this.#say(app.takeOpening() || (own.count ? "Your board, as you left it." : "Go! Tap a pile, then its place."));
    this.showLook();
  }

  /** Called when the screen stands in the document. */
  shown() {
    this.board.focus("stock", false);
  }

  /** @param {string} text */
  say(text) {
    this.#say(text);
  }

  showLook() {
    const suits = look().suits[this.game] ?? (wantsFourColours(this.game) ? 4 : 2);
    this.node.dataset.suits = String(suits);
  }

  #keyCaps() {
    const columns = this.board.own.view.columns.length;
    const caps = [[["1", "1234567890-="[columns - 1]], "column"], ...(this.board.buttons.has("w") ? [[["w"], "waste"]] : []),
      ...(this.board.buttons.has("r") ? [[["r"], "reserve"]] : []), [["space"], "draw"], [["f"], "bank"],
      ...(this.board.own.view.down.length ? [[["g"], "bank down"]] : []), [["tab"], "next move"], [["esc"], "drop"], [["?"], "rules"]];
    return caps.map(([keys, word]) => h("span", {}, ...[...keys].flatMap((key, index) => [index ? "\u2026" : null, h("kbd", {}, key)]), ` ${word}`));
  }

  /** @param {string} text */
  #say(text) {
    this.spokenAt = performance.now();
    this.momentUntil = 0;
    write(this.moment, "");
    if (this.status.dataset.text === text) return;
    this.status.dataset.text = text;
    fill(this.status, ...spoken(text));
  }

  /** @param {State} state */
  show(state) {
    const own = state.own;
    if (!own) return;
    this.board.show(own);
    this.#showFigures(state, own);
    this.#report(state, own);
    this.tick();
  }

  /** @param {State} state @param {import("./session.js").OwnBoard} own */
  #showFigures(state, own) {
    const row = ownRow(state);
    const all = rows(state);
    if (row) fill(this.place, h("b", {}, ordinal(row.place)), " ", h("span", { class: "dim" }, `of ${all.length}`));
    const net = dollars(own.net);
    if (this.net.textContent !== net) {
      write(this.net, net);
      this.net.className = `net ${tone(own.net)} tick`;
      this.net.addEventListener("animationend", () => this.net.classList.remove("tick"), { once: true });
    }
    fill(this.trackPlace, track(state));
    this.#showSide(state, own);
  }

  /** @param {State} state @param {import("./session.js").OwnBoard} own */
  #showSide(state, own) {
    const row = ownRow(state);
    const even = evenAt(own);
    const past = own.banked >= even ? `${own.banked - even} past even` : `${even - own.banked} to even`;
    const meter = h("div", { class: "meter" },
      h("p", { class: `big ${tone(own.net)}` }, dollars(own.net)),
      h("p", {}, row ? h("b", {}, ordinal(row.place)) : null, ` of ${rows(state).length}`, h("br"), h("span", { class: "dim" }, gap(state))),
      track(state),
      h("p", { class: "dim" }, `${own.banked} \u00d7 $5 \u2212 $${priceOf(own)} \u00b7 ${past}`));
    const at = raceClock(state, this.app.now()).elapsed;
    const act = own.state === "racing" ? button(`Cash out ${dollars(own.net)}`, () => this.askToCashOut()) : button("Watch the race", () => this.app.watchRace(true));
    fill(this.side, meter, standingsTable(state), h("h2", {}, "Banked over time"), climbChart(state, at), h("h2", {}, "News"), newsList(state, 5), act);
    if (this.sheetBody) fill(this.sheetBody, standingsTable(state), climbChart(state, at, 300, 104));
  }

  /** Say what the player's own taps did not cause. @param {State} state @param {import("./session.js").OwnBoard} own */
  #report(state, own) {
    if (own.takenBack && own.takenBack !== this.saidTakenBack) this.#say(own.takenBack);
    this.saidTakenBack = own.takenBack;
    if (state.announcement && state.announcement !== this.saidAnnouncement) this.#say(state.announcement);
    this.saidAnnouncement = state.announcement;
    if (own.state !== this.saidState) {
      this.saidState = own.state;
      if (own.state !== "racing") this.#ended(state, own);
    }
    if (state.table.last_racer && state.table.last_racer !== this.saidLast) this.#say(lastBoard(state, this.app.now()));
    this.saidLast = state.table.last_racer ?? "";
    this.#tellNews(state);
  }

  /** @param {State} state @param {import("./session.js").OwnBoard} own */
  #ended(state, own) {
    const [heading, words] = ENDINGS[own.state] ?? ["Your board is over", "{banked} banked."];
    const sentence = words.replace("{banked}", String(own.banked));
    const others = rows(state).filter((row) => row.state === "racing" && row.player !== state.player);
    const racing = !others.length || state.outcome ? "" : others.length === 1 ? `${shownName(others[0])} is still racing.` : `${others.length} are still racing.`;
    this.#say(`${heading}: ${own.banked} banked, ${dollars(own.net)}.`);
    this.sheet?.close();
    if (state.outcome) return;
    this.sheet = openSheet({ title: heading }, h("p", {}, h("b", { class: tone(own.net) }, dollars(own.net)), ` \u00b7 ${sentence} ${racing}`),
      h("div", { class: "row" }, button("See my board", () => this.sheet?.close()), button("Watch the race", () => this.app.watchRace(true), "main")));
  }

  /** Read the most important new line aloud, at most one in three seconds; show the moments in the message row. @param {State} state */
  #tellNews(state) {
    const lines = state.feed.lines;
    const now = performance.now();
    const fresh = lines.slice(this.saidNews ? lines.lastIndexOf(this.saidNews) + 1 : 0);
    if (!fresh.length || now - this.newsAt < NEWS_EVERY) return;
    const line = ["won", "even", "lead", "ending", "pass", "people", "milestone", "link"].map((kind) => fresh.find((/** @type {any} */ each) => each.tone === kind)).find(Boolean);
    this.saidNews = lines[lines.length - 1];
    this.newsAt = now;
    if (!line) return;
    write(this.news, `${capitalised(line.text)}.`);
    if (["won", "even", "lead"].includes(line.tone)) this.#showMoment(`${capitalised(line.text)}.`);
  }

  /** @param {string} text */
  #showMoment(text) {
    if (performance.now() - this.spokenAt < NEWS_EVERY || this.board.picked) return;
    write(this.moment, text);
    this.momentUntil = performance.now() + MOMENT_SHOWN;
  }

  /** Show what changes with time; called four times a second. */
  tick() {
    const { state, connection } = this.app;
    const { left, elapsed } = raceClock(state, this.app.now());
    write(this.clockText, clockText(left ?? elapsed));
    this.clock.classList.toggle("loss", left !== null && left < LATE);
    const isRunning = state.table.phase === "running";
    if (isRunning && left !== null && left <= LAST_MINUTE && !this.isLastMinute && left > LAST_MINUTE - 5_000) {
      write(this.news, "The last minute.");
      this.#showMoment("The last minute.");
    }
    this.isLastMinute = left !== null && left <= LAST_MINUTE;
    const silence = connection.link === "connected" ? this.app.waited() : connection.silence;
    const isAway = silence > PATIENCE;
    this.node.classList.toggle("away", isAway);
    write(this.live, state.alarms.length ? "ALARM" : isAway ? "\u25cb waiting" : "\u25cf live");
    this.live.classList.toggle("alarm", state.alarms.length > 0);
    const warned = this.#warned(state);
    if (isAway) this.#say(`No answer, ${Math.round(silence / 1000)} s. Trying; all is kept.`);
    else if (warned) this.#say(`No sign of you for a while. Your board ends in ${warned} s; tap or press any key to go on.`);
    else if (this.saidIdle) this.#say("");
    else if (this.status.dataset.text?.startsWith("No answer, ")) this.#say("Connected again; nothing is lost.");
    this.saidIdle = isAway ? 0 : warned;
    if (this.momentUntil && performance.now() > this.momentUntil) write(this.moment, "");
    this.#tellNews(state);
  }

  /** The seconds left that the idle player is warned of; 0 without a warning. @param {State} state */
  #warned(state) {
    const mayEnd = state.own?.state === "racing" && state.table.phase === "running" && state.table.seats.length > 1;
    const rest = (IDLE - this.app.idle()) / 1000;
    return mayEnd ? (WARNED_AT.find((seconds) => rest <= seconds) ?? 0) : 0;
  }

  // Sheets

  askToCashOut() {
    const state = this.app.state;
    const own = state.own;
    if (!own || own.state !== "racing") return;
    const row = ownRow(state);
    const behind = rows(state).filter((each) => each.state === "racing" && row && each.place > row.place).length;
    const chase = behind ? ` ${behind === 1 ? "One" : behind} behind you ${behind === 1 ? "is" : "are"} still racing and can pass you.` : "";
    this.sheet?.close();
    const cashOut = () => {
      sheet.close();
      this.#say("Cashing out.");
      this.app.cashOut();
    };
    const sheet = openSheet({ title: `Cash out with ${dollars(own.net)}?`, keys: { y: cashOut, n: () => sheet.close() } },
      h("p", {}, "You end with ", h("b", {}, `${own.banked} banked`), row ? `, ${ordinal(row.place)} now.` : ".", chase, " This cannot be taken back."),
      h("div", { class: "row" }, button("Keep playing", () => sheet.close(), "main"), button(`Cash out ${dollars(own.net)}`, cashOut)));
    this.sheet = sheet;
  }

  /** Look for cards: what is typed lights up. */
  #openFinder() {
    const found = h("span", { role: "status" });
    const input = h("input", { "aria-label": "Find cards by rank, suit or both", placeholder: "9, h, 10d, qs", autocomplete: "off", oninput: () => {
      const number = this.board.find(input.value);
      write(found, input.value ? counted(number) : "");
    } });
    const finder = h("form", { class: "finder", onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      close();
    }, onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Escape" && close() }, input, found);
    const close = () => {
      this.board.find("");
      finder.remove();
      this.board.focus();
    };
    this.messages.append(finder);
    input.focus();
  }

  #openMenu() {
    const state = this.app.state;
    const { left, elapsed } = raceClock(state, this.app.now());
    this.sheetBody = h("div", { class: "race-figures" });
    const isRacing = state.own?.state === "racing";
    const sheet = openSheet(
      { title: `${gameTitle(this.game)} \u00b7 ${clockText(left ?? elapsed)}${left === null ? "" : " left"}`, class: "both", onclose: () => (this.sheetBody = null) },
      this.sheetBody,
      h("div", { class: "row" },
        button("Look, rules", () => {
          sheet.close();
          this.app.openLook();
        }),
        isRacing ? button(`Cash out ${dollars(state.own?.net ?? 0)}`, () => {
          sheet.close();
          this.askToCashOut();
        }) : button("Leave", () => this.app.askToLeave()),
        button("Back", () => sheet.close(), "main")));
    this.sheet = sheet;
    if (state.own) this.#showSide(state, state.own);
  }

  /** The host ends the last board, when that is allowed. */
  #endRace() {
    const words = lastBoard(this.app.state, this.app.now());
    if (!words || this.app.state.table.host !== this.app.state.player || this.app.state.own?.state === "racing") return this.#say(words || "The race goes on.");
    this.app.endRace();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "F6" || (event.key === "Escape" && event.shiftKey)) {
      if (this.main.contains(document.activeElement)) this.menu.focus();
      else this.board.focus();
      return true;
    }
    const active = document.activeElement;
    const isOnBoard = active === document.body || this.main.contains(active);
    if (!isOnBoard && ["Tab", "Enter", " "].includes(event.key)) return false;
    if (event.ctrlKey || event.altKey || event.metaKey) return false;
    switch (event.key.toLowerCase()) {
      case "x":
        return this.askToCashOut(), true;
      case "?":
        return this.app.openLook(true), true;
      case "/":
        return this.#openFinder(), true;
      case "e":
        return this.#endRace(), true;
      case "c":
        return this.app.nextSuits(this.game), true;
      case "t":
        return this.#say(`Colours: ${this.app.nextTheme()}.`), true;
      case "q":
        return this.app.askToLeave(), true;
      case "p":
        return this.#openMenu(), true;
    }
    if (event.key === "Tab" && this.board.own.state !== "racing") return false;
    return this.board.key(event);
  }

  close() {
    this.board.drag.close();
    this.sheet?.close();
  }
}

/** Whose board is the last one racing, and when the host may end it. @param {State} state @param {number} now */
export function lastBoard(state, now) {
  const { last_racer, end_from, host } = state.table;
  if (state.table.phase !== "running" || !last_racer) return "";
  const isOwn = last_racer === state.player;
  const isHost = host === state.player;
  if (isOwn && isHost) return "Only you are still racing.";
  const wait = Math.max(0, Math.ceil(((end_from ?? 0) - now) / 1000));
  return `Only ${isOwn ? "you are" : `${nameOf(state, last_racer)} is`} still racing; ${isHost ? "you" : nameOf(state, host)} can end the race ${wait ? `in ${wait} s` : "now"}.`;
}

// Watching

export class WatchScreen {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.about = h("p", { class: "dim" });
    this.heading = h("h1", { id: "left" });
    this.lanes = h("ol", { class: "lanes" });
    this.even = h("p", { class: "dim" });
    this.chart = h("div", { class: "box" });
    this.news = h("div");
    this.announced = h("p", { class: "unseen", "aria-live": "polite" });
    this.actions = h("div", { class: "actions" });
    this.node = h("div", { class: "plain" }, pageHead(),
      h("main", { class: "page split" },
        h("div", { class: "box", role: "region", "aria-labelledby": "left" }, this.about, this.heading, this.lanes, this.even),
        h("div", { class: "page" }, this.chart, h("div", { class: "box" }, h("h2", {}, "News"), this.news, this.actions)), this.announced));
    this.saidNews = null;
    this.newsAt = 0;
  }

  /** @param {State} state */
  show(state) {
    const { table } = state;
    const { even, top } = scaleOf(state);
    fill(this.about, `${gameTitle(table.settings.game)} \u00b7 ${table.code} \u00b7 `, h("span", { class: state.link === "connected" ? "gain" : "loss" }, state.link === "connected" ? "\u25cf live" : "\u25cb waiting"));
    fill(this.lanes, ...rows(state).map((row) => h("li", {},
      h("b", { class: "n1" }, `${row.place}. `, ...(row.player === state.player ? ["You"] : nameNodes(row))),
      svg("svg", { "aria-hidden": "true" },
        svg("rect", { class: "way", y: 6, width: "100%", height: 12, rx: 6 }),
        svg("rect", { class: row.banked < even ? "owed" : "won", y: 6, width: percent(row.banked, top), height: 12, rx: 6 }),
        svg("line", { class: "even", x1: percent(even, top), x2: percent(even, top), y1: 0, y2: 24 }),
        svg("circle", { class: "horse", cx: percent(row.banked, top), cy: 12, r: 8 })),
      h("span", { class: "n" }, `${row.banked} \u00b7 `, h("b", { class: tone(row.net) }, dollars(row.net)), stateWord(state, row) ? ` \u00b7 ${stateWord(state, row)}` : ""))));
    write(this.even, `The post at ${even} is break-even. Boards open when the race is over: on one deal, their cards are everybody's secrets.`);
    fill(this.chart, h("h2", {}, "Banked over time"), climbChart(state, raceClock(state, this.app.now()).elapsed, 360, 170));
    fill(this.news, newsList(state, 8));
    this.#showActions(state);
    document.title = `Watch ${gameTitle(table.settings.game)} \u00b7 Saratoga`;
    this.tick();
  }

  /** @param {State} state */
  #showActions(state) {
    const buttons = [];
    const seat = ownSeat(state);
    if (state.own) buttons.push(button("See my board", () => this.app.watchRace(false)));
    else if (!seat) buttons.push(button("Sit in on the next race", () => this.app.sitIn(), "main"));
    else buttons.push(h("p", {}, "You have a seat for the next race."));
    if (state.table.last_racer && state.table.host === state.player && state.own?.state !== "racing")
      buttons.push(h("p", {}, lastBoard(state, this.app.now())), button("End the race", () => this.app.endRace()));
    const key = JSON.stringify(buttons.map((each) => each.textContent));
    if (this.actions.dataset.key === key) return;
    this.actions.dataset.key = key;
    fill(this.actions, ...buttons);
  }

  tick() {
    const { state } = this.app;
    const { left, elapsed } = raceClock(state, this.app.now());
    write(this.heading, left === null ? clockText(elapsed) : `${clockText(left)} left`);
    const line = state.feed.lines[state.feed.lines.length - 1] ?? null;
    if (line === this.saidNews || performance.now() - this.newsAt < NEWS_EVERY) return;
    this.saidNews = line;
    this.newsAt = performance.now();
    write(this.announced, line ? `${capitalised(line.text)}.` : "");
  }

  key() {
    return false;
  }

  close() {}
}
