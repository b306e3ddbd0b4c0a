/**
 * What the player knows about one table: the table, the own board, the standings, the news, the alarms.
 *
 * Pure: each function returns another state and reads no clock. `now` is the server's time in milliseconds.
 */

import { PRIZE, ahead, cardSign, pileWords, readMove, seenCards, wholeView } from "./cards.js";
import { capitalised, counted, dollars, shownName } from "./page.js";

/** How many lines of news and points of a line in the chart are kept. */
const MAX_NEWS = 60;
const MAX_POINTS = 400;
/** How many new lines one event makes; the less important are left out. */
const MAX_AT_ONCE = 4;
/** The least milliseconds between two lines on the lead, and on passing the same racer. */
const LEAD_EVERY = 3_000;
const PASS_EVERY = 5_000;
/** Milliseconds of silence that end a board, or make another player host. */
const IDLE = 180_000;
/** Milliseconds after which a lost connection is news: a page that is loaded again is none. */
const AWAY = 5_000;
/** Milliseconds of a race without this page that the chart marks. */
const GAP = 2_000;
/** Banked cards between two milestones. */
const MILESTONE = 10;

/**
 * @typedef {import("./cards.js").View} View
 * @typedef {{name: string, bot?: boolean, level?: string, ghost?: boolean}} Label
 * @typedef {Label & {player: string, place: number, banked: number, net: number, state: string}} Row
 *
 * `view` is confirmed, `shown` has the move in flight; `flight` is empty without one.
 * @typedef {{race: string, count: number, view: View, shown: View, banked: number, net: number, state: string,
 *   legal: string[], flight: string, takenBack: string, isCashingOut: boolean, startAt: number, deadline: number}} OwnBoard
 * @typedef {{at: number, text: string, tone: string}} NewsLine
 * @typedef {{race: string, sentence: string, isMissing: boolean}} Alarm
 *
 * `gaps`: the spans of the race that no page of this tab has seen; `idleSince`: the time from which the server counts silence,
 * as of the last snapshot; 0 if it does not.
 * @typedef {{feed: Feed, history: Record<string, {at: number, banked: number}[]>, gaps: [number, number][]}} Course
 * @typedef {Course & {race: string, at: number}} Seen
 * @typedef {Course & {player: string, table: Wire.Table, standings: Wire.Standing[], outcome: Wire.Outcome | null,
 *   match: Wire.Match | null, labels: Record<string, Label>, own: OwnBoard | null, link: string, isWatching: boolean,
 *   seatLost: string, idleSince: number}} State
 */

/**
 * What a snapshot says of everybody.
 * @param {Wire.Snapshot} snapshot
 * @returns {Pick<State, "table" | "standings" | "outcome" | "match" | "idleSince">}
 */
function told({ table, standings = [], outcome, match, now }) {
  return { table, standings, outcome: outcome ?? null, match: match ?? null, idleSince: now };
}

/**
 * The state of a table that this page has just come to.
 * @param {string} player @param {Wire.Snapshot} snapshot @param {boolean} isWatching
 * @param {Seen | null} [seen] what the page knew before it was loaded again @returns {State}
 */
export function firstState(player, snapshot, isWatching, seen) {
  const isSeen = seen?.race === snapshot.table.race;
  const { at, feed, history, gaps } = isSeen ? seen : { at: 0, ...UNSEEN };
  const unknown = { labels: {}, own: null, link: "connected", seatLost: "" };
  const state = { player, isWatching, ...unknown, feed, history, gaps, ...told(snapshot) };
  const labelled = withBoard(withLabels(state), snapshot);
  const moment = momentOf(labelled, snapshot.now);
  const known = { ...labelled, feed: described(feed, moment) };
  if (moment.at - at > GAP) known.gaps = [...gaps, [at, moment.at]];
  return withHistory(known, moment);
}

/** What a page cannot ask for again. @param {State} state @param {number} now @returns {Seen} */
export function seenOf(state, now) {
  const { table, feed, history, gaps } = state;
  return { race: table.race, at: elapsed(state, now), feed, history, gaps };
}

/** @param {State} state @param {Wire.Event} event @param {number} now @returns {State} */
export function nextState(state, event, now) {
  const { code, race, version } = state.table;
  switch (event.type) {
    case "seat_lost":
      if (event.table !== code) return state;
      return { ...state, seatLost: event.reason || "The seat is gone." };
    case "board": {
      const { board, entries, start_at = 0, deadline = 0 } = event;
      if (entries) return withNews(state, confirmed(state, board), now);
      if (board.race !== race) return state;
      return withNews(state, { ...state, own: ownBoard(board, start_at, deadline) }, now);
    }
    case "snapshot": {
      if (event.table.code !== code) return state;
      const fresh = afterTable(withLabels({ ...state, ...told(event) }));
      return withNews(state, withBoard(fresh, event), now);
    }
    case "table_changed": {
      const { table } = event;
      if (table.code !== code || table.version < version) return state;
      return withNews(state, afterTable(withLabels({ ...state, table })), now);
    }
    case "match":
      return event.table === code ? { ...state, match: event.match } : state;
    case "standings":
      if (event.race !== race) return state;
      return withNews(state, { ...state, standings: event.standings }, now);
    case "race_over": {
      const { outcome } = event;
      if (outcome.race !== race) return state;
      return withNews(state, endedBy({ ...state, outcome }, outcome), now);
    }
    default:
      return state;
  }
}

// The own board

/** @param {Wire.BoardView} board @param {number} startAt @param {number} deadline @returns {OwnBoard} */
function ownBoard(board, startAt, deadline) {
  const { race, count, banked, net, state, legal = [] } = board;
  const view = wholeView(board.view);
  const told = { race, count, banked, net, state, legal, view, shown: view, startAt, deadline };
  return { ...told, flight: "", takenBack: "", isCashingOut: false };
}

/**
 * Return the state with a move on its way: what it shows besides hidden cards is shown.
 * @param {State} state @param {string} text @returns {State}
 */
export function withMove(state, text) {
  const { own } = state;
  if (!own) return state;
  const shown = ahead(own.view, readMove(text)) ?? own.view;
  const moved = { shown, flight: text, takenBack: "", ...withBanked(own, bankedBy(text)) };
  return { ...state, own: { ...own, ...moved } };
}

/** @param {State} state @returns {State} */
export function withCashOut(state) {
  return state.own ? { ...state, own: { ...state.own, isCashingOut: true } } : state;
}

/**
 * Return the state after the server sent the own board; an older board changes nothing.
 * @param {State} state @param {Wire.BoardView} board @param {boolean} [isFinal] @returns {State}
 */
export function confirmed(state, board, isFinal = false) {
  const { own } = state;
  if (!own || board.race !== own.race) return state;
  const isOlder =
    board.count < own.count ||
    (board.count === own.count && own.state !== "racing" && board.state === "racing");
  if (isOlder && !isFinal) return state;
  const fresh = ownBoard(board, own.startAt, own.deadline);
  // the answer to a repeated move may be older than the race's end
  if (state.outcome && fresh.state === "racing") fresh.state = own.state;
  return { ...state, own: fresh };
}

/**
 * Return the state after a refused move, with the reason.
 * @param {State} state @param {string} reason @param {Wire.BoardView} [board] @returns {State}
 */
export function takenBack(state, reason, board) {
  const { own } = state;
  if (!own) return state;
  const known = board ? confirmed(state, board, true) : state;
  const back = known.own ?? own;
  const priced = board ? {} : withBanked(own, own.flight ? -bankedBy(own.flight) : 0);
  const still = { shown: back.view, flight: "", isCashingOut: false, takenBack: reason };
  return { ...known, own: { ...back, ...priced, ...still } };
}

/** The cards that a move banks: 1, 0, or -1 if it takes one back. @param {string} text */
function bankedBy(text) {
  const { from, to } = readMove(text);
  return Number(to === "up" || to === "down") - Number(from.startsWith("up."));
}

/** The banked cards and the net with so many more. @param {OwnBoard} own @param {number} cards */
function withBanked({ banked, net }, cards) {
  return { banked: banked + cards, net: net + cards * PRIZE };
}

/** @param {State} state @param {Wire.Snapshot} snapshot @returns {State} */
function withBoard(state, { board, table: { race, start_at = 0, deadline = 0 } }) {
  const known = state.own?.race === race ? state.own : null;
  if (board?.race !== race) return known ? state : { ...state, own: null };
  const fresh = { ...state, own: ownBoard(board, start_at, deadline) };
  // a move on its way is sent again, unless the board already has it
  const isUnderWay = known?.flight && known.count === board.count && board.state === "racing";
  return isUnderWay ? withMove(fresh, known.flight) : fresh;
}

/** @param {State} state @returns {State} */
function afterTable(state) {
  if (["gathering", "call", "countdown"].includes(state.table.phase))
    return { ...state, standings: [], outcome: null, own: null, ...UNSEEN };
  if (state.own && state.own.race !== state.table.race) return { ...state, own: null };
  return state.outcome ? endedBy(state, state.outcome) : state;
}

/** @param {State} state @param {Wire.Outcome} outcome @returns {State} */
function endedBy(state, outcome) {
  const { own, player } = state;
  const result = outcome.results.find((each) => each.player === player);
  if (own?.state !== "racing" || !result) return state;
  return { ...state, own: { ...own, state: result.state, isCashingOut: false, legal: [] } };
}

/**
 * What a confirmed move turned up, such as `Column 2: 7\u2666 on top.`, for those who do not see it; empty if nothing.
 * @param {OwnBoard} before the board with the move on its way @param {OwnBoard} own
 */
export function turnedUp(before, own) {
  if (!before.flight || own.flight || own.takenBack || own.race !== before.race) return "";
  const { from, to } = readMove(before.flight);
  const pile = to ? from : "w";
  const isCovered =
    pile === "w" ||
    pile === "r" ||
    (pile[0] === "t" && own.view.face_down.join() !== before.view.face_down.join());
  const top = isCovered ? seenCards(own.view, pile).at(-1) : "";
  return top ? `${capitalised(pileWords(pile))}: ${cardSign(top)} on top.` : "";
}

/** Whether a move can be made now. @param {OwnBoard | null} own */
export function mayMove(own) {
  return own !== null && own.state === "racing" && !own.flight && !own.isCashingOut;
}

// What is known about players and times

/** @param {State} state @returns {State} */
function withLabels(state) {
  const labels = { ...state.labels };
  for (const { player, name, bot = false, ghost = false } of state.table.racers ?? []) {
    const shown = ghost ? `${name}'s ghost` : name;
    labels[player] = { name: shown, bot, level: labels[player]?.level ?? "", ghost };
  }
  for (const { player, name, bot = false, level } of state.table.seats)
    labels[player] = { name, bot, level: level || (labels[player]?.level ?? "") };
  return { ...state, labels };
}

/**
 * The scoreboard, first place first; empty before the race.
 * @param {Pick<State, "standings" | "labels"> & {outcome: {results: (Wire.Standing | Row)[]} | null}} state
 * @returns {Row[]}
 */
export function rows({ outcome, standings, labels }) {
  return (outcome?.results ?? standings).map((each) => {
    return { ...(labels[each.player] ?? { name: each.player }), ...each };
  });
}

/** @param {State} state */
export function ownRow(state) {
  return rows(state).find((row) => row.player === state.player) ?? null;
}

/** Whether a player is in the race of a table. @param {Wire.Table} table @param {string} player */
export function isRacer(table, player) {
  return (table.racers ?? []).some((racer) => racer.player === player);
}

/** Everyone's totals in a match, in order of place. @param {Wire.Match} match */
export function matchTotals(match) {
  const totals = match.rows.map((row) => {
    const { results } = row;
    const net = results.reduce((sum, each) => sum + each.net, 0);
    const wins = results.filter((each) => each.place === 1).length;
    const best = Math.max(...results.map((each) => each.net));
    return { ...row, net, wins, place: 1, order: [results.length, net, wins, best] };
  });
  for (const total of totals)
    for (const { order } of totals) {
      const at = order.findIndex((value, index) => value !== total.order[index]);
      if (at >= 0 && order[at] > total.order[at]) total.place++;
    }
  return totals;
}

/** A player's seat; `null` without one. @param {Wire.Table} table @param {string} player */
export function seatAt(table, player) {
  return table.seats.find((seat) => seat.player === player) ?? null;
}

/** @param {State} state */
export function ownSeat(state) {
  return seatAt(state.table, state.player);
}

/** The price of a board's packs. @param {{banked: number, net: number}} board */
export function priceOf(board) {
  return board.banked * PRIZE - board.net;
}

/** The banked cards that pay for the packs. @param {{banked: number, net: number}} board */
export function evenAt(board) {
  return Math.ceil(priceOf(board) / PRIZE);
}

/** How far a board is from that count. @param {{banked: number, net: number}} board */
export function toEven(board) {
  const missing = evenAt(board) - board.banked;
  if (missing)
    return missing > 0
      ? `${counted(missing)} to break even`
      : `${counted(-missing)} past break-even`;
  return board.net ? "just past break-even" : "exactly even";
}

/** The name of a player in a sentence. @param {State} state @param {string} player */
export function nameOf(state, player) {
  const label = state.labels[player];
  return label ? shownName(label) : "the host";
}

/** The start of the race of the table, 0 if it has none. @param {State} state */
function startOf({ own, table }) {
  return own?.startAt || table.start_at || 0;
}

/** @param {State} state @param {number} now */
export function elapsed(state, now) {
  return startOf(state) && Math.max(0, now - startOf(state));
}

/**
 * Milliseconds to the start and to the deadline; `left` is `null` without a time limit.
 * @param {State} state @param {number} now
 */
export function raceClock(state, now) {
  const start = startOf(state);
  const deadline = state.own?.deadline || state.table.deadline || 0;
  return {
    untilStart: Math.max(0, start - now),
    elapsed: elapsed(state, now),
    left: deadline ? Math.max(0, deadline - Math.max(now, start)) : null,
  };
}

/** Why nobody new can take a seat; empty if there is one. @param {Wire.Table} table */
export function whyNoSeat({ locked, seats, settings }) {
  if (!locked && seats.length < settings.seats) return "";
  return `${locked ? "Locked to newcomers" : "Every seat is taken"}: you can only watch.`;
}

/**
 * The seconds left at which a silent player is warned, the last first: a racer of the end of the board, a host between races of
 * another host; empty if silence ends nothing.
 * @param {State} state
 */
export function idleWarnings({ table, player, own }) {
  if (table.phase === "running")
    return own?.state === "racing" && table.seats.length > 1 ? [15, 60] : [];
  const isBetweenRaces = table.phase === "gathering" || table.phase === "over";
  const isAlone = table.seats.every((seat) => seat.player === player || seat.bot);
  return isBetweenRaces && table.host === player && !isAlone ? [60] : [];
}

/**
 * The seconds left of which a silent player is warned now; 0 without a warning.
 * @param {State} state @param {number} sign the time of the last sign @param {number} now
 */
export function idleLeft(state, sign, now) {
  const since = Math.max(sign, state.idleSince, startOf(state));
  return idleWarnings(state).find((seconds) => since + IDLE - now <= seconds * 1000) ?? 0;
}

/** Whether a race was started and is not over. @param {{phase: string}} table */
export function isUnderWay({ phase }) {
  return ["call", "countdown", "running"].includes(phase);
}

/** Whether players may get ready now. @param {{phase: string}} table */
export function takesReady({ phase }) {
  return phase === "gathering" || phase === "call";
}

/** The distance to the next rival, such as `6 cards behind ana`. @param {State} state */
export function gap(state) {
  const own = ownRow(state);
  const others = rows(state).filter((row) => row.player !== state.player);
  if (!own) return "";
  if (!others.length) return state.table.open ? "on your own clock" : "alone in this race";
  const { banked, place } = own;
  const level = others.find((row) => row.banked === banked);
  if (!level) {
    const by = Math.abs(others[0].banked - banked);
    return `${counted(by)} ${place > 1 ? "behind" : "ahead of"} ${shownName(others[0])}`;
  }
  const words = `level with ${shownName(level)}`;
  if (place === level.place) return words;
  return place < level.place
    ? `${words}; you were first to ${banked}`
    : `${words}, who was first to ${banked}`;
}

// The news: a line describes a change since the last line on its subject, and never names a card

/**
 * `said`: by subject, such as `leader`, what is known there and since when.
 * @typedef {{lines: NewsLine[], said: Record<string, [unknown, number]>}} Feed
 * @typedef {{at: number, you: string, own: Row | undefined, rows: Row[], away: string[], host: string, hostName: string}} Moment
 */

/** @type {Feed} */
const NO_FEED = { lines: [], said: {} };
/** @type {Course} */
const UNSEEN = { feed: NO_FEED, history: {}, gaps: [] };

/** @param {State} state @param {number} now @returns {Moment} */
function momentOf(state, now) {
  const { player: you, table } = state;
  const { host, seats } = table;
  const away = seats.filter((seat) => seat.connected === false).map((seat) => seat.player);
  const all = rows(state);
  const own = all.find((row) => row.player === you);
  return {
    at: elapsed(state, now),
    you,
    own,
    rows: all,
    away,
    host,
    hostName: nameOf(state, host),
  };
}

/** @param {State} before @param {State} state @param {number} now @returns {State} */
function withNews(before, state, now) {
  if (!["running", "over"].includes(state.table.phase) || !state.standings.length) return state;
  const moment = momentOf(state, now);
  const isFirst = !before.standings.length || !["running", "over"].includes(before.table.phase);
  const feed = described(isFirst ? NO_FEED : state.feed, moment);
  return withHistory({ ...state, feed }, moment);
}

/** @param {State} state @param {Moment} moment @returns {State} */
function withHistory(state, moment) {
  const history = { ...state.history };
  for (const { player, banked } of moment.rows) {
    const known = history[player] ?? [];
    if (known.at(-1)?.banked === banked) continue;
    const kept = known.length >= MAX_POINTS ? known.filter((_, index) => index % 2 === 0) : known;
    history[player] = [...kept, { at: moment.at, banked }];
  }
  return { ...state, history };
}

/**
 * Everybody's banked cards over the time, from the logs of a record.
 * @param {{player: string, log: string[]}[]} racers @param {Wire.Standing[]} results @returns {State["history"]}
 */
export function climbOf(racers, results) {
  const climbs = racers.map(({ player, log }) => {
    const steps = log.map((line) => {
      const [at, , text] = line.split(" ");
      return { at: Number(at), by: bankedBy(text) };
    });
    let banked = results.find((row) => row.player === player)?.banked ?? 0;
    for (const { by } of steps) banked -= by;
    const all = [{ at: 0, by: 0 }, ...steps.filter(({ by }) => by)];
    return [player, all.map(({ at, by }) => ({ at, banked: (banked += by) }))];
  });
  return Object.fromEntries(climbs);
}

/** Return the feed with what is new in a moment, the most important first; what was not known before is noted silently. @param {Feed} feed @param {Moment} moment @returns {Feed} */
function described(feed, moment) {
  const { at, you, own, host } = moment;
  const said = { ...feed.said };
  /** @type {NewsLine[]} */
  const lines = [];
  /** @param {string} tone @param {string} text */
  const say = (tone, text) => lines.push({ at, text, tone });
  /**
   * Note what is so, at most once in a while; return whether it was otherwise before.
   * @param {string} subject @param {unknown} value @param {number} [every] milliseconds
   */
  const isNew = (subject, value, every = 0) => {
    const [known, since] = said[subject] ?? [undefined, -Infinity];
    if (known === value || at - since < every) return false;
    said[subject] = [value, known === undefined ? -Infinity : at];
    return known !== undefined;
  };

  const ended = moment.rows.filter(
    ({ player, state }) => isNew(`end of ${player}`, state !== "racing") && state !== "racing",
  );
  const late = ended.filter((row) => row.state === "out-of-time");
  if (late.length > 1) say("ending", `time is up for ${late.length} racers`);
  for (const row of ended)
    if (late.length < 2 || !late.includes(row))
      say(row.state === "won" ? "won" : "ending", ending(row, you));

  const wasEven = said.even?.[0] === true;
  const breaksEven = isNew("even", wasEven || Boolean(own && own.net >= 0));
  if (breaksEven && own?.state === "racing") say("even", `you broke even with ${own.banked}`);

  const first = leaderOf(moment);
  const isFirst = !said.leader;
  const leader =
    (isFirst || first) && isNew("leader", first?.player ?? "", LEAD_EVERY) ? first : null;
  if (leader)
    say(
      "lead",
      `${who(leader, you)} ${leader === own ? "take" : "takes"} the lead with ${leader.banked}`,
    );

  for (const row of moment.rows) {
    if (!own || row.place === own.place) continue;
    const isBehind = row.place > own.place;
    if (!isNew(`side of ${row.player}`, isBehind, PASS_EVERY)) continue;
    if (row !== leader && !(isBehind && leader === own))
      say("pass", isBehind ? `you passed ${who(row, you)}` : `${who(row, you)} passed you`);
  }

  for (const row of moment.rows) {
    const subject = `tens of ${row.player}`;
    const tens = Math.floor(row.banked / MILESTONE) * MILESTONE;
    const isReached = isNew(subject, Math.max(tens, Number(said[subject]?.[0] ?? 0)));
    if (isReached && row.state === "racing" && !(breaksEven && row === own))
      say("milestone", `${who(row, you)} reached ${tens}`);
  }

  for (const row of moment.rows) {
    const { player } = row;
    isNew(`link of ${player}`, moment.away.includes(player));
    const [isAway, since] = said[`link of ${player}`];
    const isLong = isAway && (said[`away ${player}`]?.[0] || at - since >= AWAY);
    if (isNew(`away ${player}`, Boolean(isLong)) && row.state === "racing" && row !== own)
      say("people", `${who(row, you)} ${isLong ? "lost the connection" : "is back"}`);
  }
  if (host && isNew("host", host))
    say("people", host === you ? "you are host now" : `${moment.hostName} is host now`);
  const kept = [...feed.lines, ...lines.slice(0, MAX_AT_ONCE)].slice(-MAX_NEWS);
  return { lines: kept, said };
}

/** @param {Row} row @param {string} you */
function who(row, you) {
  return row.player === you ? "you" : shownName(row);
}

/** A board's state in words, such as `cashed out`. @param {string} state */
export function stateWords(state) {
  /** @type {Record<string, string>} */
  const words = {
    "cash-out": "cashed out",
    stuck: "played to the end",
    won: "broke the bank",
    "ended-by-vote": "agreed to end",
    "bots-stopped": "stopped",
    idle: "away for 3 minutes",
  };
  return words[state] ?? state.replaceAll("-", " ");
}

/** How a racer's board ended, such as `mei: played to the end, 9 banked, −$5`. @param {Row} row @param {string} you */
function ending(row, you) {
  return `${who(row, you)}: ${stateWords(row.state)}, ${row.banked} banked, ${dollars(row.net)}`;
}

/** The only racer in the first place. @param {Moment} moment */
function leaderOf({ rows: all }) {
  const [first, ...others] = all.filter((row) => row.place === 1);
  return !others.length && all.length > 1 ? first : undefined;
}
