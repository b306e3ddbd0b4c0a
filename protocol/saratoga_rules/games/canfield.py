"""Canfield, as Bicycle Cards prints it: the casino's game.

Thirteen cards lie in the reserve, only the top one known. The next card starts a foundation, and
its rank is the base of all four foundations. They are built up in suit, around the corner, to
thirteen cards each. Four columns begin with a card each and are built down in alternating colours,
with a king on an ace; a column moves onto another only as a whole. The reserve fills an empty
column at once; when the reserve is gone, only the waste may fill one. The stock is turned three
cards at a time, as often as you like.
"""

from saratoga_rules.game import Game
from saratoga_rules.piles import Pile
from saratoga_rules.vocabulary.building import Pairing, down
from saratoga_rules.vocabulary.deal_steps import BaseCard, ToColumns, ToReserve
from saratoga_rules.vocabulary.foundations import First, up_from
from saratoga_rules.vocabulary.stocks import turned
from saratoga_rules.vocabulary.tableau import WHOLE_PILE, Columns, Space, only_from

CANFIELD = Game(
    name="canfield",
    title="Canfield",
    packs=1,
    pack_price=50,
    deal=(ToReserve(13), BaseCard(), ToColumns(1)),
    columns=Columns(
        count=4,
        build=down(Pairing.ALTERNATE_COLOUR, around_the_corner=True),
        packet=WHOLE_PILE,
        space=Space(filled_from=Pile.RESERVE, admits=only_from(Pile.WASTE)),
    ),
    up=up_from(First.BASE_CARD),
    stock=turned(3),
)
