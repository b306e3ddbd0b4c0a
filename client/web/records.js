// @ts-check
/**
 * The record of a finished race: its form, the deal that follows from it, and what it says of itself.
 *
 * Nothing here judges a move: `saratoga verify` replays a race. The page protocol/README.md has all of it in words.
 */

import { GAMES, PRIZE, RANKS, RULES, SUITS } from "./cards.js";
import { bytesOf, fromHex, hex, hmac, joined, nonceHash, sha256 } from "./fairness.js";
import { COUNTDOWN_REASONS, VOID_REASONS, counted } from "./page.js";

// The deal: protocol/README.md, "A fair deal"

/** Fields one after another, each after its length as four bytes. @param {...(string | number | Uint8Array)} parts */
function fields(...parts) {
  return joined(...parts.flatMap((part) => {
    const bytes = part instanceof Uint8Array ? part : bytesOf(String(part));
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, bytes.length);
    return [length, bytes];
  }));
}

/**
 * The hash that fixes a seed for one race before it is shown.
 * @param {{seed: string, game: string, rules: number, race: string, cap: number, public: boolean}} race `race`: its id
 */
export function commitmentOf({ seed, game, rules, race, cap, public: isPublic }) {
  const [table, number] = race.split("/");
  return hex(sha256(fields("saratoga commitment 1", game, rules, table, number, cap, isPublic ? "yes" : "no", fromHex(seed))));
}

/** The key from which the cards are shuffled. @param {string} seed @param {string} race @param {Record<string, string>} nonces by player id */
export function dealKey(seed, race, nonces) {
  const players = Object.keys(nonces).sort();
  const racers = players.flatMap((player) => [player, fromHex(nonces[player])]);
  return hmac(fromHex(seed), fields("saratoga deal key 1", race, players.length, ...racers));
}

/** The shuffled cards, the one dealt first in front. @param {number} packs @param {Uint8Array} key */
export function shuffledDeck(packs, key) {
  const pack = [...SUITS].flatMap((suit) => [...RANKS].map((rank) => rank + suit));
  const deck = Array.from({ length: packs }, () => pack).flat();
  const stream = shuffleBytes(key);
  for (let last = deck.length - 1; last > 0; last--) {
    const bound = last + 1;
    const fair = 256 - (256 % bound);
    let byte = stream.next().value;
    // bytes at the end of the range would favour low numbers
    while (byte >= fair) byte = stream.next().value;
    const other = byte % bound;
    [deck[last], deck[other]] = [deck[other], deck[last]];
  }
  return deck;
}

/** @param {Uint8Array} key @returns {Generator<number, never>} */
function* shuffleBytes(key) {
  for (let number = 0; ; number++) {
    const counter = new Uint8Array(8);
    new DataView(counter.buffer).setUint32(4, number);
    yield* hmac(key, joined(bytesOf("saratoga shuffle 1"), counter));
  }
}

/**
 * The deck and the piles of a deal; `hidden`: the cards face down under each column.
 * @typedef {{deck: string[], columns: string[], hidden: string[], up: number[], down: number[], reserve: string[], base: number}} Layout
 */

/** The steps of deals, by the names that the facts of the games give them. @type {Record<string, (layout: Layout, count: number) => void>} */
const STEPS = {
  ToReserve(layout, count) {
    layout.reserve.push(...layout.deck.splice(0, count));
  },
  BaseCard(layout) {
    const [card] = layout.deck.splice(0, 1);
    layout.base = RANKS.indexOf(card[0]) + 1;
    bank(layout.up, card);
  },
  ToColumns({ deck, columns }, rows) {
    for (let row = 0; row < rows; row++) deck.splice(0, columns.length).forEach((card, at) => (columns[at] += card));
  },
  Triangle({ deck, columns, hidden }) {
    for (let row = 0; row < columns.length; row++) {
      const [shown, ...others] = deck.splice(0, columns.length - row);
      columns[row] += shown;
      others.forEach((card, at) => (hidden[row + 1 + at] += card));
    }
  },
  AcesAndKings({ deck, up, down }) {
    for (const [rank, heights] of /** @type {[string, number[]][]} */ ([["A", up], ["K", down]]))
      for (const suit of SUITS) bank(heights, deck.splice(deck.indexOf(rank + suit), 1)[0]);
  },
};

/** Start the first foundation of a card's suit. @param {number[]} heights @param {string} card */
function bank(heights, card) {
  heights[SUITS.indexOf(card[1]) * (heights.length / SUITS.length)] = 1;
}

/**
 * The opening position of a shuffled deck, as records write it; empty for a game that this page cannot deal.
 * @param {string} game @param {Uint8Array} key
 */
export function dealOf(game, key) {
  const facts = GAMES[game];
  if (!facts?.deal.every(([step]) => step in STEPS)) return "";
  const none = Array.from({ length: facts.columns }, () => "");
  const [up, down] = [facts.up, facts.down].map((piles) => new Array(piles).fill(0));
  /** @type {Layout} */
  const layout = { deck: shuffledDeck(facts.packs, key), columns: none, hidden: [...none], up, down, reserve: [], base: 1 };
  for (const [step, count] of facts.deal) STEPS[step](layout, count);
  const { deck, columns, hidden, reserve, base } = layout;
  const pile = (/** @type {string} */ cards) => cards || "-";
  const drawn = columns.map((cards, at) => (hidden[at] ? `${hidden[at]}|${cards}` : pile(cards)));
  return `stock=${pile(deck.join(""))} waste=- reserve=${pile(reserve.join(""))} up=${pile(up.join(","))} down=${pile(down.join(","))} ` +
    `columns=${drawn.join("/")} base=${base} passes=1`;
}

/**
 * What the wire shows a player of a position of a record.
 * @param {string} text @returns {import("./cards.js").View}
 */
export function viewOf(text) {
  const piles = Object.fromEntries(text.split(" ").map((part) => part.split("=")));
  const cards = (/** @type {string} */ pile) => (pile === "-" ? "" : pile);
  const heights = (/** @type {string} */ list) => (list === "-" ? [] : list.split(",").map(Number));
  const columns = piles.columns.split("/").map((/** @type {string} */ column) => cards(column).split("|"));
  const hidden = columns.map((/** @type {string[]} */ column) => (column.length > 1 ? column[0].length / 2 : 0));
  const reserve = cards(piles.reserve);
  return {
    stock: cards(piles.stock).length / 2, waste: cards(piles.waste), reserve: reserve.length / 2, reserve_top: reserve.slice(-2),
    up: heights(piles.up), down: heights(piles.down), columns: columns.map((/** @type {string[]} */ column) => column[column.length - 1]),
    base: Number(piles.base), passes: Number(piles.passes), face_down: hidden.some(Boolean) ? hidden : [],
  };
}

// Digests and their four words

/** The digest of a record's lines. @param {string[]} lines */
function chained(lines) {
  let chain = sha256(bytesOf("saratoga record digest 1"));
  for (const line of lines) chain = sha256(joined(chain, bytesOf(line)));
  return hex(chain);
}

/** The digest of all lines of a record but the last. @param {string} text */
export function digestOf(text) {
  return chained(text.split("\n").slice(0, -2));
}

/** 1024 words, as in saratoga_rules/records/digest_words.py: the place of each is ten bits of a digest. */
export const WORDS = `
  able acid acorn acre actor adapt admit adopt adult afar again agile agree ahead aim air album alder alga alike alive alley allow alone also alto
  amber ample angle anvil any apart apple april apron arch area arena argue arm aroma aside ask aspen asset atlas atom attic audio aunt avid avoid
  awake away axis axle baby back bacon badge bag bake ball band bank barn basil bath bay beach bead beam bean bear bed bee begin belt bench berry
  best bike bingo birch bird bison black blaze block bloom blue board boat body bold bolt bone book boot both box braid brave bread brick broad brook
  brown brush buddy bugle build bunch bus bush busy buzz cabin cable cadet cafe cage cake calf camel camp canal canoe cape car card cargo carol cart
  case cat cave cedar chair chalk champ charm chase cheap cheek chess chief chin cider city civil claim clam clap class clay clean clerk cliff clock
  clone cloth cloud club clue coach coal coast coat cocoa code coin cold color comb comet comic cone copy coral cord cork cost couch count cover cow
  crab craft crane cream creek crew crisp cross crown crumb cube cuff cup curb curl curve cycle daily dairy dance dash data date dawn day deal deck
  deep deer delta denim desk dial diary digit dish divan dive dock dog doll dome door dot dough dove down dozen draft drama draw dream dress drift
  drink drive drop drum dry duck duet dune dusk dust duty dwell eager eagle early earn earth easel east easy echo edge edit egg elbow elder elect elf
  elk elm ember emit empty end enjoy enter equal era essay ethic even ever evoke exact exam excel exit eye face fact fade fair fall fame fan farm
  fast favor feast feel fence fern ferry fiber field fig film final find fir fire first fish fit five fix flag flame flash flat fleet flint float
  flood flora flow fluff flute fly foam focus fog foil fold food foot fork form fort forum found fox frame free fresh frog frost fruit fudge fuel
  full fun fuse gable gain game gate gauge gecko gem giant gift give glad glass gleam glide globe glory glove glue goal goat gold golf gong good
  goose gorge gown grab grace grand grape grass great green grid grill grin grip group grow guess guide gulf gull gym habit hail hair half hall halo
  hand harp hat hawk hazel head heart heat hedge heel help herb hero hint hobby hold holly home honey hood hook hope horn horse hotel house hover hub
  hug human humor hurry hut ice icon idea igloo image inch index ink inlet inn input iris iron item ivory jade jam jar jaw jazz jeans jelly jet jewel
  job jog join jolly joy judge juice july jumbo jump june jury just kayak keen key kick kilo kind king kiosk kit kite kiwi knee knife know koala
  label lace lady lake lamb lamp land lane lapel large last latch laugh lava lawn layer lead leaf learn ledge left lemon lens level lid life lift
  light lilac lily limb lime limit line list live load loaf lobby local lock lodge log long loop lotus love low loyal lucky lunar lunch lush lute
  lynx lyric magic main major maker mango maple march marsh mask mast match math may meal medal melon menu merit merry metal metro milk mill mimic
  mind mist mix moat model money month moon moose moral moss moth motor mouse mouth move movie much mud music myth nail name near nerve nest net
  never new next niece night nine noble nod noise noon north nose note novel now nurse nut nylon oak oar oasis oboe ocean odd offer often oil okay
  old olive once onion only open opera orbit order organ other otter ounce outer oval oven owl pace pack page paint palm panda panel paper park party
  pasta path pause peace peak pear pedal pen petal phone photo piano pick pilot pine pipe pitch pivot pizza place plan plate plaza plot plum poem
  poet point polar pond pony pool porch port pot pouch power pride prime print prism prize proof proud pulp pulse pump punch puppy pure push quail
  queen quest quick quiet quill quiz quota race radar radio raft rail rain rally ramp ranch range rapid raven razor ready real red reef relax rent
  rest rhyme rice rich ride ridge ring rise river road roast robin robot rock rodeo roll roof root rope rose rough round route rover row royal ruby
  rug rule run rural rush safe saga sail salad salon salt sand satin sauce scale scarf scene scone score scout sea seat seed send sense serve seven
  shade shape share shelf shine ship shirt shoe shop shore shrub side sign silk since sing siren six size skate ski skill sky slate sled sleep slice
  slide slope slow small smart smile smoke snail snow soap sock soda sofa soft soil solar solid solo song sound soup south space spark speak speed
  spell spend spice spin spoon spot squid stack staff stage stair stamp star state stay steam stem step stick still stone stool storm stove stump
  style sugar suit super surf swan sweet swift swim swing syrup table tail talk tall tank tape task taste taxi teach team tell ten tent term test
  thank theme thing thorn three thumb tide tidy tiger tile time title toast today toe token tone tool tooth top topaz torch total tour towel town toy
  track trade trail tray treat tree trend trial trim trio trip trout truck true trust try tulip tuna turbo turn twice twig twin twist two type ultra
  uncle under union unit upper urban use usual valid value van vapor vast vault veil verb video view villa vine vinyl visa visit vital vivid vocal
  voice vote wafer wage wagon wait walk wall wand want warm wash watch water wax way weave web week well west whale wheat wheel when white wild win
  wind wing wire wish wolf wood wool word work wrap wren wrist yacht yak yard yarn year yeast yoga young youth zero zest zinc zone zoo zoom
`.trim().split(/\s+/);

/** Four words of a digest, by which friends compare records; empty without a digest. @param {string} digest */
export function digestWords(digest) {
  if (!/^[0-9a-f]{64}$/.test(digest)) return "";
  const bits = [...digest.slice(0, 10)].map((digit) => parseInt(digit, 16).toString(2).padStart(4, "0")).join("");
  return (bits.match(/.{10}/g) ?? []).map((ten) => WORDS[parseInt(ten, 2)]).join("-");
}

// Records: protocol/README.md, "Records"

const PARTS = {
  NUMBER: "(?:0|[1-9][0-9]{0,14})", COUNT: "(?:0|[1-9][0-9]{0,3})", POSITIVE: "[1-9][0-9]{0,5}", SEAT: "(?:[1-9]|1[0-6])",
  DOLLARS: "(?:0|-?[1-9][0-9]{0,2})", CAP: "(?:0|[1-9][0-9]{0,3})", GAME: "[a-z][a-z0-9-]{0,31}", RACE: "[a-z]{2,12}-[a-z]{2,12}-[0-9]{2}/[1-9][0-9]{0,5}",
  PLAYER: "[a-z2-7]{16}", HASH: "[0-9a-f]{64}", NONCE: "[0-9a-f]{32}", CHOSEN: "(?:[0-9a-f]{2}){1,64}",
  NAME: String.raw`"(?:[A-Za-z0-9' ._-]|\\u(?:00[89a-f][0-9a-f]|0[1-9a-f][0-9a-f]{2}|[1-9a-f][0-9a-f]{3})){2,40}"`,
  ENTRY: "(?:draw|redeal|(?:w|r|t[1-9][0-9]?|up[.][CSHD])>(?:up|down|t[1-9][0-9]?)(?::(?:[2-9]|[1-9][0-9]))?|cash-out|stuck|out-of-time|left|gone|ended-by-host|idle|bots-stopped|ended-by-vote)",
  STATE: "(?:won|cashed out|stuck|out of time|left|gone|ended by host|idle|bots stopped|ended by vote)", REASON: "(?:damaged|nonce-missing|racer-left|server-away|closed|closed-in-countdown)",
  DEAL: "stock=[^ ]+ waste=[^ ]+ reserve=[^ ]+ up=[0-9,-]+ down=[0-9,-]+ columns=[^ ]+ base=(?:[1-9]|1[0-3]) passes=1",
};

/** A line of a record; a word in capitals stands for its pattern. @param {string} pattern */
export function line(pattern) {
  return new RegExp(`^${pattern.replace(/[A-Z]{3,}/g, (word) => PARTS[/** @type {"HASH"} */ (word)] ?? word)}$`);
}

const LINES = {
  game: line("game (GAME)"), rules: line("rules (POSITIVE)"), race: line("race (RACE)"), start: line("start (NUMBER)"), cap: line("cap (CAP)"),
  public: line("public (yes|no)"), commitment: line("commitment (HASH|unreadable)"), seed: line("seed (?:(random) (HASH)|(chosen) (CHOSEN))"),
  deal: line("deal (DEAL)"), ranked: line("ranked (yes|no)"), racer: line("racer (PLAYER) (person|bot) (NAME)"), nonce: line("nonce (NONCE)"),
  hash: line("nonce-hash (HASH)"), entry: line("(NUMBER) (POSITIVE) (ENTRY)"), ended: line("ended (COUNT) (COUNT) (STATE)"),
  place: line("place (SEAT) (PLAYER) (COUNT) (DOLLARS) (NUMBER|-) (STATE)"), digest: line("digest (HASH)"),
  voided: line("voided (POSITIVE) (GAME) (POSITIVE) (CAP) (yes|no) (REASON) (0|SEAT)"), voidedCommitment: line("voided-commitment (HASH|unreadable)"),
  voidedSeed: line("voided-seed (HASH|unreadable)"), voidedLeft: line("voided-left (PLAYER)"), voidedNonce: line("voided-nonce (PLAYER) (?:(NONCE)|missing (HASH))"),
  reason: line("reason (REASON)"), left: line("left (PLAYER)"), voidSeed: line("seed (HASH|unreadable)"), voidNonce: line("nonce (NONCE|unreadable|missing HASH)"),
  log: line("log (complete|damaged)"),
};

/** The words that end a log: each is the state of its board. */
export const ENDINGS = new Set(["cash-out", "stuck", "out-of-time", "left", "gone", "ended-by-host", "idle", "bots-stopped", "ended-by-vote"]);

/** The state for its words in a record, such as `cash-out` for `cashed out`. @param {string} words */
function stateOf(words) {
  return words === "cashed out" ? "cash-out" : words.replaceAll(" ", "-");
}

const CLOSED_REASONS = new Set(["closed", "closed-in-countdown"]);
/**
 * @typedef {{at: number, number: number, text: string}} Entry milliseconds from the start, commit number, move or ending
 * @typedef {{player: string, name: string, bot: boolean, nonce: string, hash: string, missing: string, log: Entry[], banked: number,
 *   state: string, isComplete: boolean}} Racer
 * @typedef {{place: number, player: string, banked: number, net: number, reached: number | null, state: string}} Place
 * @typedef {{race: string, game: string, rules: number, cap: number, public: boolean, reason: string, logs: number, commitment: string,
 *   seed: string, nonces: Record<string, string>, missing: Record<string, string>, left: string}} Voided as the wire's
 * @typedef {{isVoid: boolean, game: string, rules: number, race: string, start: number, cap: number, public: boolean, reason: string,
 *   left: string, commitment: string, seed: string, isChosen: boolean, deal: string, ranked: boolean, racers: Racer[], places: Place[],
 *   voided: Voided[], digest: string}} RaceRecord an empty text where a void record has nothing, or what was unreadable
 */

/** The format of the records that this page reads. */
const FORMAT = 1;

/** Whether a record is of a later format, which a newer server may write. @param {string} text */
export function isOfLaterFormat(text) {
  const found = /^saratoga (?:void )?record ([1-9][0-9]{0,3})\n/.exec(text);
  return Number(found?.[1]) > FORMAT;
}

/** The most voided races that a record lists, those before the last record. */
export const MOST_VOIDED = 16;

const MOST_RACERS = 16;

/** Reads a record line by line. */
class Lines {
  /** @param {string} text */
  constructor(text) {
    this.all = text.split("\n");
    this.at = 0;
  }

  get next() {
    return this.all[this.at] ?? "";
  }

  /** @param {RegExp} pattern @param {string} expected @returns {string[]} */
  take(pattern, expected) {
    const found = pattern.exec(this.next);
    if (!found) return this.refuse(`expected ${expected}, found ${JSON.stringify(this.next.slice(0, 60))}`);
    this.at++;
    return found.slice(1);
  }

  /** @param {string} reason @returns {never} */
  refuse(reason) {
    throw new Error(`line ${this.at + 1}: ${reason}`);
  }
}

/**
 * @typedef {import("./connection.js").VoidedRace} VoidedRace
 * @typedef {import("./connection.js").Outcome} Outcome
 */

/** @param {string} text */
const known = (text) => (text === "unreadable" ? "" : text);

/** Return the record in a text, of a finished race or of a voided one; throw an error that says what is wrong. @param {string} text @returns {RaceRecord} */
export function parseRecord(text) {
  const lines = new Lines(text);
  const isVoid = lines.next === "saratoga void record 1";
  if (!isVoid && lines.next !== "saratoga record 1") lines.refuse("expected the words 'saratoga record 1'");
  lines.at++;
  const [game] = lines.take(LINES.game, "the game");
  const rules = Number(lines.take(LINES.rules, "the version of the rules")[0]);
  const [race] = lines.take(LINES.race, "the race");
  const start = Number(lines.take(LINES.start, "the start")[0]);
  const cap = Number(lines.take(LINES.cap, "the time limit")[0]);
  const isPublic = lines.take(LINES.public, "'public yes' or 'public no'")[0] === "yes";
  checkLimit(lines, cap, isPublic);
  const base = { isVoid, game, rules, race, start, cap, public: isPublic, reason: "", left: "", isChosen: false, deal: "", ranked: false };
  /** @type {RaceRecord} */
  const record = { ...base, commitment: "", seed: "", racers: [], places: [], voided: [], digest: "" };
  if (isVoid) parseVoid(lines, record);
  else parseRace(lines, record);
  [record.digest] = lines.take(LINES.digest, "a racer, a place or the digest");
  if (lines.next !== "" || lines.at !== lines.all.length - 1) lines.refuse("one line too many");
  return record;
}

/** @param {Lines} lines @param {RaceRecord} record */
function parseRace(lines, record) {
  [record.commitment] = lines.take(LINES.commitment, "the commitment");
  const [random, seed, , chosen] = lines.take(LINES.seed, "the seed");
  [record.seed, record.isChosen] = [seed ?? chosen, !random];
  [record.deal] = lines.take(LINES.deal, "the deal");
  record.ranked = lines.take(LINES.ranked, "'ranked yes' or 'ranked no'")[0] === "yes";
  while (lines.next.startsWith("racer ")) {
    const racer = parseRacer(lines, record);
    [racer.nonce] = lines.take(LINES.nonce, "the nonce");
    [racer.hash] = lines.take(LINES.hash, "the hash of the nonce");
    racer.log = parseLog(lines);
    const [banked, moves, state] = lines.take(LINES.ended, "an entry or the end");
    [racer.banked, racer.state, racer.isComplete] = [Number(banked), stateOf(state), true];
    if (Number(moves) !== moveCount(racer)) lines.refuse("the number of moves is another");
  }
  while (lines.next.startsWith("place ")) {
    const [place, player, banked, net, reached, state] = lines.take(LINES.place, "a place");
    record.places.push({ place: Number(place), player, banked: Number(banked), net: Number(net), reached: reached === "-" ? null : Number(reached), state: stateOf(state) });
  }
  while (lines.next.startsWith("voided ")) record.voided.push(parseVoided(lines, record.race.split("/")[0]));
  if (record.voided.length > MOST_VOIDED) lines.refuse(`there are more than ${MOST_VOIDED} voided races`);
}

/** @param {Lines} lines @param {RaceRecord} record */
function parseVoid(lines, record) {
  [record.reason] = lines.take(LINES.reason, "the reason");
  if (record.reason === "racer-left") [record.left] = lines.take(LINES.left, "the racer who left");
  record.commitment = known(lines.take(LINES.commitment, "the commitment")[0]);
  record.seed = known(lines.take(LINES.voidSeed, "the seed")[0]);
  const isCountdown = COUNTDOWN_REASONS.has(record.reason);
  while (lines.next.startsWith("racer ")) {
    const racer = parseRacer(lines, record);
    const [nonce] = lines.take(LINES.voidNonce, "the nonce");
    if (nonce.startsWith("missing ")) racer.missing = racer.hash = nonce.slice(8);
    else if (known(nonce)) [racer.nonce, racer.hash] = [nonce, nonceHash(nonce)];
    if (isCountdown) continue;
    if (racer.missing) lines.refuse("a race that started has every nonce");
    racer.log = parseLog(lines);
    racer.isComplete = lines.take(LINES.log, "an entry, 'log complete' or 'log damaged'")[0] === "complete";
  }
}

/** @param {Lines} lines @param {RaceRecord} record */
function parseRacer(lines, record) {
  const [player, kind, quoted] = lines.take(LINES.racer, "a racer");
  const before = record.racers.at(-1);
  if (before && player <= before.player) lines.refuse(`racers are ordered by id, so ${player} cannot follow ${before.player}`);
  if (record.racers.length === MOST_RACERS) lines.refuse(`there are more than ${MOST_RACERS} racers`);
  const name = JSON.parse(quoted);
  if ([...name].length < 2 || [...name].length > 20 || name.trim() !== name || name.includes("  ") || NEVER_IN_A_NAME.test(name))
    lines.refuse(`no player can have this name: ${quoted}`);
  /** @type {Racer} */
  const racer = { player, name, bot: kind === "bot", nonce: "", hash: "", missing: "", log: [], banked: 0, state: "", isComplete: false };
  record.racers.push(racer);
  return racer;
}

const NEVER_IN_A_NAME =
  /[\u0000-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u206f\u3000\u3164\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\u{e0000}-\u{10ffff}]/u;

/** @param {Lines} lines @returns {Entry[]} */
function parseLog(lines) {
  const log = [];
  while (/^[0-9]/.test(lines.next)) {
    const [at, number, text] = lines.take(LINES.entry, "an entry");
    log.push({ at: Number(at), number: Number(number), text });
  }
  return log;
}

/** Refuse a race without a time limit at a public table. @param {Lines} lines @param {number} cap @param {boolean} isPublic */
function checkLimit(lines, cap, isPublic) {
  if (isPublic && !cap) lines.refuse("a race at a public table has a time limit");
}

/** @param {Lines} lines @param {string} table @returns {Voided} */
function parseVoided(lines, table) {
  const [race, game, rules, cap, isPublic, reason, logs] = lines.take(LINES.voided, "a voided race");
  const isCountdown = COUNTDOWN_REASONS.has(reason);
  checkLimit(lines, Number(cap), isPublic === "yes");
  if (isCountdown && logs !== "0") lines.refuse("a voided countdown has no logs");
  const commitment = known(lines.take(LINES.voidedCommitment, "the commitment of the voided race")[0]);
  const seed = known(lines.take(LINES.voidedSeed, "the seed of the voided race")[0]);
  const left = reason === "racer-left" ? lines.take(LINES.voidedLeft, "the racer who left")[0] : "";
  /** @type {Voided} */
  const voided = { race: `${table}/${race}`, game, rules: Number(rules), cap: Number(cap), public: isPublic === "yes", reason, logs: Number(logs), commitment, seed, nonces: {}, missing: {}, left };
  let before = "";
  while (lines.next.startsWith("voided-nonce ")) {
    const [player, nonce, hash] = lines.take(LINES.voidedNonce, "a nonce of the voided race");
    if (player <= before) lines.refuse("the racers of the voided race are not in order");
    before = player;
    if (nonce) voided.nonces[player] = nonce;
    else if (isCountdown) voided.missing[player] = hash;
    else lines.refuse("a race that started has every nonce");
  }
  if (Object.keys(voided.nonces).length + Object.keys(voided.missing).length > MOST_RACERS) lines.refuse(`a voided race has more than ${MOST_RACERS} racers`);
  return voided;
}

/** @param {Racer} racer */
function moveCount(racer) {
  return racer.log.filter((entry) => !ENDINGS.has(entry.text)).length;
}

// What a record says of itself

/** The cards on the foundations of a position. @param {string} deal */
export function bankedIn(deal) {
  const view = viewOf(deal);
  return [...view.up, ...view.down].reduce((sum, height) => sum + height, 0);
}

/** The banked cards after each entry, as far as the texts of moves tell: a move to a foundation banks its card. @param {RaceRecord} record @param {Racer} racer */
export function counts(record, racer) {
  let banked = bankedIn(record.deal);
  return racer.log.map(({ text }) => (banked += Number(/>(up|down)$/.test(text)) - Number(text.startsWith("up."))));
}

/** The game of a record; `undefined` if this page does not know it, or only by another version of the rules. @param {RaceRecord} record */
export function gameOf(record) {
  return record.rules === RULES ? GAMES[record.game] : undefined;
}

/** The money for banked cards; the price of a game that this page does not know is that of the record. @param {RaceRecord} record @param {number} banked */
export function netOf(record, banked) {
  const [first] = record.places;
  return banked * PRIZE - (gameOf(record)?.price ?? (first ? first.banked * PRIZE - first.net : 0));
}

/** The deal that follows from a record's seed and nonces; empty if they are not all open, or this page does not know the game. @param {RaceRecord} record */
export function dealOfRecord(record) {
  if (!gameOf(record) || !record.seed || !record.racers.length || record.racers.some((racer) => !racer.nonce)) return "";
  return dealOf(record.game, dealKey(record.seed, record.race, noncesOf(record)));
}

/** @param {RaceRecord} record */
function noncesOf(record) {
  return Object.fromEntries(record.racers.map((racer) => [racer.player, racer.nonce]));
}

/**
 * The banked cards of a racer at the end, and when the last was banked: milliseconds, and the order among those; `null`: at the deal.
 * @typedef {{banked: number, reached: [number, number] | null}} Score
 */

/** The results that follow from the scores, in the form of the wire. @param {RaceRecord} record @param {(racer: Racer) => Score} scoreOf */
function ranked(record, scoreOf) {
  const scores = record.racers.map((racer) => ({ racer, ...scoreOf(racer) }));
  const order = (/** @type {Score} */ a, /** @type {Score} */ b) => {
    const [[at, number], [other, otherNumber]] = [a, b].map(({ reached }) => reached ?? [-1, 0]);
    return b.banked - a.banked || at - other || number - otherNumber;
  };
  scores.sort((a, b) => order(a, b) || (a.racer.player < b.racer.player ? -1 : 1));
  let place = 0;
  return scores.map((score, index) => {
    const ahead = scores[index - 1];
    if (!ahead || order(ahead, score)) place = index + 1;
    const { player, name, bot, state, log } = score.racer;
    return {
      player, name, bot, place, banked: score.banked, net: netOf(record, score.banked), state, moves: moveCount(score.racer),
      reached: score.reached ? score.reached[0] : null, ended: log.at(-1)?.at ?? 0, tie: ahead ? tieWords(ahead, score) : "",
    };
  });
}

/** @param {Score} ahead @param {Score} score */
function tieWords(ahead, score) {
  if (ahead.banked !== score.banked || !score.reached) return "";
  const cards = `reached ${counted(score.banked)}`;
  if (!ahead.reached) return `${cards} during the race, not at the deal`;
  const later = score.reached[0] - ahead.reached[0];
  return later ? `${cards} ${lapse(later)} later` : `${cards} in the same millisecond, next in the table's order`;
}

/** @param {number} millis */
function lapse(millis) {
  if (millis < 1000) return `${millis} ms`;
  if (millis < 60_000) return `${(Math.floor(millis / 100) / 10).toFixed(1)} s`;
  return `${Math.floor(millis / 60_000)} min ${Math.floor((millis % 60_000) / 1000)} s`;
}

/** The results that follow from the moves. @param {RaceRecord} record */
function resultsOfMoves(record) {
  const first = bankedIn(record.deal);
  return ranked(record, (racer) => {
    /** @type {Record<number, [number, number]>} */
    const rises = {};
    let before = first;
    counts(record, racer).forEach((banked, index) => {
      if (banked > before) rises[banked] = [racer.log[index].at, racer.log[index].number];
      before = banked;
    });
    return { banked: before, reached: rises[before] ?? null };
  });
}

/** The announced result that follows from the record's places; `null` if a place has no racer. @param {RaceRecord} record */
export function outcomeOf(record) {
  const { places } = record;
  const lineOf = (/** @type {string} */ player) => places.findIndex((place) => place.player === player);
  if (record.racers.some((racer) => lineOf(racer.player) < 0) || new Set(places.map((place) => place.player)).size !== record.racers.length) return null;
  const results = ranked(record, (racer) => {
    const index = lineOf(racer.player);
    const { banked, reached } = places[index];
    return { banked, reached: reached === null ? null : [reached, index] };
  }).map((row) => ({ ...row, state: places[lineOf(row.player)].state }));
  return { race: record.race, game: record.game, results, seed: record.seed, nonces: noncesOf(record), digest: record.digest, ranked: record.ranked };
}

/**
 * One check of a record; `fault` is empty if it passed, and the check is left out if this page cannot make it.
 * @typedef {{name: string, says: string, fault: string}} Check
 */

/** Check what a record says of itself, without the rules of its game. @param {RaceRecord} record @param {string} text @returns {Check[]} */
export function checksOf(record, text) {
  const check = (/** @type {string} */ name, /** @type {string} */ says, /** @type {string[][]} */ ...faults) => ({ name, says, fault: faults.flat().find(Boolean) ?? "" });
  const digest = digestOf(text);
  const checks = [check("digest", `the digest of the record is ${digest.slice(0, 8)}\u2026`, [digest === record.digest ? "" : `the text was changed: the digest of its lines is ${digest}`])];
  if (record.isVoid) return [...checks, ...voidChecks(record, check)];
  const promised = commitmentOf(record);
  checks.push(check("commitment", "the seed is the one sealed before the start", [promised === record.commitment ? "" : `the commitment of this seed is ${promised}`]));
  checks.push(check("nonces", `${counted(record.racers.length, "nonce")}, each as sealed`, record.racers.length ? [] : ["the record has no racers"],
    record.racers.map((racer) => (nonceHash(racer.nonce) === racer.hash ? "" : `the nonce of ${racer.name} does not match its hash`))));
  const deal = dealOfRecord(record);
  if (!deal) return checks;
  checks.push(check("deal", "seed and nonces make this deal", [deal === record.deal ? "" : "the seed and the nonces produce another deal"]));
  if (deal !== record.deal) return checks;
  checks.push(check("times", "every entry is in time and in order", timeFaults(record)));
  checks.push(check("scores", "the counts follow from the moves to the foundations", record.racers.map((racer) => scoreFault(record, racer))));
  checks.push(check("finish", "the places follow from counts and times", finishFaults(record)));
  const mayRank = !record.isChosen && record.cap && record.racers.filter((racer) => !racer.bot).length >= 2;
  checks.push(check("ranked", record.ranked ? "it may count for the leaderboards" : "it does not count for the leaderboards", [record.ranked && !mayRank ? "it should not be ranked" : ""]));
  if (record.voided.length) checks.push(check("earlier", `${counted(record.voided.length, "voided race")} before it, opened`, earlierFaults(record)));
  return checks;
}

/** @param {RaceRecord} record @param {(name: string, says: string, ...faults: string[][]) => Check} check @returns {Check[]} */
function voidChecks(record, check) {
  const unread = record.racers.filter((racer) => !racer.hash).map((racer) => `the nonce of ${racer.name} could not be read`);
  const unknown = [record.commitment ? "" : "the commitment could not be read", record.seed ? "" : "the seed could not be read"];
  return [check("commitment", "the seed is the one sealed before the start", unknown, [seedFault(voidedOf(record))]),
    check("nonces", "every nonce is opened, or was missing in the countdown", unread),
    check("voided", `${VOID_REASONS[record.reason]}. The race counts for nothing`, [reasonFault(voidedOf(record))])];
}

/** A void record as the table lists the race. @param {RaceRecord} record @returns {Voided} */
function voidedOf(record) {
  const { race, game, rules, cap, reason, commitment, seed, left } = record;
  return {
    race, game, rules, cap, public: record.public, reason, commitment, seed, left, logs: record.racers.filter((racer) => racer.isComplete).length,
    nonces: Object.fromEntries(record.racers.filter((racer) => racer.nonce).map((racer) => [racer.player, racer.nonce])),
    missing: Object.fromEntries(record.racers.filter((racer) => racer.missing).map((racer) => [racer.player, racer.missing])),
  };
}

/** @param {VoidedRace} voided */
export function seedFault(voided) {
  if (!voided.commitment || !/^[0-9a-f]{64}$/.test(voided.seed ?? "")) return "";
  return commitmentOf({ ...voided, seed: voided.seed ?? "" }) === voided.commitment ? "" : `the seed of voided race ${voided.race} does not match its commitment`;
}

/** @param {VoidedRace} voided */
export function reasonFault({ race, reason, nonces = {}, missing = {}, left = "" }) {
  if (["nonce-missing", "server-away"].includes(reason) && !Object.keys(missing).length)
    return `${race} was voided because ${VOID_REASONS[reason]}, but every nonce was revealed`;
  if (reason === "racer-left" && !(left in nonces) && !(left in missing)) return `${race} was voided because a racer left, but none of its racers is named`;
  return "";
}

/** @param {RaceRecord} record */
function timeFaults(record) {
  const entries = record.racers.flatMap((racer) => racer.log.map((entry, index) => ({ ...entry, racer, before: racer.log[index - 1] })));
  entries.sort((a, b) => a.number - b.number);
  const allowed = record.cap * 60_000 || Infinity;
  return entries.flatMap(({ at, number, text, racer, before }, index) => [
    before && number <= before.number ? `${racer.name}: number ${number} follows ${before.number}` : "",
    number !== index + 1 ? `${racer.name}: expected number ${index + 1}, found ${number}` : "",
    index && at < entries[index - 1].at ? `${racer.name}: number ${number} at ${at} ms follows ${entries[index - 1].at} ms` : "",
    at >= allowed !== (text === "out-of-time") ? `${racer.name}: ${text} at ${at} ms is ${at < allowed ? "" : "not "}before the deadline` : "",
    text === "idle" && at - (before?.at ?? 0) < 180_000 ? `${racer.name}: ended as idle less than 180000 ms after the racer's last move` : "",
    text === "ended-by-host" && !isLastBoard(record, racer, at) ? `${racer.name}: ended by the host less than 60000 ms after all other boards` : "",
  ]);
}

/** @param {RaceRecord} record @param {Racer} racer @param {number} at */
function isLastBoard(record, racer, at) {
  const others = record.racers.filter((each) => each !== racer).map((each) => each.log.at(-1)?.at ?? 0);
  return others.length > 0 && at - Math.max(...others) >= 60_000;
}

/** @param {RaceRecord} record @param {Racer} racer */
function scoreFault(record, racer) {
  const banked = counts(record, racer).at(-1) ?? bankedIn(record.deal);
  if (banked !== racer.banked) return `${racer.name} banked ${banked} cards, not ${racer.banked}`;
  const endings = racer.log.filter((entry) => ENDINGS.has(entry.text));
  const last = racer.log.at(-1)?.text ?? "";
  if (endings.length > 1 || (endings.length && endings[0].text !== last)) return `${racer.name}: an entry follows the end of the board`;
  return (ENDINGS.has(last) ? last : "won") === racer.state ? "" : `${racer.name}: the log ends with ${last || "no entry"}, and the state is ${racer.state}`;
}

/** @param {RaceRecord} record */
function finishFaults(record) {
  const right = resultsOfMoves(record);
  if (right.length !== record.places.length) return [`${counted(right.length, "player")} raced, but ${record.places.length} have a place`];
  return right.map((row, index) => {
    const { place, player, banked, net, reached, state } = record.places[index];
    const isRight = row.place === place && row.player === player && row.banked === banked && row.net === net && row.reached === reached && row.state === state;
    return isRight ? "" : `place ${row.place} should be ${row.player}: ${row.banked} banked, net ${row.net}, reached ${row.reached === null ? "never" : `at ${row.reached} ms`}, ${row.state}`;
  });
}

/** @param {RaceRecord} record */
function earlierFaults(record) {
  const expected = Number(record.race.split("/")[1]) - record.voided.length;
  return record.voided.flatMap((voided, index) => [
    Number(voided.race.split("/")[1]) === expected + index && expected > 0 ? "" : `race ${voided.race} cannot stand here among those voided before race ${record.race}`,
    CLOSED_REASONS.has(voided.reason) ? `the table was closed in race ${voided.race}, so no later race can follow` : "",
    seedFault(voided), reasonFault(voided),
  ]);
}
