"""The scheduler and tables that only newer nodes can read."""

import logging

import pytest

from kit.in_process_server import InProcessServer, counted_down, gathered
from kit.tables import of_unknown_game
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS
from saratoga_server.domain.tables.timers import LOOK_MILLIS


async def test_timers_of_tables_for_newer_nodes_are_left_to_them_and_logged_once(
    server: InProcessServer, caplog: pytest.LogCaptureFixture
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code, other = await gathered(anna), await gathered(bert)
    for player in (anna, bert):
        await counted_down(player)
    _, body = await server.stored(code)
    await server.rewrite(code, of_unknown_game(body))
    stored = await server.stored(code)
    await server.restart()
    server.time.at += COUNTDOWN_MILLIS
    with caplog.at_level(logging.INFO):
        for _ in range(3):
            await server.pass_time(LOOK_MILLIS)
    assert server.state(other).phase == "running"
    assert await server.stored(code) == stored
    said = [line.getMessage() for line in caplog.records if line.levelno >= logging.WARNING]
    assert said == ["table_unreadable"]
