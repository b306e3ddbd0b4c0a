"""Tables as nodes see them: loaded, changed and followed; whatever versions a node has seen, its players end alike."""

import asyncio
from random import Random

import pytest
from msgspec.structs import replace

from kit.in_process_server import InProcessServer, Nodes, gathered, kicking, live_table, two_at
from kit.players import MemoryPlayer
from kit.tables import nonce_hash
from saratoga_protocol import events
from saratoga_protocol.codec import CODECS, Codec
from saratoga_protocol.commands import (
    CashOut,
    ChangeSettings,
    CreateTable,
    JoinTable,
    Kick,
    LeaveTable,
    LockTable,
    NextRace,
    Ready,
    Start,
)
from saratoga_protocol.events import (
    Done,
    Ended,
    Match,
    MatchResult,
    MatchRow,
    SeatLost,
    Snapshot,
    TableChanged,
)
from saratoga_server.domain.tables import CommandRejected, TableState
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS
from saratoga_server.domain.tables.lifecycle import MOST_SEATS
from saratoga_server.domain.tables.seating import KICKED
from saratoga_server.domain.tables.timers import UNUSED_MILLIS
from saratoga_server.domain.usernames import LONGEST
from saratoga_server.live import reactions
from saratoga_server.live.tables import ATTEMPTS, Transition
from saratoga_server.ports import Millis, PlayerRow, StoreUnavailable
from saratoga_server.transport.connection import MOST_UNREAD

AWAY = "odd-emu-11"
"""A code that no table has."""


def adding(text: str) -> Transition:
    """Return a transition that appends a text to the table's notice."""
    return lambda state, now: replace(state, notice=state.notice + text)


async def test_a_table_is_loaded_once_however_many_ask(nodes: Nodes) -> None:
    anna = await nodes.east.player("Anna")
    code = await gathered(anna)
    tables = nodes.west.node.tables
    found = await asyncio.gather(*(tables.get(code) for _ in range(5)))
    assert len({id(table) for table in found}) == 1
    nodes.west.faults.unavailable = True
    with pytest.raises(StoreUnavailable):
        await tables.get(AWAY)
    nodes.west.faults.unavailable = False
    for _ in range(2):
        with pytest.raises(CommandRejected, match="no_such_table"):
            await tables.get(AWAY)


async def test_a_change_is_judged_anew_when_another_node_wrote_first(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna, bert)
    await nodes.settle()
    nodes.west.tap.is_deaf = True
    await nodes.east.node.tables.change(code, adding("a"))
    await nodes.west.node.tables.change(code, adding("b"))
    assert bert.table.notice.endswith("ab")
    await nodes.settle()
    assert anna.table.notice == bert.table.notice


async def test_a_change_that_always_comes_too_late_is_given_up(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = await server.player("Anna")
    code = await gathered(anna)
    tries = 0

    def judged(state: TableState, now: Millis) -> TableState:
        nonlocal tries
        tries += 1
        return replace(state, notice=f"{tries}")

    async def always_newer(code: str) -> tuple[int, bytes]:
        version, body = await server.stored(code)
        server.store.server.ask("HINCRBY", f"table:{code}", "version", "1")
        return version, body

    monkeypatch.setattr(server.store.tables, "load_table", always_newer)
    server.store.server.ask("HINCRBY", f"table:{code}", "version", "1")
    with pytest.raises(CommandRejected, match="Too many changes"):
        await server.node.tables.change(code, judged)
    assert tries == ATTEMPTS


async def test_a_write_whose_reply_was_lost_is_read_again_before_the_next_change(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    code = await gathered(anna)
    server.tap.is_deaf = True
    server.faults.lost_replies = 1
    with pytest.raises(StoreUnavailable):
        await server.node.tables.change(code, adding("a"))
    assert live_table(server, code).in_doubt
    await server.node.tables.change(code, adding("b"))
    assert anna.table.notice.endswith("ab")


async def test_a_change_whose_reply_was_lost_has_its_effects_when_it_is_found(
    server: InProcessServer,
) -> None:
    anna, bert, code = await two_at(server)
    server.tap.is_deaf = True  # otherwise an event would report it at once
    server.faults.lost_replies = 1
    with pytest.raises(StoreUnavailable):
        await server.node.tables.change(code, kicking(anna, bert))
    assert bert.received.all(SeatLost) == []
    for _ in range(2):
        await server.node.tables.look_over()
    (lost,) = bert.received.all(SeatLost)
    assert lost.reason == KICKED
    assert not live_table(server, code).in_doubt


async def test_a_change_that_did_not_happen_has_no_effects(server: InProcessServer) -> None:
    anna, bert, code = await two_at(server)
    server.faults.unavailable = True
    with pytest.raises(StoreUnavailable):
        await server.node.tables.change(code, kicking(anna, bert))
    server.faults.unavailable = False
    await server.node.tables.look_over()
    assert bert.received.all(SeatLost) == []
    assert not live_table(server, code).in_doubt
    assert isinstance(await bert.ask(LeaveTable, table=code), Done)


async def test_what_follows_from_a_change_is_done_again_if_it_fails(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await server.race(anna, bert)
    follow, faults = reactions.follow, [StoreUnavailable("away")]

    async def failing(*given: object) -> None:
        if faults:
            raise faults.pop()
        await follow(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(reactions, "follow", failing)
    assert isinstance(await bert.ask(LeaveTable, table=code), events.Done)
    assert (await server.board(code, bert.player)).state == "racing"
    await server.node.tables.look_over()
    assert (await server.board(code, bert.player)).state == "left"


# Seats that are lost


async def test_a_connection_is_closed_before_the_change_that_replaces_it_is_sent(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert", bot=True)
    code = await gathered(anna, bert)
    told, received = [], bert.received.events
    monkeypatch.setattr(bert.connection, "close", lambda _: told.append(len(received)))
    newer, known = server.connect("Bert", bot=True), len(received)
    await newer.hello(level="strong")
    await newer.at_table(JoinTable, table=code)
    assert anna.table.seats[1].level == "strong"
    assert told == [known]


async def test_a_closed_table_frees_its_players_and_is_not_followed_any_more(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, public=True)
    await bert.at_table(JoinTable, table=code, seat=False)
    await server.pass_time(UNUSED_MILLIS)
    for each in (anna, bert):
        assert [lost.table for lost in each.received.all(SeatLost)] == [code]
        assert (each.session.seat, each.session.watching) == (None, frozenset())
    assert server.node.broadcaster.audience(code) == frozenset()
    assert await server.real.tables.list_public() == []
    assert (await server.row(anna.player)).table is None
    assert isinstance(await anna.ask(CreateTable, game="canfield"), Snapshot)


# The fullest table: its changes fit the outbox of a client that reads slowly


NAME = "Ж" * LONGEST


HASH = "0f" * 32


RACES = 5


def ids(first: str) -> list[str]:
    return [f"{first}{letter * 15}" for letter in "abcdefghijklmnop"[:MOST_SEATS]]


def fullest(state: TableState) -> TableState:
    """Return the table with as much as it can show: seats, voided races, and a match of changing players."""
    (seat,) = state.seats
    full = replace(seat, name=NAME, nonce_hash=HASH, races=99, wins=99, net=-4950)
    ended = Ended(race=f"{state.code}/1", digest=HASH, reason="nonce-missing", blamed=ids("v"))
    finished = [f"{state.code}/{number}" for number in range(1, RACES + 1)]
    rows = [
        MatchRow(
            player=player,
            name=NAME,
            results=[MatchResult(race=race, place=1, net=-50)],
        )
        for race, first in zip(finished, "abcde", strict=True)
        for player in ids(first)
    ]
    return replace(
        state,
        seats=(seat, *(replace(full, player=player) for player in ids("s")[1:])),
        previous=ended,
        match=Match(races=RACES, finished=finished, rows=rows),
    )


@pytest.mark.parametrize("codec", CODECS.values(), ids=list(CODECS))
async def test_a_change_by_every_player_of_the_fullest_table_fits_the_outbox(
    server: InProcessServer, codec: Codec
) -> None:
    anna = await server.player("Anna")
    code = await gathered(anna, races=RACES)
    cache = server.node.tables
    for player in ids("s")[1:]:
        await server.store.players.create_player(PlayerRow(player=player, token_hash="hash"))
    await cache.change(code, lambda state, _: fullest(state))
    first = len(anna.received.all(TableChanged))

    for number in range(MOST_SEATS):

        def noticed(state: TableState, now: Millis, number: int = number) -> TableState:
            return replace(state, notice=f"{NAME} is ready, the {number}th.")

        await cache.change(code, noticed)
    changes = anna.received.all(TableChanged)[first:]
    assert len(changes) == MOST_SEATS
    assert anna.match is not None
    assert sum(len(codec.encode(each)) for each in changes) <= MOST_UNREAD


# Versions that a node has not seen


class Evening:
    """A random evening on the east node, of which the west node sees some versions only."""

    def __init__(self, nodes: Nodes, chance: Random) -> None:
        self.nodes = nodes
        self.chance = chance
        self.code = ""
        self.here: list[MemoryPlayer] = []
        self.there: list[MemoryPlayer] = []
        self.finished: list[str] = []

    async def play(self, steps: int) -> None:
        nodes, west = self.nodes, self.nodes.west
        self.here = [await nodes.east.player(name) for name in ("Anna", "Ben")]
        self.there = [await west.player(name) for name in ("Cleo", "Dan", "Wanda")]
        self.code = await gathered(*self.here, *self.there[:2])
        await self.there[2].at_table(JoinTable, table=self.code, seat=False)
        await nodes.settle()
        for _ in range(steps):
            west.tap.is_deaf = self.chance.random() < 0.8
            await self.chance.choice((self.step, self.race))()
            await nodes.east.settle()
            if self.chance.random() < 0.3:
                await west.node.tables.refresh(self.code)
                await west.settle()
        west.tap.is_deaf = False
        await nodes.settle()
        await west.node.listener.look_at_tables()
        await nodes.settle()

    async def step(self) -> None:
        host = self.here[0]
        other = self.chance.choice((self.here[1], *self.there[:2]))
        kind, fields = self.chance.choice(
            (
                (LockTable, {"locked": self.chance.random() < 0.3}),
                (ChangeSettings, {"cap": self.chance.choice((3, 5, 10))}),
                (Kick, {"player": other.player}),
            )
            if self.chance.random() < 0.4
            else ((ChangeSettings, {"game": self.chance.choice(("canfield", "lafayette"))}),)
        )
        await host.ask(kind, table=self.code, **fields)

    async def race(self) -> None:
        """Let those on the east node race, with an end that the west node may miss."""
        nodes, racing = self.nodes, [each for each in self.here if each.session.seat == self.code]
        host = self.here[0]
        for each in racing:
            commitment = host.table.commitment
            await each.ask(
                Ready, table=self.code, commitment=commitment, nonce_hash=nonce_hash(each.player)
            )
        await host.ask(Start, table=self.code)
        reveals = racing if self.chance.random() < 0.7 else racing[1:]
        for each in reveals:
            await each.reveal()
        await nodes.east.pass_time(COUNTDOWN_MILLIS)
        if host.table.phase == "running":
            race = host.table.race
            for each in racing:
                await each.ask(CashOut, race=race)
            await nodes.east.settle()
            self.finished.append(race)
            await host.ask(NextRace, table=self.code, race=race)


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_versions_a_node_has_seen_its_players_end_alike(
    nodes: Nodes, seed: int
) -> None:
    evening = Evening(nodes, Random(seed))
    await evening.play(12)
    stayed = [each for each in (*evening.here, *evening.there) if evening.code in followed(each)]
    assert {str(each.table) for each in stayed} == {str(evening.here[0].table)}
    for each in stayed:
        told = [over.outcome.race for over in each.received.all(events.RaceOver)]
        assert told == evening.finished, (each.name, seed)
    seated = {seat.player for seat in evening.here[0].table.seats}
    for each in (*evening.here, *evening.there[:2]):
        assert (each.session.seat == evening.code) == (each.player in seated)
        lost = [lost.reason for lost in each.received.all(events.SeatLost)]
        assert len(lost) == (each.player not in seated)


def followed(player: MemoryPlayer) -> set[str | None]:
    return {player.session.seat, *player.session.watching}
