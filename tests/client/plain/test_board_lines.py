"""Lines about boards, moves and cards."""

import pytest
from hypothesis import given

from kit.positions import draw
from kit.solo_player import finished
from kit.walks import Step, steps
from saratoga_client.plain.board_answers import BoardAnswers, rules_lines
from saratoga_client.plain.card_names import LETTERS, CardNames
from saratoga_client.plain.card_search import where_lines
from saratoga_client.plain.move_lines import moved_line
from saratoga_client.plain.position import position_lines
from saratoga_client.plain.review import replay_lines, review_lines
from saratoga_client.review.boards import open_boards
from saratoga_rules.cards import PACK, Card, parse_cards
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.games.canfield_aisleriot import CANFIELD_AISLERIOT
from saratoga_rules.games.caprice import CAPRICE
from saratoga_rules.games.klondike import KLONDIKE
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.games.lafayette import LAFAYETTE
from saratoga_rules.moves import parse_move
from saratoga_rules.play import play
from saratoga_rules.position import View, redact
from saratoga_rules.records.record import RaceRecord


def view_of(game: Game, picture: str) -> View:
    return redact(draw(game, picture))


def test_every_pile_has_its_line() -> None:
    view = view_of(
        CANFIELD_AISLERIOT,
        """
        t1: 5D 4C
        t3: TS
        waste: 2C 3S QH 7C
        reserve: 2D 3D QD
        stock: AC 2H
        up: C4 S5
        base: 6
        pass: 3
        """,
    )
    assert list(position_lines(CANFIELD_AISLERIOT, view)) == [
        "stock: 2, pass 3 of 3",
        "waste: 4, 3S QH 7C",
        "reserve: 3, QD",
        "up: C 4 to 9, S 5 to T, H empty, D empty, base 6",
        "column 1: 5D 4C",
        "column 2: empty",
        "column 3: TS",
        "column 4: empty",
    ]


def test_empty_piles_are_marked_empty() -> None:
    lines = list(position_lines(CANFIELD, view_of(CANFIELD, "up: S1")))
    assert lines[:3] == ["stock: empty, pass 1", "waste: empty", "reserve: empty"]


def test_a_game_without_waste_or_reserve_has_no_lines_for_them() -> None:
    heads = [line.partition(":")[0] for line in position_lines(CAPRICE, view_of(CAPRICE, ""))]
    assert heads == ["stock", "up", "down", *(f"column {n}" for n in range(1, 13))]


def test_both_foundations_of_a_suit_are_listed() -> None:
    lines = list(position_lines(LADY_PALK, view_of(LADY_PALK, "up: S5,2 D1")))
    assert lines[2] == (
        "up: C empty, C empty, S 5 to 5, S 2 to 2, H empty, H empty, D 1 to A, D empty"
    )


def test_a_foundation_built_down_shows_its_top_card() -> None:
    lines = list(position_lines(CAPRICE, view_of(CAPRICE, "down: C3 H13")))
    assert lines[2] == "down: C 3 to J, S empty, H 13 to A, D empty"


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_no_line_names_a_card_that_the_view_hides(game: Game) -> None:
    @given(steps(game.name))
    def holds(step: Step) -> None:
        view = redact(step.position)
        open_cards = {card for pile in (view.waste, view.reserve, *view.columns) for card in pile}
        said = {
            word
            for line in position_lines(game, view)
            if not line.startswith(("up", "down"))
            for word in line.replace(",", "").split()
            if word in PACK
        }
        assert said <= open_cards

    holds()


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


def line(game: Game, picture: str, move: str) -> str:
    before = draw(game, picture)
    after = play(game, before, parse_move(move))
    return moved_line(game, redact(before), redact(after), parse_move(move), 12)


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


WORDS = CardNames(in_words=True)


def test_a_card_is_named_in_two_letters_or_in_words() -> None:
    assert LETTERS.card(Card("TH")) == "TH"
    assert WORDS.card(Card("TH")) == "10 of hearts"
    assert WORDS.card(Card("QS")) == "queen of spades"


def test_cards_are_named_from_the_bottom_of_their_pile() -> None:
    assert LETTERS.cards(parse_cards("KS QH JS")) == "KS QH JS"
    assert WORDS.cards(parse_cards("KS QH")) == "king of spades, queen of hearts"


def test_ranks_and_suits_are_named_in_the_same_form() -> None:
    assert [LETTERS.rank(10), WORDS.rank(10), WORDS.rank(1)] == ["T", "10", "ace"]
    assert [LETTERS.suit("D"), WORDS.suit("D")] == ["D", "diamonds"]


BOARD_OF_CARD_SEARCH = """
    t1: 9S 8D 7C
    waste: 9H 2C
    reserve: 3D 4H 5D
    up: S3
    base: J
"""


def context(game: Game, picture: str, cards: str) -> list[str]:
    return list(where_lines(game, redact(draw(game, picture)), parse_cards(cards)))


def test_a_card_in_a_column_is_found_with_the_card_above_it() -> None:
    assert context(CANFIELD, BOARD_OF_CARD_SEARCH, "9S") == [
        "where 9S: column 1, under 2 cards, directly under 8D"
    ]
    assert context(CANFIELD, BOARD_OF_CARD_SEARCH, "7C") == ["where 7C: column 1, on top"]


def test_cards_of_the_waste_are_found_and_hidden_cards_of_the_reserve_are_not() -> None:
    assert context(CANFIELD, BOARD_OF_CARD_SEARCH, "9H") == [
        "where 9H: the waste, under 1 card, directly under 2C"
    ]
    assert context(CANFIELD, BOARD_OF_CARD_SEARCH, "5D") == ["where 5D: the reserve, on top"]
    assert context(CANFIELD, BOARD_OF_CARD_SEARCH + "stock: 2H", "4H") == [
        "where 4H: face down, in the stock or deep in the reserve"
    ]
    assert context(CANFIELD, BOARD_OF_CARD_SEARCH, "4H") == [
        "where 4H: face down, deep in the reserve"
    ]


def test_banked_cards_are_found() -> None:
    assert context(CANFIELD, BOARD_OF_CARD_SEARCH, "QS") == ["where QS: banked"]
    assert context(CANFIELD, BOARD_OF_CARD_SEARCH, "KS") == ["where KS: banked, on top"]
    assert context(CAPRICE, "down: H2\nstock: QH", "QH") == [
        "where QH: banked down, on top",
        "where QH: another face down, in the stock",
    ]


def test_both_copies_of_a_card_are_found_in_a_game_of_two_packs() -> None:
    assert context(LADY_PALK, "t1: 5C\nup: C6,5", "5C") == [
        "where 5C: column 1, on top",
        "where 5C: banked",
        "where 5C: banked, on top",
    ]
    assert context(LADY_PALK, "stock: 5C", "5C") == ["where 5C: face down, in the stock"]


def test_a_card_that_is_not_seen_may_lie_under_a_column() -> None:
    assert context(KLONDIKE, "t1: 2C | 9D\nstock: 3C", "9D 2C") == [
        "where 9D: column 1, on top",
        "where 2C: face down, in the stock or under a column",
    ]
    assert context(KLONDIKE, "t1: 2C | 9D", "2C") == ["where 2C: face down, under a column"]


def test_all_hidden_cards_share_one_line() -> None:
    assert context(CANFIELD, "t1: KS\nstock: KC KH KD", "KC KS KH KD") == [
        "where KS: column 1, on top",
        "where KC KH KD: face down, in the stock",
    ]


LAFAYETTE_OF_BOARD_ANSWERS = GAMES["lafayette"]
PICTURE = "t1: 9C\nt2: 8H\nwaste: AS"


def asked(picture: str = PICTURE, card_names: CardNames = LETTERS, **changes: bool) -> BoardAnswers:
    return BoardAnswers(
        LAFAYETTE_OF_BOARD_ANSWERS,
        redact(draw(LAFAYETTE_OF_BOARD_ANSWERS, picture)),
        4,
        card_names,
        **changes,
    )


def test_look_at_an_ended_board_gives_no_number_of_moves() -> None:
    view = redact(draw(LAFAYETTE_OF_BOARD_ANSWERS, PICTURE))
    assert next(BoardAnswers(LAFAYETTE_OF_BOARD_ANSWERS, view, None, LETTERS).look()).startswith(
        "board: lafayette, 0 "
    )


def test_where_accepts_cards_in_words() -> None:
    assert list(asked(card_names=CardNames(in_words=True)).where("eight of hearts")) == [
        "where 8 of hearts: column 2, on top"
    ]


def test_rules_are_of_the_current_game_or_of_the_named_one() -> None:
    assert next(rules_lines("", LAFAYETTE_OF_BOARD_ANSWERS)) == "rules game: Lafayette"
    assert next(rules_lines("Caprice", LAFAYETTE_OF_BOARD_ANSWERS)) == "rules game: Caprice"
    assert [*rules_lines("Caprice", LAFAYETTE_OF_BOARD_ANSWERS)][1] == (
        "rules in short: Columns build up or down in suit. A space is filled from the stock."
    )
    assert next(rules_lines("whist", LAFAYETTE_OF_BOARD_ANSWERS)).startswith(
        "no: Which game? There are klondike, "
    )


every_game = pytest.mark.parametrize("name", GAMES)


@pytest.fixture(scope="module")
def record() -> RaceRecord:
    return finished()


@every_game
def test_every_move_of_every_board_is_a_line_with_its_time(name: str) -> None:
    record = finished(name)
    lines = list(replay_lines(record))
    assert lines[0] == f"race {record.race_id}: {name}, 3 racers"
    moves = [line for line in lines if line.startswith("move ")]
    assert len(moves) == sum(racer.moves for racer in record.racers)
    assert all("; at " in line for line in moves)
    results = [line for line in lines if line.startswith("result ")]
    assert [line[:10] for line in results] == ["result 1. ", "result 2. ", "result 3. "]


def test_no_line_contains_control_characters(record: RaceRecord) -> None:
    assert all(line.isprintable() for line in replay_lines(record))


def test_a_review_shows_the_first_difference_and_the_longest_pauses(record: RaceRecord) -> None:
    winner, second, _ = open_boards(record)
    lines = list(review_lines(record, second.player))
    assert lines[0].startswith("result 2. Zoë [bot]")
    assert lines[1].startswith("parted: after")
    assert sum(line.startswith("pause: ") for line in lines) == 3
    assert "review: no one did better" in list(review_lines(record, winner.player))


def test_a_player_who_was_not_in_the_race_gets_no_review(record: RaceRecord) -> None:
    assert list(review_lines(record, "nobody")) == [
        "no: You were not in this race. Type results for how it ended."
    ]
