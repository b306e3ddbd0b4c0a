import pytest

from saratoga_rules.cards import parse_cards
from saratoga_rules.vocabulary.building import Pairing, down
from saratoga_rules.vocabulary.packets import (
    ANY_RUN,
    ONE_CARD,
    TOP_CARD_OR_WHOLE_PILE,
    WHOLE_PILE,
    Packet,
)

BUILDING = down(Pairing.ALTERNATE_COLOUR)


@pytest.mark.parametrize(
    ("packet", "column", "sizes"),
    [
        (ONE_CARD, "9H", [1]),
        (ONE_CARD, "9H 8C 7D", [1]),
        (WHOLE_PILE, "9H", [1]),
        (WHOLE_PILE, "9H 8C 7D", [3]),
        (TOP_CARD_OR_WHOLE_PILE, "9H", [1]),
        (TOP_CARD_OR_WHOLE_PILE, "9H 8C 7D", [1, 3]),
        (ANY_RUN, "9H", [1]),
        (ANY_RUN, "9H 8C 7D", [1, 2, 3]),
        (ANY_RUN, "2S 9H 8C 7D", [1, 2, 3]),
        (ANY_RUN, "9H 8C 7C", [1]),
    ],
)
def test_the_numbers_of_cards_that_may_be_lifted(
    packet: Packet, column: str, sizes: list[int]
) -> None:
    assert list(packet.sizes(parse_cards(column), BUILDING)) == sizes


def test_packets_print_as_rules() -> None:
    assert str(ONE_CARD) == "one card"
    assert ONE_CARD != ANY_RUN
