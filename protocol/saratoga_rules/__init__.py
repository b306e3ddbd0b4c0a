"""The rules of six games of patience: deals, moves, stuck boards and records. All is pure.

>>> from saratoga_rules import GAMES, deal_for_key, is_stuck, legal_moves, play, redact, refusal
>>> klondike = GAMES["klondike"]
>>> position = deal_for_key(klondike, bytes(32))
>>> moves = legal_moves(klondike, position)
>>> print(*moves)
t1>t6 draw t2>up
>>> position = play(klondike, position, moves[0])
>>> print(refusal(klondike, position, moves[0]))
There is no card to move.
>>> redact(position).stock[:3]
('##', '##', '##')
>>> is_stuck(klondike, position)
False
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from saratoga_rules.analysis import legal_moves as legal_moves
from saratoga_rules.dealing.deal import deal_for_key as deal_for_key
from saratoga_rules.games import GAMES as GAMES
from saratoga_rules.play import play as play
from saratoga_rules.play import refusal as refusal
from saratoga_rules.position import Position as Position
from saratoga_rules.position import redact as redact
from saratoga_rules.stuck.stuck import is_stuck as is_stuck

if TYPE_CHECKING:
    from saratoga_rules.records.verify import verify as verify


def __getattr__(name: str) -> Any:
    """Import `verify` when it is first asked for: few programs check records."""
    if name != "verify":
        raise AttributeError(name)
    return import_module("saratoga_rules.records.verify").verify
