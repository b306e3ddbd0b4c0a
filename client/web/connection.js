/**
 * A connection to the server that reconnects by itself.
 *
 * After a lost connection it says hello again, restores the seat and the subscriptions, and sends every
 * unanswered command again under its old id. Whoever asked sees a pause and one more `snapshot`.
 */

const SUBPROTOCOL = "saratoga.v1.json";

/** The id of hellos and heartbeats. They change nothing, so their ids need not grow. */
const OWN_ID = 1;

const HEARTBEAT_EVERY = 2_000;
/** Milliseconds without any frame after which the connection counts as lost. */
const SILENCE = 6_000;
/** Milliseconds between two heartbeats with `active`. */
const ACTIVE_EVERY = 15_000;
/** Milliseconds within which the socket opens and the hello is answered. */
const GREET_WITHIN = 8_000;
/** The longest waits between attempts, in milliseconds; the last without a network. */
const FIRST_WAIT = 100;
const LARGEST_WAIT = 1_000;
const LONG_WAIT = 5_000;
const MANY_FAILURES = 20;
/** A connection that lasted this long, in milliseconds, forgives the failures before. */
const STEADY_AFTER = 5_000;
/** The longest wait, in milliseconds, before a refused command is sent again. */
const MAX_RETRY_WAIT = 5_000;
const SEAT_GIVEN_UP = "You were disconnected for too long, so your seat was given up.";
const FAULTS_OF_CLIENT = new Set([1002, 1003, 1007, 1008, 1009, 1010]);

/** Commands whose order among other commands does not matter. */
const UNORDERED = new Set(
  "get_record get_par get_leaderboard get_open list_tables heartbeat join_table leave_table".split(
    " ",
  ),
);

/** The error that the server refused a command. */
export class Refused extends Error {
  /** @param {Wire.Refused} event */
  constructor(event) {
    super(event.message || event.code);
    this.code = event.code;
    this.event = event;
  }
}

/** The error that the connection has ended for good. */
export class Closed extends Error {
  /** @param {number} code @param {string} reason */
  constructor(code, reason) {
    super(reason);
    this.code = code;
  }
}

/**
 * The answers to commands, where they are more than `done`.
 * @typedef {{hello: Wire.Welcome, claim_name: Wire.NameClaimed, create_table: Wire.Snapshot, join_table: Wire.Snapshot,
 *   move: Wire.BoardChanged, cash_out: Wire.BoardChanged, list_tables: Wire.Tables,
 *   get_leaderboard: Wire.Leaderboard, get_record: Wire.Record, get_par: Wire.Par, enter_open: Wire.Snapshot,
 *   create_challenge: Wire.OpenRaceShown, get_open: Wire.OpenRaceShown}} Answers
 */

/**
 * The fields of a command besides `type` and `id`.
 * @template {string} Type
 * @typedef {Omit<Extract<Wire.Command, {type: Type}>, "type" | "id">} Fields
 */

/**
 * The answer to a command.
 * @template {string} Type
 * @typedef {Type extends keyof Answers ? Answers[Type] : Wire.Done} Answer
 */

/**
 * @typedef {"connecting" | "connected" | "reconnecting" | "closed"} Link
 * @typedef {{resolve: (event: Wire.Event) => void, reject: (error: Error) => void, command: Wire.Command}} Pending
 * @typedef {{url: string, token: string, onEvent: (event: Wire.Event) => void, onLink: (link: Link, end: Error | null) => void,
 *   onWelcome: (welcome: Wire.Welcome) => void, onAnswer: (command: Wire.Command, answer: Wire.Event) => void}} Options
 */

export class Connection {
  /** @type {Link} */
  link = "connecting";
  /** @type {Wire.Welcome | null} */
  welcome = null;
  /** The code of the table whose seat is restored after reconnecting; empty without a seat. */
  seat = "";
  clock = new ServerClock();
  /** @type {Set<string>} */
  watched = new Set();
  /** What is asked for again after reconnecting. @type {Wire.GetLeaderboard | null} */
  leaderboard = null;
  /** @type {Wire.ListTables | null} */
  tables = null;
  /** The unanswered commands by id, in their order. @type {Map<number, Pending>} */
  pending = new Map();
  /** Those of the greeting. @type {Map<number, (event: Wire.Event) => void>} */
  greetings = new Map();
  nextId = OWN_ID + 1;
  failures = 0;
  /** @type {WebSocket | null} */
  socket = null;
  isGreeted = false;
  openedAt = 0;
  heardAt = 0;
  sentBeatAt = 0;
  actedAt = -Infinity;
  shownAt = -Infinity;
  /** @type {Error | null} */
  end = null;
  retry = 0;

  /** @param {Options} options */
  constructor(options) {
    this.options = options;
    /** Resolved by the first welcome. @type {Promise<Wire.Welcome>} */
    this.greeted = new Promise((resolve) => (this.hasGreeted = resolve));
    this.beat = setInterval(() => this.#beat(), HEARTBEAT_EVERY);
    this.retry = 0;
    addEventListener("online", this.#hurry);
    document.addEventListener("visibilitychange", this.#hurry);
    this.#open();
  }

  /** The server's time in milliseconds since 1970. */
  now() {
    return this.clock.at(performance.now());
  }

  /** Milliseconds since the last frame from the server, or since the connection was lost. */
  get silence() {
    return performance.now() - this.heardAt;
  }

  /**
   * Send a command and return its answer; reject with `Refused`, or with the error that ended the connection.
   * If the connection is lost, the command is sent again after reconnecting.
   * @template {Wire.Command["type"]} Type
   * @param {Type} type @param {Fields<Type> | {}} [fields] @returns {Promise<Answer<Type>>}
   */
  request(type, fields = {}) {
    return new Promise((resolve, reject) => {
      if (this.end) return reject(this.end);
      const command = /** @type {Wire.Command} */ ({ type, id: this.nextId++, ...fields });
      const pending = /** @type {Pending} */ ({ resolve, reject, command });
      this.pending.set(command.id, pending);
      if (type === "move") this.shownAt = performance.now();
      if (this.isGreeted) this.#send(command);
    });
  }

  /** Forget that the player sits at a table, or watches it. @param {string} table */
  forget(table) {
    this.watched.delete(table);
    if (this.seat === table) this.seat = "";
    if (this.welcome?.table === table) this.welcome.table = undefined;
  }

  /** Tell the server soon that the player is there. */
  act() {
    this.actedAt = performance.now();
  }

  /** @param {Error} end */
  close(end) {
    if (this.end) return;
    this.end = end;
    clearInterval(this.beat);
    clearTimeout(this.retry);
    removeEventListener("online", this.#hurry);
    document.removeEventListener("visibilitychange", this.#hurry);
    this.socket?.close(1000);
    for (const { reject } of this.pending.values()) reject(end);
    this.pending.clear();
    this.#setLink("closed");
  }

  // Connecting

  #open() {
    this.isGreeted = false;
    this.openedAt = performance.now();
    const socket = new WebSocket(this.options.url, SUBPROTOCOL);
    this.socket = socket;
    socket.onopen = () => this.#greet(socket).catch((error) => this.#lost(socket, error));
    socket.onmessage = ({ data }) => this.#received(socket, data);
    socket.onclose = ({ code, reason }) => this.#lost(socket, new Closed(code, reason));
  }

  /** @param {WebSocket} socket */
  async #greet(socket) {
    const sent = performance.now();
    const { token } = this.options;
    const hello = { type: "hello", id: OWN_ID, token, legal: true, client: "saratoga page" };
    const welcome = await this.#exchange(socket, /** @type {Wire.Hello} */ (hello));
    if (welcome.type !== "welcome") throw new Error("no welcome");
    this.clock.forget();
    this.clock.observe(sent, performance.now(), welcome.now);
    this.welcome = welcome;
    this.hasGreeted?.(welcome);
    this.options.onWelcome(welcome);
    const table = this.seat;
    const leaves = [...this.pending.values()].some(
      ({ command }) => command.type === "leave_table" && command.table === table,
    );
    if (table && table === welcome.table)
      await this.#restore(socket, { type: "join_table", id: 0, table });
    else if (table && !leaves) this.#deliver({ type: "seat_lost", table, reason: SEAT_GIVEN_UP });
    for (const table of this.watched)
      await this.#restore(socket, { type: "join_table", id: 0, table, seat: false });
    if (this.leaderboard) await this.#restore(socket, this.leaderboard);
    if (this.tables) await this.#restore(socket, this.tables);
    if (socket !== this.socket) return;
    this.isGreeted = true;
    for (const { command } of this.pending.values()) this.#send(command);
    this.sentBeatAt = 0;
    this.#setLink("connected");
    this.#beat();
  }

  /**
   * Restore the seat or a subscription; a refusal is delivered as the loss of it.
   * @param {WebSocket} socket @param {Wire.JoinTable | Wire.GetLeaderboard | Wire.ListTables} command
   */
  async #restore(socket, command) {
    try {
      this.#deliver(await this.#exchange(socket, { ...command, id: this.nextId++ }));
    } catch (error) {
      if (!(error instanceof Refused) || error.event.retry) throw error;
      if (command.type === "join_table")
        this.#deliver({ type: "seat_lost", table: command.table, reason: error.message });
    }
  }

  /**
   * Send one command of the greeting and return its answer.
   * @param {WebSocket} socket @param {Wire.Command} command @returns {Promise<Wire.Event>}
   */
  #exchange(socket, command) {
    return new Promise((resolve, reject) => {
      this.greetings.set(command.id, (event) =>
        event.type === "refused" ? reject(new Refused(event)) : resolve(event),
      );
      socket.send(JSON.stringify(command));
    });
  }

  /** @param {WebSocket} socket @param {Error} error */
  #lost(socket, error) {
    if (socket !== this.socket || this.end) return;
    this.socket = null;
    socket.onclose = socket.onmessage = socket.onopen = null;
    socket.close();
    this.greetings.clear();
    const wasGreeted = this.isGreeted;
    this.isGreeted = false;
    const code = error instanceof Closed ? error.code : 0;
    const isFinal =
      error instanceof Refused ? !error.event.retry : code >= 4500 || FAULTS_OF_CLIENT.has(code);
    if (isFinal) return this.close(error);
    const isSteady = wasGreeted && performance.now() - this.openedAt > STEADY_AFTER;
    this.failures = isSteady ? 1 : this.failures + (code === 4000 ? 0 : 1);
    // a browser without a network may reach this computer, and says when it has one again
    const isHopeless = this.failures > MANY_FAILURES || !navigator.onLine;
    const growing = Math.min(LARGEST_WAIT, FIRST_WAIT * 2 ** Math.min(this.failures, 10));
    const longest = isHopeless ? LONG_WAIT : growing;
    this.retry = setTimeout(() => this.#open(), Math.max(20, Math.random() * longest));
    if (this.welcome) this.#setLink("reconnecting");
  }

  /** Try at once when the network or the page is back. */
  #hurry = () => {
    if (document.visibilityState === "hidden" || this.end) return;
    if (this.socket) return this.#beat();
    clearTimeout(this.retry);
    this.#open();
  };

  // Receiving and sending

  /** @param {WebSocket} socket @param {string} data */
  #received(socket, data) {
    if (socket !== this.socket) return;
    this.heardAt = performance.now();
    /** @type {Wire.Event} */
    const event = JSON.parse(data);
    const re = event.re ?? 0;
    const greeting = this.greetings.get(re);
    if (greeting && !this.isGreeted) {
      this.greetings.delete(re);
      return greeting(event);
    }
    if (event.type === "alive") return this.#alive(event);
    const pending = this.pending.get(re);
    if (pending) this.#answer(pending, event);
    else if (event.type !== "done" && event.type !== "refused") this.#deliver(event);
  }

  /** @param {Pending} pending @param {Wire.Event} event */
  #answer({ command, resolve, reject }, event) {
    const again = () => this.isGreeted && this.pending.has(command.id) && this.#send(command);
    if (event.type === "refused" && this.#mayRetry(command, event))
      return setTimeout(again, Math.max(event.wait ?? 0, 100));
    this.pending.delete(command.id);
    this.options.onAnswer(command, event);
    if (event.type === "refused") return reject(new Refused(event));
    if (event.type === "snapshot") {
      const { code } = event.table;
      if (command.type === "join_table" && command.seat === false && code !== this.seat)
        this.watched.add(code);
      else {
        this.seat = code;
        this.watched.delete(code);
      }
      this.#deliver(event);
    }
    if (command.type === "leave_table") this.forget(command.table);
    if (command.type === "get_leaderboard") this.leaderboard = command.follow ? command : null;
    if (command.type === "list_tables") this.tables = command.follow ? command : null;
    resolve(event);
  }

  /**
   * A command may go again alone, if no later one was sent whose order counts.
   * @param {Wire.Command} command @param {Wire.Refused} event
   */
  #mayRetry(command, { retry, code, wait = 0 }) {
    if (!retry || code === "server_fault" || wait > MAX_RETRY_WAIT) return false;
    const isLater = (/** @type {Wire.Command} */ { id, type }) =>
      id > command.id && !UNORDERED.has(type);
    const others = [...this.pending.values()].map((pending) => pending.command);
    return UNORDERED.has(command.type) || !others.some(isLater);
  }

  /** @param {Wire.Event} event */
  #deliver(event) {
    if (event.type === "seat_lost") this.forget(event.table);
    this.options.onEvent(event);
  }

  #beat() {
    if (!this.socket) return;
    const now = performance.now();
    const silence = now - Math.max(this.heardAt, this.openedAt);
    if (silence > (this.isGreeted ? SILENCE : GREET_WITHIN))
      return this.#lost(this.socket, new Closed(1006, "silence"));
    if (!this.isGreeted || this.sentBeatAt) return;
    const active = this.actedAt > this.shownAt && now - this.shownAt >= ACTIVE_EVERY;
    if (active) this.shownAt = now;
    this.sentBeatAt = now;
    this.#send({ type: "heartbeat", id: OWN_ID, ...(active ? { active } : {}) });
  }

  /** @param {Wire.Alive} event */
  #alive(event) {
    if (event.re !== OWN_ID || !this.sentBeatAt) return;
    this.clock.observe(this.sentBeatAt, performance.now(), event.now);
    this.sentBeatAt = 0;
  }

  /** @param {Wire.Command} command */
  #send(command) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
  }

  /** @param {Link} link */
  #setLink(link) {
    if (link === this.link) return;
    this.link = link;
    this.options.onLink(link, this.end);
  }
}

/** An estimate of the server's clock from its answers; the fastest of the last eight counts. */
class ServerClock {
  /** @type {{trip: number, lead: number}[]} */
  #seen = [];

  forget() {
    this.#seen = [];
  }

  /** @param {number} sent @param {number} received @param {number} server */
  observe(sent, received, server) {
    const trip = Math.max(0, received - sent);
    const lead = server - (sent + trip / 2);
    if (this.#seen.some((known) => Math.abs(lead - known.lead) > (trip + known.trip) / 2 + 2_000))
      this.forget();
    this.#seen = [...this.#seen, { trip, lead }].slice(-8);
  }

  /** @param {number} local */
  at(local) {
    const best = this.#seen.reduce(
      (a, b) => (b.trip < a.trip ? b : a),
      this.#seen[0] ?? { trip: 0, lead: Date.now() - performance.now() },
    );
    return Math.round(local + best.lead);
  }
}
