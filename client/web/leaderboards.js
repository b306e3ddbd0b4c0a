/** The leaderboards: one page at a time, followed live. The address holds what is shown, so it can be sent to others. */

import { GAMES, gameTitle } from "./cards.js";
import {
  againstRivals,
  clockText,
  counted,
  dollars,
  h,
  pageHead,
  refill,
  rivals,
  tone,
  write,
} from "./page.js";
import { youButton } from "./table.js";

/**
 * @typedef {import("./main.js").App} App
 * @typedef {import("./connection.js").Leaderboard} Leaderboard
 * @typedef {import("./connection.js").LeaderboardRow} LeaderboardRow
 * @typedef {{game: string, ranking: string, period: string, bots: boolean, around_me: boolean, limit: number}} Query
 */

const RANKINGS = { best: "Best result", bankroll: "Bankroll" };
const PERIODS = { day: "Today", week: "Week", month: "Month", all: "Ever" };
const WHEN = { day: "today", week: "this week", month: "this month", all: "of all time" };
const WHOSE = { "": "People", me: "Around me", bots: "Bots" };
const ROWS = 20;
const MOST_ROWS = 100;

/** What the address asks for. @returns {Query} */
function query() {
  const asked = new URLSearchParams(location.search);
  const known = (
    /** @type {string} */ name,
    /** @type {object} */ values,
    /** @type {string} */ otherwise,
  ) => {
    const value = asked.get(name) ?? "";
    return value in values ? value : otherwise;
  };
  return {
    game: location.pathname.split("/")[2],
    ranking: known("ranking", RANKINGS, "best"),
    period: known("period", PERIODS, "day"),
    bots: asked.get("rows") === "bots",
    around_me: asked.get("rows") === "me",
    limit: asked.get("limit") === String(MOST_ROWS) ? MOST_ROWS : ROWS,
  };
}

/** The address of another page. @param {Query} query @param {Partial<Query>} change */
function address(query, change) {
  const { game, ranking, period, bots, around_me, limit } = { ...query, ...change };
  const asked = new URLSearchParams();
  if (ranking !== "best") asked.set("ranking", ranking);
  if (period !== "day") asked.set("period", period);
  if (bots || around_me) asked.set("rows", bots ? "bots" : "me");
  if (limit !== ROWS) asked.set("limit", String(limit));
  return `/leaderboards/${game}?${asked}`.replace(/\?$/, "");
}

/** When a result was reached, with tenths of seconds; empty if no move raised the deal's count. @param {LeaderboardRow} row */
function after({ elapsed }) {
  return elapsed ? `${clockText(elapsed)}.${Math.floor((elapsed % 1000) / 100)}` : "";
}

/** @param {Leaderboard} page */
function summary({ total, key, bots, rows, me }) {
  const who = counted(total, bots ? "bot" : "player");
  const yours = me
    ? ` \u00b7 you are ${me.rank} of ${total}`
    : query().around_me
      ? " \u00b7 you have no ranked result here yet"
      : "";
  return `Live \u00b7 ${key === "all" ? "all time" : key} \u00b7 ${total > rows.length ? `${rows.length} of ${who}` : who}${yours}`;
}

export class LeaderboardsScreen {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.asked = "";
    /** @type {Leaderboard | null} */
    this.page = null;
    this.isClosed = false;
    this.heading = h("h1", { tabindex: -1 });
    this.chips = h("div", { class: "choices" });
    this.table = h("div", { class: "box" });
    this.more = h("p");
    this.status = h("p", { role: "status", class: "dim" });
    this.node = h(
      "div",
      { class: "plain" },
      pageHead(youButton(app)),
      h(
        "main",
        { class: "page" },
        this.heading,
        this.chips,
        this.table,
        this.more,
        this.status,
        h(
          "p",
          { class: "dim" },
          "Only ranked races count: a random deal, a time limit, and at least two people among the racers. Bots have leaderboards of their own.",
        ),
      ),
    );
  }

  shown() {
    this.heading.focus();
  }

  show() {
    const now = query();
    this.#showChips(now);
    const title = `${gameTitle(now.game)}: ${now.ranking === "best" ? "best results" : "most money"} ${WHEN[/** @type {"day"} */ (now.period)]}${now.bots ? ", bots" : ""}`;
    write(this.heading, title);
    document.title = `${title} \u00b7 Saratoga`;
    const { link } = this.app.connection;
    if (link === "connecting") write(this.status, "Connecting to the server\u2026");
    else if (link === "connected") this.#subscribe(now);
    else write(this.status, "Connection lost; trying again.");
  }

  /** @param {Query} now */
  #showChips(now) {
    const games = this.app.connection.welcome?.games ?? Object.keys(GAMES);
    const row = (/** @type {string} */ label, /** @type {[string, string, boolean][]} */ links) =>
      h(
        "nav",
        { class: "chips", "aria-label": label },
        ...links.map(([text, href, isCurrent]) =>
          h(
            "a",
            { href, "data-key": `${label} ${text}`, "aria-current": isCurrent ? "page" : null },
            text,
          ),
        ),
      );
    const rows = now.bots ? "bots" : now.around_me ? "me" : "";
    refill(
      this.chips,
      row(
        "Game",
        games.map((/** @type {string} */ game) => [
          gameTitle(game),
          address(now, { game }),
          game === now.game,
        ]),
      ),
      row(
        "Period",
        Object.entries(PERIODS).map(([period, text]) => [
          text,
          address(now, { period }),
          period === now.period,
        ]),
      ),
      row(
        "Ranking",
        Object.entries(RANKINGS).map(([ranking, text]) => [
          text,
          address(now, { ranking }),
          ranking === now.ranking,
        ]),
      ),
      row(
        "Rows",
        Object.entries(WHOSE).map(([which, text]) => [
          text,
          address(now, { bots: which === "bots", around_me: which === "me" }),
          which === rows,
        ]),
      ),
    );
  }

  /** @param {Query} now */
  async #subscribe(now) {
    const asked = address(now, {});
    if (asked === this.asked) return this.page && write(this.status, summary(this.page));
    this.asked = asked;
    write(this.status, "Loading\u2026");
    try {
      const page = await this.app.connection.request("get_leaderboard", { ...now, follow: true });
      if (asked === this.asked && !this.isClosed) this.#showPage(page);
    } catch (error) {
      if (asked === this.asked && !this.isClosed)
        write(this.status, error instanceof Error ? error.message : String(error));
    }
  }

  /** @param {import("./connection.js").ServerEvent} event */
  hear(event) {
    if (event.type === "leaderboard") this.#showPage(event);
  }

  /** @param {Leaderboard} page */
  #showPage(page) {
    const now = query();
    if (
      page.game !== now.game ||
      page.ranking !== now.ranking ||
      page.period !== now.period ||
      page.bots !== now.bots
    )
      return;
    this.page = page;
    const isBest = page.ranking === "best";
    const rows = page.rows.map((row) => this.#row(page, row));
    const { me } = page;
    const isOwnBelow = me && !page.rows.some((row) => row.player === me.player);
    const heads = isBest ? ["banked", "net"] : ["net", "races"];
    const head = (/** @type {string} */ text, name = "n") =>
      h("th", { scope: "col", class: name }, text);
    refill(
      this.table,
      rows.length || me
        ? h(
            "table",
            { class: "rows" },
            h("caption", { class: "unseen" }, this.heading.textContent),
            h(
              "thead",
              {},
              h(
                "tr",
                {},
                head("#"),
                head(page.bots ? "bot" : "player", "wide-name"),
                head(heads[0]),
                head(heads[1]),
                head("people", "n wide-only"),
                isBest ? head("after", "n wide-only") : null,
                head(isBest ? "race" : "last race"),
              ),
            ),
            h("tbody", {}, ...rows, isOwnBelow ? this.#row(page, me) : null),
          )
        : h("p", {}, "No results yet."),
    );
    write(this.status, summary(page));
    const hasMore = page.total > page.rows.length && now.limit < MOST_ROWS && !now.around_me;
    refill(
      this.more,
      hasMore && h("a", { class: "button", href: address(now, { limit: MOST_ROWS }) }, "Show more"),
    );
  }

  /** @param {Leaderboard} page @param {LeaderboardRow} row */
  #row(page, row) {
    const isBest = page.ranking === "best";
    const isMe = row.player === this.app.player;
    const money = isBest ? (row.net ?? 0) : row.value;
    const amount = h("td", { class: `n ${tone(money)}` }, dollars(money));
    return h(
      "tr",
      { class: isMe ? "me" : null },
      h("td", { class: "n" }, row.rank),
      h(
        "td",
        {},
        row.name,
        isMe ? " (you)" : null,
        page.bots ? h("span", { class: "bot" }, "bot") : null,
        againstRivals(row.rivals ?? 0),
      ),
      isBest ? h("td", { class: "n" }, row.value) : amount,
      isBest ? amount : h("td", { class: "n" }, row.races ?? 0),
      h("td", { class: "n wide-only" }, rivals(row.rivals ?? 0)),
      isBest ? h("td", { class: "n wide-only" }, after(row)) : null,
      h(
        "td",
        { class: "n" },
        row.race
          ? h(
              "a",
              { href: `/races/${row.race}`, "data-key": `race ${row.player}` },
              "race",
              h("span", { class: "unseen" }, ` ${row.race} of ${row.name}`),
            )
          : "",
      ),
    );
  }

  key() {
    return false;
  }

  close() {
    this.isClosed = true;
    // a query that does not follow ends the subscription
    if (this.page)
      this.app.connection
        .request("get_leaderboard", { game: this.page.game, limit: 1 })
        .catch(() => {});
  }
}
