"""Canfield by AisleRiot's original help: three passes, and cards may come back from foundations.

The deal is that of Canfield, and columns are built alike: down in alternating colours, with a king
on an ace. But any run may move, whole or part; a foundation's top card may come back, though never
its first; and when the reserve, which fills an empty column at once, is gone, anything may go
there. The stock is turned three cards at a time and gone through three times: two redeals.
"""

from saratoga_rules.game import Game
from saratoga_rules.piles import Pile
from saratoga_rules.vocabulary.building import Pairing, down
from saratoga_rules.vocabulary.deal_steps import BaseCard, ToColumns, ToReserve
from saratoga_rules.vocabulary.foundations import First, up_from
from saratoga_rules.vocabulary.stocks import turned
from saratoga_rules.vocabulary.tableau import ANY_RUN, ANYTHING, Columns, Space

CANFIELD_AISLERIOT = Game(
    name="canfield-aisleriot",
    title="Canfield (AisleRiot)",
    packs=1,
    pack_price=50,
    deal=(ToReserve(13), BaseCard(), ToColumns(1)),
    columns=Columns(
        count=4,
        build=down(Pairing.ALTERNATE_COLOUR, around_the_corner=True),
        packet=ANY_RUN,
        space=Space(filled_from=Pile.RESERVE, admits=ANYTHING),
    ),
    up=up_from(First.BASE_CARD, gives_back=True),
    stock=turned(3, passes=3),
)
