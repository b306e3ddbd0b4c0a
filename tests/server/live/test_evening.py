"""A random evening on two nodes: whatever goes wrong, everyone is told the same, and nothing is lost or done twice.

Three players act from either node. Replies of the store are lost, the store is away, nodes hear
nothing, restart, or fail at what follows from a change; connections are replaced, players go away,
and time passes. Now and then all is quiet, and the evening is looked at: what the players were told
is what the store has, every acknowledged move is in its log once, and every race that ended has a
record, of which its players heard once.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from kit.in_process_server import InProcessServer, Nodes, always, beside, open_in_process_server
from kit.players import MemoryPlayer
from kit.races import replay
from kit.tables import nonce, nonce_hash
from saratoga_protocol.commands import (
    AllowReady,
    CashOut,
    ChangeSettings,
    CreateTable,
    EndRace,
    Heartbeat,
    JoinTable,
    Kick,
    LeaveTable,
    LockTable,
    MakeMove,
    NextRace,
    NotReady,
    Ready,
    Reveal,
    Start,
)
from saratoga_protocol.events import (
    BoardChanged,
    BoardView,
    Event,
    RaceOver,
    Refused,
    SeatLost,
    Snapshot,
    Standing,
    Standings,
)
from saratoga_rules.dealing.fairness import deal_key
from saratoga_rules.records.heads import heads
from saratoga_rules.records.record import RaceRecord, parse_record
from saratoga_rules.records.standing import LAST_BOARD_MILLIS, LOG_ENDINGS
from saratoga_rules.records.verify import verify
from saratoga_server.admin.acts import Administration
from saratoga_server.domain.results import recorded_outcome
from saratoga_server.domain.tables import TablePhase, TableState, public_view, unpack
from saratoga_server.domain.tables.countdown import CALL_MILLIS, COUNTDOWN_MILLIS
from saratoga_server.live import reactions
from saratoga_server.node import Node
from saratoga_server.ports import StoreUnavailable
from saratoga_server.store.leaderboards import BoardKey

NAMES = ("Anna", "Bert", "Cleo")
GAMES = ("canfield-aisleriot", "klondike")
"""Games in which cards come back from the foundations."""
STEPS, LOOK_EVERY = 40, 8
PAUSES = (1, 250, 1000, CALL_MILLIS, COUNTDOWN_MILLIS, LAST_BOARD_MILLIS, 200_000)


def parts(value: object) -> Iterator[Mapping[str, Any]]:
    """Yield every object inside a message."""
    if isinstance(value, dict):
        yield value
    for inner in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from parts(inner)


class Evening:
    """Two nodes, three players at one table, and what they were acknowledged."""

    def __init__(self, nodes: Nodes, chance: Random, monkeypatch: pytest.MonkeyPatch) -> None:
        self.nodes, self.chance, self.code = nodes, chance, ""
        self.players: dict[str, MemoryPlayer] = {}
        """The newest connection of each player."""
        self.connections: list[MemoryPlayer] = []
        self.acknowledged: list[tuple[MemoryPlayer, MakeMove | CashOut, BoardChanged]] = []
        self.is_quiet = False
        """While true, nothing fails."""
        follow, luck = reactions.follow, Random(chance.random())

        async def may_fail(*given: Any) -> None:
            if not self.is_quiet and luck.random() < 0.2:
                raise StoreUnavailable("away")
            await follow(*given)

        monkeypatch.setattr(reactions, "follow", may_fail)

    def node(self) -> InProcessServer:
        return self.chance.choice((self.nodes.east, self.nodes.west))

    def anyone(self) -> MemoryPlayer:
        return self.chance.choice([*self.players.values()])

    def host(self) -> MemoryPlayer:
        """Return who is host by what that player was told; anyone if nobody is."""
        here = [each for each in self.players.values() if each.player == each.table.host]
        return self.chance.choice(here or [*self.players.values()])

    async def connect(self, name: str) -> None:
        """Connect a player, at either node, and sit down, or watch if there is no seat."""
        player = self.players[name] = await self.node().player(name, legal=True)
        self.connections.append(player)
        if self.code:
            snapshot = await self.send(player, JoinTable, table=self.code)
            if isinstance(snapshot, Refused):
                await self.send(player, JoinTable, table=self.code, seat=False)
            elif isinstance(snapshot, Snapshot) and snapshot.board is not None:
                assert snapshot.board.count >= self.count(player, snapshot.board.race)

    def count(self, player: MemoryPlayer, race: str) -> int:
        """Return how many entries the player's board must have."""
        made = [
            answer.place - 1 + len(answer.entries)
            for each, command, answer in self.acknowledged
            if (each.player, command.race) == (player.player, race)
        ]
        return max(made, default=0)

    async def send(self, by: MemoryPlayer, kind: type[Any], **fields: object) -> Event:
        """Send a command, mostly again while the store does not answer, and note what is acknowledged."""
        by.last_id += 1
        command, faults = kind(id=by.last_id, **fields), self.nodes.east.faults
        faults.unavailable = self.chance.random() < 0.05
        faults.lost_replies = self.chance.random() < 0.1
        answer = await by.send(command)
        faults.unavailable = False
        for _ in range(self.chance.choice((0, 2, 2))):
            if isinstance(answer, Refused) and answer.code == "store_unavailable":
                answer = await by.send(command)
        if isinstance(command, MakeMove | CashOut) and isinstance(answer, BoardChanged):
            self.acknowledged.append((by, command, answer))
        return answer

    # Steps

    async def step(self) -> None:
        steps = {
            self.the_host_acts: 3, self.somebody_acts: 3, self.somebody_plays: 6, self.a_race_begins_or_ends: 8,
            self.time_passes: 3, self.a_move_is_repeated: 2, self.a_connection_is_replaced: 2,
            self.somebody_goes_away: 1, self.a_node_hears_nothing: 3,
            self.a_node_restarts: 1,
        }  # fmt: skip
        [what] = self.chance.choices([*steps], [*steps.values()])
        await what()

    async def the_host_acts(self) -> None:
        host, other = self.host(), self.anyone()
        kind, fields = self.chance.choice(
            (
                (LockTable, {"locked": self.chance.random() < 0.3}),
                (ChangeSettings, {"cap": self.chance.choice((3, 5, 10))}),
                (ChangeSettings, {"game": self.chance.choice(GAMES)}),
                (AllowReady, {"player": other.player}),
                (Kick, {"player": other.player}),
                (Kick, {"player": self.chance.choice(self.connections).player}),
                (NextRace, {"race": host.table.race}),
                (EndRace, {"race": host.table.race}),
            )
        )
        where = {} if kind is EndRace else {"table": self.code}
        await self.send(host, kind, **where, **fields)

    async def somebody_acts(self) -> None:
        player = self.anyone()
        promise = {"commitment": player.table.commitment, "nonce_hash": nonce_hash(player.player)}
        kind, fields = self.chance.choice(
            (
                (JoinTable, {}),
                (LeaveTable, {}),
                (NotReady, {}),
                (Ready, promise),
                (Reveal, {"nonce": nonce(player.player)}),
            )
        )
        await self.send(player, kind, table=self.code, **fields)

    def board(self, player: MemoryPlayer) -> BoardView | None:
        """Return the player's board in the race that runs by what the player was told."""
        events = [getattr(event, "board", None) for event in player.received.events]
        boards = [board for board in events if board is not None]
        is_on = player.table.phase == "running" and boards and boards[-1].state == "racing"
        return boards[-1] if is_on and boards[-1].race == player.table.race else None

    async def somebody_plays(self) -> None:
        for player in (self.anyone(), self.anyone()):
            for _ in range(2):
                if (board := self.board(player)) is not None and board.legal:
                    banking = [move for move in board.legal if "up" in move]
                    move = self.chance.choice(banking or board.legal)
                    await self.send(player, MakeMove, race=board.race, after=board.count, move=move)

    async def a_race_begins_or_ends(self) -> None:
        host = self.host()
        if host.table.phase == "running":
            for player in self.players.values():
                if self.chance.random() < 0.9 and self.board(player) is not None:
                    await self.send(player, CashOut, race=player.table.race)
            await self.nodes.settle()
            return
        if host.table.phase == "over":
            await self.send(host, NextRace, table=self.code, race=host.table.race)
            await self.nodes.settle()
        for player in self.players.values():
            promise = {"commitment": host.table.commitment, "nonce_hash": nonce_hash(player.player)}
            await self.send(player, Ready, table=self.code, **promise)
        await self.send(host, Start, table=self.code)
        await self.nodes.pass_time(CALL_MILLIS)
        for player in self.players.values():
            if self.chance.random() < 0.95:
                await self.send(player, Reveal, table=self.code, nonce=nonce(player.player))
        await self.nodes.pass_time(COUNTDOWN_MILLIS)

    async def time_passes(self) -> None:
        for player in self.players.values():
            if self.chance.random() < 0.7:
                await player.ask(Heartbeat, active=True)
        await self.nodes.pass_time(self.chance.choice(PAUSES))

    async def a_move_is_repeated(self) -> None:
        if self.acknowledged:
            player, command, answer = self.chance.choice(self.acknowledged[-6:])
            again = await player.send(command)
            if isinstance(again, BoardChanged):
                assert (again.place, again.entries) == (answer.place, answer.entries)

    async def a_connection_is_replaced(self) -> None:
        await self.connect(self.chance.choice(NAMES))

    async def somebody_goes_away(self) -> None:
        name = self.chance.choice(NAMES)
        await self.players[name].disconnect()
        self.connections.remove(self.players[name])
        await self.nodes.pass_time(self.chance.choice((1, 1000, 61_000)))
        await self.connect(name)

    async def a_node_hears_nothing(self) -> None:
        node = self.node()
        node.tap.is_deaf = not node.tap.is_deaf
        if not node.tap.is_deaf:
            await node.node.listener.subscribed()

    async def a_node_restarts(self) -> None:
        node = self.node()
        lost = [name for name, each in self.players.items() if each in node.players]
        self.connections = [each for each in self.connections if each not in node.players]
        await node.restart()
        for name in lost:
            await self.connect(name)

    async def an_administrator_closes(self) -> None:
        """Close the table, whatever happens there."""
        store = self.nodes.east.store
        await self.quiet()
        tables = (await Node.for_administration(store)).tables
        await Administration(store, tables, "zoe@laptop").close(self.code, "Closing time.")
        await self.nodes.settle()

    async def quiet(self) -> None:
        """Let everything be told that is still to be told."""
        nodes = self.nodes
        for node in (nodes.east, nodes.west):
            if node.tap.is_deaf:
                node.tap.is_deaf = False
                await node.node.listener.subscribed()
        nodes.east.faults.lost_replies, self.is_quiet = 0, True
        for _ in range(3):
            await nodes.pass_time(1000)
            for node in (nodes.east, nodes.west):
                await node.node.listener.look_at_tables()
            await nodes.settle()
        self.is_quiet = False

    # What was told, and what is stored

    async def is_closed(self) -> bool:
        """Look at the evening; return whether its table is closed."""
        await self.quiet()
        state = unpack((await self.nodes.east.stored(self.code))[1])
        seats = {seat.player: seat for seat in state.seats}
        for player in self.connections:
            holds = player.session.seat == self.code
            if holds or self.code in player.session.watching:
                assert replace(player.table, version=0) == public_view(state, 0), player.name
                assert player.close_codes == []
                assert player.match == state.match
            assert not holds or player.session.epoch == seats[player.player].epoch
        for seat in state.seats:
            holders = [
                player
                for player in self.connections
                if (player.session.seat, player.player) == (self.code, seat.player)
            ]
            assert len(holders) == seat.is_connected
        await self.moves_are_stored()
        await self.standings_are_known(state)
        await self.races_are_recorded(state)
        return state.phase is TablePhase.CLOSED

    async def moves_are_stored(self) -> None:
        for player, command, answer in self.acknowledged:
            number = int(command.race.rpartition("/")[2])
            boards = self.nodes.east.real.boards
            board = await boards.load_board(self.code, number, player.player)
            assert board is not None
            entries = [entry.split(" ", 2)[2] for entry in answer.entries]
            stored = [entry.text for entry in board.entries]
            assert stored[answer.place - 1 :][: len(entries)] == entries

    async def standings_are_known(self, state: TableState) -> None:
        if state.phase is TablePhase.RUNNING:
            stored = await self.nodes.east.real.boards.load_standings(self.code, state.race)
            for player in self.connections:
                told: list[Standing] = []
                for event in player.received.events:
                    if isinstance(event, Snapshot) or getattr(event, "race", "") == state.race_id:
                        told = getattr(event, "standings", told)
                if player.session.seat == self.code:
                    if player.player in state.racers:
                        assert player.board.race == state.race_id, "dealt"
                    counts = {row.player: (row.banked, row.state) for row in told}
                    assert counts == {
                        racer: (each.banked, each.state) for racer, each in stored.items()
                    }

    async def races_are_recorded(self, state: TableState) -> None:
        outcomes, raced = {}, dict.fromkeys((each.player for each in self.connections), 0)
        last = int(state.previous.race.rpartition("/")[2]) if state.previous else 0
        for number in range(1, last + 1):
            text = await self.nodes.east.real.tables.load_record(self.code, number)
            assert text is not None, number
            assert verify(text).ok
            record = parse_record(text)
            if not record.voided:
                self.heads_are_of(record)
                outcomes[record.race_id] = recorded_outcome(text)
                for row in record.results if record.ranked else ():
                    raced[row.player] += 1
        for player in self.connections:
            told = [over.outcome for over in player.received.all(RaceOver)]
            assert len({each.race for each in told}) == len(told), player.name
            assert all(each == outcomes[each.race] for each in told)
            places = enumerate(player.received.events)
            since = max(
                (n for n, each in places if isinstance(each, SeatLost | Snapshot)), default=0
            )
            if player.session.seat == self.code:  # without a pause since then
                changes = player.received.all(BoardChanged, since)
                dealt = {change.board.race for change in changes if not change.entries}
                assert dealt & set(outcomes) <= {each.race for each in told}, player.name
        for player_id, races in raced.items():
            rows = [
                await self.nodes.east.real.leaderboards.row(
                    BoardKey(game=game, ranking="bankroll", period="all", bots=False), player_id
                )
                for game in GAMES
            ]
            assert sum(row.races for row in rows if row) == races

    def heads_are_of(self, record: RaceRecord) -> None:
        """Check every head that anybody was sent in the race against the record."""
        nonces = {racer.player: bytes.fromhex(racer.nonce) for racer in record.racers}
        key = deal_key(bytes.fromhex(record.seed), record.race_id, nonces)
        chains = {
            racer.player: heads(key, record.race_id, racer.player, racer.log)
            for racer in record.racers
        }
        for player in self.connections:
            for event in player.received.events:
                race = getattr(event, "race", None)
                for part in parts(msgspec.to_builtins(event)):
                    if "count" in part and part["race"] == record.race_id:
                        assert part["head"] == chains[player.player][part["count"]]
                    if "place" in part and "head" in part and race == record.race_id:
                        chain = chains[part["player"]]
                        entries = chain.index(part["head"])
                        position = replay(record, part["player"])[entries]
                        assert part["banked"] == position.banked
                        log = record.racer(part["player"]).log
                        last = log[entries - 1].text if entries else ""
                        assert part["state"] == (last if last in LOG_ENDINGS else "racing")


@pytest.mark.parametrize("seed", [*range(4), int(os.environ.get("SARATOGA_SEED", "4"))])
async def test_an_evening_is_told_alike_and_loses_nothing(
    nodes: Nodes, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    evening = Evening(nodes, Random(seed), monkeypatch)
    await evening.connect("Anna")
    opened = await evening.players["Anna"].at_table(CreateTable, game=GAMES[0], races=3)
    evening.code = opened.table.code
    for name in NAMES[1:]:
        await evening.connect(name)
    for number in range(1, STEPS + 1):
        await evening.step()
        if number % LOOK_EVERY == 0 and await evening.is_closed():
            break
    else:
        await evening.an_administrator_closes()
        assert await evening.is_closed()


# What heads must not show


BANK_AND_TAKE_BACK = (
    "stock=2C3C4C waste=- reserve=- up=1,1,1,1 down=- columns=2D/2H/3S/3D base=1 passes=1"
)


def rows_of(events: Iterable[Standings | Snapshot], player: str) -> list[Standing]:
    return [row for each in events for row in each.standings if row.player == player]


async def test_a_head_changes_only_with_the_count_and_the_state_that_were_sent() -> None:
    async with open_in_process_server(always(BANK_AND_TAKE_BACK)) as server:
        anna, bert, code = await server.two_racing(game=GAMES[0])
        wanda = await server.player("Wanda")
        await server.pass_time(250)

        async def ticked() -> Standing:
            since = len(bert.received.events)
            await server.pass_time(250)
            return rows_of(bert.received.all(Standings, since), anna.player)[-1]

        await anna.moves("t1>up")
        banked = await ticked()
        assert banked.banked == 5
        await anna.moves("draw", "up.D>t3", "t3>up")
        snapshot = await wanda.at_table(JoinTable, table=code, seat=False)
        assert rows_of([snapshot], anna.player) == [banked]
        assert await ticked() == banked
        await anna.moves("t2>up")
        higher = await ticked()
        assert (higher.banked, higher.head) == (6, anna.board.head)
        await anna.moves("up.H>t1")
        lower = await ticked()
        assert (lower.banked, lower.head) == (5, anna.board.head)
        assert lower.head != banked.head


async def test_a_count_on_one_node_is_shown_to_the_racers_of_another() -> None:
    async with (
        open_in_process_server(always(BANK_AND_TAKE_BACK)) as server,
        beside(server) as nodes,
    ):
        anna, bert, _ = await nodes.two_racing()
        dealt = anna.board.banked
        await anna.moves("t1>up")
        await nodes.pass_time(250)
        rows = bert.received.all(Standings)[-1].standings
        assert {row.player: row.banked for row in rows}[anna.player] == dealt + 1
