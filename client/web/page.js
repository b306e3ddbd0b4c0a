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
export const IS_CODE = new RegExp(`^${CODE}$`);

/**
 * @typedef {Node | string | number | null | undefined | false} Child `null`, `undefined`, `false` and "" are left out
 * @typedef {{onclick?: (event: MouseEvent) => unknown, onsubmit?: (event: SubmitEvent) => unknown,
 *   onchange?: (event: Event & {target: HTMLSelectElement}) => unknown, oninput?: (event: Event & {target: HTMLInputElement}) => unknown,
 *   [name: string]: unknown}} Attributes `false` and `null` leave one out, `true` gives it without a value
 */

/**
 * The interface of an element's tag.
 * @template {string} Tag
 * @typedef {Tag extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[Tag] : HTMLElement} Named
 */

/**
 * Return an element.
 * @template {string} Kind
 * @param {Kind} kind its tag and classes, such as `p.why.dim`
 * @param {...(Attributes | Child)} rest its attributes, which may be missing, and its children
 * @returns {Kind extends `${infer Tag}.${string}` ? Named<Tag> : Named<Kind>}
 */
export function h(kind, ...rest) {
  const [tag, ...classes] = kind.split(".");
  const element = document.createElement(tag);
  filled(element, classes, rest);
  return /** @type {ReturnType<typeof h<Kind>>} */ (element);
}

/**
 * Return an SVG element, as `h` does.
 * @param {string} kind @param {...(Attributes | Child)} rest
 */
export function svg(kind, ...rest) {
  const [tag, ...classes] = kind.split(".");
  return filled(document.createElementNS(SVG, tag), classes, rest);
}

/** @template {Element} Made @param {Made} element @param {string[]} classes @param {(Attributes | Child)[]} rest */
function filled(element, classes, [first, ...rest]) {
  const hasAttributes = first instanceof Object && !(first instanceof Node);
  const attributes = hasAttributes ? Object.entries(first) : [];
  if (classes.length) attributes.unshift(["class", classes.join(" ")]);
  for (const [name, value] of attributes) {
    if (name.startsWith("on")) Object.assign(element, { [name]: value });
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, value === true ? "" : String(value));
  }
  const children = /** @type {Child[]} */ (hasAttributes ? rest : [first, ...rest]);
  element.append(...nodesOf(children));
  return element;
}

/** The children that are not left out. @param {Child[]} children */
function nodesOf(children) {
  return children
    .filter((child) => child || child === 0)
    .map((child) => (child instanceof Node ? child : String(child)));
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

/** Give an element other children. @param {Element} element @param {...Child} children */
export function fill(element, ...children) {
  element.replaceChildren(...nodesOf(children));
}

/**
 * Give an element these children and change as little as that needs: the focus, a click under way, what is typed,
 * open details and live regions that say the same go on. An element goes on as the next of the same tag and the same
 * `data-key`, id or role.
 * @param {Element} element @param {...Child} children
 */
export function morph(element, ...children) {
  const active = /** @type {HTMLElement | null} */ (document.activeElement);
  let next = element.firstChild;
  for (const fresh of nodesOf(children)) {
    const child = typeof fresh === "string" ? document.createTextNode(fresh) : fresh;
    /** @type {ChildNode | null} */
    let known = next;
    while (known && markOf(known) !== markOf(child)) known = known.nextSibling;
    if (known !== next || !known) element.insertBefore(known ?? child, next);
    else next = known.nextSibling;
    if (known) become(known, child);
  }
  while (next) {
    const gone = next;
    next = gone.nextSibling;
    gone.remove();
  }
  if (!active || active === document.activeElement) return;
  const heir = active.dataset.key && `[data-key="${CSS.escape(active.dataset.key)}"]`;
  const focused = active.isConnected ? active : heir && element.querySelector(heir);
  /** @type {HTMLElement | null} */ (focused || null)?.focus();
}

const HANDLERS = /** @type {const} */ (["onclick", "onsubmit", "onchange", "oninput", "onkeydown"]);

/** What two nodes have in common if one may go on as the other. @param {Node} node */
function markOf(node) {
  if (!(node instanceof Element)) return node.nodeName;
  const key = node.getAttribute("data-key") ?? (node.id || node.getAttribute("role"));
  return `${node.nodeName} ${key ?? ""}`;
}

/** Make a node the same as another. @param {Node} node @param {Node} wanted */
function become(node, wanted) {
  if (!(node instanceof Element) || !(wanted instanceof Element)) {
    if (node.nodeValue !== wanted.nodeValue) node.nodeValue = wanted.nodeValue;
    return;
  }
  for (const { name } of [...node.attributes])
    // the player opens and closes details
    if (!wanted.hasAttribute(name) && name !== "open") node.removeAttribute(name);
  for (const { name, value } of wanted.attributes)
    if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  const handlers = HANDLERS.map((name) => [name, /** @type {HTMLElement} */ (wanted)[name]]);
  Object.assign(node, Object.fromEntries(handlers));
  morph(node, ...wanted.childNodes);
  if (wanted instanceof HTMLSelectElement)
    Object.assign(node, { selectedIndex: wanted.selectedIndex });
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
    .map((part, index) => (index % 2 ? h("span.whole", part) : part));
}

/** The class that colours an amount. @param {number} amount */
export function tone(amount) {
  return amount < 0 ? "loss" : "gain";
}

/** A cell with an amount of money. @param {number} amount @param {string} [words] */
export function moneyCell(amount, words = "") {
  return h(`td.n.${tone(amount)}`, words + dollars(amount));
}

/** Milliseconds as minutes and seconds, rounded down. @param {number} milliseconds */
export function clockText(milliseconds) {
  const seconds = Math.floor(milliseconds / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** `either(["2", "5", "f"])` is `2, 5 or f`. @param {string[]} words */
export function either(words) {
  return new Intl.ListFormat("en-GB", { type: "disjunction" }).format(words);
}

/** `listed(["Anna", "Bert"])` is `Anna and Bert`. @param {string[]} names */
export function listed(names) {
  return new Intl.ListFormat("en-GB").format(names);
}

/** The first digits of a commitment, by which it is known. @param {string} commitment */
export function fingerprint(commitment) {
  return commitment.slice(0, 12).replace(/.{4}(?=.)/g, "$& ");
}

/** The time limit of a race; 0 is none. @param {number} minutes */
export function capWords(minutes) {
  return minutes ? `${minutes} minutes` : "no time limit";
}

/** The number of races of a match; 1 is none. @param {number} races */
export function matchWords(races) {
  return races > 1 ? `match of ${races} races` : "one race";
}

/** How many people a player raced against. @param {number} number */
export function rivals(number) {
  return number < MOST_RIVALS ? String(number) : `${MOST_RIVALS}+`;
}

/** The same in words, where there is no column for it: on narrow screens. @param {number} number */
export function againstRivals(number) {
  return h("small.narrow-only", `vs ${rivals(number)} ${number === 1 ? "person" : "people"}`);
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

/** A player's name as nodes, with the mark of a bot in a box. @param {{name: string, bot?: boolean, level?: string}} player @returns {Child[]} */
export function nameNodes(player) {
  if (!player.bot) return [player.name];
  return [`${player.name} `, h("span.bot", player.level ? `${player.level} bot` : "bot")];
}

// Sheets: dialogs at the foot of the screen

let sheets = 0;

/**
 * Open a sheet over a screen and return it. Escape and `close` close it; the focus goes back to where it was.
 * A key of `keys` answers it as in the terminal, such as y and n; `back` names a button that closes it.
 * @param {{title: string, class?: string, onclose?: () => void, keys?: Record<string, () => void>, back?: string}} options
 * @param {...Child} children
 * @returns {HTMLDialogElement}
 */
export function openSheet({ title, class: kind = "", onclose, keys, back }, ...children) {
  const id = `sheet-${++sheets}`;
  const close = () => sheet.close();
  if (back) children.push(h("div.row", button(back, close, "main")));
  const attributes = { class: `sheet ${kind}`.trim(), "aria-labelledby": id };
  const sheet = h("dialog", attributes, h("h2", { id }, title), ...children);
  sheet.addEventListener("keydown", (event) => {
    // Ctrl+Y is the browser's
    if (!event.ctrlKey && !event.metaKey && !event.altKey) keys?.[event.key.toLowerCase()]?.();
  });
  sheet.addEventListener("close", () => {
    sheet.remove();
    onclose?.();
  });
  document.body.append(sheet);
  sheet.showModal();
  return sheet;
}

/**
 * Ask a question in a sheet and return it; the answer `no` changes nothing, `yes` carries out the action.
 * @param {string} title @param {string} no @param {string} yes @param {() => void} action @param {Child} [words] a sentence, or an element
 * @returns {HTMLDialogElement}
 */
export function openQuestion(title, no, yes, action, words) {
  const close = () => sheet.close();
  const agree = () => {
    close();
    action();
  };
  const answers = h("div.row", button(no, close, "main"), button(yes, agree));
  const body = typeof words === "string" ? h("p", words) : words;
  const sheet = openSheet({ title, keys: { y: agree, n: close } }, body, answers);
  return sheet;
}

/** Copy a text; the clipboard API does not exist over plain http. @param {string} text */
export function copyText(text) {
  const active = /** @type {HTMLElement | null} */ (document.activeElement);
  const field = h("textarea.unseen", { readonly: true, "aria-hidden": "true" });
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

/**
 * A button.
 * @param {string | Child[]} words @param {() => unknown} action
 * @param {string} [kind] more classes: `main`, `quiet`, `small` @param {string} [key] what `morph` knows it by
 */
export function button(words, action, kind = "", key) {
  const shown = typeof words === "string" ? [h("span", ...unbroken(words))] : words;
  const attributes = { type: "button", "data-key": key, onclick: () => action() };
  return h("button", { class: `button ${kind}`.trim(), ...attributes }, ...shown);
}

/** What opens below a line. @param {string} summary @param {...Child} children */
export function unfold(summary, ...children) {
  return h("details.rules", { "data-key": summary }, h("summary", summary), ...children);
}

/** A few numbered lines. @param {string[]} lines */
export function numbered(lines) {
  return h("ol.three", ...lines.map((line) => h("li", h("span", line))));
}

/** A form, which sends itself nowhere. @param {string} kind @param {() => unknown} send @param {...Child} children */
export function form(kind, send, ...children) {
  const onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    send();
  };
  return h(`form.${kind}`, { onsubmit }, ...children);
}

/** A labelled control. @param {string} label @param {Child} control */
export function field(label, control) {
  return h("label.field", h("span", label), control);
}

/**
 * A choice between values.
 * @template Value
 * @param {Value[]} values @param {(value: Value) => string} words @param {Value} present
 * @param {(value: Value) => unknown} changed
 */
export function choice(values, words, present, changed) {
  const options = values.map((value) => h("option", { selected: value === present }, words(value)));
  return h(
    "select",
    { onchange: ({ target }) => changed(values[target.selectedIndex]) },
    ...options,
  );
}

/**
 * A table.
 * @param {string} caption for those who do not see it @param {(string | false)[]} heads with their classes, such as `net.n`
 * @param {Child[]} rows @param {string} [kind] its class
 */
export function tableOf(caption, heads, rows, kind = "rows") {
  const shown = heads.map((head) => {
    if (!head) return null;
    const [text, ...classes] = head.split(".");
    return h(["th", ...classes].join("."), { scope: "col" }, text);
  });
  return h(
    `table.${kind}`,
    h("caption.unseen", caption),
    h("thead", h("tr", ...shown)),
    h("tbody", ...rows),
  );
}

/** The game to whose leaderboards the link leads: that of the last table or leaderboard. */
export const leaders = { game: "canfield" };

/** The head of every page that is no race. @param {...Child} links */
export function pageHead(...links) {
  const toLeaders = h("a", { href: `/leaderboards/${leaders.game}` }, "Leaders");
  return h(
    "header.top",
    h("a.brand", { href: "/" }, picture("shoe"), "Saratoga"),
    h("nav", { "aria-label": "Site" }, toLeaders, ...links),
  );
}

/** What fills the page: it shows the app's state, and is shown again with each change. */
export class Screen {
  node = h("div.plain");
  isClosed = false;
  /** What was said last. */
  said = "";

  /** @param {import("./main.js").App} app */
  constructor(app) {
    this.app = app;
  }

  /** The state of the table; only the screens of a table ask for it. */
  get state() {
    return this.app.state;
  }

  /** What the screen shows now. @returns {Child[]} */
  view() {
    return [];
  }

  /** @param {import("./session.js").State} _state */
  show(_state) {
    this.draw();
  }

  draw() {
    if (!this.isClosed) morph(this.node, ...this.view());
  }

  /** @param {string} text */
  say(text) {
    this.said = text;
    this.draw();
  }

  /** What is typed in a field. @param {string} name */
  typed(name) {
    return /** @type {HTMLInputElement} */ (this.node.querySelector(`[name=${name}]`)).value.trim();
  }

  /** Give the focus to the heading, so that it is never lost. */
  shown() {
    this.node.querySelector("h1")?.focus();
  }

  /** Called several times a second. */
  tick() {}

  /** Use a key, and return whether it was one of the screen's. @param {KeyboardEvent} _event @returns {unknown} */
  key(_event) {
    return false;
  }

  /** Take an event that no table's state holds. @param {Wire.Event} _event */
  hear(_event) {}

  close() {
    this.isClosed = true;
  }
}
