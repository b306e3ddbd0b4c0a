/** The leaderboards: one page at a time, followed live. The address holds what is shown, so it can be sent to others. */

import { GAMES, gameTitle } from "./cards.js";
import {
  Screen,
  againstRivals,
  clockText,
  counted,
  dollars,
  h,
  nameNodes,
  pageHead,
} from "./page.js";
import { rivals, tableOf, tone } from "./page.js";
import { youButton } from "./identity.js";

/** @typedef {{game: string, ranking: string, period: string, bots: boolean, around_me: boolean, limit: number}} Query */

const RANKINGS = { best: "Best result", bankroll: "Bankroll" };
const PERIODS = { day: "Today", week: "Week", month: "Month", all: "Ever" };
const WHEN = { day: "today", week: "this week", month: "this month", all: "of all time" };
const WHOSE = { "": "People", me: "Around me", bots: "Bots" };
const ROWS = 20;
const MOST_ROWS = 100;

/** What the address asks for. @returns {Query} */
function query() {
  const asked = new URLSearchParams(location.search);
  /** @param {string} name @param {object} values @param {string} otherwise */
  const known = (name, values, otherwise) => {
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

/** When a result was reached, with tenths of seconds; empty if no move raised the deal's count. @param {Wire.LeaderboardRow} row */
function after({ elapsed }) {
  return elapsed ? `${clockText(elapsed)}.${Math.floor((elapsed % 1000) / 100)}` : "";
}

/** @param {Wire.Leaderboard} page */
function summary({ total, key, bots, rows, me }) {
  const who = counted(total, bots ? "bot" : "player");
  const yours = me
    ? ` \u00b7 you are ${me.rank} of ${total}`
    : query().around_me
      ? " \u00b7 you have no ranked result here yet"
      : "";
  return `Live \u00b7 ${key === "all" ? "all time" : key} \u00b7 ${total > rows.length ? `${rows.length} of ${who}` : who}${yours}`;
}

export class LeaderboardsScreen extends Screen {
  /** The query that was asked last, by its address. */
  asked = "";
  /** @type {Wire.Leaderboard | null} */
  page = null;

  show() {
    const { link } = this.app.connection;
    if (link === "connecting") this.say("Connecting to the server\u2026");
    else if (link === "connected") this.#subscribe(query());
    else this.say("Connection lost; trying again.");
  }

  view() {
    const now = query();
    const what = now.ranking === "best" ? "best results" : "most money";
    const when = WHEN[/** @type {"day"} */ (now.period)];
    const title = `${gameTitle(now.game)}: ${what} ${when}${now.bots ? ", bots" : ""}`;
    document.title = `${title} \u00b7 Saratoga`;
    const { page } = this;
    const hasMore =
      page && page.total > page.rows.length && now.limit < MOST_ROWS && !now.around_me;
    const more = { href: address(now, { limit: MOST_ROWS }) };
    const counts =
      "Only ranked races count: a random deal, a time limit, and at least two people among the racers. Bots have leaderboards of their own.";
    // names first: what else there is to choose stands below them
    const [periods, ...others] = this.#chips(now);
    return [
      pageHead(youButton(this.app)),
      h(
        "main.page",
        h("h1", { tabindex: -1 }, title),
        periods,
        h("div.box", page && this.#table(page, title)),
        h("p", hasMore && h("a.button", more, "Show more")),
        h("p.dim", { role: "status" }, this.said),
        h("div.choices", ...others),
        h("p.dim", counts),
      ),
    ];
  }

  /** @param {Query} now */
  #chips(now) {
    /** @param {string} label @param {[string, Partial<Query>][]} links with what they change */
    const row = (label, links) => {
      const chips = links.map(([text, change]) => {
        const href = address(now, change);
        const current = href === address(now, {}) ? "page" : null;
        return h("a", { href, "data-key": `${label} ${text}`, "aria-current": current }, text);
      });
      return h("nav.chips", { "aria-label": label, "data-key": label }, ...chips);
    };
    /** @type {string[]} */
    const games = this.app.connection.welcome?.games ?? Object.keys(GAMES);
    return [
      row(
        "Period",
        Object.entries(PERIODS).map(([period, text]) => [text, { period }]),
      ),
      row(
        "Game",
        games.map((game) => [gameTitle(game), { game }]),
      ),
      row(
        "Ranking",
        Object.entries(RANKINGS).map(([ranking, text]) => [text, { ranking }]),
      ),
      row(
        "Rows",
        Object.entries(WHOSE).map(([which, text]) => [
          text,
          { bots: which === "bots", around_me: which === "me" },
        ]),
      ),
    ];
  }

  /** @param {Query} now */
  async #subscribe(now) {
    const asked = address(now, {});
    if (asked === this.asked) return this.say(this.page ? summary(this.page) : this.said);
    this.asked = asked;
    this.say("Loading\u2026");
    try {
      const page = await this.app.connection.request("get_leaderboard", { ...now, follow: true });
      if (asked === this.asked && !this.isClosed) this.hear(page);
    } catch (error) {
      if (asked === this.asked && !this.isClosed) this.say(/** @type {Error} */ (error).message);
    }
  }

  /** @param {Wire.Event} event */
  hear(event) {
    if (event.type !== "leaderboard") return;
    const now = query();
    const isAsked = /** @type {const} */ (["game", "ranking", "period", "bots"]).every(
      (name) => event[name] === now[name],
    );
    if (!isAsked) return;
    this.page = event;
    this.say(summary(event));
  }

  /** @param {Wire.Leaderboard} page @param {string} title */
  #table(page, title) {
    const { rows, me, bots } = page;
    if (!rows.length && !me) return h("p", "No results yet.");
    const isBest = page.ranking === "best";
    const shown = rows.map((row) => this.#row(page, row));
    if (me && !rows.some((row) => row.player === me.player)) shown.push(this.#row(page, me));
    const heads = isBest ? ["banked.n", "net.n"] : ["net.n", "races.n"];
    return tableOf(
      title,
      [
        "#.n",
        `${bots ? "bot" : "player"}.wide-name`,
        ...heads,
        "people.n.wide-only",
        isBest && "time.n.wide-only",
        isBest ? "race.n" : "last race.n",
      ],
      shown,
    );
  }

  /** @param {Wire.Leaderboard} page @param {Wire.LeaderboardRow} row */
  #row(page, row) {
    const { player, name, rank, value, net = 0, races = 0, rivals: people = 0, race } = row;
    const isBest = page.ranking === "best";
    const isMe = player === this.app.player;
    const money = isBest ? net : value;
    const amount = h(`td.n.${tone(money)}`, dollars(money));
    const link = { href: `/races/${race}`, "data-key": `race ${player}` };
    return h(
      isMe ? "tr.me" : "tr",
      h("td.n", rank),
      h("td", ...nameNodes({ name, bot: page.bots }), isMe && " (you)", againstRivals(people)),
      isBest ? h("td.n", value) : amount,
      isBest ? amount : h("td.n", races),
      h("td.n.wide-only", rivals(people)),
      isBest && h("td.n.wide-only", after(row)),
      h("td.n", race && h("a", link, "race", h("span.unseen", ` ${race} of ${name}`))),
    );
  }

  close() {
    super.close();
    const { page } = this;
    // a query that does not follow ends the subscription
    if (page)
      this.app.connection.request("get_leaderboard", { game: page.game, limit: 1 }).catch(() => {});
  }
}
