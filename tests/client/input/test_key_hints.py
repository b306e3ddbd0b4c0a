import pytest

from kit.positions import draw
from saratoga_client.input.key_hints import key_hints
from saratoga_client.input.scene import scene_of
from saratoga_client.input.selection import NO_SELECTION, Selection
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW, REDEAL
from saratoga_rules.views import redact


@pytest.mark.parametrize(
    ("game", "picture", "selection", "hints"),
    [
        (
            "canfield",
            "stock: 2C 3C 4C 5C\nt1: KS",
            NO_SELECTION,
            "space draw 3, tab moves, o quick",
        ),
        (
            "canfield",
            "stock: 2C\nwaste: AS\nt1: KS\nt2: QH",
            NO_SELECTION,
            "space draw 1, 1-4 w pick, f bank, tab moves, o quick",
        ),
        (
            "lafayette",
            "waste: AS\nreserve: KS\nt1: 5H",
            Selection(quick=True),
            "space redeal, w r pick, f bank up, g bank down, tab moves, o quick off",
        ),
        ("caprice", "stock: 2C", NO_SELECTION, "space deal a row, tab moves, o quick"),
        (
            "caprice",
            "t11: 7S\nt12: 6S",
            NO_SELECTION,
            "1-9 0 - = pick, tab moves, o quick",
        ),
        ("lady-palk", "t1: 2C", NO_SELECTION, "o quick"),
        (
            "canfield-aisleriot",
            "up: S4\nt2: 5D\nreserve: 5C",
            NO_SELECTION,
            "r pick, tab moves, b take back, o quick",
        ),
        (
            "caprice",
            "t1: 7S\nt11: 8S\nup: S6\ndown: S6\nstock: 2C",
            Selection(picked="t1"),
            "- place, f bank up, g bank down, tab moves, esc drop",
        ),
        (
            "lady-palk",
            "t1: KS QH\nt2: KH",
            Selection(picked="t1"),
            "2 place, tab moves, esc drop",
        ),
        (
            "lady-palk",
            "t1: 2C KS QH\nt2: KH",
            Selection(picked="t1"),
            "2 3 4 5 6 7 8 place, + - how many, tab moves, esc drop",
        ),
        ("lafayette", "t1: AS\nt2: AH", Selection(aim="up"), "1 2 bank, esc drop"),
        ("lafayette", "stock: AS", Selection(lit=DRAW), "enter play, tab next move, esc drop"),
    ],
)
def test_the_hints_name_the_keys_of_the_moment(
    game: str, picture: str, selection: Selection, hints: str
) -> None:
    scene = scene_of(GAMES[game], redact(draw(GAMES[game], picture)))
    assert ", ".join(f"{key} {does}" for key, does in key_hints(scene, selection)) == hints


def test_a_selection_that_the_board_no_longer_allows_is_not_hinted_at() -> None:
    scene = scene_of(GAMES["lafayette"], redact(draw(GAMES["lafayette"], "stock: AS")))
    for stale in (Selection(picked="t1"), Selection(aim="up"), Selection(lit=REDEAL)):
        assert key_hints(scene, stale)[0] == ("space", "draw 1")
