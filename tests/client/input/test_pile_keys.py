import pytest

from saratoga_client.input.pile_keys import has_pile, key_called, pile_keys
from saratoga_rules.games import GAMES


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("canfield", "1234"),
        ("canfield-aisleriot", "1234"),
        ("lafayette", "1234"),
        ("lady-palk", "12345678"),
        ("caprice", "1234567890-="),
    ],
)
def test_columns_have_the_keys_of_the_digit_row_from_the_left(name: str, columns: str) -> None:
    assert "".join(pile_keys(GAMES[name]).columns) == columns


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("canfield", {"space", "w", "r", "f"}),
        ("canfield-aisleriot", {"space", "w", "r", "f"}),
        ("lafayette", {"space", "w", "r", "f", "g"}),
        ("lady-palk", {"space", "w", "f"}),
        ("caprice", {"space", "f", "g"}),
    ],
)
def test_a_game_has_keys_for_its_own_piles_only(name: str, others: set[str]) -> None:
    keys = pile_keys(GAMES[name])
    assert set(keys.by_key) - set(keys.columns) == others
    assert set(keys.by_pile.values()) == set(keys.by_key)


def test_every_pile_that_is_drawn_has_a_key_beside_it() -> None:
    by_pile = pile_keys(GAMES["lafayette"]).by_pile
    assert by_pile["stock"] == "space"
    assert by_pile["t3"] == "3"
    assert by_pile["up.S"] == "f"
    assert by_pile["down.D"] == "g"


def test_no_key_means_two_piles() -> None:
    for game in GAMES.values():
        keys = pile_keys(game)
        for key, pile in keys.by_key.items():
            assert keys.of(pile) == key


@pytest.mark.parametrize(
    ("name", "called"),
    [
        *(("minus", "-"), ("equals_sign", "="), ("plus", "+"), (" ", "space"), ("W", "w")),
        *(("d", "space"), ("\r", "enter"), ("esc", "escape"), ("f5", "f5"), ("", "")),
    ],
)
def test_every_spelling_of_a_key_has_one_name(name: str, called: str) -> None:
    assert key_called(name) == called


def test_a_game_has_the_piles_of_its_page() -> None:
    caprice, canfield = GAMES["caprice"], GAMES["canfield"]
    assert [pile for pile in ("w", "r", "t12", "t13", "down.S", "up.S", "stock", "x") if has_pile(caprice, pile)] == ["t12", "down.S", "up.S", "stock"]  # fmt: skip
    assert [pile for pile in ("w", "r", "t4", "t5", "down", "up") if has_pile(canfield, pile)] == ["w", "r", "t4", "up"]  # fmt: skip
