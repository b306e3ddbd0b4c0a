/** The lobby, the invitation, the table before a race, and who the player is. */

import { GAMES, PRIZE, VOID_REASONS, gameTitle } from "./cards.js";
import { becomePlayerOf, exportedToken, lastName, origin, readToken } from "./identity.js";
import * as page from "./page.js";
import { Screen, button, counted, field, form, h, openQuestion, pageHead } from "./page.js";
import { isUnderWay, ownSeat, seatAt, whyNoSeat } from "./session.js";

/**
 * @typedef {import("./main.js").App} App @typedef {import("./session.js").State} State
 * @typedef {Required<Wire.TableSettings>} Settings
 */

const CAPS = [3, 5, 10, 20, 0];
const MATCHES = [1, 3, 5];
const MOST_SEATS = 16;
const ASKS_NAME = "Give a name, such as Anna; the others see it.";
const HERE_ONLY =
  "Only this computer can open this link. For friends, open the page at this computer's address in your network, and invite them from there.";
/** Milliseconds between two requests for the leaders. */
const LEADERS_EVERY = 20_000;

/** The line that says that the race before was voided, and why; none if it was not. @param {Wire.Table} table */
function voidedLine(table) {
  const voided = table.previous;
  if (!voided?.reason) return null;
  const [blamed] = voided.blamed ?? [];
  const left = voided.reason === "racer-left" && blamed ? seatAt(table, blamed) : null;
  const reason = left
    ? `${page.shownName(left)} left in the countdown`
    : (VOID_REASONS[voided.reason] ?? voided.reason);
  const what = voided.reason === "closed" ? "counts for nothing" : "did not start";
  const command = `saratoga verify ${voided.race} --server ${serverUrl()}`;
  return h(
    "p.why",
    h("b", "Voided by the server. "),
    `Race ${numberOf(voided)} ${what}: ${reason}. In a terminal: `,
    h("code", command),
  );
}

/**
 * Return the table in a code, a link or a pasted invitation, and the page's address for it at another server;
 * the code is empty if the text names no table.
 * @param {string} text
 */
function destination(text) {
  const [link] = /(?:wss?|https?):\/\/[^\s"'<>]+/i.exec(text) ?? [""];
  let found = null;
  try {
    if (link) found = new URL(link.replace(/^ws/i, "http").replace(/[.,;:!?)/]+$/, ""));
  } catch {
    // what only begins like a link may still hold a code
  }
  const last = found?.pathname.split("/").pop()?.toLowerCase() ?? "";
  const outside = (found ? text.replace(link, " ") : text).toLowerCase();
  const code = new RegExp(`^${page.CODE}$`).test(last)
    ? last
    : (new RegExp(`(?:^|[^a-z0-9-])(${page.CODE})(?![a-z0-9-])`).exec(outside)?.[1] ?? "");
  return {
    code,
    elsewhere: found && code && found.host !== location.host ? `${found.origin}/${code}` : "",
  };
}

/** The address of this server for programs. */
function serverUrl() {
  return location.origin.replace(/^http/, "ws");
}

/**
 * A place of a table's race in its match, such as `race 2 of 3`; empty without a match.
 * @param {Wire.Table} table @param {Wire.Match | null} match
 */
function raceOfMatch(table, match) {
  const { races = 1 } = table.settings;
  if (races === 1) return "";
  const finished = match?.finished ?? [];
  // the news that a match is over may come a moment before its end
  return `race ${finished.includes(table.race) ? finished.length : (finished.length % races) + 1} of ${races}`;
}

/** @param {{race: string}} table */
function numberOf({ race }) {
  return race.split("/")[1];
}

/** A field for a name. @param {string} label @param {page.Attributes} attributes */
function nameField(label, attributes) {
  const input = h("input", { maxlength: 20, autocomplete: "nickname", ...attributes });
  return field(label, input);
}

/**
 * The fields of a table's settings: for a new table, or for the host's.
 * @param {Settings} settings @param {string[]} games
 * @param {(change: Partial<Settings>) => void} changed called with the setting that the player chose
 * @param {boolean} [hasKeys] whether keys change the settings too
 */
function settingsFields(settings, games, changed, hasKeys = false) {
  /**
   * @template {keyof Settings} Name
   * @param {string} label @param {string} key @param {Name} name
   * @param {Settings[Name][]} values @param {(value: Settings[Name]) => string} words
   */
  const select = (label, key, name, values, words) => {
    const change = (/** @type {Settings[Name]} */ value) => changed({ [name]: value });
    return field(label, page.choice(values, words, settings[name], change), hasKeys ? key : "");
  };
  const seats = Array.from({ length: MOST_SEATS }, (_, at) => at + 1);
  const who = (/** @type {boolean} */ all) => (all ? "public, in every lobby" : "private, by code");
  return h(
    "div.fields",
    select("Game", "g", "game", games, gameTitle),
    select("Time limit", "c", "cap", capsOf(settings), page.capWords),
    select("Seats", "+ -", "seats", seats, (number) => counted(number, "seat")),
    select("Match", "m", "races", MATCHES, page.matchWords),
    select("Who may come", "p", "public", [false, true], who),
  );
}

/** The time limits to choose from: only private tables may have none. @param {Settings} settings */
function capsOf(settings) {
  return CAPS.filter((cap) => cap || !settings.public);
}

/** The settings with the one that the wire may leave out. @param {Wire.TableSettings} settings @returns {Settings} */
function whole(settings) {
  return { races: 1, ...settings };
}

/** Give the settings one change; a public table has a time limit. @param {Settings} settings @param {Partial<Settings>} change */
function withSetting(settings, change) {
  const changed = { ...settings, ...change };
  return changed.public && !changed.cap ? { ...changed, cap: 10 } : changed;
}

// The lobby

export class LobbyScreen extends Screen {
  isFollowing = false;
  askedAt = -LEADERS_EVERY;
  /** @type {Settings} */
  settings = { game: "", cap: 10, seats: MOST_SEATS, public: false, races: 1 };
  /** @type {Wire.TableSummary[] | null} */
  tables = null;
  /** By game; `null` without one. @type {Record<string, Wire.LeaderboardRow | null>} */
  leaders = {};
  /** What is wrong with the new table, and with the code. @type {page.Child[]} */
  problem = [];
  /** @type {page.Child[]} */
  codeProblem = [];

  /** @returns {string[]} */
  get games() {
    return this.app.connection.welcome?.games ?? Object.keys(GAMES);
  }

  show() {
    document.title = "Saratoga";
    if (!this.games.includes(this.settings.game)) this.settings.game = this.games[0];
    this.draw();
    this.tick();
  }

  view() {
    const { app, tables } = this;
    const back = { href: `/${app.seat}`, "data-key": "back" };
    const none = "None now: open one, or join a private one by its code.";
    return [
      pageHead(youButton(app)),
      h(
        "main.page.split.beside",
        h(
          "div.box",
          { role: "region", "aria-labelledby": "tables" },
          h("h1", { id: "tables", tabindex: -1 }, "Public tables"),
          h("p", ...this.#you()),
          h("p", app.seat && h("a.button.main", back, "Back to your table")),
          h("ol.seats", ...(tables ?? []).map((table) => this.#table(table))),
          h("p.dim", tables ? !tables.length && none : "Looking for tables\u2026"),
          h("p", { role: "status" }, this.said),
        ),
        h("div.page", this.#byCode(), this.#newTable()),
        this.#leaders(),
      ),
    ];
  }

  #you() {
    const { welcome, link } = this.app.connection;
    const { seat } = this.app;
    if (link === "connecting") return ["Connecting to the server\u2026"];
    if (link !== "connected") return ["The connection is lost; reconnecting\u2026"];
    if (!welcome?.name) return ["You have no name at this server yet. A table asks for one."];
    return ["You are ", h("b", welcome.name), seat ? `, and you have a seat at ${seat}.` : "."];
  }

  #byCode() {
    const input = {
      name: "code",
      placeholder: "mint-otter-42",
      autocomplete: "off",
      autocapitalize: "none",
      spellcheck: "false",
      "aria-describedby": "code-problem",
    };
    return form(
      "box",
      () => this.#goByCode(false),
      h("h2", "Join by code"),
      field("Code or link of the table", h("input", input)),
      h("p.loss", { id: "code-problem", role: "alert" }, ...this.codeProblem),
      h(
        "div.row",
        button("Only watch", () => this.#goByCode(true)),
        h("button.button.main", "Take a seat"),
      ),
    );
  }

  #newTable() {
    const { app, settings } = this;
    const open = async () => {
      await app.connection.greeted;
      const wanted = this.typed("name");
      if (!wanted && !app.connection.welcome?.name) {
        /** @type {HTMLElement | null} */ (this.node.querySelector("[name=name]"))?.focus();
        throw new Error(ASKS_NAME);
      }
      await app.claim(wanted);
      await app.openTable(this.settings);
    };
    const changed = (/** @type {Partial<Settings>} */ change) => {
      this.settings = withSetting(settings, change);
      this.show();
    };
    const name = nameField("Your name", { name: "name", value: lastName() });
    name.hidden = Boolean(app.connection.welcome?.name);
    return form(
      "box",
      () => this.#try("problem", open),
      h("h2", "New table"),
      name,
      settingsFields(settings, this.games, changed),
      h("p.loss", { role: "alert" }, ...this.problem),
      h("button.button.main", "Open a table"),
    );
  }

  tick() {
    const { connection } = this.app;
    if (connection.link !== "connected" || this.isFollowing) return;
    this.isFollowing = true;
    connection.request("list_tables", { follow: true }).then(
      (event) => this.hear(event),
      () => (this.isFollowing = false),
    );
  }

  /** @param {Wire.Event} event */
  hear(event) {
    if (event.type !== "tables" || this.isClosed) return;
    this.tables = event.tables ?? [];
    this.draw();
    if (performance.now() - this.askedAt < LEADERS_EVERY) return;
    this.askedAt = performance.now();
    this.#askForLeaders().catch(() => {});
  }

  async #askForLeaders() {
    for (const game of this.games) {
      const asked = { game, limit: 1 };
      const { rows } = await this.app.connection.request("get_leaderboard", asked);
      this.leaders[game] = rows[0] ?? null;
    }
    this.draw();
  }

  /** @param {Wire.TableSummary} table */
  #table({ code, game, host, seated, seats, cap, phase }) {
    const isFull = seated >= seats;
    /** @param {string} verb @param {() => void} action @param {string} kind */
    const act = (verb, action, kind) => {
      const words = [verb, h("span.unseen", ` ${gameTitle(game)} of ${host}`)];
      return button(words, action, kind, `${verb} ${code}`);
    };
    const facts = [page.followed(host), `${seated} of ${seats}`, cap ? `${cap} min` : "untimed"];
    if (phase !== "gathering") facts.push(phase);
    return h(
      "li",
      { "data-key": code },
      h("p", h("b", gameTitle(game)), h("br"), h("span.dim", facts.join(" \u00b7 "))),
      h(
        "span.doing",
        act("Watch", () => this.app.watch(code), isFull ? "main" : ""),
        isFull ? h("span.dim", "full") : act("Join", () => this.#join(code, "said"), "main"),
      ),
    );
  }

  #leaders() {
    const rows = this.games.map((game) => {
      const leader = this.leaders[game];
      const link = { href: `/leaderboards/${game}`, "data-key": `leaders ${game}` };
      const first = h("td", h("a", link, gameTitle(game)));
      if (!leader)
        return h(
          "tr",
          first,
          h("td.dim", { colspan: 3 }, game in this.leaders ? "none yet" : ""),
          h("td.wide-only"),
        );
      const { name, value, net = 0, rivals = 0 } = leader;
      return h(
        "tr",
        first,
        h("td", name, page.againstRivals(rivals)),
        h("td.n", value),
        h(`td.n.${page.tone(net)}`, page.dollars(net)),
        h("td.n.wide-only", page.rivals(rivals)),
      );
    });
    const heads = ["game", "leader", "banked.n", "net.n", "people.n.wide-only"];
    const table = page.tableOf("Today's leader of each game", heads, rows);
    return h("div.box", h("h2", "Today's leaders"), table);
  }

  /** @param {string} code @param {"said" | "codeProblem"} place where it is said that it cannot be */
  #join(code, place) {
    if (this.app.connection.welcome?.name) this.#try(place, () => this.app.sitDown(code));
    else this.app.go(`/${code}`);
  }

  /** @param {boolean} isWatching */
  #goByCode(isWatching) {
    const { code, elsewhere } = destination(this.typed("code"));
    if (code && !elsewhere)
      return isWatching ? this.app.watch(code) : this.#join(code, "codeProblem");
    this.codeProblem = elsewhere
      ? ["That table is on another server: ", h("a", { href: elsewhere }, elsewhere)]
      : ["Type the table's code, for example mint-otter-42, or paste the invitation."];
    this.draw();
  }

  /**
   * Do something, and show why it was refused.
   * @param {"said" | "problem" | "codeProblem"} place @param {() => Promise<unknown>} action
   */
  async #try(place, action) {
    const say = (/** @type {string} */ text) => {
      if (place === "said") this.said = text;
      else this[place] = [text];
      this.draw();
    };
    say("");
    await action().catch((error) => say(error.message));
  }

  close() {
    super.close();
    // a question that does not follow ends the subscription
    if (this.isFollowing) this.app.connection.request("list_tables").catch(() => {});
  }
}

// The invitation

export class NameScreen extends Screen {
  problem = "";

  async #sitDown() {
    const name = this.typed("name");
    this.problem = name ? "" : ASKS_NAME;
    this.draw();
    if (name)
      await this.app.sitDown(this.app.code, name).catch((error) => (this.problem = error.message));
    this.draw();
    if (this.problem) this.node.querySelector("input")?.focus();
  }

  view() {
    const { app } = this;
    const { table } = app.state;
    const { game, cap, seats } = table.settings;
    const host = seatAt(table, table.host)?.name ?? "The table";
    const reason = whyNoSeat(table);
    const isRunning = !reason && isUnderWay(table);
    const facts = [
      page.capitalised(page.capWords(cap)),
      `${table.seats.length} of ${counted(seats, "seat")}`,
    ];
    if (isRunning) facts.push("a race is running: you sit down for the next one");
    const blurb = "Patience against friends: everyone gets the same cards at the same moment.";
    const value = app.connection.welcome?.name ?? lastName();
    document.title = `${host} invites you \u00b7 Saratoga`;
    return [
      pageHead(),
      h(
        "main.page",
        form(
          "box.invite",
          () => this.#sitDown(),
          h("p.dim", `${host} invites you to a race`),
          h("h1", gameTitle(game)),
          h("p", `${blurb} ${moneyWords(game)}`),
          h("p.dim", facts.join(" \u00b7 ")),
          h("p.why", reason),
          h("p", { role: "status" }, this.said),
          nameField("Your name at this table", {
            name: "name",
            value,
            "aria-describedby": "name-help",
          }),
          h("p.loss", { role: "alert" }, this.problem),
          h("p.dim", { id: "name-help" }, "No account. This browser remembers you."),
          h(reason ? "button.button" : "button.button.main", "Sit down"),
          button("Only watch", () => app.watch(), reason ? "main" : "quiet"),
        ),
      ),
    ];
  }

  shown() {
    const isFull = whyNoSeat(this.app.state.table);
    /** @type {HTMLElement | null} */ (
      this.node.querySelector(isFull ? "button.main" : "input")
    )?.focus();
  }
}

// The table before a race

/** What a game costs and pays. @param {string} game */
function moneyWords(game) {
  const price = GAMES[game]?.price;
  return `${price ? `The cards cost $${price} of casino money; every` : "Every"} card banked pays $${PRIZE}.`;
}

/** The friends of the host who are here and not ready, and would miss a race started now. @param {Wire.Table} table */
function leftBehind({ seats, host }) {
  const missing = seats.filter(
    ({ player, connected, ready, blocked, bot }) =>
      player !== host && connected !== false && !ready && !blocked && !bot,
  );
  return missing.map((seat) => seat.name);
}

/** @param {string[]} names */
function startQuestion(names) {
  if (names.length === 1) return `${names[0]} isn't ready. Start without ${names[0]}?`;
  return `${names.length === 2 ? page.listed(names) : `${names.length} players`} aren't ready. Start without them?`;
}

/**
 * Sentences on the changed seats of other players; empty without a change.
 * @param {Wire.Table} before @param {Wire.Table} after @param {string} you
 */
function seatNews(before, after, you) {
  /** @type {string[]} */
  const lines = [];
  /** @param {Wire.Seat} seat @param {string} phrase */
  const say = (seat, phrase) => {
    if (seat.player !== you) lines.push(`${page.shownName(seat)} ${phrase}.`);
  };
  const isHere = (/** @type {Wire.Seat} */ seat) => seat.connected !== false;
  for (const seat of after.seats) {
    const old = seatAt(before, seat.player);
    if (!old) say(seat, "sat down");
    else if (isHere(seat) && !isHere(old)) say(seat, "is back");
    else if (!isHere(seat) && isHere(old)) say(seat, "lost the connection");
    else if (seat.ready && !old.ready) say(seat, "is ready");
  }
  for (const seat of before.seats) if (!seatAt(after, seat.player)) say(seat, "left the table");
  const ready = after.seats.filter((seat) => seat.ready).length;
  if (lines.length) lines.push(`${ready} of ${after.seats.length} ready for the next race.`);
  return lines.join(" ");
}

export class TableScreen extends Screen {
  /** @type {Wire.Table | null} */
  shownTable = null;
  link = "connected";
  /** The open question whether to start. @type {{names: string, sheet: HTMLDialogElement} | null} */
  question = null;
  /** Whether the server has not answered yet that the player gets ready. */
  isGettingReady = false;
  /** Whether the host has pressed Start meanwhile. */
  startsWhenReady = false;
  /** @type {boolean | undefined} */
  wasReady = false;

  get isHost() {
    const { table, player } = this.app.state;
    return table.host === player;
  }

  get games() {
    return this.app.connection.welcome?.games ?? [this.app.state.table.settings.game];
  }

  show() {
    const { state } = this.app;
    const { table } = state;
    const news = this.#news(state);
    if (news) this.said = news;
    this.link = state.link;
    this.wasReady = ownSeat(state)?.ready;
    this.draw();
    if (this.question) this.#renewQuestion(table);
    this.shownTable = table;
    document.title = `${gameTitle(table.settings.game)} \u00b7 ${table.code} \u00b7 Saratoga`;
  }

  view() {
    const { app } = this;
    const { table } = app.state;
    const seat = ownSeat(app.state);
    return [
      pageHead(youButton(app)),
      h(
        "main.page.split.beside",
        h(
          "div.box",
          h("h1", { tabindex: -1 }, gameTitle(table.settings.game)),
          h("p.dim", this.#facts()),
          h("p", { role: "status" }, this.said),
          h("ol.seats", ...table.seats.map((each) => this.#seat(each))),
          h("p.why", seat ? "" : whyNoSeat(table)),
          h("div.act", ...this.#actions(seat)),
        ),
        this.#invite(),
        this.#race(),
      ),
      h("p.hotkeys.dim", { "aria-hidden": "true" }, ...this.#keys(seat)),
    ];
  }

  #facts() {
    const { table, match } = this.app.state;
    const { cap, seats, public: isPublic } = table.settings;
    const host = seatAt(table, table.host);
    return [
      page.capWords(cap),
      isPublic ? "public" : "private",
      raceOfMatch(table, match),
      `${table.seats.length} of ${seats} seated`,
      this.isHost ? "you are host" : host && `${host.name} is host`,
    ]
      .filter(Boolean)
      .join(" \u00b7 ");
  }

  /** @param {Wire.Seat} seat */
  #seat(seat) {
    const { table, player } = this.app.state;
    const { name, ready, blocked, races = 0, wins = 0, net = 0 } = seat;
    const isOwn = seat.player === player;
    const word =
      seat.connected === false ? "away" : blocked ? "blocked" : ready ? "ready" : "not ready";
    const isReady = word === "ready";
    /** @param {string} verb @param {() => void} action */
    const act = (verb, action) =>
      button([verb, h("span.unseen", ` ${name}`)], action, "small", `${verb} ${seat.player}`);
    const money = h("span", { class: page.tone(net) }, page.dollars(net));
    return h(
      "li",
      { "data-key": seat.player },
      h(
        "span.who",
        h("b", ...page.nameNodes(seat)),
        isOwn && " (you)",
        seat.player === table.host && h("span.dim", " host"),
        races > 0 && h("small.dim", `${wins} of ${races} won, `, money),
      ),
      h(isReady ? "span.state.ready" : "span.state", isReady && page.picture("yes"), word),
      this.isHost && blocked && act("Allow", () => this.#allow(seat)),
      this.isHost && !isOwn && act("Kick", () => this.#kick(seat)),
    );
  }

  /** @param {Wire.Seat | null} seat */
  #actions(seat) {
    const invite = button("Invite", () => this.#showInvitation(), "narrow", "invite");
    if (!seat) {
      const kind = whyNoSeat(this.app.state.table) ? "" : "main";
      return [invite, button("Sit down", () => this.app.sitIn(), kind, "ready")];
    }
    const [words, kind] = seat.ready ? ["Not ready", ""] : ["I am ready", "main"];
    return [
      invite,
      button(words, () => this.#ready(), kind, "ready"),
      this.isHost && button("Start", () => this.#start(), seat.ready ? "main" : "", "start"),
    ];
  }

  #invite() {
    const { code } = this.app.state.table;
    const url = `${location.origin}/${code}`;
    const text = this.#invitation();
    const share = () => navigator.share({ text, url }).catch(() => {});
    const alt = "QR code of the link to this table";
    const bot = `saratoga bot ${serverUrl()}/${code} --strength weak`;
    return h(
      "div.box",
      { role: "region", "aria-labelledby": "invite" },
      h("h2", { id: "invite", tabindex: -1 }, "Invite friends"),
      h("p.code", code),
      h("p", h("a", { href: url }, url)),
      origin().includes("//localhost:") && h("p.why", HERE_ONLY),
      h("img.qr", { src: `/api/qr/${code}.svg`, alt, width: 168, height: 168 }),
      h(
        "div.row",
        "share" in navigator && button("Share", share),
        button("Copy invitation", () => this.#copy()),
      ),
      h("p.dim", "In a terminal: ", h("code", `saratoga join ${serverUrl()}/${code}`)),
      h("p.dim", "To bring a bot, in a terminal: ", h("code", bot), ", even or strong."),
    );
  }

  #race() {
    const { app } = this;
    const { table, match } = app.state;
    const settings = whole(table.settings);
    const ofMatch = raceOfMatch(table, match);
    const changed = (/** @type {Partial<Settings>} */ change) => this.#change(change);
    const facts = [
      page.capitalised(page.capWords(settings.cap)),
      settings.public ? "Public: in the list of every lobby" : "Private: friends need the code",
      counted(settings.seats, "seat"),
      page.capitalised(ofMatch ? `match, ${ofMatch}` : page.matchWords(settings.races)),
    ];
    const lock = button(table.locked ? "Unlock" : "Lock", () => this.#lock(), "small", "lock");
    const isSeated = ownSeat(app.state) !== null;
    return h(
      "div.box",
      { role: "region", "aria-labelledby": "race" },
      h("h2", { id: "race" }, page.capitalised(ofMatch || `race ${numberOf(table)}`)),
      this.isHost
        ? settingsFields(settings, this.games, changed, true)
        : h("ul.facts", ...facts.map((text) => h("li", text))),
      h(
        "p.lock",
        h("span", table.locked ? "Locked to newcomers" : "Open to newcomers"),
        this.isHost && lock,
      ),
      h(
        "p.dim",
        "The deal is fixed: ",
        h("code", page.fingerprint(table.commitment)),
        " is its fingerprint, checked after the race.",
      ),
      h("div", voidedLine(table)),
      button(isSeated ? "Leave the table" : "Stop watching", () => app.askToLeave(), "", "leave"),
    );
  }

  /** @param {Wire.Seat | null} seat */
  #keys(seat) {
    const ofHost = { s: "start", g: "game", c: "time limit", m: "match", p: "public" };
    const more = { "+ -": "seats", l: "lock", k: "kick" };
    const ofSeat = {
      r: seat?.ready ? "not ready" : "ready",
      ...(this.isHost && { ...ofHost, ...more }),
    };
    const keys = { ...(seat && ofSeat), y: "copy invitation", t: "colours", q: "leave" };
    return Object.entries(keys).map(([key, text]) => h("span", h("kbd", key), ` ${text}`));
  }

  /** What has changed, or else what to do; empty if nothing is new. @param {State} state */
  #news(state) {
    const { table, link } = state;
    const before = this.shownTable;
    if (link !== this.link)
      return link === "connected" ? "Connected again." : "Connection lost; trying again.";
    if (!before || before.notice !== table.notice) return table.notice || this.#advice(state);
    const hasChanged = before.host !== table.host || ownSeat(state)?.ready !== this.wasReady;
    return seatNews(before, table, state.player) || (hasChanged ? this.#advice(state) : "");
  }

  /** @param {State} state */
  #advice(state) {
    const seat = ownSeat(state);
    if (!seat) return "You are watching this table; a race is shown when it starts.";
    if (seat.blocked) return "You voided a countdown. Get ready when the host allows it.";
    if (this.isHost)
      return seat.ready
        ? "Press Start to start with every player who is ready."
        : "Get ready, then start with every player who is ready.";
    return seat.ready
      ? "You are ready; the host starts the race."
      : "Get ready; the host starts the race.";
  }

  // What the player does

  async #ready() {
    const { app } = this;
    const seat = ownSeat(app.state);
    if (!seat || this.isGettingReady) return;
    const change = seat.ready ? "Your ready mark goes" : "You get ready";
    if (app.state.link !== "connected") this.say(`${change} as soon as the connection is back.`);
    this.isGettingReady = !seat.ready;
    await app.ready(!seat.ready);
    const { startsWhenReady } = this;
    this.isGettingReady = this.startsWhenReady = false;
    // the mark comes before the answer, and neither with a refusal
    if (startsWhenReady && app.screen === this && ownSeat(app.state)?.ready) this.#start();
  }

  #start() {
    const { table, player } = this.app.state;
    if (table.host !== player) return this.say("Only the host can do that.");
    if (!ownSeat(this.app.state)?.ready) {
      this.startsWhenReady = this.isGettingReady;
      return this.say(
        this.isGettingReady
          ? "The race starts as soon as you are ready."
          : "Get ready first: the host races too.",
      );
    }
    const names = leftBehind(table);
    if (!names.length) return this.#startNow();
    const sheet = openQuestion(startQuestion(names), "Wait", "Start", () => this.#startNow());
    this.question = { names: names.join(), sheet };
    sheet.addEventListener("close", () => {
      if (this.question?.sheet === sheet) this.question = null;
    });
  }

  /** Ask again about the players who are not ready now; close the question if everybody is. @param {Wire.Table} table */
  #renewQuestion(table) {
    const names = leftBehind(table);
    if (names.join() === this.question?.names) return;
    const sheet = this.question?.sheet;
    this.question = null;
    sheet?.close();
    if (names.length) this.#start();
    else this.say("Everybody is ready: press Start.");
  }

  #startNow() {
    this.app.ask("start", { table: this.app.code, race: this.app.state.table.race });
  }

  /** @param {Partial<Settings>} change */
  async #change(change) {
    const { table, player, link, match } = this.app.state;
    const { commitment } = table;
    if (!this.isHost) return this.say("Only the host can do that.");
    const now = Object.entries(whole(table.settings));
    if (now.every(([name, value]) => (change[/** @type {"cap"} */ (name)] ?? value) === value))
      return;
    if ("races" in change && match) return this.#changeMatch(change, match);
    const send = async () => {
      const { cap } = withSetting(whole(table.settings), change);
      await this.#send("public" in change ? { ...change, cap } : change, commitment);
      if (link !== "connected") this.say("The change waits for the connection.");
      else if (table.seats.some((seat) => seat.ready))
        this.say("The race has changed: all players must get ready again.");
    };
    const waiting = table.seats.filter((seat) => seat.ready && seat.player !== player);
    if (!waiting.length) return send();
    const [first, ...others] = waiting;
    const who = others.length ? `${waiting.length} players are` : `${page.shownName(first)} is`;
    const words = h("p", `${who} ready, and must get ready again.`);
    openQuestion("Change the race?", "Keep it", "Change it", send, words);
    this.draw();
  }

  /** @param {Partial<Settings>} change @param {Wire.Match} match */
  #changeMatch(change, { races, finished }) {
    const { commitment } = this.app.state.table;
    const done = finished.length;
    const says = `The match has begun: ${counted(done, "race")} of ${races}. Choose no match to end it.`;
    if (change.races !== 1) return this.say(says);
    const title = `End the match after ${done} of ${races} races, without a champion?`;
    const end = () => this.#send(change, commitment);
    openQuestion(title, "Go on with the match", "End the match", end);
    this.draw();
  }

  /** @param {Partial<Settings>} change @param {string} commitment that of the table which the host saw */
  async #send(change, commitment) {
    await this.app.ask("change_settings", { table: this.app.code, commitment, ...change });
    this.draw();
  }

  /**
   * Choose the next value of a setting, as a key does.
   * @template {keyof Settings} Name @param {Name} name @param {Settings[Name][]} values
   */
  #next(name, values) {
    const { [name]: now } = whole(this.app.state.table.settings);
    this.#change({ [name]: values[(values.indexOf(now) + 1) % values.length] });
  }

  #lock() {
    const { code, race, locked } = this.app.state.table;
    this.app.ask("lock_table", { table: code, race, locked: !locked });
  }

  /** Lock the table or unlock it by a key, which may be pressed by accident: asked first if others are ready. */
  #lockByKey() {
    const { locked, seats, host } = this.app.state.table;
    if (!seats.some((seat) => seat.ready && seat.player !== host)) return this.#lock();
    const verb = locked ? "Unlock" : "Lock";
    openQuestion(`${verb} the table?`, "Keep it", verb, () => this.#lock());
  }

  /** @param {Wire.Seat} seat */
  #kick(seat) {
    const { name, player, epoch } = seat;
    const kick = () => this.app.ask("kick", { table: this.app.code, player, epoch });
    const words = h("p", `${name} loses the seat, and can't sit down at this table again.`);
    openQuestion(`Kick ${page.shownName(seat)} for good?`, "Keep", "Kick", kick, words);
  }

  /** @param {Wire.Seat} seat */
  #allow({ name, player, voids = 0 }) {
    const allow = () => this.app.ask("allow_ready", { table: this.app.code, player });
    const words = h("p", `${name} has voided ${counted(voids, "countdown")}.`);
    openQuestion(`Allow ${name} to get ready again?`, "Not yet", "Allow", allow, words);
  }

  #showInvitation() {
    const heading = /** @type {HTMLElement} */ (this.node.querySelector("#invite"));
    heading.focus();
    heading.scrollIntoView();
  }

  #invitation() {
    const { settings } = this.app.state.table;
    return `Race me at patience: ${gameTitle(settings.game)}, ${page.capWords(settings.cap)}, the same deal for everyone.`;
  }

  #copy() {
    const isCopied = page.copyText(`${this.#invitation()}\n${location.origin}/${this.app.code}\n`);
    const otherwise = "This browser does not let the page copy. Select the link and copy it.";
    this.say(isCopied ? "The invitation is on your clipboard." : otherwise);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { match, table } = this.app.state;
    const settings = whole(table.settings);
    /** @type {Record<string, () => unknown>} */
    const ofHost = {
      s: () => this.#start(),
      g: () => this.#next("game", this.games),
      c: () => this.#next("cap", capsOf(settings)),
      m: () => (match ? this.#change({ races: 1 }) : this.#next("races", MATCHES)),
      p: () => this.#change({ public: !settings.public }),
      "+": () => this.#change({ seats: Math.min(MOST_SEATS, settings.seats + 1) }),
      "-": () => this.#change({ seats: Math.max(1, settings.seats - 1) }),
      l: () => this.#lockByKey(),
      k: () => this.#focusKick(),
      a: () => this.#allowFirst(),
    };
    for (const key in ofHost)
      if (!this.isHost) ofHost[key] = () => this.say("Only the host can do that.");
    /** @type {Record<string, () => unknown>} */
    const keys = {
      ...(ownSeat(this.app.state) && { ...ofHost, r: () => this.#ready() }),
      y: () => this.#copy(),
      t: () => this.say(`Colours: ${this.app.nextTheme()}.`),
      o: () => this.#showInvitation(),
    };
    keys[event.key]?.();
    return event.key in keys;
  }

  /** Go to the next button that kicks a player. */
  #focusKick() {
    const buttons = [...this.node.querySelectorAll("[data-key^=Kick]")];
    if (!buttons.length) return this.say("No other player is at this table.");
    const at = buttons.findIndex((each) => each === document.activeElement) + 1;
    /** @type {HTMLElement} */ (buttons[at % buttons.length]).focus();
  }

  #allowFirst() {
    const blocked = this.app.state.table.seats.find((seat) => seat.blocked);
    if (blocked) this.#allow(blocked);
    else this.say("Nobody waits for your permission to get ready.");
  }
}

// Who the player is

/** The button with the player's name in the head of a page. @param {App} app */
export function youButton(app) {
  const attributes = { type: "button", "aria-haspopup": "dialog", onclick: () => openYou(app) };
  return h("button.link", attributes, app.connection.welcome?.name || "You");
}

/** Open the sheet with the player's name, look and token. @param {App} app */
function openYou(app) {
  const [ofName, ofToken, ofPasted] = [1, 2, 3].map(() => h("p", { role: "status" }));
  /** Say something at its field, in view. @param {HTMLElement} place @param {string} text */
  const say = (place, text) => {
    page.write(place, text);
    place.scrollIntoView({ block: "nearest" });
  };
  const value = app.connection.welcome?.name ?? lastName();
  const name = nameField("Your name at this server", { name: "your-name", value });
  const claim = () => {
    const wanted = name.querySelector("input")?.value.trim();
    if (!wanted) return say(ofName, ASKS_NAME);
    app
      .claim(wanted)
      .then(() => {
        say(ofName, `You are ${app.connection.welcome?.name}.`);
        app.show();
      })
      .catch((error) => say(ofName, error.message));
  };

  const line = h("input", { name: "token-line", readonly: true, autocomplete: "off" });
  const copy = () => {
    const isCopied = page.copyText(`${exportedToken()}\n`);
    const copied = "The token is on your clipboard. Keep it private.";
    say(ofToken, isCopied ? copied : "Select the line and copy it.");
  };
  const command = h("code", "saratoga token import -");
  const exported = h(
    "div.actions",
    { hidden: true },
    field("Your token, in one line", line),
    button("Copy token", copy),
    ofToken,
    h("p.dim", "In a terminal: ", command, ", then paste the line."),
  );
  /** @type {HTMLButtonElement} */
  const show = button("Show the token", () => {
    line.value = exportedToken();
    exported.hidden = false;
    show.hidden = true;
    line.focus();
    line.select();
  });

  const pasted = h("input", {
    name: "pasted-token",
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    placeholder: "saratoga token \u2026",
  });
  const use = () => {
    const { token, problem } = readToken(pasted.value);
    if (problem) return say(ofPasted, problem);
    const become = () => {
      becomePlayerOf(token);
      location.reload();
    };
    const title = "Become the player of that token?";
    const words =
      "This browser forgets its present token. Copy it first if you want to be that player again.";
    openQuestion(title, "Stay who you are", "Become that player", become, h("p", words));
  };

  const openLook = () => {
    sheet.close();
    app.openLook();
  };
  const about = `A token identifies you at this server, as player ${app.player}. A person who has it can play as you here.`;
  /** @type {HTMLDialogElement} */
  const sheet = page.openSheet(
    { title: "You", back: "Back" },
    form("row-form", claim, name, h("button.button", "Save name"), ofName),
    h("p", button("Look of the page", openLook)),
    h("h2", "The same player elsewhere"),
    h(
      "p.dim",
      `${about} From a terminal: `,
      h("code", `saratoga token export --show --server ${origin()}`),
    ),
    show,
    exported,
    form(
      "row-form",
      use,
      field("A line of saratoga token export", pasted),
      h("button.button", "Use this token"),
      ofPasted,
    ),
  );
}
