"""Klondike for Vegas money: the patience that everybody knows, three cards at a time, three times.

Seven columns hold one to seven cards, only the last of each face up. They are built down in
alternating colours, and any run of face-up cards moves, whole or part. A face-down card turns up as
soon as nothing lies on it. An empty column takes a king or a run headed by one. The four
foundations are built up in suit from the ace, and a top card may come back from them, though never
an ace. The stock is turned three cards at a time and gone through three times. The pack costs $52.
"""

from saratoga_rules.game import Game
from saratoga_rules.vocabulary.building import Pairing, down
from saratoga_rules.vocabulary.deal_steps import Triangle
from saratoga_rules.vocabulary.foundations import First, up_from
from saratoga_rules.vocabulary.stocks import turned
from saratoga_rules.vocabulary.tableau import ANY_RUN, KINGS, Columns, Space

KLONDIKE = Game(
    name="klondike",
    title="Klondike",
    packs=1,
    pack_price=52,
    deal=(Triangle(),),
    columns=Columns(
        count=7,
        build=down(Pairing.ALTERNATE_COLOUR),
        packet=ANY_RUN,
        space=Space(admits=KINGS),
    ),
    up=up_from(First.ACE, gives_back=True),
    stock=turned(3, passes=3),
)
