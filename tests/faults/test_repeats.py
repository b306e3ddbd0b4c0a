"""A command that was carried out is answered as carried out when it is repeated; no repeat changes anything.

The reply to it may have been lost, and the client may know that only later. When the seat, the deal
or the race that it names is gone, a repeat may be refused instead.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from kit.in_process_server import InProcessServer
from kit.players import MemoryPlayer
from kit.tables import nonce, nonce_hash
from saratoga_protocol.commands import (
    AllowReady,
    CashOut,
    ChangeSettings,
    ClaimName,
    Command,
    CreateTable,
    JoinTable,
    Kick,
    LeaveTable,
    MakeMove,
    NextRace,
    NotReady,
    Ready,
    Reveal,
    Start,
)
from saratoga_protocol.events import BoardChanged, Event, Refused, SeatLost, Snapshot
from saratoga_protocol.refusals import STORE_LOST_DATA
from saratoga_server.domain.tables import unpack
from saratoga_server.domain.tables.countdown import CALL_MILLIS, COUNTDOWN_MILLIS
from saratoga_server.domain.tables.timers import EMPTY_MILLIS
from saratoga_server.store.keys import player_key


@dataclass
class Evening:
    """An evening of three players, and every command that changed something, with its answer."""

    server: InProcessServer
    players: list[MemoryPlayer]
    sent: list[tuple[MemoryPlayer, Command, Event]] = field(default_factory=list)
    past: list[Command] = field(default_factory=list)
    """Commands whose seat was given up, or whose race is over."""

    async def send(self, sender: MemoryPlayer, kind: type[Any], **fields: object) -> Event:
        sender.last_id += 1
        command = kind(id=sender.last_id, **fields)
        answer = await sender.send(command)
        assert not isinstance(answer, Refused), answer
        self.sent.append((sender, command, answer))
        return answer

    def gone(self, gone: MemoryPlayer) -> None:
        """Note that a player's seat was given up."""
        kinds = (ClaimName, CreateTable, LeaveTable)
        self.past += [
            command
            for player, command, _ in self.sent
            if player is gone and not isinstance(command, kinds)
        ]

    def is_past(self, command: Command) -> bool:
        return any(command is each for each in self.past)

    async def stored(self) -> list[object]:
        """Return everything in the store that a command may change, except which connection holds a seat."""
        found: list[object] = []
        for code in sorted(await self.server.codes()):
            table = unpack((await self.server.stored(code))[1])
            seats = [(seat.player, seat.name, seat.nonce_hash) for seat in table.seats]
            found += [
                code,
                table.phase,
                table.race,
                table.settings,
                table.host,
                seats,
                table.kicked,
            ]
            found += [table.commitment, table.nonces, table.racers, table.left]
            for player in self.players:
                board = await self.server.real.boards.load_board(code, 1, player.player)
                found += [board and (board.entries, board.state)]
        for player in self.players:
            row = await self.server.row(player.player)
            found += [row.name, row.table]
        return found

    async def steps(self) -> AsyncIterator[str]:
        """Play the evening; yield the name of each step after it."""
        anna, bert, cleo = self.players
        for player in self.players:
            await self.send(player, ClaimName, name=f"{player.name} the first")
            await self.send(player, ClaimName, name=f"{player.name} the second")
        yield "named"
        answer = await self.send(anna, CreateTable, game="canfield", key="a" * 32)
        assert isinstance(answer, Snapshot)
        code = answer.table.code
        yield "opened"
        for player in (bert, cleo):
            await self.send(player, JoinTable, table=code)
        yield "joined"
        seen = anna.table.commitment
        await self.send(anna, ChangeSettings, table=code, commitment=seen, cap=20)
        await self.send(anna, Kick, table=code, player=cleo.player)
        await self.send(anna, AllowReady, table=code, player=bert.player)
        self.gone(cleo)
        yield "kicked"
        for player in (anna, bert):
            promise = {"commitment": anna.table.commitment, "nonce_hash": nonce_hash(player.player)}
            await self.send(player, Ready, table=code, **promise)
            if player is bert:
                await self.send(bert, NotReady, table=code)
                await self.send(bert, Ready, table=code, **promise)
        yield "ready"
        await self.send(anna, Start, table=code, race=anna.table.race)
        yield "call"
        await self.server.pass_time(CALL_MILLIS)
        yield "countdown"
        for player in (anna, bert):
            shown = {"commitment": anna.table.commitment, "nonce": nonce(player.player)}
            await self.send(player, Reveal, table=code, **shown)
        yield "revealed"
        await self.server.pass_time(COUNTDOWN_MILLIS)
        race = f"{code}/1"
        for player in (anna, bert):
            await self.send(player, MakeMove, race=race, after=0, move="draw")
        yield "running"
        await self.send(bert, CashOut, race=race, after=1)
        yield "one board over"
        await self.send(anna, CashOut, race=race, after=1)
        await self.server.settle()
        yield "over"
        await self.send(anna, NextRace, table=code, race=race)
        await self.server.settle()
        self.past += [sent for _, sent, _ in self.sent if isinstance(sent, MakeMove | CashOut)]
        yield "gathering again"
        await self.send(bert, LeaveTable, table=code)
        self.gone(bert)
        yield "one left"
        await self.send(anna, LeaveTable, table=code)
        self.gone(anna)
        yield "empty"
        await self.server.pass_time(EMPTY_MILLIS)
        yield "closed"
        await self.send(bert, CreateTable, game="caprice", key="b" * 32)
        await self.send(anna, JoinTable, table=bert.table.code)
        yield "at another table"


async def test_every_command_is_answered_as_carried_out_after_every_later_step(
    server: InProcessServer,
) -> None:
    players = [await server.player(name) for name in ("Anna", "Bert", "Cleo")]
    evening, known = Evening(server, players), 0
    async for step in evening.steps():
        await server.node.scheduler.sweep()
        for place, (player, command, answer) in enumerate(evening.sent):
            if isinstance(command, ClaimName | JoinTable | NotReady):
                continue  # each is a choice anew; on one connection they come in their order
            before = await evening.stored()
            again = await player.send(command)
            is_of_a_deal = not isinstance(command, MakeMove | CashOut | CreateTable | LeaveTable)
            if evening.is_past(command):
                assert type(again) is Refused, (step, command, again)
            elif place >= known or not is_of_a_deal or type(again) is not Refused:
                assert type(again) is type(answer), (step, command, again)
            if isinstance(again, BoardChanged):
                assert isinstance(answer, BoardChanged)
                assert again.entries == answer.entries
            await server.settle()
            assert await evening.stored() == before, (step, command)
        known = len(evening.sent)


async def test_a_repeat_is_answered_over_a_new_connection_after_the_server_has_restarted(
    server: InProcessServer,
) -> None:
    players = [await server.player(name) for name in ("Anna", "Bert", "Cleo")]
    evening = Evening(server, players)
    async for step in evening.steps():
        if step == "one left":
            break
    await server.restart()
    back = await server.player("Bert")
    for player, command, answer in evening.sent:
        if player is players[1] and not isinstance(command, ClaimName | JoinTable):
            again = await back.send(command)
            expected = Refused if evening.is_past(command) else type(answer)
            assert type(again) is expected, (command, again)


async def test_a_move_that_was_not_carried_out_is_refused_when_the_next_race_gathers(
    server: InProcessServer,
) -> None:
    players = [await server.player(name) for name in ("Anna", "Bert", "Cleo")]
    evening = Evening(server, players)
    async for step in evening.steps():
        if step == "gathering again":
            break
    await server.node.scheduler.sweep()
    race = f"{players[0].table.code}/1"
    refused = await players[0].ask(MakeMove, race=race, after=1, move="draw")
    assert isinstance(refused, Refused)
    assert refused.code == "no_such_race"
    assert refused.message == "That race is over; its record says whether the move counts."
    # Cleo never had a board in that race
    assert await players[2].refused(CashOut, race=race) == "not_seated"
    assert await players[2].refused(MakeMove, race="nonsense", after=1, move="draw") == "not_seated"


# A player whose row is gone


@pytest.mark.parametrize("kind", [ClaimName, CreateTable, JoinTable])
async def test_a_player_whose_row_is_gone_is_sent_to_say_hello_again(
    server: InProcessServer, kind: type[Any]
) -> None:
    bert = await server.player("Bert")
    table = (await bert.at_table(CreateTable, game="canfield")).table.code
    anna = await server.player("Anna")
    server.store.server.ask("DEL", player_key(anna.player))
    server.store.server.ask("DEL", "name:anna")
    fields: dict[str, dict[str, object]] = {
        "claim_name": {"name": "Dora"},
        "create_table": {"game": "caprice"},
        "join_table": {"table": table},
    }
    given = fields[str(kind.__struct_config__.tag)]
    assert await anna.refused(kind, **given) == "hello_first"
    assert anna.close_codes == [STORE_LOST_DATA.code]
    back = await server.player("Anna")
    assert (back.player, (await server.row(back.player)).name) == (anna.player, "Anna")
    assert isinstance(await back.ask(JoinTable, table=table), Snapshot)


async def test_a_connected_player_whose_row_is_found_gone_is_not_called_banned(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    table = (await bert.at_table(CreateTable, game="canfield")).table.code
    await anna.at_table(JoinTable, table=table)
    server.store.server.ask("DEL", player_key(anna.player))
    await server.node.listener.subscribed()
    await server.node.listener.subscribed()
    await server.settle()
    assert anna.close_codes == [STORE_LOST_DATA.code]
    assert anna.received.all(SeatLost) == []
