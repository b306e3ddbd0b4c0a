// @ts-check
/** The page: chooses a screen by the path. */

const screen = /** @type {HTMLElement} */ (document.getElementById("screen"));
const sentence = document.createElement("p");
sentence.textContent = `Patience as a race, at ${location.host}.`;
screen.replaceChildren(/** @type {Element} */ (screen.firstElementChild), sentence);
