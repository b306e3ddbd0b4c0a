"""Damage to stored data: what is wrong, and what can still be read."""

from kit.tables import NOON
from saratoga_server.domain.damage import BoardDamaged, Damage
from saratoga_server.ports import LogEntry


def test_a_damaged_board_says_what_is_wrong_and_keeps_what_can_be_read() -> None:
    entry = LogEntry("draw", NOON, 1, 1)
    damage: Damage = BoardDamaged("entry 2 is no move", iter([entry]))
    assert str(damage) == "entry 2 is no move"
    assert isinstance(damage, BoardDamaged)
    assert damage.readable == (entry,)
