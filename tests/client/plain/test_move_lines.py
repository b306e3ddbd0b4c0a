from kit.positions import draw
from saratoga_client.plain.card_names import LETTERS, CardNames
from saratoga_client.plain.move_lines import move_words, moved_line
from saratoga_rules.game import Game
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.games.canfield_aisleriot import CANFIELD_AISLERIOT
from saratoga_rules.games.caprice import CAPRICE
from saratoga_rules.games.klondike import KLONDIKE
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.games.lafayette import LAFAYETTE
from saratoga_rules.judge import play
from saratoga_rules.moves import parse_move
from saratoga_rules.views import redact

BOARD = """
    t1: 8D
    t2: 9S
    t3: TH
    t4: KC QD
    waste: 9H 2C 7C
    reserve: 3D 4H 5D
    stock: AS 2S 3S 4S
    up: D1
    base: 4
"""


def words(game: Game, picture: str, move: str, card_names: CardNames = LETTERS) -> str:
    return move_words(game, redact(draw(game, picture)), parse_move(move), card_names)


def line(game: Game, picture: str, move: str) -> str:
    before = draw(game, picture)
    after = play(game, before, parse_move(move))
    return moved_line(game, redact(before), redact(after), parse_move(move), 12)


def test_a_packet_names_all_its_cards_and_the_space() -> None:
    board = "t1: KS QH JS\nt2: 5C"
    assert words(LADY_PALK, board, "t1>t3:3") == ("KS QH JS from column 1 into the space column 3")


def test_a_card_taken_back_is_named() -> None:
    board = "t1: 6H\nup: S5\nbase: A"
    assert words(CANFIELD_AISLERIOT, board, "up.S>t1") == (
        "5S back from its foundation onto 6H in column 1"
    )


def test_a_space_filled_automatically_is_named() -> None:
    assert line(CANFIELD, BOARD, "t2>t3") == (
        "move 12 t2>t3: 9S from column 2 onto TH in column 3; "
        "5D fills column 2 from the reserve; reserve 2 4H"
    )


def test_a_redeal_shows_the_pass_if_passes_are_limited() -> None:
    board = "waste: AS 2S 3S"
    assert line(CANFIELD_AISLERIOT, board, "redeal") == (
        "move 12 redeal: the waste is the stock again; stock 3; pass 2 of 3"
    )
    assert line(CANFIELD, board, "redeal") == (
        "move 12 redeal: the waste is the stock again; stock 3"
    )


def test_a_deal_over_the_columns_names_every_card() -> None:
    board = "t1: 5C\nt2: 9D\nstock: AS 2S 3S"
    assert line(CAPRICE, board, "draw") == (
        "move 12 draw: dealt AS 2S 3S on columns 1 to 3; stock empty"
    )


def test_a_column_that_lost_a_card_shows_its_new_top_card() -> None:
    board = "t1: 9C 5H\nt2: 6S"
    assert line(LAFAYETTE, board, "t1>t2") == (
        "move 12 t1>t2: 5H from column 1 onto 6S in column 2; column 1 shows 9C"
    )
    board = "t1: 5H\nt2: 6S"
    assert line(LAFAYETTE, board, "t1>t2") == (
        "move 12 t1>t2: 5H from column 1 onto 6S in column 2; column 1 is a space"
    )


def test_a_card_taken_back_lowers_the_money() -> None:
    board = "t1: 6H\nup: S5\nbase: A"
    assert line(CANFIELD_AISLERIOT, board, "up.S>t1") == (
        "move 12 up.S>t1: 5S back from its foundation onto 6H in column 1; 4 banked, -$30"
    )


def test_a_card_that_turns_up_is_named() -> None:
    board = "t1: 2C 3D | 9H 8S\nt2: TC\nt3: 9D"
    assert line(KLONDIKE, board, "t1>t2:2") == (
        "move 12 t1>t2:2: 9H 8S from column 1 onto TC in column 2; 3D turns up in column 1"
    )
    assert line(KLONDIKE, board, "t1>t3").endswith("; column 1 shows 9H")
