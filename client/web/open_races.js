/** Open races: ids, paths, commitments, what this browser keeps, and the day on the home. */

import { GAMES, gameTitle } from "./cards.js";
import { randomHex } from "./hash.js";
import { store, stored, storedJson } from "./identity.js";
import { button, choice, counted, h, listed, ordinal, shownName, unfold } from "./page.js";

/** @typedef {import("./main.js").App} App */

const DAY = 24 * 3_600_000;
const GAME = "saratoga.day";
/** The most challenges and commitments to them that are kept. */
const MOST_KEPT = 20;
const CHANGED = "another deal is promised than the one that this browser was promised before";

/** The id of the race on a game's deal of the day, or of one so many days before. @param {string} game @param {number} now @param {number} [before] */
export function dayId(game, now, before = 0) {
  return `day/${game}/${new Date(now - before * DAY).toISOString().slice(0, 10)}`;
}

/** The path of an open race. @param {string} open */
export function openPath(open) {
  return open.startsWith("day/") ? `/${open}` : `/c/${open}`;
}

/** The id of the open race that a path names; empty elsewhere. @param {string} path */
export function openOf(path) {
  const [, day, id] =
    /^\/(?:(day\/[a-z0-9-]+\/[0-9]{4}-[0-9]{2}-[0-9]{2})|c\/([a-z2-7]{16}))$/.exec(path) ?? [];
  return day ?? id ?? "";
}

/** The day of a day's deal in UTC, such as `28 November`. @param {string} open */
export function dateWords(open) {
  const words = /** @type {const} */ ({ day: "numeric", month: "long", timeZone: "UTC" });
  return new Date(open.slice(-10)).toLocaleDateString("en-GB", words);
}

/** What an open race is called, such as `Today's Klondike`. @param {Pick<Wire.OpenRace, "id" | "kind" | "game" | "by">} open @param {number} now */
export function openTitle({ id, kind, game, by = "" }, now) {
  const title = gameTitle(game);
  if (kind !== "day") return `${title}: ${by}'s challenge`;
  return id === dayId(game, now) ? `Today's ${title}` : `${title} of ${dateWords(id)}`;
}

/** The own result, and its place in words, such as `3rd of 14 so far`. @param {Wire.OpenRace} open @param {string} player */
export function ownResult({ results = [], entrants = 0, digest }, player) {
  const row = results.find((each) => each.player === player && each.state !== "racing");
  if (!row) return { row, place: "" };
  const ranked = results.filter((each) => each.place).length;
  // more than a hundred results are not sent
  const all = results.length < 100 ? ranked : entrants;
  const among = all > 1 ? `${ordinal(row.place ?? 0)} of ${all}` : "The only run";
  const place = row.place ? among : "New here today; ranked from tomorrow";
  return { row, place: digest || !row.place ? place : `${place} so far` };
}

// What this browser keeps

/**
 * Add commitments to those that were seen before, of which each keeps its first value; return them and the races whose
 * commitment has changed.
 * @param {Record<string, string>} known @param {[string, string][]} told pairs of an id and a commitment @param {number} now
 */
export function withCommitments(known, told, now) {
  const changed = told.filter(([id, value]) => (known[id] ?? value) !== value).map(([id]) => id);
  const oldest = new Date(now - 30 * DAY).toISOString().slice(0, 10);
  const all = Object.entries({ ...Object.fromEntries(told), ...known });
  const days = all.filter(([id]) => id.startsWith("day/") && id.slice(-10) >= oldest);
  const others = all.filter(([id]) => !id.startsWith("day/")).slice(-MOST_KEPT);
  return { known: Object.fromEntries([...days, ...others]), changed };
}

/** Keep the commitments that an answer tells of, and raise the alarm if one has changed. @param {App} app @param {Wire.Event} answer */
export function seeCommitments(app, answer) {
  /** @type {[string, string][]} */
  let told = [];
  if (answer.type === "open_race")
    told = [
      answer.open,
      ...(answer.days ?? []).map(({ open: id, ...day }) => ({ id, ...day })),
    ].map(({ id, commitment = "" }) => [id, commitment]);
  if (answer.type === "snapshot" && answer.table.open)
    told = [[answer.table.open, answer.table.commitment]];
  if (!told.length) return;
  const key = `saratoga.days.${app.player}`;
  const { known, changed } = withCommitments(storedJson(key, {}), told, app.now());
  store(key, JSON.stringify(known));
  for (const id of changed) app.alarm(id, CHANGED);
}

/**
 * The player's own challenges; `seen`: the players whose results the player has seen.
 * @typedef {{id: string, game: string, closes: number, seen: string[]}} Challenge
 * @param {App} app @returns {Challenge[]}
 */
export function ownChallenges(app) {
  const all = storedJson(`saratoga.challenges.${app.player}`, /** @type {Challenge[]} */ ([]));
  return all.filter(({ closes }) => closes + DAY > app.now());
}

/** @param {App} app @param {Challenge} challenge */
function keepChallenge(app, challenge) {
  const others = ownChallenges(app).filter(({ id }) => id !== challenge.id);
  const kept = JSON.stringify([challenge, ...others].slice(0, MOST_KEPT));
  store(`saratoga.challenges.${app.player}`, kept);
}

/** The results of others in the own challenge that the player has not seen. @param {Challenge} challenge @param {Wire.OpenRace} open @param {string} player */
export function unseen({ seen }, { results = [] }, player) {
  const ended = results.filter((row) => row.state !== "racing" && row.player !== player);
  return ended.filter((row) => !seen.includes(row.player));
}

/** Note that the player sees an open race, which may be an own challenge. @param {App} app @param {Wire.OpenRace} open */
export function seeResults(app, open) {
  const challenge = ownChallenges(app).find(({ id }) => id === open.id);
  const fresh = challenge ? unseen(challenge, open, app.player) : [];
  if (challenge && fresh.length)
    keepChallenge(app, {
      ...challenge,
      seen: [...challenge.seen, ...fresh.map((row) => row.player)],
    });
}

/** Open a challenge, afresh or on the deal of a race, and go to its page. @param {App} app @param {string} game @param {string} [race] */
export async function challenge(app, game, race) {
  await app.claimGuest();
  const asked = { game, key: randomHex(16), ...(race ? { race } : {}) };
  const { open } = await app.connection.request("create_challenge", asked);
  keepChallenge(app, { id: open.id, game, closes: open.closes, seen: [] });
  app.go(openPath(open.id));
}

// The home

/** How many have played. @param {number} [entrants] */
export function playedWords(entrants = 0) {
  if (!entrants) return "nobody has played yet";
  return `${entrants} ${entrants > 1 ? "have" : "has"} played`;
}

/** The day's deal, and the own challenges, on the home. */
export class Today {
  asked = "";
  /** @type {Wire.OpenRace | null} */
  open = null;
  /** The news of own challenges: their words and ids. @type {[string, string][]} */
  news = [];

  /** @param {App} app @param {() => void} draw @param {(action: () => Promise<unknown>) => void} attempt does something that may be refused */
  constructor(app, draw, attempt) {
    this.app = app;
    this.draw = draw;
    this.attempt = attempt;
  }

  /** The games, and the one whose deal is shown. */
  get games() {
    return this.app.connection.welcome?.games ?? Object.keys(GAMES);
  }

  get game() {
    const last = stored(GAME) ?? "";
    return this.games.includes(last) ? last : this.games[0];
  }

  /** Ask for the day's deal when the home comes, the game changes or the day does. */
  tick() {
    const { app } = this;
    const id = dayId(this.game, app.now());
    if (app.connection.link !== "connected" || id === this.asked) return;
    const isFirst = !this.asked;
    this.asked = id;
    this.open = null;
    this.#ask(id).catch(() => {});
    if (isFirst) this.#askForNews().catch(() => {});
  }

  /** @param {string} id */
  async #ask(id) {
    const { open } = await this.app.connection.request("get_open", { open: id });
    if (id === this.asked) this.open = open;
    this.draw();
  }

  async #askForNews() {
    const { app } = this;
    for (const mine of ownChallenges(app)) {
      const { open } = await app.connection.request("get_open", { open: mine.id });
      const fresh = unseen(mine, open, app.player);
      const names = listed(fresh.map(shownName));
      const cards = fresh.length === 1 ? `: ${counted(fresh[0].banked)}` : "";
      if (names) this.news.push([`${names} ran your challenge${cards}`, mine.id]);
      else if (!open.mine && open.entrants)
        this.news.push([
          `${playedWords(open.entrants)} your ${gameTitle(mine.game)} challenge`,
          mine.id,
        ]);
    }
    this.draw();
  }

  view() {
    const { app, open, game } = this;
    const now = app.now();
    const id = dayId(game, now);
    const { row, place } = open ? ownResult(open, app.player) : { row: undefined, place: "" };
    const streak = open?.streak ?? 0;
    const facts = [
      row ? `${counted(row.banked)}, ${place}` : open && playedWords(open.entrants),
      streak > 0 && `${counted(streak, "day")} in a row`,
    ];
    const play = () => this.attempt(() => app.enterOpen(id));
    const picked = (/** @type {string} */ to) => {
      store(GAME, to);
      this.tick();
      this.draw();
    };
    const words = open?.mine === "racing" ? "Back to your run" : "Play today's deal";
    return [
      h(
        "p",
        h("b", openTitle({ id, kind: "day", game }, now)),
        ...facts.filter(Boolean).map((fact) => ` \u00b7 ${fact}`),
      ),
      h(
        "div.today",
        row
          ? h("a.button.main", { href: openPath(id), "data-key": "compare" }, "See how you compare")
          : button(words, play, "main", "today"),
        h("label", h("span.unseen", "The day's game"), choice(this.games, gameTitle, game, picked)),
      ),
      ...this.news.map(([news, each]) => h("p", h("a", { href: openPath(each) }, `${news}.`))),
    ];
  }

  /** What unfolds below: a fresh challenge, and the player's last ones. */
  more() {
    const { app, game } = this;
    return unfold(
      "Challenge a friend",
      h("p", "One deal for both of you, each when you like: your friend races your ghost."),
      button(
        `New ${gameTitle(game)} challenge`,
        () => this.attempt(() => challenge(app, game)),
        "",
        "challenge",
      ),
      ...ownChallenges(app).map((each) =>
        h("p", h("a", { href: openPath(each.id) }, `Your ${gameTitle(each.game)} challenge`)),
      ),
    );
  }
}
