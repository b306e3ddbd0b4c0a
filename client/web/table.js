/** The invitation, and the table before a race. */

import { VOID_REASONS, gamePicture, gameTitle, shortRules } from "./cards.js";
import { cardSpread } from "./home.js";
import { claimTyped, nameField, origin, youButton } from "./identity.js";
import * as page from "./page.js";
import { Screen, button, counted, field, form, h, openQuestion, pageHead } from "./page.js";
import { disc } from "./racers.js";
import { isUnderWay, ownSeat, seatAt, whyNoSeat } from "./session.js";

/**
 * @typedef {import("./main.js").App} App @typedef {import("./session.js").State} State
 * @typedef {Required<Wire.TableSettings>} Settings
 */

const CAPS = [3, 5, 10, 20, 0];
const MATCHES = [1, 3, 5];
const MOST_SEATS = 16;
const HERE_ONLY =
  "Only this computer can open this link. For friends, open the page at this computer's address in your network, and invite them from there.";
/** The strengths of bots, weakest first, and the most bots at a table. */
const LEVELS = ["weak", "even", "strong"];
const MOST_BOTS = 3;
/** The bots of a race that starts at once. */
const QUICK_BOTS = ["weak", "even"];
/** Milliseconds for which such a race waits for a server's bots. */
const BOTS_WITHIN = 5_000;

/** The line that says why the race before was voided, if it was. @param {Wire.Table} table */
function voidedLine(table) {
  const voided = table.previous;
  if (!voided?.reason) return null;
  const [blamed] = voided.blamed ?? [];
  const left = voided.reason === "racer-left" && blamed ? seatAt(table, blamed) : null;
  const reason = left
    ? `${page.shownName(left)} left in the countdown`
    : (VOID_REASONS[voided.reason] ?? voided.reason);
  const what = voided.reason === "closed" ? "counts for nothing" : "did not start";
  return h(
    "p.why",
    h("b", "Voided by the server. "),
    `Race ${numberOf(voided)} ${what}: ${reason}.`,
  );
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

/** The settings with the one that the wire may leave out. @param {Wire.TableSettings} settings @returns {Settings} */
function whole(settings) {
  return { races: 1, ...settings };
}

/** Give the settings one change; a public table has a time limit. @param {Settings} settings @param {Partial<Settings>} change */
function withSetting(settings, change) {
  const changed = { ...settings, ...change };
  return changed.public && !changed.cap ? { ...changed, cap: 10 } : changed;
}

// The invitation

export class NameScreen extends Screen {
  problem = "";

  async #sitDown() {
    this.problem = "";
    this.draw();
    try {
      await claimTyped(this.app, this.typed("name"));
      await this.app.sitDown();
    } catch (error) {
      this.problem = /** @type {Error} */ (error).message;
      this.draw();
      this.node.querySelector("input")?.focus();
    }
  }

  view() {
    const { app } = this;
    const { table } = app.state;
    const { game, cap } = table.settings;
    const host = seatAt(table, table.host)?.name ?? "Somebody";
    const others = table.seats.filter(({ player }) => player !== table.host).map(page.shownName);
    const are = others.length === 1 ? "is" : "are";
    const here =
      others.length > 3 ? `${others.length} others are in.` : `${page.listed(others)} ${are} in.`;
    const reason = whyNoSeat(table);
    const isRunning = !reason && isUnderWay(table);
    document.title = `${host} invites you \u00b7 Saratoga`;
    return [
      pageHead(),
      h(
        "main.page.split",
        h(
          "section.hero",
          cardSpread(),
          h("h1", `${host} wants to\u00a0race you.`),
          h(
            "p.lead",
            `${gameTitle(game)}, ${page.capWords(cap)}, the same cards for everybody. `,
            others.length > 0 && here,
            isRunning && " A race is running: you sit down for the next one.",
          ),
        ),
        form(
          "box",
          () => this.#sitDown(),
          h("p.why", reason),
          h("p", { role: "status" }, this.said),
          nameField(app),
          h("p.loss", { role: "alert" }, this.problem),
          h("p.dim", "That's all. No account, no e-mail."),
          gamePicture(game),
          h("h2", gameTitle(game)),
          shortRules(game),
          h("div.act", h(reason ? "button.button" : "button.button.main", "Take a seat")),
          button(
            reason ? "Watch" : "I'd rather watch",
            () => app.watch(),
            reason ? "main" : "quiet",
          ),
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
  /** Whether the server has not answered yet that the player gets ready. */
  isGettingReady = false;
  /** The seats with which the race starts once host and bots are ready; 0: not asked for. */
  startsWith = 0;
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
    this.shownTable = table;
    if (this.app.racesBots === table.code) this.#raceBots();
    this.#startIfReady();
    document.title = `${gameTitle(table.settings.game)} \u00b7 ${table.code} \u00b7 Saratoga`;
  }

  view() {
    const { app, isHost } = this;
    const { table, player } = app.state;
    const seat = ownSeat(app.state);
    const host = seatAt(table, table.host)?.name ?? "A";
    const isAlone = isHost && table.seats.every((each) => each.player === player || each.bot);
    const title = isAlone ? "Just you so far" : isHost ? "Your table" : `${host}'s table`;
    return [
      pageHead(youButton(app)),
      h(
        "main.page.split",
        h(
          "div.box",
          h("h1", { tabindex: -1 }, title),
          h("p.dim", this.#facts()),
          h("p", { role: "status" }, this.said),
          h("ol.seats", ...table.seats.map((each) => this.#seat(each)), this.#freeSeat()),
          h("p.why", seat ? "" : whyNoSeat(table)),
          app.reactions(),
          h("p.hotkeys.dim", this.#keys(seat)),
          h("div.act", ...this.#actions(seat)),
        ),
        h("div.page", this.#invite(), this.#race()),
      ),
    ];
  }

  #facts() {
    const { table } = this.app.state;
    const { cap, seats, public: isPublic } = table.settings;
    return [
      page.capitalised(page.capWords(cap)),
      isPublic ? "public" : "private",
      table.locked && "locked to newcomers",
      `${table.seats.length} of ${seats} seated`,
    ]
      .filter(Boolean)
      .join(" \u00b7 ");
  }

  /** @param {Wire.Seat} seat */
  #seat(seat) {
    const { table, player } = this.app.state;
    const { name, bot, ready, blocked, races = 0, wins = 0, net = 0 } = seat;
    const isOwn = seat.player === player;
    const word =
      seat.connected === false ? "away" : blocked ? "blocked" : ready ? "ready" : "not ready";
    const isReady = word === "ready";
    const allow = [`Allow`, h("span.unseen", ` ${name}`)];
    const money = h("span", { class: page.tone(net) }, page.dollars(net));
    const away = bot ? () => this.#remove(seat) : () => this.#kick(seat);
    return h(
      "li",
      { "data-key": seat.player },
      disc(table.seats, player, seat),
      h(
        "span.who",
        h("b", ...page.nameNodes(seat)),
        isOwn && " (you)",
        seat.player === table.host && h("span.dim", " host"),
        races > 0 && h("small.dim", `${wins} of ${races} won, `, money),
      ),
      h(isReady ? "span.state.ready" : "span.state", isReady && page.picture("yes"), word),
      this.isHost &&
        blocked &&
        button(allow, () => this.#allow(seat), "small", `allow ${seat.player}`),
      this.isHost &&
        !isOwn &&
        h(
          "button.icon",
          {
            type: "button",
            "aria-label": `${bot ? "Remove" : "Kick"} ${name}`,
            "data-key": `kick ${seat.player}`,
            onclick: away,
          },
          page.picture("close"),
        ),
    );
  }

  /** The line that adds a bot; none if there is no bot to add. */
  #freeSeat() {
    const { bots = [], seats, settings } = this.app.state.table;
    const isFull =
      seats.length >= settings.seats || seats.filter(({ bot }) => bot).length >= MOST_BOTS;
    if (!this.isHost || !bots.length || isFull) return null;
    const levels = LEVELS.filter((level) => bots.includes(level));
    return h(
      "li",
      { "data-key": "free" },
      h("span.disc.free", { "aria-hidden": "true" }, "+"),
      h("span.who", { id: "add-bot" }, "Add a bot"),
      h(
        "span.choice",
        { role: "group", "aria-labelledby": "add-bot" },
        ...levels.map((level) =>
          button(page.capitalised(level), () => this.app.addBot(level), "small", `bot ${level}`),
        ),
      ),
    );
  }

  /** @param {Wire.Seat | null} seat */
  #actions(seat) {
    const invite = button("Invite", () => this.#showInvitation(), "narrow", "invite");
    if (!seat) {
      const kind = whyNoSeat(this.app.state.table) ? "" : "main";
      return [invite, button("Take a seat", () => this.app.sitIn(), kind, "ready")];
    }
    const ready = button(
      seat.ready ? "Not ready" : "I am ready",
      () => this.#ready(),
      seat.ready || this.isHost ? "" : "main",
      "ready",
    );
    if (!this.isHost) return [invite, ready];
    return [
      invite,
      seat.ready && ready,
      button(this.#startWords(), () => this.#start(), "main", "start"),
    ];
  }

  /** Whom the host would race, if only bots are there. */
  #startWords() {
    const { seats } = this.app.state.table;
    const bots = seats.filter(({ bot }) => bot).map(({ name }) => name);
    return bots.length && bots.length === seats.length - 1
      ? `Race ${page.listed(bots)}`
      : "Start the race";
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
      h(
        "div.row",
        "share" in navigator && button("Share", share),
        button("Copy invitation", () => this.#copy()),
      ),
      page.unfold(
        "Show a QR code",
        h("img.qr", { src: `/api/qr/${code}.svg`, alt, width: 168, height: 168 }),
      ),
      page.unfold(
        "For a friend in a terminal",
        h("p", h("code", `saratoga join ${serverUrl()}/${code}`)),
        h("p", "A bot from a terminal: ", h("code", bot), ", even or strong."),
      ),
    );
  }

  #race() {
    const { app } = this;
    const { table, match } = app.state;
    const { game } = table.settings;
    const ofMatch = raceOfMatch(table, match);
    const isSeated = ownSeat(app.state) !== null;
    return h(
      "div.box",
      { role: "region", "aria-labelledby": "race" },
      gamePicture(game),
      h("h2", { id: "race" }, gameTitle(game)),
      h("p.dim", page.capitalised(ofMatch || `race ${numberOf(table)}`)),
      shortRules(game),
      this.isHost && this.#settings(),
      page.unfold(
        "Fair deal",
        h(
          "p",
          "The same cards for all, fixed before anybody could know them. Their fingerprint is ",
          h("code", page.fingerprint(table.commitment)),
          "; it is checked after the race.",
        ),
      ),
      h("div", voidedLine(table)),
      button("All the rules, and the look", () => app.openLook(true), "", "rules"),
      button(isSeated ? "Leave the table" : "Stop watching", () => app.askToLeave(), "", "leave"),
    );
  }

  /** What the host can change. */
  #settings() {
    const { table, player } = this.app.state;
    const settings = whole(table.settings);
    /**
     * @template {keyof Settings} Name
     * @param {string} label @param {Name} name
     * @param {Settings[Name][]} values @param {(value: Settings[Name]) => string} words
     */
    const select = (label, name, values, words) => {
      const change = (/** @type {Settings[Name]} */ value) => this.#change({ [name]: value });
      return field(label, page.choice(values, words, settings[name], change));
    };
    const caps = CAPS.filter((cap) => cap || !settings.public);
    const seats = Array.from({ length: MOST_SEATS }, (_, at) => at + 1);
    const who = (/** @type {boolean} */ all) => (all ? "everybody (public)" : "friends (private)");
    const people = table.seats.filter((seat) => seat.player === player || !seat.bot);
    const host = people.find((seat) => seat.player === player) ?? people[0];
    const named = (/** @type {Wire.Seat} */ seat) => seat.name + (seat === host ? " (you)" : "");
    const hosts = page.choice(people, named, host, (seat) => this.#handOver(seat));
    const { code, race, locked } = table;
    const lock = () => this.app.ask("lock_table", { table: code, race, locked: !locked });
    return page.unfold(
      "Change the game and the table",
      h(
        "div.fields",
        select("Game", "game", this.games, gameTitle),
        select("Time limit", "cap", caps, page.capWords),
        select("Seats", "seats", seats, (number) => counted(number, "seat")),
        select("Match", "races", MATCHES, page.matchWords),
        select("Who can join", "public", [false, true], who),
        people.length > 1 && h("div.host", field("Host", hosts)),
      ),
      h(
        "p.lock",
        h("span", locked ? "Locked to newcomers" : "Open to newcomers"),
        button(locked ? "Unlock" : "Lock", lock, "small", "lock"),
      ),
    );
  }

  /** The keys of this screen in one line. @param {Wire.Seat | null} seat */
  #keys(seat) {
    const bots = this.app.state.table.bots?.length ? "+ add a bot \u00b7 " : "";
    const ofHost = `s start \u00b7 g change the game \u00b7 ${bots}k kick \u00b7 h hand over \u00b7 `;
    const ofSeat = `r ready \u00b7 ${this.isHost ? ofHost : ""}e say \u00b7 `;
    return `Keys: ${seat ? ofSeat : ""}y copy the invitation \u00b7 i show it \u00b7 t colours \u00b7 ? rules \u00b7 q leave`;
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
    const { bots, seats, host } = state.table;
    if (this.isHost && seats.length === 1)
      return `Send the link to a friend${bots?.length ? ", or add a bot" : ""}.`;
    if (this.isHost) return "You start the race, with everybody who is ready.";
    const starter = seatAt(state.table, host)?.name ?? "The host";
    return seat.ready
      ? `You are ready; ${starter} starts the race.`
      : `Get ready; ${starter} starts the race.`;
  }

  // What the player does

  async #ready() {
    const { app } = this;
    const seat = ownSeat(app.state);
    if (!seat || this.isGettingReady) return;
    const change = seat.ready ? "Your ready mark goes" : "You get ready";
    if (app.state.link !== "connected") this.say(`${change} as soon as the connection is back.`);
    this.startsWith = 0;
    await this.#getReady(!seat.ready);
  }

  /** @param {boolean} isReady */
  async #getReady(isReady) {
    this.isGettingReady = isReady;
    await this.app.ready(isReady);
    this.isGettingReady = false;
  }

  #start() {
    const { table, player } = this.app.state;
    if (table.host !== player) return this.say("Only the host can do that.");
    this.app.racesBots = "";
    const names = leftBehind(table);
    if (!names.length) return this.#startNow();
    openQuestion(startQuestion(names), "Wait", "Start", () => this.#startNow());
  }

  /** Start the race once host and bots are ready; pressed again, without waiting for bots. */
  async #startNow() {
    const { state } = this.app;
    const isAgain = this.startsWith > 0;
    this.startsWith = 1;
    this.#startIfReady(isAgain);
    if (!this.startsWith || isAgain) return;
    this.say("The race starts as soon as you are ready.");
    if (ownSeat(state)?.ready || this.isGettingReady) return;
    await this.#getReady(true);
    // the mark comes before the answer, and neither with a refusal
    if (!ownSeat(this.app.state)?.ready) this.startsWith = 0;
  }

  /** @param {boolean} [isImpatient] whether bots need not be ready */
  #startIfReady(isImpatient = false) {
    const { table, player } = this.app.state;
    const { seats, code, race } = table;
    if (!this.startsWith || seats.length < this.startsWith || table.host !== player) return;
    if (
      !seats.every((seat) => seat.ready || (seat.player !== player && (!seat.bot || isImpatient)))
    )
      return;
    this.startsWith = 0;
    this.app.ask("start", { table: code, race });
  }

  /** Race bots at once. At a server that has just started they come a little later. */
  async #raceBots() {
    const { app } = this;
    const { bots = [] } = app.state.table;
    const levels = QUICK_BOTS.filter((level) => bots.includes(level));
    if (!levels.length) {
      setTimeout(() => (app.racesBots = ""), BOTS_WITHIN);
      return this.say("This server has no bots now. Send the link to a friend, or start alone.");
    }
    app.racesBots = "";
    this.startsWith = 1 + levels.length;
    this.say("Two bots are sitting down.");
    for (const level of levels) await app.addBot(level);
    await this.#getReady(true);
  }

  /** @param {Partial<Settings>} change */
  async #change(change) {
    const { table, player, link, match } = this.app.state;
    const { commitment } = table;
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
    const words = `${who} ready, and must get ready again.`;
    openQuestion("Change the race?", "Keep it", "Change it", send, words);
    this.draw();
  }

  /** @param {Partial<Settings>} change @param {Wire.Match} match */
  #changeMatch(change, { races, finished }) {
    const { commitment } = this.app.state.table;
    const done = finished.length;
    const says = `The match has begun: ${counted(done, "race")} of ${races}. Choose one race to end it.`;
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

  /** @param {Wire.Seat} seat */
  #remove({ player, epoch }) {
    this.app.ask("kick", { table: this.app.code, player, epoch });
  }

  /** @param {Wire.Seat} seat */
  #handOver({ name, player }) {
    const give = () => this.app.ask("hand_over", { table: this.app.code, player });
    const words = `${name} then starts the races and changes the table.`;
    openQuestion(`Make ${name} the host?`, "Stay host", `Make ${name} host`, give, words);
    this.draw();
  }

  /** @param {Wire.Seat} seat */
  #kick(seat) {
    const { name } = seat;
    const kick = () => this.#remove(seat);
    const words = `${name} loses the seat, and can't sit down at this table again.`;
    openQuestion(`Kick ${page.shownName(seat)} for good?`, "Keep", "Kick", kick, words);
  }

  /** @param {Wire.Seat} seat */
  #allow({ name, player, voids = 0 }) {
    const allow = () => this.app.ask("allow_ready", { table: this.app.code, player });
    const words = `${name} has voided ${counted(voids, "countdown")}.`;
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
    /** @type {Record<string, () => unknown>} */
    const ofHost = {
      s: () => this.#start(),
      g: () => this.#focus(".fields select", ""),
      k: () => this.#focus("button.icon", "No other player is at this table."),
      "+": () => this.#focus(".choice button", "No bot can be added now."),
      h: () => this.#focus(".host select", "No other person is at this table."),
      a: () => this.#allowFirst(),
    };
    for (const key in ofHost)
      if (!this.isHost) ofHost[key] = () => this.say("Only the host can do that.");
    /** @type {Record<string, () => unknown>} */
    const keys = {
      ...(ownSeat(this.app.state) && { ...ofHost, r: () => this.#ready() }),
      y: () => this.#copy(),
      i: () => this.#showInvitation(),
    };
    keys[event.key]?.();
    return event.key in keys;
  }

  /** Give the focus to the next of some controls. @param {string} controls @param {string} none what is said without one */
  #focus(controls, none) {
    const found = [...this.node.querySelectorAll(controls)];
    if (!found.length) return this.say(none);
    const at = found.findIndex((each) => each === document.activeElement) + 1;
    const control = /** @type {HTMLElement} */ (found[at % found.length]);
    control.closest("details")?.setAttribute("open", "");
    control.focus();
  }

  #allowFirst() {
    const blocked = this.app.state.table.seats.find((seat) => seat.blocked);
    if (blocked) this.#allow(blocked);
    else this.say("Nobody waits for your permission to get ready.");
  }
}
