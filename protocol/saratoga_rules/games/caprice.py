"""Caprice: two packs, and twelve columns to which the stock is dealt.

An ace and a king of each suit start the foundations, built up from the ace and down from the king.
Twelve columns begin with a card each and are built in suit, up or down as you please, a card at a
time; kings and aces do not meet. The stock is dealt once: each draw deals a card to each column,
and the stock's next card fills an empty column at once. When the stock is gone, any one card may go
there.
"""

from saratoga_rules.game import Game
from saratoga_rules.piles import Pile
from saratoga_rules.vocabulary.building import Pairing, up_or_down
from saratoga_rules.vocabulary.deal_steps import AcesAndKings, ToColumns
from saratoga_rules.vocabulary.foundations import First, down_from, up_from
from saratoga_rules.vocabulary.stocks import dealt_to_columns
from saratoga_rules.vocabulary.tableau import ANYTHING, ONE_CARD, Columns, Space

CAPRICE = Game(
    name="caprice",
    title="Caprice",
    packs=2,
    pack_price=50,
    deal=(AcesAndKings(), ToColumns(1)),
    columns=Columns(
        count=12,
        build=up_or_down(Pairing.SAME_SUIT),
        packet=ONE_CARD,
        space=Space(filled_from=Pile.STOCK, admits=ANYTHING),
    ),
    up=up_from(First.ACE),
    down=down_from(First.KING),
    stock=dealt_to_columns(),
)
