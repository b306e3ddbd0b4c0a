/** The home: three ways to play, the games, and what this browser and the server remember. */

import { GAMES, PRIZE, drawPile, gamePicture, gameTitle, wholeView } from "./cards.js";
import { bests, claimTyped, lastRaces, nameField, youButton } from "./identity.js";
import { Today, openPath } from "./open_races.js";
import * as page from "./page.js";
import {
  Screen,
  button,
  counted,
  dollars,
  form,
  h,
  numbered,
  openSheet,
  pageHead,
} from "./page.js";

/** @typedef {import("./main.js").App} App */

const NO_CODE = "Type the table's code, for example mint-otter-42, or paste the invitation.";
const MOST_RACES = 5;

/** A table's code, perhaps as the end of a link. */
const LINK = new RegExp(
  `(?:(?:ws|http)(s?)://([^\\s/]+)\\S*?/)?(?<![a-z0-9-])(${page.CODE})(?![a-z0-9-])`,
);

/**
 * Return the table in a code, a link or a pasted invitation, and the page's address for it at another server;
 * the code is empty if the text names no table.
 * @param {string} text
 */
function destination(text) {
  const [, secure, host, code = ""] = LINK.exec(text.toLowerCase()) ?? [];
  const isElsewhere = host && host !== location.host;
  return { code, elsewhere: isElsewhere ? `http${secure}://${host}/${code}` : "" };
}

/**
 * A form for the code of a table, which leads there.
 * @param {Screen & {codeProblem: page.Child[]}} screen where it stands
 */
export function codeForm(screen) {
  const go = () => {
    const { code, elsewhere } = destination(screen.typed("code"));
    if (code && !elsewhere) return screen.app.go(`/${code}`);
    const link = h("a", { href: elsewhere }, elsewhere);
    screen.codeProblem = elsewhere ? ["That table is on another server: ", link] : [NO_CODE];
    screen.draw();
  };
  const input = {
    name: "code",
    "aria-label": "Code or link of the table",
    placeholder: "Got a code? mint-otter-42",
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    "aria-describedby": "code-problem",
  };
  return form(
    "code-form",
    go,
    h("input", input),
    h("button.button", "Join"),
    h("p.loss", { id: "code-problem", role: "alert" }, ...screen.codeProblem),
  );
}

/** Ask a player without a name for one, then go on. @param {App} app @param {string} title @param {() => unknown} action */
export function askName(app, title, action) {
  const field = nameField(app);
  const input = /** @type {HTMLInputElement} */ (field.querySelector("input"));
  const problem = h("p.loss", { role: "alert" });
  const send = async () => {
    try {
      await claimTyped(app, input.value.trim());
    } catch (error) {
      page.write(problem, /** @type {Error} */ (error).message);
      return input.focus();
    }
    sheet.close();
    await action();
  };
  const sheet = openSheet(
    { title },
    form(
      "actions",
      send,
      field,
      problem,
      h("p.dim", "That's all. No account, no e-mail."),
      h("button.button.main", title),
    ),
  );
}

/** Five cards, spread as a hand. */
export function cardSpread() {
  const cards = ["TC", "JD", "QS", "KH", "AS"].map(
    (card) => drawPile(wholeView({ columns: [card] }), "t1", "")[0],
  );
  return h("div.spread", { "aria-hidden": "true" }, ...cards);
}

// The home

export class HomeScreen extends Screen {
  isFollowing = false;
  /** @type {Wire.TableSummary[] | null} */
  tables = null;
  /** @type {page.Child[]} */
  codeProblem = [];
  today = new Today(
    this.app,
    () => this.draw(),
    (action) => this.#try(action),
  );

  /** @returns {string[]} */
  get games() {
    return this.app.connection.welcome?.games ?? Object.keys(GAMES);
  }

  show() {
    document.title = "Saratoga";
    this.draw();
    this.tick();
  }

  view() {
    return [
      pageHead(youButton(this.app)),
      h(
        "main.page",
        this.#hero(),
        h(
          "div.page.split",
          lastRaces(this.app.player).length ? this.#yours() : howItWorks(),
          this.#public(),
        ),
        h("h2", "The games"),
        h("div.tiles", ...this.games.map((game) => this.#tile(game))),
      ),
    ];
  }

  #hero() {
    const { app } = this;
    const { seat } = app;
    const { link } = app.connection;
    const away =
      link === "connected" || link === "connecting" ? "" : "The server is away; trying again.";
    const big = (/** @type {string} */ words, /** @type {string} */ more) => [
      words,
      h("small", more),
    ];
    const back = { href: `/${seat}`, "data-key": "back" };
    return h(
      "section.hero.door",
      { "aria-labelledby": "home" },
      cardSpread(),
      h(
        "div.actions",
        h("h1", { id: "home", tabindex: -1 }, "Race your friends at\u00a0solitaire."),
        h("p.lead", `Same cards, same second. $${PRIZE} for every card you bank.`),
        h("p", { role: "status" }, this.said || away),
        seat &&
          this.today.open?.mine !== "racing" &&
          h("a.button.main.big", back, ...big("Back to your table", seat)),
        ...this.today.view(),
        h(
          "div.row",
          button(
            big("Play now", "Klondike against two bots"),
            () => this.#try(() => app.playNow()),
            "big",
            "play",
          ),
          button(
            big("Race friends", "Open a table, send the link"),
            () => this.#open("klondike"),
            "big",
            "friends",
          ),
        ),
        codeForm(this),
        this.today.more(),
      ),
    );
  }

  /** What this browser remembers: the last races, with friends and table, and the bests. */
  #yours() {
    const { player } = this.app;
    const line = (/** @type {import("./identity.js").Raced} */ raced) => {
      const { race, game, place, racers, banked, net, others } = raced;
      const [code] = race.split("/");
      const path = page.IS_CODE.test(code) ? `/races/${race}` : openPath(race);
      const friends = others.length > 0 && [" with ", page.listed(others), " at "];
      return h(
        "li",
        h("a", { href: path }, gameTitle(game)),
        h(
          "span.grow.dim",
          racers > 1 && ` ${page.ordinal(place)} of ${racers}`,
          ...(friends || []),
        ),
        friends && h("a", { href: `/${code}` }, code),
        h("span", ` ${counted(banked)} `, h("b", { class: page.tone(net) }, dollars(net))),
      );
    };
    const best = Object.entries(bests(player)).map(
      ([game, { banked }]) => `${gameTitle(game)} ${banked}`,
    );
    return h(
      "div.box",
      h("h2", "Your last races and friends"),
      h("ol.lines", ...lastRaces(player).slice(0, MOST_RACES).map(line)),
      h("p.dim", best.length > 0 && `Your best: ${best.join(", ")}`),
    );
  }

  /** A game: opens a table. @param {string} game */
  #tile(game) {
    return h(
      "button.tile",
      { type: "button", "data-key": `tile ${game}`, onclick: () => this.#open(game) },
      gamePicture(game),
      h("b", gameTitle(game)),
      h("small.dim", GAMES[game]?.short[0]),
    );
  }

  #public() {
    const { tables } = this;
    const words = tables ? "None now. Race friends, or play now." : "Looking for tables\u2026";
    return h(
      "div.box",
      h("h2", "Public tables"),
      h("ol.lines.tables", ...(tables ?? []).map((table) => this.#table(table))),
      h("p.dim", !tables?.length && words),
    );
  }

  /** @param {Wire.TableSummary} table */
  #table({ code, game, host, seated, seats, cap, phase }) {
    const facts = [`${seated} of ${seats}`, cap ? `${cap} min` : "untimed"];
    if (phase !== "gathering") facts.push(phase);
    return h(
      "li",
      { "data-key": code },
      h("a", { href: `/${code}` }, `${gameTitle(game)} of ${page.followed(host)}`),
      " ",
      h("span.dim", facts.join(" \u00b7 ")),
    );
  }

  tick() {
    const { connection } = this.app;
    this.today.tick();
    if (connection.link !== "connected" || this.isFollowing) return;
    this.isFollowing = true;
    connection.request("list_tables", { follow: true }).then(
      (event) => this.hear(event),
      () => (this.isFollowing = false),
    );
  }

  /** @param {Wire.Event} event */
  hear(event) {
    if (event.type !== "tables" || this.isClosed) return;
    this.tables = event.tables ?? [];
    this.draw();
  }

  /** Open a table; a player without a name gives one first. @param {string} game */
  #open(game) {
    const { app } = this;
    const open = () => this.#try(() => app.openTable(game));
    if (app.connection.welcome?.name) open();
    else askName(app, "Open the table", open);
  }

  /** Do something, and say why it was refused. @param {() => Promise<unknown>} action */
  async #try(action) {
    this.say("");
    await action().catch((error) => this.say(error.message));
  }

  close() {
    super.close();
    // a question that does not follow ends the subscription
    if (this.isFollowing) this.app.connection.request("list_tables").catch(() => {});
  }
}

/** What a first visitor reads. */
function howItWorks() {
  const lines = [
    "Everybody at the table gets the same cards at the same moment.",
    `You buy the pack; the house pays $${PRIZE} for every card you bank.`,
    "Most cards when the clock stops wins. Then all boards open.",
  ];
  return h(
    "div.box",
    h("h2", "How it works"),
    numbered(lines),
    h("p.dim", "Friends who live in a terminal race at the same table."),
  );
}
