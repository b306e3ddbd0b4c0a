/**
 * The player's own board: every pile a button, moves by taps, drags and keys.
 *
 * A pile is picked first, then its target; the column is the target, never a card. Which targets light up
 * follows from the server's list of legal moves, and from nothing else.
 */

import {
  COLUMN_KEYS,
  PRIZE,
  RANKS,
  cardSign,
  cardsOf,
  carried,
  contentOf,
  coveredWords,
  describeMove,
  drawPile,
  foundationPiles,
  handPiles,
  hasWaste,
  isFoundation,
  isSought,
  pileLabel,
  pileWords,
  readMove,
  seenCards,
  spelledOut,
  targetOf,
} from "./cards.js";
import { Drag } from "./drag.js";
import { changeLook, look } from "./identity.js";
import { capitalised, counted, either, fill, h, picture } from "./page.js";
import { mayMove } from "./session.js";

/** How many taps and keys wait for an answer at most. */
const MOST_QUEUED = 16;
/** Milliseconds of each motion, and between two cards that are dealt or drawn. */
const [SLIDE, DEAL, DRAW, FLIP, SHAKE] = [180, 260, 140, 160, 220];
const [DEAL_STEP, DRAW_STEP] = [22, 50];

/** The tones of what happens, in hertz. @type {Record<string, number[]>} */
const TONES = { bank: [660, 880], move: [330], no: [160, 130], tick: [990] };
/** @type {AudioContext | undefined} */
let audio;

/** Sound and vibrate, if the look says so. @param {string} what one of `TONES` */
export function feel(what) {
  if (look().sound !== "on") return;
  navigator.vibrate?.(what === "no" ? [20, 40, 20] : 8);
  const context = (audio ??= new AudioContext());
  TONES[what].forEach((tone, nth) => {
    const [wave, volume] = [context.createOscillator(), context.createGain()];
    const start = context.currentTime + nth * 0.07;
    wave.frequency.value = tone;
    volume.gain.setValueAtTime(0.1, start);
    volume.gain.exponentialRampToValueAtTime(0.001, start + 0.12);
    wave.connect(volume).connect(context.destination);
    wave.start(start);
    wave.stop(start + 0.12);
  });
}

/**
 * @typedef {import("./cards.js").Move} Move
 * @typedef {import("./session.js").OwnBoard} OwnBoard
 * @typedef {{pile: string, size: number | null, cards: string}} Pick `size`: how many cards the player chose; else the target
 *   decides; `cards`: what the pile showed then
 * @typedef {{play: (move: string) => void, why: (move: string, about: string) => void, say: (text: string) => void,
 *   isConnected: () => boolean}} Player what the board asks of its screen
 */

export class Board {
  /** @param {string} game @param {OwnBoard} own @param {Player} player */
  constructor(game, own, player) {
    this.game = game;
    this.own = own;
    this.player = player;
    /** @type {Pick | null} */
    this.picked = null;
    /** The foundation that was named before the card: `up`, `down` or empty. */
    this.aim = "";
    /** The legal move that Tab has chosen. */
    this.chosen = "";
    /** Whether the board plays its bank moves by itself. */
    this.isFinishing = false;
    /** The motions that the next tap ends. @type {Animation[]} */
    this.motions = [];
    this.sought = "";
    /** Taps and keys that wait for an answer; `cards`: what a tapped pile showed. @type {{act: () => void, pile?: string, cards?: string}[]} */
    this.queue = [];
    /** @type {Map<string, any>} */
    this.buttons = new Map();
    /** What each button shows, to draw only what changed. @type {Map<string, string>} */
    this.drawn = new Map();
    this.pressedDepth = 0;
    this.columns = own.view.columns.map((_, index) => `t${index + 1}`);
    this.found = h("section.found", { "aria-label": "Foundations" });
    this.cols = h("section.cols", { "aria-label": "Columns" });
    this.hand = h("section.hand", {
      "aria-label": hasWaste(game) ? "Reserve, waste and stock" : "Stock",
    });
    this.#build();
    this.drag = new Drag(this);
    this.paint();
  }

  #build() {
    const { view } = this.own;
    for (const [section, piles] of /** @type {[Element, string[]][]} */ ([
      [this.found, foundationPiles(view)],
      [this.cols, this.columns],
      [this.hand, handPiles(view, this.game)],
    ]))
      for (const pile of piles) {
        const button = h("button", {
          type: "button",
          class: `pile${pile[0] === "t" ? " col" : pile === "w" ? " fan" : ""}${pile === "stock" && !hasWaste(this.game) ? " deal" : ""}`,
          tabindex: "-1",
          onclick: (/** @type {MouseEvent} */ event) => this.#clicked(pile, event),
        });
        button.dataset.pile = pile;
        button.addEventListener("focus", () => this.#rove(pile));
        this.buttons.set(pile, button);
        section.append(button);
      }
    this.#rove("stock");
  }

  /** Show the own board. @param {OwnBoard} own */
  show(own) {
    const before = this.own;
    this.own = own;
    if (own.takenBack && own.takenBack !== before.takenBack) this.queue = [];
    // keys name piles, whose cards an outage may change
    if (!this.player.isConnected()) this.queue = this.queue.filter(({ pile }) => pile);
    if (own.state !== "racing") this.drop();
    const { picked } = this;
    if (picked && picked.cards !== this.#shows(picked.pile)) this.#forget();
    else if (picked && mayMove(own) && !this.#carries(picked.pile, picked.size).length) this.drop();
    if (!own.legal.includes(this.chosen)) this.chosen = "";
    const moved = before.shown === own.shown ? null : this.#moved(before, own);
    const from = moved && !this.drag.isDropping ? this.#places(moved.source, moved.count) : [];
    this.paint();
    if (moved) this.#slide(moved.target, from);
    if (before.flight && !own.flight && !own.takenBack) this.#turnUp(before.view, own.view);
    if (this.isFinishing && mayMove(own)) this.finish();
    while (mayMove(this.own)) {
      const next = this.queue.shift();
      if (!next) return;
      if (next.pile && next.cards !== this.#shows(next.pile)) this.#forget();
      else next.act();
    }
  }

  /** The cards that a pile shows. @param {string} pile */
  #shows(pile) {
    return seenCards(this.own.shown, pile).join();
  }

  /** Forget what was chosen among cards that lie there no more. */
  #forget() {
    this.queue = [];
    this.drop();
    this.player.say("The cards have changed: choose again.");
  }

  // Legal moves

  get moves() {
    return mayMove(this.own) ? this.own.legal.map(readMove) : [];
  }

  /** The legal carries from a pile. @param {string} pile @param {number | null} [size] */
  #carries(pile, size = null) {
    return this.moves.filter(
      (move) => move.from === bare(pile) && move.to && (!size || move.count === size),
    );
  }

  /** The moves of the pick by their target; of several sizes the chosen one, else the largest. @param {Pick} pick @returns {Map<string, Move>} */
  #targets({ pile, size }) {
    /** @type {Map<string, Move>} */
    const targets = new Map();
    for (const move of this.#carries(pile)) {
      const target = targetOf(this.own.view, move);
      const known = targets.get(target);
      if (!known || move.count === size || (known.count !== size && move.count > known.count))
        targets.set(target, move);
    }
    return targets;
  }

  /** The piles that light up, each with its move. @returns {Map<string, Move>} */
  get lit() {
    if (this.chosen) {
      const move = readMove(this.chosen);
      return new Map([[move.to ? targetOf(this.own.view, move) : "stock", move]]);
    }
    if (this.picked) return this.#targets(this.picked);
    if (this.aim)
      return new Map(
        this.moves
          .filter((move) => move.to === this.aim)
          .map((move) => [targetOf(this.own.view, move), move]),
      );
    return new Map();
  }

  /** The pile with raised cards, and their number. */
  get #held() {
    if (this.chosen) {
      const { from, count } = readMove(this.chosen);
      return { pile: from, count };
    }
    if (!this.picked) return null;
    const sizes = [...this.#targets(this.picked).values()].map((move) => move.count);
    return { pile: this.picked.pile, count: Math.max(1, ...sizes) };
  }

  // Drawing

  paint() {
    const { shown } = this.own;
    const [lit, held] = [this.lit, this.#held];
    const takes = new Set(this.aim ? [...lit.values()].map((move) => move.from) : []);
    for (const [pile, button] of this.buttons) {
      const move = lit.get(pile);
      const isHeld = held?.pile === bare(pile) && !(isFoundation(pile) && held.count === 0);
      const marks = `${isHeld ? held.count : 0} ${move ? move.text : ""} ${takes.has(pile)}`;
      const content = JSON.stringify([contentOf(shown, pile), marks]);
      if (this.drawn.get(pile) === content) continue;
      this.drawn.set(pile, content);
      const parts = drawPile(shown, pile, this.game);
      const cards = parts.filter((part) => part.classList.contains("card"));
      if (isHeld) for (const card of cards.slice(-held.count)) card.classList.add("held");
      const tag = move && !takes.has(pile) && pile !== "stock" ? [this.#tag(pile, move)] : [];
      fill(button, ...this.#caption(pile), ...parts, ...tag);
      button.classList.toggle("lit", Boolean(move) || takes.has(pile));
      const label = pileLabel(shown, pile, this.game);
      const below = pile[0] === "t" ? coveredWords(shown, pile) : "";
      button.setAttribute("aria-label", label + this.#invites(pile, move) + below);
      if (isHeld) button.setAttribute("aria-pressed", "true");
      else button.removeAttribute("aria-pressed");
    }
    if (this.sought) this.find(this.sought);
    // what a draw turns up comes with the answer
    const isOut = this.own.flight && !readMove(this.own.flight).to;
    this.buttons.get("stock").classList.toggle("asked", Boolean(isOut));
  }

  /** The key cap over a pile, seen once a key was pressed. @param {string} pile */
  #caption(pile) {
    const key = pile === "stock" ? "space" : isFoundation(pile) ? "" : keyOf(pile);
    return key ? [h("span.name", h("kbd", key))] : [];
  }

  /** @param {string} pile @param {Move} move */
  #tag(pile, move) {
    if (isFoundation(pile)) return h("i.tag", `+$${PRIZE}`);
    return h("i.tag", picture("down"), String(move.count));
  }

  /** @param {string} pile @param {Move | undefined} move */
  #invites(pile, move) {
    if (!move || pile === "stock") return "";
    return isFoundation(pile)
      ? `, bank here for ${PRIZE} dollars`
      : `, ${counted(move.count)} can go here`;
  }

  /** Light up sought cards, and return how many there are and where. @param {string} sought */
  find(sought) {
    this.sought = sought;
    const piles = [];
    for (const [pile, button] of this.buttons)
      for (const card of button.querySelectorAll("[data-card]")) {
        const isFound = isSought(card.dataset.card, sought);
        card.classList.toggle("sought", isFound);
        if (isFound) piles.push(pileWords(pile));
      }
    return [counted(piles.length), ...new Set(piles)].join(", ");
  }

  // Motion

  /** Return the cards that one move carried between two views, if there was just one. @param {OwnBoard} before @param {OwnBoard} own */
  #moved(before, own) {
    if (!own.flight) return null;
    const move = readMove(own.flight);
    if (!move.to || before.flight === own.flight) return null;
    return { source: move.from, target: targetOf(before.view, move), count: move.count };
  }

  /** @param {string} pile @param {number} count @returns {DOMRect[]} */
  #places(pile, count) {
    return [...this.#cardsOf(pile)].slice(-count).map((card) => card.getBoundingClientRect());
  }

  /** @param {string} pile @returns {NodeListOf<HTMLElement>} */
  #cardsOf(pile) {
    return this.buttons.get(pile)?.querySelectorAll(":scope > .card") ?? [];
  }

  /**
   * Move a card: nothing waits for that, and the next tap ends it.
   * @param {Element | undefined} card @param {Keyframe[]} frames the last one may be left out @param {number} duration @param {number} [delay]
   */
  #move(card, frames, duration, delay = 0) {
    if (!card || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const motion = card.animate(frames, { duration, delay, easing: "ease-out", fill: "backwards" });
    this.motions.push(motion);
    return motion;
  }

  /** Let cards come from the stock, one after another. @param {(Element | undefined)[]} cards @param {number} duration @param {number} step */
  #fromStock(cards, duration, step) {
    const from = this.buttons.get("stock").getBoundingClientRect();
    cards.forEach((card, nth) => {
      const to = card?.getBoundingClientRect();
      const translate = to && `${from.x - to.x}px ${from.y - to.y}px`;
      this.#move(card, [{ translate, opacity: 0, zIndex: 3 }, { zIndex: 3 }], duration, nth * step);
    });
  }

  /** Deal all cards, row by row. */
  deal() {
    const columns = this.columns.map((pile) => [...this.#cardsOf(pile)]);
    const rows = Math.max(...columns.map((cards) => cards.length));
    const cards = Array.from({ length: rows }, (_, row) => columns.map((each) => each[row])).flat();
    const others = [...foundationPiles(this.own.view), "r", "w"];
    const shown = others.flatMap((pile) => [...this.#cardsOf(pile)].slice(-1));
    this.#fromStock([...cards, ...shown].filter(Boolean), DEAL, DEAL_STEP);
  }

  /** Show what an answer turned up: drawn cards come from the stock, others turn over. @param {import("./cards.js").View} before @param {import("./cards.js").View} view */
  #turnUp(before, view) {
    const drawn = before.stock - view.stock;
    const top = (/** @type {string} */ pile) => [...this.#cardsOf(pile)].at(-1);
    if (drawn > 0) {
      const columns = this.columns.slice(0, drawn).map(top);
      const cards = hasWaste(this.game) ? [...this.#cardsOf("w")].slice(-drawn) : columns;
      this.#fromStock(cards, DRAW, DRAW_STEP);
      feel("move");
    }
    for (const [at, pile] of this.columns.entries())
      if (view.face_down[at] < before.face_down[at])
        this.#move(top(pile), [{ scale: "0 1" }, {}], FLIP);
  }

  /** Refuse a tap on a pile: the words say why. @param {string} pile */
  #shake(pile) {
    feel("no");
    const ways = ["0", "-7px", "6px", "-4px", "2px", "0"];
    const frames = ways.map((translate) => ({ translate }));
    this.#move([...this.#cardsOf(pile)].at(-1), frames, SHAKE);
  }

  /** Slide a pile's top cards from where they lay. @param {string} pile @param {DOMRect[]} from */
  #slide(pile, from) {
    feel(isFoundation(pile) ? "bank" : "move");
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    if (isFoundation(pile)) {
      const plus = h("i.tag.plus", { "aria-hidden": "true" }, `+$${PRIZE}`);
      plus.addEventListener("animationend", () => plus.remove());
      this.buttons.get(pile)?.append(plus);
    }
    const cards = [...this.#cardsOf(pile)];
    const covered = cards.at(-from.length - 1);
    cards.slice(-Math.max(1, from.length)).forEach((card, index) => {
      if (!from[index]) return;
      const to = card.getBoundingClientRect();
      const translate = `${from[index].x - to.x}px ${from[index].y - to.y}px`;
      const slide = this.#move(card, [{ translate, zIndex: 3 }, { zIndex: 3 }], SLIDE);
      // the card below keeps its picture until the others lie on it
      covered?.classList.add("receives");
      if (slide) slide.onfinish = () => covered?.classList.remove("receives");
    });
  }

  // Taps

  /** @param {string} pile @param {MouseEvent} event */
  #clicked(pile, event) {
    if (this.drag.takesClick()) return;
    this.tap(pile, event.detail ? this.pressedDepth : 0);
  }

  /** End all motions: the player goes on. */
  #hurry() {
    this.isFinishing = false;
    for (const motion of this.motions.splice(0)) motion.finish();
  }

  /** Use a tap on a pile; `depth` counts from the top card, 0 is no card in particular. @param {string} pile @param {number} depth */
  tap(pile, depth = 0) {
    this.#hurry();
    if (this.own.state !== "racing") return this.player.say("");
    if (!mayMove(this.own)) return this.#wait(pile, depth);
    if (this.chosen && this.lit.has(pile)) return this.#play(this.chosen);
    this.chosen = "";
    if (this.aim) return this.#bankFrom(pile);
    if (pile === "stock") return this.#turn();
    if (this.picked?.pile === pile) return this.#again();
    const move = this.picked && this.#targets(this.picked).get(pile);
    if (move) return this.#play(move.text);
    const carries = this.#carries(pile);
    const isQuick = look().quick === "on" && !this.picked && carries.length === 1;
    if (isQuick) return this.#play(carries[0].text);
    if (carries.length) return this.pick(pile, depth);
    const picked = this.picked;
    this.drop();
    if (picked || !isFoundation(pile)) this.#shake(picked?.pile ?? pile);
    if (picked) this.#why(picked, pile);
    else this.player.say(this.#nothingFrom(pile, depth));
  }

  /** Pick now, play after the answer. @param {string} pile @param {number} depth */
  #wait(pile, depth) {
    const cards = this.#shows(pile);
    if (!this.own.isCashingOut && !this.picked && !this.queue.length && cards) {
      this.picked = { pile, size: null, cards };
      this.paint();
      this.#sayWaiting();
    } else this.#later({ act: () => this.tap(pile, depth), pile, cards });
  }

  /** Do something when the answer has come that is on its way. @param {{act: () => void, pile?: string, cards?: string}} next */
  #later(next) {
    if (this.player.isConnected() && this.queue.length < MOST_QUEUED) this.queue.push(next);
    this.#sayWaiting();
  }

  #sayWaiting() {
    if (!this.player.isConnected()) this.player.say("Your last move waits for the connection.");
    else if (this.own.isCashingOut) this.player.say("Cashing out: no more moves can be made.");
  }

  /** Pick the cards of a pile. @param {string} pile @param {number} depth */
  pick(pile, depth = 0) {
    const chooses = this.#carries(pile).some((move) => move.count === depth);
    const sizes = new Map();
    for (const move of this.#carries(pile)) sizes.set(move.to, (sizes.get(move.to) ?? 0) + 1);
    const isOpen = [...sizes.values()].some((number) => number > 1);
    this.picked = { pile, size: chooses && isOpen ? depth : null, cards: this.#shows(pile) };
    this.#changed(this.#pickText());
  }

  drop() {
    this.picked = null;
    this.chosen = this.aim = "";
    this.paint();
  }

  #pickText() {
    if (!this.picked) return "";
    const { view } = this.own;
    const targets = this.#targets(this.picked);
    const counts = new Set([...targets.values()].map((move) => move.count));
    const banks = [...targets.keys()].filter(isFoundation);
    const columns = [...targets.keys()]
      .filter((pile) => !isFoundation(pile))
      .map((pile) => pile.slice(1));
    const sentence = columns.length
      ? `column${columns.length > 1 ? "s" : ""} ${either(columns)}`
      : "";
    const where =
      banks.length > 1
        ? "up and down: choose"
        : either([...(banks.length ? ["bank it"] : []), ...(sentence ? [sentence] : [])]);
    if (counts.size > 1)
      return `${capitalised(pileWords(this.picked.pile))}, up to ${Math.max(...counts)}: ${where}`;
    const cards = carried(view, /** @type {Move} */ ([...targets.values()][0]));
    const what =
      cards.length > 1
        ? `${cardSign(cards[0])} to ${cardSign(cards[cards.length - 1])}, ${counted(cards.length)}`
        : cards.map(cardSign).join("");
    return banks.length > 1 ? `${what} fits ${where}` : `${what}: ${where}`;
  }

  /** The picked pile again: bank, or go to the only target, or drop. */
  #again() {
    const targets = this.#targets(/** @type {Pick} */ (this.picked));
    const banks = [...targets].filter(([pile]) => isFoundation(pile));
    if (banks.length === 1) return this.#play(banks[0][1].text);
    if (banks.length > 1) return this.#changed(this.#pickText());
    if (targets.size === 1) return this.#play([...targets.values()][0].text);
    this.drop();
    this.player.say("");
  }

  #turn() {
    const move = this.moves.find(({ text }) => text === "draw" || text === "redeal");
    if (move) return this.#play(move.text);
    this.player.say(this.#nothingFrom("stock"));
    this.player.why(this.own.view.stock ? "draw" : "redeal", "");
  }

  /** @param {string} pile @param {number} [depth] that of the tapped card */
  #nothingFrom(pile, depth = 0) {
    const card = seenCards(this.own.view, pile).at(-depth || -1);
    const name = capitalised(pileWords(pile));
    if (!card) return `${name} is ${pile[0] === "t" ? "an empty column" : "empty"}.`;
    if (isFoundation(pile)) return `${name}: ${cardSign(card)} on top.`;
    return `${cardSign(card)}, ${pileWords(pile)}: no place to go now.`;
  }

  /** Ask the server why a carry is refused. @param {Pick} picked @param {string} to */
  #why({ pile, size }, to) {
    if (to === "stock" || to === "w" || to === "r" || pile === to) return this.player.say("");
    const count = size ?? Math.max(1, ...this.#carries(pile).map((move) => move.count));
    const target = isFoundation(to) ? to.split(".")[0] : to;
    this.#ask(readMove(`${bare(pile)}>${target}${count > 1 && target === to ? `:${count}` : ""}`));
  }

  /** @param {Move} move */
  #ask(move) {
    const card = carried(this.own.view, move)[0];
    this.player.why(move.text, card ? `${cardSign(card)} to ${pileWords(move.to)}: ` : "");
  }

  /** @param {string} text */
  #play(text) {
    const move = readMove(text);
    const says = `${capitalised(describeMove(this.own.view, move, this.game))}.`;
    this.picked = null;
    this.chosen = this.aim = "";
    this.player.say(
      this.player.isConnected() ? says : `This move waits for the connection: ${says}`,
    );
    this.player.play(text);
  }

  /** @param {string} says */
  #changed(says) {
    this.paint();
    this.player.say(says);
  }

  // Drags

  /** The cards that a drag from a card of a pile lifts; none if they cannot move. @param {string} pile @param {number} depth @returns {HTMLElement[]} */
  lift(pile, depth) {
    if (
      this.own.state !== "racing" ||
      !mayMove(this.own) ||
      pile === "stock" ||
      !this.#carries(pile).length
    )
      return [];
    this.pick(pile, depth);
    const held = this.#held;
    const count = this.#carries(pile).some((move) => move.count === depth)
      ? depth
      : (held?.count ?? 1);
    return [...this.#cardsOf(pile)].slice(-count);
  }

  /** Play the drag's move if it ended over a target. @param {string | undefined} target */
  dropOn(target) {
    const picked = this.picked;
    if (!picked) return false;
    const move = target ? this.#targets(picked).get(target) : undefined;
    if (move) this.#play(move.text);
    else {
      this.drop();
      if (target && target !== picked.pile) this.#why(picked, target);
      else this.player.say("");
    }
    return Boolean(move);
  }

  /** How many cards a target of the pick takes. @param {string | undefined} target */
  taken(target) {
    return (target && this.picked && this.#targets(this.picked).get(target)?.count) || 0;
  }

  /** Spell a pile out; without one, stop it. @param {string} pile */
  spell(pile) {
    const says = pile && `${capitalised(pileWords(pile))}: ${spelledOut(this.own.shown, pile)}`;
    this.player.say(says || this.#pickText());
  }

  // Keys

  /** Use a key; return whether it was one of the board's. @param {KeyboardEvent} event */
  key(event) {
    const { key } = event;
    if (key.startsWith("Arrow")) return this.#step(key.slice(5));
    if (key.toLowerCase() === "s") return (this.spell(this.roving), true);
    const act = this.#action(key === "Tab" && event.shiftKey ? "Backtab" : key);
    if (!act) return false;
    this.#hurry();
    if (this.own.state === "racing" && !mayMove(this.own)) this.#later({ act });
    else act();
    return true;
  }

  /** @param {string} key @returns {(() => void) | null} */
  #action(key) {
    const column = COLUMN_KEYS.indexOf(key);
    if (column >= 0 && column < this.own.view.columns.length)
      return () => this.#pileKey(`t${column + 1}`);
    const lower = key.toLowerCase();
    if ((lower === "w" || lower === "r") && this.buttons.has(lower))
      return () => this.#pileKey(lower);
    if (key === " " || lower === "d") return () => this.#stockKey();
    if (lower === "f") return () => this.#foundationKey("up");
    if (lower === "g" && this.own.view.down.length) return () => this.#foundationKey("down");
    if (lower === "b") return () => this.#takeBack();
    if (key === "Tab") return () => this.#walk(1);
    if (key === "Backtab") return () => this.#walk(-1);
    if (key === "Enter") return () => this.#enter();
    if (key === "Escape") return () => this.#escape();
    if (key === "+" || key === "=") return () => this.#resize(1);
    if (key === "-") return () => this.#resize(-1);
    if (lower === "o") return () => this.#quick();
    if (lower === "u" || lower === "z")
      return () => this.player.say("A race has no undo: a move counts once it is made.");
    return null;
  }

  #stockKey() {
    this.chosen = this.aim = "";
    this.#turn();
  }

  /** @param {string} pile */
  #pileKey(pile) {
    this.focus(pile, false);
    if (
      this.picked &&
      this.picked.pile !== pile &&
      pile[0] === "t" &&
      !this.#targets(this.picked).has(pile)
    )
      return this.#why(this.picked, pile);
    this.tap(pile);
  }

  /** @param {string} to `up` or `down` */
  #foundationKey(to) {
    this.chosen = "";
    if (this.picked) {
      const move = this.#carries(this.picked.pile).find((each) => each.to === to);
      return move ? this.#play(move.text) : this.#ask(readMove(`${bare(this.picked.pile)}>${to}`));
    }
    const banks = this.moves.filter((move) => move.to === to);
    if (banks.length === 1) return this.#play(banks[0].text);
    const where = this.own.view.down.length ? ` ${to}` : "";
    if (!banks.length) return this.player.say(`No card can be banked${where} now.`);
    this.aim = to;
    const cards = banks.map(
      (move) => `${keyOf(move.from)} ${cardSign(carried(this.own.view, move)[0])}`,
    );
    this.#changed(`Bank which${where}? ${cards.join(", ")}.`);
  }

  /** @param {string} pile */
  #bankFrom(pile) {
    const move = this.moves.find((each) => each.from === bare(pile) && each.to === this.aim);
    if (move) return this.#play(move.text);
    const aim = this.aim;
    this.drop();
    this.#ask(readMove(`${bare(pile)}>${aim}`));
  }

  #takeBack() {
    const givers = [...this.buttons.keys()].filter(
      (pile) => pile.startsWith("up.") && this.#carries(pile).length,
    );
    if (!givers.length) return this.player.say("No card can be taken back from a foundation now.");
    const at = givers.indexOf(this.picked?.pile ?? "");
    if (at >= 0 && givers.length === 1) return this.#again();
    this.drop();
    this.pick(givers[(at + 1) % givers.length]);
  }

  /** Choose the next legal move. @param {number} step */
  #walk(step) {
    const moves = (
      this.picked
        ? this.#carries(this.picked.pile, this.picked.size)
        : this.aim
          ? this.moves.filter((move) => move.to === this.aim)
          : this.moves
    ).sort((a, b) => use(a) - use(b));
    if (!moves.length) return this.player.say("No move is left on this board.");
    const at = moves.findIndex((move) => move.text === this.chosen);
    const next =
      at < 0 ? (step > 0 ? 0 : moves.length - 1) : (at + step + moves.length) % moves.length;
    this.chosen = moves[next].text;
    this.#changed(
      `${next + 1} of ${moves.length}: ${describeMove(this.own.view, moves[next], this.game)}; enter plays it.`,
    );
  }

  #enter() {
    if (this.chosen) return this.#play(this.chosen);
    if (!this.picked && this.finishing) return this.finish();
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.pile;
    if (focused) return this.tap(focused);
    if (this.picked) return this.#again();
    this.player.say("Enter plays the move that Tab has chosen: press Tab first.");
  }

  #escape() {
    const says = this.picked
      ? `Pick-up from ${pileWords(this.picked.pile)} cancelled.`
      : this.chosen || this.aim
        ? "Selection cleared."
        : "Nothing is selected.";
    this.queue = [];
    this.drop();
    this.player.say(says);
  }

  /** @param {number} step */
  #resize(step) {
    if (!this.picked) return this.player.say("+ and - choose how many cards: pick a pile first.");
    const sizes = [...new Set(this.#carries(this.picked.pile).map((move) => move.count))].sort(
      (a, b) => a - b,
    );
    const at = sizes.indexOf(this.picked.size ?? sizes[sizes.length - 1]) + step;
    if (at < 0 || at >= sizes.length)
      return this.player.say(
        `${step > 0 ? "Most" : "Fewest"} that can go anywhere now: ${sizes[at - step]}.`,
      );
    this.picked = { ...this.picked, size: sizes[at] };
    this.#changed(this.#pickText());
  }

  /**
   * The next move of a board that banks alone win, whatever their order: all cards lie open in columns that only descend,
   * so that the lowest of all is always on top, and all below it in its suit are banked.
   */
  get finishing() {
    const { view } = this.own;
    const { stock, waste, reserve, down, face_down, base, columns } = view;
    if (stock || waste || reserve || down.length || face_down.some(Boolean)) return undefined;
    const height = (/** @type {string} */ card) => (RANKS.indexOf(card[0]) + 14 - base) % 13;
    const descends = columns.every((column) =>
      cardsOf(column).every((card, at, all) => !at || height(card) < height(all[at - 1])),
    );
    return descends ? this.moves.find(({ to }) => to === "up") : undefined;
  }

  /** Bank card after card, until the board is won or the player does something. */
  finish() {
    const move = this.finishing;
    this.isFinishing = Boolean(move);
    if (move) this.#play(move.text);
  }

  #quick() {
    const isQuick = look().quick !== "on";
    changeLook({ quick: isQuick ? "on" : "off" });
    this.player.say(
      isQuick
        ? "Quick on: a pile with only one legal move plays it at once."
        : "Quick off: a first tap or key picks, a second one places.",
    );
  }

  // Focus

  /** Focus a pile. @param {string} [pile] @param {boolean} [isShown] */
  focus(pile = this.roving, isShown = true) {
    this.buttons
      .get(pile)
      ?.focus({ preventScroll: true, ...(isShown ? {} : { focusVisible: false }) });
  }

  /** Let Tab enter the board at this pile. @param {string} pile */
  #rove(pile) {
    this.buttons.get(this.roving)?.setAttribute("tabindex", "-1");
    this.roving = pile;
    this.buttons.get(pile)?.setAttribute("tabindex", "0");
  }

  /** @type {string} */
  roving = "stock";

  /** Focus the nearest pile in a direction. @param {string} direction */
  #step(direction) {
    const here = this.buttons.get(this.roving).getBoundingClientRect();
    const [across, along] = direction === "Left" || direction === "Right" ? ["y", "x"] : ["x", "y"];
    const sign = direction === "Left" || direction === "Up" ? -1 : 1;
    let [best, least] = ["", Infinity];
    for (const [pile, button] of this.buttons) {
      const rect = button.getBoundingClientRect();
      const ahead = sign * (middle(rect, along) - middle(here, along));
      const aside = Math.abs(middle(rect, across) - middle(here, across));
      if (ahead > 4 && ahead + 2 * aside < least) [best, least] = [pile, ahead + 2 * aside];
    }
    if (best) this.focus(best);
    return true;
  }
}

/** The name of a pile in moves: all foundations of a suit have one. @param {string} pile */
function bare(pile) {
  return isFoundation(pile) ? pile.split(".").slice(0, 2).join(".") : pile;
}

/** @param {string} pile */
function keyOf(pile) {
  return pile[0] === "t" ? COLUMN_KEYS[Number(pile.slice(1)) - 1] : pile;
}

/** @param {DOMRect} rect @param {string} axis */
function middle(rect, axis) {
  return axis === "x" ? rect.x + rect.width / 2 : rect.y + rect.height / 2;
}

/** The place of a move in the order of Tab: banking, then from reserve, waste, columns and foundations, the stock last; the largest of several first. @param {Move} move */
function use({ from, to, count }) {
  if (!to) return 99;
  const column = Number(/^t([0-9]+)/.exec(from)?.[1] ?? 0);
  const source = from === "r" ? 0 : from === "w" ? 1 : column ? 1 + column : 14;
  if (to === "up" || to === "down") return source - 100;
  return source + (Number(to.slice(1)) - count / 100) / 100;
}
