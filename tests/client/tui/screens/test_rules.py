import pytest

from kit.solo import before
from saratoga_client.tui.appearance import Appearance
from saratoga_client.tui.pages.solo_keys import PRACTICE_KEYS
from saratoga_client.tui.screens.rules import RulesScreen, keys_lines
from saratoga_rules.games import GAMES


@pytest.mark.parametrize("name", GAMES)
async def test_the_whole_help_can_be_read_page_by_page(name: str) -> None:
    screen = RulesScreen(GAMES[name], PRACTICE_KEYS, "PRACTICE")
    seen: list[str] = []
    async with before(screen, appearance=Appearance(ascii=True)) as player:
        for _ in range(8):
            seen += player.lines
            await player.press("space")
    for heading, rule in GAMES[name].describe():
        assert any(heading in line for line in seen), heading
        assert any(rule.split()[0] in line for line in seen)
    for key, does in PRACTICE_KEYS:
        assert any(key in line and does.split()[0] in line for line in seen)


def test_long_meanings_go_on_below_themselves_and_never_touch_their_keys() -> None:
    lines = keys_lines((("z  u", "undo a move and all it brought about"),), "KEYS", 40)
    texts = ["".join(text for text, _ in line) for line in lines]
    assert texts[0] == "KEYS"
    assert texts[1].startswith("z  u   ")
    assert texts[2].startswith("     ")
    assert all(len(text) <= 40 for text in texts)
