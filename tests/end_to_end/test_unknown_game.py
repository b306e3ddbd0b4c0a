"""A fleet in an upgrade: a node that does not know a game leaves its tables to the nodes that know it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import pytest

from kit import other_version
from kit.altered_server import QUICK
from kit.in_process_server import counted_down, gathered
from kit.nodes import nodes_on
from kit.other_version import UNKNOWN_GAME
from kit.player_sockets import player_at
from kit.server_process import ServerProcess
from kit.stores import StoreServer
from saratoga_protocol.commands import (
    CashOut,
    ChangeSettings,
    CreateTable,
    GetLeaderboard,
    GetRecord,
    JoinTable,
    ListTables,
    Resume,
    SubscribeLeaderboard,
    WatchTable,
)
from saratoga_protocol.events import Dealt, Done, Leaderboard, RaceOver, Record, Refused, Tables
from saratoga_protocol.refusals import RESTARTING
from saratoga_server.admin.acts import Administration, NotDone
from saratoga_server.app import compose_table_cache
from saratoga_server.store.opening import open_store

NEWER = other_version.__name__


class Fleet(NamedTuple):
    """Two nodes on one store; only the newer one knows `UNKNOWN_GAME`."""

    older: ServerProcess
    newer: ServerProcess

    def said(self, event: str) -> list[str]:
        """Return the tables of which the older node has logged this event."""
        return [each["table"] for each in self.older.events() if each["event"] == event]


@asynccontextmanager
async def fleet(store: StoreServer) -> AsyncIterator[Fleet]:
    store.empty()
    async with nodes_on(store.url, 2, module=QUICK) as (older, newer):
        await newer.stop()
        newer.module = NEWER
        await newer.start()
        yield Fleet(older, newer)


@pytest.fixture
async def store(store_servers: dict[str, StoreServer]) -> StoreServer:
    return store_servers["valkey"]


async def test_players_of_an_unknown_game_are_sent_on_and_race_at_a_newer_node(
    store: StoreServer,
) -> None:
    async with fleet(store) as (older, newer):
        async with player_at(newer.url, "Anna") as anna, player_at(newer.url, "Bert") as bert:
            code = await gathered(anna, game=UNKNOWN_GAME, public=True)
            for command in (JoinTable, WatchTable):
                async with player_at(older.url, "Bert") as early:
                    answer = await early.ask(ListTables)
                    assert isinstance(answer, Tables)
                    assert [(each.code, each.game) for each in answer.tables] == [
                        (code, UNKNOWN_GAME)
                    ]
                    answer = await early.ask(command, table=code)
                    assert isinstance(answer, Refused)
                    assert (answer.code, answer.retry) == ("draining", True)
                    assert answer.message == (
                        "That table has moved to newer servers. Connect again and continue there."
                    )
                    assert await early.closed() == (RESTARTING.code, RESTARTING.reason)
            await bert.at_table(JoinTable, table=code)
            board = {"game": UNKNOWN_GAME, "ranking": "best", "period": "all"}
            page = await bert.ask(SubscribeLeaderboard, **board)
            assert isinstance(page, Leaderboard)
            await counted_down(anna, bert)
            for player in (anna, bert):
                await player.received.next(Dealt, 0)
                await player.moves("draw")
                await player.ask(CashOut, race=player.board.race)
            outcome = (await anna.received.next(RaceOver, 0)).outcome
            assert (outcome.game, outcome.ranked) == (UNKNOWN_GAME, True)
            # whichever node has applied the results
            await bert.received.next(Leaderboard, 0, re=None, total=2)
        async with player_at(older.url, "Cleo") as cleo:
            record = await cleo.ask(GetRecord, race=outcome.race)
            assert isinstance(record, Record)
            assert f"\ngame {UNKNOWN_GAME}\n" in record.text
            assert await cleo.refused(GetLeaderboard, **board) == "no_such_leaderboard"
            assert await cleo.refused(CreateTable, game=UNKNOWN_GAME) == "no_such_game"
            await cleo.at_table(CreateTable, game="canfield")


async def test_players_whose_host_chooses_an_unknown_game_are_sent_on(store: StoreServer) -> None:
    async with (
        fleet(store) as running,
        player_at(running.newer.url, "Anna") as anna,
        player_at(running.older.url, "Wanda") as wanda,
    ):
        async with player_at(running.older.url, "Bert") as bert:
            code = await gathered(anna, bert)
            await wanda.at_table(WatchTable, table=code)
            settings = {"table": code, "game": UNKNOWN_GAME, "cap": 10, "seats": 16, "public": True}
            assert isinstance(await anna.ask(ChangeSettings, **settings), Done)
            for player in (bert, wanda):
                assert await player.closed() == (RESTARTING.code, RESTARTING.reason)
        async with player_at(running.newer.url, "Bert") as bert:
            snapshot = await bert.at_table(Resume, table=code)
            assert snapshot.table.settings.game == UNKNOWN_GAME
            assert isinstance(
                await anna.ask(ChangeSettings, **{**settings, "game": "canfield"}), Done
            )
            async with player_at(running.older.url, "Cleo") as cleo:
                await cleo.at_table(JoinTable, table=code)
        assert running.said("table_unreadable") == [code]


async def test_administration_by_an_older_release_leaves_tables_of_unknown_games_alone(
    store: StoreServer,
) -> None:
    async with fleet(store) as running, player_at(running.newer.url, "Anna") as anna:
        code = await gathered(anna, game=UNKNOWN_GAME)
        async with open_store(store.url) as opened:
            office = Administration(opened, await compose_table_cache(opened), "zoe@host")
            [line] = await office.tables()
            assert (line.code, line.phase) == (code, "newer")
            with pytest.raises(NotDone, match="Only a newer release of saratoga-server can read"):
                await office.close(code, "Closing time.")
            assert (await office.close_all("Closing time."))[0] == 0
        assert anna.table.code == code
