"""Whole races through nginx to two nodes, one of which stops; the metrics show it."""

import asyncio
from collections import Counter
from functools import partial

import pytest

from kit.deployment_fixture import Deployment, scraped
from kit.race_audit import disagreements
from kit.recorded_players import LINE_UP, players_at_a_table
from saratoga_protocol.commands import GetRecord
from saratoga_protocol.events import Record

pytestmark = [pytest.mark.needs("nginx", "openssl"), pytest.mark.asyncio(loop_scope="module")]


async def test_a_race_goes_through_the_proxy_and_the_metrics_show_it(
    deployment: Deployment,
) -> None:
    proxy, nodes = deployment.proxy, deployment.nodes
    async with players_at_a_table(proxy.url, "canfield", "Player") as players:
        await asyncio.gather(*(player.race(1, 0, len(LINE_UP)) for player in players))
        (race,) = players[0].notes.outcomes
        totals = await scraped(nodes)
        record = await players[0].connection.ask(partial(GetRecord, race=race), Record)
    all_notes = [player.notes for player in players]
    assert await asyncio.to_thread(disagreements, record.text, all_notes) == []
    assert totals["saratoga_moves_acknowledged_total"] == sum(
        len(notes.acknowledged) for notes in all_notes
    )
    assert (
        totals["saratoga_acknowledgement_seconds_count"]
        == totals["saratoga_moves_acknowledged_total"]
    )
    assert totals["saratoga_connections"] == len(LINE_UP)
    assert totals["saratoga_races_begun_total"] == totals["saratoga_races_over_total"] == 1
    sent = Counter(
        str(type(command).__struct_config__.tag)
        for notes in all_notes
        for command in notes.sent.values()
    )
    assert totals["saratoga_commands_total[move]"] == sent["move"]
    assert totals["saratoga_commands_total[hello]"] == len(LINE_UP)
    assert totals["saratoga_ready"] == len(nodes)
    assert totals["saratoga_slow_clients_total"] == totals["saratoga_store_errors_total"] == 0


async def test_a_node_that_stops_in_mid_race_costs_its_players_a_retry(
    deployment: Deployment,
) -> None:
    proxy, [leaving, staying] = deployment.proxy, deployment.nodes
    async with players_at_a_table(proxy.url, "canfield", "Later") as players:
        raced = asyncio.gather(*(player.race(1, 50, len(LINE_UP)) for player in players))
        racing = asyncio.Event()
        host = players[0].notes
        host.on_news = lambda: racing.set() if len(host.acknowledged) > 5 else None
        await racing.wait()
        moving = (await scraped([leaving]))["saratoga_connections"]
        assert 0 < moving < len(LINE_UP)
        assert await leaving.stop() == 0
        await raced
        (race,) = players[0].notes.outcomes
        record = await players[0].connection.ask(partial(GetRecord, race=race), Record)
        totals = await scraped([staying])
    all_notes = [player.notes for player in players]
    assert await asyncio.to_thread(disagreements, record.text, all_notes) == []
    assert sum(len(notes.connected) for notes in all_notes) == len(LINE_UP) + moving
    assert totals["saratoga_connections"] == len(LINE_UP)
