"""The description of a game in prose."""

import pytest

from saratoga_rules.games import GAMES
from saratoga_rules.prose import prose


@pytest.mark.parametrize("name", GAMES)
def test_every_game_is_described_in_paragraphs_of_one_line(name: str) -> None:
    paragraphs = prose(GAMES[name])
    assert len(paragraphs) > 1
    assert all(paragraph.endswith(".") and "\n" not in paragraph for paragraph in paragraphs)
