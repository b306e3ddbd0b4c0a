/** What the page knows of a table and says of it: boards, warnings, news, ties and personal bests. */

import assert from "node:assert/strict";
import { test } from "node:test";

import "./cases.js";
import { racerClass } from "../../client/web/racers.js";
import { bestWords, headline, shareText, tieWords } from "../../client/web/results.js";
import * as session from "../../client/web/session.js";

test("a move that the server refuses is taken back with the reason", () => {
  const view = { columns: ["AS2D", "3S"], up: [0, 0, 0, 0], down: [], base: 2, face_down: [] };
  const board = { race: "r", count: 3, view, banked: 4, net: -32, state: "racing", legal: [] };
  const state = { player: "m", table: {}, own: { ...board, shown: view } };
  const shown = ({ own }) => [own.shown.columns, own.shown.up, own.banked, own.net, own.takenBack];
  for (const sent of [undefined, board])
    for (const [move, ahead] of [
      ["t1>up", [["AS", "3S"], [0, 0, 0, 1], 5, -27, ""]],
      ["t1>t2", [["AS", "3S2D"], [0, 0, 0, 0], 4, -32, ""]],
    ]) {
      const moved = session.withMove(state, move);
      assert.deepEqual(shown(moved), ahead);
      const back = [["AS2D", "3S"], [0, 0, 0, 0], 4, -32, "No."];
      assert.deepEqual(shown(session.takenBack(moved, "No.", sent)), back);
    }
});

test("only cards that turned up are told", () => {
  const board = (flight, hidden, takenBack = "") => {
    const piles = { columns: ["KS", "7D"], waste: "", reserve_top: "9C" };
    return { race: "a", flight, takenBack, view: { ...piles, face_down: [0, hidden] } };
  };
  for (const [flight, after, told] of [
    ["t2>t5", board("", 0), "Column 2: 7\u2666 on top."],
    ["t2>t5", board("", 1), ""],
    ["r>up", board("", 1), "The reserve: 9\u2663 on top."],
    ["t2>t5", board("draw", 0), ""],
    ["t2>t5", board("", 0, "No."), ""],
    ["", board("", 0), ""],
    ["draw", board("", 1), ""],
  ])
    assert.equal(session.turnedUp(board(flight, 1), after), told);
});

test("silence counts from the last sign or the start, or as the server says", () => {
  for (const [seats, sign, idleSince, startAt, left] of [
    ["mbt", 11_000, 0, 0, 60],
    ["mbt", 11_000, 0, 71_000, 0],
    ["mbt", 11_000, 71_000, 0, 0],
    ["mbt", 71_000, 0, 0, 0],
    ["mt", 11_000, 0, 0, 60],
    ["m", 11_000, 0, 0, 0],
  ]) {
    const table = { phase: "running", seats: [...seats].map((player) => ({ player })) };
    const state = { player: "m", table, own: { state: "racing", startAt }, idleSince };
    assert.equal(session.idleLeft(state, sign, 131_000), left);
  }
});

test("a rival keeps a colour while others come and go, and shares it only when it must", () => {
  const colours = (ids) => {
    const racers = [...ids].map((player) => ({ player }));
    return racers.map(({ player }) => racerClass(racers, "m", player));
  };
  assert.deepEqual(colours("mz"), ["me", "r1"]);
  assert.deepEqual(colours("zamb"), ["r1", "r2", "me", "r3"]);
  assert.deepEqual(colours("abzm"), ["r2", "r3", "r1", "me"]);
  const crowd = colours("mcdefgz");
  assert.equal(crowd[6], "r1");
  assert.equal(new Set(crowd).size, 6);
  // two who met others first may have one colour, until they meet
  assert.equal(racerClass([{ player: "x" }], "m", "x"), "r1");
  assert.equal(new Set(colours("mxz")).size, 3);
});

// News

/** A race of Mira, who looks, Bert and the bot Carl, and what is said of its changes. */
class Race {
  rows = ["m", "b", "c"].map((player) => ({
    player,
    place: 1,
    banked: 0,
    net: -52,
    state: "racing",
  }));
  seats = [
    { player: "m", name: "Mira" },
    { player: "b", name: "Bert" },
    { player: "c", name: "Carl", bot: true, level: "weak" },
  ];
  told = 0;

  constructor() {
    this.state = session.firstState(
      "m",
      { table: this.table, standings: this.rows, now: 0 },
      false,
    );
  }

  get table() {
    const { seats } = this;
    return { code: "c", version: 1, race: "r", phase: "running", host: "m", seats, start_at: 1 };
  }

  /** Let so many be banked by each at a time, and return what is said. */
  bank(now, banked, states = {}) {
    this.rows = this.rows
      .map((row) => {
        const count = banked[row.player] ?? row.banked;
        const state = states[row.player] ?? row.state;
        return { ...row, banked: count, net: 5 * count - 52, state };
      })
      .sort((one, other) => other.banked - one.banked);
    this.rows.forEach((row, at) => {
      const above = this.rows[at - 1];
      row.place = above?.banked === row.banked ? above.place : at + 1;
    });
    return this.hear({ type: "standings", race: "r", standings: this.rows }, now);
  }

  hear(event, now) {
    this.state = session.nextState(this.state, event, now);
    const lines = this.state.feed.lines.map(({ text }) => text);
    const fresh = lines.slice(this.told);
    this.told = lines.length;
    return fresh;
  }
}

test("news tell the lead, who passed, what was reached and how boards ended", () => {
  const race = new Race();
  assert.deepEqual(race.bank(4_000, { b: 2 }), ["Bert takes the lead with 2"]);
  // the lead is told at most once in three seconds
  assert.deepEqual(race.bank(5_000, { m: 3 }), ["you passed Bert"]);
  assert.deepEqual(race.bank(7_500, { m: 4 }), ["you take the lead with 4"]);
  assert.deepEqual(race.bank(11_000, { b: 9, c: 3 }), ["Bert takes the lead with 9"]);
  assert.deepEqual(race.bank(12_000, { b: 12 }), ["Bert reached 10"]);
  const even = "you broke even with 11";
  assert.deepEqual(race.bank(13_000, { m: 11 }), [even]);
  assert.deepEqual(race.bank(14_000, {}, { c: "stuck" }), [
    "Carl [weak bot]: played to the end, 3 banked, \u2212$37",
  ]);
  const late = { m: "out-of-time", b: "out-of-time" };
  assert.deepEqual(race.bank(15_000, {}, late), ["time is up for 2 racers"]);
});

test("a page that is loaded again goes on with news and lines, and marks what it has not seen", () => {
  const race = new Race();
  race.bank(4_001, { b: 2 });
  const seen = JSON.parse(JSON.stringify(session.seenOf(race.state, 5_001)));
  const again = (now, known) =>
    session.firstState("m", { table: race.table, standings: race.rows, now }, false, known);
  const soon = again(5_501, seen);
  assert.deepEqual(soon.feed.lines, race.state.feed.lines);
  assert.deepEqual(soon.history, race.state.history);
  assert.deepEqual(soon.gaps, []);
  race.bank(20_000, { m: 3 });
  const late = again(20_001, seen);
  assert.deepEqual(late.gaps, [[5_000, 20_000]]);
  assert.equal(late.feed.lines.at(-1).text, "you take the lead with 3");
  // another race, or none that was seen
  for (const known of [{ ...seen, race: "s" }, null]) {
    const { feed, gaps, history } = again(20_001, known);
    assert.deepEqual([feed.lines, gaps], [[], [[0, 20_000]]]);
    assert.deepEqual(history.m, [{ at: 20_000, banked: 3 }]);
  }
});

test("a page that is loaded again is no news, one that is long away is", () => {
  const race = new Race();
  const isAway = (connected, now) => {
    const seats = race.seats.map((seat) => (seat.player === "b" ? { ...seat, connected } : seat));
    return race.hear({ type: "table_changed", table: { ...race.table, seats } }, now);
  };
  for (const [now, connected, told] of [
    [1_000, false, []],
    [3_000, true, []],
    [9_000, true, []],
    [10_000, false, []],
    [15_500, false, ["Bert lost the connection"]],
    [16_000, false, []],
    [17_000, true, ["Bert is back"]],
  ])
    assert.deepEqual(isAway(connected, now), told, String(now));
});

test("a match is ordered by races, money, wins and the best race", () => {
  const row = (name, ...results) => ({
    name,
    results: results.map(([place, net]) => ({ place, net })),
  });
  const rows = [
    row("once", [1, 99]),
    row("poor", [3, -9], [3, -9]),
    row("best", [1, 30], [2, 10]),
    row("even", [2, 20], [1, 20]),
  ];
  const totals = session.matchTotals({ races: 2, finished: [], rows });
  assert.deepEqual(
    totals.map(({ name, place, net, wins }) => [name, place, net, wins]),
    [
      ["once", 4, 99, 1],
      ["poor", 3, -18, 0],
      ["best", 1, 40, 1],
      ["even", 2, 40, 1],
    ],
  );
});

// Results

const TIED = [
  { player: "a", name: "Ana", place: 1, banked: 30, net: 50, reached: 271204 },
  { player: "b", name: "Bert", place: 2, banked: 30, net: 50, reached: 576870 },
  { player: "c", name: "Cleo", place: 3, banked: 9, net: -55, reached: 1000 },
].map((row) => ({ ...row, state: "stuck" }));

test("a tie is explained with both times", () => {
  const [heading, words] = tieWords({ results: TIED, player: "b" });
  assert.equal(heading, "A tie at +$50.");
  assert.equal(words, "Ana banked card 30 at 4:31.204, you at 9:36.870. The earlier one is ahead.");
  assert.equal(tieWords({ results: TIED.slice(1), player: "b" }), null);
});

test("the headline tells the lead, the own place and the nearest rival, or a shared place", () => {
  const row = (player, place, banked) => {
    return { player, name: player, place, banked, net: 5 * banked - 52, state: "stuck" };
  };
  const three = [row("Ana", 1, 23), row("Bert", 2, 19), row("Cleo", 3, 7)];
  const shared = [row("Ana", 1, 23), row("Bert", 1, 23), row("Cleo", 3, 7)];
  for (const [results, player, words] of [
    [three, "Ana", "You win by $20"],
    [three, "Bert", "You finished 2nd, 12 cards ahead of Cleo"],
    [three, "Cleo", "You finished 3rd, 12 cards behind Bert"],
    [three, "", "Ana wins by $20"],
    [shared, "Bert", "You share 1st place with Ana"],
    [TIED, "a", "You win by the clock"],
    [three.slice(0, 1), "Ana", "You banked 23 cards"],
  ])
    assert.equal(headline({ results, player }), words);
});

test("the text to share has the result, the climb and the link, and names no card", () => {
  globalThis.location = new URL("http://127.0.0.1:7000/");
  const finish = { race: "t/1", game: "canfield", player: "b", results: TIED };
  const a = [
    { at: 0, banked: 0 },
    ...[15, 30].map((banked, at) => ({ at: 500 * (at + 1), banked })),
  ];
  assert.deepEqual(shareText(finish, { a, b: a.slice(0, 2) }).split("\n"), [
    "Saratoga, Canfield: Bert 2nd of 3, 30 cards, +$50",
    "\u2581\u2581\u2581\u2581\u2585\u2585\u2585\u2585\u2585\u2585",
    "http://127.0.0.1:7000/races/t/1",
  ]);
});

test("the personal best of a game is the most banked, and then the earliest", () => {
  const former = "personal best: 30 banked, +$50.";
  const better = "personal best: 31 banked, +$55.";
  for (const [race, game, own, words] of [
    ["t/1", "canfield", {}, ""],
    ["t/1", "canfield", {}, ""],
    ["t/2", "canfield", { banked: 12, net: 10, reached: 9000 }, `Your ${former}`],
    ["t/3", "klondike", { banked: 12, net: 8, reached: 9000 }, ""],
    ["t/4", "canfield", { reached: 5000 }, `A new ${former}`],
    ["t/5", "canfield", { reached: 5000 }, `Your ${former}`],
    ["t/6", "canfield", { banked: 31, net: 55, reached: 8000 }, `A new ${better}`],
    ["t/7", "canfield", { banked: 32, net: 60, reached: null }, `Your ${better}`],
  ]) {
    const results = [{ ...TIED[1], ...own }];
    assert.equal(bestWords({ race, game, player: "b", results }), words);
  }
});

test("the climb follows from the logs of a record, whatever the deal had banked", () => {
  const racers = [
    {
      player: "a",
      log: ["900 2 draw", "1500 3 w>up", "2000 5 up.S>t1", "2600 7 t1>up", "9000 9 cash-out"],
    },
    { player: "b", log: ["1000 4 left"] },
  ];
  const results = [
    { player: "a", banked: 2 },
    { player: "b", banked: 1 },
  ];
  const steps = [
    [0, 1],
    [1500, 2],
    [2000, 1],
    [2600, 2],
  ];
  const a = steps.map(([at, banked]) => ({ at, banked }));
  assert.deepEqual(session.climbOf(racers, results), { a, b: [{ at: 0, banked: 1 }] });
});
