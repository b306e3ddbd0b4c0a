// @ts-check
/** The leaderboards. */

import { h, pageHead } from "./page.js";

/** @typedef {import("./main.js").App} App */

export class LeaderboardsScreen {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.node = h("div", { class: "plain" }, pageHead(), h("main", { class: "page" }, h("h1", {}, "Leaders")));
    document.title = "Leaders \u00b7 Saratoga";
  }

  show() {}

  key() {
    return false;
  }

  close() {}
}
