"""The progress of a game for its title line: pass, base rank, deals left."""

from saratoga_client.wording import counted
from saratoga_rules.cards import RANKS
from saratoga_rules.game import Game
from saratoga_rules.piles import Pile
from saratoga_rules.position import View
from saratoga_rules.vocabulary.foundations import First
from saratoga_rules.vocabulary.stocks import UNLIMITED


def title_facts(game: Game, view: View) -> tuple[str, ...]:
    """Return short facts, the most important first: `pass 3/3`, `base 6`, `deals left 4`."""
    if game.stock.onto is Pile.COLUMN:
        return (_deals(len(view.stock), game.columns.count),)
    facts = [_passes(game.stock.passes, view.passes)]
    if game.up.first is First.BASE_CARD:
        facts.append(f"base {rank_sign(view.base)}")
    return tuple(facts)


def rank_sign(rank: int) -> str:
    """Return a rank from 1 to 13 as printed on a card: `A`, `10`, `K`."""
    return "10" if rank == 10 else RANKS[rank - 1]


def _passes(most: int, passes: int) -> str:
    if most == 1:
        return "one pass"
    return f"pass {passes}" if most == UNLIMITED else f"pass {passes}/{most}"


def _deals(stock: int, columns: int) -> str:
    if not stock:
        return "no deal left"
    deals = -(-stock // columns)
    short = stock % columns
    if not short:
        return f"deals left {deals}"
    if deals > 1:
        return f"deals left {deals} (last one short)"
    return f"last deal, {counted(short)}"
