/**
 * The page: one connection, one table, one screen at a time, chosen by the path and the table's phase.
 *
 * A screen asks the app for what it wants done.
 */

import { gameTitle, suitColours } from "./cards.js";
import { Closed, Connection, Refused } from "./connection.js";
import { Nonces } from "./fairness.js";
import { randomHex } from "./hash.js";
import * as me from "./identity.js";
import { look, changeLook } from "./identity.js";
import { HomeScreen, codeForm } from "./home.js";
import { IS_CODE, Screen, button, choice, field, fill, h, leaders, openQuestion } from "./page.js";
import { openSheet, pageHead, shownName } from "./page.js";
import { openOf, openPath, seeCommitments } from "./open_races.js";
import * as session from "./session.js";
import { NameScreen, TableScreen } from "./table.js";
import { Witness } from "./witness.js";

const TICK = 250;
/** What players can say at a table. @type {Record<string, string>} */
const REACTIONS = { gg: "good game!", again: "again?", nice: "nice!" };
/** The settings of a new table; its host changes them there. */
const NEW_TABLE = { cap: 10, seats: 16, public: false, races: 1 };
/** Milliseconds without a connection after which the page says so. */
const LONG = 4_000;
/** How often the page asks for the boards of a race. */
const REPLAYS = 5;
const HOST_AWAY =
  "No sign of you for two minutes. After three, another player becomes host; tap or press any key to stay host.";
/** @type {Record<string, string>} */
const THEMES = { "": "automatic", felt: "dark", paper: "light", contrast: "high contrast" };
const ON_OFF = { on: "on", off: "off" };
/** The labels of what the look can be, with the words of each value. @type {Record<string, [string, Record<string, string>]>} */
const LOOKS = {
  theme: ["Colours", THEMES],
  hand: ["Hand", { right: "right", left: "left" }],
  quick: ["Quick moves", ON_OFF],
  sound: ["Sound and vibration", ON_OFF],
  keys: ["Single keys", ON_OFF],
};
const INCOMPLETE =
  "The server or a proxy before it withholds the part of this page that shows races: load the page again later, or tell the server's operator.";

/**
 * @typedef {import("./session.js").State} State
 * @typedef {Partial<Omit<Screen, "said">> & {node: Element, show: (state: State) => void, showLook?: () => void,
 *   key: (event: KeyboardEvent) => unknown, close: () => void}} AnyScreen
 */

export class App {
  constructor() {
    this.root = /** @type {HTMLElement} */ (document.getElementById("screen"));
    /** @type {State | null} The state of the table of the path; `null` before its snapshot. */
    this.known = null;
    /** @type {AnyScreen | null} */
    this.screen = null;
    this.kind = "";
    this.watchesRace = "";
    /** The server's time at the player's last sign; 0: none on this page. */
    this.signAt = 0;
    /** The warnings that silence leads to, and the seconds left of the present one. */
    this.idleWarnings = "";
    this.idleLeft = 0;
    this.sentAt = 0;
    /** @type {Error | null} Why the page cannot go on; `null` while it can. */
    this.trouble = null;
    /** The alarms of this visit. @type {import("./session.js").Alarm[]} */
    this.alarms = [];
    /** By race: what `parOf` returns. @type {Map<string, number>} */
    this.pars = new Map();
    this.alarmBar = h("div.alarms", { role: "alert" });
    document.body.prepend(this.alarmBar);
    this.player = me.playerId();
    this.nonces = new Nonces(this.player, (race, sentence) => this.alarm(race, sentence));
    this.witness = new Witness(this);
    /** What the modules after the first screen have brought. @type {Partial<typeof import("./race.js") & typeof import("./results.js") & typeof import("./open_results.js")>} */
    this.later = {};
    /** Whether those modules cannot be loaded: a server that is restarted may have others. */
    this.isIncomplete = false;
    this.connection = this.#connected();
    document.addEventListener("keydown", (event) => this.#key(event), true);
    // a screen reader presses buttons by clicks alone
    for (const sign of ["pointerdown", "wheel", "click"])
      addEventListener(sign, () => this.act(), { passive: true, capture: true });
    document.addEventListener("click", (event) => this.#clicked(event));
    addEventListener("popstate", () => this.#route());
    addEventListener("pagehide", () => {
      if (this.known) me.rememberSeen(session.seenOf(this.known, this.now()));
    });
    setInterval(() => this.#tick(), TICK);
    me.showLook();
    matchMedia("(prefers-contrast: more)").addEventListener("change", me.showLook);
    this.show();
    me.followOwnLink();
    this.#loadLater();
  }

  #connected() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    return new Connection({
      url: `${scheme}://${location.host}/`,
      token: me.token(),
      onEvent: (event) => this.#received(event),
      onLink: (link, end) => this.#linked(link, end),
      onAnswer: (command, answer) => {
        if (answer.type === "board")
          this.witness.see(answer, command.type === "move" ? command.move : "cash-out");
        seeCommitments(this, answer);
      },
      onWelcome: (welcome) =>
        welcome.player !== this.player && this.alarm("", "the server takes you for another player"),
    });
  }

  // Modules that the first screen can do without: loaded at once after it

  async #loadLater() {
    const style = new URL("later.css", import.meta.url).href;
    document.head.append(h("link", { rel: "stylesheet", href: style }));
    try {
      this.later = await import("./race.js");
      this.show();
      this.later = { ...this.later, ...(await import("./results.js")) };
      this.later = { ...this.later, ...(await import("./open_results.js")) };
    } catch {
      // a browser does not fetch a module again that has failed once
      this.isIncomplete = true;
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
    me.followOwnLink();
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
      const joined = this.connection.request("join_table", { table: code, seat: isSeated });
      const { table } = await joined;
      // another tab took the seat after this page's welcome
      if (!isSeated && session.seatAt(table, this.player))
        await this.connection.request("join_table", { table: code });
    } catch (error) {
      this.fail(/** @type {Error} */ (error));
    }
  }

  /** Claim a name, if it is another. @param {string} name */
  async claim(name) {
    const { connection } = this;
    const welcome = connection.welcome ?? (await connection.greeted);
    if (name && name !== welcome.name)
      welcome.name = (await connection.request("claim_name", { name })).name;
    me.rememberName(welcome.name ?? name);
  }

  /** The code of the table where the player has a seat; empty without one. @returns {string} */
  get seat() {
    return this.connection.seat || (this.connection.welcome?.table ?? "");
  }

  /** Give a player without a name the last one, or else a guest's. */
  async claimGuest() {
    if ((this.connection.welcome ?? (await this.connection.greeted)).name) return;
    const guests = [1e3, 1e3, 1e3, 1e5].map(
      (most) => `Guest ${Math.floor((most * (1 + 9 * Math.random())) / 10)}`,
    );
    for (const name of [me.lastName(), ...guests].filter(Boolean))
      try {
        return await this.claim(name);
      } catch (error) {
        if (!(error instanceof Refused) || name === guests[3]) throw error;
      }
  }

  /** Open a table for this game, and go there. @param {string} game @param {boolean} [isQuick] whether to race bots at once */
  async openTable(game, isQuick = false) {
    // a repeat with the same key opens no second table
    const taken = await this.#takeSeat("create_table", { ...NEW_TABLE, game, key: randomHex(16) });
    if (!taken) return;
    const { code } = taken.table;
    this.racesBots = isQuick ? code : "";
    this.go(`/${code}`);
  }

  /** Race two bots, as a guest if need be. */
  async playNow() {
    await this.claimGuest();
    await this.openTable("klondike", true);
  }

  /** Run an open race, as a guest if need be, or come back to the run. @param {string} open */
  async enterOpen(open) {
    await this.claimGuest();
    const taken = await this.#takeSeat("enter_open", { open });
    if (taken) this.go(`/${taken.table.code}`);
  }

  /** Take a seat at the table of the path. */
  async sitDown() {
    const { code } = this;
    if (!(await this.#takeSeat("join_table", { table: code }))) return;
    me.rememberWatching(code, false);
    this.go(`/${code}`);
  }

  /** Take a seat at the table that is watched; a player without a name gives one first. */
  sitIn() {
    if (this.connection.welcome?.name) return this.sitDown().catch((error) => this.fail(error));
    me.rememberWatching(this.code, false);
    this.show();
  }

  /** Watch the table of the path without a seat. */
  watch() {
    me.rememberWatching(this.code, true);
    this.show();
  }

  /**
   * Take a seat by a command and return its answer; `null` if the player keeps the seat at another table.
   * That seat is given up last, when the wanted table is known to have one and a host has agreed, and is
   * taken again if the server refuses the new one even so.
   * @template {"create_table" | "join_table" | "enter_open"} Type
   * @param {Type} type @param {import("./connection.js").Fields<Type> & {table?: string}} fields
   */
  async #takeSeat(type, fields) {
    const { connection, seat } = this;
    if (!seat || seat === fields.table) return connection.request(type, fields);
    const reason = fields.table && this.known ? session.whyNoSeat(this.known.table) : "";
    const former = connection.request("join_table", { table: seat });
    const table = await former.then(
      (snapshot) => snapshot.table,
      (error) => {
        if (error instanceof Refused) return null;
        throw error;
      },
    );
    if (table && isRacingAt(table, this.player)) {
      this.opening = `You are in a race at ${seat}, so you return there.`;
      this.go(`/${seat}`);
      return null;
    }
    if (reason) throw new Error(reason);
    const isAlone = table?.seats.every(({ player, bot }) => bot || player === this.player);
    if (table?.host === this.player && !isAlone && !(await agreesToLeave(seat))) return null;
    if (table) await connection.request("leave_table", { table: seat });
    connection.forget(seat);
    try {
      return await connection.request(type, fields);
    } catch (error) {
      if (table) await connection.request("join_table", { table: seat }).catch(() => {});
      throw error;
    }
  }

  // Events

  /** @param {Wire.Event} event */
  #received(event) {
    const { known } = this;
    if (event.type === "snapshot" && event.table.code === this.code) {
      const isWatching =
        !session.seatAt(event.table, this.player) && !session.isRacer(event.table, this.player);
      this.known = known
        ? { ...session.nextState(known, event, event.now), isWatching }
        : session.firstState(this.player, event, isWatching, me.lastSeen());
    } else if (known) this.known = session.nextState(known, event, this.now());
    if (event.type === "announcement") this.notify(event.text);
    // the table's own screen says more
    if (event.type === "table_changed" && known && this.kind.startsWith("results "))
      for (const seat of event.table.seats)
        if (!session.seatAt(known.table, seat.player)) this.notify(`${shownName(seat)} sat down.`);
    const said = event.type === "reacted" && event.player !== this.player && this.known;
    if (said)
      this.notify(
        `${session.nameOf(said, event.player)}: ${REACTIONS[event.reaction] ?? "hello!"}`,
      );
    if (event.type === "seat_lost" && event.table !== known?.table.code)
      openNotice(`You are no longer at table ${event.table}.`, event.reason);
    this.#rememberRace();
    this.witness.see(event);
    this.screen?.hear?.(event);
    if (event.type === "snapshot") this.nonces.ready = "";
    if (event.type === "snapshot" || event.type === "table_changed") this.#keepPromise(event.table);
    if (event.type === "table_changed") {
      const { code, phase } = event.table;
      const isRacer = session.isRacer(event.table, this.player);
      if (code !== this.code && phase === "countdown" && isRacer) return this.go(`/${code}`);
    }
    this.#leaveRun();
    this.show();
  }

  /** Go from the own run in an open race, which has ended, to the page of that race. */
  #leaveRun() {
    const { table, seatLost } = this.known ?? {};
    if (!table?.open || (table.phase !== "over" && !seatLost)) return;
    if (!seatLost) this.connection.request("leave_table", { table: table.code }).catch(() => {});
    this.known = null;
    history.replaceState(null, "", openPath(table.open));
  }

  /** Remember the race that is over, for the home; of an open race only the own run. */
  #rememberRace() {
    const state = this.known;
    const own = state?.outcome && session.ownRow(state);
    if (!state?.outcome || !own) return;
    const { open } = state.table;
    const { game, race } = state.outcome;
    const { place, banked, net } = own;
    const all = open ? [own] : session.rows(state);
    const others = all.filter((row) => row.player !== this.player && !row.bot);
    const names = others.map((row) => row.name);
    const raced = { race: open || race, game, place, racers: all.length, banked, net };
    me.rememberRace(this.player, { ...raced, others: names });
  }

  /** @param {string} link @param {Error | null} end */
  #linked(link, end) {
    if (link === "connected") this.#enter();
    if (link === "closed") this.trouble = end;
    if (this.known) this.known = { ...this.known, link };
    this.show();
  }

  /** Reveal the nonce in the countdown, whatever the page shows. @param {Wire.Table} table */
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

  /**
   * Send a command; a refusal becomes a notice.
   * @template {Wire.Command["type"]} Type
   * @param {Type} type @param {import("./connection.js").Fields<Type>} fields
   */
  async ask(type, fields) {
    try {
      return await this.connection.request(type, fields);
    } catch (error) {
      this.fail(/** @type {Error} */ (error));
      return null;
    }
  }

  /** The boards of a finished race as the server replays them, which may take it a while. @param {string} race @returns {Promise<Wire.ReplayedRace>} */
  async replayed(race) {
    for (let attempts = 1; ; attempts++) {
      const answer = await fetch(`/api/records/${race}/boards`);
      if (answer.ok) return answer.json();
      const isBusy = answer.status === 503 || answer.status === 429;
      if (!isBusy || attempts === REPLAYS) throw new Error((await answer.json()).message);
      await new Promise((resolve) => setTimeout(resolve, 1_000 * attempts));
    }
  }

  /** The count of the line of moves that the server found on the deal of a race that is over; 0 until it comes, for which each screen is shown again. @param {string} race */
  parOf(race) {
    if (!this.pars.has(race)) {
      this.pars.set(race, 0);
      // a server that searches for others' takes the question back
      this.connection.request("get_par", { race }).then(
        ({ banked }) => {
          this.pars.set(race, banked);
          this.show();
        },
        () => {},
      );
    }
    return this.pars.get(race) ?? 0;
  }

  /** @param {boolean} isReady */
  async ready(isReady) {
    const { code, commitment, race } = this.state.table;
    if (!isReady) {
      if (await this.ask("not_ready", { table: code })) this.nonces.drop(commitment);
      return;
    }
    const nonce_hash = this.nonces.hashFor(commitment);
    const known = "the server offers a deal whose shuffle is known already";
    if (!nonce_hash) return this.alarm(race, known);
    const ready = { table: code, commitment, nonce_hash };
    await this.connection.request("ready", ready).catch((error) => {
      if (error.code === "wrong_nonce") this.nonces.drop(commitment);
      this.fail(error);
    });
  }

  /**
   * Send a command on the own board and take the board of its answer; return why it was refused, if it was.
   * @param {session.OwnBoard} own @param {"move" | "cash_out"} type @param {{move?: string}} [fields]
   */
  async #act({ race, count }, type, fields) {
    try {
      const command = { race, after: count, ...fields };
      const { board } = await this.connection.request(type, command);
      if (this.known) this.known = session.confirmed(this.known, board);
    } catch (error) {
      if (error instanceof Refused) return error;
    }
    return null;
  }

  /** @param {string} move */
  async play(move) {
    const { own } = this.state;
    if (!own) return;
    this.sentAt = performance.now();
    this.known = session.withMove(this.state, move);
    this.show();
    this.#takeBack(await this.#act(own, "move", { move }), move);
  }

  async cashOut() {
    const { own } = this.state;
    if (!own) return;
    this.known = session.withCashOut(this.state);
    this.show();
    this.#takeBack(await this.#act(own, "cash_out"), "");
  }

  /** @param {Refused | null} refused @param {string} move */
  #takeBack(refused, move) {
    if (refused && this.known)
      this.known = session.takenBack(this.known, reasonOf(refused, move), refused.event.board);
    this.show();
  }

  /** Ask the server why a move that is not legal is refused. @param {string} move */
  async why(move) {
    const { own } = this.state;
    if (!own || !session.mayMove(own) || own.legal.includes(move)) return "";
    const refused = await this.#act(own, "move", { move });
    this.show();
    return refused?.code === "illegal_move" ? reasonOf(refused, move) : "";
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
    const { own, table } = this.state;
    if (table.open) {
      const counts = `It counts with ${own?.banked ?? 0} banked, and there is no second one.`;
      openQuestion("End your run?", "Keep playing", "End it", () => this.leave(), counts);
      return;
    }
    const isOn = own?.state === "racing";
    const words = isOn ? `Your race ends with ${own.banked} banked, and you` : "You";
    const leave = () => this.leave();
    openQuestion("Leave the table?", "Stay", "Leave", leave, `${words} give up your seat.`);
  }

  async leave() {
    const { table } = this.state;
    if (await this.ask("leave_table", { table: table.code })) {
      this.known = null;
      me.rememberWatching(table.code, false);
      this.go(table.open ? openPath(table.open) : "/");
    }
  }

  // Company

  /** Ask for a bot. @param {string} level */
  addBot(level) {
    return this.ask("add_bot", { table: this.code, level, key: randomHex(16) });
  }

  /** Say something to everyone at the table. @param {string} reaction */
  async react(reaction) {
    // the server takes three at once, and then one in two seconds
    if (this.isSaying) return this.notify("One moment: that was a lot at once.");
    this.isSaying = true;
    const done = await this.ask("react", { table: this.code, reaction });
    this.isSaying = false;
    if (done) this.notify(`You: ${REACTIONS[reaction]}`);
  }

  /** The buttons that say something to the table; none without a seat or company. */
  reactions() {
    const { table, player } = this.state;
    const hasCompany = table.seats.some((seat) => !seat.bot && seat.player !== player);
    if (!hasCompany || !session.seatAt(table, player)) return null;
    const buttons = Object.entries(REACTIONS).map(([word, words]) =>
      button(words, () => this.react(word), "small", `say ${word}`),
    );
    return h("div.says", { role: "group", "aria-label": "Say to the table" }, ...buttons);
  }

  /** Ask by a key what to say. */
  openSay() {
    const words = Object.entries(REACTIONS);
    const say = (/** @type {string} */ word) => {
      sheet.close();
      this.react(word);
    };
    const keys = Object.fromEntries(words.map(([word], at) => [at + 1, () => say(word)]));
    const buttons = words.map(([word, text], at) => button(`${at + 1} ${text}`, () => say(word)));
    const sheet = openSheet({ title: "Say to the table", keys }, h("div.row", ...buttons));
    return true;
  }

  // The look

  nextTheme() {
    const themes = Object.keys(THEMES);
    const theme = themes[(themes.indexOf(look().theme) + 1) % themes.length];
    changeLook({ theme });
    this.notify(`Colours: ${THEMES[theme]}.`);
    return true;
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
    const title = gameTitle(game);
    const { suits, ...present } = look();
    const change = (/** @type {Partial<me.Look>} */ to) => {
      changeLook(to);
      this.screen?.showLook?.();
    };
    const choices = Object.entries(LOOKS).map(([name, [label, words]]) => {
      const value = present[/** @type {"theme"} */ (name)];
      const changed = (/** @type {string} */ to) => change({ [name]: to });
      return field(
        label,
        choice(Object.keys(words), (each) => words[each], value, changed),
      );
    });
    const colours = (/** @type {number} */ number) =>
      number === 2 ? "two colours" : "four colours";
    const changed = (/** @type {number} */ to) => change({ suits: { ...suits, [game]: to } });
    const ofSuits = choice([2, 4], colours, suitColours(game), changed);
    const rules = h("div", { role: "status" }, "Loading\u2026");
    if (game) this.#loadRules(game, rules);
    openSheet(
      { title: "Look and rules", class: "look", back: "Back" },
      game && h("details.rules", { open: showsRules }, h("summary", `Rules of ${title}`), rules),
      game && h("details.rules", h("summary", "Keys in a race"), termsOf(this.later.KEYS ?? [])),
      ...choices,
      game && field(`Suits of ${title}`, ofSuits),
    );
    return true;
  }

  /** @param {string} game @param {Element} place */
  async #loadRules(game, place) {
    try {
      const { about, rules } = await (await fetch(`/api/rules/${game}`)).json();
      const paragraphs = about.map((/** @type {string} */ text) => h("p", text));
      fill(place, ...paragraphs, termsOf(rules));
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
    if (!this.known || !session.isUnderWay(this.known.table)) this.openAlarms();
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
    document.documentElement.toggleAttribute("data-alarm", alarms.length > 0);
    const count = alarms.length > 1 ? ` (${alarms.length})` : "";
    const bar = h("button", { type: "button", onclick: () => this.openAlarms() }, title + count);
    fill(this.alarmBar, alarms.length > 0 && bar);
    const sheet = document.querySelector("dialog.alarm");
    sheet?.remove();
    if (sheet && alarms.length) this.openAlarms();
    this.show();
  }

  /** Whether nothing is wrong but that records have not come. */
  get areMissing() {
    return this.alarms.every(({ isMissing }) => isMissing);
  }

  get alarmTitle() {
    const contradicts = "ALARM: the server contradicts itself";
    return this.areMissing ? "The record of a race is missing" : contradicts;
  }

  /** Show all alarms. */
  openAlarms() {
    if (document.querySelector("dialog.alarm")) return;
    const lines = this.alarms.map(({ race, sentence }) =>
      h("li", race ? `Race ${race}: ${sentence}.` : `${sentence}.`),
    );
    const advice = this.areMissing
      ? "This page asks for it again, and takes this back when it comes."
      : "Tell the other players, and do not trust this race.";
    openSheet(
      { title: this.alarmTitle, class: "alarm", back: "I have read it" },
      h("ul.faults", { tabindex: "0" }, ...lines),
      h("p", advice),
    );
  }

  /** The code of the new table whose host races bots at once. */
  racesBots = "";
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

  /** @param {Error} error */
  fail(error) {
    const isGone =
      error instanceof Refused && ["no_such_table", "table_closed"].includes(error.code);
    if (isGone && !this.known) {
      this.trouble = error;
      this.show();
    } else if (!(error instanceof Closed)) this.notify(error.message);
  }

  // Showing

  /** Show the state on the screen that fits it. */
  show() {
    const [kind, make] = this.#chosen();
    const [, place, game] = location.pathname.split("/");
    leaders.game =
      this.known?.table.settings.game ?? (place === "leaderboards" ? game : leaders.game);
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
  }

  /**
   * Return the name of the screen that fits the path and the state, and what makes it.
   * @returns {[string, () => AnyScreen]}
   */
  #chosen() {
    const { known: state } = this;
    const path = location.pathname;
    /** @param {Trouble} words @returns {[string, () => AnyScreen]} */
    const trouble = (...words) => [`trouble ${words[0]}`, () => new TroubleScreen(this, words)];
    /** @typedef {"CountdownScreen" | "RaceScreen" | "WatchScreen" | "LeaderboardsScreen" | "ReviewScreen" | "ResultsScreen" | "OpenScreen"} Later */
    /** @param {string} kind @param {Later} name @returns {[string, () => AnyScreen]} */
    const later = (kind, name) => {
      const Made = this.later[name];
      if (Made) return [kind, () => new Made(this)];
      if (!this.isIncomplete) return waiting;
      return trouble("This page is incomplete.", INCOMPLETE, "Load the page again", path);
    };
    /** @type {[string, () => AnyScreen]} */
    const waiting = ["waiting", () => new WaitingScreen(this)];
    if (this.trouble) return trouble(...troubleOf(this.trouble));
    if (path === "/") return ["home", () => new HomeScreen(this)];
    if (path.startsWith("/leaderboards/")) return later("leaderboards", "LeaderboardsScreen");
    if (path.startsWith("/races/")) return later(path, "ReviewScreen");
    if (openOf(path)) return later(path, "OpenScreen");
    if (!state) return waiting;
    const { table, own } = state;
    const { code, phase, race } = table;
    if (state.seatLost)
      return trouble(`You are no longer at table ${code}.`, `${state.seatLost} ${LINK_LEADS_BACK}`);
    if (state.isWatching && !me.watchesOnly(code))
      return [`name ${code}`, () => new NameScreen(this)];
    // the deal comes a moment after the start
    const isDealt = own || !session.isRacer(table, this.player) || !session.ownSeat(state);
    if (phase === "call" || phase === "countdown" || (phase === "running" && !isDealt))
      return later("countdown", "CountdownScreen");
    if (phase === "running" && own && this.watchesRace !== race)
      return later(`race ${race}`, "RaceScreen");
    if (phase === "running") return later(`watch ${race}`, "WatchScreen");
    // results stay until the player goes on to the next race
    const stays = phase === "gathering" && this.kind.startsWith("results ") && !this.goesOn;
    if (phase === "over" || stays)
      return later(stays ? this.kind : `results ${race}`, "ResultsScreen");
    if (phase === "closed") return trouble(table.notice || "The table is closed.", LOOK_AGAIN);
    return [`table ${code}`, () => new TableScreen(this)];
  }

  /** Whether a reaction is on its way. */
  isSaying = false;
  /** Whether the player left the results for the next race. */
  goesOn = false;

  /** Go from the results to the table, which gathers again. */
  goOn() {
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
    if (key === "t") return this.nextTheme();
    if (key === "e" && this.known && session.ownSeat(this.known)) return this.openSay();
    if (key !== "q" || !this.known) return false;
    this.askToLeave();
    return true;
  }

  /** Follow a link of the page without loading it again. @param {MouseEvent} event */
  #clicked(event) {
    const link = /** @type {Element} */ (event.target).closest("a");
    const isFollowed = event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey;
    if (link?.origin !== location.origin || link.target || isFollowed) return;
    if (link.pathname.startsWith("/api/")) return;
    event.preventDefault();
    this.go(link.pathname + link.search);
  }
}

/** What the page shows before the first snapshot. */
class WaitingScreen extends Screen {
  since = performance.now();
  said = "Connecting\u2026";

  view() {
    const heading = h("h1.unseen", "Saratoga");
    return [pageHead(), h("main.page", heading, h("p", { role: "status" }, this.said))];
  }

  tick() {
    if (performance.now() - this.since > LONG)
      this.say("The server does not answer. Trying again; nothing is lost.");
  }
}

/** Show a sentence in a sheet. @param {string} title @param {string} text */
function openNotice(title, text) {
  openSheet({ title, back: "OK" }, h("p", { role: "status" }, text));
}

/** A list of terms, each with what it means. @param {string[][]} terms */
function termsOf(terms) {
  return h("dl", ...terms.flatMap(([term, meaning]) => [h("dt", term), h("dd", meaning)]));
}

/** What the page shows when it cannot go on: what happened, and what to do. */
class TroubleScreen extends Screen {
  /** @type {import("./page.js").Child[]} */
  codeProblem = [];

  /** @param {App} app @param {Trouble} trouble */
  constructor(app, trouble) {
    super(app);
    this.trouble = trouble;
  }

  view() {
    const [heading, words, action = "Go home", path = "/"] = this.trouble;
    const load = (/** @type {Event} */ event) => {
      event.preventDefault();
      location.assign(path);
    };
    document.title = `${heading} \u00b7 Saratoga`;
    const link = h("a.button.main", { href: path, onclick: load }, action);
    const isGone = this.app.trouble instanceof Refused;
    const box = h(
      "div.box.invite",
      h("h1", { tabindex: -1 }, heading),
      h("p", words),
      isGone && codeForm(this),
      link,
    );
    return [pageHead(), h("main.page", box)];
  }
}

/** What has happened, what to do, and the words and the path of the link, which leads home. @typedef {[string, string, string?, string?]} Trouble */

const LINK_LEADS_BACK = "If the table is open and the host allows it, its link leads there again.";
const LOOK_AGAIN =
  "Look at the code again, or ask your friends for the link. Tables close some time after their last race.";
/** Why the operator's server closes a connection for good. @type {Record<number, Trouble>} */
const CLOSINGS = {
  4503: [
    "The operator of this server has banned you.",
    "Ask the operator for the reason. Your finished races still count.",
  ],
  4505: ["You were deleted on request.", "This browser's token is no longer known to the server."],
};

/** @param {Error} error @returns {Trouble} */
function troubleOf(error) {
  const here = location.pathname;
  const safe = "Everything that the server has confirmed is safe.";
  if (!(error instanceof Closed)) return [error.message, LOOK_AGAIN];
  if (error.code === 4500)
    return [
      "You are playing this seat in another window or on another device.",
      `This window is disconnected; continue there. ${safe}`,
      "Play here instead",
      here,
    ];
  const again = /** @type {const} */ ([safe, "Connect again", here]);
  return CLOSINGS[error.code] ?? [error.message || "The server closed the connection.", ...again];
}

/** Why a move was refused, without the move: the player does not know how the wire writes it. @param {Refused} error @param {string} move */
function reasonOf(error, move) {
  return error.message.replace(`${move}: `, "");
}

/** Ask a host whether to leave the table. @param {string} code @returns {Promise<boolean>} */
function agreesToLeave(code) {
  const words = `You are host of ${code}. You give up your seat there, and another player becomes host.`;
  return new Promise((resolve) => {
    const agree = () => resolve(true);
    const sheet = openQuestion(`Leave ${code}?`, "Stay", "Leave", agree, words);
    sheet.addEventListener("close", () => resolve(false));
  });
}

/**
 * Whether a player has a seat at a table and is in its race, which may not have begun.
 * @param {Wire.Table} table @param {string} player
 */
function isRacingAt(table, player) {
  const seat = session.seatAt(table, player);
  if (!seat || !session.isUnderWay(table)) return false;
  return session.takesReady(table) ? Boolean(seat.ready) : session.isRacer(table, player);
}

new App();
