"""How bots choose: each strength, what they remember, and the pauses before their moves."""

from statistics import mean

import pytest

from kit.positions import bot_game, draw
from saratoga_client.bots.choose import (
    CHOOSERS,
    FRUITLESS_PASSES,
    MOST_IDLE_MOVES,
    Choice,
    Memory,
    choose_evenly,
    choose_strongly,
    choose_weakly,
    is_banking,
    recall,
    remember,
    turn_of_stock,
    useful_carries,
)
from saratoga_client.bots.player import VARIATION, Pace, human_pace, steady_pace
from saratoga_client.bots.search import look_ahead
from saratoga_rules.analysis import legal_moves
from saratoga_rules.cards import HIDDEN
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW, REDEAL, Move, parse_move
from saratoga_rules.play import is_won, play
from saratoga_rules.position import Position, View, parse_position, redact

EVERY_GAME = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES.keys())
EVERY_STRENGTH = pytest.mark.parametrize("strength", CHOOSERS)


def deal(game: Game, number: int) -> Position:
    return deal_for_key(game, practice_key(f"test {number}"))


@EVERY_GAME
@EVERY_STRENGTH
def test_a_bot_plays_the_same_deal_the_same_way_by_legal_moves(game: Game, strength: str) -> None:
    played = list(bot_game(game, deal(game, 1), CHOOSERS[strength], variation=5))
    assert list(bot_game(game, deal(game, 1), CHOOSERS[strength], variation=5)) == played
    assert all(c.move in legal_moves(game, position) for position, _, c in played[:-1])


@EVERY_STRENGTH
@pytest.mark.parametrize("name", ["canfield", "lafayette", "caprice"])
def test_bots_with_different_variations_play_differently(name: str, strength: str) -> None:
    start = deal(GAMES[name], 3)
    choose = CHOOSERS[strength]
    ways = {tuple(each[0] for each in bot_game(GAMES[name], start, choose, n)) for n in range(5)}
    assert len(ways) > 1


@EVERY_GAME
@EVERY_STRENGTH
def test_hidden_cards_never_change_a_choice(game: Game, strength: str) -> None:
    choose = CHOOSERS[strength]
    position = deal(game, 2)
    for _ in range(30):
        swapped = position._replace(
            stock=position.stock[::-1], reserve=(*position.reserve[-2::-1], *position.reserve[-1:])
        )
        choice = choose(game, redact(position), Memory())
        assert choose(game, redact(swapped), Memory()) == choice
        if choice.move is None:
            break
        position = play(game, position, choice.move)


AISLERIOT, CANFIELD, LADY_PALK = GAMES["canfield-aisleriot"], GAMES["canfield"], GAMES["lady-palk"]


def useful(game: Game, picture: str) -> set[str]:
    return {str(move) for move in useful_carries(game, redact(draw(game, picture)))}


def waste_of_four() -> View:
    return redact(draw(CANFIELD, "t1: 9C\nwaste: 2S 3S 4S 5S\nbase: A"))


def test_banking_and_playing_the_waste_are_useful() -> None:
    assert useful(CANFIELD, "t1: 9C\nt2: 5S\nt3: KD\nt4: 7D\nwaste: 3H AS\nbase: A") == {"w>up"}
    assert useful(CANFIELD, "t1: 9C\nt2: 4S\nt3: KD\nt4: 6D\nwaste: 3H\nbase: A") == {"w>t2"}


def test_a_player_draws_as_long_as_the_stock_has_cards() -> None:
    view = waste_of_four()._replace(stock=waste_of_four().waste)
    assert turn_of_stock(CANFIELD, view, Memory(idle=1000)) == DRAW


def test_a_player_makes_no_redeal_after_two_passes_without_progress() -> None:
    # A pass through four cards takes two draws and a redeal.
    last = FRUITLESS_PASSES * 3 - 2
    assert turn_of_stock(CANFIELD, waste_of_four(), Memory(idle=last)) == REDEAL
    assert turn_of_stock(CANFIELD, waste_of_four(), Memory(idle=last + 1)) is None


@pytest.mark.parametrize("strength", ["weak", "even"])
@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES.keys())
def test_a_casual_player_stops_only_when_nothing_is_left_to_draw_or_to_bank(
    game: Game, strength: str
) -> None:
    for number in range(8):
        start = deal_for_key(game, practice_key(f"casual {number}"))
        played = list(bot_game(game, start, CHOOSERS[strength], variation=number))
        moves, end = [choice.move for _, _, choice in played], played[-1][0]
        assert is_won(game, end) or not end.stock
        assert not any(is_banking(move) for move in useful_carries(game, redact(end)))
        redeals = [at for at, move in enumerate(moves) if move == REDEAL]
        if redeals and not is_won(game, end) and len(redeals) < game.stock.passes - 1:
            assert not any(is_banking(move) for move in moves[redeals[-1] : -1] if move)


BANK = parse_move("w>up")


def test_the_weak_bot_overlooks_some_cards_until_the_next_pass() -> None:
    # columns without a space and without a move between them
    columns = "t1: 4C 9C\nt2: 9S\nt3: 7C\nt4: 7S"
    view = redact(draw(CANFIELD, f"{columns}\nwaste: AS\nstock: 2C 5D 9H\nbase: A"))

    def choices(view: View) -> list[Move | None]:
        return [choose_weakly(CANFIELD, view, Memory(variation=each)).move for each in range(200)]

    made = choices(view)
    assert set(made) == {BANK, DRAW}
    assert made.count(BANK) > made.count(DRAW)
    later = view._replace(stock=view.stock[1:], columns=(view.columns[0][1:], *view.columns[1:]))
    assert choices(later) == made != choices(view._replace(passes=2))


def test_the_weak_bot_never_takes_a_card_back_from_a_foundation() -> None:
    view = redact(draw(AISLERIOT, "t1: 6H\nup: S5\nbase: A"))
    assert {str(move)[:5] for move in legal_moves(AISLERIOT, view)} == {"up.S>"}
    assert choose_weakly(AISLERIOT, view, Memory()).move is None


LAFAYETTE = GAMES["lafayette"]
ACE = redact(draw(LAFAYETTE, "t1: 9C\nwaste: AS\nstock: 2C 5D 9H"))


def test_the_even_bot_overlooks_a_card_now_and_then_but_not_without_a_card_to_draw() -> None:
    made = [choose_evenly(LAFAYETTE, ACE, Memory(variation=each)).move for each in range(300)]
    assert set(made) == {BANK, DRAW}
    assert made.count(DRAW) < made.count(BANK) / 5
    last = ACE._replace(stock=())
    memories = (Memory(variation=each, idle=40) for each in range(300))
    assert {choose_evenly(LAFAYETTE, last, memory).move for memory in memories} == {BANK}


def test_the_even_bot_does_not_use_the_remembered_stock() -> None:
    view = redact(draw(LAFAYETTE, "t1: 5H\nt2: 7H\nstock: 2C 9H AD"))
    stock = draw(LAFAYETTE, "stock: 2C 9H AD").stock
    for number in range(50):
        remembering = choose_evenly(LAFAYETTE, view, Memory(variation=number, stock=stock))
        assert remembering.move == choose_evenly(LAFAYETTE, view, Memory(variation=number)).move


def test_the_strong_bot_cashes_out_after_too_many_moves_without_progress() -> None:
    assert choose_strongly(LAFAYETTE, ACE, Memory(idle=MOST_IDLE_MOVES - 1)).move == BANK
    assert choose_strongly(LAFAYETTE, ACE, Memory(idle=MOST_IDLE_MOVES)).move is None


def banked(position: Position) -> float:
    return position.banked


def plan(text: str, limit: int = 200) -> list[str]:
    return [str(move) for move in look_ahead(LAFAYETTE, parse_position(text), banked, limit)]


def test_known_cards_of_the_stock_are_drawn_up_to_a_useful_one() -> None:
    text = "stock=9C5DAS waste=8H reserve=##KD up=0,0,0,0 down=0,0,0,0 columns=3H/3D/5H/4H base=1 passes=2"
    assert plan(text) == ["draw", "draw", "draw", "w>up", "r>down"]


START = deal_for_key(CANFIELD, practice_key("memory"))


def after(*moves: Move) -> tuple[Position, Memory]:
    position, memory = START, Memory()
    for move in moves:
        following = play(CANFIELD, position, move)
        memory = remember(CANFIELD, memory, redact(position), move, redact(following))
        position = following
    return position, memory


def test_the_stock_is_known_in_its_order_after_a_redeal_and_the_reserve_never() -> None:
    position, memory = after(DRAW, DRAW)
    assert set(recall(redact(position), memory).stock) == {HIDDEN}
    position, memory = after(*[DRAW] * 12, REDEAL)
    assert recall(redact(position), memory).stock == position.stock == START.stock
    assert recall(redact(position), memory).reserve == (HIDDEN,) * 12 + position.reserve[-1:]
    position, memory = after(*[DRAW] * 12, REDEAL, DRAW, DRAW)
    assert recall(redact(position), memory).stock == position.stock == START.stock[6:]


DEALS = 20
"""The number of fixed deals, enough for a clear lead of the stronger bot."""

MORE_DEALS = {"klondike": 150}
"""The numbers for games in which most deals bank few cards and a few deals all, so that chance weighs more."""

SHORT = {"canfield", "lafayette"}
"""Games with short plans; the others, by the same bots, are measured in the long tests."""


@pytest.mark.parametrize(
    "game",
    [
        pytest.param(game, marks=[] if name in SHORT else pytest.mark.long)
        for name, game in GAMES.items()
    ],
)
def test_each_bot_banks_more_than_the_next_weaker_one(game: Game) -> None:
    banked = dict.fromkeys(CHOOSERS, 0)
    for number in range(MORE_DEALS.get(game.name, DEALS)):
        deal = deal_for_key(game, practice_key(f"test {number}"))
        for strength, chooser in CHOOSERS.items():
            *_, (end, _, _) = bot_game(game, deal, chooser, variation=number)
            banked[strength] += end.banked
    assert banked["even"] >= 1.3 * banked["weak"]
    assert banked["strong"] >= 1.05 * banked["even"]


CANFIELD = GAMES["canfield"]


def pauses_of_race(game: Game, number: int, pace: Pace = human_pace) -> list[float]:
    """Return the strong bot's pauses from the deal to the end of its board."""
    deal = deal_for_key(game, practice_key(f"pace {number}"))
    return [
        pace(game, redact(position), memory, choice)
        for position, memory, choice in bot_game(game, deal, choose_strongly, number)
        if not is_won(game, position)
    ]


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES.keys())
def test_the_strong_bot_makes_half_a_move_to_just_over_one_a_second(game: Game) -> None:
    for number in range(1, 4):
        pauses = pauses_of_race(game, number)
        assert 0.5 <= len(pauses) / sum(pauses) <= 1.2


def test_the_pauses_of_a_race_differ_as_a_person_s_do() -> None:
    pauses = sorted(pauses_of_race(CANFIELD, 1))
    assert pauses[-1] > 4 * pauses[len(pauses) // 2]
    assert pauses[len(pauses) // 2] > 1.4 * pauses[len(pauses) // 10]


def test_the_pauses_depend_only_on_what_the_bot_sees_and_on_its_variation() -> None:
    assert pauses_of_race(CANFIELD, 2) == pauses_of_race(CANFIELD, 2)
    view = redact(deal_for_key(CANFIELD, practice_key("pace")))
    first, second = (
        human_pace(CANFIELD, view, Memory(variation=number), Choice(DRAW, Memory()))
        for number in (1, 2)
    )
    assert first != second


def test_a_steady_pace_makes_as_many_moves_a_second_as_it_was_given() -> None:
    pauses = pauses_of_race(CANFIELD, 3, steady_pace(4))
    assert mean(pauses) == pytest.approx(1 / 4, rel=0.1)
    assert max(pauses) <= (1 + VARIATION) / 4
