/** The leaderboards: a page at a time, followed live. The address says what is shown. */

import { GAMES, gameTitle } from "./cards.js";
import { Screen, againstRivals, clockText, counted, h, moneyCell, nameNodes } from "./page.js";
import { pageHead, rivals, tableOf } from "./page.js";
import { youButton } from "./identity.js";

/** `rows`: empty for people, `me` for those around the player, `bots`. @typedef {{game: string, ranking: string, period: string, rows: string, limit: string}} Query */

/** What can be chosen, the usual one first, by the names in the address. */
const CHOICES = {
  ranking: { best: "Best result", bankroll: "Bankroll", rating: "Rating" },
  period: { day: "Today", week: "Week", month: "Month", all: "Ever" },
  rows: { "": "People", me: "Around me", bots: "Bots" },
  limit: { 20: "", 100: "" },
};
/** @type {Record<string, string>} */
const WHAT = { best: "best results", bankroll: "most money", rating: "strongest players" };
/** @type {Record<string, string>} */
const WHEN = { day: "today", week: "this week", month: "this month", all: "of all time" };

/** What the address asks for. @returns {Query} */
function query() {
  const asked = new URLSearchParams(location.search);
  const known = Object.entries(CHOICES).map(([name, values]) => {
    const value = asked.get(name) ?? "";
    return [name, value in values ? value : Object.keys(values)[0]];
  });
  const found = { game: location.pathname.split("/")[2], ...Object.fromEntries(known) };
  // ratings are of people, for all time
  const isOfBots = found.ranking === "rating" && found.rows === "bots";
  return isOfBots ? { ...found, rows: "" } : found;
}

/** The address of another page. @param {Query} query @param {Partial<Query>} change */
function address(query, change) {
  const { game, ...wanted } = { ...query, ...change };
  const asked = new URLSearchParams();
  for (const [name, values] of Object.entries(CHOICES)) {
    const value = wanted[/** @type {"rows"} */ (name)];
    if (value !== Object.keys(values)[0]) asked.set(name, value);
  }
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
    : query().rows === "me"
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
  const range = h("small", `give or take ${doubt}`);
  if (ranking === "rating")
    return [
      ["rating.n", h("td.n", value, h("br"), range)],
      ["races.n", h("td.n", races)],
    ];
  /** @type {[string, Element]} */
  const against = ["people.n.wide-only", h("td.n.wide-only", rivals(people))];
  if (ranking === "bankroll")
    return [["net.n", moneyCell(value)], ["races.n", h("td.n", races)], against];
  return [
    ["banked.n", h("td.n", value)],
    ["net.n", moneyCell(net)],
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
    const when = WHEN[isRating ? "all" : now.period];
    const bots = now.rows === "bots" ? ", bots" : "";
    const title = `${gameTitle(now.game)}: ${WHAT[now.ranking]} ${when}${bots}`;
    document.title = `${title} \u00b7 Saratoga`;
    const { page } = this;
    const isCut = page && page.total > page.rows.length && now.limit === "20" && now.rows !== "me";
    const all = { href: address(now, { limit: "100" }) };
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
        h("p", isCut && h("a.button", all, "Show more")),
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
    /** @param {"period" | "ranking" | "rows"} name @returns {[string, Partial<Query>][]} */
    const values = (name) =>
      Object.entries(CHOICES[name]).map(([to, text]) => [text, { [name]: to }]);
    /** @type {string[]} */
    const games = this.app.connection.welcome?.games ?? Object.keys(GAMES);
    const rows = values("rows").slice(0, now.ranking === "rating" ? -1 : undefined);
    return [
      row("Period", values("period")),
      row(
        "Game",
        games.map((game) => [gameTitle(game), { game }]),
      ),
      row("Ranking", values("ranking")),
      row("Rows", rows),
    ];
  }

  /** @param {Query} now */
  async #subscribe(now) {
    const asked = address(now, {});
    if (asked === this.asked) return this.say(this.page ? summary(this.page) : this.said);
    this.asked = asked;
    this.say("Loading\u2026");
    const { game, ranking, period, rows } = now;
    const limit = Number(now.limit);
    const whose = { bots: rows === "bots", around_me: rows === "me" };
    const wanted = { game, ranking, period, limit, follow: true, ...whose };
    try {
      const page = await this.app.connection.request("get_leaderboard", wanted);
      if (asked === this.asked && !this.isClosed) this.hear(page);
    } catch (error) {
      if (asked === this.asked && !this.isClosed) this.say(/** @type {Error} */ (error).message);
    }
  }

  /** @param {Wire.Event} event */
  hear(event) {
    if (event.type !== "leaderboard") return;
    const { game, ranking, period, rows } = query();
    const isOther = event.game !== game || event.ranking !== ranking;
    const isElse = event.bots !== (rows === "bots");
    if (isOther || isElse || (event.period !== period && ranking !== "rating")) return;
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
