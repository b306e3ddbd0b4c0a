"""Findings about a racer in the record of a finished race."""

from dataclasses import replace

import pytest

from kit.finished_races import finished_race
from saratoga_client.tui.pages.findings import Findings, findings_of, lettered
from saratoga_rules.games import GAMES
from saratoga_rules.money import even_at


def of(name: str, game: str = "canfield") -> Findings:
    record = finished_race(game)
    player = next((racer.player for racer in record.racers if racer.name == name), "nobody")
    found = findings_of(record, player)
    assert found is not None
    return found


@pytest.mark.parametrize("game", GAMES)
def test_a_loser_sees_where_the_winners_moves_differ(game: str) -> None:
    record = finished_race(game)
    winner = record.results[0].player
    for racer in record.racers:
        found = findings_of(record, racer.player)
        assert found is not None
        assert found.even == even_at(GAMES[game])
        assert bool(found.divergence) is (racer.player != winner)


def test_the_chart_has_the_size_it_is_given() -> None:
    chart = of("Zoë").chart(60, 9)
    assert len(chart) == 9
    assert max(map(len, chart)) <= 60


def test_a_player_who_did_not_race_gets_no_difference_and_no_pause() -> None:
    found = of("somebody else")
    assert (found.divergence, found.pause) == ((), "")
    assert found.share


def test_a_record_of_unknown_rules_gives_no_findings() -> None:
    assert findings_of(replace(finished_race(), rules_version=99), "nobody") is None


def test_ascii_mode_has_letters_for_suits() -> None:
    found = of("Zoë")
    for line in found.divergence:
        assert all(sign.isascii() or sign == "ë" for sign in lettered(line, True))


def test_the_level_of_a_bot_stands_beside_its_name() -> None:
    record = finished_race("canfield")
    person = next(racer.player for racer in record.racers if not racer.bot)
    bot = next(racer.player for racer in record.racers if racer.bot)
    found = findings_of(record, person, {bot: "weak"})
    assert found is not None
    assert "Otto [weak bot]" in found.share
    assert found.levels[bot] == "weak"
    assert "Otto [bot]" in of("Ana").share
