import pytest

from kit.positions import draw
from saratoga_client.input.key_hints import guide
from saratoga_client.input.keyboard import EMPTY_HAND, Hand
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW, REDEAL
from saratoga_rules.views import redact


@pytest.mark.parametrize(
    ("game", "picture", "hand", "told"),
    [
        (
            "canfield",
            "stock: 2C 3C 4C 5C\nt1: KS",
            EMPTY_HAND,
            "space draw 3, tab moves, o quick",
        ),
        (
            "canfield",
            "stock: 2C\nwaste: AS\nt1: KS\nt2: QH",
            EMPTY_HAND,
            "space draw 1, 1-4 w pick, f bank, tab moves, o quick",
        ),
        (
            "lafayette",
            "waste: AS\nreserve: KS\nt1: 5H",
            Hand(quick=True),
            "space redeal, w r pick, f bank up, g bank down, tab moves, o quick off",
        ),
        ("caprice", "stock: 2C", EMPTY_HAND, "space deal a row, tab moves, o quick"),
        (
            "caprice",
            "t11: 7S\nt12: 6S",
            EMPTY_HAND,
            "1-9 0 - = pick, tab moves, o quick",
        ),
        ("lady-palk", "t1: 2C", EMPTY_HAND, "o quick"),
        (
            "canfield-aisleriot",
            "up: S4\nt2: 5D\nreserve: 5C",
            EMPTY_HAND,
            "r pick, tab moves, b take back, o quick",
        ),
        (
            "caprice",
            "t1: 7S\nt11: 8S\nup: S6\ndown: S6\nstock: 2C",
            Hand(picked="t1"),
            "- place, f bank up, g bank down, tab moves, esc drop",
        ),
        (
            "lady-palk",
            "t1: KS QH\nt2: KH",
            Hand(picked="t1"),
            "2 place, tab moves, esc drop",
        ),
        (
            "lady-palk",
            "t1: 2C KS QH\nt2: KH",
            Hand(picked="t1"),
            "2 3 4 5 6 7 8 place, + - how many, tab moves, esc drop",
        ),
        ("lafayette", "t1: AS\nt2: AH", Hand(aim="up"), "1 2 bank, esc drop"),
        ("lafayette", "stock: AS", Hand(lit=DRAW), "enter play, tab next move, esc drop"),
    ],
)
def test_the_key_line_tells_what_keys_do_now(
    game: str, picture: str, hand: Hand, told: str
) -> None:
    view = redact(draw(GAMES[game], picture))
    assert ", ".join(f"{key} {does}" for key, does in guide(GAMES[game], view, hand)) == told


def test_what_the_board_no_longer_allows_is_not_offered() -> None:
    view = redact(draw(GAMES["lafayette"], "stock: AS"))
    for stale in (Hand(picked="t1"), Hand(aim="up"), Hand(lit=REDEAL)):
        assert guide(GAMES["lafayette"], view, stale)[0] == ("space", "draw 1")
