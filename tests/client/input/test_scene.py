import pytest

from kit.positions import draw
from saratoga_client.input.move_text import ascii_card_name
from saratoga_client.input.scene import Scene, nothing_from, scene_of, why_not
from saratoga_rules.games import GAMES
from saratoga_rules.views import redact


def scene(name: str, picture: str) -> Scene:
    return scene_of(GAMES[name], redact(draw(GAMES[name], picture)), ascii_card_name)


def test_moves_are_sorted_by_banking_reserve_waste_columns_and_stock() -> None:
    seen = scene(
        "lafayette",
        """
        stock: 2C
        waste: AD
        reserve: KS
        t1: AH 7S
        t2: 8H
        up: S6
        """,
    )
    assert [str(move) for move in seen.legal] == [
        "r>down",
        "w>up",
        "t1>up",
        *("r>t3", "r>t4"),
        *("w>t3", "w>t4"),
        *("t1>t2", "t1>t3", "t1>t4"),
        "draw",
    ]


def test_taking_back_comes_after_the_columns_and_large_packets_before_small() -> None:
    seen = scene("canfield-aisleriot", "up: S4\nt1: 5D\nt2: 6C 5H\nstock: 2C")
    assert [str(move) for move in seen.legal] == [
        *("t2>t3", "t2>t4"),
        *("up.S>t1", "up.S>t2", "up.S>t3", "up.S>t4"),
        "draw",
    ]
    run = scene("canfield-aisleriot", "t1: 7H 6C 5H").from_pile("t1")
    assert [str(move) for move in run][:4] == ["t1>t2:2", "t1>t2", "t1>t3:2", "t1>t3"]


def test_the_largest_packet_that_fits_is_carried_unless_a_size_is_given() -> None:
    seen = scene("canfield-aisleriot", "t1: 8S 7H 6C 5H")
    assert str(seen.carry("t1", "t2")) == "t1>t2:3"
    assert str(seen.carry("t1", "t2", 2)) == "t1>t2:2"
    assert seen.carry("t1", "t2", 4) is None
    assert seen.sizes("t1") == (1, 2, 3)


@pytest.mark.parametrize(
    ("name", "picture", "source", "target", "size", "expected"),
    [
        (
            *("lafayette", "t1: JS\nt2: 5D", "t1", "t2", None),
            "Js to column 2: columns build down in alternating colours.",
        ),
        (
            *("lafayette", "t1: JS", "t1", "t2", None),
            "Js to column 2: moving a whole column into a space would change nothing.",
        ),
        (*("caprice", "t1: TS\nt11: 5D", "t1", "t11", None), "10s to column 11 (key -): columns build up or down in suit."),
        (*("caprice", "t1: TS", "t1", "t11", None), "Column 11 (key -): moving a whole column into a space would change nothing."),
        (*("canfield", "t1: TS\nt2: 5D", "t1", "t2", None), "10s to column 2: columns build down in alternating colours, K on A."),
        (*("lafayette", "t2: 5D", "t1", "t2", None), "Column 1 is empty: nothing to carry."),
        (*("lafayette", "t2: 5D", "w", "t2", None), "The waste is empty: nothing to carry."),
        (
            *("lafayette", "t1: 3S\nup: S1", "t1", "up", None),
            "3s: the foundation waits for another card. Next: 2s.",
        ),
        (
            *("lafayette", "t1: 3S\ndown: S1", "t1", "down", None),
            "3s: the foundation waits for another card. Next: Qs.",
        ),
        (
            *("lady-palk", "t1: 3S\nup: S7,4", "t1", "up", None),
            "3s: the foundation waits for another card. Next: 5s or 8s.",
        ),
        (
            *("lafayette", "t1: 3S\nup: S13", "t1", "up", None),
            "3s: the foundation waits for another card. That suit is complete.",
        ),
        (
            *("canfield", "t1: 5H 4S\nt2: 5D", "t1", "t2", 1),
            "4s to column 2: you can carry the whole pile, and only as a whole.",
        ),
        (
            *("canfield", "t1: 5H 4S\nt2: 5D", "t1", "up", 2),
            "5h to the foundations: only one card at a time can move like that.",
        ),
        (
            *("lady-palk", "t1: 5H 4S\nt2: KD", "t1", "t3", 1),
            "4s to column 3: a space takes a king, or a packet headed by one.",
        ),
        (
            *("canfield", "t1: 5H 4S\nt2: KD", "t1", "t3", None),
            "5h to column 3: moving a whole column into a space would change nothing.",
        ),
        (
            *("canfield", "reserve: 4S\nt2: KD", "r", "t3", None),
            "4s to column 3: a space takes only the top card of the waste.",
        ),
        (
            *("lafayette", "t1: 2H 5H 4S", "t1", "t3", 2),
            "5h to column 3: these cards cannot be lifted together. You can carry one card.",
        ),
        (
            *("klondike", "t1: 2C 3C | 5H 4S\nt2: 6C", "t1", "t2", 3),
            "Column 1 has only 2 cards face up; the others cannot be carried.",
        ),
        (*("canfield-aisleriot", "up: S4", "up.S", "up", 1), "A card from a foundation comes back into a column, nowhere else."),
        (*("canfield-aisleriot", "up: S1\nt1: 2D", "up.S", "t1", 1), "As to column 1: the first card of a foundation stays there."),
        (*("canfield-aisleriot", "up: S1\nt1: 2D", "up.H", "t1", 1), "There is no card to move."),
        (*("lady-palk", "up: S4\nt1: 5D", "up.S", "t1", 1), "In this game a card on a foundation stays there."),
    ],
)  # fmt: skip
def test_a_refused_carry_is_explained(
    name: str, picture: str, source: str, target: str, size: int | None, expected: str
) -> None:
    assert why_not(scene(name, picture), source, target, size) == expected


@pytest.mark.parametrize(
    ("name", "picture", "pile", "expected"),
    [
        ("caprice", "t1: KS", "w", "Caprice has no waste."),
        ("lady-palk", "t1: KS", "r", "Lady Palk has no reserve."),
        ("canfield", "t1: KS", "down", "Canfield has no foundations built down."),
        ("canfield", "t1: KS", "t7", "Canfield has no column 7."),
        ("canfield", "t1: KS", "t1", "Ks, column 1: no place to go now."),
        ("canfield", "t1: KS", "w", "The waste is empty."),
        (
            *("canfield", "t1: KS", "t2"),
            "Column 2 is a space. It takes only the top card of the waste.",
        ),
        (
            *("canfield", "t1: KS", "stock"),
            "The stock is empty. There is no waste to turn over.",
        ),
        (
            *("canfield-aisleriot", "waste: KS\npass: 3", "stock"),
            "The stock is empty. This was the last pass: there is no redeal left.",
        ),
        ("caprice", "t1: KS", "stock", "The stock is empty. This game has no redeal."),
        ("canfield", "up: S3", "up.S", "In this game a card on a foundation stays there."),
        ("canfield-aisleriot", "up: S1", "up.S", "The first card of a foundation stays there."),
        ("canfield-aisleriot", "up: S1", "up.H", "There is no card to move."),
    ],
)
def test_a_pile_that_gives_nothing_says_why(
    name: str, picture: str, pile: str, expected: str
) -> None:
    assert nothing_from(scene(name, picture), pile) == expected
