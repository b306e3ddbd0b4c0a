"""The race screen never shows a card that the player may not see, whichever keys are pressed."""

import re
from itertools import chain, islice
from random import Random
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.positions import places, step_at
from kit.screens import table_player
from kit.secrecy import sight
from kit.session_states import board, snapshot, state_after, table
from saratoga_client.session.state import SessionState
from saratoga_rules.cards import RANKS, SUITS
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.position import Position
from saratoga_rules.vocabulary.foundations import wanted_down, wanted_up

CARD = re.compile(r"(10|[2-9JQKA])([♠♥♣♦])")
SIGNS = dict(zip("♠♥♣♦", "SHCD", strict=True))
PRESSED = st.lists(
    st.sampled_from([*"1234567890-=wrbfg+/ko?xqtcp", "tab", "shift+tab", "escape", "enter"]),
    max_size=4,
)
"""Keys other than draws: only the server knows the card that a draw turns up."""

Cells: TypeAlias = list[list[tuple[str, str]]]


def racing(game: Game, position: Position) -> SessionState:
    own = board(position, 45, game=game.name)
    return state_after(first=snapshot(f"y{position.banked} a3", own, table("ya", game=game.name)))


def shuffled(position: Position, chance: Random) -> Position:
    """Return a position with the same view: all hidden cards are shuffled."""
    hidden = [*position.stock, *position.reserve[:-1], *chain.from_iterable(position.face_down)]
    chance.shuffle(hidden)
    cards = iter(hidden)
    return position._replace(
        stock=tuple(islice(cards, len(position.stock))),
        reserve=(*islice(cards, len(position.reserve[:-1])), *position.reserve[-1:]),
        face_down=tuple(tuple(islice(cards, len(pile))) for pile in position.face_down),
    )


def visible(position: Position) -> set[str]:
    """Return the cards that a player may see, and those that it knows to be on the foundations."""
    seen = sight(position)
    open_cards = "".join([seen["waste"], seen["reserve_top"], *seen["columns"]])
    cards = {open_cards[at : at + 2] for at in range(0, len(open_cards), 2)}
    for index, height in enumerate(position.up):
        suit = SUITS[index // (len(position.up) // 4)]
        cards |= {f"{RANKS[(position.base + step - 1) % 13]}{suit}" for step in range(height)}
    for index, height in enumerate(position.down):
        suit = SUITS[index // (len(position.down) // 4)]
        cards |= {f"{RANKS[12 - step]}{suit}" for step in range(height)}
    return cards


def read(text: str) -> set[str]:
    """Return every card that a text names."""
    return {f"{'T' if rank == '10' else rank}{SIGNS[sign]}" for rank, sign in CARD.findall(text)}


async def painted(game: Game, position: Position, keys: list[str]) -> list[Cells]:
    """Return all cells before and after each key; fail if they name a hidden card."""
    found = []
    async with table_player(racing(game, position), position=position) as at_table:
        for key in ("", *keys):
            if key:
                await at_table.press(key)
            found.append(at_table.cells)
            shown = at_table.seat.own.shown
            # a foundation names the next card that it takes
            wanted = {*wanted_up(shown.up, shown.base), *wanted_down(shown.down)}
            secret = read(at_table.text) - visible(position) - wanted
            assert not secret, (key, secret, at_table.text)
    return found


@pytest.mark.parametrize("game", GAMES.values())
@given(place=places, keys=PRESSED, chance=st.randoms(use_true_random=False))
@settings(max_examples=max(2, settings().max_examples // 25))
async def test_the_screen_does_not_depend_on_the_order_of_hidden_cards(
    game: Game, place: int, keys: list[str], chance: Random
) -> None:
    position = step_at(game.name, place).position
    twin = shuffled(position, chance)
    assert await painted(game, position, keys) == await painted(game, twin, keys)


def test_the_check_would_find_a_hidden_card() -> None:
    position = step_at("canfield", 0).position
    card = position.stock[0]
    (sign,) = (sign for sign, letter in SIGNS.items() if letter == card[1])
    assert read(f"╭{card[0].replace('T', '10')}{sign}──╮") == {card}
    assert card not in visible(position)
