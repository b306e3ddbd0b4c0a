"""Every card has a role in every state, so that no colour is ever missing."""

from saratoga_client.board_view.card_faces import CardState
from saratoga_client.board_view.card_style import CardStyle, SuitColours
from saratoga_client.board_view.roles import Role
from saratoga_rules.cards import SUITS


def test_every_suit_has_a_role_in_every_state() -> None:
    for suits in SuitColours:
        style = CardStyle(suits=suits)
        assert {Role(f"{state}-{style.tone(suit)}") for state in CardState for suit in SUITS}
    assert all(Role(f"{state}-edge") for state in CardState)
