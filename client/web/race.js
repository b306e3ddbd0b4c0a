/**
 * The screens of a race: the countdown, the player's board, and watching.
 */

import { Board } from "./board.js";
import { GAMES, PRIZE, gameTitle, nameOfSign, suitColours } from "./cards.js";
import {
  button,
  capitalised,
  clockText,
  counted,
  dollars,
  fill,
  followed,
  h,
  nameNodes,
  openQuestion,
  openSheet,
  ordinal,
  pageHead,
  picture,
  refill,
  shownName,
  svg,
  tone,
  unbroken,
  write,
} from "./page.js";
import {
  evenAt,
  evenWord,
  gap,
  isRacer,
  nameOf,
  ownRow,
  ownSeat,
  priceOf,
  raceClock,
  rows,
  seatAt,
  stateWords,
  takesReady,
  toEven,
  turnedUp,
  whyNoSeat,
} from "./session.js";

/** The clock warns during this many milliseconds before the time limit. */
const LATE = 30_000;
/** Milliseconds without an answer after which the board says so. */
const PATIENCE = 2_000;
/** The least milliseconds between two lines of news read aloud, and for which a moment is shown. */
const NEWS_EVERY = 3_000;
const MOMENT_SHOWN = 6_000;
const LAST_MINUTE = 60_000;
/** The seconds for which the host waits before ending the last board; the server adds a moment for clocks that differ. */
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
  ["tab, shift+tab", "choose a legal move; enter plays it"],
  ["f6, or shift+esc", "leave the board for the rest of the page, or return to it"],
  ["arrows", "go to the pile beside; enter taps it"],
  ["+, -", "carry more or fewer cards together"],
  ["esc", "drop the picked cards"],
  ["s", "spell out all cards of the pile with the focus"],
  ["o", "quick: a pile with only one legal move plays it at once"],
  ["/", "find cards by rank, suit or both"],
  ["x", "cash out; asks first"],
  ["e", "for the host, a minute after all boards but one have ended: end the race; asks first"],
  ["p", "standings and menu"],
  ["c, t", "colours of the suits, colours of the page"],
  ["q", "leave the table; asks first"],
];

/**
 * @typedef {import("./session.js").State} State
 * @typedef {import("./session.js").Row} Row
 * @typedef {import("./main.js").App} App
 */

// The figures of a race

/** The scale of the bars: the next ten above the leader, and at least twice the break-even count, with the word for that. @param {State} state */
function scaleOf(state) {
  const all = rows(state);
  const [even, word] = all.length ? [evenAt(all[0]), evenWord(all[0])] : [10, "even"];
  const most = Math.max(0, ...all.map((row) => row.banked), state.own?.banked ?? 0);
  return { even, word, top: Math.max(2 * even, (Math.floor(most / 10) + 1) * 10) };
}

/** @param {number} part @param {number} whole */
function percent(part, whole) {
  return `${(Math.min(1, part / whole) * 100).toFixed(2)}%`;
}

/** What the player sees of the own board before the standings tell it. @param {State} state */
function ownMoney(state) {
  return state.own ?? ownRow(state);
}

/** The own place among the racers, as soon as it tells one from another. @param {State} state */
function placeNodes(state) {
  const all = rows(state);
  const row = ownRow(state);
  if (!row || all.length < 2) return [];
  if (all.every(({ place }) => place === row.place))
    return [h("span", { class: "dim" }, "all level")];
  return [h("b", {}, ordinal(row.place)), " ", h("span", { class: "dim" }, `of ${all.length}`)];
}

/** The track: the money meter and everybody's standing in one bar. @param {State} state */
export function track(state) {
  const { even, word, top } = scaleOf(state);
  const own = ownMoney(state);
  const rivals = rows(state).filter((row) => row.player !== state.player);
  const others = rivals.map((row) => `${shownName(row)} ${row.banked}`).join(", ");
  const label = `${own ? `You have ${own.banked}, ` : ""}${word} at ${even}${others ? `; ${others}` : ""}`;
  // the number of the post stands on its left
  const taken = [even - top / 32, even];
  const dots = rivals.flatMap((row) => {
    const dot = svg("circle", { class: "dot", cx: percent(row.banked, top), cy: 19, r: 3 });
    if (taken.some((at) => Math.abs(at - row.banked) < top / 24)) return [dot];
    taken.push(row.banked);
    return [
      dot,
      svg("text", { x: percent(row.banked, top), y: 10 }, [...row.name][0]?.toUpperCase() ?? ""),
    ];
  });
  return svg(
    "svg",
    { class: "track", role: "img", "aria-label": label },
    svg("rect", { class: "way", x: 0, y: 14, width: "100%", height: 10, rx: 5 }),
    own &&
      svg("rect", {
        class: own.banked < even ? "owed" : "won",
        x: 0,
        y: 14,
        width: percent(own.banked, top),
        height: 10,
        rx: 5,
      }),
    svg("line", { class: "even", x1: percent(even, top), x2: percent(even, top), y1: 3, y2: 26 }),
    svg("text", { x: percent(even, top), y: 9, dx: -7 }, even),
    ...dots,
    own && svg("circle", { class: "you", cx: percent(own.banked, top), cy: 19, r: 7 }),
  );
}

/** A racer's short state in the table. @param {State} state @param {Row} row */
function stateWord(state, row) {
  const away = seatAt(state.table, row.player)?.connected === false;
  return row.state === "racing" ? (away ? "away" : "") : stateWords(row.state);
}

/** @param {State} state */
function standingsTable(state) {
  const { even, top } = scaleOf(state);
  const body = rows(state).map((row) => {
    const isMe = row.player === state.player;
    const word = stateWord(state, row);
    const bar = svg(
      "svg",
      { class: "track", "aria-hidden": "true" },
      svg("rect", { class: "way", width: "100%", height: 8, rx: 4 }),
      svg("rect", {
        class: row.banked < even ? "owed" : "won",
        width: percent(row.banked, top),
        height: 8,
        rx: 4,
      }),
      svg("line", {
        class: "even",
        x1: percent(even, top),
        x2: percent(even, top),
        y1: -2,
        y2: 10,
      }),
    );
    return h(
      "tr",
      { class: isMe ? "me" : row.state === "racing" ? "" : "out" },
      h("td", {}, row.place),
      h(
        "td",
        {},
        ...(isMe ? ["You"] : nameNodes(row)),
        word ? h("small", {}, ` ${word}`) : null,
        bar,
      ),
      h("td", {}, row.banked),
      h("td", { class: tone(row.net) }, dollars(row.net)),
    );
  });
  return h(
    "table",
    { class: "standings" },
    h("caption", { class: "unseen" }, "Standings"),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col" }, "#"),
        h("th", { scope: "col", class: "wide-name" }, "racer"),
        h("th", { scope: "col" }, "banked"),
        h("th", { scope: "col" }, "net"),
      ),
    ),
    h("tbody", {}, ...body),
  );
}

const LINES = ["a", "b", "c", "e"];
/** The height of a label at the end of a line. */
const LABEL = 12;

/** Everybody's banked cards over the time. @param {State} state @param {number} at milliseconds since the start @param {number} [width] @param {number} [height] */
export function climbChart(state, at, width = 300, height = 120) {
  const { even, top } = scaleOf(state);
  const [left, right, ceiling, floor] = [24, width - 64, 12, height - 16];
  const x = (/** @type {number} */ time) => left + ((right - left) * time) / Math.max(at, 1000);
  const y = (/** @type {number} */ banked) => floor - ((floor - ceiling) * banked) / top;
  const all = rows(state);
  const drawn = all.filter((row, index) => index < 6 || row.player === state.player);
  let label = -Infinity;
  const lines = drawn.flatMap((row, index) => {
    const isMe = row.player === state.player;
    const points = state.history[row.player] ?? [];
    const path = points
      .map((point, step) =>
        step
          ? `H${x(point.at).toFixed(0)}V${y(point.banked).toFixed(0)}`
          : `M${x(Math.min(point.at, at)).toFixed(0)} ${y(point.banked).toFixed(0)}`,
      )
      .join("");
    // each label below the one before, with room for those that follow
    label = Math.min(
      Math.max(label + LABEL, y(row.banked) + 4),
      floor + 8 - LABEL * (drawn.length - 1 - index),
    );
    const name = isMe ? "You" : followed([...row.name].slice(0, 7).join(""));
    const text = svg(
      "text",
      { class: isMe ? "mine-t" : "", x: right + 5, y: label.toFixed(0) },
      `${name} ${row.banked}`,
    );
    return [
      path
        ? svg("path", {
            class: isMe ? "mine" : LINES[index % LINES.length],
            d: `${path}H${x(at).toFixed(0)}`,
          })
        : null,
      text,
    ];
  });
  return svg(
    "svg",
    {
      class: "chart",
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `Banked over time: ${all.map((row) => `${row.player === state.player ? "You" : shownName(row)} ${row.banked}`).join(", ")}`,
    },
    svg("path", { class: "axis", d: `M${left} ${ceiling}V${floor}H${right}` }),
    svg("path", { class: "evenline", d: `M${left} ${y(even).toFixed(0)}H${right}` }),
    svg("text", { x: left - 4, y: (y(even) + 4).toFixed(0), "text-anchor": "end" }, even),
    svg("text", { x: left - 4, y: ceiling + 4, "text-anchor": "end" }, top),
    svg("text", { x: left, y: height - 3 }, "0:00"),
    svg("text", { x: right, y: height - 3, "text-anchor": "end" }, clockText(at)),
    ...lines,
  );
}

/** The newest lines, newest first. @param {State} state @param {number} most */
function newsList(state, most) {
  const lines = state.feed.lines.slice(-most).reverse();
  return h(
    "ol",
    { class: "news" },
    ...lines.map((/** @type {any} */ line) =>
      h("li", {}, h("time", {}, clockText(line.at)), h("span", {}, ...unbroken(line.text))),
    ),
  );
}

/** A sentence with cards: the signs for the eye, the names for the ear. @param {string} text @returns {Node[]} */
function spoken(text) {
  // every second part is a card
  return text.split(/((?:10|[A2-9JQK])[\u2660\u2665\u2666\u2663])/).flatMap(
    /** @returns {Node[]} */ (part, at) => {
      if (at % 2 === 0) return [document.createTextNode(part)];
      return [
        h("b", { "aria-hidden": "true" }, `${part}\ufe0e`),
        h("span", { class: "unseen" }, nameOfSign(part)),
      ];
    },
  );
}

/** The class names of a game's board. @param {string} game */
function boardClass(game) {
  return `race ${game in GAMES ? game : ""}`.trim();
}

// The countdown

export class CountdownScreen {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    // read aloud each second, the numbers would drown the sentence that says them once
    this.number = h("p", { class: "number", "aria-hidden": "true" });
    this.heading = h("h1", { tabindex: -1 });
    this.says = h("p", { role: "status" });
    this.racers = h("p");
    this.seal = h("code");
    this.actions = h("p");
    this.starts = h("p", { class: "unseen", role: "status" });
    this.clock = h("b");
    this.live = h("p");
    this.brand = h("p", { class: "brand" });
    this.node = h(
      "div",
      { class: "plain" },
      h("header", { class: "top" }, this.brand, this.live, h("p", {}, this.clock)),
      h(
        "main",
        { class: "bigcount" },
        this.heading,
        this.number,
        this.starts,
        this.racers,
        this.says,
        this.actions,
        h("p", { class: "dim" }, "Sealed before the start: ", this.seal),
      ),
    );
  }

  /** @param {State} state */
  show(state) {
    const { table } = state;
    const title = gameTitle(table.settings.game);
    const racing = table.racers?.length
      ? table.racers
      : table.seats.filter((/** @type {any} */ seat) => seat.ready);
    const names = racing.map(({ player }) =>
      player === state.player ? "You" : nameOf(state, player),
    );
    write(this.brand, title);
    write(
      this.heading,
      names.length > 1
        ? `${title}, one deal for ${names.length === 2 ? "both" : `all ${names.length}`}`
        : title,
    );
    write(this.racers, names.join(", "));
    write(this.seal, (table.commitment.slice(0, 12).match(/.{4}/g) ?? []).join(" "));
    write(this.clock, table.settings.cap ? `${table.settings.cap}:00` : "no limit");
    write(this.live, state.link === "connected" ? "\u25cf live" : "\u25cb waiting");
    this.live.className = state.link === "connected" ? "gain" : "loss";
    const seat = ownSeat(state);
    write(this.says, this.#words(state, seat));
    refill(
      this.actions,
      seat &&
        takesReady(table) &&
        h(
          "button",
          {
            type: "button",
            class: seat.ready ? "button" : "button main",
            "data-key": "ready",
            onclick: () => this.app.ready(!seat.ready),
          },
          seat.ready ? "Not ready" : "Ready",
        ),
    );
    document.title = `${title} \u00b7 Saratoga`;
    this.tick();
  }

  /** @param {State} state @param {any} seat */
  #words(state, seat) {
    const isCall = takesReady(state.table);
    if (!seat) return "You are watching this race. It shows the standings, not the boards.";
    if (isCall && !seat.ready) return "The host has started the race. Press Ready now to be in it.";
    if (isCall || isRacer(state.table, state.player))
      return "Get ready: all racers get the same deal at the same moment.";
    return "You weren't ready, so this race started without you.";
  }

  tick() {
    const { untilStart } = raceClock(this.app.state, this.app.now());
    const seconds = Math.ceil(untilStart / 1000);
    write(this.number, seconds ? String(seconds) : "Go!");
    if (seconds && !this.starts.textContent)
      write(this.starts, `The race starts in ${counted(seconds, "second")}.`);
  }

  shown() {
    this.heading.focus();
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
    this.menu = h(
      "button",
      {
        type: "button",
        class: "menu",
        "aria-label": "Standings and menu",
        onclick: () => this.#openMenu(),
      },
      picture("menu"),
    );
    const title = h(
      "h1",
      { class: "title" },
      gameTitle(this.game),
      " ",
      h("span", {}, state.table.code),
    );
    this.rail = h(
      "header",
      { class: "rail" },
      title,
      this.place,
      this.net,
      this.trackPlace,
      this.live,
      this.clock,
      this.menu,
    );

    this.status = h("p", { role: "status" });
    this.moment = h("p", { class: "moment", "aria-hidden": "true" });
    this.messages = h("div", { class: "say" }, this.status, this.moment);
    this.news = h("p", { class: "unseen", "aria-live": "polite" });
    this.turned = h("p", { class: "unseen", "aria-live": "polite" });
    this.board = new Board(this.game, own, {
      play: (move) => app.play(move),
      why: (move, about) =>
        app
          .why(move)
          .then(
            (sentence) =>
              sentence &&
              this.#say(about + (about ? sentence[0].toLowerCase() + sentence.slice(1) : sentence)),
          ),
      say: (text) => this.#say(text),
      leave: () => this.menu.focus(),
      isConnected: () => app.state.link === "connected",
    });
    const { found, cols, hand } = this.board;
    this.main = h(
      "main",
      { class: "board" },
      h("div", { class: "felt" }, found, cols, hand, this.messages),
    );
    this.figures = h("div", { class: "race-figures" });
    // it stays while the figures change, so that a press or the focus on it is not lost
    this.foot = button("", () =>
      app.state.own?.state === "racing" ? this.askToCashOut() : app.watchRace(true),
    );
    this.side = h("aside", { class: "side", "aria-label": "The race" }, this.figures, this.foot);
    this.node = h(
      "div",
      { class: boardClass(this.game) },
      this.rail,
      this.main,
      this.side,
      this.turned,
      this.news,
    );
    this.node.style.setProperty("--columns", String(cols.children.length));
    this.node.style.setProperty("--up", String(found.children.length));
    document.title = `${gameTitle(this.game)} \u00b7 ${state.table.code} \u00b7 Saratoga`;
    this.#say(
      app.takeOpening() ||
        (own.count ? "Your board, as you left it." : "Go! Tap a pile, then its place."),
    );
    this.showLook();
  }

  /** Called when the screen stands in the document. */
  shown() {
    this.board.focus();
  }

  /** @param {string} text */
  say(text) {
    this.#say(text);
  }

  showLook() {
    this.node.dataset.suits = String(suitColours(this.game));
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
    const turned = turnedUp(this.board.own, own);
    this.board.show(own);
    if (turned) fill(this.turned, ...spoken(turned));
    this.#showFigures(state, own);
    this.#report(state, own);
    this.tick();
  }

  /** @param {State} state @param {import("./session.js").OwnBoard} own */
  #showFigures(state, own) {
    fill(this.place, ...placeNodes(state));
    const net = dollars(own.net);
    if (this.net.textContent !== net) {
      write(this.net, net);
      this.net.className = `net ${tone(own.net)} tick`;
      this.net.addEventListener("animationend", () => this.net.classList.remove("tick"), {
        once: true,
      });
    }
    fill(this.trackPlace, track(state));
    this.#showSide(state, own);
  }

  /** @param {State} state @param {import("./session.js").OwnBoard} own */
  #showSide(state, own) {
    const sum = `${own.banked} \u00d7 $${PRIZE} \u2212 $${priceOf(own)} \u00b7 ${toEven(own)}`;
    // the drawer shows what the side does
    for (const figures of [this.figures, this.sheetBody])
      if (figures)
        fill(
          figures,
          h(
            "div",
            { class: "meter" },
            h("p", { class: `big ${tone(own.net)}` }, dollars(own.net)),
            h("p", {}, ...placeNodes(state), h("br"), h("span", { class: "dim" }, gap(state))),
            track(state),
            h("p", { class: "dim" }, sum),
          ),
          standingsTable(state),
          h("h2", {}, "Banked over time"),
          climbChart(state, raceClock(state, this.app.now()).elapsed, 300, 112),
          h("h2", {}, "News"),
          newsList(state, 5),
        );
    write(this.foot, own.state === "racing" ? `Cash out ${dollars(own.net)}` : "Watch the race");
  }

  /** Say what the player's own taps did not cause. @param {State} state @param {import("./session.js").OwnBoard} own */
  #report(state, own) {
    if (own.takenBack && own.takenBack !== this.saidTakenBack) this.#say(own.takenBack);
    this.saidTakenBack = own.takenBack;
    if (own.state !== this.saidState) {
      this.saidState = own.state;
      if (own.state !== "racing") this.#ended(state, own);
    }
    if (state.table.last_racer && state.table.last_racer !== this.saidLast)
      this.#say(lastBoard(state, this.app.now()));
    this.saidLast = state.table.last_racer ?? "";
    this.#tellNews(state);
  }

  /** @param {State} state @param {import("./session.js").OwnBoard} own */
  #ended(state, own) {
    const [heading, words] = ENDINGS[own.state] ?? ["Your board is over", "{banked} banked."];
    const sentence = words.replace("{banked}", String(own.banked));
    const others = rows(state).filter(
      (row) => row.state === "racing" && row.player !== state.player,
    );
    const racing =
      !others.length || state.outcome
        ? ""
        : others.length === 1
          ? `${shownName(others[0])} is still racing.`
          : `${others.length} are still racing.`;
    this.#say(`${heading}: ${own.banked} banked, ${dollars(own.net)}.`);
    this.sheet?.close();
    if (state.outcome) return;
    this.sheet = openSheet(
      { title: heading },
      h(
        "p",
        {},
        h("b", { class: tone(own.net) }, dollars(own.net)),
        ` \u00b7 ${sentence} ${racing}`,
      ),
      h(
        "div",
        { class: "row" },
        button("See my board", () => this.sheet?.close()),
        button("Watch the race", () => this.app.watchRace(true), "main"),
      ),
    );
  }

  /** Read the most important new line aloud, at most one in three seconds; show the moments in the message row. @param {State} state */
  #tellNews(state) {
    const lines = state.feed.lines;
    const now = performance.now();
    const fresh = lines.slice(this.saidNews ? lines.lastIndexOf(this.saidNews) + 1 : 0);
    if (!fresh.length || now - this.newsAt < NEWS_EVERY) return;
    const line = ["won", "even", "lead", "ending", "pass", "people", "milestone", "link"]
      .map((kind) => fresh.find((/** @type {any} */ each) => each.tone === kind))
      .find(Boolean);
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
    if (
      isRunning &&
      left !== null &&
      left <= LAST_MINUTE &&
      !this.isLastMinute &&
      left > LAST_MINUTE - 5_000
    ) {
      write(this.news, "The last minute.");
      this.#showMoment("The last minute.");
    }
    this.isLastMinute = left !== null && left <= LAST_MINUTE;
    const silence = connection.link === "connected" ? this.app.waited() : connection.silence;
    const isAway = silence > PATIENCE;
    this.node.classList.toggle("away", isAway);
    write(this.live, this.app.alarms.length ? "ALARM" : isAway ? "\u25cb waiting" : "\u25cf live");
    this.live.classList.toggle("alarm", this.app.alarms.length > 0);
    const warned = this.app.idleLeft;
    this.status.classList.toggle("loss", warned > 0);
    if (isAway)
      this.#say(`No answer, ${Math.floor(silence / 5_000) * 5 || 2} s. Trying; all is kept.`); // not read aloud each second
    else if (warned)
      this.#say(
        `No sign of you for a while. Your board ends in ${warned} s; tap or press any key to go on.`,
      );
    else if (this.saidIdle) this.#say("");
    else if (this.status.dataset.text?.startsWith("No answer, "))
      this.#say("Connected again; nothing is lost.");
    this.saidIdle = isAway ? 0 : warned;
    if (this.momentUntil && performance.now() > this.momentUntil) write(this.moment, "");
    this.#tellNews(state);
  }

  // Sheets

  askToCashOut() {
    const state = this.app.state;
    const own = state.own;
    if (!own || own.state !== "racing") return;
    const row = ownRow(state);
    const behind = rows(state).filter(
      (each) => each.state === "racing" && row && each.place > row.place,
    ).length;
    const chase = behind
      ? ` ${behind === 1 ? "One" : behind} behind you ${behind === 1 ? "is" : "are"} still racing and can pass you.`
      : "";
    this.sheet?.close();
    const cashOut = () => {
      sheet.close();
      this.#say("Cashing out.");
      this.app.cashOut();
    };
    const sheet = openSheet(
      { title: `Cash out with ${dollars(own.net)}?`, keys: { y: cashOut, n: () => sheet.close() } },
      h(
        "p",
        {},
        "You end with ",
        h("b", {}, `${own.banked} banked`),
        row && rows(state).length > 1 ? `, ${ordinal(row.place)} now.` : ".",
        chase,
        " This cannot be taken back.",
      ),
      h(
        "div",
        { class: "row" },
        button("Keep playing", () => sheet.close(), "main"),
        button(`Cash out ${dollars(own.net)}`, cashOut),
      ),
    );
    this.sheet = sheet;
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
        write(found, input.value ? where : "");
      },
    });
    const finder = h(
      "form",
      {
        class: "finder",
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          close();
        },
        onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Escape" && close(),
      },
      input,
      found,
    );
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
      {
        title: `${gameTitle(this.game)} \u00b7 ${clockText(left ?? elapsed)}${left === null ? "" : " left"}`,
        class: "both",
        onclose: () => (this.sheetBody = null),
      },
      this.sheetBody,
      h(
        "div",
        { class: "row" },
        button("Look, rules", () => {
          sheet.close();
          this.app.openLook();
        }),
        isRacing
          ? button(`Cash out ${dollars(state.own?.net ?? 0)}`, () => {
              sheet.close();
              this.askToCashOut();
            })
          : button("Leave", () => this.app.askToLeave()),
        button("Back", () => sheet.close(), "main"),
      ),
    );
    this.sheet = sheet;
    if (state.own) this.#showSide(state, state.own);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    this.node.classList.add("keyed");
    if (event.key === "F6" || (event.key === "Escape" && event.shiftKey)) {
      if (this.main.contains(document.activeElement)) this.menu.focus();
      else this.board.focus();
      return true;
    }
    const active = document.activeElement;
    const isOnBoard = active === document.body || this.main.contains(active);
    if (!isOnBoard && ["Tab", "Enter", " "].includes(event.key)) return false;
    switch (event.key.toLowerCase()) {
      case "x":
        return (this.askToCashOut(), true);
      case "?":
        return (this.app.openLook(true), true);
      case "/":
        return (this.#openFinder(), true);
      case "e":
        return (askToEndRace(this.app), true);
      case "c":
        this.app.nextSuits(this.game);
        return (
          this.#say(`Suits in ${suitColours(this.game) === 4 ? "four" : "two"} colours.`),
          true
        );
      case "t":
        return (this.#say(`Colours: ${this.app.nextTheme()}.`), true);
      case "q":
        return (this.app.askToLeave(), true);
      case "p":
        return (this.#openMenu(), true);
    }
    // once the board has ended, Tab is the browser's
    return (event.key !== "Tab" || this.board.own.state === "racing") && this.board.key(event);
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
  const wait = Math.max(0, Math.min(LAST_BOARD, Math.ceil(((end_from ?? 0) - now) / 1000)));
  return `Only ${isOwn ? "you are" : `${nameOf(state, last_racer)} is`} still racing; ${isHost ? "you" : nameOf(state, host)} can end the race ${wait ? `in ${wait} s` : "now"}.`;
}

/** Let the host end the last board that races, after a question; say when that is allowed. @param {App} app */
function askToEndRace(app) {
  const { state } = app;
  const { last_racer, end_from, host } = state.table;
  const words = lastBoard(state, app.now());
  const isAllowed =
    words && host === state.player && last_racer !== host && (end_from ?? 0) <= app.now();
  if (!isAllowed)
    return app.notify(words || "The host can end a race when one other player is left.");
  const name = nameOf(state, last_racer ?? "");
  openQuestion(
    `End the race of ${name}?`,
    "Wait",
    "End the race",
    () => app.endRace(),
    h("p", {}, `${name} keeps the banked cards.`),
  );
}

// Watching

/** The button in the head of a page that leaves the table. @param {App} app */
export function leaveButton(app) {
  return h("button", { type: "button", class: "link", onclick: () => app.askToLeave() }, "Leave");
}

export class WatchScreen {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.about = h("p", { class: "dim" });
    this.heading = h("h1", { id: "left", tabindex: -1 });
    this.lanes = h("ol", { class: "lanes" });
    this.even = h("p", { class: "dim" });
    this.chart = h("div", { class: "box" });
    this.news = h("div");
    this.announced = h("p", { class: "unseen", "aria-live": "polite" });
    this.actions = h("div", { class: "actions" });
    this.node = h(
      "div",
      { class: "plain" },
      pageHead(leaveButton(app)),
      h(
        "main",
        { class: "page split" },
        h(
          "div",
          { class: "box", role: "region", "aria-labelledby": "left" },
          this.about,
          this.heading,
          this.lanes,
          this.even,
        ),
        h(
          "div",
          { class: "page" },
          this.chart,
          h("div", { class: "box" }, h("h2", {}, "News"), this.news, this.actions),
        ),
        this.announced,
      ),
    );
    /** @type {import("./session.js").NewsLine | null} */
    this.saidNews = null;
    this.newsAt = 0;
  }

  shown() {
    this.heading.focus();
  }

  /** @param {State} state */
  show(state) {
    const { table } = state;
    const { even, word, top } = scaleOf(state);
    fill(
      this.about,
      `${gameTitle(table.settings.game)} \u00b7 ${table.code} \u00b7 `,
      h(
        "span",
        { class: state.link === "connected" ? "gain" : "loss" },
        state.link === "connected" ? "\u25cf live" : "\u25cb waiting",
      ),
    );
    fill(
      this.lanes,
      ...rows(state).map((row) =>
        h(
          "li",
          {},
          h(
            "b",
            { class: "n1" },
            `${row.place}. `,
            ...(row.player === state.player ? ["You"] : nameNodes(row)),
          ),
          svg(
            "svg",
            { "aria-hidden": "true" },
            svg("rect", { class: "way", y: 6, width: "100%", height: 12, rx: 6 }),
            svg("rect", {
              class: row.banked < even ? "owed" : "won",
              y: 6,
              width: percent(row.banked, top),
              height: 12,
              rx: 6,
            }),
            svg("line", {
              class: "even",
              x1: percent(even, top),
              x2: percent(even, top),
              y1: 0,
              y2: 24,
            }),
            svg("circle", { class: "horse", cx: percent(row.banked, top), cy: 12, r: 8 }),
          ),
          h(
            "span",
            { class: "n" },
            `${row.banked} \u00b7 `,
            h("b", { class: tone(row.net) }, dollars(row.net)),
            stateWord(state, row) ? ` \u00b7 ${stateWord(state, row)}` : "",
          ),
        ),
      ),
    );
    write(
      this.even,
      `The post marks ${even} cards, where a racer is ${word}. Boards open when the race is over: on one deal, their cards are everybody's secrets.`,
    );
    fill(
      this.chart,
      h("h2", {}, "Banked over time"),
      climbChart(state, raceClock(state, this.app.now()).elapsed, 360, 170),
    );
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
    else if (!seat) {
      const reason = whyNoSeat(state.table);
      if (reason) buttons.push(h("p", {}, reason));
      buttons.push(button("Sit in on the next race", () => this.app.sitIn(), reason ? "" : "main"));
    } else buttons.push(h("p", {}, "You have a seat for the next race."));
    if (
      state.table.last_racer &&
      state.table.host === state.player &&
      state.own?.state !== "racing"
    )
      buttons.push(
        h("p", {}, lastBoard(state, this.app.now())),
        button("End the race", () => askToEndRace(this.app)),
      );
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

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key !== "e") return false;
    askToEndRace(this.app);
    return true;
  }

  close() {}
}
