from kit.positions import draw
from saratoga_rules.cards import Card
from saratoga_rules.game import Game
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.games.canfield_aisleriot import CANFIELD_AISLERIOT
from saratoga_rules.games.caprice import CAPRICE
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.games.lafayette import LAFAYETTE
from saratoga_rules.position import Position
from saratoga_rules.stuck.prospects import is_in_sight, prospects, waiting_cards


def waiting(game: Game, position: Position) -> set[Card]:
    return {card for _, cards in waiting_cards(game, position) for card in cards}


def test_the_tops_of_waste_and_reserve_are_waiting_cards() -> None:
    position = draw(LADY_PALK, "waste: 2C 3C\nreserve: 4C 5C")
    assert waiting(LADY_PALK, position) == {"3C", "5C"}


def test_every_third_card_of_this_pass_and_of_the_next_is_waiting() -> None:
    position = draw(CANFIELD, "waste: 2C 3C\nstock: 4C 5C 6C 7C")
    assert waiting(CANFIELD, position) == {"3C", "6C", "7C", "4C"}


def test_on_the_last_pass_only_its_own_cards_are_waiting() -> None:
    position = draw(CANFIELD_AISLERIOT, "waste: 2C 3C\nstock: 4C 5C 6C 7C\npass: 3")
    assert waiting(CANFIELD_AISLERIOT, position) == {"3C", "6C", "7C"}


def test_an_exact_packet_ends_with_its_third_card() -> None:
    position = draw(CANFIELD_AISLERIOT, "stock: 4C 5C 6C\npass: 3")
    assert waiting(CANFIELD_AISLERIOT, position) == {"6C"}


def test_with_draw_one_and_redeals_all_cards_are_waiting() -> None:
    position = draw(LAFAYETTE, "waste: 2C 3C\nstock: 4C 5C")
    assert waiting(LAFAYETTE, position) == {"2C", "3C", "4C", "5C"}


def test_no_card_of_a_stock_that_is_dealt_over_the_columns_waits() -> None:
    assert waiting(CAPRICE, draw(CAPRICE, "stock: 4C 5C")) == set()


def test_hopes_are_takers_of_waiting_cards_and_what_foundations_want() -> None:
    position = draw(LAFAYETTE, "waste: 4C\nup: C13 H13\ndown: S12\nt1: 9H")
    assert prospects(LAFAYETTE, position).hopes == {"5H", "5D", "KC", "AS", "KH", "AD", "KD"}


def test_cards_for_foundations_that_give_back_are_left_to_the_search() -> None:
    position = draw(CANFIELD_AISLERIOT, "waste: 4C\nup: C2 H1")
    assert prospects(CANFIELD_AISLERIOT, position).hopes == {"5H", "5D"}


def test_a_space_helps_if_it_is_filled_or_takes_a_waiting_card() -> None:
    assert prospects(CANFIELD, draw(CANFIELD, "reserve: 2C")).space_helps
    assert prospects(CANFIELD, draw(CANFIELD, "waste: 2C")).space_helps
    assert not prospects(CANFIELD, draw(CANFIELD, "t1: 2C")).space_helps
    assert prospects(LADY_PALK, draw(LADY_PALK, "waste: KC")).space_helps
    assert not prospects(LADY_PALK, draw(LADY_PALK, "waste: QC")).space_helps
    assert prospects(CAPRICE, draw(CAPRICE, "stock: 2C")).space_helps


def test_a_move_that_turns_a_card_up_is_progress_in_sight() -> None:
    picture = "t1: 2C {} 9H\nt2: TS {}\nt3: QC\nt4: QC"
    assert is_in_sight(LAFAYETTE, draw(LAFAYETTE, picture.format("|", "")))
    assert not is_in_sight(LAFAYETTE, draw(LAFAYETTE, picture.format("", "")))
    assert not is_in_sight(LAFAYETTE, draw(LAFAYETTE, picture.format("|", "9D")))


def test_progress_in_sight_may_be_a_redeal_and_many_draws_away() -> None:
    picture = "t1: 9H\nt2: 9D\nt3: 9H\nt4: {}\nwaste: 4C 5C\nstock: 6C 7C"
    assert is_in_sight(LAFAYETTE, draw(LAFAYETTE, picture.format("5H")))
    assert not is_in_sight(LAFAYETTE, draw(LAFAYETTE, picture.format("4H")))
