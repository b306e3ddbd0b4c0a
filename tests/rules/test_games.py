"""The rules of each game: positions with what may be played, what is refused and why, and what a move does."""

import pytest

from kit.positions import draw, legal, played, refused
from kit.secrecy import with_masked_columns
from saratoga_rules.game import Game
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.games.canfield_aisleriot import CANFIELD_AISLERIOT
from saratoga_rules.games.caprice import CAPRICE
from saratoga_rules.games.klondike import KLONDIKE
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.games.lafayette import LAFAYETTE
from saratoga_rules.money import net
from saratoga_rules.play import Refusal, is_won
from saratoga_rules.position import parse_position, redact
from saratoga_rules.stuck.stuck import is_stuck

BUILDS = Refusal.DOES_NOT_BUILD
PACKET = Refusal.NOT_A_PACKET
SAME = Refusal.CHANGES_NOTHING
WAITS = Refusal.FOUNDATION_WAITS
STAYS_UP = Refusal.NOT_FROM_FOUNDATIONS

REFUSED: list[tuple[Game, str, dict[str, Refusal | None]]] = [
    (
        CANFIELD,
        "t1: 8H\nt2: 8C\nt3: 7C\nt4: 9D\nreserve: 7S",
        {"t3>t1": None, "t3>t2": BUILDS, "t1>t4": BUILDS, "r>t1": None},
    ),
    (CANFIELD, "base: 7\nt1: 7H\nt2: 6S\nt3: 2C\nt4: TC\nup: C1\nreserve: 2H", {"t2>t1": None}),
    (
        CANFIELD,
        "t1: 9H 8C 7D\nt2: TC\nt3: 8S\nt4: 2C\nreserve: 2H\nbase: 5",
        {
            "t1>t2:3": None,
            "t1>t3": PACKET,
            "t1>t2:2": PACKET,
            "t1>t2:4": Refusal.NOT_SO_MANY,
            "t1>t2": PACKET,
            "t1>up:2": Refusal.ONE_AT_A_TIME,
            "t1>down": Refusal.NO_SUCH_PILE,
        },
    ),
    (
        CANFIELD,
        "t1: 9H 8C\nt2: TC\nt4: 2C\nwaste: 4D 6H\nup: C1 H1\nbase: 5",
        {"w>t3": None, "t1>t3": PACKET, "t1>t3:2": SAME, "t2>t3": SAME},
    ),
    (
        CANFIELD,
        "t1: AS\nt2: QS\nwaste: QC\nup: S1 C13\nbase: K",
        {"t1>up": None, "t2>up": WAITS, "w>up": WAITS},
    ),
    (CANFIELD, "t1: 7H\nt2: 9H\nup: S6\nbase: A", {"up.S>t1": STAYS_UP, "up.S>up": STAYS_UP}),
    (CANFIELD, "stock: 2C\nwaste: 3C", {"redeal": Refusal.STOCK_REMAINS}),
    (CANFIELD, "t1: 2C", {"redeal": Refusal.NOTHING_TO_REDEAL}),
    (CANFIELD, "waste: 3C", {"draw": Refusal.STOCK_IS_EMPTY}),
    (
        CANFIELD_AISLERIOT,
        "t1: 9H 2C 7D\nt2: TC\nreserve: 2H\nt3: 3D",
        {"t1>t2:3": PACKET, "t1>t3:2": PACKET},
    ),
    (
        CANFIELD_AISLERIOT,
        "t1: 8H\nt2: 9H\nt3: 8C\nt4: 2S\nreserve: 3H\nup: S3\nbase: 5",
        {"up.S>t1": None, "up.S>t2": BUILDS, "up.S>t3": BUILDS},
    ),
    (
        CANFIELD_AISLERIOT,
        "t1: 6H\nup: S1\nbase: 5",
        {
            "up.S>t1": Refusal.FIRST_CARD_STAYS,
            "up.S>t2": Refusal.FIRST_CARD_STAYS,
            "up.C>t1": Refusal.NOTHING_TO_CARRY,
        },
    ),
    (
        CANFIELD_AISLERIOT,
        "t1: 8H\nup: S3\nbase: 5",
        {
            "up.S>up": Refusal.ONLY_INTO_COLUMNS,
            "up.S>down": Refusal.ONLY_INTO_COLUMNS,
            "up.S>t1:2": Refusal.ONE_AT_A_TIME,
            "up.S>t5": Refusal.NO_SUCH_PILE,
        },
    ),
    (CANFIELD_AISLERIOT, "waste: 2C 3C 4C\npass: 2", {"redeal": None}),
    (CANFIELD_AISLERIOT, "waste: 2C 3C 4C\npass: 3", {"redeal": Refusal.NO_REDEAL_LEFT}),
    (
        CAPRICE,
        "t1: 5S\nt2: 6S\nt3: 4S\nt4: 6C\nt5: 5S",
        {"t2>t1": None, "t3>t1": None, "t4>t1": BUILDS, "t5>t1": BUILDS},
    ),
    (CAPRICE, "t1: KS\nt2: AS", {"t1>t2": BUILDS, "t2>t1": BUILDS}),
    (
        CAPRICE,
        "t1: 9S 8S\nt2: TS\nt3: 7S\nt5: TD",
        {"t1>t2:2": PACKET, "t1>t3": None, "t1>t4": None, "t5>t4": SAME, "t1>t4:2": SAME},
    ),
    (
        CAPRICE,
        "t1: 7S\nup: S6\ndown: S6",
        {
            **dict.fromkeys(("up.S>t1", "up.S>down"), STAYS_UP),
            **dict.fromkeys(("w>t1", "r>t1", "r>up"), Refusal.NOTHING_TO_CARRY),
            "redeal": Refusal.NO_REDEALS,
        },
    ),
    (LADY_PALK, "t1: 8H\nt2: 7H\nt3: 7C", {"t2>t1": None, "t3>t1": None, "t2>t3": BUILDS}),
    (LADY_PALK, "t1: AH\nt2: KS\nt3: 2H\nt4: 5D", {"t2>t1": BUILDS}),
    (
        LADY_PALK,
        "t1: 4C 9H 8H 7H\nt2: TC\nt3: 9S\nt4: 8D",
        {"t1>t2:3": None, "t1>t3:2": None, "t1>t4": None, "t1>t2:4": PACKET},
    ),
    (
        LADY_PALK,
        "t1: 4C KH QS\nt2: 3C KD\nt3: QD\nt4: KS QH\nt5: 2C JS\nwaste: KC",
        {
            **dict.fromkeys(("t1>t8:2", "t2>t8", "w>t8")),
            **dict.fromkeys(("t5>t8", "t1>t8"), Refusal.NOT_INTO_A_SPACE),
            **dict.fromkeys(("t3>t8", "t4>t8:2"), SAME),
        },
    ),
    (LADY_PALK, "t3: 5S\nup: S5,2", {"t3>up": WAITS, "up.S>t3": STAYS_UP}),
    (LADY_PALK, "waste: 3C", {"redeal": Refusal.NO_REDEALS}),
    (LADY_PALK, "stock: 3C", {"redeal": Refusal.NO_REDEALS}),
    (
        LAFAYETTE,
        "t1: KC\nt2: QC\nreserve: KS\nwaste: QS\ndown: S1",
        {"t1>down": None, "t2>down": WAITS, "t1>up": WAITS, "w>down": None},
    ),
    (LAFAYETTE, "t1: AC\nup: C13", {"t1>up": WAITS}),
    (LAFAYETTE, "t1: AH\nt2: KS\nt3: 2S", {"t2>t1": BUILDS, "t1>t3": None}),
    (LAFAYETTE, "t1: 9H 8C\nt2: TC\nt3: 9D\nt4: 2C", {"t1>t2:2": PACKET, "t1>t3": None}),
    (
        LAFAYETTE,
        "t1: 9H 8C\nt2: TC\nt4: 2C\nreserve: 3D 5H\nwaste: 6D\nup: S2",
        {
            **dict.fromkeys(("t1>t3", "r>t3", "w>t3")),
            **dict.fromkeys(("t2>t3", "t1>t3:2"), SAME),
            "up.S>t3": STAYS_UP,
        },
    ),
]
"""Positions, with moves and the reason for which each is refused, or none."""


@pytest.mark.parametrize(("game", "picture", "moves"), REFUSED)
def test_a_move_is_refused_for_its_reason(
    game: Game, picture: str, moves: dict[str, Refusal | None]
) -> None:
    position = draw(game, picture)
    assert {move: refused(game, position, move) for move in moves} == moves


@pytest.mark.parametrize(
    ("game", "picture", "target", "moves"),
    [
        (CANFIELD, "t1: AH\nt2: KS\nt3: KD\nt4: 5S\nreserve: 2H", ">t1", {"t2>t1"}),
        (
            CANFIELD,
            "t1: 7S\nt2: AS\nt3: 8D\nreserve: 7H\nup: D1\nbase: 7",
            "up",
            {"t1>up", "r>up", "t3>up"},
        ),
        (
            CANFIELD_AISLERIOT,
            "t1: 9H 8C 7D\nt2: TC\nt4: 2S\nwaste: 5H\nup: S7\nbase: 5",
            ">t3",
            {"t1>t3", "t1>t3:2", "w>t3", "up.S>t3"},
        ),
        (CAPRICE, "t1: 7D\nup: D6\ndown: D6", "t1>", {"t1>up", "t1>down"}),
        (LAFAYETTE, "t1: 7C\nup: C6\ndown: C6", "n", {"t1>down"}),
        (LADY_PALK, "waste: 3C", "", set[str]()),
        (LADY_PALK, "t1: 3C\nt2: 2C\nstock: 9C", "", {"draw", "t2>t1"}),
        (
            KLONDIKE,
            "t1: AH\nt2: KS\nt3: QS\nt4: QD\nt5: 9C\nt6: TD",
            "",
            {"t1>up", "t4>t2", "t5>t6"},
        ),
    ],
)
def test_these_and_no_other_moves_go_there(
    game: Game, picture: str, target: str, moves: set[str]
) -> None:
    assert {move for move in legal(game, draw(game, picture)) if target in move} == moves


FULL = "\n".join(f"t{number}: 2C" for number in range(1, 13))
ALL_BUT_ONE = "up: C13 S13 H13 D13\ndown: C13 S13 H13 D1"


@pytest.mark.parametrize(
    ("game", "before", "moves", "after"),
    [
        (
            CANFIELD,
            "t1: 8C 7D\nt2: TC\nup: D2\nbase: 5\nreserve: KH",
            "t1>up",
            "t1: 8C\nt2: TC\nup: D3\nbase: 5\nreserve: KH",
        ),
        (
            CANFIELD,
            "t1: 9H\nt2: TC\nt3: TS\nt4: 2C\nreserve: 4D KH",
            "t1>t2",
            "t1: KH\nt2: TC 9H\nt3: TS\nt4: 2C\nreserve: 4D",
        ),
        (
            CANFIELD,
            "t1: 9H\nt2: TC\nreserve: 4D\nup: H4\nbase: 5",
            "t1>up",
            "t1: 4D\nt2: TC\nup: H5\nbase: 5",
        ),
        (CANFIELD, "t1: 9H\nt2: TC\nwaste: 4D", "t1>t2", "t2: TC 9H\nwaste: 4D"),
        (CANFIELD, "stock: 2C 3C 4C 5C\nwaste: KH", "draw", "stock: 5C\nwaste: KH 2C 3C 4C"),
        (CANFIELD, "stock: 2C 3C\nwaste: KH", "draw", "waste: KH 2C 3C"),
        (CANFIELD, "stock: 2C\nwaste: KH", "draw", "waste: KH 2C"),
        (CANFIELD, "waste: 2C 3C 4C 5C\npass: 70", "redeal", "stock: 2C 3C 4C 5C\npass: 71"),
        (
            CANFIELD_AISLERIOT,
            "t1: 9H 8C 7D\nt2: TC\nt4: 9D\nreserve: 2H\nbase: 5",
            "t1>t4:2",
            "t1: 9H\nt2: TC\nt4: 9D 8C 7D\nreserve: 2H\nbase: 5",
        ),
        (
            CANFIELD_AISLERIOT,
            "t1: 8H\nreserve: 3H\nup: S3\nbase: 5",
            "up.S>t1",
            "t1: 8H 7S\nreserve: 3H\nup: S2\nbase: 5",
        ),
        (
            CANFIELD_AISLERIOT,
            "t1: AH\nreserve: 3H\nup: S3\nbase: J",
            "up.S>t1",
            "t1: AH KS\nreserve: 3H\nup: S2\nbase: J",
        ),
        (
            CANFIELD_AISLERIOT,
            "t1: 9H 8C\nt2: TC\nreserve: 3H KD",
            "t1>t2:2",
            "t1: KD\nt2: TC 9H 8C\nreserve: 3H",
        ),
        (
            CANFIELD_AISLERIOT,
            "t1: 2C 3D | 9H 8C\nt2: TC\nt3: 4S | AH\nreserve: 5H",
            "t1>t2:2",
            "t1: 2C | 3D\nt2: TC 9H 8C\nt3: 4S | AH\nreserve: 5H",
        ),
        (CANFIELD, "t1: 2C | 9H\nt2: TC", "t1>t2", "t1: 2C\nt2: TC 9H"),
        (
            CAPRICE,
            "t1: 9H\nt2: TH\nt3: JH\nstock: 2C",
            "t1>t2",
            "t1: 2C\nt2: TH 9H\nt3: JH",
        ),
        (CAPRICE, "t1: 5S\nt2: 6S\nt3: 5S", "t2>t1 t3>t1", "t1: 5S 6S 5S"),
        (CAPRICE, "t1: 7D\nup: D6\ndown: D6", "t1>down", "up: D6\ndown: D7"),
        (
            CAPRICE,
            f"{FULL}\nstock: 9H 9D".replace("t3: 2C", "t3: 3C"),
            "t3>t1",
            f"{FULL}\nstock: 9D".replace("t3: 2C", "t3: 9H").replace("t1: 2C", "t1: 2C 3C"),
        ),
        (
            CAPRICE,
            f"{FULL}\nstock: 9H\nup: C1",
            "t12>up",
            f"{FULL}\nup: C2".replace("t12: 2C", "t12: 9H"),
        ),
        (
            LADY_PALK,
            "t1: 9H\nt2: TC\nstock: KD\nwaste: KC",
            "t1>t2",
            "t2: TC 9H\nstock: KD\nwaste: KC",
        ),
        (LADY_PALK, "t1: 5S\nt2: 5S\nt3: 6S\nup: S4,4", "t1>up t3>up t2>up", "up: S6,5"),
        (LADY_PALK, "t1: 3S\nt2: 6S\nup: S5,2", "t1>up", "t2: 6S\nup: S5,3"),
        (LADY_PALK, "t1: 3S\nt2: 6S\nup: S5,2", "t2>up", "t1: 3S\nup: S6,2"),
        (LAFAYETTE, "t1: 7C\nup: C6\ndown: C6", "t1>up", "up: C7\ndown: C6"),
        (LAFAYETTE, "t1: 7C\nup: C6\ndown: C6", "t1>down", "up: C6\ndown: C7"),
        (LAFAYETTE, "t1: 9H\nt2: TC\nreserve: 3D 5H", "t1>t2", "t2: TC 9H\nreserve: 3D 5H"),
        (
            LAFAYETTE,
            "stock: 2C\nwaste: 3C\npass: 9",
            "draw redeal draw",
            "stock: 2C\nwaste: 3C\npass: 10",
        ),
    ],
)
def test_a_move_does_this(game: Game, before: str, moves: str, after: str) -> None:
    assert played(game, draw(game, before), *moves.split()) == draw(game, after)


@pytest.mark.parametrize(
    ("game", "picture", "move"),
    [
        (CANFIELD, "t1: 6H\nup: C13 S13 H12 D13\nbase: 7", "t1>up"),
        (CAPRICE, f"t1: AD\n{ALL_BUT_ONE}2", "t1>down"),
        (KLONDIKE, "t3: KD\nup: C13 S13 H13 D12", "t3>up"),
        (LADY_PALK, "waste: KD\nup: C13,13 S13,13 H13,13 D13,12", "w>up"),
        (LAFAYETTE, "t1: 7D\nup: C13 S1 H6 D6\ndown: S12 H7 D6", "t1>down"),
        (LAFAYETTE, "t1: 7D\nup: C13 S1 H6 D6\ndown: S12 H7 D6", "t1>up"),
    ],
)
def test_a_game_is_won_with_all_cards_on_the_foundations(
    game: Game, picture: str, move: str
) -> None:
    position = draw(game, picture)
    assert not is_won(game, position)
    after = played(game, position, move)
    assert is_won(game, after)
    assert {move for move in legal(game, after) if not move.startswith("up.")} == set()


# Klondike: face-down cards, spaces and take-backs

DRAWN = """
stock=- waste=- up=0,0,0,0 columns=9H|8S/TS/9D/2S/4C/6C/QC passes=1 -> t1>t3 t3>t2; not stuck
stock=- waste=- up=0,0,0,0 columns=4D|KS/KH/-/2C/4C/6C/8C passes=3 -> t1>t3; not stuck
stock=- waste=KD up=0,0,0,0 columns=5D|QSJH/-/9C/2C/4C/6C/8C passes=3 -> w>t2; not stuck
stock=- waste=- up=0,0,0,0 columns=9D|8S7H6C/8C/7D/2S/4S/TS/QS passes=3 -> t1>t2:2 t1>t3 t3>t2; stuck
stock=- waste=- up=0,0,0,0 columns=AS|AH/2H/4C/6C/8C/TC/QC passes=3 -> t1>up; not stuck
stock=- waste=- up=2,1,3,0 columns=4S/2D/6C/8C/TC/QC/KC passes=3 -> up.H>t1; stuck
stock=- waste=- up=13,12,0,0 columns=-/KH/2D/4D/6D/8D/TD passes=3 -> up.C>t1 up.S>t2; stuck
stock=5H9C waste=3S up=0,0,0,0 columns=2S/4C/6C/8C/TC/QC/KC passes=2 -> draw; stuck
stock=- waste=3S5H9C up=0,0,0,0 columns=2S/4C/7C/8C/TC/QC/KC passes=2 -> redeal; stuck
stock=- waste=3S5H9C up=0,0,0,0 columns=2S/4C/7C/8C/TC/QC/KC passes=3 -> none; stuck
stock=4H waste=9C up=0,0,0,0 columns=2S/4C/7C/8C/TC/QC/KC passes=1 -> draw; stuck
stock=6CAS9C3C5C waste=2H up=0,0,0,0 columns=2S/4S/6S/8S/TS/QS/KS passes=2 -> draw; not stuck
stock=6CAS9C3C5C waste=2H up=0,0,0,0 columns=2S/4S/6S/8S/TS/QS/KS passes=3 -> draw; stuck
stock=- waste=AD5C up=0,0,0,0 columns=6H/2S/4S/8S/TS/QS/KS passes=3 -> w>t1; not stuck
stock=- waste=- up=0,3,7,0 columns=2C|6S/8C/TC/QC/KC/TS/QS passes=3 -> up.H>t2; not stuck
stock=- waste=KH up=0,0,0,0 columns=QD/KC/2S/4S/6S/8S/TS passes=3 -> t1>t2; not stuck
"""
"""Positions, each with every legal move and the verdict; they are numbered from 1 in the tests."""

CASES = DRAWN.strip().splitlines()
POSITIONS = {
    number: parse_position(
        line.split(" -> ")[0].replace(" up=", " reserve=- up=").replace(" columns", " down=- columns")
        .replace(" passes", " base=1 passes")
    )
    for number, line in enumerate(CASES, 1)
}  # fmt: skip


@pytest.mark.parametrize("number", POSITIONS)
def test_the_legal_moves_of_a_drawn_position_are_all_and_only_these(number: int) -> None:
    moves = CASES[number - 1].split(" -> ")[1].split(";")[0]
    expected = set() if moves == "none" else set(moves.split())
    assert legal(KLONDIKE, POSITIONS[number]) == expected
    assert legal(KLONDIKE, redact(POSITIONS[number])) == expected


@pytest.mark.parametrize("number", POSITIONS)
def test_a_drawn_position_is_stuck_or_not(number: int) -> None:
    expected = not CASES[number - 1].endswith("not stuck")
    assert is_stuck(KLONDIKE, POSITIONS[number]) is expected
    assert is_stuck(KLONDIKE, with_masked_columns(POSITIONS[number])) is expected


def test_a_king_leaves_face_down_cards_for_a_space_but_does_not_move_from_a_bottom() -> None:
    assert refused(KLONDIKE, POSITIONS[2], "t2>t3") is Refusal.CHANGES_NOTHING
    assert played(KLONDIKE, POSITIONS[2], "t1>t3").columns[:3] == (("4D",), ("KH",), ("KS",))


def test_a_run_moves_onto_a_king_and_no_queen_into_a_space() -> None:
    assert refused(KLONDIKE, POSITIONS[3], "t1>t2:2") is Refusal.NOT_INTO_A_SPACE
    after = played(KLONDIKE, POSITIONS[3], "w>t2", "t1>t2:2")
    assert after.columns[:2] == (("5D",), ("KD", "QS", "JH"))
    assert after.face_down == ()


def test_an_ace_that_turns_up_waits_to_be_played() -> None:
    after = played(KLONDIKE, POSITIONS[5], "t1>up")
    assert after.columns[0] == ("AS",)
    assert legal(KLONDIKE, after) == {"t1>t2", "t1>up", "t2>up"}


def test_a_king_comes_back_into_a_space_and_a_queen_does_not() -> None:
    assert refused(KLONDIKE, POSITIONS[7], "up.S>t1") is Refusal.NOT_INTO_A_SPACE
    assert played(KLONDIKE, POSITIONS[7], "up.C>t1").columns[0] == ("KC",)


def test_a_card_that_comes_back_costs_five_dollars_and_may_turn_a_card_up() -> None:
    position = POSITIONS[15]
    back = played(KLONDIKE, position, "up.H>t2")
    assert [net(KLONDIKE, each.banked) for each in (position, back)] == [-2, -7]
    turned = played(KLONDIKE, back, "t1>t2")
    assert (turned.columns[0], turned.columns[1]) == (("2C",), ("8C", "7H", "6S"))
