"""No player is sent a card that it may not see: every frame of whole races is searched."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from random import Random
from typing import Any

import msgspec
import pytest

from kit.in_process_server import ListeningServer, counted_down, gathered
from kit.players import Player, SocketPlayer, player_at
from kit.positions import banking, wandering
from kit.secrecy import ODD_MOVES, Leak, check_frame, check_secrets, followed, leak
from saratoga_protocol.codec import JSON
from saratoga_protocol.commands import GetRecord, JoinTable, NextRace
from saratoga_protocol.events import BoardChanged, RaceOver, Record, Refused, TableChanged
from saratoga_rules.games import GAMES
from saratoga_rules.moves import parse_move
from saratoga_rules.records.record import RaceRecord, parse_record
from saratoga_server.domain import tables
from saratoga_server.store.opening import Store


async def stored_table(store: Store, code: str) -> tables.TableState:
    """Return the stored table, including its secrets."""
    stored = await store.tables.load_table(code)
    assert stored is not None
    return tables.unpack(stored[1])


async def race_on(racer: Player, chance: Random, curious: bool, most: int) -> None:
    """Play from the player's own view until the board ends, or for `most` moves."""
    await racer.received.next(BoardChanged, 0, entries=[])
    for _ in range(most):
        board = racer.board
        if board.state != "racing":
            return
        if curious and chance.random() < 0.3:
            odd = chance.choice(ODD_MOVES)
            answer = await racer.move(odd, after=board.count - chance.choice((0, 0, 1)) % 2**53)
            assert isinstance(answer, BoardChanged | Refused)
            continue
        assert board.legal is not None
        if not board.legal:
            break
        moves = [parse_move(text) for text in board.legal]
        strategy = wandering if curious else banking
        await racer.move(str(strategy(moves, chance)))
    if racer.board.state == "racing":
        await racer.cash_out()


@dataclass
class Raced:
    """A finished race, and all frames that were sent before its end."""

    record: RaceRecord
    frames: dict[str, list[bytes | str]]
    """Frames by player's name, up to the end of the race."""
    racers: dict[str, str]
    """Player ids by name."""
    secrets: list[str]
    nonces: dict[str, str]

    def check(self) -> None:
        """Raise `Leak` if a player was sent what it may not see."""
        ways = followed(self.record)
        for name, frames in self.frames.items():
            own = [position for _, position in ways.get(self.racers.get(name, ""), [])]
            for frame in frames:
                check_frame(frame, own)
            check_secrets(frames, [*self.secrets, *self.nonces.values()])


@asynccontextmanager
async def at_the_table(
    listener: ListeningServer,
) -> AsyncIterator[tuple[list[SocketPlayer], SocketPlayer]]:
    """Connect three racers of different kinds, and a watcher."""
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        racers = [
            await enter(player_at(listener.url, "Anna", legal=True, subprotocol=JSON)),
            await enter(player_at(listener.url, "Bert", legal=True)),
            await enter(player_at(listener.url, "Otto", legal=True, bot=True)),
        ]
        yield racers, await enter(player_at(listener.url, "Wanda", subprotocol=JSON))


async def raced(listener: ListeningServer, store: Store, game: str, most: int = 200) -> Raced:
    """Play a whole race of that game, up to the gathering for the next race."""
    async with at_the_table(listener) as (racers, watcher):
        everyone = [*racers, watcher]
        code = await gathered(*racers, game=game)
        await watcher.at_table(JoinTable, table=code, seat=False)
        await counted_down(*racers)
        secret = await stored_table(store, code)
        assert len(secret.nonces) == len(racers)
        assert secret.deal_key
        chance = Random(game)
        await asyncio.gather(
            *(
                race_on(racer, Random(chance.random()), curious, most)
                for racer, curious in zip(racers, (False, True, False), strict=True)
            )
        )
        overs = [await each.received.next(RaceOver, 0) for each in everyone]
        ends = [
            each.received.events.index(over) for each, over in zip(everyone, overs, strict=True)
        ]
        record = await watcher.ask(GetRecord, race=f"{code}/1")
        assert isinstance(record, Record)
        counts = [len(each.received.events) for each in everyone]
        await racers[0].ask(NextRace, table=code)
        for each, since in zip(everyone, counts, strict=True):
            await each.received.next(TableChanged, since)
        coming = await stored_table(store, code)
        assert coming.race == 2
        for each in everyone:
            check_secrets(each.received.frames, [coming.seed])
        return Raced(
            record=parse_record(record.text),
            frames={
                each.name: each.received.frames[:end]
                for each, end in zip(everyone, ends, strict=True)
            },
            racers={racer.name: racer.player for racer in racers},
            secrets=[secret.seed, secret.deal_key, *(racer.token for racer in racers)],
            nonces=dict(secret.nonces),
        )


@pytest.mark.parametrize("game", GAMES)
async def test_no_frame_of_a_whole_race_holds_what_its_receiver_may_not_see(
    listener: ListeningServer, valkey: Store, game: str
) -> None:
    race = await raced(listener, valkey, game)
    assert min(len(frames) for frames in race.frames.values()) > 5
    # No board can be stuck before every stock card was seen.
    assert all(len(racer.log) > 5 for racer in race.record.racers)
    race.check()


async def test_a_server_that_sends_the_seed_fails_the_check(
    listener: ListeningServer, valkey: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leaky(picture: Any, table: tables.TableState, *_: object, **__: object) -> Any:
        return msgspec.structs.replace(picture, notice=f"just so you know: {table.seed}")

    leak(monkeypatch, "public_view", leaky)
    with pytest.raises(Leak, match="a secret in"):
        (await raced(listener, valkey, "canfield", most=10)).check()
