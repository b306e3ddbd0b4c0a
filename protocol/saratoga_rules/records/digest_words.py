"""Four words of a record's digest, by which friends compare the records that they were shown.

The first 40 bits of the digest are four numbers of 10 bits, the highest bits first. Each is the
place of a word in `WORDS`, from 0. The words are written with `-` between them.

Four words are 40 bits. Two records have the same words by accident once in 10^12 times, but a
server that computes long enough can find two: whoever doubts compares whole digests.
"""

from typing import Final

_TABLE: Final = """
    able acid acorn acre actor adapt admit adopt adult afar again agile agree ahead aim air album
    alder alga alike alive alley allow alone also alto amber ample angle anvil any apart apple april
    apron arch area arena argue arm aroma aside ask aspen asset atlas atom attic audio aunt avid
    avoid awake away axis axle baby back bacon badge bag bake ball band bank barn basil bath bay
    beach bead beam bean bear bed bee begin belt bench berry best bike bingo birch bird bison black
    blaze block bloom blue board boat body bold bolt bone book boot both box braid brave bread brick
    broad brook brown brush buddy bugle build bunch bus bush busy buzz cabin cable cadet cafe cage
    cake calf camel camp canal canoe cape car card cargo carol cart case cat cave cedar chair chalk
    champ charm chase cheap cheek chess chief chin cider city civil claim clam clap class clay clean
    clerk cliff clock clone cloth cloud club clue coach coal coast coat cocoa code coin cold color
    comb comet comic cone copy coral cord cork cost couch count cover cow crab craft crane cream
    creek crew crisp cross crown crumb cube cuff cup curb curl curve cycle daily dairy dance dash
    data date dawn day deal deck deep deer delta denim desk dial diary digit dish divan dive dock
    dog doll dome door dot dough dove down dozen draft drama draw dream dress drift drink drive drop
    drum dry duck duet dune dusk dust duty dwell eager eagle early earn earth easel east easy echo
    edge edit egg elbow elder elect elf elk elm ember emit empty end enjoy enter equal era essay
    ethic even ever evoke exact exam excel exit eye face fact fade fair fall fame fan farm fast
    favor feast feel fence fern ferry fiber field fig film final find fir fire first fish fit five
    fix flag flame flash flat fleet flint float flood flora flow fluff flute fly foam focus fog foil
    fold food foot fork form fort forum found fox frame free fresh frog frost fruit fudge fuel full
    fun fuse gable gain game gate gauge gecko gem giant gift give glad glass gleam glide globe glory
    glove glue goal goat gold golf gong good goose gorge gown grab grace grand grape grass great
    green grid grill grin grip group grow guess guide gulf gull gym habit hail hair half hall halo
    hand harp hat hawk hazel head heart heat hedge heel help herb hero hint hobby hold holly home
    honey hood hook hope horn horse hotel house hover hub hug human humor hurry hut ice icon idea
    igloo image inch index ink inlet inn input iris iron item ivory jade jam jar jaw jazz jeans
    jelly jet jewel job jog join jolly joy judge juice july jumbo jump june jury just kayak keen key
    kick kilo kind king kiosk kit kite kiwi knee knife know koala label lace lady lake lamb lamp
    land lane lapel large last latch laugh lava lawn layer lead leaf learn ledge left lemon lens
    level lid life lift light lilac lily limb lime limit line list live load loaf lobby local lock
    lodge log long loop lotus love low loyal lucky lunar lunch lush lute lynx lyric magic main major
    maker mango maple march marsh mask mast match math may meal medal melon menu merit merry metal
    metro milk mill mimic mind mist mix moat model money month moon moose moral moss moth motor
    mouse mouth move movie much mud music myth nail name near nerve nest net never new next niece
    night nine noble nod noise noon north nose note novel now nurse nut nylon oak oar oasis oboe
    ocean odd offer often oil okay old olive once onion only open opera orbit order organ other
    otter ounce outer oval oven owl pace pack page paint palm panda panel paper park party pasta
    path pause peace peak pear pedal pen petal phone photo piano pick pilot pine pipe pitch pivot
    pizza place plan plate plaza plot plum poem poet point polar pond pony pool porch port pot pouch
    power pride prime print prism prize proof proud pulp pulse pump punch puppy pure push quail
    queen quest quick quiet quill quiz quota race radar radio raft rail rain rally ramp ranch range
    rapid raven razor ready real red reef relax rent rest rhyme rice rich ride ridge ring rise river
    road roast robin robot rock rodeo roll roof root rope rose rough round route rover row royal
    ruby rug rule run rural rush safe saga sail salad salon salt sand satin sauce scale scarf scene
    scone score scout sea seat seed send sense serve seven shade shape share shelf shine ship shirt
    shoe shop shore shrub side sign silk since sing siren six size skate ski skill sky slate sled
    sleep slice slide slope slow small smart smile smoke snail snow soap sock soda sofa soft soil
    solar solid solo song sound soup south space spark speak speed spell spend spice spin spoon spot
    squid stack staff stage stair stamp star state stay steam stem step stick still stone stool
    storm stove stump style sugar suit super surf swan sweet swift swim swing syrup table tail talk
    tall tank tape task taste taxi teach team tell ten tent term test thank theme thing thorn three
    thumb tide tidy tiger tile time title toast today toe token tone tool tooth top topaz torch
    total tour towel town toy track trade trail tray treat tree trend trial trim trio trip trout
    truck true trust try tulip tuna turbo turn twice twig twin twist two type ultra uncle under
    union unit upper urban use usual valid value van vapor vast vault veil verb video view villa
    vine vinyl visa visit vital vivid vocal voice vote wafer wage wagon wait walk wall wand want
    warm wash watch water wax way weave web week well west whale wheat wheel when white wild win
    wind wing wire wish wolf wood wool word work wrap wren wrist yacht yak yard yarn year yeast yoga
    young youth zero zest zinc zone zoo zoom
"""

WORDS: Final = tuple(_TABLE.split())
"""1024 words in alphabetical order; their first four letters differ."""

COUNT: Final = 4
BITS: Final = 10
SHORTEST_PART: Final = 4
"""The letters of a word that are enough to know it."""


def digest_words(digest: str) -> str:
    """Return the words of a digest in hexadecimal, such as `oak-pear-lamp-river`."""
    number = int(digest[: COUNT * BITS // 4], 16)
    shifts = range((COUNT - 1) * BITS, -1, -BITS)
    return "-".join(WORDS[number >> shift & (1 << BITS) - 1] for shift in shifts)


def parse_digest_words(text: str) -> str:
    """Return four words as `digest_words` writes them. Raise `ValueError` for anything else.

    Capital letters, spaces in place of `-`, and words cut after four letters are accepted.
    """
    words = text.lower().replace("-", " ").split()
    if len(words) != COUNT:
        raise ValueError(f"four words are needed, not {len(words)}")
    return "-".join(map(_word, words))


def _word(text: str) -> str:
    for word in WORDS:
        if text == word or (len(text) >= SHORTEST_PART and word.startswith(text)):
            return word
    raise ValueError(f"{text[:20]!r} is not in the list of words")
