"""Lady Palk: two packs, all the columns open, and only kings in empty columns.

Eight columns of four cards lie face up and are built down without regard to suit; any run moves,
whole or part, however long. An empty column takes a king or a run headed by one. The eight
foundations are built up in suit from the ace to the king. The stock is turned card by card, once.
"""

from saratoga_rules.game import Game
from saratoga_rules.vocabulary.building import Pairing, down
from saratoga_rules.vocabulary.deal_steps import ToColumns
from saratoga_rules.vocabulary.foundations import First, up_from
from saratoga_rules.vocabulary.stocks import turned
from saratoga_rules.vocabulary.tableau import ANY_RUN, KINGS, Columns, Space

LADY_PALK = Game(
    name="lady-palk",
    title="Lady Palk",
    packs=2,
    pack_price=50,
    deal=(ToColumns(4),),
    columns=Columns(
        count=8,
        build=down(Pairing.ANY_SUIT),
        packet=ANY_RUN,
        space=Space(admits=KINGS),
    ),
    up=up_from(First.ACE, for_each_suit=2),
    stock=turned(1, passes=1),
)
