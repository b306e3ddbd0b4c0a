import shlex

from saratoga_client.practice.deals import from_seed
from saratoga_client.practice.game import make, new_game, undo
from saratoga_client.practice.practice_session import practice_text
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW


def test_the_text_has_the_command_for_the_same_deal() -> None:
    practice = make(new_game(from_seed(GAMES["canfield"], "demo")), DRAW, 5)
    assert practice_text(practice, 65_000) == (
        "Saratoga practice, Canfield, seed demo\n"
        "1 banked, -$45 if it counted, in 1:05, no undo, no hint\n"
        "Try it: saratoga practice canfield --seed demo"
    )


def test_the_text_mentions_undos_and_hints() -> None:
    practice = undo(make(new_game(from_seed(GAMES["canfield"], "it's me")), DRAW, 5), 6)
    text = practice_text(practice, 65_000)
    assert "in 1:05, 1 undo\n" in text
    assert shlex.split(text.partition("Try it: ")[2])[-2:] == ["--seed", "it's me"]
