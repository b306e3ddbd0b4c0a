/** The page of an open race: the button that starts the own run, then how it compares. */

import {
  challenge,
  dayId,
  openOf,
  openPath,
  openTitle,
  ownChallenges,
  ownResult,
  playedWords,
  seeResults,
} from "./open_races.js";
import * as page from "./page.js";
import { Screen, button, capitalised, counted, dollars, h, pageHead, svg } from "./page.js";
import { climbChart } from "./race.js";
import { racerRow } from "./racers.js";
import { fairLine, parLine, postcard, shareBox } from "./results.js";
import { stateWords } from "./session.js";
import { gameTitle, shortRules } from "./cards.js";
import { youButton } from "./identity.js";

/** Milliseconds between two looks at the race: while the own run is on, and after it. */
const SOON = 1_500;
const LATER = 15_000;
/** The most people of whom each is a dot. */
const MOST_DOTS = 16;
/** The most results that are shown at once, besides the own one. */
const MOST_ROWS = 20;

/** @typedef {Wire.OpenResult} Result */

/** How long an open race can be entered, such as `6 hours`; empty if it is closed. @param {Wire.OpenRace} open @param {number} now */
function timeLeft({ closes }, now) {
  const hours = (closes - now) / 3_600_000;
  if (hours <= 0) return "";
  if (hours < 2) return counted(Math.ceil(hours * 60), "minute");
  return hours < 48 ? `${Math.floor(hours)} hours` : `${Math.floor(hours / 24)} days`;
}

/**
 * How many have banked how many cards: a dot for each person, or bars if they are many.
 * @param {number[]} counts by banked cards @param {number} mine the own banked cards; -1 without any
 */
function histogram(counts, mine) {
  const width = 420;
  const first = Math.max(0, counts.findIndex(Boolean) - 1);
  const step = Math.min(24, (width - 20) / (counts.length - first + 1));
  const people = counts.reduce((sum, number) => sum + number, 0);
  const most = Math.max(...counts);
  const floor = people > MOST_DOTS ? 100 : 8 + 12 * most;
  const height = floor + 20;
  const x = (/** @type {number} */ banked) => 10 + (banked - first + 0.5) * step;
  const columns = counts.flatMap((number, banked) => {
    const kind = banked === mine ? ".me" : "";
    if (people > MOST_DOTS) {
      const tall = (number / most) * (floor - 8);
      const bar = { x: x(banked) - step * 0.4, width: step * 0.8, y: floor - tall, height: tall };
      return number ? [svg(`rect${kind}`, bar)] : [];
    }
    const r = Math.min(6, step * 0.4);
    return Array.from({ length: number }, (_, at) =>
      svg(at ? "circle" : `circle${kind}`, { cx: x(banked), cy: floor - 2 - r - at * 2 * r, r }),
    );
  });
  const named = [...new Set([counts.findIndex(Boolean), mine, counts.length - 1])];
  const labels = named
    .filter((banked) => banked >= 0 && (banked === mine || Math.abs(x(banked) - x(mine)) > 24))
    .map((banked) =>
      svg(
        `text${banked === mine ? ".me" : ""}`,
        { x: x(banked), y: height - 4, "text-anchor": "middle" },
        banked,
      ),
    );
  const told = counts
    .map((number, banked) => number && `${counted(banked)}: ${number}`)
    .filter(Boolean);
  return svg(
    "svg.chart.counts",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Banked: ${told.join(", ")}` },
    svg("path.axis", { d: `M4 ${floor}H${width - 4}` }),
    ...columns,
    ...labels,
  );
}

export class OpenScreen extends Screen {
  id = openOf(location.pathname);
  /** @type {Wire.OpenRace | null} */
  open = null;
  /** The id of the race of the day before; empty if there was none. */
  before = "";
  said = "Loading\u2026";
  askedAt = -LATER;

  /** Ask again from time to time. */
  tick() {
    const { app, open } = this;
    const every = open?.mine === "racing" ? SOON : LATER;
    const isDue = performance.now() - this.askedAt > every && !open?.digest;
    if (app.connection.link !== "connected" || !isDue) return;
    this.askedAt = performance.now();
    this.#ask().catch((error) => this.say(error.message));
  }

  show() {
    this.tick();
    this.draw();
  }

  async #ask() {
    const { app, id } = this;
    const isFirst = !this.open;
    const { open } = await app.connection.request("get_open", { open: id });
    if (isFirst) this.said = "";
    this.open = open;
    document.title = `${openTitle(open, app.now())} \u00b7 Saratoga`;
    seeResults(app, open);
    app.witness.seeEnd({ race: id, digest: open.digest ?? "" });
    this.draw();
    if (isFirst) this.shown();
    if (!isFirst || open.kind !== "day") return;
    const before = dayId(open.game, Date.parse(id.slice(-10)), 1);
    // the server may have been off on that day
    await app.connection.request("get_open", { open: before }).then(
      () => (this.before = before),
      () => {},
    );
    this.draw();
  }

  get isOwn() {
    return ownChallenges(this.app).some(({ id }) => id === this.id);
  }

  /** Do something, and say why it was refused. @param {Promise<unknown>} done */
  #try(done) {
    done.catch((error) => this.say(error.message));
  }

  view() {
    const { open, app } = this;
    const head = pageHead(youButton(app));
    if (!open)
      return [
        head,
        h(
          "main.page",
          h("h1.unseen", { tabindex: -1 }, "Open race"),
          h("p", { role: "status" }, this.said),
        ),
      ];
    const { row, place } = ownResult(open, app.player);
    return [
      head,
      h(
        "main.page.split",
        ...(open.results?.length ? this.#results(open, row, place) : this.#door(open)),
      ),
    ];
  }

  /** What is shown before the own run. @param {Wire.OpenRace} open */
  #door(open) {
    const { app, id } = this;
    const { game, kind, by = "", cap, mine, entrants } = open;
    const title = openTitle(open, app.now());
    const left = timeLeft(open, app.now());
    const words = kind === "day" ? "Play this deal" : "Start my run";
    const heading = this.isOwn ? "Your challenge" : `${by} challenges you`;
    return [
      h(
        "div.box.invite",
        h("p", gameTitle(game)),
        h("h1", { tabindex: -1 }, kind === "day" ? title : heading),
        h("p", `${capitalised(playedWords(entrants))}, ${left ? `open for ${left}` : "closed"}.`),
        shortRules(game),
        h("p.dim", `One run each, ${page.capWords(cap)}. Your clock starts when you do.`),
        h("p", { role: "status" }, this.said),
        (left || mine) &&
          button(
            mine ? "Back to your run" : words,
            () => this.#try(app.enterOpen(id)),
            "main big",
            "start",
          ),
        this.#links(),
      ),
      this.isOwn && this.#invitation(open),
    ];
  }

  /** @param {Wire.OpenRace} open */
  #invitation({ game, id }) {
    const text = `I challenge you: ${gameTitle(game)}, the same cards.\n${location.origin}${openPath(id)}`;
    return postcard("Send it to a friend", text, (said) => this.say(said));
  }

  #links() {
    const { before, app } = this;
    const title = openTitle({ id: before, kind: "day", game: this.open?.game ?? "" }, app.now());
    return before && h("p", h("a", { href: openPath(before) }, title));
  }

  /** @param {Wire.OpenRace} open @param {Result | undefined} row @param {string} place */
  #results(open, row, place) {
    const { app, id } = this;
    const { game, kind, results = [], counts = [], streak = 0, digest, entrants } = open;
    const left = timeLeft(open, app.now());
    const isInviting = Boolean(left) && this.isOwn;
    const what = kind === "day" ? "day" : "challenge";
    const word = `When the ${what} closes${left && `, in ${left}`}, all boards open for anyone to check.`;
    const again = () => this.#try(challenge(app, game));
    return [
      h(
        row?.place === 1 && results.length > 1 ? "section.result.won" : "section.result",
        h("p", openTitle(open, app.now())),
        h(
          "h1",
          { tabindex: -1 },
          row ? `You banked ${row.banked}` : capitalised(playedWords(entrants)),
        ),
        row && h("p.purse", dollars(row.net)),
        h("p", ...[row && `${place}.`, streak > 0 && ` ${counted(streak, "day")} in a row.`]),
        !digest && h("p", word),
      ),
      h(
        "div.page",
        isInviting && this.#invitation(open),
        h(
          "section.box",
          h("h2", "How you compare"),
          histogram(counts, row?.banked ?? -1),
          row && this.#climb(open, row),
        ),
        row &&
          shareBox(this.#finish(open, row), this.#history(open, row), (said) => this.say(said)),
      ),
      h(
        "div.box",
        h("h2", "Results"),
        this.#table(results.filter((each, at) => at < MOST_ROWS || each === row)),
        results.length > MOST_ROWS && page.unfold("All results", this.#table(results)),
        digest && parLine(app, { race: id, game, results }),
        this.#fair(open),
        digest && h("a.button", { href: `/races/${id}` }, "See all boards"),
        this.#links(),
      ),
      h(
        "div.act",
        h("p", { role: "status" }, this.said),
        !isInviting && button("Challenge a friend", again, "main", "challenge"),
      ),
    ];
  }

  /** @param {Result[]} results */
  #table(results) {
    const { player } = this.app;
    const body = results.map((row) => {
      const words = row.young ? "new here, unranked" : stateWords(row.state);
      const isOn = row.state === "racing";
      const cells = isOn
        ? [h("td.n", "\u2013"), h("td")]
        : [h("td.n", row.banked), page.moneyCell(row.net)];
      return racerRow(results, player, row, words, ...cells);
    });
    return page.tableOf("Results", ["#", "player.wide-name", "banked.n", "net.n"], body);
  }

  /** Whether the deal is fair, or until when nobody can tell. @param {Wire.OpenRace} open */
  #fair({ id, kind, digest = "", commitment = "" }) {
    const { witness } = this.app;
    if (digest)
      return fairLine(
        { race: id, digest },
        witness.proofs.get(id) ?? (this.app.isMissing(id) ? null : undefined),
      );
    if (kind === "known")
      return h("p.dim", "This deal was raced before, so it was not fixed for this challenge.");
    const what = kind === "day" ? "day" : "challenge";
    const sealed = `The deal stays sealed until the ${what} closes; its commitment is `;
    return h("p.dim", sealed, h("code", page.fingerprint(commitment)), ".");
  }

  /** The own climb, and that of the middle run. @param {Wire.OpenRace} open @param {Result} row */
  #history({ climb = [], middle = [] }, { player, banked }) {
    const opening = banked - climb.length;
    const points = (/** @type {number[]} */ rises) => [
      { at: 0, banked: opening },
      ...rises.map((at, index) => ({ at, banked: opening + index + 1 })),
    ];
    const isSame = climb.join() === middle.join();
    return { [player]: points(climb), ...(isSame ? {} : { middle: points(middle) }) };
  }

  /** @param {Wire.OpenRace} open @param {Result} row */
  #climb(open, row) {
    const history = this.#history(open, row);
    const { middle } = history;
    const more = (middle?.at(-1)?.banked ?? 0) - row.banked;
    const other = { ...row, player: "middle", name: "middle", bot: false };
    const racers = [row, { ...other, banked: row.banked + more, net: row.net + 5 * more }];
    const results = middle ? racers : [row];
    const end = Math.max(1000, row.elapsed, middle?.at(-1)?.at ?? 0);
    return climbChart({ player: row.player, history }, results, end, 420, 190);
  }

  /** What a shared text tells. @param {Wire.OpenRace} open @param {Result} row */
  #finish(open, row) {
    const { id, game, kind, digest = "" } = open;
    const ranked = row.place ? (open.results ?? []).filter((each) => each.place) : [row];
    const results = ranked.map(({ place = 0, ...each }) => ({ place, ...each }));
    const title = openTitle(open, kind === "day" ? 0 : this.app.now());
    const told = { game, player: row.player, results, digest, ranked: false };
    return { ...told, race: id, title, path: openPath(id) };
  }
}
