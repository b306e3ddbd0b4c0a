from kit.positions import draw
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.games.lafayette import LAFAYETTE
from saratoga_rules.tableau import Columns


def test_an_offer_lists_tops_spaces_takers_and_carries() -> None:
    columns = draw(LAFAYETTE, "t1: 9H 8C\nt3: TS\nt4: 9D").columns
    offer = LAFAYETTE.columns.offer(columns)
    assert offer.tops == (("t1", "8C"), ("t3", "TS"), ("t4", "9D"))
    assert offer.spaces == ("t2",)
    assert offer.takers == {
        "7H": ("t1",), "7D": ("t1",), "9H": ("t3",), "9D": ("t3",), "8C": ("t4",), "8S": ("t4",),
    }  # fmt: skip
    assert {str(carry) for carry in offer.carries} == {"t1>t4", "t1>t2", "t4>t3"}


def test_packets_are_told_by_their_size_and_their_first_card() -> None:
    column = draw(LADY_PALK, "t1: 2C 9H 8C 7D").columns[0]
    assert LADY_PALK.columns.packets(column) == {1: "7D", 2: "8C", 3: "9H"}
    assert LADY_PALK.columns.packets(()) == {}


def test_what_an_offer_remembers_is_no_part_of_the_rule() -> None:
    rules = LADY_PALK.columns
    same = Columns(count=8, build=rules.build, packet=rules.packet, space=rules.space)
    assert same == rules
    assert "offer" not in repr(rules)
