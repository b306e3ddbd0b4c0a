"""Codes of tables, such as `mint-otter-42`: easy to say, to type and to understand.

A code is one of 200 first words, one of 200 second words and a number from 10 to 99: 3.6 million
codes. It is an address, not a secret. If a code is taken, another one is drawn.
"""

from collections.abc import Callable
from typing import Final

# Materials, flavours, weather and moods; no skin colours, nothing offensive.
_FIRST: Final = """
    agile airy alert alpine amber ample apple april aqua arctic
    autumn azure balmy basil beech berry birch blithe blue bold
    bonny brave breezy bright brisk bronze calm candid candy carmine
    cedar cheery cherry chilly cinnamon citrus clear clever cloudy clover
    coastal cobalt cocoa copper coral cosmic cosy cotton crimson crisp
    crystal dainty dapper daring deft denim dewy diamond dotted dreamy
    eager early earnest easy ebony elated elegant elfin emerald epic
    evening fabled fair famous fancy festive fiery fleet floral flying
    foggy fond forest free fresh frosty gallant garnet gentle giddy
    gifted gilded ginger glad gleaming glossy golden graceful grand granite
    green happy hardy hazel hearty heroic hidden honest honey humble
    icy indigo inland ivory jade jaunty jazzy jolly jovial joyful
    juniper keen kind lapis lasting laurel lavender lawful leafy lemon
    lilac lime linen little lively lofty loyal lucky lunar magic
    maple marble mellow merry mighty mild minty misty modest morning
    mossy musical neat nimble noble northern oaken olive opal orange
    orchid patient peachy pearly peppy pine placid plucky polar polite
    prime proud purple quick quiet radiant rainy rapid rosy royal
    ruby rustic saffron sandy sapphire scarlet serene shiny silent silky
    silver simple sincere sleepy snowy solar spry starry steady sunny
"""

# Animals, plants, landscapes and objects; none that is also an insult.
_SECOND: Final = """
    acorn alcove alder anchor anthem arbor arcade archer arrow aspen
    atlas aurora badger balloon bamboo banjo barley basket bayou beacon
    beetle bell bison blossom bobcat bonfire bridge brook buckle bugle
    cabin cactus camel canary candle canoe canyon caravan cardinal caribou
    carousel castle cello chapel cheetah chorus cirrus citadel clarinet cliff
    cobble comet compass condor cottage cove cricket crocus cruiser cypress
    daffodil dahlia daisy deer delta dolphin domino dove dragon drum
    eagle echo eider elk ember falcon fern ferry fiddle finch
    fjord flute fountain foxglove galaxy galleon garden gazebo gazelle geyser
    glacier glade glider gondola goshawk grove guitar gull hamlet hammock
    harbor hare harp hawk heather hedge heron hickory hill horizon
    ibex ibis inlet iris island ivy jackdaw jasmine jay jester
    kayak kestrel kettle keyboard kite kiwi koala lagoon lake lantern
    lark lemur lighter lily linden linnet lion llama lobby locket
    lotus lynx magnet magnolia mango manor maraca marigold market marmot
    marten meadow mesa meteor mill mirror mole moose mosaic mountain
    narwhal nebula nectar newt nutmeg oasis ocean orchard oriole osprey
    otter owl oyster paddle pagoda panda panther papaya parade parrot
    pebble pelican penguin peony petal piano pigeon pillow pilot planet
    plaza plover poppy prairie puffin quail quartz quill rabbit raccoon
"""

FIRST_WORDS: Final = tuple(_FIRST.split())
SECOND_WORDS: Final = tuple(_SECOND.split())

LEAST_NUMBER: Final = 10
NUMBERS: Final = 90


def table_code(chance: Callable[[int], int]) -> str:
    """Return a random code; `chance(n)` returns a random number below n, as `secrets.randbelow`."""
    first = FIRST_WORDS[chance(len(FIRST_WORDS))]
    second = SECOND_WORDS[chance(len(SECOND_WORDS))]
    return f"{first}-{second}-{LEAST_NUMBER + chance(NUMBERS)}"
