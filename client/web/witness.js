// @ts-check
/**
 * The witness: what this page was shown of a race, saved in the browser and compared with the race's record.
 *
 * The sentences are the terminal's. `see` must get every event of the connection, in order.
 */

import { wholeView } from "./cards.js";
import { COUNTDOWN_CHANGED, bytesOf, hashesOf, haveRacersChanged, hex, isSame, nonceHash, sha256 } from "./fairness.js";
import { COUNTDOWN_REASONS, counted } from "./page.js";
import { MOST_VOIDED, bankedIn, checksOf, counts, dealOfRecord, gameOf, isOfLaterFormat, line, netOf, outcomeOf, parseRecord,
  reasonFault, seedFault, viewOf } from "./records.js";
import { takesReady } from "./session.js";

// What this page saw of a race

const WITNESSED = "witnessed here";
const WATCHED = "watched here";
const CONSISTENT = "self-consistent only";

const GONE = "the racers were listed, and then the race disappeared: the server shows neither its result nor that it was voided";
const WITHHELD = "the server announced the result, but did not send the record";
const VOID_WITHHELD = "the server voided the race, but did not send the record";
const NOT_STARTED = "the server says that only the countdown was voided, but the race had started";
/** What is said of a race whose record has not come: it is taken back when the record comes. */
export const MISSING = new Set([GONE, WITHHELD, VOID_WITHHELD]);
/** Refusals by which a server withholds nothing: it or its store cannot answer now. */
const AWAY = new Set(["store_unavailable", "server_fault", "too_fast"]);

/** The most races, entries and boards, standings, alarms and results that are kept. */
const MOST_RACES = 20;
const MOST_SEEN = 20_000;
const MOST_STANDINGS = 4_000;
const MOST_ALARMS = 100;
/** The most contradictions of one kind that are told; the rest is counted. */
const MOST_TOLD = 3;
/** The fewest race numbers that a server leaves out after a restore, which may have lost a race. */
/** Milliseconds for which a race is missed, and for which one may run besides its time limit. */
const MISSED_FOR = 7 * 24 * 3_600_000;
const LONGEST_DELAY = 5 * 60_000;
/** Milliseconds between what is seen of a running race and its storing. */
const SAVED_AFTER = 400;
/** Milliseconds of answers without the record after which it is withheld, and between later requests. */
const WITHHELD_AFTER = 30_000;
/** Milliseconds between two requests until then, and within which an answer counts. */
const ASK_AGAIN_AFTER = 2_000;
const ANSWERED_WITHIN = 10_000;

/**
 * @typedef {import("./connection.js").Table} Table
 * @typedef {import("./connection.js").Outcome} Outcome
 * @typedef {import("./connection.js").BoardView} BoardView
 * @typedef {import("./connection.js").Standing} Standing
 * @typedef {import("./connection.js").VoidedRace} VoidedRace
 * @typedef {import("./connection.js").ReplayedRace} ReplayedRace
 * @typedef {import("./records.js").RaceRecord} RaceRecord
 * @typedef {import("./records.js").Racer} Racer
 * @typedef {import("./records.js").Check} Check
 */

/**
 * What this page saw of one race. `own` has lines such as `entry 3 2507 5 draw 17` (place, time, number, text, command) and
 * `board 3 HASH` and `loss 2`; `standings` has player, banked, net, state, the id of the next command, and 1 after reconnecting.
 *
 * @typedef {{race: string, game: string, commitment: string, player: string, seenAt: number, durability: string, nonce: string,
 *   hashes: Record<string, string>, names: Record<string, string[]>, bots: string[], cap: number | null, public: boolean | null,
 *   startAt: number, deadline: number, ranked: boolean | null, deal: string, revealed: boolean, unanswered: boolean, blamed: boolean,
 *   outcome: Outcome | null, lostOutcome: Outcome | null, voided: string, hasRecord: boolean, alarms: string[], own: string[],
 *   standings: [string, number, number, string, number, number][]}} Sighting
 */

/** @param {string} race @param {string} game @param {string} commitment @param {string} player @param {string} durability @returns {Sighting} */
function newSighting(race, game, commitment, player, durability) {
  return {
    race, game, commitment, player, durability, seenAt: Date.now(), nonce: "", hashes: {}, names: {}, bots: [], cap: null, public: null, startAt: 0, deadline: 0,
    ranked: null, deal: "", revealed: false, unanswered: false, blamed: false, outcome: null, lostOutcome: null, voided: "", hasRecord: false, alarms: [], own: [], standings: [],
  };
}

/** Whether the racers were listed, so that nonces may be known. @param {Sighting} sighting */
function isSpent(sighting) {
  return Boolean(Object.keys(sighting.hashes).length || sighting.deal || sighting.outcome || sighting.voided);
}

/** Whether the commitment may not change any more. @param {Sighting} sighting */
function isPromised(sighting) {
  return isSpent(sighting) || Boolean(sighting.startAt);
}

/** Whether the server showed that the race had started, and may not lose that. @param {Sighting} sighting */
function hasStarted(sighting) {
  return Boolean(sighting.startAt || sighting.deal) && !mayLose(sighting);
}

/** @param {Sighting} sighting */
function isUnsettled(sighting) {
  return isPromised(sighting) && !sighting.hasRecord && !sighting.voided;
}

/** What it is worth that a record agrees with a sighting. @param {Sighting | null} sighting */
function worthOf(sighting) {
  if (!sighting) return CONSISTENT;
  if (sighting.player in sighting.hashes) return sighting.nonce ? WITNESSED : CONSISTENT;
  const isWhole = Object.keys(sighting.hashes).length && sighting.standings.length && (sighting.outcome || sighting.voided);
  return isWhole ? WATCHED : CONSISTENT;
}

/** All that a player is shown of a board, as one text. @param {BoardView["view"]} view */
function viewText(view) {
  const whole = wholeView(view);
  const hidden = whole.face_down.some(Boolean) ? whole.face_down : [];
  return JSON.stringify([whole.stock, whole.waste, whole.reserve, whole.reserve_top, whole.up, whole.down, whole.columns, whole.base, whole.passes, hidden]);
}

/** @param {string} race @param {BoardView["view"]} view @param {number} banked @param {number} net @param {string} state */
function boardHash(race, view, banked, net, state) {
  return hex(sha256(bytesOf(JSON.stringify([race, viewText(view), banked, net, state])))).slice(0, 24);
}

/** @param {BoardView} board */
function seenBoard(board) {
  return `board ${board.count} ${boardHash(board.race, board.view, board.banked, board.net, board.state)}`;
}

/**
 * Return the entries in an event as they are kept; one that the player sent has the text `sent`.
 * @param {import("./connection.js").BoardChanged} event @param {number} id @param {string} [sent]
 */
function entriesIn({ place = 0, entries = ["- -"] }, id, sent = "") {
  return entries.map((line, index) => {
    const [at, number, text] = line.split(" ");
    return `entry ${place + index} ${at} ${number} ${index ? text : sent || text} ${id}`;
  });
}

/**
 * The witness of the races that one player sees on this server.
 *
 * `ask` fetches a record and rejects with an error that has a `code`; `alarm` is told of each contradiction once;
 * `withdraw` takes back what was said of a missing record.
 *
 * @typedef {{read: (key: string) => string | null, write: (key: string, text: string | null) => void}} Storage
 * @typedef {{player: string, storage: Storage, alarm: (race: string, sentences: string[]) => void, withdraw: (race: string) => void, ask: (race: string) => Promise<string>,
 *   boards: (race: string) => Promise<ReplayedRace>, nextId: () => number, durability: () => string, nonce: (commitment: string) => string,
 *   isConnected: () => boolean, proved: (race: string) => void}} Surroundings
 * @typedef {{code: string, isRefused: boolean, retry: boolean}} NoRecord why a record has not come
 */
export class Witness {
  /** @param {Surroundings} around */
  constructor(around) {
    this.around = around;
    this.player = around.player;
    /** @type {Table | null} The latest version of the table. */
    this.table = null;
    /** Commitments of deals whose racers were listed. @type {Set<string>} */
    this.spent = new Set();
    /** @type {Map<string, Sighting>} */
    this.sightings = new Map();
    /** @type {Set<string>} Alarms told. */
    this.told = new Set();
    /** @type {Map<string, string>} Voided races that were compared. */
    this.voided = new Map();
    /** @type {Map<string, Proof>} By race. */
    this.proofs = new Map();
    /** @type {Set<string>} Races whose record was asked for. */
    this.begun = new Set();
    /** @type {Set<string>} Races that are not stored yet. */
    this.unsaved = new Set();
    this.timer = 0;
    for (const sign of ["pagehide", "visibilitychange"]) addEventListener(sign, () => this.flush());
  }

  // Keeping

  /** The races that are stored, the latest last. @returns {string[]} */
  get index() {
    return decoded(this.around.storage.read(`${RACES}.${this.player}`), []);
  }

  /** @param {string} race @returns {Sighting | null} */
  load(race) {
    const found = this.sightings.get(race) ?? decoded(this.around.storage.read(`${RACES}.${this.player}.${race}`), /** @type {Sighting | null} */ (null));
    if (found) this.sightings.set(race, found);
    return found;
  }

  /** @param {Sighting} sighting @param {boolean} [isUrgent] */
  #save(sighting, isUrgent = true) {
    this.sightings.set(sighting.race, sighting);
    this.unsaved.add(sighting.race);
    if (isUrgent) this.flush();
    else this.timer ||= setTimeout(() => this.flush(), SAVED_AFTER);
  }

  /** Store what is not stored yet. */
  flush() {
    clearTimeout(this.timer);
    this.timer = 0;
    for (const race of this.unsaved) {
      const before = this.index.filter((each) => each !== race);
      // a race without a record goes last, so that no later one removes its evidence before the check
      while (before.length >= MOST_RACES) {
        const done = before.findIndex((each) => !isUnsettled(this.load(each) ?? newSighting("", "", "", "", "")));
        const [oldest] = before.splice(Math.max(done, 0), 1);
        this.around.storage.write(`${RACES}.${this.player}.${oldest}`, null);
        this.sightings.delete(oldest);
      }
      this.around.storage.write(`${RACES}.${this.player}.${race}`, JSON.stringify(this.sightings.get(race)));
      this.around.storage.write(`${RACES}.${this.player}`, JSON.stringify([...before, race]));
    }
    this.unsaved.clear();
  }

  /** @param {string} race @param {string[]} sentences */
  #raise(race, sentences) {
    this.#tell(race, sentences);
    const sighting = this.load(race);
    const fresh = sighting ? sentences.filter((each) => !sighting.alarms.includes(each)) : [];
    if (sighting && fresh.length) this.#save({ ...sighting, alarms: [...sighting.alarms, ...fresh].slice(0, MOST_ALARMS) });
  }

  /** @param {string} race @param {string[]} sentences */
  #tell(race, sentences) {
    const fresh = sentences.filter((each) => !this.told.has(`${race} ${each}`)).slice(0, Math.max(0, MOST_ALARMS - this.told.size));
    for (const each of fresh) this.told.add(`${race} ${each}`);
    if (fresh.length) this.around.alarm(race, fresh);
  }

  /** The alarms that were raised about the recent races of a table. @param {string} code @returns {[string, string[]][]} */
  alarmsOf(code) {
    return this.#recent(code).filter((sighting) => sighting.alarms.length).map((sighting) => [sighting.race, sighting.alarms]);
  }

  /** @param {string} code */
  #recent(code) {
    const races = new Set([...this.index, ...this.sightings.keys()].filter((race) => race.startsWith(`${code}/`)));
    return [...races].map((race) => this.load(race)).filter((sighting) => sighting !== null && isRecent(sighting)).map((sighting) => /** @type {Sighting} */ (sighting));
  }

  // Seeing

  /** Save the facts of an event; compare them with earlier ones. @param {import("./connection.js").ServerEvent} event */
  see(event) {
    const { table } = this;
    if (table && (event.type === "snapshot" || event.type === "table_changed") && event.table.code !== table.code && !event.re) return;
    switch (event.type) {
      case "snapshot":
        this.table = null;
        this.#seeTable(event.table);
        this.#seeStandings(event.table.race, event.standings ?? [], true);
        if (event.board) this.#observe(event.board.race, ...this.#reconnected(event.board));
        if (event.outcome) {
          if (event.table.phase === "over" && event.outcome.race !== event.table.race) this.#raise(event.table.race, ["the table shows a result of another race in the place of its own"]);
          this.#seeOutcome(event.outcome);
        }
        break;
      case "table_changed":
        this.#seeTable(event.table);
        break;
      case "board": {
        if (event.entries) {
          this.#observe(event.board.race, ...entriesIn(event, 0), seenBoard(event.board));
          break;
        }
        const seen = this.load(event.board.race);
        if (seen && !seen.deal) this.#save({ ...seen, deal: viewText(event.board.view) });
        this.#observe(event.board.race, seenBoard(event.board));
        this.#seeStart(event.board.race, event.start_at ?? 0, event.deadline ?? 0);
        break;
      }
      case "standings":
        this.#seeStandings(event.race, event.standings, false);
        break;
      case "race_over":
        this.#seeOutcome(event.outcome);
        break;
      case "seat_lost":
        if (!table || event.table === table.code) this.#checkLost(event.table, false);
    }
  }

  /**
   * Save what the answer to a command acknowledges, if it is a move or a cash-out.
   * @param {{type: string, id: number, race: string, after: number, move: string}} command @param {import("./connection.js").MoveAnswer} answer
   */
  seeAnswer(command, answer) {
    if (command.type !== "move" && command.type !== "cash_out") return;
    const { board } = answer;
    if (!board) return;
    if (answer.type !== "board") return this.#observe(command.race, seenBoard(board));
    const sent = command.type === "move" ? command.move : "cash-out";
    this.#observe(command.race, ...entriesIn(answer, command.id, sent), seenBoard(board));
  }

  /** @param {BoardView} board @returns {string[]} */
  #reconnected(board) {
    const last = this.load(board.race)?.own.filter((each) => !each.startsWith("board")).at(-1);
    const seen = seenBoard(board);
    return last && board.count < Number(last.split(" ")[1]) ? [`loss ${board.count}`, seen] : [seen];
  }

  /** @param {string} race @param {...string} seen */
  #observe(race, ...seen) {
    const sighting = this.load(race);
    if (!sighting) return;
    const fresh = seen.filter((each) => each.startsWith("loss") || !sighting.own.includes(each));
    if (!fresh.length) return;
    this.#save({ ...sighting, own: [...sighting.own, ...fresh].slice(0, MOST_SEEN) }, false);
  }

  /** @param {Table} table */
  #seeTable(table) {
    const before = this.table;
    if (before && before.code === table.code && before.version > table.version) return;
    this.table = table;
    for (const voided of table.voided ?? []) {
      const text = JSON.stringify(voided);
      if (this.voided.get(voided.race) !== text) this.#seeVoided(voided);
      this.voided.set(voided.race, text);
    }
    this.#seeEnds(table, before);
    if (table.phase !== "closed") this.#seePhase(table);
  }

  /** Ask for the records of the races whose racers were listed before the table's present race. @param {Table} table @param {Table | null} before */
  #seeEnds(table, before) {
    const last = before && this.load(before.race);
    const ended = before ? (last ? [last] : []) : this.#recent(table.code);
    const isClosed = table.phase === "closed";
    const due = ended.filter((sighting) => isUnsettled(sighting) && (isClosed || sighting.race !== table.race || table.phase === "over"));
    if (isClosed && due.length) this.#checkLost(table.code, true);
    else for (const sighting of due) this.check(sighting.race);
  }

  /** @param {Table} table */
  #seePhase(table) {
    const known = this.load(table.race);
    const seen = known && (known.commitment === table.commitment || isRecent(known)) ? known : null;
    const isEarly = ["gathering", "call", "countdown"].includes(table.phase);
    const isChanged = Boolean(seen && isPromised(seen) && seen.commitment !== table.commitment);
    let sighting = seen;
    if (!sighting || (sighting.commitment !== table.commitment && !(isChanged && !isEarly))) {
      sighting = newSighting(table.race, table.settings.game, table.commitment, this.player, this.around.durability());
      if (seen && !seen.hasRecord && !seen.voided) sighting.alarms = seen.alarms;
      this.sightings.set(table.race, sighting);
    }
    if (isChanged) this.#raise(table.race, [isEarly ? "the table gathers again under the number of a race whose racers were listed" : "the commitment has changed since the countdown"]);
    sighting = this.load(table.race) ?? sighting;
    if (takesReady(table)) {
      if (isSpent(sighting) || this.spent.has(table.commitment)) return this.#raise(table.race, ["the table gathers again for a deal whose racers were listed, so that nonces may be known"]);
      this.sightings.set(table.race, { ...sighting, game: table.settings.game });
      return;
    }
    this.spent.add(table.commitment);
    if (table.phase !== "over" && haveSettingsChanged(table, sighting)) this.#raise(table.race, ["the settings, or who is a bot, have changed since the racers were listed"]);
    if (table.phase === "countdown") this.#seeCountdown(table, sighting);
    if (table.phase === "running") {
      this.#seeStart(table.race, table.start_at ?? 0, table.deadline ?? 0);
      const now = this.load(table.race);
      if (now && now.ranked === null) this.#save({ ...now, ranked: Boolean(table.ranked) });
    }
  }

  /** @param {Table} table @param {Sighting} sighting */
  #seeCountdown(table, sighting) {
    if (Object.keys(sighting.hashes).length) {
      if (haveRacersChanged(table, sighting.hashes)) this.#raise(table.race, [COUNTDOWN_CHANGED]);
      return;
    }
    const racing = table.racers ?? [];
    this.#save({
      ...sighting, hashes: hashesOf(table), nonce: this.around.nonce(table.commitment), cap: table.settings.cap, public: Boolean(table.settings.public), seenAt: Date.now(),
      names: Object.fromEntries(racing.map((racer) => [racer.player, [racer.name]])),
      bots: racing.filter((racer) => racer.bot).map((racer) => racer.player),
    });
  }

  /** @param {string} race @param {number} startAt @param {number} deadline */
  #seeStart(race, startAt, deadline) {
    const sighting = this.load(race);
    if (!sighting || this.table?.race !== race) return;
    if (!startAt) this.#raise(race, ["the race runs, and the server does not say when it started"]);
    else if (!sighting.startAt) this.#save({ ...sighting, startAt, deadline });
    else if (startAt !== sighting.startAt || deadline !== sighting.deadline) this.#raise(race, ["the start or the deadline of the running race has changed"]);
    else if (sighting.outcome && mayLose(sighting)) this.#save({ ...sighting, outcome: null, lostOutcome: sighting.outcome });
  }

  /** @param {string} race @param {Standing[]} standings @param {boolean} isFresh */
  #seeStandings(race, standings, isFresh) {
    const sighting = this.load(race);
    if (!sighting || this.table?.race !== race || !standings.length) return;
    const rows = [...standings].sort((a, b) => a.place - b.place);
    const wrong = rows.slice(1).flatMap((row, index) => {
      const ahead = rows[index];
      const isWrong = ahead.banked < row.banked || (ahead.place === row.place && ahead.banked !== row.banked);
      return isWrong ? [`the standings had ${ahead.player} with ${ahead.banked} banked cards not behind ${row.player} with ${row.banked}`] : [];
    });
    const players = Object.keys(sighting.hashes).sort();
    if (players.length && !isSame(rows.map((row) => row.player).sort(), players)) wrong.push("the standings of the race do not list exactly its racers");
    if (wrong.length) this.#raise(race, wrong);
    const now = this.load(race) ?? sighting;
    const last = Object.fromEntries(now.standings.map((each) => [each[0], each]));
    const nextId = this.around.nextId();
    const fresh = standings.filter(({ player, banked, net, state }) => !isSame(last[player]?.slice(1, 4), [banked, net, state]))
      .map(({ player, banked, net, state }) => /** @type {Sighting["standings"][0]} */ ([player, banked, net, state, nextId, Number(isFresh)]));
    if (fresh.length) this.#save({ ...now, standings: [...now.standings, ...fresh].slice(0, MOST_STANDINGS) }, false);
  }

  /** @param {VoidedRace} voided */
  #seeVoided(voided) {
    const loaded = this.load(voided.race);
    let sighting = loaded && isRecent(loaded) ? loaded : null;
    if (sighting && this.player in (voided.missing ?? {}) && !sighting.blamed) this.#save((sighting = { ...sighting, blamed: true }));
    const faults = faultsOfVoided(voided, sighting);
    if (faults.length) return this.#raise(voided.race, faults);
    if (!sighting || !(isPromised(sighting) || sighting.commitment === voided.commitment)) return;
    this.#save({ ...sighting, alarms: lastingAlarms(sighting), voided: voided.reason });
    if (sighting.deal && !sighting.hasRecord) this.check(voided.race);
  }

  /** @param {Outcome} outcome */
  #seeOutcome(outcome) {
    const sighting = this.load(outcome.race);
    if (!sighting) return;
    if (!sighting.outcome) {
      this.begun.delete(outcome.race);
      this.#save({ ...sighting, outcome });
    } else if (mayLose(sighting) && !isSame(wholeOutcome(sighting.outcome), wholeOutcome(outcome))) this.#save({ ...sighting, outcome, lostOutcome: sighting.outcome });
    else {
      const faults = outcomeFaults(sighting.outcome, outcome, "in a later announcement");
      if (faults.length) this.#raise(outcome.race, faults);
    }
    this.check(outcome.race);
  }

  /** Note what the server did with the nonce of a race. @param {string} race @param {{revealed?: boolean, unanswered?: boolean}} what */
  noteReveal(race, what) {
    const sighting = this.load(race);
    if (!sighting) return;
    const noted = { ...sighting, ...what };
    this.#save(noted);
    if (noted.blamed) this.#raise(race, faultsOfBlame(noted));
  }

  // After the race

  /** Fetch the record of a race and compare it, once; ask on while it is missing. @param {string} race */
  async check(race) {
    if (this.begun.has(race)) return;
    this.begun.add(race);
    for (let waited = 0; ; ) {
      const before = performance.now();
      const answer = await this.#asked(race);
      if (typeof answer === "string") return this.prove(race, answer);
      const pause = waited < WITHHELD_AFTER ? ASK_AGAIN_AFTER : WITHHELD_AFTER;
      await new Promise((resolve) => setTimeout(resolve, pause));
      // only a server that answers withholds a record
      if (!this.around.isConnected() || !answer.code || AWAY.has(answer.code)) continue;
      waited += Math.min(performance.now() - before, ANSWERED_WITHIN + ASK_AGAIN_AFTER);
      if (waited >= WITHHELD_AFTER) this.#missing(race);
    }
  }

  /** Check the races of a table whose seat is lost, or that is closed. @param {string} code @param {boolean} isGone */
  #checkLost(code, isGone) {
    for (const sighting of this.#recent(code).filter(isUnsettled))
      this.#asked(sighting.race).then((answer) => {
        if (typeof answer === "string") return this.prove(sighting.race, answer);
        const mayRun = !isGone && (!sighting.cap || Date.now() - sighting.seenAt < sighting.cap * 60_000 + LONGEST_DELAY);
        if (answer.code === "race_running" && mayRun) return;
        if (answer.isRefused && !answer.retry) this.#missing(sighting.race);
        else this.check(sighting.race);
      });
  }

  /** @param {string} race @returns {Promise<string | NoRecord>} */
  #asked(race) {
    /** @type {NoRecord} */
    const none = { code: "", isRefused: false, retry: true };
    /** @type {Promise<NoRecord>} */
    const late = new Promise((resolve) => setTimeout(resolve, ANSWERED_WITHIN, none));
    const asked = this.around.ask(race).then((text) => (typeof text === "string" ? text : none)).catch((error) => ({ code: error.code ?? "", isRefused: Boolean(error.event), retry: Boolean(error.event?.retry) }));
    return Promise.race([asked, late]);
  }

  /** @param {string} race */
  #missing(race) {
    const sighting = this.load(race);
    this.#raise(race, [sighting?.voided ? VOID_WITHHELD : sighting?.outcome?.digest ? WITHHELD : GONE]);
    this.around.proved(race);
  }

  /**
   * Compare a record with itself and with what was seen; raise the alarm if anything is wrong.
   * @param {string} race @param {string} text
   */
  async prove(race, text) {
    const boards = text.startsWith("saratoga record") ? await this.around.boards(race).catch(() => null) : null;
    const sighting = this.load(race);
    const proof = proofOf(race, text, (each) => this.load(each), boards);
    this.proofs.set(race, proof);
    for (const each of MISSING) this.told.delete(`${race} ${each}`);
    this.around.withdraw(race);
    if (sighting) this.#save({ ...sighting, alarms: lastingAlarms(sighting), hasRecord: true, voided: sighting.voided || (proof.record?.reason ?? "") });
    if (proof.faults.length) this.#tell(race, proof.faults);
    this.around.proved(race);
    return proof;
  }
}

const RACES = "saratoga.races";

/** @template T @param {string | null} text @param {T} otherwise @returns {T} */
function decoded(text, otherwise) {
  try {
    return text === null ? otherwise : JSON.parse(text);
  } catch {
    return otherwise;
  }
}

/** Whether the server must still know the race. @param {Sighting} sighting */
function isRecent(sighting) {
  return Date.now() - sighting.seenAt < MISSED_FOR;
}

/** Whether the server may lose moves that it has acknowledged. @param {Sighting} sighting */
function mayLose(sighting) {
  return sighting.durability === "fast";
}

/** The alarms about a race, but those that its record ends. @param {Sighting} sighting */
function lastingAlarms(sighting) {
  return sighting.alarms.filter((each) => !MISSING.has(each));
}

/** @param {Table} table @param {Sighting} sighting */
function haveSettingsChanged(table, sighting) {
  if (!Object.keys(sighting.hashes).length || sighting.cap === null) return false;
  const { game, cap, public: isPublic } = table.settings;
  return !isSame([game, cap, Boolean(isPublic)], [sighting.game, sighting.cap, sighting.public]) ||
    (table.racers ?? []).some((racer) => Boolean(racer.bot) !== sighting.bots.includes(racer.player));
}

/** @param {Sighting} sighting */
function faultsOfBlame(sighting) {
  if (mayLose(sighting)) return [];
  if (sighting.revealed) return ["the server says that this player's nonce was missing, but it had confirmed that it took the nonce"];
  return sighting.unanswered ? ["the server says that this player's nonce was missing, but it never answered whether it took the nonce"] : [];
}

/** How a voided race contradicts itself, or what was seen of it. @param {VoidedRace} sent @param {Sighting | null} sighting @returns {string[]} */
function faultsOfVoided(sent, sighting) {
  const voided = { nonces: {}, missing: {}, ...sent };
  if (!line("RACE").test(voided.race)) return ["the voided race has no valid id"];
  const faults = [seedFault(voided) && "the seed of the voided race does not match its commitment", reasonFault(voided)];
  if (!sighting || !isPromised(sighting)) return faults.filter(Boolean);
  if (sighting.outcome) faults.push("the server announced a result of the race that it says was voided");
  if (sighting.voided && sighting.voided !== voided.reason) faults.push(`the reason for the void was ${sighting.voided}, and now is ${voided.reason}`);
  if (COUNTDOWN_REASONS.has(voided.reason) && hasStarted(sighting)) faults.push(NOT_STARTED);
  if (voided.commitment && sighting.commitment !== voided.commitment) faults.push("the voided race's commitment is not the one announced before the race");
  if (sighting.player in voided.missing) faults.push(...faultsOfBlame(sighting));
  const racers = Object.keys(sighting.hashes);
  if (racers.length && COUNTDOWN_REASONS.has(voided.reason)) {
    if (!isSame(racers.sort(), Object.keys({ ...voided.nonces, ...voided.missing }).sort())) faults.push("the racers of the voided countdown are not those that were listed");
    for (const [player, hash] of Object.entries(voided.missing))
      if ((sighting.hashes[player] ?? hash) !== hash) faults.push(`the hash of ${player} in the voided countdown is not the one that was listed`);
  }
  for (const [player, nonce] of Object.entries(voided.nonces))
    if (sighting.hashes[player] && nonceHash(nonce) !== sighting.hashes[player]) faults.push(`the nonce of ${player} in the voided race does not match the hash from the countdown`);
  return faults.filter(Boolean);
}

// Announced results

/** The announced result with all its fields. @param {Outcome} outcome */
function wholeOutcome(outcome) {
  const { race, game, seed, nonces, digest } = outcome;
  const results = outcome.results.map((row) => ({
    player: row.player, name: row.name, bot: Boolean(row.bot), place: row.place, banked: row.banked, net: row.net, state: row.state, moves: row.moves ?? 0,
    reached: row.reached ?? null, ended: row.ended ?? 0, tie: row.tie ?? "",
  }));
  return { race, game, results, seed, nonces: Object.fromEntries(Object.entries(nonces).sort()), digest, ranked: Boolean(outcome.ranked) };
}

/** @type {Record<string, string>} */
const PART_WORDS = {
  ranked: "mark as ranked", bot: "bot mark", moves: "number of moves", banked: "number of banked cards", reached: "time of the last rise", ended: "time of the ending", tie: "reason for the place",
};

/** The differences between an announced result and another. @param {Outcome} announced @param {Outcome} other @param {string} where */
function outcomeFaults(announced, other, where) {
  const [one, two] = [wholeOutcome(announced), wholeOutcome(other)];
  const shown = (/** @type {unknown} */ value) => (value === true ? "yes" : value === false ? "no" : value === null || value === "" ? "none" : String(value));
  const differ = (/** @type {string} */ part, /** @type {string} */ of, /** @type {unknown} */ first, /** @type {unknown} */ second) =>
    first === second ? [] : [`the announced ${PART_WORDS[part] ?? part}${of} was ${shown(first)}, and ${where} is ${shown(second)}`];
  const faults = [...differ("race", "", one.race, two.race), ...differ("game", "", one.game, two.game), ...differ("ranked", "", one.ranked, two.ranked)];
  for (const part of /** @type {("seed" | "nonces" | "digest")[]} */ (["seed", "nonces", "digest"])) if (!isSame(one[part], two[part])) faults.push(`the announced ${part} is not the one ${where}`);
  const [players, others] = [one, two].map((each) => each.results.map((row) => row.player).join(", "));
  const order = differ("order of players", "", players, others);
  faults.push(...order);
  if (!order.length)
    one.results.forEach((row, index) => {
      for (const part of /** @type {(keyof typeof row)[]} */ (Object.keys(row))) faults.push(...differ(part, ` of ${row.player}`, row[part], two.results[index][part]));
    });
  return shortened(faults, "parts of the announced result", 5);
}

/** @param {string[]} faults @param {string} what @param {number} [most] */
function shortened(faults, what, most = MOST_TOLD) {
  return faults.length > most ? [...faults.slice(0, most), `and ${faults.length - most} more ${what} differ`] : faults;
}

// A record compared with what was seen

/**
 * @typedef {{race: string, record: RaceRecord | null, digest: string, checks: Check[], seen: string[], worth: string, losses: string, unchecked: string[], faults: string[]}} Proof
 *   `seen`: what was compared; `worth`: what it is worth if there are no faults; `unchecked`: what this page could not check
 */

/**
 * @param {string} race @param {string} text @param {(race: string) => Sighting | null} load returns what was seen of a race
 * @param {ReplayedRace | null} [boards] the race as the server replays it @returns {Proof}
 */
export function proofOf(race, text, load, boards = null) {
  if (isOfLaterFormat(text)) {
    const sighting = load(race);
    const unchecked = [`this page does not know the record's form: a newer saratoga verify ${race} does`];
    return { ...noProof(race), unchecked, faults: sighting ? lastingAlarms(sighting) : [] };
  }
  /** @type {RaceRecord} */
  let record;
  try {
    record = parseRecord(text);
  } catch (error) {
    return noProof(race, `the record cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  try {
    return proofOfRecord(race, record, text, load, boards);
  } catch (error) {
    // whatever the server sent in another form than the wire's must not silence the alarm
    return noProof(race, `what the server sent of this race cannot be compared: ${error instanceof Error ? error.message : error}`);
  }
}

/** @param {string} race @param {...string} faults @returns {Proof} */
function noProof(race, ...faults) {
  return { race, record: null, digest: "", checks: [], seen: [], worth: CONSISTENT, losses: "", unchecked: [], faults };
}

/** @param {string} race @param {RaceRecord} record @param {string} text @param {(race: string) => Sighting | null} load @param {ReplayedRace | null} boards @returns {Proof} */
function proofOfRecord(race, record, text, load, boards) {
  const sighting = load(race);
  const checks = [...checksOf(record, text), ...earlierCheck(record, load)];
  const other = record.race === race ? [] : [`race ${race} was asked for, but the record is of race ${record.race}`];
  const own = sighting && isPromised(sighting) ? compared(record, sighting, boards) : { seen: [], faults: [], losses: "" };
  const wrong = checks.filter((check) => check.fault).map((check) => `the record is not verified: ${check.fault.slice(0, 300)}`);
  return {
    race, record, digest: record.digest, checks, seen: own.seen, worth: sighting && isPromised(sighting) ? worthOf(sighting) : CONSISTENT, losses: own.losses,
    unchecked: uncheckedOf(record, boards), faults: [...other, ...own.faults, ...wrong, ...(sighting ? lastingAlarms(sighting) : [])],
  };
}

/**
 * The check of the voided races in a record against what was seen of them; none if none was seen.
 *
 * A race since the record before must be listed as it was announced if the server voided it, or if its racers were listed and the
 * server had no record of it when this page asked.
 * @param {RaceRecord} record @param {(race: string) => Sighting | null} load @returns {Check[]}
 */
function earlierCheck(record, load) {
  if (record.isVoid) return [];
  const promised = (/** @type {string} */ race) => {
    const sighting = load(race);
    return sighting && isPromised(sighting) ? sighting : null;
  };
  const listed = record.voided.flatMap((voided) => {
    const sighting = promised(voided.race);
    return sighting ? [{ voided, sighting }] : [];
  });
  const discarded = discardedBefore(record, promised);
  const known = [...listed.map(({ voided }) => voided.race), ...discarded.map(({ race }) => race)].sort();
  if (!known.length) return [];
  const faults = [
    ...listed.flatMap(({ voided, sighting }) => faultsOfVoided(voided, sighting).map((fault) => `${voided.race}: ${fault}`)),
    ...discarded.map((sighting) => `the server ${sighting.voided ? "voided" : "discarded"} ${sighting.race}, but the record does not list it`),
  ];
  return [{ name: "earlier-witness", says: `the voided races are listed as this page saw them: ${known.join(", ")}`, fault: faults.join("; ") }];
}

/** The discarded races that a record does not list, back to one that it need not list. @param {RaceRecord} record @param {(race: string) => Sighting | null} promised */
function discardedBefore(record, promised) {
  const [table, number] = record.race.split("/");
  const found = [];
  for (let before = Number(number) - 1; before > Math.max(0, Number(number) - 1 - MOST_VOIDED); before--) {
    const race = `${table}/${before}`;
    if (record.voided.some((voided) => voided.race === race)) continue;
    const sighting = promised(race);
    if (!sighting || !(sighting.voided || sighting.alarms.includes(GONE))) break;
    found.push(sighting);
  }
  return found;
}

/** @param {RaceRecord} record @param {ReplayedRace | null} boards */
function uncheckedOf(record, boards) {
  const rules = record.isVoid ? "the logs were not replayed here" : "the moves were not replayed here, nor were wins and stuck boards proved";
  return [...(gameOf(record) ? [] : ["this page does not know the game, so it did not deal and count"]), `${rules}: saratoga verify ${record.race} does that`,
    ...(record.isVoid || boards ? [] : ["the boards that you saw were not compared"])];
}

/** @param {RaceRecord} record @param {Sighting} sighting @param {ReplayedRace | null} boards */
function compared(record, sighting, boards) {
  const faults = [...raceFaults(record, sighting)];
  const own = ownFaults(record, sighting, boards);
  const standings = record.isVoid ? { faults: [], lost: 0 } : standingFaults(record, sighting);
  const lostResults = Number(Boolean(sighting.lostOutcome && sighting.lostOutcome.digest !== record.digest));
  const lost = [[own.lost, "move"], [standings.lost, "standing"], [lostResults, "result"]].filter(([count]) => count).map(([count, noun]) => counted(Number(count), String(noun)));
  /** @type {[string, unknown][]} */
  const parts = [["commitment", record.commitment], ["nonces", Object.keys(sighting.hashes).length], ["racers", Object.keys(sighting.names).length], ["time limit", sighting.cap !== null], ["start", sighting.startAt],
    ["deal", sighting.deal], ["moves", sighting.own.some((each) => each.startsWith("entry"))], ["boards", boards && sighting.own.some((each) => each.startsWith("board"))],
    ["standings", !record.isVoid && sighting.standings.length], ["result", !record.isVoid && sighting.outcome]];
  return {
    seen: parts.filter(([, value]) => value).map(([part]) => part), faults: [...faults, ...own.faults, ...standings.faults],
    losses: lost.length ? `the server says that it lost ${lost.join(" and ")} that this page saw` : "",
  };
}

/** @param {RaceRecord} record @param {Sighting} sighting @returns {string[]} */
function raceFaults(record, sighting) {
  /** @type {string[]} */
  const faults = [];
  const differ = (/** @type {boolean} */ isWrong, /** @type {string} */ sentence) => isWrong && faults.push(sentence);
  const either = (/** @type {boolean} */ is, /** @type {string} */ yes, /** @type {string} */ no) => (is ? yes : no);
  differ(record.race !== sighting.race, `the record is of race ${record.race}, not of ${sighting.race}`);
  differ(record.game !== sighting.game, `the race was of ${sighting.game}, and the record is of ${record.game}`);
  differ(Boolean(record.commitment) && record.commitment !== sighting.commitment, "the record's commitment is not the one announced before the race");
  const recorded = Object.fromEntries(record.racers.map((racer) => [racer.player, racer.hash]));
  if (Object.keys(sighting.hashes).length)
    for (const player of [...new Set([...Object.keys(sighting.hashes), ...Object.keys(recorded)])].sort()) {
      if (player in recorded && !recorded[player]) continue;
      if (!(player in recorded)) faults.push(`${player} was in the countdown, but is not in the record`);
      else if (!(player in sighting.hashes)) faults.push(`${player} is in the record, but was not in the countdown`);
      else differ(sighting.hashes[player] !== recorded[player], `the nonce of ${player} does not match the hash from the countdown`);
    }
  for (const racer of record.racers) {
    const names = sighting.names[racer.player] ?? [racer.name];
    differ(!names.includes(racer.name), `${racer.player} raced as ${names.at(-1)}, and in the record is ${racer.name}`);
    const raced = sighting.bots.includes(racer.player);
    differ(Object.keys(sighting.names).length > 0 && racer.bot !== raced, `${racer.player} raced as ${either(raced, "a bot", "a person")}, and in the record is ${either(racer.bot, "a bot", "a person")}`);
  }
  differ(sighting.cap !== null && sighting.cap !== record.cap, `the time limit was ${sighting.cap} minutes, and in the record is ${record.cap}`);
  differ(sighting.public !== null && sighting.public !== record.public, `the table was ${either(Boolean(sighting.public), "public", "private")}, and in the record is ${either(record.public, "public", "private")}`);
  if (sighting.startAt) {
    differ(sighting.startAt !== record.start, `the race started at ${sighting.startAt}, and in the record at ${record.start}`);
    const deadline = record.cap ? sighting.startAt + record.cap * 60_000 : 0;
    differ(sighting.deadline !== deadline, `the deadline was ${sighting.deadline}, and by the record it was ${deadline}`);
  }
  if (record.isVoid) {
    differ(Boolean(sighting.outcome), "the server announced a result, and now says that it voided the race");
    differ(!["", record.reason].includes(sighting.voided) && !mayLose(sighting), `the reason for the void was ${sighting.voided}, and in the record is ${record.reason}`);
    if (record.racers.some((racer) => racer.player === sighting.player && racer.missing)) faults.push(...faultsOfBlame(sighting));
    differ(COUNTDOWN_REASONS.has(record.reason) && hasStarted(sighting), NOT_STARTED);
    const deal = dealOfRecord(record);
    differ(Boolean(sighting.deal && deal) && viewText(viewOf(deal)) !== sighting.deal, "the deal of the record's seed and nonces is not the one that this player was dealt");
    return faults;
  }
  const nonce = record.racers.find((racer) => racer.player === sighting.player)?.nonce;
  differ(Boolean(sighting.nonce && nonce) && nonce !== sighting.nonce, "the record's nonce for this player is not the one that this player drew");
  differ(Boolean(sighting.deal) && viewText(viewOf(record.deal)) !== sighting.deal, "the record's deal is not the one that this player was dealt");
  differ(sighting.ranked !== null && sighting.ranked !== record.ranked, `the race was ${either(Boolean(sighting.ranked), "ranked", "unranked")} when it started, and in the record is ${either(record.ranked, "ranked", "unranked")}`);
  differ(Boolean(sighting.voided) && !mayLose(sighting), "the server said that it voided the race, and now has a result of it");
  if (sighting.outcome) {
    const implied = outcomeOf(record);
    faults.push(...(implied ? outcomeFaults(sighting.outcome, implied, "in the record") : ["the announced result cannot be compared: the record's result has players who did not race"]));
  }
  return faults;
}

/** Compare the own entries and boards with the record. @param {RaceRecord} record @param {Sighting} sighting @param {ReplayedRace | null} boards */
function ownFaults(record, sighting, boards) {
  if (!sighting.own.length) return { faults: [], lost: 0 };
  const racer = record.racers.find((each) => each.player === sighting.player);
  if (!racer) return { faults: ["the record does not have this player, who raced"], lost: 0 };
  if (record.isVoid && !racer.isComplete) return { faults: [], lost: 0 };
  const hashes = boards ? boardHashes(record, racer, boards) : null;
  let [lost, kept] = [0, Infinity];
  /** @type {[string[], string[]]} */
  const [entries, shown] = [[], []];
  for (const each of [...sighting.own].reverse()) {
    const words = each.split(" ");
    const [kind, place] = [words[0], Number(words[1])];
    if (kind === "loss") kept = Math.min(kept, place);
    else {
      const fault = kind === "entry" ? entryFault(racer, words) : boardFault(racer, place, words[2], hashes);
      if (!fault) continue;
      if (mayLose(sighting) && place > kept) lost += Number(kind === "entry");
      else (kind === "entry" ? entries : shown).unshift(fault);
    }
  }
  const much = sighting.own.length >= MOST_SEEN ? ["the server showed more of this player's board than a race can have"] : [];
  return { faults: [...shortened(entries, "own entries"), ...shortened(shown, "boards"), ...much], lost };
}

/** @param {Racer} racer @param {string[]} words */
function entryFault(racer, [, place, at, number, text]) {
  const made = `${text} at ${at} ms with number ${number}`;
  const entry = racer.log[Number(place) - 1];
  if (!entry) return `the record lacks this player's entry ${place}, ${made}`;
  const found = `${entry.text} at ${entry.at} ms with number ${entry.number}`;
  return made === found ? "" : `this player's entry ${place} was ${made}, and in the record is ${found}`;
}

/** @param {Racer} racer @param {number} place @param {string} hash @param {string[] | null} hashes */
function boardFault(racer, place, hash, hashes) {
  if (place > racer.log.length) return `this player was shown a board after ${place} entries, and the record has ${racer.log.length}`;
  return hashes && place < hashes.length && hashes[place] !== hash ? `the board that this player was shown after entry ${place} is not that of the record` : "";
}

/** The hashes of a racer's boards as the server replays them; none of them if they are not of this record. @param {RaceRecord} record @param {Racer} racer @param {ReplayedRace} boards */
function boardHashes(record, racer, boards) {
  const entries = boards.boards?.find((each) => each.player === racer.player)?.entries ?? [];
  const all = [{ position: record.deal }, ...entries];
  return all.map(({ position }, place) => {
    const isLast = place === racer.log.length;
    const banked = bankedIn(position);
    return boardHash(record.race, viewOf(position), banked, netOf(record, banked), isLast ? racer.state : "racing");
  });
}

/** Compare the standings seen with the counts of the record: each racer's must follow each other. @param {RaceRecord} record @param {Sighting} sighting */
function standingFaults(record, sighting) {
  const start = bankedIn(record.deal);
  /** @type {Record<string, {number: number, banked: number, state: string}[]>} */
  const courses = {};
  for (const racer of record.racers) {
    const banked = counts(record, racer);
    const course = [{ number: 0, banked: start, state: "racing" }, ...racer.log.map((entry, index) => ({ number: entry.number, banked: banked[index], state: "racing" }))];
    course[course.length - 1].state = racer.state;
    courses[racer.player] = course;
  }
  const commands = sighting.own.filter((each) => each.startsWith("entry")).map((each) => each.split(" ")).map((words) => [Number(words[5]), Number(words[3])]).filter(([id]) => id);
  const takenBack = mayLose(sighting) ? takenBackStandings(sighting.standings) : new Set();
  /** @type {Record<string, number>} */
  const reached = {};
  /** @type {string[]} */
  const faults = [];
  let lost = 0;
  sighting.standings.forEach(([player, banked, net, state, before, isFresh], place) => {
    const shown = `${player} was shown with ${banked} banked cards, ${state}`;
    const course = courses[player];
    if (!course) return faults.push(`${shown}, and is not in the record`);
    if (gameOf(record) && net !== netOf(record, banked)) faults.push(`${shown}, and with ${net} dollars, which these cards do not pay`);
    const below = Math.min(Infinity, ...commands.filter(([id]) => before && id >= before).map(([, number]) => number));
    const first = isFresh ? 0 : (reached[player] ?? 0);
    const found = course.findIndex((point, step) => step >= first && point.banked === banked && point.state === state && point.number < below);
    if (found < 0 && takenBack.has(place)) lost++;
    else if (found < 0) faults.push(`${shown}, and by the record was not at that time`);
    else if (!takenBack.has(place)) reached[player] = found;
  });
  return { faults: shortened(faults, "standings"), lost };
}

/** The places of the standings that a later one of the racer took back. @param {Sighting["standings"]} standings */
function takenBackStandings(standings) {
  const found = new Set();
  /** @type {Record<string, number>} */
  const lowest = {};
  const racing = new Set();
  for (let place = standings.length - 1; place >= 0; place--) {
    const [player, banked, , state] = standings[place];
    if (banked > (lowest[player] ?? banked) || (state !== "racing" && racing.has(player))) found.add(place);
    lowest[player] = Math.min(banked, lowest[player] ?? banked);
    if (state === "racing") racing.add(player);
  }
  return found;
}
