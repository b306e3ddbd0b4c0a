/**
 * Cards, piles and moves: as the wire writes them, in words, and drawn.
 *
 * A pile's id is its name in moves: `stock`, `w`, `r`, `t1`, `up.S`, `down.S`; the second foundation of a suit is `up.S.2`.
 * Nothing here knows a rule: which moves are legal, the server says (`board.legal`).
 */

import { look } from "./identity.js";
import { capitalised, counted, h, numbered, picture, svg } from "./page.js";

/** The suits as the wire orders them. */
export const SUITS = "CSHD";
/** The suits as the page orders the foundations. */
const SHOWN_SUITS = "SHDC";
/** The ranks of each suit, ascending. */
export const RANKS = "A23456789TJQK";
const SUIT_NAMES = { C: "clubs", S: "spades", H: "hearts", D: "diamonds" };
const SUIT_SIGNS = { C: "\u2663", S: "\u2660", H: "\u2665", D: "\u2666" };
const RANK_NAMES = ["ace", "2", "3", "4", "5", "6", "7", "8", "9", "10", "jack", "queen", "king"];
/** The keys of the columns from the left, as on the keyboard. */
export const COLUMN_KEYS = "1234567890-=";

/**
 * What the rules say of a game: no rule of play. `price`: of all packs; `up` and `down`: numbers of foundations; `draw`: cards onto the
 * waste, 0 if the stock is dealt to the columns; `passes`: 0 is any number; `deal`: the steps with their numbers;
 * `short`: how columns are built, what fills an empty one, and how the stock is turned.
 * @typedef {{title: string, short: string[], packs: number, price: number, columns: number, up: number, down: number, reserve: boolean, draw: number,
 *   passes: number, in_suit: boolean, deal: [string, ...number[]][]}} GameFacts
 */

/** The server wrote the facts of its games into the document. @type {{prize: number, rules: number, words: string, void_reasons: Record<string, string>, games: Record<string, GameFacts>}} */
const FACTS = JSON.parse(document.getElementById("facts")?.textContent ?? "");
/** Why a server voids a race, in words. @type {Record<string, string>} */
export const VOID_REASONS = FACTS.void_reasons;
/** What a banked card pays. */
export const PRIZE = FACTS.prize;
/** The version of the rules of these games. */
export const RULES = FACTS.rules;
/** 1024 words: the place of each is ten bits of a record's digest. */
export const WORDS = FACTS.words.split(" ");
/** The games that the server knew when it sent the page, in the order in which they are offered; no other name is found here. @type {Record<string, GameFacts>} */
export const GAMES = Object.assign(Object.create(null), FACTS.games);

/** A game's title; of a game that this page does not know, its name. @param {string} game */
export function gameTitle(game) {
  return GAMES[game]?.title ?? game.split("-").map(capitalised).join(" ");
}

/** How many colours the suits of a game have: the player's choice, else four where columns are built in suit. @param {string} game */
export function suitColours(game) {
  return look().suits[game] ?? (GAMES[game]?.in_suit ? 4 : 2);
}

/** Whether the stock is turned onto a waste, not dealt to the columns. @param {string} game */
export function hasWaste(game) {
  return GAMES[game]?.draw !== 0;
}

/** The piles beside the columns and the foundations. @param {View} view @param {string} game */
export function handPiles(view, game) {
  const hasReserve = GAMES[game]?.reserve ?? view.reserve > 0;
  return [...(hasReserve ? ["r"] : []), ...(hasWaste(game) ? ["w"] : []), "stock"];
}

/**
 * @typedef {{stock: number, waste: string, reserve: number, reserve_top: string, up: number[], down: number[],
 *   columns: string[], base: number, passes: number, face_down: number[]}} View
 * @typedef {{text: string, from: string, to: string, count: number}} Move a carry, or `draw` or `redeal` from the stock
 */

/** A view with the fields that the wire omits. @param {Partial<View>} sent @returns {View} */
export function wholeView(sent) {
  return {
    stock: 0,
    waste: "",
    reserve: 0,
    reserve_top: "",
    up: [],
    down: [],
    columns: [],
    base: 1,
    passes: 1,
    face_down: [],
    ...sent,
  };
}

/** All that a view shows, as one text. @param {Partial<View>} view */
export function viewText(view) {
  const whole = wholeView(view);
  if (!whole.face_down.some(Boolean)) whole.face_down = [];
  return JSON.stringify(Object.entries(whole).sort());
}

/** What the wire shows a player of a position of a record. @param {string} text @returns {View} */
export function viewOf(text) {
  const piles = Object.fromEntries(text.split(" ").map((part) => part.split("=")));
  const cards = (/** @type {string} */ pile) => (pile === "-" ? "" : pile);
  const heights = (/** @type {string} */ list) => (list === "-" ? [] : list.split(",").map(Number));
  const columns = piles.columns
    .split("/")
    .map((/** @type {string} */ column) => cards(column).split("|"));
  const hidden = columns.map((/** @type {string[]} */ column) =>
    column.length > 1 ? column[0].length / 2 : 0,
  );
  const reserve = cards(piles.reserve);
  return {
    stock: cards(piles.stock).length / 2,
    waste: cards(piles.waste),
    reserve: reserve.length / 2,
    reserve_top: reserve.slice(-2),
    up: heights(piles.up),
    down: heights(piles.down),
    columns: columns.map((/** @type {string[]} */ column) => column[column.length - 1]),
    base: Number(piles.base),
    passes: Number(piles.passes),
    face_down: hidden.some(Boolean) ? hidden : [],
  };
}

/** Split a pile of the wire into cards. @param {string} pile */
export function cardsOf(pile) {
  return pile.match(/../g) ?? [];
}

/** `TH` is `10♥`; the sign has the text form on every phone. @param {string} card */
export function cardSign(card) {
  return `${card[0] === "T" ? "10" : card[0]}${SUIT_SIGNS[/** @type {"C"} */ (card[1])]}`;
}

/** `TH` is `10 of hearts`. @param {string} card */
function cardName(card) {
  return `${RANK_NAMES[RANKS.indexOf(card[0])]} of ${SUIT_NAMES[/** @type {"C"} */ (card[1])]}`;
}

/** `10♥` is `10 of hearts`. @param {string} sign */
export function nameOfSign(sign) {
  const suit = [...SUITS].find((each) => SUIT_SIGNS[/** @type {"C"} */ (each)] === sign.slice(-1));
  return cardName(`${sign.startsWith("10") ? "T" : sign[0]}${suit}`);
}

/**
 * Whether a card is one that the player looks for: by rank, suit or both, such as `9`, `h`, `10d`, `qs`.
 * @param {string} card @param {string} sought
 */
export function isSought(card, sought) {
  const found = /^(10|[a2-9tjqk])?([cshd])?$/.exec(sought.trim().toLowerCase());
  if (!found || !found[0]) return false;
  const rank = found[1] === "10" ? "t" : found[1];
  return (
    (!rank || card[0].toLowerCase() === rank) && (!found[2] || card[1].toLowerCase() === found[2])
  );
}

/** The visible cards of a pile, the top one last. @param {View} view @param {string} pile */
export function seenCards(view, pile) {
  if (pile === "w") return cardsOf(view.waste);
  if (pile === "r") return view.reserve_top ? [view.reserve_top] : [];
  if (pile[0] === "t") return cardsOf(view.columns[Number(pile.slice(1)) - 1] ?? "");
  const top = foundationTop(view, pile);
  return top ? [top] : [];
}

/** The index of a foundation in the view's list. @param {number[]} heights @param {string} pile */
function foundationIndex(heights, pile) {
  const [, suit, copy] = pile.split(".");
  const copies = heights.length / SUITS.length;
  return SUITS.indexOf(suit) * copies + (copy ? Number(copy) - 1 : 0);
}

/** Whether a pile is a foundation that builds up, or one that builds down. @param {string} pile */
export function isFoundation(pile) {
  return pile.startsWith("up.") || pile.startsWith("down.");
}

/** The cards on a foundation. @param {View} view @param {string} pile */
function foundationHeight(view, pile) {
  const heights = pile.startsWith("up") ? view.up : view.down;
  return heights[foundationIndex(heights, pile)] ?? 0;
}

/** The card at a height of a foundation. @param {View} view @param {string} pile @param {number} height */
function foundationCard(view, pile, height) {
  const rank = pile.startsWith("up") ? (view.base + height - 2) % 13 : 13 - height;
  return RANKS[rank] + pile.split(".")[1];
}

/** @param {View} view @param {string} pile */
function foundationTop(view, pile) {
  const height = foundationHeight(view, pile);
  return height ? foundationCard(view, pile, height) : "";
}

/** The foundations of a view, in the page's order. @param {View} view */
export function foundationPiles(view) {
  const piles = [];
  for (const suit of SHOWN_SUITS) {
    for (let copy = 1; copy <= view.up.length / SUITS.length; copy++)
      piles.push(copy === 1 ? `up.${suit}` : `up.${suit}.${copy}`);
    if (view.down.length) piles.push(`down.${suit}`);
  }
  return piles;
}

// Moves

/** @param {string} text @returns {Move} */
export function readMove(text) {
  const found = /^([^>]+)>([^:]+)(?::(\d+))?$/.exec(text);
  if (!found) return { text, from: "stock", to: "", count: 0 };
  return { text, from: found[1], to: found[2], count: Number(found[3] ?? 1) };
}

/** Return the cards of a carry, the top one last. @param {View} view @param {Move} move */
export function carried(view, move) {
  return seenCards(view, move.from).slice(-move.count);
}

/** Return the pile that a move ends on: of several foundations of a suit the one that takes the card. @param {View} view @param {Move} move */
export function targetOf(view, move) {
  if (move.to !== "up" && move.to !== "down") return move.to;
  const card = carried(view, move).at(-1) ?? "";
  const piles = foundationPiles(view).filter((pile) => pile.startsWith(`${move.to}.${card[1]}`));
  // of two equal piles the first takes it, so that the higher one stays first
  return (
    piles.find(
      (pile) =>
        foundationHeight(view, pile) < 13 &&
        foundationCard(view, pile, foundationHeight(view, pile) + 1) === card,
    ) ??
    piles[0] ??
    ""
  );
}

/**
 * Return the view after a move, as far as it is known before the answer; `null` if the move shows nothing but hidden cards.
 * Cards are only carried from pile to pile. What the rules do besides, the answer shows.
 * @param {View} view @param {Move} move @returns {View | null}
 */
export function ahead(view, move) {
  if (move.text === "redeal")
    return { ...view, stock: view.waste.length / 2, waste: "", passes: view.passes + 1 };
  if (!move.to) return null;
  const cards = carried(view, move);
  if (cards.length !== move.count) return null;
  const target = targetOf(view, move);
  const after = { ...view, columns: [...view.columns], up: [...view.up], down: [...view.down] };
  add(after, move.from, "", -move.count);
  add(after, target, cards.join(""), move.count);
  return after;
}

/** @param {View} view @param {string} pile @param {string} cards @param {number} count negative: take away */
function add(view, pile, cards, count) {
  if (pile === "w") view.waste = view.waste.slice(0, count * 2);
  else if (pile === "r") [view.reserve, view.reserve_top] = [view.reserve + count, ""];
  else if (pile[0] === "t") {
    const index = Number(pile.slice(1)) - 1;
    view.columns[index] =
      count < 0 ? view.columns[index].slice(0, count * 2) : view.columns[index] + cards;
  } else {
    const heights = pile.startsWith("up") ? view.up : view.down;
    heights[foundationIndex(heights, pile)] += count;
  }
}

// Words

/** A pile's name in a sentence: `column 3`, `the waste`, `spades`. @param {string} pile @param {boolean} [hasDown] the game builds down as well */
export function pileWords(pile, hasDown = false) {
  if (pile === "stock") return "the stock";
  if (pile === "w") return "the waste";
  if (pile === "r") return "the reserve";
  if (pile[0] === "t") return `column ${pile.slice(1)}`;
  const [direction, suit] = pile.split(".");
  const name = suit ? SUIT_NAMES[/** @type {"C"} */ (suit)] : "the foundations";
  return hasDown ? `${name} ${direction}` : name;
}

/** Describe a move of a view: `7♠ from column 3 to column 5`. @param {View} view @param {Move} move @param {string} game */
export function describeMove(view, move, game) {
  if (move.text === "draw") return describeDraw(view, game);
  if (move.text === "redeal") return `the waste turned over, pass ${view.passes + 1}`;
  const cards = carried(view, move);
  const what =
    cards.length > 1
      ? `${counted(cards.length)} (${cardSign(cards[0])} to ${cardSign(cards[cards.length - 1])})`
      : cards.map(cardSign).join("");
  const source = isFoundation(move.from)
    ? "back from its foundation"
    : `from ${pileWords(move.from)}`;
  if (move.to === "up" || move.to === "down")
    return `${what} ${source} banked${view.down.length ? ` ${move.to}` : ""}`;
  const space =
    seenCards(view, move.to).length || view.face_down[Number(move.to.slice(1)) - 1]
      ? ""
      : ", an empty column";
  return `${what} ${source} to ${pileWords(move.to)}${space}`;
}

/** @param {View} view @param {string} game */
function describeDraw(view, game) {
  if (hasWaste(game))
    return `${counted(Math.min(view.stock, GAMES[game]?.draw ?? 1))} from the stock to the waste`;
  return view.stock < view.columns.length
    ? `the last ${counted(view.stock)} dealt to the columns from the left`
    : "a card dealt to each column";
}

/** A pile in words, for its button. @param {View} view @param {string} pile @param {string} game */
export function pileLabel(view, pile, game) {
  if (pile === "stock") return stockLabel(view, game);
  const cards = seenCards(view, pile);
  const top = cards.length ? `, ${cardName(cards[cards.length - 1])} on top` : "";
  if (pile === "w")
    return view.waste ? `Waste: ${counted(view.waste.length / 2)}${top}` : "Waste: empty";
  if (pile === "r")
    return view.reserve ? `Reserve: ${counted(view.reserve)}${top}` : "Reserve: empty";
  if (pile[0] === "t") return columnLabel(view, pile, cards);
  const [direction, suit, copy] = pile.split(".");
  const first = direction === "up" ? RANK_NAMES[view.base - 1] : "king";
  const which =
    view.up.length > SUITS.length && direction === "up"
      ? copy
        ? " second pile"
        : " first pile"
      : "";
  const height = foundationHeight(view, pile);
  const name = `${capitalised(SUIT_NAMES[/** @type {"C"} */ (suit)])} ${direction} from ${first}${which}`;
  return height ? `${name}: ${counted(height)}${top}` : `${name}: empty`;
}

/** @param {View} view @param {string} pile @param {string[]} cards */
function columnLabel(view, pile, cards) {
  const name = capitalised(pileWords(pile));
  const hidden = view.face_down[Number(pile.slice(1)) - 1] ?? 0;
  if (!cards.length && !hidden) return `${name}: empty`;
  const below = hidden ? `${hidden} face down, ` : "";
  if (!cards.length) return `${name}: ${below}a card is being turned up`;
  const run = runLength(cards);
  const packet =
    run > 1 ? `, run of ${run} down from the ${cardName(cards[cards.length - run])}` : "";
  return `${name}: ${below}${counted(cards.length)}, ${cardName(cards[cards.length - 1])} on top${packet}`;
}

/** The cards under the top of a column, the upper ones first, for its label; empty without any. @param {View} view @param {string} pile */
export function coveredWords(view, pile) {
  const below = seenCards(view, pile).slice(0, -1).reverse().map(cardName);
  return below.length ? `; below it ${below.join(", ")}` : "";
}

/** @param {View} view @param {string} game */
function stockLabel(view, game) {
  const about = GAMES[game];
  const pass = about?.passes > 1 ? `, pass ${view.passes} of ${about.passes}` : "";
  if (view.stock) {
    const draws = hasWaste(game)
      ? `draw ${Math.min(view.stock, about?.draw ?? 1)}`
      : `deal ${Math.min(view.stock, view.columns.length)}, one to each column`;
    return `Stock: ${counted(view.stock)}${pass}; ${draws}`;
  }
  return `Stock: empty${pass}`;
}

/** What a pile shows, to compare. @param {View} view @param {string} pile */
export function contentOf(view, pile) {
  if (pile === "stock") return [view.stock, view.passes, view.waste === ""];
  if (pile === "r") return [view.reserve, view.reserve_top];
  return [
    seenCards(view, pile),
    pile[0] === "t"
      ? view.face_down[Number(pile.slice(1)) - 1]
      : isFoundation(pile)
        ? view.base
        : 0,
  ];
}

/** A pile spelled out: `9♦, 8♠, 7♥`. @param {View} view @param {string} pile */
export function spelledOut(view, pile) {
  const hidden = pile[0] === "t" ? (view.face_down[Number(pile.slice(1)) - 1] ?? 0) : 0;
  const cards = seenCards(view, pile).map(cardSign);
  return [...(hidden ? [`${hidden} face down`] : []), ...cards].join(" ") || "empty";
}

/** How many cards at the end of a column go down by one. @param {string[]} cards */
function runLength(cards) {
  let run = Math.min(1, cards.length);
  while (
    run < cards.length &&
    (RANKS.indexOf(cards[cards.length - run][0]) + 1) % 13 ===
      RANKS.indexOf(cards[cards.length - run - 1][0])
  )
    run++;
  return run;
}

// Drawing

/** The courts by their pictures in index.html. @type {Record<string, string>} */
const COURTS = { K: "king", Q: "queen", J: "jack" };
/** Where the pips of a rank lie on a card of 100 by 140: the middles in the left, middle and right row from above. @type {Record<string, number[][]>} */
const PIPS = {
  2: [[], [43, 97], []],
  3: [[], [43, 70, 97], []],
  4: [[43, 97], [], [43, 97]],
  5: [[43, 97], [70], [43, 97]],
  6: [[43, 70, 97], [], [43, 70, 97]],
  7: [[43, 70, 97], [56], [43, 70, 97]],
  8: [
    [43, 70, 97],
    [56, 84],
    [43, 70, 97],
  ],
  9: [[43, 61, 79, 97], [70], [43, 61, 79, 97]],
  T: [
    [43, 61, 79, 97],
    [52, 88],
    [43, 61, 79, 97],
  ],
};

/** The face of a large card: courts are the same from both ends, as the indices are. @param {string} rank @param {string} suit */
function largeFace(rank, suit) {
  const court = COURTS[rank];
  /** @param {string} name @param {number} x @param {number} y of the middle @param {number} width @param {number} [height] */
  const place = (name, x, y, width, height = width) =>
    svg("use", {
      href: `#${name}`,
      x: x - width / 2,
      y: y - height / 2,
      width,
      height,
      transform: y > 71 ? `rotate(180 ${x} ${y})` : null,
    });
  const pips = (PIPS[rank] ?? [[], court ? [] : [70], []]).flatMap((row, column) =>
    row.map((y) => place(suit, 31 + 19 * column, y, rank === "A" ? 58 : 18)),
  );
  const ends = court ? [place(court, 61, 45.7, 72, 48.6), place(court, 39, 94.3, 72, 48.6)] : [];
  const suits = court ? [place(suit, 15.5, 43.5, 15), place(suit, 84.5, 96.5, 15)] : [];
  const index = [place(`r${rank}`, 84.5, 122, 17.6, 23.5), place(suit, 64, 122, 20.7)];
  return svg(
    "svg.large",
    { "aria-hidden": "true", viewBox: "0 0 100 140" },
    ...pips,
    ...ends,
    ...suits,
    ...index,
  );
}

/** @param {string} card @param {string} [more] more classes */
function drawCard(card, more = "") {
  const [rank, suit] = [card[0], card[1].toLowerCase()];
  return h(
    "b",
    { class: `card ${suit} ${more}`.trim(), "data-card": card },
    picture(`r${rank}`),
    picture(suit),
    picture(COURTS[rank] ?? suit, COURTS[rank] ? "small court" : "small"),
    largeFace(rank, suit),
  );
}

/** A card face down. @param {string} [more] */
function drawBack(more = "") {
  return h("b", { class: `card back ${more}`.trim() });
}

/**
 * Return what a pile's button holds, without its name, marks and tags.
 * @param {View} view @param {string} pile @param {string} game @returns {Element[]}
 */
export function drawPile(view, pile, game) {
  if (pile === "stock") return drawStock(view, game);
  if (pile[0] === "t") return drawColumn(view, pile);
  if (pile === "w") {
    const cards = cardsOf(view.waste);
    const shown = cards.slice(-(view.columns.length === 8 ? 6 : 3)).map((card) => drawCard(card));
    return [
      ...(shown.length ? shown : [h("span.space")]),
      ...(cards.length ? [h("i.count", cards.length)] : []),
    ];
  }
  if (pile === "r") {
    const top = view.reserve_top
      ? drawCard(view.reserve_top)
      : view.reserve
        ? drawBack()
        : h("span.space");
    const below = Array.from({ length: view.reserve - 1 }, () => drawBack("buried"));
    return [...below, top, ...(view.reserve ? [h("i.count", view.reserve)] : [])];
  }
  const top = foundationTop(view, pile);
  if (top) return [drawCard(top)];
  const first = foundationCard(view, pile, 1);
  return [h("span.space", picture(`r${first[0]}`, "rank"), picture(first[1].toLowerCase()))];
}

/** @param {View} view @param {string} pile */
function drawColumn(view, pile) {
  const hidden = view.face_down[Number(pile.slice(1)) - 1] ?? 0;
  const cards = seenCards(view, pile);
  const run = runLength(cards);
  const drawn = [
    ...Array.from({ length: hidden }, () => drawBack("buried")),
    ...cards.map((card, index) => drawCard(card, index >= cards.length - run ? "run" : "")),
  ];
  return drawn.length ? drawn : [h("span.space")];
}

/** @param {View} view @param {string} game */
function drawStock(view, game) {
  const about = GAMES[game];
  if (!hasWaste(game)) {
    const deals = Math.min(view.stock, view.columns.length);
    return [
      h(
        "span",
        view.stock ? `deal ${deals}` : "all dealt",
        ...(view.stock ? [h("br"), `${view.stock} left`] : []),
      ),
    ];
  }
  const pass =
    about?.passes > 1 && view.passes > 1
      ? [h("i.pass", "pass", h("br"), `${view.passes} of ${about.passes}`)]
      : [];
  if (view.stock) return [drawBack(), ...pass, h("i.count", view.stock)];
  return [h("span.space", view.waste ? picture("again") : null), ...pass];
}

// A game in short

/** What a game costs and pays. @param {string} game */
function moneyWords(game) {
  const price = GAMES[game]?.price;
  return `Every card you bank pays $${PRIZE}${price ? `; the cards cost $${price}, casino money` : ""}.`;
}

/** How a game is dealt, as a small picture. @param {string} game */
export function gamePicture(game) {
  if (!GAMES[game]) return null;
  const { columns, up, down, reserve, draw, deal } = GAMES[game];
  const tracks = Math.max(columns, up + down + (draw ? 3 : 2));
  const x = (/** @type {number} */ track) => 4 + 12 * track;
  const card = (
    /** @type {string} */ kind,
    /** @type {number} */ left,
    /** @type {number} */ top,
  ) => svg(`rect.${kind}`, { x: left, y: top, width: 10, height: 13, rx: 1.2 });
  const cards = [card("down", x(0), 5)];
  if (draw) cards.push(card("up", x(1), 5), card("up", x(1) + 4, 5));
  for (let at = tracks - up - down; at < tracks; at++) cards.push(card("gap", x(at), 5));
  if (reserve)
    for (let at = 0; at < 5; at++) cards.push(card(at < 4 ? "down" : "up", x(0), 24 + 2 * at));
  const rows = deal.find(([step]) => step === "ToColumns")?.[1] ?? 0;
  for (let column = 0; column < columns; column++) {
    const [height, kind] = rows ? [rows, "up"] : [column + 1, "down"];
    for (let at = 1; at <= height; at++)
      cards.push(card(at < height ? kind : "up", x(tracks - columns + column), 21 + 3 * at));
  }
  const viewBox = `0 0 ${12 * tracks + 6} ${rows ? 50 : 62}`;
  return svg("svg.dealt", { viewBox, "aria-hidden": "true" }, ...cards);
}

/** A game's rules in three lines. @param {string} game */
export function shortRules(game) {
  const [columns, space, stock] = GAMES[game]?.short ?? [];
  return numbered([...(GAMES[game] ? [`${columns} ${space}`, stock] : []), moneyWords(game)]);
}
