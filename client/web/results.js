// @ts-check
/** The results of a race, and its review. */

import { button, dollars, fill, h, ordinal, pageHead, shownName, tone } from "./page.js";
import { ownRow, rows } from "./session.js";

/** @typedef {import("./main.js").App} App @typedef {import("./session.js").State} State */

export class ResultsScreen {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.heading = h("h1");
    this.list = h("ol", { class: "rows" });
    this.actions = h("div", { class: "act" });
    this.node = h("div", { class: "plain" }, pageHead(), h("main", { class: "page" }, h("div", { class: "box" }, this.heading, this.list, this.actions)));
    document.title = "Results \u00b7 Saratoga";
  }

  /** @param {State} state */
  show(state) {
    if (state.table.phase === "gathering") return fill(this.actions, button("On to the next race", () => this.app.goOn(), "main"));
    const own = ownRow(state);
    fill(this.heading, own ? `You finished ${ordinal(own.place)} of ${rows(state).length}` : "The race is over");
    fill(this.list, ...rows(state).map((row) => h("li", {}, `${row.place}. ${row.player === state.player ? "You" : shownName(row)}: ${row.banked} banked, `, h("b", { class: tone(row.net) }, dollars(row.net)), ` (${row.state})`)));
    fill(this.actions, state.table.host === state.player ? button("Next race", () => this.app.ask("next_race", { table: state.table.code }), "main") : null);
  }

  key() {
    return false;
  }

  close() {}
}

export class ReviewScreen {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.node = h("div", { class: "plain" }, pageHead(), h("main", { class: "page" }, h("h1", {}, "Review")));
  }

  show() {}

  key() {
    return false;
  }

  close() {}
}
