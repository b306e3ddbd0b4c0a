"""A bot plays a deal without a server."""

from saratoga_client.bots.choice import Choice
from saratoga_client.bots.memory import Memory
from saratoga_client.bots.offline import play_offline
from saratoga_rules.cards import HIDDEN
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW
from saratoga_rules.views import View

CANFIELD = GAMES["canfield"]
START = deal_for_key(CANFIELD, practice_key("offline"))


def draw_twice(game: Game, view: View, memory: Memory) -> Choice:
    assert set(view.stock) == {HIDDEN}
    return Choice(DRAW if memory.moves < 2 else None, memory)


def test_the_game_ends_when_the_bot_chooses_no_move() -> None:
    played = play_offline(CANFIELD, START, draw_twice)
    assert played.moves == (DRAW, DRAW)
    assert played.end.waste == START.stock[:6]


def test_the_chooser_gets_the_bot_s_variation() -> None:
    seen: list[int] = []

    def stop(game: Game, view: View, memory: Memory) -> Choice:
        seen.append(memory.variation)
        return Choice(None, memory)

    assert play_offline(CANFIELD, START, stop, variation=7).end == START
    assert seen == [7]
