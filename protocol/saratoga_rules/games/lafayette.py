"""Lafayette: every suit is built up from its ace and down from its king, until the two meet.

Thirteen cards lie in the reserve, only the top one known. The eight foundations start empty; how a
suit is shared between its two foundations does not matter. Four columns begin with a card each and
are built down in alternating colours, a card at a time, and end at the ace. An empty column takes
any one card and is never filled automatically. The stock is turned card by card, as often as you
like.
"""

from saratoga_rules.game import Game
from saratoga_rules.vocabulary.building import Pairing, down
from saratoga_rules.vocabulary.deal_steps import ToColumns, ToReserve
from saratoga_rules.vocabulary.foundations import First, down_from, up_from
from saratoga_rules.vocabulary.stocks import turned
from saratoga_rules.vocabulary.tableau import ANYTHING, ONE_CARD, Columns, Space

LAFAYETTE = Game(
    name="lafayette",
    title="Lafayette",
    packs=1,
    pack_price=50,
    deal=(ToReserve(13), ToColumns(1)),
    columns=Columns(
        count=4,
        build=down(Pairing.ALTERNATE_COLOUR),
        packet=ONE_CARD,
        space=Space(admits=ANYTHING),
    ),
    up=up_from(First.ACE),
    down=down_from(First.KING),
    stock=turned(1),
)
