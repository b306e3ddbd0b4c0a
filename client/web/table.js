/** The lobby, the invitation, the table before a race, and who the player is. */

import { GAMES, PRIZE, gameTitle } from "./cards.js";
import { becomePlayerOf, exportedToken, lastName, origin, readToken } from "./identity.js";
import {
  CODE,
  VOID_REASONS,
  againstRivals,
  button,
  capWords,
  capitalised,
  copyText,
  counted,
  dollars,
  fill,
  followed,
  h,
  listed,
  matchWords,
  nameNodes,
  openQuestion,
  openSheet,
  pageHead,
  picture,
  refill,
  rivals,
  shownName,
  tone,
  write,
} from "./page.js";
import { ownSeat, seatAt, whyNoSeat } from "./session.js";

/**
 * @typedef {import("./main.js").App} App @typedef {import("./session.js").State} State
 * @typedef {import("./connection.js").Table} Table @typedef {import("./connection.js").Seat} Seat
 * @typedef {import("./connection.js").Settings} Settings @typedef {import("./connection.js").TableSummary} TableSummary
 * @typedef {import("./connection.js").LeaderboardRow} LeaderboardRow
 */

const CAPS = [3, 5, 10, 20, 0];
const MATCHES = [1, 3, 5];
const MOST_SEATS = 16;
const LONGEST_NAME = 20;
const ASKS_NAME = "Give a name, such as Anna; the others see it.";
/** Milliseconds between two requests for the public tables, and requests for them per request for the leaders. */
const LEADERS_EVERY = 20_000;

/** The line that says that the race before was voided, and why; none if it was not. @param {import("./connection.js").Table} table */
function voidedLines(table) {
  const voided = table.previous;
  if (!voided?.reason) return [];
  const [blamed] = voided.blamed ?? [];
  const left = voided.reason === "racer-left" && blamed ? seatAt(table, blamed) : null;
  const reason = left
    ? `${shownName(left)} left in the countdown`
    : (VOID_REASONS[voided.reason] ?? voided.reason);
  const what = voided.reason === "closed" ? "counts for nothing" : "did not start";
  return [
    h(
      "p",
      { class: "why" },
      h("b", {}, "Voided by the server. "),
      `Race ${voided.race.split("/")[1]} ${what}: ${reason}. In a terminal: `,
      h(
        "code",
        {},
        `saratoga verify ${voided.race} --server ${location.origin.replace(/^http/, "ws")}`,
      ),
    ),
  ];
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
    found = link ? new URL(link.replace(/^ws/i, "http").replace(/[.,;:!?)/]+$/, "")) : null;
  } catch {
    found = null;
  }
  const last = found?.pathname.split("/").pop()?.toLowerCase() ?? "";
  const outside = (found ? text.replace(link, " ") : text).toLowerCase();
  const code = new RegExp(`^${CODE}$`).test(last)
    ? last
    : (new RegExp(`(?:^|[^a-z0-9-])(${CODE})(?![a-z0-9-])`).exec(outside)?.[1] ?? "");
  return {
    code,
    elsewhere: found && code && found.host !== location.host ? `${found.origin}/${code}` : "",
  };
}

/** The address of a table at this server for programs. @param {string} code */
function tableUrl(code) {
  return `${location.origin.replace(/^http/, "ws")}/${code}`;
}

/** A place of a table's race in its match, such as `race 2 of 3`; empty without a match. @param {Table} table @param {import("./connection.js").Match | null} match */
function raceOfMatch(table, match) {
  const { races = 1 } = table.settings;
  if (races === 1) return "";
  const finished = match?.finished ?? [];
  // the news that a match is over may come a moment before its end
  return `race ${finished.includes(table.race) ? finished.length : (finished.length % races) + 1} of ${races}`;
}

/** @param {Table} table */
function numberOf(table) {
  return table.race.split("/")[1];
}

/** @param {string} label @param {HTMLElement} control @param {string} [key] */
function field(label, control, key) {
  return h(
    "label",
    { class: "field" },
    h("span", {}, label, key ? h("kbd", { "aria-hidden": "true" }, key) : null),
    control,
  );
}

/** The controls of a table's settings: for a new table, or for the host's. */
class SettingsFields {
  /**
   * @param {(change: Partial<Settings>) => void} changed called with the setting that the player chose
   * @param {boolean} [hasKeys] whether keys change the settings too
   */
  constructor(changed, hasKeys = false) {
    this.games = "";
    const select = (
      /** @type {string} */ name,
      /** @type {[string | number, string][]} */ options,
      /** @type {(text: string) => string | number | boolean} */ read,
    ) =>
      /** @type {HTMLSelectElement} */ (
        h(
          "select",
          {
            name,
            onchange: (/** @type {Event & {target: HTMLSelectElement}} */ event) =>
              changed({ [name]: read(event.target.value) }),
          },
          ...options.map(([value, text]) => h("option", { value }, text)),
        )
      );
    this.controls = {
      game: select("game", [], String),
      cap: select(
        "cap",
        CAPS.map((cap) => [cap, capWords(cap)]),
        Number,
      ),
      seats: select(
        "seats",
        Array.from({ length: MOST_SEATS }, (_, number) => [
          number + 1,
          counted(number + 1, "seat"),
        ]),
        Number,
      ),
      races: select(
        "races",
        MATCHES.map((races) => [races, matchWords(races)]),
        Number,
      ),
      public: select(
        "public",
        [
          ["", "private, by code"],
          ["1", "public, in every lobby"],
        ],
        Boolean,
      ),
    };
    const { game, cap, seats, races, public: who } = this.controls;
    const fields = /** @type {[string, HTMLElement, string][]} */ ([
      ["Game", game, "g"],
      ["Time limit", cap, "c"],
      ["Seats", seats, "+ -"],
      ["Match", races, "m"],
      ["Who may come", who, "p"],
    ]);
    this.node = h(
      "div",
      { class: "fields" },
      ...fields.map(([label, control, key]) => field(label, control, hasKeys ? key : "")),
    );
  }

  /** @param {Settings} settings @param {string[]} games */
  show(settings, games) {
    const { game, cap, seats, races, public: who } = this.controls;
    if (games.join() !== this.games) {
      this.games = games.join();
      fill(game, ...games.map((name) => h("option", { value: name }, gameTitle(name))));
    }
    // only private tables may have no time limit
    cap.options[CAPS.length - 1].disabled = settings.public;
    const values = /** @type {[HTMLSelectElement, string | number][]} */ ([
      [game, settings.game],
      [cap, settings.cap],
      [seats, settings.seats],
      [races, whole(settings).races],
      [who, settings.public ? "1" : ""],
    ]);
    for (const [control, value] of values)
      if (control.value !== String(value)) control.value = String(value);
  }
}

/** The settings with the one that the wire may leave out. @param {Settings} settings @returns {Required<Settings>} */
function whole(settings) {
  return { races: 1, ...settings };
}

/** Give the settings one change; a public table has a time limit. @param {Settings} settings @param {Partial<Settings>} change */
function withSetting(settings, change) {
  const changed = { ...settings, ...change };
  return changed.public && !changed.cap ? { ...changed, cap: 10 } : changed;
}

// The lobby

export class LobbyScreen {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.isClosed = false;
    this.isFollowing = false;
    this.askedAt = -LEADERS_EVERY;
    /** @type {Settings} */
    this.settings = { game: "", cap: 10, seats: MOST_SEATS, public: false, races: 1 };
    this.you = h("p");
    this.back = h("p");
    this.tables = h("ol", { class: "seats" });
    this.none = h("p", { class: "dim" }, "Looking for tables\u2026");
    this.leaders = h("tbody");
    this.status = h("p", { role: "status" });

    this.code = h("input", {
      name: "code",
      placeholder: "mint-otter-42",
      autocomplete: "off",
      autocapitalize: "none",
      spellcheck: "false",
      "aria-describedby": "code-problem",
    });
    this.codeProblem = h("p", { id: "code-problem", role: "alert", class: "loss" });
    const byCode = h(
      "form",
      {
        class: "box",
        onsubmit: (/** @type {SubmitEvent} */ event) => {
          event.preventDefault();
          this.#goByCode(event.submitter?.getAttribute("name") === "watch");
        },
      },
      h("h2", {}, "Join by code"),
      field("Code or link of the table", this.code),
      this.codeProblem,
      h(
        "div",
        { class: "row" },
        h("button", { class: "button", name: "watch" }, "Only watch"),
        h("button", { class: "button main", name: "join" }, "Take a seat"),
      ),
    );
    // the default button is the first of a form; Enter takes a seat
    this.code.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.#goByCode(false);
    });

    this.fields = new SettingsFields((change) => {
      this.settings = withSetting(this.settings, change);
      this.show();
    });
    this.name = h("input", {
      name: "name",
      value: lastName(),
      maxlength: LONGEST_NAME,
      autocomplete: "nickname",
    });
    this.nameField = field("Your name", this.name);
    this.problem = h("p", { role: "alert", class: "loss" });
    const open = h(
      "form",
      {
        class: "box",
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          this.#try(this.problem, () =>
            app.claim(this.name.value.trim()).then(() => app.openTable(this.settings)),
          );
        },
      },
      h("h2", {}, "New table"),
      this.nameField,
      this.fields.node,
      this.problem,
      h("button", { class: "button main" }, "Open a table"),
    );

    const leaders = h(
      "div",
      { class: "box" },
      h("h2", {}, "Today's leaders"),
      h(
        "table",
        { class: "rows" },
        h("caption", { class: "unseen" }, "Today's leader of each game"),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ...["game", "leader"].map((text) => h("th", { scope: "col" }, text)),
            ...["banked", "net"].map((text) => h("th", { scope: "col", class: "n" }, text)),
            h("th", { scope: "col", class: "n wide-only" }, "people"),
          ),
        ),
        this.leaders,
      ),
    );
    this.heading = h("h1", { id: "tables", tabindex: -1 }, "Public tables");
    this.head = youButton(app);
    this.node = h(
      "div",
      { class: "plain" },
      pageHead(this.head),
      h(
        "main",
        { class: "page split beside" },
        h(
          "div",
          { class: "box", role: "region", "aria-labelledby": "tables" },
          this.heading,
          this.you,
          this.back,
          this.tables,
          this.none,
          this.status,
        ),
        h("div", { class: "page" }, byCode, open),
        leaders,
      ),
    );
    document.title = "Saratoga";
  }

  shown() {
    this.heading.focus();
  }

  show() {
    const { connection, seat } = this.app;
    const { welcome, link } = connection;
    const name = welcome?.name ?? "";
    write(this.head, name || "You");
    fill(
      this.you,
      ...(link === "connecting"
        ? ["Connecting to the server\u2026"]
        : link !== "connected"
          ? ["The connection is lost; reconnecting\u2026"]
          : name
            ? ["You are ", h("b", {}, name), seat ? `, and you have a seat at ${seat}.` : "."]
            : ["You have no name at this server yet. A table asks for one."]),
    );
    refill(
      this.back,
      seat &&
        h(
          "a",
          { class: "button main", href: `/${seat}`, "data-key": "back" },
          "Back to your table",
        ),
    );
    this.nameField.hidden = Boolean(name);
    const games = welcome?.games ?? Object.keys(GAMES);
    if (!games.includes(this.settings.game)) this.settings.game = games[0];
    this.fields.show(this.settings, games);
    if (!this.leaders.children.length) this.#showLeaders(games, {});
    this.tick();
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

  /** @param {import("./connection.js").ServerEvent} event */
  hear(event) {
    if (event.type !== "tables" || this.isClosed) return;
    this.#showTables(event.tables ?? []);
    if (performance.now() - this.askedAt < LEADERS_EVERY) return;
    this.askedAt = performance.now();
    this.#askForLeaders().catch(() => {});
  }

  async #askForLeaders() {
    const { connection } = this.app;
    /** @type {Record<string, LeaderboardRow | null>} */
    const leaders = {};
    for (const game of connection.welcome.games)
      leaders[game] =
        (await connection.request("get_leaderboard", { game, limit: 1 })).rows[0] ?? null;
    if (!this.isClosed) this.#showLeaders(connection.welcome.games, leaders);
  }

  /** @param {TableSummary[]} tables */
  #showTables(tables) {
    refill(
      this.tables,
      ...tables.map((table) => {
        const title = gameTitle(table.game);
        const act = (
          /** @type {string} */ verb,
          /** @type {() => void} */ action,
          /** @type {string} */ kind,
        ) =>
          h(
            "button",
            {
              type: "button",
              class: `button ${kind}`.trim(),
              "data-key": `${verb} ${table.code}`,
              onclick: action,
            },
            verb,
            h("span", { class: "unseen" }, ` ${title} of ${table.host}`),
          );
        const isFull = table.seated >= table.seats;
        const join = act("Join", () => this.#join(table.code), "main");
        const watch = act("Watch", () => this.app.watch(table.code), isFull ? "main" : "");
        return h(
          "li",
          {},
          h(
            "p",
            {},
            h("b", {}, title),
            h("br"),
            h(
              "span",
              { class: "dim" },
              `${followed(table.host)} \u00b7 ${table.seated} of ${table.seats} \u00b7 ${table.cap ? `${table.cap} min` : "untimed"}${table.phase === "gathering" ? "" : ` \u00b7 ${table.phase}`}`,
            ),
          ),
          h("span", { class: "doing" }, watch, isFull ? h("span", { class: "dim" }, "full") : join),
        );
      }),
    );
    write(this.none, tables.length ? "" : "None now: open one, or join a private one by its code.");
  }

  /** @param {string[]} games @param {Record<string, LeaderboardRow | null>} leaders */
  #showLeaders(games, leaders) {
    refill(
      this.leaders,
      ...games.map((game) => {
        const leader = leaders[game];
        return h(
          "tr",
          {},
          h(
            "td",
            {},
            h(
              "a",
              { href: `/leaderboards/${game}`, "data-key": `leaders ${game}` },
              gameTitle(game),
            ),
          ),
          ...(leader
            ? [
                h("td", {}, leader.name, againstRivals(leader.rivals ?? 0)),
                h("td", { class: "n" }, leader.value),
                h("td", { class: `n ${tone(leader.net ?? 0)}` }, dollars(leader.net ?? 0)),
                h("td", { class: "n wide-only" }, rivals(leader.rivals ?? 0)),
              ]
            : [
                h("td", { class: "dim", colspan: 3 }, game in leaders ? "none yet" : ""),
                h("td", { class: "wide-only" }),
              ]),
        );
      }),
    );
  }

  /** @param {string} code */
  #join(code) {
    if (this.app.connection.welcome?.name) this.#try(this.status, () => this.app.sitDown(code));
    else this.app.go(`/${code}`);
  }

  /** @param {boolean} isWatching */
  #goByCode(isWatching) {
    const { code, elsewhere } = destination(this.code.value);
    if (!code)
      return write(
        this.codeProblem,
        "Type the table's code, for example mint-otter-42, or paste the invitation.",
      );
    if (elsewhere)
      return fill(
        this.codeProblem,
        "That table is on another server: ",
        h("a", { href: elsewhere }, elsewhere),
      );
    if (isWatching) this.app.watch(code);
    else if (this.app.connection.welcome?.name)
      this.#try(this.codeProblem, () => this.app.sitDown(code));
    else this.app.go(`/${code}`);
  }

  /** Do something, and show why it was refused. @param {Element} problem @param {() => Promise<unknown>} action */
  async #try(problem, action) {
    write(problem, "");
    await action().catch((error) => write(problem, error.message));
  }

  /** @param {string} text */
  say(text) {
    write(this.status, text);
  }

  key() {
    return false;
  }

  close() {
    this.isClosed = true;
    // a question that does not follow ends the subscription
    if (this.isFollowing) this.app.connection.request("list_tables").catch(() => {});
  }
}

// The invitation

export class NameScreen {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.invites = h("p", { class: "dim" });
    this.heading = h("h1");
    this.blurb = h("p");
    this.about = h("p", { class: "dim" });
    this.why = h("p", { class: "why" });
    this.problem = h("p", { role: "alert", class: "loss" });
    this.sit = h("button", {}, "Sit down");
    this.watch = button("Only watch", () => app.watch());
    this.input = h("input", {
      name: "name",
      value: app.connection.welcome?.name ?? lastName(),
      maxlength: LONGEST_NAME,
      autocomplete: "nickname",
      "aria-describedby": "name-help",
    });
    this.node = h(
      "div",
      { class: "plain" },
      pageHead(),
      h(
        "main",
        { class: "page" },
        h(
          "form",
          {
            class: "box invite",
            onsubmit: (/** @type {Event} */ event) => {
              event.preventDefault();
              this.#sitDown();
            },
          },
          this.invites,
          this.heading,
          this.blurb,
          this.about,
          this.why,
          field("Your name at this table", this.input),
          this.problem,
          h("p", { id: "name-help", class: "dim" }, "No account. This browser remembers you."),
          this.sit,
          this.watch,
        ),
      ),
    );
  }

  async #sitDown() {
    const name = this.input.value.trim();
    write(this.problem, name ? "" : ASKS_NAME);
    if (name)
      await this.app
        .sitDown(this.app.code, name)
        .catch((error) => write(this.problem, error.message));
    if (this.problem.textContent) this.input.focus();
  }

  /** @param {State} state */
  show(state) {
    const { table } = state;
    const { game } = table.settings;
    const host = seatAt(table, table.host);
    write(this.invites, `${host?.name ?? "The table"} invites you to a race`);
    write(this.heading, gameTitle(game));
    write(
      this.blurb,
      `Patience against friends: everyone gets the same cards at the same moment. ${moneyWords(game)}`,
    );
    const reason = whyNoSeat(table);
    const isRunning = !reason && ["call", "countdown", "running"].includes(table.phase);
    write(
      this.about,
      `${capitalised(capWords(table.settings.cap))} \u00b7 ${table.seats.length} of ${counted(table.settings.seats, "seat")}${isRunning ? " \u00b7 a race is running: you sit down for the next one" : ""}`,
    );
    write(this.why, reason);
    this.sit.className = reason ? "button" : "button main";
    this.watch.className = reason ? "button main" : "button quiet";
    document.title = `${host?.name ?? "The table"} invites you \u00b7 Saratoga`;
  }

  shown() {
    (this.why.textContent ? this.watch : this.input).focus();
  }

  key() {
    return false;
  }

  close() {}
}

// The table before a race

/** What a game costs and pays. @param {string} game */
function moneyWords(game) {
  const price = GAMES[game]?.price;
  return `${price ? `The cards cost $${price} of casino money; every` : "Every"} card banked pays $${PRIZE}.`;
}

/** The friends of the host who are here and not ready, and would miss a race started now. @param {Table} table */
function leftBehind(table) {
  return table.seats
    .filter(
      (seat) =>
        seat.connected !== false &&
        seat.player !== table.host &&
        !(seat.ready || seat.blocked || seat.bot),
    )
    .map((seat) => seat.name);
}

/** @param {string[]} names */
function startQuestion(names) {
  if (names.length === 1) return `${names[0]} isn't ready. Start without ${names[0]}?`;
  return `${names.length === 2 ? listed(names) : `${names.length} players`} aren't ready. Start without them?`;
}

/** Sentences on the changed seats of other players; empty without a change. @param {Table} before @param {Table} after @param {string} you */
function seatNews(before, after, you) {
  const isHere = (/** @type {Seat} */ seat) => seat.connected !== false;
  const arrived = after.seats.map((seat) => {
    const old = seatAt(before, seat.player);
    return {
      seat,
      phrase: !old
        ? "sat down"
        : isHere(seat) !== isHere(old)
          ? isHere(seat)
            ? "is back"
            : "lost the connection"
          : seat.ready && !old.ready
            ? "is ready"
            : "",
    };
  });
  const left = before.seats
    .filter((seat) => !seatAt(after, seat.player))
    .map((seat) => ({ seat, phrase: "left the table" }));
  const sentences = [...arrived, ...left]
    .filter(({ seat, phrase }) => phrase && seat.player !== you)
    .map(({ seat, phrase }) => `${shownName(seat)} ${phrase}.`);
  if (sentences.length)
    sentences.push(
      `${after.seats.filter((seat) => seat.ready).length} of ${after.seats.length} ready for the next race.`,
    );
  return sentences.join(" ");
}

export class TableScreen {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    const { table } = app.state;
    const { code } = table;
    /** @type {Table | null} */
    this.shownTable = null;
    this.link = "connected";
    /** @type {{names: string, sheet: HTMLDialogElement} | null} The open question whether to start. */
    this.question = null;
    /** Whether the server has not answered yet that the player gets ready, and whether the host has pressed Start meanwhile. */
    this.isGettingReady = false;
    this.startsWhenReady = false;
    this.heading = h("h1", { tabindex: -1 });
    this.about = h("p", { class: "dim" });
    this.seats = h("ol", { class: "seats" });
    this.notice = h("p", { role: "status" });
    this.why = h("p", { class: "why" });
    this.actions = h("div", { class: "act" });
    this.settings = new SettingsFields((change) => this.#change(change), true);
    this.race = h("h2", { id: "race" });
    this.facts = h("ul", { class: "facts" });
    this.lock = h("p", { class: "lock" });
    this.seal = h("code");
    this.voided = h("div");
    const leave = button("Leave the table", () => app.askToLeave());
    this.leave = leave;
    this.invitation = h("h2", { id: "invite", tabindex: -1 }, "Invite friends");
    const link = `${location.origin}/${code}`;
    const share =
      "share" in navigator &&
      button("Share", () =>
        navigator.share({ text: this.#invitation(), url: link }).catch(() => {}),
      );
    this.node = h(
      "div",
      { class: "plain" },
      pageHead(youButton(app)),
      h(
        "main",
        { class: "page split beside" },
        h(
          "div",
          { class: "box" },
          this.heading,
          this.about,
          this.notice,
          this.seats,
          this.why,
          this.actions,
        ),
        h(
          "div",
          { class: "box", role: "region", "aria-labelledby": "invite" },
          this.invitation,
          h("p", { class: "code" }, code),
          h("p", {}, h("a", { href: link }, link)),
          h("img", {
            class: "qr",
            src: `/api/qr/${code}.svg`,
            alt: "QR code of the link to this table",
            width: 168,
            height: 168,
          }),
          h(
            "div",
            { class: "row" },
            share,
            button("Copy invitation", () => this.#copy()),
          ),
          h(
            "p",
            { class: "dim" },
            "In a terminal: ",
            h("code", {}, `saratoga join ${tableUrl(code)}`),
          ),
          h(
            "p",
            { class: "dim" },
            "To bring a bot, in a terminal: ",
            h("code", {}, `saratoga bot ${tableUrl(code)} --strength weak`),
            ", even or strong.",
          ),
        ),
        h(
          "div",
          { class: "box", role: "region", "aria-labelledby": "race" },
          this.race,
          this.settings.node,
          this.facts,
          this.lock,
          h(
            "p",
            { class: "dim" },
            "The deal is fixed: ",
            this.seal,
            " is its fingerprint, checked after the race.",
          ),
          this.voided,
          leave,
        ),
      ),
      (this.keys = h("p", { class: "hotkeys dim", "aria-hidden": "true" })),
    );
  }

  shown() {
    this.heading.focus();
  }

  /** @param {State} state */
  show(state) {
    const { table } = state;
    const { settings } = table;
    const isHost = table.host === state.player;
    const host = seatAt(table, table.host);
    write(this.heading, gameTitle(settings.game));
    const facts = [
      capWords(settings.cap),
      settings.public ? "public" : "private",
      raceOfMatch(table, state.match),
      `${table.seats.length} of ${settings.seats} seated`,
      isHost ? "you are host" : host ? `${host.name} is host` : "",
    ];
    write(this.about, facts.filter(Boolean).join(" \u00b7 "));
    refill(this.seats, ...table.seats.map((seat) => this.#seat(state, seat)));
    this.#showRace(state, isHost);
    this.#showActions(state, isHost);
    this.#sayNews(state);
    if (this.question) this.#renewQuestion(table);
    this.shownTable = table;
    document.title = `${gameTitle(settings.game)} \u00b7 ${table.code} \u00b7 Saratoga`;
  }

  /** @param {State} state @param {Seat} seat */
  #seat(state, seat) {
    const { table } = state;
    const isOwn = seat.player === state.player;
    const isHost = table.host === state.player;
    const word =
      seat.connected === false
        ? "away"
        : seat.blocked
          ? "blocked"
          : seat.ready
            ? "ready"
            : "not ready";
    const act = (/** @type {string} */ verb, /** @type {() => void} */ action) =>
      h(
        "button",
        {
          type: "button",
          class: "button small",
          "data-key": `${verb} ${seat.player}`,
          onclick: action,
        },
        verb,
        h("span", { class: "unseen" }, ` ${seat.name}`),
      );
    return h(
      "li",
      {},
      h(
        "span",
        { class: "who" },
        h("b", {}, ...nameNodes(seat)),
        isOwn ? " (you)" : null,
        seat.player === table.host ? h("span", { class: "dim" }, " host") : null,
        seat.races
          ? h(
              "small",
              { class: "dim" },
              `${seat.wins ?? 0} of ${seat.races} won, `,
              h("span", { class: tone(seat.net ?? 0) }, dollars(seat.net ?? 0)),
            )
          : null,
      ),
      h(
        "span",
        { class: word === "ready" ? "state ready" : "state" },
        word === "ready" ? picture("yes") : null,
        word,
      ),
      isHost && seat.blocked ? act("Allow", () => this.#allow(seat)) : null,
      isHost && !isOwn ? act("Kick", () => this.#kick(seat)) : null,
    );
  }

  /** @param {State} state @param {boolean} isHost */
  #showRace(state, isHost) {
    const { table } = state;
    const { settings } = table;
    const match = raceOfMatch(table, state.match);
    write(this.race, capitalised(match || `race ${numberOf(table)}`));
    this.settings.node.hidden = !isHost;
    this.settings.show(settings, this.app.connection.welcome?.games ?? [settings.game]);
    refill(
      this.facts,
      ...(isHost
        ? []
        : [
            capitalised(capWords(settings.cap)),
            settings.public
              ? "Public: in the list of every lobby"
              : "Private: friends need the code",
            counted(settings.seats, "seat"),
            capitalised(match ? `match, ${match}` : matchWords(settings.races ?? 1)),
          ].map((text) => h("li", {}, text))),
    );
    refill(
      this.lock,
      h("span", {}, table.locked ? "Locked to newcomers" : "Open to newcomers"),
      isHost &&
        h(
          "button",
          {
            type: "button",
            class: "button small",
            "data-key": "lock",
            onclick: () => this.#lock(),
          },
          table.locked ? "Unlock" : "Lock",
        ),
    );
    write(this.seal, (table.commitment.slice(0, 12).match(/.{4}/g) ?? []).join(" "));
    refill(this.voided, ...voidedLines(table));
  }

  /** @param {State} state @param {boolean} isHost */
  #showActions(state, isHost) {
    const seat = ownSeat(state);
    const act = (
      /** @type {string} */ key,
      /** @type {string} */ text,
      /** @type {() => void} */ action,
      /** @type {string} */ kind = "",
    ) =>
      h(
        "button",
        { type: "button", class: `button ${kind}`.trim(), "data-key": key, onclick: action },
        text,
      );
    const invite = act("invite", "Invite", () => this.#showInvitation(), "narrow");
    const reason = seat ? "" : whyNoSeat(state.table);
    write(this.why, reason);
    if (!seat)
      refill(
        this.actions,
        invite,
        act("ready", "Sit down", () => this.app.sitIn(), reason ? "" : "main"),
      );
    else
      refill(
        this.actions,
        invite,
        act(
          "ready",
          seat.ready ? "Not ready" : "I am ready",
          () => this.#ready(),
          seat.ready ? "" : "main",
        ),
        isHost && act("start", "Start", () => this.#start(), seat.ready ? "main" : ""),
      );
    write(this.leave, seat ? "Leave the table" : "Stop watching");
    const keys = [
      ["r", seat?.ready ? "not ready" : "ready"],
      ...(isHost
        ? [
            ["s", "start"],
            ["g", "game"],
            ["c", "time limit"],
            ["m", "match"],
            ["p", "public"],
            ["+ -", "seats"],
            ["l", "lock"],
            ["k", "kick"],
          ]
        : []),
      ["y", "copy invitation"],
      ["t", "colours"],
      ["q", "leave"],
    ];
    refill(
      this.keys,
      ...(seat ? keys : keys.slice(-3)).map(([key, text]) =>
        h("span", {}, h("kbd", {}, key), ` ${text}`),
      ),
    );
  }

  /** Say what has changed, or else what to do. @param {State} state */
  #sayNews(state) {
    const { table, link } = state;
    const before = this.shownTable;
    if (link !== this.link) {
      this.say(link === "connected" ? "Connected again." : "Connection lost; trying again.");
      this.link = link;
    } else if (!before || before.notice !== table.notice)
      this.say(table.notice || this.#advice(state));
    else {
      const news = seatNews(before, table, state.player);
      if (news) this.say(news);
      else if (before.host !== table.host || ownSeat(state)?.ready !== this.wasReady)
        this.say(this.#advice(state));
    }
    this.wasReady = ownSeat(state)?.ready;
  }

  /** @param {State} state */
  #advice(state) {
    const seat = ownSeat(state);
    const isHost = state.table.host === state.player;
    if (!seat) return "You are watching this table; a race is shown when it starts.";
    if (seat.blocked) return "You voided a countdown. Get ready when the host allows it.";
    if (isHost)
      return seat.ready
        ? "Press Start to start with every player who is ready."
        : "Get ready, then start with every player who is ready.";
    return seat.ready
      ? "You are ready; the host starts the race."
      : "Get ready; the host starts the race.";
  }

  /** @param {string} text */
  say(text) {
    write(this.notice, text);
  }

  // What the player does

  async #ready() {
    const { app } = this;
    const seat = ownSeat(app.state);
    if (!seat || this.isGettingReady) return;
    if (app.state.link !== "connected")
      this.say(
        seat.ready
          ? "Your ready mark goes as soon as the connection is back."
          : "You get ready as soon as the connection is back.",
      );
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

  /** Ask again about the players who are not ready now; close the question if everybody is. @param {Table} table */
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
    const { table, player, link } = this.app.state;
    if (table.host !== player) return this.say("Only the host can do that.");
    const now = whole(table.settings);
    if (
      /** @type {(keyof Settings)[]} */ (Object.keys(change)).every(
        (name) => change[name] === now[name],
      )
    )
      return;
    const { match } = this.app.state;
    const done = match?.finished.length ?? 0;
    if ("races" in change && match) {
      this.settings.show(table.settings, this.app.connection.welcome.games);
      if (change.races === 1)
        openQuestion(
          `End the match after ${done} of ${match.races} races, without a champion?`,
          "Go on with the match",
          "End the match",
          () => this.#send(change, table.commitment),
        );
      else
        this.say(
          `The match has begun: ${counted(done, "race")} of ${match.races}. Choose no match to end it.`,
        );
      return;
    }
    const waiting = table.seats.filter((seat) => seat.ready && seat.player !== player);
    const { commitment } = table;
    const send = async () => {
      const { cap } = withSetting(table.settings, change);
      await this.#send("public" in change ? { ...change, cap } : change, commitment);
      if (link !== "connected") this.say("The change waits for the connection.");
      else if (table.seats.some((seat) => seat.ready))
        this.say("The race has changed: all players must get ready again.");
    };
    if (!waiting.length) return send();
    const [first, ...others] = waiting;
    const who = others.length ? `${waiting.length} players are` : `${shownName(first)} is`;
    openQuestion(
      "Change the race?",
      "Keep it",
      "Change it",
      send,
      h("p", {}, `${who} ready, and must get ready again.`),
    );
    this.settings.show(table.settings, this.app.connection.welcome.games);
  }

  /** @param {Partial<Settings>} change @param {string} commitment that of the table which the host saw */
  async #send(change, commitment) {
    const { app } = this;
    await app.ask("change_settings", { table: app.code, commitment, ...change });
    if (app.state) this.settings.show(app.state.table.settings, app.connection.welcome.games);
  }

  /** Choose the next value of a setting, as a key does. @template {keyof Settings} Name @param {Name} name @param {Settings[Name][]} values */
  #next(name, values) {
    const { [name]: now } = whole(this.app.state.table.settings);
    this.#change({ [name]: values[(values.indexOf(now) + 1) % values.length] });
  }

  #lock() {
    const { code, race, locked } = this.app.state.table;
    this.app.ask("lock_table", { table: code, race, locked: !locked });
  }

  /** @param {Seat} seat */
  #kick(seat) {
    openQuestion(
      `Kick ${shownName(seat)} for good?`,
      "Keep",
      "Kick",
      () => this.app.ask("kick", { table: this.app.code, player: seat.player, epoch: seat.epoch }),
      h("p", {}, `${seat.name} loses the seat, and can't sit down at this table again.`),
    );
  }

  /** @param {Seat} seat */
  #allow(seat) {
    openQuestion(
      `Allow ${seat.name} to get ready again?`,
      "Not yet",
      "Allow",
      () => this.app.ask("allow_ready", { table: this.app.code, player: seat.player }),
      h("p", {}, `${seat.name} has voided ${counted(seat.voids ?? 0, "countdown")}.`),
    );
  }

  #showInvitation() {
    this.invitation.focus();
    this.invitation.scrollIntoView();
  }

  #invitation() {
    const { settings } = this.app.state.table;
    return `Race me at patience: ${gameTitle(settings.game)}, ${capWords(settings.cap)}, the same deal for everyone.`;
  }

  #copy() {
    const { code } = this.app.state.table;
    const isCopied = copyText(`${this.#invitation()}\n${location.origin}/${code}\n`);
    this.say(
      isCopied
        ? "The invitation is on your clipboard."
        : "This browser does not let the page copy. Select the link and copy it.",
    );
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { state } = this.app;
    const settings = state.table.settings;
    const isHost = state.table.host === state.player;
    /** @type {Record<string, () => unknown>} */
    const forAll = {
      y: () => this.#copy(),
      t: () => this.say(`Colours: ${this.app.nextTheme()}.`),
      o: () => this.#showInvitation(),
    };
    /** @type {Record<string, () => unknown>} */
    const forSeated = { r: () => this.#ready() };
    /** @type {Record<string, () => unknown>} */
    const forHost = {
      s: () => this.#start(),
      g: () => this.#next("game", this.app.connection.welcome.games),
      c: () =>
        this.#next(
          "cap",
          CAPS.filter((cap) => cap || !settings.public),
        ),
      m: () => (state.match ? this.#change({ races: 1 }) : this.#next("races", MATCHES)),
      p: () => this.#change({ public: !settings.public }),
      "+": () => this.#change({ seats: Math.min(MOST_SEATS, settings.seats + 1) }),
      "-": () => this.#change({ seats: Math.max(1, settings.seats - 1) }),
      l: () => this.#lock(),
      k: () => this.#focusKick(),
      a: () => this.#allowFirst(),
    };
    const seat = ownSeat(state);
    const action =
      forAll[event.key] ??
      (seat && forSeated[event.key]) ??
      (seat &&
        forHost[event.key] &&
        (isHost ? forHost[event.key] : () => this.say("Only the host can do that.")));
    if (!action) return false;
    action();
    return true;
  }

  /** Go to the next button that kicks a player. */
  #focusKick() {
    const buttons = [...this.seats.querySelectorAll("[data-key^=Kick]")];
    if (!buttons.length) return this.say("No other player is at this table.");
    const next =
      buttons[
        (buttons.indexOf(/** @type {Element} */ (document.activeElement)) + 1) % buttons.length
      ];
    /** @type {HTMLElement} */ (next).focus();
  }

  #allowFirst() {
    const blocked = this.app.state.table.seats.find((seat) => seat.blocked);
    if (blocked) this.#allow(blocked);
    else this.say("Nobody waits for your permission to get ready.");
  }

  close() {}
}

// Who the player is

/** The button with the player's name in the head of a page. @param {App} app */
export function youButton(app) {
  return h(
    "button",
    { type: "button", class: "link", "aria-haspopup": "dialog", onclick: () => openYou(app) },
    app.connection.welcome?.name || "You",
  );
}

/** Say something at its field, in view. @param {HTMLElement} place @param {string} text */
function sayAt(place, text) {
  write(place, text);
  place.scrollIntoView({ block: "nearest" });
}

/** Open the sheet with the player's name, look and token. @param {App} app */
function openYou(app) {
  const [ofName, ofToken, ofPasted] = [1, 2, 3].map(() => h("p", { role: "status" }));
  const name = h("input", {
    name: "your-name",
    value: app.connection.welcome?.name ?? lastName(),
    maxlength: LONGEST_NAME,
    autocomplete: "nickname",
  });
  const names = h(
    "form",
    {
      class: "row-form",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        const wanted = name.value.trim();
        if (!wanted) return sayAt(ofName, ASKS_NAME);
        app
          .claim(wanted)
          .then(() => {
            sayAt(ofName, `You are ${app.connection.welcome.name}.`);
            app.show();
          })
          .catch((error) => sayAt(ofName, error.message));
      },
    },
    field("Your name at this server", name),
    h("button", { class: "button" }, "Save name"),
    ofName,
  );

  const line = h("input", { name: "token-line", readonly: true, autocomplete: "off" });
  const exported = h(
    "div",
    { class: "actions", hidden: true },
    field("Your token, in one line", line),
    button("Copy token", () =>
      sayAt(
        ofToken,
        copyText(`${exportedToken()}\n`)
          ? "The token is on your clipboard. Keep it private."
          : "Select the line and copy it.",
      ),
    ),
    ofToken,
    h(
      "p",
      { class: "dim" },
      "In a terminal: ",
      h("code", {}, "saratoga token import -"),
      ", then paste the line.",
    ),
  );
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
  const imports = h(
    "form",
    {
      class: "row-form",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        const { token, problem } = readToken(pasted.value);
        if (problem) return sayAt(ofPasted, problem);
        openQuestion(
          "Become the player of that token?",
          "Stay who you are",
          "Become that player",
          () => {
            becomePlayerOf(token);
            location.reload();
          },
          h(
            "p",
            {},
            "This browser forgets its present token. Copy it first if you want to be that player again.",
          ),
        );
      },
    },
    field("A line of saratoga token export", pasted),
    h("button", { class: "button" }, "Use this token"),
    ofPasted,
  );

  const sheet = openSheet(
    { title: "You" },
    names,
    h(
      "p",
      {},
      h(
        "button",
        {
          type: "button",
          class: "button",
          onclick: () => {
            sheet.close();
            app.openLook();
          },
        },
        "Look of the page",
      ),
    ),
    h("h2", {}, "The same player elsewhere"),
    h(
      "p",
      { class: "dim" },
      `A token identifies you at this server, as player ${app.player}. A person who has it can play as you here. From a terminal: `,
      h("code", {}, `saratoga token export --show --server ${origin()}`),
    ),
    show,
    exported,
    imports,
    h(
      "div",
      { class: "row" },
      button("Back", () => sheet.close(), "main"),
    ),
  );
}
