"""No player is sent a card that it may not see: every frame of whole races is searched."""

from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from kit.in_process_server import InProcessServer, gathered
from kit.players import MemoryPlayer
from kit.positions import banking, wandering
from kit.secrecy import ODD_MOVES, Leak, check_frame, check_secrets, followed, leak
from saratoga_protocol.codec import JSON
from saratoga_protocol.commands import GetRecord, JoinTable, NextRace
from saratoga_protocol.events import BoardChanged, RaceOver, Refused
from saratoga_rules.games import GAMES
from saratoga_rules.moves import parse_move
from saratoga_rules.records.record import parse_record
from saratoga_server.domain.tables import TableState


async def play(racer: MemoryPlayer, chance: Random, curious: bool) -> None:
    """Make a move that the player's own view offers, or an odd one; cash out if there is none."""
    board = racer.board
    if curious and chance.random() < 0.3:
        after = max(0, board.count - chance.choice((0, 0, 1)))
        answer = await racer.move(chance.choice(ODD_MOVES), after=after)
        assert isinstance(answer, BoardChanged | Refused)
    elif board.legal:
        strategy = wandering if curious else banking
        await racer.move(str(strategy([parse_move(text) for text in board.legal], chance)))
    else:
        await racer.cash_out()


async def search_a_race(server: InProcessServer, game: str, most: int = 200) -> None:
    """Play a race of that game, up to the gathering for the next; raise `Leak` if a frame tells too much."""
    anna = await server.player("Anna", legal=True, subprotocol=JSON)
    racers = [anna] + [
        await server.player(n, legal=True, bot=n == "Otto") for n in ("Bert", "Otto")
    ]
    wanda = await server.player("Wanda", subprotocol=JSON)
    code = await gathered(*racers, game=game)
    await wanda.at_table(JoinTable, table=code, seat=False)
    await server.deal(*racers)
    secret, chance = server.state(code), Random(game)
    for _ in range(most):
        for racer, curious in zip(racers, (False, True, False), strict=True):
            if racer.board.state == "racing":
                await play(racer, chance, curious)
        await server.pass_time(250)
    for racer in racers:
        if racer.board.state == "racing":
            await racer.cash_out()
    await server.settle()
    record = parse_record((await wanda.ask(GetRecord, race=f"{code}/1")).text)
    # no board can be stuck before every stock card was seen
    assert all(len(racer.log) > 5 for racer in record.racers)
    secrets = [secret.seed, secret.deal_key, *secret.nonces.values(), *(r.token for r in racers)]
    assert len(secrets) == 8
    ways = followed(record)
    for player in (*racers, wanda):
        (over,) = player.received.all(RaceOver)
        frames = player.received.frames[: player.received.events.index(over)]
        assert len(frames) > 5
        check_secrets(frames, secrets)
        for frame in frames:
            check_frame(frame, [position for _, position in ways.get(player.player, [])])
    await anna.ask(NextRace, table=code)
    coming = server.state(code)
    assert coming.race == 2
    for player in (*racers, wanda):
        check_secrets(player.received.frames, [coming.seed])


@pytest.mark.parametrize("game", GAMES)
async def test_no_frame_of_a_whole_race_holds_what_its_receiver_may_not_see(
    server: InProcessServer, game: str
) -> None:
    await search_a_race(server, game)


async def test_a_server_that_sends_the_seed_fails_the_check(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leaky(picture: Any, table: TableState, *_: object, **__: object) -> Any:
        return replace(picture, notice=f"just so you know: {table.seed}")

    leak(monkeypatch, "public_view", leaky)
    with pytest.raises(Leak, match="a secret in"):
        await search_a_race(server, "canfield", most=10)
