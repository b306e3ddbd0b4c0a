/**
 * The page: one connection, one table, one screen at a time, chosen by the path and the table's phase.
 *
 * A screen is `{node, show(state), tick(), key(event), close()}`. It asks the app for what it wants done.
 */

import { gameTitle, suitColours } from "./cards.js";
import { Closed, Connection, Refused } from "./connection.js";
import { Nonces } from "./fairness.js";
import { randomHex } from "./hash.js";
import {
  changeLook,
  look,
  playerId,
  rememberName,
  rememberWatching,
  showLook,
  store,
  stored,
  token,
  watchesOnly,
} from "./identity.js";
import { CODE, button, fill, h, openQuestion, openSheet, pageHead, write } from "./page.js";
import { CountdownScreen, KEYS, RaceScreen, WatchScreen } from "./race.js";
import * as session from "./session.js";
import { LobbyScreen, NameScreen, TableScreen } from "./table.js";
import { Witness } from "./witness.js";

const TICK = 250;
/** Milliseconds without a connection after which the page says so. */
const LONG = 4_000;
/** How often the page asks for the boards of a race. */
const REPLAYS = 5;
const HOST_AWAY =
  "No sign of you for two minutes. After three, another player becomes host; tap or press any key to stay host.";
const THEMES = ["", "felt", "paper", "contrast"];
const INCOMPLETE =
  "The server or a proxy before it withholds the part of this page that shows results: load the page again later, or tell the server's operator.";
const IS_CODE = new RegExp(`^${CODE}$`);

/**
 * @typedef {import("./session.js").State} State @typedef {import("./connection.js").Table} Table
 * @typedef {import("./connection.js").Settings} Settings @typedef {import("./connection.js").ServerEvent} ServerEvent
 * @typedef {{node: HTMLElement, show: (state: State) => void, tick?: () => void, key: (event: KeyboardEvent) => boolean,
 *   close: () => void, shown?: () => void, showLook?: () => void, say?: (text: string) => void, hear?: (event: ServerEvent) => void}} Screen
 *   `hear` takes events that no table's state holds
 */

export class App {
  constructor() {
    this.root = /** @type {HTMLElement} */ (document.getElementById("screen"));
    /** @type {State | null} The state of the table of the path; `null` before its snapshot. */
    this.known = null;
    /** The game whose leaderboard the link in the head opens: that of the table or leaderboard that was shown last. */
    this.game = "canfield";
    /** @type {Screen | null} */
    this.screen = null;
    this.kind = "";
    this.watchesRace = "";
    /** The server's time at the player's last sign; 0: none on this page. */
    this.signAt = 0;
    /** The warnings that silence leads to, and the seconds left of which the player is warned now. */
    this.idleWarnings = "";
    this.idleLeft = 0;
    this.sentAt = 0;
    /** @type {Error | null} Why the page cannot go on; `null` while it can. */
    this.trouble = null;
    /** The alarms of this visit. @type {import("./session.js").Alarm[]} */
    this.alarms = [];
    this.alarmBar = h("div", { class: "alarms", role: "alert" });
    document.body.prepend(this.alarmBar);
    this.player = playerId();
    this.nonces = new Nonces(this.player, (race, sentence) => this.alarm(race, sentence));
    this.witness = new Witness(this);
    /** @type {typeof import("./results.js") | null} */
    this.results = null;
    /** Whether modules cannot be loaded, though the page has loaded itself again. */
    this.isIncomplete = false;
    /** The address of the modules for which the page has loaded itself again; it has their version. */
    this.reloadedFor = history.state?.reloadedFor;
    this.connection = this.#connected();
    document.addEventListener("keydown", (event) => this.#key(event), true);
    // a screen reader presses buttons by clicks alone
    for (const sign of ["pointerdown", "wheel", "click"])
      addEventListener(sign, () => this.act(), { passive: true, capture: true });
    document.addEventListener("click", (event) => this.#clicked(event));
    addEventListener("popstate", () => this.#route());
    setInterval(() => this.#tick(), TICK);
    showLook();
    matchMedia("(prefers-contrast: more)").addEventListener("change", showLook);
    this.show();
    this.#loadLater();
  }

  #connected() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    return new Connection({
      url: `${scheme}://${location.host}/`,
      token: token(),
      name: null,
      onEvent: (event) => this.#received(event),
      onLink: (link, end) => this.#linked(link, end),
      onAnswer: (command, answer) =>
        answer.type === "board" && this.witness.see(answer, command.move ?? "cash-out"),
      onWelcome: (welcome) =>
        welcome.player !== this.player && this.alarm("", "the server takes you for another player"),
    });
  }

  // Modules that the first screen can do without: loaded at once after it, since a server that is restarted may have others

  /** Load the page again, whose modules the server does not have any more; once for each of its versions, since a proxy may withhold them. */
  #cannotLoad() {
    if (this.reloadedFor !== import.meta.url) {
      history.replaceState({ reloadedFor: import.meta.url }, "");
      return location.reload();
    }
    this.isIncomplete = true;
    this.show();
    if (!(this.screen instanceof TroubleScreen)) this.notify(INCOMPLETE);
  }

  async #loadLater() {
    try {
      this.results = await import("./results.js");
    } catch {
      // a browser does not fetch a module again that has failed once
      while (this.connection.link !== "connected")
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      return this.#cannotLoad();
    }
    this.show();
  }

  // The path

  /** The code of the table that the path names; empty elsewhere. */
  get code() {
    const name = location.pathname.slice(1);
    return IS_CODE.test(name) ? name : "";
  }

  /** Go to another path of the page. @param {string} path */
  go(path) {
    if (path !== location.pathname + location.search) history.pushState(null, "", path);
    this.#route();
  }

  #route() {
    if (this.known?.table.code !== this.code) {
      const table = this.known?.table.code ?? "";
      if (this.connection.watched.has(table))
        this.connection.request("leave_table", { table }).catch(() => {});
      this.known = null;
    }
    // a table that does not exist is trouble on its own path only
    if (this.connection.link !== "closed") this.trouble = null;
    this.show();
    if (this.connection.link === "connected") this.#enter();
  }

  /** Come to the table of the path: to the own seat, or to look at it. */
  async #enter() {
    const code = this.code;
    if (!code || this.known) return;
    const isSeated = this.connection.welcome?.table === code || this.connection.seat === code;
    // reconnecting restores the seat and goes on watching
    try {
      const { table } = await this.connection.request("join_table", {
        table: code,
        seat: isSeated,
      });
      // another tab took the seat after this page's welcome
      if (!isSeated && session.seatAt(table, this.player))
        await this.connection.request("join_table", { table: code });
    } catch (error) {
      this.fail(error);
    }
  }

  /** Claim a name, if it is another. @param {string} name */
  async claim(name) {
    await this.connection.greeted;
    const { welcome } = this.connection;
    if (name && name !== welcome.name)
      welcome.name = (await this.connection.request("claim_name", { name })).name;
    rememberName(welcome.name ?? name);
  }

  /** The code of the table where the player has a seat; empty without one. @returns {string} */
  get seat() {
    return this.connection.seat || (this.connection.welcome?.table ?? "");
  }

  /** Open a table with these settings, and go there. @param {Settings} settings */
  async openTable(settings) {
    // a repeat with the same key opens no second table
    const taken = await this.#takeSeat("create_table", { ...settings, key: randomHex(16) });
    if (taken) this.go(`/${taken.table.code}`);
  }

  /** Take a seat, and go there. @param {string} [code] @param {string} [name] */
  async sitDown(code = this.code, name = "") {
    await this.claim(name);
    if (!(await this.#takeSeat("join_table", { table: code }))) return;
    rememberWatching(code, false);
    this.go(`/${code}`);
  }

  /** Take a seat at the table that is watched; a player without a name gives one first. */
  sitIn() {
    if (this.connection.welcome?.name) return this.sitDown().catch((error) => this.fail(error));
    rememberWatching(this.code, false);
    this.show();
  }

  /** Watch a table without a seat. @param {string} [code] */
  watch(code = this.code) {
    rememberWatching(code, true);
    this.go(`/${code}`);
  }

  /**
   * Take a seat by a command and return its answer; `null` if the player keeps the seat at another table.
   * That seat is given up last, when the wanted table is known to have one and a host has agreed, and is
   * taken again if the server refuses the new one even so.
   * @param {string} type @param {Record<string, any>} fields
   */
  async #takeSeat(type, fields) {
    const { connection, seat } = this;
    if (!seat || seat === fields.table) return connection.request(type, fields);
    const reason = fields.table ? await this.#whyNoSeatAt(fields.table) : "";
    const { table } = await connection.request("join_table", { table: seat }).catch((error) => {
      if (error instanceof Refused) return {};
      throw error;
    });
    if (table && isRacingAt(table, this.player)) {
      this.opening = `You are in a race at ${seat}, so you return there.`;
      this.go(`/${seat}`);
      return null;
    }
    if (reason) throw new Error(reason);
    if (table?.host === this.player && !(await agreesToLeave(seat))) return null;
    if (table) await connection.request("leave_table", { table: seat });
    connection.forget(seat);
    try {
      return await connection.request(type, fields);
    } catch (error) {
      if (table) await connection.request("join_table", { table: seat }).catch(() => {});
      throw error;
    }
  }

  /** Return why a table has no seat for a newcomer; reject without such a table. @param {string} code */
  async #whyNoSeatAt(code) {
    const { connection } = this;
    const wasWatched = connection.watched.has(code);
    const { table } = await connection.request("join_table", { table: code, seat: false });
    if (!wasWatched) await connection.request("leave_table", { table: code });
    return session.whyNoSeat(table);
  }

  // Events

  /** @param {ServerEvent} event */
  #received(event) {
    const { known } = this;
    if (event.type === "snapshot" && event.table.code === this.code) {
      const isWatching =
        !session.seatAt(event.table, this.player) && !session.isRacer(event.table, this.player);
      this.known = known
        ? { ...session.nextState(known, event, event.now), isWatching }
        : session.firstState(this.player, event, isWatching);
    } else if (known) this.known = session.nextState(known, event, this.now());
    if (event.type === "announcement") this.notify(event.text);
    if (event.type === "seat_lost" && event.table !== known?.table.code)
      openNotice(`You are no longer at table ${event.table}.`, event.reason);
    this.witness.see(event);
    this.screen?.hear?.(event);
    if (event.type === "snapshot") this.nonces.ready = "";
    if (event.type === "snapshot" || event.type === "table_changed") this.#keepPromise(event.table);
    if (
      event.type === "table_changed" &&
      event.table.code !== this.code &&
      event.table.phase === "countdown" &&
      session.isRacer(event.table, this.player)
    )
      return this.go(`/${event.table.code}`);
    this.show();
  }

  /** @param {string} link @param {Error | null} end */
  #linked(link, end) {
    if (link === "connected") this.#enter();
    if (link === "closed") this.trouble = end;
    if (this.known) this.known = session.linkChanged(this.known, link, this.now());
    this.show();
  }

  /** Reveal the nonce in the countdown, automatically and at once, whatever the page shows. @param {Table} table */
  #keepPromise(table) {
    // to act for a seat that another connection holds would close this one
    if (this.connection.seat !== table.code) return;
    const nonce = this.nonces.due(table);
    if (!nonce) return;
    const { connection } = this;
    connection
      .request("reveal", { table: table.code, commitment: table.commitment, nonce })
      .catch(() => (this.nonces.revealed = ""));
  }

  #tick() {
    this.#watchSilence();
    this.screen?.tick?.();
  }

  /** Warn a host between races who gives no sign; the screen of a race warns its player. */
  #watchSilence() {
    const { known: state, idleLeft } = this;
    const before = this.idleWarnings;
    this.idleWarnings = state ? session.idleWarnings(state).join() : "";
    // the three minutes begin anew with what they end
    if (state && (!this.idleWarnings || (before && before !== this.idleWarnings)))
      this.signAt = this.now();
    this.idleLeft = state ? session.idleLeft(state, this.signAt, this.now()) : 0;
    if (!this.idleWarnings || state?.table.phase === "running" || !idleLeft === !this.idleLeft)
      return;
    this.notify(this.idleLeft ? HOST_AWAY : "You stay host.");
  }

  // What screens ask for

  /** The state of the table on the screen; only the screens of a table ask for it. */
  get state() {
    return /** @type {State} */ (this.known);
  }

  /** The server's time. */
  now() {
    return this.connection.now();
  }

  /** Milliseconds that the server keeps the player waiting. */
  waited() {
    if (this.known?.own?.flight) return performance.now() - this.sentAt;
    const { silence } = this.connection;
    return silence > 4_500 ? silence : 0;
  }

  act() {
    this.signAt = this.now();
    this.connection.act();
  }

  /** Send a command; a refusal becomes a notice. @param {string} type @param {Record<string, unknown>} [fields] */
  async ask(type, fields = {}) {
    try {
      return await this.connection.request(type, fields);
    } catch (error) {
      this.fail(error);
      return null;
    }
  }

  /** The boards of a finished race as the server replays them, which may take it a while. @param {string} race @returns {Promise<import("./connection.js").ReplayedRace>} */
  async replayed(race) {
    for (let attempts = 1; ; attempts++) {
      const answer = await fetch(`/api/records/${race}/boards`);
      if (answer.ok) return answer.json();
      const isBusy = answer.status === 503 || answer.status === 429;
      if (!isBusy || attempts === REPLAYS) throw new Error((await answer.json()).message);
      await new Promise((resolve) => setTimeout(resolve, 1_000 * attempts));
    }
  }

  /** @param {boolean} isReady */
  ready(isReady) {
    const { code, commitment } = this.state.table;
    if (!isReady)
      return this.ask("not_ready", { table: code }).then(
        (done) => done && this.nonces.drop(commitment),
      );
    const nonce_hash = this.nonces.hashFor(commitment);
    if (!nonce_hash)
      return this.alarm(
        this.state.table.race,
        "the server offers a deal whose shuffle is known already",
      );
    return this.connection
      .request("ready", { table: code, commitment, nonce_hash })
      .catch((error) => {
        if (error.code === "wrong_nonce") this.nonces.drop(commitment);
        this.fail(error);
      });
  }

  /** @param {string} move */
  async play(move) {
    const { own } = this.state;
    if (!own) return;
    this.sentAt = performance.now();
    this.known = session.withMove(this.state, move);
    this.show();
    try {
      const { board } = await this.connection.request("move", {
        race: own.race,
        after: own.count,
        move,
      });
      if (this.known) this.known = session.confirmed(this.known, board);
    } catch (error) {
      if (!(error instanceof Refused) || !this.known) return;
      this.known = session.takenBack(this.known, reasonOf(error, move), error.event.board);
    }
    this.show();
  }

  /** Ask the server why a move is refused; the list of legal moves says that it is. @param {string} move */
  async why(move) {
    const { own } = this.state;
    if (!own || !session.mayMove(own) || own.legal.includes(move)) return "";
    try {
      const { board } = await this.connection.request("move", {
        race: own.race,
        after: own.count,
        move,
      });
      if (this.known) this.known = session.confirmed(this.known, board);
      this.show();
    } catch (error) {
      if (error instanceof Refused && error.code === "illegal_move") return reasonOf(error, move);
    }
    return "";
  }

  async cashOut() {
    const { own } = this.state;
    if (!own) return;
    this.known = session.withCashOut(this.state);
    this.show();
    try {
      const { board } = await this.connection.request("cash_out", {
        race: own.race,
        after: own.count,
      });
      if (this.known) this.known = session.confirmed(this.known, board);
    } catch (error) {
      if (error instanceof Refused && this.known)
        this.known = session.takenBack(this.known, error.message, error.event.board);
    }
    this.show();
  }

  endRace() {
    return this.ask("end_race", { race: this.state.table.race });
  }

  /** Show the race instead of the own board, or the board again. @param {boolean} isWatching */
  watchRace(isWatching) {
    this.watchesRace = isWatching ? this.state.table.race : "";
    this.show();
  }

  /** Leave the table; a player with a seat is asked first. */
  askToLeave() {
    if (!session.ownSeat(this.state)) return this.leave();
    const { own } = this.state;
    const words =
      own?.state === "racing"
        ? `Your race ends with ${own.banked} banked, and you give up your seat.`
        : "You give up your seat.";
    openQuestion("Leave the table?", "Stay", "Leave", () => this.leave(), h("p", {}, words));
  }

  async leave() {
    const { table } = this.state;
    if (await this.ask("leave_table", { table: table.code })) {
      this.known = null;
      rememberWatching(table.code, false);
      this.go("/");
    }
  }

  // The look

  nextTheme() {
    const theme = THEMES[(THEMES.indexOf(look().theme) + 1) % THEMES.length];
    changeLook({ theme });
    return theme || "as the system's";
  }

  /** @param {string} game */
  nextSuits(game) {
    changeLook({ suits: { ...look().suits, [game]: suitColours(game) === 4 ? 2 : 4 } });
    this.screen?.showLook?.();
    return true;
  }

  /** @param {boolean} [showsRules] */
  openLook(showsRules = false) {
    const game = this.known?.table.settings.game ?? "";
    const { theme, hand, keys } = look();
    const choice = (
      /** @type {string} */ label,
      /** @type {[string, string][]} */ options,
      /** @type {string} */ value,
      /** @type {(value: string) => void} */ change,
    ) =>
      h(
        "label",
        { class: "field" },
        label,
        h(
          "select",
          {
            onchange: (/** @type {Event & {target: HTMLSelectElement}} */ event) => {
              change(event.target.value);
              this.screen?.showLook?.();
            },
          },
          ...options.map(([name, words]) =>
            h("option", { value: name, selected: name === value }, words),
          ),
        ),
      );
    const rules = h(
      "details",
      { class: "rules", open: showsRules },
      h("summary", {}, `Rules of ${gameTitle(game)}`),
      h("div", { role: "status" }, "Loading\u2026"),
    );
    if (game) this.#loadRules(game, rules.lastElementChild);
    const help = h(
      "details",
      { class: "rules" },
      h("summary", {}, "Keys in a race"),
      h("dl", {}, ...KEYS.flatMap(([key, effect]) => [h("dt", {}, key), h("dd", {}, effect)])),
    );
    const sheet = openSheet(
      { title: "Look and rules", class: "look" },
      game && rules,
      game && help,
      choice(
        "Colours",
        [
          ["", "as the system's"],
          ["felt", "felt, dark"],
          ["paper", "paper, light"],
          ["contrast", "high contrast"],
        ],
        theme,
        (value) => changeLook({ theme: value }),
      ),
      game &&
        choice(
          `Suits of ${gameTitle(game)}`,
          [
            ["2", "two colours"],
            ["4", "four colours"],
          ],
          String(suitColours(game)),
          (value) => changeLook({ suits: { ...look().suits, [game]: Number(value) } }),
        ),
      choice(
        "Hand",
        [
          ["right", "right"],
          ["left", "left"],
        ],
        hand,
        (value) => changeLook({ hand: value }),
      ),
      choice(
        "Single keys",
        [
          ["on", "on"],
          ["off", "off"],
        ],
        keys,
        (value) => changeLook({ keys: value }),
      ),
      h(
        "div",
        { class: "row" },
        button("Back", () => sheet.close(), "main"),
      ),
    );
    return true;
  }

  /** @param {string} game @param {Element} place */
  async #loadRules(game, place) {
    try {
      const { about, rules } = await (await fetch(`/api/rules/${game}`)).json();
      fill(
        place,
        ...about.map((/** @type {string} */ paragraph) => h("p", {}, paragraph)),
        h(
          "dl",
          {},
          ...rules.flatMap((/** @type {[string, string]} */ [heading, rule]) => [
            h("dt", {}, heading),
            h("dd", {}, rule),
          ]),
        ),
      );
    } catch {
      fill(place, "The rules cannot be loaded now.");
    }
  }

  // Notices

  /**
   * Raise an alarm, which stays on every screen.
   * @param {string} race @param {string} sentence @param {boolean} [isMissing] that the race's record is missing
   */
  alarm(race, sentence, isMissing = false) {
    if (this.alarms.some((each) => each.race === race && each.sentence === sentence)) return;
    console.warn(`alarm: ${race}: ${sentence}`);
    this.alarms = [...this.alarms, { race, sentence, isMissing }];
    this.#showAlarms();
    // a race goes on below the bar; a sheet would take its keys
    if (!["call", "countdown", "running"].includes(this.known?.table.phase ?? ""))
      this.openAlarms();
  }

  /** Take back that a race's record is missing. @param {string} race */
  withdraw(race) {
    if (!this.isMissing(race)) return;
    this.alarms = this.alarms.filter((each) => each.race !== race || !each.isMissing);
    this.#showAlarms();
  }

  /** Whether the record of a race is missing. @param {string} race */
  isMissing(race) {
    return this.alarms.some((each) => each.race === race && each.isMissing);
  }

  /** Show the alarms in the bar of every screen, and in their sheet if it is open. */
  #showAlarms() {
    const { alarms, alarmTitle: title } = this;
    if (this.known) this.known = { ...this.known, alarms };
    document.documentElement.toggleAttribute("data-alarm", alarms.length > 0);
    const count = alarms.length > 1 ? ` (${alarms.length})` : "";
    const bar = h("button", { type: "button", onclick: () => this.openAlarms() }, title + count);
    fill(this.alarmBar, alarms.length > 0 && bar);
    const sheet = document.querySelector("dialog.alarm");
    sheet?.remove();
    if (sheet && alarms.length) this.openAlarms();
  }

  /** Whether nothing is wrong but that records have not come. */
  get areMissing() {
    return this.alarms.every(({ isMissing }) => isMissing);
  }

  get alarmTitle() {
    return this.areMissing
      ? "The record of a race is missing"
      : "ALARM: the server contradicts itself";
  }

  /** Show all alarms. */
  openAlarms() {
    if (document.querySelector("dialog.alarm")) return;
    const lines = this.alarms.map(({ race, sentence }) =>
      h("li", {}, race ? `Race ${race}: ${sentence}.` : `${sentence}.`),
    );
    const sheet = openSheet(
      { title: this.alarmTitle, class: "alarm" },
      h("ul", { class: "faults", tabindex: "0" }, ...lines),
      h(
        "p",
        {},
        this.areMissing
          ? "This page asks for it again, and takes this back when it comes."
          : "Tell the other players, and do not trust this race.",
      ),
      h(
        "div",
        { class: "row" },
        button("I have read it", () => sheet.close(), "main"),
      ),
    );
  }

  /** What the next board that opens says first; empty for its own words. */
  opening = "";

  /** Return that sentence, once. */
  takeOpening() {
    const { opening } = this;
    this.opening = "";
    return opening;
  }

  /** Show a sentence on the screen, or in a sheet. @param {string} text */
  notify(text) {
    if (this.screen?.say) return this.screen.say(text);
    openNotice("Saratoga", text);
  }

  /** @param {unknown} error */
  fail(error) {
    if (
      error instanceof Refused &&
      ["no_such_table", "table_closed"].includes(error.code) &&
      !this.known
    ) {
      this.trouble = error;
      this.show();
    } else if (!(error instanceof Closed))
      this.notify(error instanceof Error ? error.message : String(error));
  }

  // Showing

  /** Show the state on the screen that fits it. */
  show() {
    const [kind, make] = this.#chosen();
    if (kind !== this.kind || !this.screen) {
      this.goesOn = false;
      this.screen?.close();
      for (const sheet of document.querySelectorAll("dialog.sheet:not(.alarm)"))
        /** @type {HTMLDialogElement} */ (sheet).close();
      this.kind = kind;
      const screen = make();
      this.screen = screen;
      screen.show(this.state);
      fill(this.root, screen.node);
      screen.shown?.();
    } else this.screen.show(this.state);
    const [, place, game] = location.pathname.split("/");
    this.game = this.known?.table.settings.game ?? (place === "leaderboards" ? game : this.game);
    this.root.querySelector(".leaders")?.setAttribute("href", `/leaderboards/${this.game}`);
  }

  /** Return the name of the screen that fits the path and the state, and what makes it. @returns {[string, () => Screen]} */
  #chosen() {
    const { known: state, trouble, results } = this;
    const path = location.pathname;
    /** @type {[string, () => Screen]} */
    const noResults = this.isIncomplete
      ? ["incomplete", () => new TroubleScreen(new Incomplete())]
      : ["waiting", () => new WaitingScreen()];
    if (trouble)
      return [
        `trouble ${trouble.message}`,
        () => new TroubleScreen(/** @type {Error} */ (trouble)),
      ];
    if (path === "/") return ["lobby", () => new LobbyScreen(this)];
    if (path.startsWith("/leaderboards/"))
      return results ? ["leaderboards", () => new results.LeaderboardsScreen(this)] : noResults;
    if (path.startsWith("/races/"))
      return results ? [path, () => new results.ReviewScreen(this)] : noResults;
    if (!state) return ["waiting", () => new WaitingScreen()];
    const { table } = state;
    if (state.seatLost)
      return ["lost", () => new TroubleScreen(new SeatLost(table.code, state.seatLost))];
    if (state.isWatching && !watchesOnly(table.code))
      return [`name ${table.code}`, () => new NameScreen(this)];
    if (table.phase === "call" || table.phase === "countdown")
      return ["countdown", () => new CountdownScreen(this)];
    if (table.phase === "running") {
      // the deal comes a moment after the start
      if (!state.own && session.isRacer(table, this.player) && session.ownSeat(state))
        return ["countdown", () => new CountdownScreen(this)];
      if (state.own && this.watchesRace !== table.race)
        return [`race ${table.race}`, () => new RaceScreen(this)];
      return [`watch ${table.race}`, () => new WatchScreen(this)];
    }
    // results stay until the player goes on to the next race
    const stays = table.phase === "gathering" && this.kind.startsWith("results ") && !this.goesOn;
    if (table.phase === "over" || stays)
      return results
        ? [stays ? this.kind : `results ${table.race}`, () => new results.ResultsScreen(this)]
        : noResults;
    if (table.phase === "closed")
      return ["closed", () => new TroubleScreen(new Error(table.notice || "The table is closed."))];
    return [`table ${table.code}`, () => new TableScreen(this)];
  }

  /** Whether the player left the results for the next race. */
  goesOn = false;

  /** Go from the results to the table, which gathers again; the host makes it gather first. */
  async goOn() {
    const { table } = this.state;
    if (
      table.phase === "over" &&
      !(await this.ask("next_race", { table: table.code, race: table.race }))
    )
      return;
    this.goesOn = true;
    this.show();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    this.act();
    // neither the screen nor a question gets the keys that the player has switched off
    if (event.key.length === 1 && look().keys === "off") return event.stopPropagation();
    const isUndo = event.key === "z" && !event.altKey;
    if ((event.ctrlKey || event.altKey || event.metaKey) && !isUndo) return;
    const target = /** @type {HTMLElement} */ (event.target);
    if (document.querySelector("dialog[open]") || target.matches("input, select, textarea")) return;
    if (!this.screen?.key(event) && !this.#keyOfAllScreens(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Use a key that every screen has; return whether it was one. @param {string} key */
  #keyOfAllScreens(key) {
    if (key === "?") return this.openLook(true);
    if (key === "t") return Boolean(this.nextTheme());
    if (key !== "q" || !this.known) return false;
    this.askToLeave();
    return true;
  }

  /** Follow a link of the page without loading it again. @param {MouseEvent} event */
  #clicked(event) {
    const link = /** @type {HTMLAnchorElement | null} */ (
      /** @type {Element} */ (event.target).closest("a[href]")
    );
    if (
      !link ||
      link.origin !== location.origin ||
      link.target ||
      event.defaultPrevented ||
      event.ctrlKey ||
      event.metaKey ||
      event.shiftKey
    )
      return;
    if (link.pathname.startsWith("/api/")) return;
    event.preventDefault();
    this.go(link.pathname + link.search);
  }
}

/** What the page shows before the first snapshot. */
class WaitingScreen {
  constructor() {
    this.since = performance.now();
    this.says = h("p", { role: "status" }, "Connecting\u2026");
    this.node = h(
      "div",
      { class: "plain" },
      pageHead(),
      h("main", { class: "page" }, h("h1", { class: "unseen" }, "Saratoga"), this.says),
    );
  }

  tick() {
    if (performance.now() - this.since > LONG)
      write(this.says, "The server does not answer. Trying again; nothing is lost.");
  }

  show() {}

  key() {
    return false;
  }

  close() {}
}

/** Show a sentence in a sheet, whatever the screen is. @param {string} title @param {string} text */
function openNotice(title, text) {
  const sheet = openSheet(
    { title },
    h("p", { role: "status" }, text),
    h(
      "div",
      { class: "row" },
      button("OK", () => sheet.close(), "main"),
    ),
  );
}

/** What the page shows when it cannot go on: what happened, and what to do. */
class TroubleScreen {
  /** @param {Error} error */
  constructor(error) {
    const [heading, words, action, path] = wordsOf(error);
    this.heading = h("h1", { tabindex: -1 }, heading);
    this.node = h(
      "div",
      { class: "plain" },
      pageHead(),
      h(
        "main",
        { class: "page" },
        h(
          "div",
          { class: "box invite" },
          this.heading,
          h("p", {}, words),
          h(
            "a",
            {
              class: "button main",
              href: path,
              onclick: (/** @type {Event} */ event) => {
                event.preventDefault();
                location.assign(path);
              },
            },
            action,
          ),
        ),
      ),
    );
    document.title = `${heading} \u00b7 Saratoga`;
  }

  shown() {
    this.heading.focus();
  }

  show() {}

  key() {
    return false;
  }

  close() {}
}

/** The error that the seat at the table of the path is gone. */
class SeatLost extends Error {
  /** @param {string} code @param {string} reason */
  constructor(code, reason) {
    super(reason);
    this.code = code;
  }
}

/** The error that modules without which there are no results cannot be loaded. */
class Incomplete extends Error {}

/** @param {Error} error @returns {[string, string, string, string]} */
function wordsOf(error) {
  const here = location.pathname;
  const safe = "Everything that the server has confirmed is safe.";
  if (error instanceof Closed && error.code === 4500)
    return [
      "You are playing this seat in another window or on another device.",
      `This window is disconnected; continue there. ${safe}`,
      "Play here instead",
      here,
    ];
  if (error instanceof Closed && error.code === 4503)
    return [
      "The operator of this server has banned you.",
      "Ask the operator for the reason. Your finished races still count.",
      "To the lobby",
      "/",
    ];
  if (error instanceof Closed && error.code === 4505)
    return [
      "You were deleted on request.",
      "This browser's token is no longer known to the server.",
      "To the lobby",
      "/",
    ];
  if (error instanceof Closed)
    return [error.message || "The server closed the connection.", safe, "Connect again", here];
  if (error instanceof SeatLost)
    return [
      `You are no longer at table ${error.code}.`,
      `${error.message} To sit down again, if the table is open and the host allows it, take its code to the lobby.`,
      "To the lobby",
      "/",
    ];
  if (error instanceof Incomplete)
    return ["This page is incomplete.", INCOMPLETE, "Load the page again", here];
  return [
    error.message,
    "Ask your friends for the table's new code, or open a table.",
    "To the lobby",
    "/",
  ];
}

/** Why a move was refused, without the move: the player does not know how the wire writes it. @param {Refused} error @param {string} move */
function reasonOf(error, move) {
  return error.message.replace(`${move}: `, "");
}

/** Ask a host whether to leave the table. @param {string} code @returns {Promise<boolean>} */
function agreesToLeave(code) {
  return new Promise((resolve) => {
    const sheet = openQuestion(
      `Leave ${code}?`,
      "Stay",
      "Leave",
      () => resolve(true),
      h(
        "p",
        {},
        `You are host of ${code}. You give up your seat there, and another player becomes host.`,
      ),
    );
    sheet.addEventListener("close", () => resolve(false));
  });
}

/**
 * Whether a player has a seat at a table and is in its race, which may not have begun.
 * @param {Table} table @param {string} player
 */
function isRacingAt(table, player) {
  const seat = session.seatAt(table, player);
  if (!seat || !["call", "countdown", "running"].includes(table.phase)) return false;
  return session.takesReady(table) ? Boolean(seat.ready) : session.isRacer(table, player);
}

new App();
