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

const RANKINGS = { best: "Best result", bankroll: "Bankroll", rating: "Rating" };
const WHAT = { best: "best results", bankroll: "most money", rating: "strongest players" };
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
  const ranking = known("ranking", RANKINGS, "best");
  return {
    game: location.pathname.split("/")[2],
    ranking,
    period: known("period", PERIODS, "day"),
    // bots have no ratings
    bots: asked.get("rows") === "bots" && ranking !== "rating",
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

/**
 * What a ranking shows of a player: heads, each with its cell.
 * @param {string} ranking @param {Wire.LeaderboardRow} row @returns {[string, Element][]}
 */
function figures(ranking, row) {
  const { value, net = 0, races = 0, rivals: people = 0, doubt = 0 } = row;
  const money = (/** @type {number} */ amount) => h(`td.n.${tone(amount)}`, dollars(amount));
  const range = h("small", `give or take ${doubt}`);
  if (ranking === "rating")
    return [
      ["rating.n", h("td.n", value, h("br"), range)],
      ["races.n", h("td.n", races)],
    ];
  /** @type {[string, Element]} */
  const against = ["people.n.wide-only", h("td.n.wide-only", rivals(people))];
  if (ranking === "bankroll")
    return [["net.n", money(value)], ["races.n", h("td.n", races)], against];
  return [
    ["banked.n", h("td.n", value)],
    ["net.n", money(net)],
    against,
    ["time.n.wide-only", h("td.n.wide-only", after(row))],
  ];
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
    const isRating = now.ranking === "rating";
    const when = WHEN[/** @type {"day"} */ (isRating ? "all" : now.period)];
    const what = WHAT[/** @type {"best"} */ (now.ranking)];
    const title = `${gameTitle(now.game)}: ${what} ${when}${now.bots ? ", bots" : ""}`;
    document.title = `${title} \u00b7 Saratoga`;
    const { page } = this;
    const hasMore =
      page && page.total > page.rows.length && now.limit < MOST_ROWS && !now.around_me;
    const all = { href: address(now, { limit: MOST_ROWS }) };
    const counts =
      "Only ranked races count: a random deal, a time limit, and at least two people among the racers. ";
    const more = isRating
      ? "A rating says how strong a player is, by who finished ahead of whom, from five races on. "
      : "Bots have leaderboards of their own.";
    // names first: what else there is to choose stands below them
    const [periods, ...others] = this.#chips(now);
    return [
      pageHead(youButton(this.app)),
      h(
        "main.page",
        h("h1", { tabindex: -1 }, title),
        !isRating && periods,
        h("div.box", page && this.#table(page, title)),
        h("p", hasMore && h("a.button", all, "Show more")),
        h("p.dim", { role: "status" }, this.said),
        h("div.choices", ...others),
        h("p.dim", counts + more),
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
        Object.entries(WHOSE)
          .filter(([which]) => which !== "bots" || now.ranking !== "rating")
          .map(([which, text]) => [text, { bots: which === "bots", around_me: which === "me" }]),
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
    // ratings are for all time, whatever was asked
    const names = /** @type {const} */ (["game", "ranking", "bots", "period"]);
    const asked = now.ranking === "rating" ? names.slice(0, -1) : names;
    if (asked.some((name) => event[name] !== now[name])) return;
    this.page = event;
    this.say(summary(event));
  }

  /** @param {Wire.Leaderboard} page @param {string} title */
  #table({ rows, me, bots, ranking }, title) {
    const shown = [...rows];
    if (me && !rows.some((row) => row.player === me.player)) shown.push(me);
    if (!shown.length)
      return h("p", ranking === "rating" ? "Nobody has a rating yet." : "No results yet.");
    const heads = figures(ranking, shown[0]).map(([head]) => head);
    const last = ranking === "bankroll" ? "last race.n" : "race.n";
    const who = `${bots ? "bot" : "player"}.wide-name`;
    const body = shown.map((row) => {
      const { player, name, rank, rivals: people = 0, race } = row;
      const isMe = player === this.app.player;
      const link = { href: `/races/${race}`, "data-key": `race ${player}` };
      const against = people > 0 && againstRivals(people);
      return h(
        isMe ? "tr.me" : "tr",
        h("td.n", rank),
        h("td", ...nameNodes({ name, bot: bots }), isMe && " (you)", against),
        ...figures(ranking, row).map(([, cell]) => cell),
        h("td.n", race && h("a", link, "race", h("span.unseen", ` ${race} of ${name}`))),
      );
    });
    return tableOf(title, ["#.n", who, ...heads, last], body);
  }

  close() {
    super.close();
    const { page } = this;
    // a query that does not follow ends the subscription
    if (page)
      this.app.connection.request("get_leaderboard", { game: page.game, limit: 1 }).catch(() => {});
  }
}
