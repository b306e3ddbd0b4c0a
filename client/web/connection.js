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
/** The longest wait before the next attempt: first, later, and without a network or after many failures, in milliseconds. */
const FIRST_WAIT = 100;
const LARGEST_WAIT = 1_000;
const LONG_WAIT = 5_000;
const MANY_FAILURES = 20;
/** A connection that lasted this long, in milliseconds, forgives the failures before. */
const STEADY_AFTER = 5_000;
/** The longest wait, in milliseconds, before a refused command is sent again. */
const MAX_RETRY_WAIT = 5_000;
const FAULTS_OF_CLIENT = new Set([1002, 1003, 1007, 1008, 1009, 1010]);

/** Commands whose order among other commands does not matter. */
const UNORDERED = new Set([
  "get_record",
  "get_leaderboard",
  "list_tables",
  "heartbeat",
  "join_table",
  "leave_table",
]);

/** The error that the server refused a command. */
export class Refused extends Error {
  /** @param {any} event */
  constructor(event) {
    super(event.message || event.code);
    this.code = String(event.code);
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
 * What the server sends: protocol/README.md. A field that has its default is left out.
 * @typedef {{game: string, cap: number, seats: number, public: boolean, races?: number}} Settings
 * @typedef {{player: string, name: string, bot?: boolean, level?: string, ready?: boolean, connected?: boolean, races?: number,
 *   wins?: number, net?: number, voids?: number, blocked?: boolean, epoch?: number, owner?: boolean}} Seat
 * @typedef {{player: string, name: string, bot?: boolean, nonce_hash: string}} Racer
 * @typedef {{race: string, digest: string, reason?: string, blamed?: string[]}} Ended
 * @typedef {{race: string, place: number, net: number}} MatchResult
 * @typedef {{player: string, name: string, results: MatchResult[], bot?: boolean}} MatchRow
 * @typedef {{races: number, finished: string[], rows: MatchRow[]}} Match
 * @typedef {{code: string, version: number, host: string, phase: string, settings: Settings, race: string, commitment: string, seats: Seat[],
 *   rules: number, call_until?: number, racers?: Racer[], reveal_by?: number, start_at?: number, deadline?: number, ranked?: boolean, notice?: string,
 *   locked?: boolean, last_racer?: string, end_from?: number, previous?: Ended}} Table
 * @typedef {{race: string, count: number, view: Partial<import("./cards.js").View>, banked: number, net: number, state: string, head: string, legal?: string[]}} BoardView
 * @typedef {{player: string, place: number, banked: number, net: number, state: string, head: string}} Standing
 * @typedef {Standing & {moves: number, reached?: number | null, ended?: number}} Result
 * @typedef {{race: string, game: string, results: Result[], seed: string, nonces: Record<string, string>, digest: string, ranked?: boolean}} Outcome
 * @typedef {{code: string, game: string, cap: number, host: string, phase: string, seated: number, seats: number}} TableSummary
 * @typedef {{type: "snapshot", re?: number, table: Table, now: number, board?: BoardView, standings?: Standing[], outcome?: Outcome, match?: Match}} Snapshot
 * @typedef {{type: "board", re?: number, board: BoardView, place?: number, entries?: string[], start_at?: number, deadline?: number, now?: number,
 *   repeat?: boolean}} BoardChanged the deal (without `entries`), the answer to a move or cash-out (with `re`), or the end of the board
 * @typedef {Snapshot | BoardChanged | {type: "table_changed", re?: number, table: Table, now: number} | {type: "match", table: string, match: Match | null} | {type: "race_over", outcome: Outcome} |
 *   {type: "standings", race: string, standings: Standing[]} | {type: "seat_lost", table: string, reason: string} |
 *   {type: "announcement", text: string} | {type: "tables", re?: number, tables?: TableSummary[]} | Leaderboard} ServerEvent that nobody asked for, or that changes what the page knows
 * @typedef {BoardChanged | {type: "refused", re: number, code: string, message: string, retry?: boolean, board?: BoardView}} MoveAnswer
 * @typedef {{rank: number, player: string, name: string, value: number, net?: number, elapsed?: number, race?: string, races?: number, rivals?: number}} LeaderboardRow
 * @typedef {{type: "leaderboard", game: string, ranking: string, period: string, key: string, bots: boolean, total: number, offset: number,
 *   rows: LeaderboardRow[], me?: LeaderboardRow}} Leaderboard
 * @typedef {{at: number, number: number, entry: string, position: string, banked: number}} ReplayedEntry
 * @typedef {{player: string, name: string, bot: boolean, place: number, banked: number, net: number, state: string, reached: number | null,
 *   entries: ReplayedEntry[], left_out: number}} ReplayedBoard
 * @typedef {{race: string, game: string, rules: number, start_at: number, cap: number, ranked: boolean, deal: string, banked: number,
 *   boards: ReplayedBoard[]}} ReplayedRace
 */

/**
 * @typedef {"connecting" | "connected" | "reconnecting" | "closed"} Link
 * @typedef {{resolve: (event: any) => void, reject: (error: Error) => void, command: any}} Pending
 */

export class Connection {
  /**
   * @param {{url: string, token: string, name?: string | null, onEvent: (event: any) => void,
   *   onLink: (link: Link, end: Error | null) => void, onWelcome?: (welcome: any) => void, onAnswer?: (command: any, answer: any) => void}} options
   */
  constructor(options) {
    this.options = options;
    /** @type {Link} */
    this.link = "connecting";
    /** @type {any} */
    this.welcome = null;
    /** Resolved by the first welcome. */
    this.greeted = new Promise((resolve) => (this.hasGreeted = resolve));
    /** The code of the table whose seat is restored after reconnecting; empty without a seat. */
    this.seat = "";
    /** The name to claim with the next hello. */
    this.name = options.name ?? null;
    this.clock = new ServerClock();
    /** @type {Set<string>} */
    this.watched = new Set();
    /** @type {any} */
    this.leaderboard = null;
    /** @type {any} */
    this.tables = null;
    /** @type {Map<number, Pending>} */
    this.pending = new Map();
    /** @type {Map<number, (event: any) => void>} */
    this.greetings = new Map();
    this.nextId = OWN_ID + 1;
    this.failures = 0;
    /** @type {WebSocket | null} */
    this.socket = null;
    this.isGreeted = false;
    this.openedAt = 0;
    this.heardAt = 0;
    this.sentBeatAt = 0;
    this.actedAt = -Infinity;
    this.shownAt = -Infinity;
    /** @type {Error | null} */
    this.end = null;
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
   * @param {string} type @param {Record<string, any>} [fields] @returns {Promise<any>}
   */
  request(type, fields = {}) {
    return new Promise((resolve, reject) => {
      if (this.end) return reject(this.end);
      const command = { type, id: this.nextId++, ...fields };
      this.pending.set(command.id, { resolve, reject, command });
      if (type === "move") this.shownAt = performance.now();
      if (this.isGreeted) this.#send(command);
    });
  }

  /** Forget the seat at a table, which the player or the server gave up, or that it is watched. @param {string} table */
  forget(table) {
    this.watched.delete(table);
    if (this.seat === table) this.seat = "";
    if (this.welcome?.table === table) this.welcome.table = undefined;
  }

  /** Tell the server soon that the player is there. */
  act() {
    this.actedAt = performance.now();
  }

  /** @param {Error} [end] */
  close(end = new Closed(1000, "You have left.")) {
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
    const hello = {
      type: "hello",
      token: this.options.token,
      legal: true,
      client: "saratoga page",
    };
    const welcome = await this.#exchange(socket, this.name ? { ...hello, name: this.name } : hello);
    if (welcome.type !== "welcome") throw new Error("no welcome");
    this.clock.forget();
    this.clock.observe(sent, performance.now(), welcome.now);
    this.welcome = welcome;
    this.hasGreeted?.(welcome);
    this.options.onWelcome?.(welcome);
    if (this.seat === welcome.table)
      await this.#restore(socket, { type: "join_table", table: this.seat });
    else if (
      this.seat &&
      ![...this.pending.values()].some(
        ({ command }) => command.type === "leave_table" && command.table === this.seat,
      )
    )
      this.#deliver({
        type: "seat_lost",
        table: this.seat,
        reason: "You were disconnected for too long, so your seat was given up.",
      });
    for (const table of this.watched)
      await this.#restore(socket, { type: "join_table", table, seat: false });
    if (this.leaderboard) await this.#restore(socket, this.leaderboard);
    if (this.tables) await this.#restore(socket, this.tables);
    if (socket !== this.socket) return;
    this.isGreeted = true;
    for (const id of [...this.pending.keys()].sort((a, b) => a - b))
      this.#send(this.pending.get(id)?.command);
    this.sentBeatAt = 0;
    this.#setLink("connected");
    this.#beat();
  }

  /** Restore the seat or a subscription; a refusal is delivered as the loss of it. @param {WebSocket} socket @param {any} command */
  async #restore(socket, command) {
    const answer = await this.#exchange(socket, command).catch((error) => {
      if (!(error instanceof Refused) || error.event.retry) throw error;
      return command.table
        ? { type: "seat_lost", table: command.table, reason: error.message }
        : null;
    });
    if (answer) this.#deliver(answer);
  }

  /** Send one command of the greeting and return its answer. @param {WebSocket} socket @param {any} command @returns {Promise<any>} */
  #exchange(socket, command) {
    const id = command.type === "hello" ? OWN_ID : this.nextId++;
    return new Promise((resolve, reject) => {
      this.greetings.set(id, (event) =>
        event.type === "refused" ? reject(new Refused(event)) : resolve(event),
      );
      socket.send(JSON.stringify({ ...command, id }));
    });
  }

  /** @param {WebSocket} socket @param {any} error */
  #lost(socket, error) {
    if (socket !== this.socket || this.end) return;
    this.socket = null;
    socket.onclose = socket.onmessage = socket.onopen = null;
    socket.close();
    this.greetings.clear();
    const wasGreeted = this.isGreeted;
    this.isGreeted = false;
    const isFinal =
      error instanceof Refused
        ? !error.event.retry
        : error.code >= 4500 || FAULTS_OF_CLIENT.has(error.code);
    if (isFinal) return this.close(error);
    const isSteady = wasGreeted && performance.now() - this.openedAt > STEADY_AFTER;
    this.failures = isSteady ? 1 : this.failures + (error.code === 4000 ? 0 : 1);
    // a browser without a network may reach this computer, and says when it has one again
    const isHopeless = this.failures > MANY_FAILURES || !navigator.onLine;
    const longest = isHopeless
      ? LONG_WAIT
      : Math.min(LARGEST_WAIT, FIRST_WAIT * 2 ** Math.min(this.failures, 10));
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

  /** @param {WebSocket} socket @param {any} data */
  #received(socket, data) {
    if (socket !== this.socket) return;
    this.heardAt = performance.now();
    let event;
    try {
      event = JSON.parse(data);
    } catch {
      return;
    }
    if (typeof event !== "object" || event === null) return;
    const greeting = this.greetings.get(event.re);
    if (greeting && !this.isGreeted) {
      this.greetings.delete(event.re);
      return greeting(event);
    }
    if (event.type === "alive") return this.#alive(event);
    const pending = this.pending.get(event.re);
    if (pending) this.#answer(pending, event);
    else if (event.type !== "done" && event.type !== "refused") this.#deliver(event);
  }

  /** @param {Pending} pending @param {any} event */
  #answer({ command, resolve, reject }, event) {
    if (event.type === "refused" && this.#mayRetry(command, event)) {
      setTimeout(
        () => this.isGreeted && this.pending.has(command.id) && this.#send(command),
        Math.max(event.wait, 100),
      );
      return;
    }
    this.pending.delete(command.id);
    this.options.onAnswer?.(command, event);
    if (event.type === "refused") return reject(new Refused(event));
    if (event.type === "snapshot") {
      const { code } = event.table;
      if (command.seat === false && code !== this.seat) this.watched.add(code);
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

  /** A command may go again alone, if no later one that uses up an id was sent. @param {any} command @param {any} event */
  #mayRetry(command, event) {
    if (!event.retry || event.code === "server_fault" || event.wait > MAX_RETRY_WAIT) return false;
    const later = [...this.pending.values()].some(
      (other) => other.command.id > command.id && !UNORDERED.has(other.command.type),
    );
    return UNORDERED.has(command.type) || !later;
  }

  /** @param {any} event */
  #deliver(event) {
    if (event.type === "seat_lost") this.forget(event.table);
    this.options.onEvent(event);
  }

  #beat() {
    if (!this.socket) return;
    if (
      performance.now() - Math.max(this.heardAt, this.openedAt) >
      (this.isGreeted ? SILENCE : GREET_WITHIN)
    )
      return this.#lost(this.socket, new Closed(1006, "silence"));
    if (!this.isGreeted || this.sentBeatAt) return;
    const now = performance.now();
    const active = this.actedAt > this.shownAt && now - this.shownAt >= ACTIVE_EVERY;
    if (active) this.shownAt = now;
    this.sentBeatAt = now;
    this.#send({ type: "heartbeat", id: OWN_ID, ...(active ? { active } : {}) });
  }

  /** @param {any} event */
  #alive(event) {
    if (event.re !== OWN_ID || !this.sentBeatAt) return;
    this.clock.observe(this.sentBeatAt, performance.now(), event.now);
    this.sentBeatAt = 0;
  }

  /** @param {any} command */
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
