/**
 * What all screens share: elements, numbers in words, sheets.
 *
 * Texts become text nodes only; no function here or elsewhere parses a string as HTML.
 */

const SVG = "http://www.w3.org/2000/svg";
/** The number up to which leaderboards count the people that a player raced against. */
const MOST_RIVALS = 100;
/** The form of a table's code, as a regular expression. */
export const CODE = "[a-z]{2,12}-[a-z]{2,12}-[0-9]{2}";
/** Why a server voids a race, in words. @type {Record<string, string>} */
export const VOID_REASONS = {
  "nonce-missing": "a racer's nonce was missing in the countdown",
  "racer-left": "a racer left in the countdown",
  "racer-gone": "a racer was removed in the countdown",
  "server-away": "the server was away in the countdown",
  closed: "the table was closed during the race",
  "closed-in-countdown": "the table was closed in the countdown",
};

/**
 * Return an element. A property whose name begins with `on` is a listener; `false` and `null` leave
 * an attribute out, `true` gives it without a value. Children are nodes or texts; `null` is left out.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string | number | null | undefined | false)} children
 * @returns {any}
 */
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * Return an SVG element, as `h` does.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string | number | null | undefined | false)} children
 * @returns {any}
 */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** @param {any} element @param {Record<string, any>} attributes @param {any[]} children */
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(
    ...children.filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/**
 * Return a picture of the sprite in index.html: a rank, a suit, or a sign such as `menu`.
 * @param {string} name @param {string} [className]
 */
export function picture(name, className) {
  return svg(
    "svg",
    { class: className ?? null, "aria-hidden": "true" },
    svg("use", { href: `#${name}` }),
  );
}

/** Give an element other children. @param {Element} element @param {...(Node | string | null | false)} children */
export function fill(element, ...children) {
  element.replaceChildren(
    .../** @type {any} */ (children.filter((child) => child !== null && child !== false)),
  );
}

/**
 * Give an element other children where they differ: a click under way and the focus survive.
 * The focus goes on to the control with the same `data-key`.
 * @param {Element} element @param {...(Element | null | false | undefined)} children
 */
export function refill(element, ...children) {
  const wanted = /** @type {Element[]} */ (children.filter(Boolean));
  const active = /** @type {HTMLElement | null} */ (document.activeElement);
  wanted.forEach((child, place) => {
    const known = element.children[place];
    if (!known) element.append(child);
    else if (!known.isEqualNode(child)) known.replaceWith(child);
  });
  while (element.children.length > wanted.length) element.lastElementChild?.remove();
  if (active?.dataset.key && !active.isConnected)
    /** @type {HTMLElement | null} */ (
      element.querySelector(`[data-key="${CSS.escape(active.dataset.key)}"]`)
    )?.focus();
}

/** Set a text, if it changed: an unchanged live region is not read again. @param {Element} element @param {string} text */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Numbers in words

/** `counted(1)` is `1 card`, `counted(3, "move")` is `3 moves`. @param {number} number @param {string} [noun] */
export function counted(number, noun = "card") {
  return `${number} ${noun}${number === 1 ? "" : noun.endsWith("s") ? "es" : "s"}`;
}

/** @param {string} sentence */
export function capitalised(sentence) {
  return sentence.slice(0, 1).toUpperCase() + sentence.slice(1);
}

/** `ordinal(2)` is `2nd`. @param {number} number */
export function ordinal(number) {
  const teens = number % 100 >= 11 && number % 100 <= 13;
  return `${number}${teens ? "th" : (["th", "st", "nd", "rd"][number % 10] ?? "th")}`;
}

/** Casino dollars with their sign; the minus is as wide as the plus. @param {number} amount */
export function dollars(amount) {
  return `${amount < 0 ? "\u2212" : "+"}$${Math.abs(amount)}`;
}

/** A text whose amounts of money stay on one line: browsers break between a minus sign and a dollar sign. @param {string} text */
export function unbroken(text) {
  return text
    .split(/([+\u2212]\$\d+)/)
    .map((part, index) => (index % 2 ? h("span", { class: "whole" }, part) : part));
}

/** The class that colours an amount. @param {number} amount */
export function tone(amount) {
  return amount < 0 ? "loss" : "gain";
}

/** Milliseconds as minutes and seconds, rounded down. @param {number} milliseconds */
export function clockText(milliseconds) {
  const seconds = Math.floor(milliseconds / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** `either(["2", "5", "f"])` is `2, 5 or f`. @param {string[]} words @param {string} [last] */
export function either(words, last = "or") {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} ${last} ${words[words.length - 1]}`;
}

/** `listed(["Anna", "Bert"])` is `Anna and Bert`. @param {string[]} names */
export function listed(names) {
  return either(names, "and");
}

/** The time limit of a race; 0 is none. @param {number} minutes */
export function capWords(minutes) {
  return minutes ? `${minutes} minutes` : "no time limit";
}

/** The number of races of a match; 1 is none. @param {number} races */
export function matchWords(races) {
  return races > 1 ? `match of ${races} races` : "no match";
}

/** The number of different people that a player raced against, as leaderboards count it. @param {number} number */
export function rivals(number) {
  return number < MOST_RIVALS ? String(number) : `${MOST_RIVALS}+`;
}

/** The same in words, where there is no column for it: on narrow screens. @param {number} number */
export function againstRivals(number) {
  return h(
    "small",
    { class: "narrow-only" },
    `vs ${rivals(number)} ${number === 1 ? "person" : "people"}`,
  );
}

const FROM_THE_RIGHT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** A name that text follows: after one that is written from the right, figures would stand before it. @param {string} name */
export function followed(name) {
  return FROM_THE_RIGHT.test(name) ? `${name}\u200e` : name;
}

/** A player's name in a sentence; a bot's name carries its mark. @param {{name: string, bot?: boolean, level?: string}} player */
export function shownName(player) {
  if (!player.bot) return followed(player.name);
  return `${followed(player.name)} [${player.level ? `${player.level} bot` : "bot"}]`;
}

/** A player's name as nodes, with the mark of a bot in a box. @param {{name: string, bot?: boolean, level?: string}} player @returns {any[]} */
export function nameNodes(player) {
  if (!player.bot) return [player.name];
  return [
    `${player.name} `,
    h("span", { class: "bot" }, player.level ? `${player.level} bot` : "bot"),
  ];
}

// Sheets: dialogs at the foot of the screen

let sheets = 0;

/**
 * Open a sheet over a screen and return it. Escape and `close` close it; the focus goes back to where it was.
 * A key of `keys` answers it as in the terminal, such as y and n.
 * @param {{title: string, class?: string, onclose?: () => void, keys?: Record<string, () => void>}} options
 * @param {...any} children
 * @returns {HTMLDialogElement}
 */
export function openSheet(options, ...children) {
  const id = `sheet-${++sheets}`;
  const heading = h("h2", { id }, options.title);
  const sheet = h(
    "dialog",
    { class: `sheet ${options.class ?? ""}`.trim(), "aria-labelledby": id },
    heading,
    ...children,
  );
  document.body.append(sheet);
  sheet.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    // Ctrl+Y is the browser's
    if (!event.ctrlKey && !event.metaKey && !event.altKey)
      options.keys?.[event.key.toLowerCase()]?.();
  });
  sheet.addEventListener("close", () => {
    sheet.remove();
    options.onclose?.();
  });
  sheet.showModal();
  return sheet;
}

/**
 * Ask a question in a sheet and return it; the answer `no` changes nothing, `yes` carries out the action.
 * @param {string} title @param {string} no @param {string} yes @param {() => void} action @param {...any} words
 */
export function openQuestion(title, no, yes, action, ...words) {
  const close = () => sheet.close();
  const agree = () => {
    close();
    action();
  };
  const sheet = openSheet(
    { title, keys: { y: agree, n: close } },
    ...words,
    h("div", { class: "row" }, button(no, close, "main"), button(yes, agree)),
  );
  return sheet;
}

/** Copy a text and return whether that worked; the clipboard API does not exist over plain http. @param {string} text */
export function copyText(text) {
  const active = /** @type {HTMLElement | null} */ (document.activeElement);
  const field = h("textarea", { class: "unseen", readonly: true, "aria-hidden": "true" });
  field.value = text;
  // a modal dialog makes everything outside of it inert
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  field.setSelectionRange(0, text.length); // for iOS
  const isCopied = document.execCommand("copy");
  field.remove();
  active?.focus();
  return isCopied;
}

/** A button. @param {string} text @param {() => void} action @param {string} [kind] `main` or `quiet` */
export function button(text, action, kind = "") {
  return h(
    "button",
    { type: "button", class: `button ${kind}`.trim(), onclick: action },
    h("span", {}, ...unbroken(text)),
  );
}

/** The head of every page that is no race. @param {...any} links */
export function pageHead(...links) {
  return h(
    "header",
    { class: "top" },
    h("a", { class: "brand", href: "/" }, picture("shoe"), "Saratoga"),
    h(
      "nav",
      { "aria-label": "Site" },
      h("a", { class: "leaders", href: "/leaderboards/canfield" }, "Leaders"),
      ...links,
    ),
  );
}
