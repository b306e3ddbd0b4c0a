/**
 * Drags and long presses on a board, with Pointer Events.
 *
 * A drag begins after some pixels, so that a tap with an unsteady finger stays a tap. A second finger, a turned
 * phone or a cancelled pointer puts the cards back.
 */

import { h } from "./page.js";

/** Pixels before a drag begins, by the pointer. */
const FAR = 8;
const FAR_BY_MOUSE = 4;
const LONG = 350;
const BACK = 120;

export class Drag {
  /** Whether the move that the board shows next was dragged, and needs no slide. */
  isDropping = false;
  /** @type {{id: number, x: number, y: number, pile: string, depth: number, far: number} | null} */
  #press = null;
  /** @type {HTMLElement | null} */
  #ghost = null;
  /** @type {HTMLElement[]} */
  #cards = [];
  #timer = 0;
  #isSpelling = false;
  #ignoresClick = false;
  /** The pile that looks pressed. @type {Element | null} */
  #pressed = null;
  #isClosed = new AbortController();

  /** @param {import("./board.js").Board} board */
  constructor(board) {
    this.board = board;
    const { signal } = this.#isClosed;
    for (const section of [board.found, board.cols, board.hand]) {
      section.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) =>
        this.#down(event),
      );
      section.addEventListener("contextmenu", (/** @type {Event} */ event) =>
        event.preventDefault(),
      );
    }
    // it may end beside the board
    addEventListener("pointermove", (event) => this.#move(event), { signal });
    addEventListener("pointerup", (event) => this.#up(event), { signal });
    for (const end of ["pointercancel", "orientationchange"])
      addEventListener(end, () => this.cancel(), { signal });
  }

  close() {
    this.cancel();
    this.#isClosed.abort();
  }

  /** Whether the click after a drag or a long press is no tap. */
  takesClick() {
    const ignored = this.#ignoresClick;
    this.#ignoresClick = false;
    return ignored;
  }

  /** @param {PointerEvent} event */
  #down(event) {
    this.#ignoresClick = false;
    if (this.#press) return this.cancel();
    const target = /** @type {Element} */ (event.target);
    const button = /** @type {HTMLElement | null} */ (target.closest(".pile"));
    if (!button?.dataset.pile || event.button !== 0) return;
    const cards = [...button.querySelectorAll(":scope > .card")];
    const index = cards.indexOf(/** @type {Element} */ (target.closest(".card")));
    this.board.pressedDepth = index < 0 ? 0 : cards.length - index;
    this.#pressed = button;
    button.classList.add("pressed");
    this.#press = {
      id: event.pointerId,
      x: event.clientX,
      y: event.clientY,
      pile: button.dataset.pile,
      depth: this.board.pressedDepth,
      far: event.pointerType === "mouse" ? FAR_BY_MOUSE : FAR,
    };
    if (event.pointerType !== "mouse" && cards.length > 1)
      this.#timer = setTimeout(() => this.#spell(), LONG);
  }

  #spell() {
    this.#isSpelling = true;
    this.board.spell(this.#press?.pile ?? "");
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const press = this.#press;
    if (!press || event.pointerId !== press.id) return;
    const [x, y] = [event.clientX - press.x, event.clientY - press.y];
    if (!this.#ghost) {
      if (Math.hypot(x, y) < press.far) return;
      clearTimeout(this.#timer);
      this.#cards = this.board.lift(press.pile, press.depth);
      if (!this.#cards.length) return this.cancel();
      this.board.buttons.get(press.pile).setPointerCapture(event.pointerId);
      this.#raise();
    }
    const ghost = /** @type {HTMLElement} */ (this.#ghost);
    ghost.style.translate = `${x}px ${y}px`;
    const taken = this.board.taken(this.#under(event)) || this.#cards.length;
    [...ghost.children].forEach((card, index, all) =>
      card.classList.toggle("stays", index < all.length - taken),
    );
  }

  /** Copy the cards into a layer over the board. */
  #raise() {
    const places = this.#cards.map((card) => card.getBoundingClientRect());
    this.#ghost = h("div", { class: "dragged", "aria-hidden": "true" });
    this.#cards.forEach((card, index) => {
      const copy = /** @type {HTMLElement} */ (card.cloneNode(true));
      const style = getComputedStyle(card);
      for (const length of ["--w", "--h-card", "--ix"])
        copy.style.setProperty(length, style.getPropertyValue(length));
      copy.style.left = `${places[index].x}px`;
      copy.style.top = `${places[index].y}px`;
      copy.style.width = `${places[index].width}px`;
      copy.style.height = `${places[index].height}px`;
      card.classList.add("away");
      this.#ghost?.append(copy);
    });
    // beside the board, which is a container: what is fixed within may be placed by it, not by the window
    this.board.cols.closest(".race")?.append(this.#ghost);
  }

  /** @param {PointerEvent} event @returns {string | undefined} */
  #under(event) {
    const found = /** @type {HTMLElement | null | undefined} */ (
      document.elementFromPoint(event.clientX, event.clientY)?.closest(".pile")
    );
    return found?.dataset.pile;
  }

  /** @param {PointerEvent} event */
  #up(event) {
    if (event.pointerId !== this.#press?.id) return;
    if (this.#release()) this.#ignoresClick = true;
    if (this.#ghost) {
      this.#ignoresClick = true;
      this.isDropping = true;
      const isPlayed = this.board.dropOn(this.#under(event));
      this.isDropping = false;
      this.#lower(isPlayed);
    }
    this.#press = null;
  }

  /** Put the cards back, wherever the pointer is. */
  cancel() {
    this.#release();
    if (this.#ghost) {
      this.board.drop();
      this.#lower(false);
    }
    this.#ignoresClick = this.#press !== null;
    this.#press = null;
  }

  /** End what a press shows, and return whether it was a long one. */
  #release() {
    clearTimeout(this.#timer);
    this.#pressed?.classList.remove("pressed");
    const wasLong = this.#isSpelling;
    this.#isSpelling = false;
    if (wasLong) this.board.spell("");
    return wasLong;
  }

  /** @param {boolean} isPlayed */
  #lower(isPlayed) {
    const ghost = this.#ghost;
    this.#ghost = null;
    for (const card of this.#cards) card.classList.remove("away");
    if (!ghost) return;
    if (isPlayed || matchMedia("(prefers-reduced-motion: reduce)").matches) return ghost.remove();
    ghost.animate([{ translate: ghost.style.translate }, { translate: "0 0" }], {
      duration: BACK,
      easing: "ease-out",
    }).onfinish = () => ghost.remove();
  }
}
