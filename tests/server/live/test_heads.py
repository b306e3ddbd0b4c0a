"""Heads: every one that is shown is a head of the record, and none shows more than the counts do."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from kit.in_process_server import (
    InProcessServer,
    Nodes,
    always,
    beside,
    counted_down,
    gathered,
    open_in_process_server,
)
from kit.players import MemoryPlayer
from kit.races import replay
from saratoga_protocol.commands import JoinTable, MakeMove
from saratoga_protocol.events import BoardChanged, RaceOver, Snapshot, Standing, Standings
from saratoga_rules.dealing.fairness import deal_key
from saratoga_rules.records.heads import heads
from saratoga_rules.records.record import RaceRecord, parse_record
from saratoga_rules.records.standing import LOG_ENDINGS
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS, MINUTE

TAKES_BACK = "canfield-aisleriot"


BANK_AND_TAKE_BACK = (
    "stock=2C3C4C waste=- reserve=- up=1,1,1,1 down=- columns=2D/2H/3S/3D base=1 passes=1"
)


def parts(value: object) -> Iterable[Mapping[str, Any]]:
    """Yield every object inside a message."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from parts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from parts(inner)


def shown(players: Iterable[MemoryPlayer]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return every object with a head that these players were sent, each with the racer that it is about."""
    return [
        (part.get("player", player.player), part)
        for player in players
        for event in player.received.events
        for part in parts(msgspec.to_builtins(event))
        if "head" in part
    ]


def chains(record: RaceRecord) -> dict[str, list[str]]:
    nonces = {racer.player: bytes.fromhex(racer.nonce) for racer in record.racers}
    key = deal_key(bytes.fromhex(record.seed), record.race_id, nonces)
    return {
        racer.player: heads(key, record.race_id, racer.player, racer.log) for racer in record.racers
    }


async def check(server: InProcessServer, code: str, players: Iterable[MemoryPlayer]) -> set[str]:
    """Check every head that was sent against the record; return the heads of standings."""
    text = await server.record(code)
    assert text is not None
    record = parse_record(text)
    chain, of_standings = chains(record), set()
    for player, part in shown(players):
        if "count" in part:
            assert part["head"] == chain[player][part["count"]]
        elif "moves" in part:
            assert part["head"] == chain[player][-1]
        else:
            entries = chain[player].index(part["head"])
            assert part["banked"] == replay(record, player)[entries].banked
            last = record.racer(player).log[entries - 1].text if entries else ""
            assert part["state"] == (last if last in LOG_ENDINGS else "racing")
            of_standings.add(part["head"])
    return of_standings


async def come_back(server: InProcessServer, player: MemoryPlayer) -> MemoryPlayer:
    """Connect the player once more, to that node, and resume the seat."""
    newer = await server.player(player.name)
    await newer.at_table(JoinTable, table=player.table.code)
    return newer


async def race(nodes: Nodes, *players: MemoryPlayer, game: str = "canfield", cap: int = 5) -> str:
    code = await gathered(*players, game=game, cap=cap)
    await nodes.settle()
    await counted_down(*players)
    assert shown(players) == [], "no head is sent before the deal"
    await nodes.pass_time(COUNTDOWN_MILLIS)
    return code


async def test_a_count_on_one_node_is_shown_to_the_racers_of_another() -> None:
    async with (
        open_in_process_server(always(BANK_AND_TAKE_BACK)) as server,
        beside(server) as nodes,
    ):
        anna, bert = await nodes.two()
        await nodes.race(anna, bert)
        dealt = anna.board.banked
        await anna.moves("t1>up")
        await nodes.pass_time(250)
        rows = bert.received.all(Standings)[-1].standings
        assert {row.player: row.banked for row in rows}[anna.player] == dealt + 1


async def test_every_head_that_two_nodes_show_is_one_of_the_record() -> None:
    async with (
        open_in_process_server(always(BANK_AND_TAKE_BACK)) as server,
        beside(server, always(BANK_AND_TAKE_BACK)) as nodes,
    ):
        anna, bert = await nodes.two()
        code = await race(nodes, anna, bert, game=TAKES_BACK)
        await anna.moves("t1>up", "draw")
        await bert.moves("draw")
        await nodes.pass_time(250)
        west = await come_back(nodes.west, anna)
        for move in ("t2>up", "up.H>t1"):
            await west.moves(move)
            await nodes.pass_time(250)
        await nodes.east.restart(always(BANK_AND_TAKE_BACK))
        back = await come_back(nodes.east, west)
        command = MakeMove(id=back.last_id + 1, race=f"{code}/1", after=4, move="t1>up")
        nodes.east.faults.lost_replies = 1
        await back.send(command)
        repeated = await back.send(command)
        assert isinstance(repeated, BoardChanged)
        assert repeated.board.count == 5
        await nodes.pass_time(250)
        await back.cash_out()
        await nodes.pass_time(2 * MINUTE)
        await bert.moves("t1>up")
        await nodes.pass_time(3 * MINUTE)
        (over,) = bert.received.all(RaceOver)
        assert [row.state for row in over.outcome.results] == ["cash-out", "out-of-time"]
        of_standings = await check(nodes.east, code, (anna, bert, west, back))
        assert len(of_standings) == 9, (
            "Anna's deal, four counts and end; Bert's deal, count and end"
        )


# What heads must not show


def rows(events: Iterable[Standings | Snapshot], player: str) -> list[Standing]:
    return [row for each in events for row in each.standings if row.player == player]


async def test_a_head_changes_only_with_the_count_and_the_state_that_were_sent() -> None:
    async with open_in_process_server(always(BANK_AND_TAKE_BACK)) as server:
        anna, bert = await server.player("Anna"), await server.player("Bert")
        code = await server.race(anna, bert, game=TAKES_BACK)
        wanda = await server.player("Wanda")
        await server.pass_time(250)

        async def ticked() -> Standing:
            since = len(bert.received.events)
            await server.pass_time(250)
            return rows(bert.received.all(Standings, since), anna.player)[-1]

        await anna.moves("t1>up")
        banked = await ticked()
        assert banked.banked == 5
        await anna.moves("draw", "up.D>t3", "t3>up")
        snapshot = await wanda.at_table(JoinTable, table=code, seat=False)
        assert rows([snapshot], anna.player) == [banked]
        assert await ticked() == banked
        await anna.moves("t2>up")
        higher = await ticked()
        assert (higher.banked, higher.head) == (6, anna.board.head)
        await anna.moves("up.H>t1")
        lower = await ticked()
        assert (lower.banked, lower.head) == (5, anna.board.head)
        assert lower.head != banked.head
