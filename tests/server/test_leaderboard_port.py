"""Values of the port: keys of leaderboards."""

from msgspec.structs import replace

from saratoga_server.leaderboard_port import BoardKey

KEY = BoardKey(game="canfield", ranking="best", period="2026-W36", bots=False)


def test_each_game_ranking_and_period_of_people_or_bots_has_a_leaderboard_of_its_own() -> None:
    changes = ({"game": "caprice"}, {"ranking": "bankroll"}, {"period": "all"}, {"bots": True})
    keys = {KEY, replace(KEY), *(replace(KEY, **changed) for changed in changes)}
    assert len(keys) == 5
