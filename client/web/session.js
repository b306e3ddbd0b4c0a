/**
 * What the player knows about one table: the table, the own board, the standings, the news, the alarms.
 *
 * Pure: each function returns another state and reads no clock. `now` is the server's time in milliseconds.
 */

import { PRIZE, ahead, cardSign, pileWords, readMove, seenCards, wholeView } from "./cards.js";
import { capitalised, dollars, shownName } from "./page.js";

/** How many lines of news and points of a line in the chart are kept. */
const MAX_NEWS = 60;
const MAX_POINTS = 400;
/** How many new lines one event makes; the less important are left out. */
const MAX_AT_ONCE = 4;
/** The least milliseconds between two lines on the lead, and on passing the same racer. */
const LEAD_EVERY = 3_000;
const PASS_EVERY = 5_000;
/** Milliseconds without a sign of the player after which the server ends the board, or chooses another host. */
const IDLE = 180_000;
/** Milliseconds after which a lost connection is news: a page that is loaded again is none. */
const AWAY = 5_000;
/** Banked cards between two milestones. */
const MILESTONE = 10;

/**
 * @typedef {import("./cards.js").View} View
 * @typedef {{player: string, place: number, banked: number, net: number, state: string, name: string, bot: boolean,
 *   level: string}} Row
 * @typedef {{race: string, count: number, view: View, shown: View, banked: number, net: number, state: string,
 *   legal: string[], flight: string, takenBack: string, isCashingOut: boolean, startAt: number, deadline: number}} OwnBoard
 *   `view` is confirmed, `shown` has the move in flight; `flight` is empty without one
 * @typedef {{at: number, text: string, tone: string}} NewsLine
 * @typedef {{race: string, sentence: string, isMissing: boolean}} Alarm
 * @typedef {{player: string, table: import("./connection.js").Table, standings: import("./connection.js").Standing[], outcome: import("./connection.js").Outcome | null, labels: Record<string, any>, own: OwnBoard | null,
 *   feed: any, history: Record<string, {at: number, banked: number}[]>, alarms: Alarm[], match: import("./connection.js").Match | null,
 *   link: string, isWatching: boolean, seatLost: string, idleSince: number}} State `idleSince`: the time from which the server
 *   counts silence, as of the last snapshot; 0 if it does not
 */

/** @param {string} player @param {any} snapshot @param {boolean} isWatching @returns {State} */
export function firstState(player, snapshot, isWatching) {
  /** @type {State} */
  const state = {
    player,
    table: snapshot.table,
    standings: snapshot.standings ?? [],
    outcome: snapshot.outcome ?? null,
    match: snapshot.match ?? null,
    labels: {},
    own: null,
    feed: noFeed(),
    history: {},
    alarms: [],
    link: "connected",
    isWatching,
    seatLost: "",
    idleSince: snapshot.now,
  };
  const labelled = withBoard(withLabels(state), snapshot);
  const moment = momentOf(labelled, snapshot.now);
  return withHistory({ ...labelled, feed: described(noFeed(), moment, true) }, moment);
}

/** @param {State} state @param {any} event @param {number} now @returns {State} */
export function nextState(state, event, now) {
  switch (event.type) {
    case "seat_lost":
      return event.table === state.table.code
        ? { ...state, seatLost: event.reason || "The seat is gone." }
        : state;
    case "board":
      if (!event.entries) {
        if (event.board.race !== state.table.race) return state;
        return withNews(
          state,
          { ...state, own: ownBoard(event.board, event.start_at, event.deadline ?? 0) },
          now,
        );
      }
      return withNews(state, confirmed(state, event.board), now);
    case "snapshot": {
      if (event.table.code !== state.table.code) return state;
      const fresh = withLabels({
        ...state,
        table: event.table,
        standings: event.standings ?? [],
        outcome: event.outcome ?? null,
        match: event.match ?? null,
        idleSince: event.now,
      });
      return withNews(state, withBoard(afterTable(fresh), event), now);
    }
    case "table_changed":
      if (event.table.code !== state.table.code || event.table.version < state.table.version)
        return state;
      return withNews(state, afterTable(withLabels({ ...state, table: event.table })), now);
    case "match":
      return event.table === state.table.code ? { ...state, match: event.match } : state;
    case "standings":
      return event.race === state.table.race
        ? withNews(state, { ...state, standings: event.standings }, now)
        : state;
    case "race_over":
      if (event.outcome.race !== state.table.race) return state;
      return withNews(
        state,
        endedBy(withLabels({ ...state, outcome: event.outcome }), event.outcome),
        now,
      );
    default:
      return state;
  }
}

/** @param {State} state @param {string} link @param {number} now @returns {State} */
export function linkChanged(state, link, now) {
  if (link === state.link) return state;
  const changed = { ...state, link };
  if (state.table.phase !== "running") return changed;
  const text =
    link === "connected"
      ? "connected again"
      : link === "reconnecting"
        ? "connection lost; trying again"
        : "";
  return text
    ? { ...changed, feed: withLine(state.feed, { at: elapsed(state, now), text, tone: "link" }) }
    : changed;
}

// The own board

/** @param {any} board @param {number} startAt @param {number} deadline @returns {OwnBoard} */
function ownBoard(board, startAt, deadline) {
  const view = wholeView(board.view);
  return {
    race: board.race,
    count: board.count,
    view,
    shown: view,
    banked: board.banked,
    net: board.net,
    state: board.state,
    legal: board.legal ?? [],
    flight: "",
    takenBack: "",
    isCashingOut: false,
    startAt,
    deadline,
  };
}

/** Return the state with a move on its way: what it shows besides hidden cards is shown. @param {State} state @param {string} text @returns {State} */
export function withMove(state, text) {
  const own = state.own;
  if (!own) return state;
  const shown = ahead(own.view, readMove(text)) ?? own.view;
  return {
    ...state,
    own: { ...own, shown, flight: text, takenBack: "", ...withBanked(own, bankedBy(text)) },
  };
}

/** @param {State} state @returns {State} */
export function withCashOut(state) {
  return state.own ? { ...state, own: { ...state.own, isCashingOut: true } } : state;
}

/** Return the state after the server sent the own board; an older board changes nothing. @param {State} state @param {any} board @param {boolean} [isFinal] @returns {State} */
export function confirmed(state, board, isFinal = false) {
  const own = state.own;
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

/** Return the state after a refused move, with the reason. @param {State} state @param {string} reason @param {any} [board] @returns {State} */
export function takenBack(state, reason, board) {
  const own = state.own;
  if (!own) return state;
  const known = board ? confirmed(state, board, true) : state;
  const back = known.own ?? own;
  const { view, legal, count, race } = back;
  const priced = board
    ? back
    : { ...back, ...withBanked(own, own.flight ? -bankedBy(own.flight) : 0) };
  return {
    ...known,
    own: {
      ...priced,
      view,
      shown: view,
      legal,
      count,
      race,
      flight: "",
      isCashingOut: false,
      takenBack: reason,
    },
  };
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

/** @param {State} state @param {any} snapshot @returns {State} */
function withBoard(state, snapshot) {
  const { board, table } = snapshot;
  if (!board || board.race !== table.race)
    return state.own?.race === table.race ? state : { ...state, own: null };
  const known = state.own?.race === board.race ? state.own : null;
  const fresh = ownBoard(board, table.start_at ?? 0, table.deadline ?? 0);
  // a move on its way is sent again, unless the board already has it
  if (!known?.flight || known.count !== board.count || board.state !== "racing")
    return { ...state, own: fresh };
  return withMove({ ...state, own: fresh }, known.flight);
}

/** @param {State} state @returns {State} */
function afterTable(state) {
  if (["gathering", "call", "countdown"].includes(state.table.phase))
    return { ...state, standings: [], outcome: null, own: null, feed: noFeed(), history: {} };
  if (state.own && state.own.race !== state.table.race) return { ...state, own: null };
  return state.outcome ? endedBy(state, state.outcome) : state;
}

/** @param {State} state @param {any} outcome @returns {State} */
function endedBy(state, outcome) {
  if (!state.own || state.own.state !== "racing") return state;
  const result = outcome.results.find((/** @type {any} */ each) => each.player === state.player);
  return result
    ? { ...state, own: { ...state.own, state: result.state, isCashingOut: false, legal: [] } }
    : state;
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
  for (const racer of /** @type {import("./connection.js").Seat[]} */ ([
    ...(state.table.racers ?? []),
    ...state.table.seats,
  ]))
    labels[racer.player] = {
      name: racer.name,
      bot: Boolean(racer.bot),
      level: racer.level ?? labels[racer.player]?.level ?? "",
    };
  return { ...state, labels };
}

/** The scoreboard, first place first; empty before the race. @param {State} state @returns {Row[]} */
export function rows(state) {
  const sent = state.outcome?.results ?? state.standings;
  return sent.map((/** @type {any} */ each) => {
    const label = state.labels[each.player] ?? {
      name: each.name ?? each.player,
      bot: Boolean(each.bot),
      level: "",
    };
    return { ...label, ...each };
  });
}

/** @param {State} state */
export function ownRow(state) {
  return rows(state).find((row) => row.player === state.player) ?? null;
}

/** Whether a player is in the race of a table. @param {import("./connection.js").Table} table @param {string} player */
export function isRacer(table, player) {
  return (table.racers ?? []).some((racer) => racer.player === player);
}

/** Everyone's totals in a match, in order of place. @param {import("./connection.js").Match} match */
export function matchTotals(match) {
  const totals = match.rows.map((row) => ({
    ...row,
    net: row.results.reduce((sum, { net }) => sum + net, 0),
    wins: row.results.filter(({ place }) => place === 1).length,
    place: 1,
  }));
  const key = (/** @type {typeof totals[0]} */ { results, net, wins }) => [
    results.length,
    net,
    wins,
    Math.max(...results.map((each) => each.net)),
  ];
  const isAhead = (/** @type {number[]} */ one, /** @type {number[]} */ other) => {
    const at = one.findIndex((value, index) => value !== other[index]);
    return at >= 0 && one[at] > other[at];
  };
  for (const total of totals)
    total.place += totals.filter((other) => isAhead(key(other), key(total))).length;
  return totals;
}

/** A player's seat at a table; `null` without one. @param {import("./connection.js").Table} table @param {string} player */
export function seatAt(table, player) {
  return table.seats.find((seat) => seat.player === player) ?? null;
}

/** @param {State} state */
export function ownSeat(state) {
  return seatAt(state.table, state.player);
}

/** The price of a board's packs, which its money tells. @param {{banked: number, net: number}} board */
export function priceOf(board) {
  return board.banked * PRIZE - board.net;
}

/** The banked cards that pay for the packs. @param {{banked: number, net: number}} board */
export function evenAt(board) {
  return Math.ceil(priceOf(board) / PRIZE);
}

/** The word for the money at that count: even, or ahead if no count pays for the packs exactly. @param {{banked: number, net: number}} board */
export function evenWord(board) {
  return priceOf(board) % PRIZE ? "ahead" : "even";
}

/** How far a board is from that count. @param {{banked: number, net: number}} board */
export function toEven(board) {
  const [missing, word] = [evenAt(board) - board.banked, evenWord(board)];
  if (missing > 0) return word === "even" ? `${missing} to even` : `${missing} to get ahead`;
  return missing && word === "even" ? `${-missing} past even` : word;
}

/** The name of a player in a sentence. @param {State} state @param {string} player */
export function nameOf(state, player) {
  const label = state.labels[player];
  return label ? shownName(label) : "the host";
}

/** @param {State} state @param {number} now */
export function elapsed(state, now) {
  const start = state.own?.startAt || state.table.start_at || 0;
  return start ? Math.max(0, now - start) : 0;
}

/** Milliseconds to the start and to the deadline; `left` is `null` without a time limit. @param {State} state @param {number} now */
export function raceClock(state, now) {
  const start = state.own?.startAt || state.table.start_at || 0;
  const deadline = state.own?.deadline || state.table.deadline || 0;
  return {
    untilStart: Math.max(0, start - now),
    elapsed: elapsed(state, now),
    left: deadline ? Math.max(0, deadline - Math.max(now, start)) : null,
  };
}

/** Why nobody new can take a seat; empty if there is one. @param {import("./connection.js").Table} table */
export function whyNoSeat({ locked, seats, settings }) {
  const reason = locked
    ? "Locked to newcomers"
    : seats.length < settings.seats
      ? ""
      : "Every seat is taken";
  return reason && `${reason}: you can only watch.`;
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

/** The seconds left of which a silent player is warned now; 0 without a warning. @param {State} state @param {number} sign the time of the last sign @param {number} now */
export function idleLeft(state, sign, now) {
  const since = Math.max(sign, state.idleSince, state.own?.startAt || state.table.start_at || 0);
  return idleWarnings(state).find((seconds) => since + IDLE - now <= seconds * 1000) ?? 0;
}

/** Whether players may get ready now. @param {any} table */
export function takesReady(table) {
  return table.phase === "gathering" || table.phase === "call";
}

/** The distance to the next rival, such as `6 cards behind ana`. @param {State} state */
export function gap(state) {
  const all = rows(state);
  const own = ownRow(state);
  const others = all.filter((row) => row !== own && row.player !== state.player);
  if (!own) return "";
  if (!others.length) return "alone in this race";
  const level = others.find((row) => row.banked === own.banked);
  if (level) {
    const name = shownName(level);
    if (own.place === level.place)
      return `level with ${name}${own.state === "racing" ? "; first to bank more leads" : ""}`;
    return own.place < level.place
      ? `level with ${name}; you were first to ${own.banked}`
      : `level with ${name}, who was first to ${own.banked}`;
  }
  const [rival, by] =
    own.place > 1
      ? [others[0], others[0].banked - own.banked]
      : [others[0], own.banked - others[0].banked];
  return `${by} ${by === 1 ? "card" : "cards"} ${own.place > 1 ? "behind" : "ahead of"} ${shownName(rival)}`;
}

// The news: a line describes a change since the last line on its subject, and never names a card

function noFeed() {
  return {
    lines: /** @type {NewsLine[]} */ ([]),
    leader: "",
    leaderAt: -LEAD_EVERY,
    sides: {},
    sidesAt: {},
    milestones: {},
    isEven: false,
    ended: [],
    /** Since when racers have no connection, and of whom the news tell it. */
    awayAt: {},
    away: [],
    host: "",
  };
}

/** @param {State} state @param {number} now */
function momentOf(state, now) {
  const away = state.table.seats
    .filter((/** @type {any} */ seat) => seat.connected === false)
    .map((/** @type {any} */ seat) => seat.player);
  return {
    at: elapsed(state, now),
    you: state.player,
    rows: rows(state),
    away,
    host: state.table.host,
    hostName: nameOf(state, state.table.host),
  };
}

/** @param {State} before @param {State} state @param {number} now @returns {State} */
function withNews(before, state, now) {
  if (!["running", "over"].includes(state.table.phase) || !state.standings.length) return state;
  const moment = momentOf(state, now);
  const isFirst = !before.standings.length || !["running", "over"].includes(before.table.phase);
  const feed = isFirst
    ? described({ ...state.feed, ended: [], host: moment.host }, moment, true)
    : nextFeed(state.feed, moment);
  return withHistory({ ...state, feed }, moment);
}

/** @param {State} state @param {any} moment @returns {State} */
function withHistory(state, moment) {
  const history = { ...state.history };
  for (const row of moment.rows) {
    const known = history[row.player] ?? [];
    if (known.at(-1)?.banked === row.banked) continue;
    const kept = known.length >= MAX_POINTS ? known.filter((_, index) => index % 2 === 0) : known;
    history[row.player] = [...kept, { at: moment.at, banked: row.banked }];
  }
  return { ...state, history };
}

/** @param {any} feed @param {NewsLine} line */
function withLine(feed, line) {
  return { ...feed, lines: [...feed.lines, line].slice(-MAX_NEWS) };
}

/** @param {any} feed @param {any} moment */
function nextFeed(feed, moment) {
  const lead = leadLines(feed, moment);
  const lines = [
    ...endings(feed, moment),
    ...evenLines(feed, moment),
    ...lead,
    ...passes(feed, moment, lead),
    ...milestones(feed, moment),
    ...people(feed, moment),
  ];
  const next = described(feed, moment, false);
  return { ...next, lines: [...feed.lines, ...lines.slice(0, MAX_AT_ONCE)].slice(-MAX_NEWS) };
}

/** Return the feed with the present situation described; at the first look all of it. @param {any} feed @param {any} moment @param {boolean} isFirst */
function described(feed, moment, isFirst) {
  const [sides, sidesAt, milestones] = [
    { ...feed.sides },
    { ...feed.sidesAt },
    { ...feed.milestones },
  ];
  for (const [player, side] of Object.entries(sidesOf(moment))) {
    if (sides[player] === side) continue;
    if (isFirst || !(player in sides)) sides[player] = side;
    else if (mayPass(feed, moment, player)) [sides[player], sidesAt[player]] = [side, moment.at];
  }
  for (const row of moment.rows)
    milestones[row.player] = Math.max(tens(row), milestones[row.player] ?? 0);
  const newLead = isFirst || leadLines(feed, moment).length;
  const awayAt = Object.fromEntries(
    moment.away.map((/** @type {string} */ player) => [player, feed.awayAt[player] ?? moment.at]),
  );
  return {
    ...feed,
    sides,
    sidesAt,
    milestones,
    leader: newLead ? leaderOf(moment) : feed.leader,
    leaderAt: newLead && !isFirst ? moment.at : feed.leaderAt,
    isEven: feed.isEven || isEven(moment),
    ended: moment.rows
      .filter((/** @type {Row} */ row) => row.state !== "racing")
      .map((/** @type {Row} */ row) => row.player),
    awayAt,
    away: isFirst ? moment.away : longAway(feed, moment),
    host: moment.host,
  };
}

/** The racers of whom the news tell that they have lost the connection. @param {any} feed @param {any} moment @returns {string[]} */
function longAway(feed, moment) {
  return moment.away.filter(
    (/** @type {string} */ player) =>
      feed.away.includes(player) || moment.at - (feed.awayAt[player] ?? moment.at) >= AWAY,
  );
}

/** @param {Row} row @param {string} you */
function who(row, you) {
  return row.player === you ? "you" : shownName(row);
}

/** A board's state in words, such as `cashed out`. @param {string} state */
export function stateWords(state) {
  return state === "cash-out" ? "cashed out" : state.replaceAll("-", " ");
}

/** How a racer's board ended, such as `mei is stuck at 9, −$5`. @param {Row} row @param {string} you */
export function ending(row, you) {
  const isYou = row.player === you;
  /** @type {Record<string, string>} */
  const words = {
    won: "broke the bank with",
    "cash-out": "cashed out with",
    stuck: isYou ? "are stuck at" : "is stuck at",
    "out-of-time": "ran out of time at",
    left: "left at",
    gone: "left at",
    "ended-by-host": `${isYou ? "were" : "was"} ended by the host at`,
    idle: `${isYou ? "were" : "was"} idle for 3 minutes and ended at`,
  };
  return `${who(row, you)} ${words[row.state] ?? `${stateWords(row.state)} at`} ${row.banked}, ${dollars(row.net)}`;
}

/** @param {any} feed @param {any} moment @returns {NewsLine[]} */
function endings(feed, moment) {
  let ended = moment.rows.filter(
    (/** @type {Row} */ row) => row.state !== "racing" && !feed.ended.includes(row.player),
  );
  const late = ended.filter((/** @type {Row} */ row) => row.state === "out-of-time");
  const lines = [];
  if (late.length > 1) {
    lines.push({ at: moment.at, text: `time is up for ${late.length} racers`, tone: "ending" });
    ended = ended.filter((/** @type {Row} */ row) => row.state !== "out-of-time");
  }
  for (const row of ended)
    lines.push({
      at: moment.at,
      text: ending(row, moment.you),
      tone: row.state === "won" ? "won" : "ending",
    });
  return lines;
}

/** @param {any} moment */
function isEven(moment) {
  return moment.rows.some((/** @type {Row} */ row) => row.player === moment.you && row.net >= 0);
}

/** @param {any} feed @param {any} moment @returns {NewsLine[]} */
function evenLines(feed, moment) {
  const own = moment.rows.find((/** @type {Row} */ row) => row.player === moment.you);
  if (feed.isEven || !isEven(moment) || own.state !== "racing") return [];
  return [
    {
      at: moment.at,
      text: `you ${evenWord(own) === "even" ? "broke even" : "are ahead"} with ${own.banked}`,
      tone: "even",
    },
  ];
}

/** @param {any} moment */
function leaderOf(moment) {
  const first = moment.rows.filter((/** @type {Row} */ row) => row.place === 1);
  return first.length === 1 && moment.rows.length > 1 ? first[0].player : "";
}

/** @param {any} feed @param {any} moment @returns {(NewsLine & {player: string})[]} */
function leadLines(feed, moment) {
  const leader = leaderOf(moment);
  if (!leader || leader === feed.leader || moment.at - feed.leaderAt < LEAD_EVERY) return [];
  const row = moment.rows.find((/** @type {Row} */ each) => each.player === leader);
  const takes = leader === moment.you ? "take" : "takes";
  return [
    {
      at: moment.at,
      text: `${who(row, moment.you)} ${takes} the lead with ${row.banked}`,
      tone: "lead",
      player: leader,
    },
  ];
}

/** By rival's id -1 for a rival ahead and 1 for one behind. @param {any} moment @returns {Record<string, number>} */
function sidesOf(moment) {
  const own = moment.rows.find((/** @type {Row} */ row) => row.player === moment.you);
  /** @type {Record<string, number>} */
  const sides = {};
  for (const row of own ? moment.rows : [])
    if (row.place !== own.place) sides[row.player] = row.place < own.place ? -1 : 1;
  return sides;
}

/** @param {any} feed @param {any} moment @param {string} player */
function mayPass(feed, moment, player) {
  return moment.at - (feed.sidesAt[player] ?? -PASS_EVERY) >= PASS_EVERY;
}

/** @param {any} feed @param {any} moment @param {{player: string}[]} lead @returns {NewsLine[]} */
function passes(feed, moment, lead) {
  const leads = lead.map((line) => line.player);
  const lines = [];
  for (const [player, side] of Object.entries(sidesOf(moment))) {
    if (
      (feed.sides[player] ?? side) === side ||
      leads.includes(player) ||
      !mayPass(feed, moment, player)
    )
      continue;
    if (side > 0 && leads.includes(moment.you)) continue;
    const name = who(
      moment.rows.find((/** @type {Row} */ row) => row.player === player),
      moment.you,
    );
    lines.push({
      at: moment.at,
      text: side > 0 ? `you passed ${name}` : `${name} passed you`,
      tone: "pass",
    });
  }
  return lines;
}

/** @param {Row} row */
function tens(row) {
  return Math.floor(row.banked / MILESTONE) * MILESTONE;
}

/** @param {any} feed @param {any} moment @returns {NewsLine[]} */
function milestones(feed, moment) {
  const brokeEven = evenLines(feed, moment).length > 0;
  const reached = moment.rows.filter(
    (/** @type {Row} */ row) =>
      tens(row) > (feed.milestones[row.player] ?? 0) &&
      row.state === "racing" &&
      !(brokeEven && row.player === moment.you),
  );
  return reached.map((/** @type {Row} */ row) => ({
    at: moment.at,
    text: `${who(row, moment.you)} reached ${tens(row)}`,
    tone: "milestone",
  }));
}

/** @param {any} feed @param {any} moment @returns {NewsLine[]} */
function people(feed, moment) {
  const lines = [];
  const away = longAway(feed, moment);
  for (const { player, state, ...row } of moment.rows) {
    const isAway = away.includes(player);
    if (state !== "racing" || player === moment.you || feed.away.includes(player) === isAway)
      continue;
    const text = `${shownName(row)} ${isAway ? "lost the connection" : "is back"}`;
    lines.push({ at: moment.at, text, tone: "people" });
  }
  if (feed.host && moment.host && moment.host !== feed.host)
    lines.push({
      at: moment.at,
      text: moment.host === moment.you ? "you are host now" : `${moment.hostName} is host now`,
      tone: "people",
    });
  return lines;
}
