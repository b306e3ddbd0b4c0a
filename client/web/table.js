// @ts-check
/** The lobby, the invitation and the table before a race. */

import { GAMES, gameTitle } from "./cards.js";
import { lastName } from "./identity.js";
import { button, fill, h, nameNodes, pageHead, picture, write } from "./page.js";
import { ownSeat } from "./session.js";

/** @typedef {import("./main.js").App} App @typedef {import("./session.js").State} State */

export class LobbyScreen {
  /** @param {App} app */
  constructor(app) {
    const code = h("input", { name: "code", placeholder: "mint-otter-42", autocomplete: "off" });
    const name = h("input", { name: "name", value: lastName(), maxlength: 20, autocomplete: "nickname" });
    const game = h("select", { name: "game" }, ...Object.keys(GAMES).map((each) => h("option", { value: each }, gameTitle(each))));
    const problem = h("p", { role: "alert", class: "loss" });
    this.node = h("div", { class: "plain" }, pageHead(), h("main", { class: "page" }, h("form", { class: "box invite", onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      app.go(`/${code.value.trim()}`);
    } }, h("h1", {}, "Saratoga"), h("label", { class: "field" }, "The code of a table", code), h("button", { class: "button main" }, "Go to the table")),
    h("form", { class: "box invite", onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      app.claim(name.value.trim()).then(() => app.openTable({ game: game.value })).catch((error) => write(problem, error.message));
    } }, h("h2", {}, "Open a table"), h("label", { class: "field" }, "Your name", name), h("label", { class: "field" }, "Game", game), problem, h("button", { class: "button main" }, "Open it"))));
    document.title = "Saratoga";
  }

  show() {}

  key() {
    return false;
  }

  close() {}
}

export class NameScreen {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.invites = h("p", { class: "dim" });
    this.heading = h("h1");
    this.blurb = h("p");
    this.problem = h("p", { role: "alert", class: "loss" });
    const name = h("input", { name: "name", value: app.connection.welcome?.name ?? lastName(), maxlength: 20, autocomplete: "nickname", "aria-describedby": "name-help" });
    this.input = name;
    this.node = h("div", { class: "plain" }, pageHead(), h("main", { class: "page" }, h("form", { class: "box invite", onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      app.sitDown(name.value.trim()).catch((error) => write(this.problem, error.message));
    } }, this.invites, this.heading, this.blurb, h("label", { class: "field" }, "Your name at this table", name), this.problem,
    h("p", { id: "name-help", class: "dim" }, "No account. This browser remembers you."), h("button", { class: "button main" }, "Sit down"),
    button("Only watch", () => app.watchOnly(), "quiet"))));
  }

  /** @param {State} state */
  show(state) {
    const { table } = state;
    const { game } = table.settings;
    const host = table.seats.find((/** @type {any} */ seat) => seat.player === table.host);
    write(this.invites, `${host?.name ?? "The table"} invites you to a race`);
    write(this.heading, gameTitle(game));
    write(this.blurb, `Patience against friends: everyone gets the same cards at the same moment. ${GAMES[game]?.blurb ?? ""}; every card banked pays $5.`);
    document.title = `${host?.name ?? "The table"} invites you \u00b7 Saratoga`;
  }

  shown() {
    this.input.focus();
  }

  key() {
    return false;
  }

  close() {}
}

export class TableScreen {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.heading = h("h1");
    this.about = h("p", { class: "dim" });
    this.seats = h("ol", { class: "seats" });
    this.notice = h("p", { role: "status" });
    this.actions = h("div", { class: "act" });
    this.node = h("div", { class: "plain" }, pageHead(), h("main", { class: "page" }, h("div", { class: "box" }, this.heading, this.about, this.seats, this.notice, this.actions)));
  }

  /** @param {State} state */
  show(state) {
    const { table } = state;
    const seat = ownSeat(state);
    write(this.heading, gameTitle(table.settings.game));
    write(this.about, `${table.settings.cap ? `${table.settings.cap} minutes` : "no time limit"} \u00b7 ${table.seats.length} of ${table.settings.seats} seated \u00b7 ${table.code}`);
    fill(this.seats, ...table.seats.map((/** @type {any} */ each) => h("li", {}, h("b", {}, ...(each.player === state.player ? ["You"] : nameNodes(each))), each.player === table.host ? h("span", { class: "dim" }, "host") : null,
      h("span", { class: each.ready ? "state ready" : "state" }, ...(each.ready ? [picture("yes"), "ready"] : ["not ready"])))));
    write(this.notice, table.notice ?? "");
    const isHost = table.host === state.player;
    fill(this.actions, seat && (seat.ready ? button("Not ready", () => this.app.ready(false)) : button("I am ready", () => this.app.ready(true), "main")),
      isHost && seat?.ready ? button("Start", () => this.app.ask("start", { table: table.code }), "main") : null);
    document.title = `${gameTitle(table.settings.game)} \u00b7 ${table.code} \u00b7 Saratoga`;
  }

  /** @param {string} text */
  say(text) {
    write(this.notice, text);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const seat = ownSeat(this.app.state);
    if (event.key !== "r" || !seat) return false;
    this.app.ready(!seat.ready);
    return true;
  }

  close() {}
}
