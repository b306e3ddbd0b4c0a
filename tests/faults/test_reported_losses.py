"""Losses outside the promise, on real processes: an older copy of the store's files, and a deleted store.

The server cannot prevent them. It must log every one and tell the players, and must not go on silently.
"""

import asyncio
import shutil
import time
from pathlib import Path

import pytest

from kit.racing_bots import RacingBots, racing_bots
from kit.recorded_players import Notes
from kit.stores import StoreServer
from saratoga_client.session import testimony

PACE = 15.0
"""Moves a second of each player, so slow that no board ends before the loss."""

MOVES = 60
"""The number of acknowledged moves that are lost, in all."""

UNAVAILABLE = 503

WITHIN = 30.0
"""Longest time in seconds for a log line; a bound, not a measurement."""

LOSS = "The server's store lost data"
"""The beginning of the sentence that a player is told."""

valkey_only = pytest.mark.parametrize("mortal_store", ["valkey"], indirect=True)


def moves(bots: RacingBots) -> int:
    return sum(len(player.notes.acknowledged) for player in bots.players)


def logged(bots: RacingBots, event: str) -> list[dict[str, object]]:
    return [each for each in bots.server_process.events() if each["event"] == event]


def is_told(notes: Notes) -> bool:
    """Return whether the player was told of a loss."""
    return any(text.startswith(LOSS) for text in notes.told)


def sequence(store: StoreServer) -> int:
    """Return the number of the newest write that the nodes remember."""
    reply = store.ask_all("HGET", "ledger", "sequence")
    return int(reply.split(b"\r\n")[1])


async def until_moves(bots: RacingBots, number: int) -> None:
    until = moves(bots) + number
    await bots.until(lambda: moves(bots) >= until)


async def until_refused(bots: RacingBots) -> str:
    """Wait until the server refuses the store and has logged so; return the logged reason."""
    until = time.monotonic() + WITHIN
    while True:
        status, _ = await bots.server_process.get("/readyz")
        if status == UNAVAILABLE and (lines := logged(bots, "store_refused")):
            return str(lines[-1]["reason"])
        assert time.monotonic() < until, "the server goes on with the emptied store"


async def lose_moves(bots: RacingBots, store: StoreServer, older: Path) -> None:
    """Give the store an older copy of its files; wait until every player is back on a shorter board."""
    files = store.folder / "appendonlydir"
    shutil.copytree(files, older)
    before = sequence(store)
    await until_moves(bots, MOVES)
    # a loss between two raises of the ledger is noticed board by board only
    await bots.until(lambda: sequence(store) > before)
    await asyncio.to_thread(store.kill)
    shutil.rmtree(files)
    shutil.copytree(older, files)
    await asyncio.to_thread(store.start)
    await bots.until(lambda: all(player.notes.taken_back for player in bots.players))


@valkey_only
async def test_every_move_that_an_older_copy_lacks_is_logged_and_said(
    mortal_store: StoreServer, tmp_path: Path
) -> None:
    async with racing_bots(("lady-palk",), PACE, mortal_store) as bots:
        await bots.mid_race()
        acknowledged = {player.notes.player: player.notes for player in bots.players}
        await lose_moves(bots, mortal_store, tmp_path / "older")
        assert logged(bots, "store_lost_writes")
        lost = {line["player"]: line for line in logged(bots, "moves_lost")}
        assert set(lost) == set(acknowledged)
        for player, notes in acknowledged.items():
            assert is_told(notes)
            line = lost[player]
            assert int(str(line["stored"])) < int(str(line["acknowledged"]))
        await until_moves(bots, MOVES)


@valkey_only
@pytest.mark.parametrize("durability", ["fast", "safe"])
async def test_a_bot_takes_lost_moves_for_a_lie_only_if_the_server_may_lose_none(
    mortal_store: StoreServer, tmp_path: Path, durability: str
) -> None:
    async with racing_bots(("lady-palk",), PACE, mortal_store, durability) as bots:
        await bots.mid_race()
        board = bots.players[0].notes.board
        assert board is not None
        await lose_moves(bots, mortal_store, tmp_path / "older")

        def testimonies() -> list[testimony.Testimony]:
            known = [player.bot.testimonies for player in bots.players if player.bot is not None]
            return [each[board.race] for each in known if board.race in each]

        await bots.until(lambda: len(testimonies()) == len(bots.players))
        for said in testimonies():
            if durability == "fast":
                assert (said.disagreements, said.verdict) == ((), "witnessed here")
                assert said.losses.startswith("the server says that it lost ")
            else:
                assert any("this player's entry" in each for each in said.disagreements)
                assert said.losses == ""


@valkey_only
async def test_an_emptied_store_is_refused_and_its_players_are_told(
    mortal_store: StoreServer,
) -> None:
    async with racing_bots(("lady-palk",), PACE, mortal_store) as bots:
        await bots.mid_race()
        await until_moves(bots, len(bots.players))
        all_notes = [player.notes for player in bots.players]
        mortal_store.delete_data()
        await bots.until(lambda: all(notes.told or notes.unavailable for notes in all_notes))
        reason = await until_refused(bots)
        assert reason.startswith("The store does not have the data of this server")
        silent = [notes.told for notes in all_notes if not (is_told(notes) or notes.unavailable)]
        assert silent == []
        # the guard may refuse the store before any player asks for a board or the table
        lost = logged(bots, "moves_lost") + logged(bots, "table_lost")
        assert bool(lost) == any(map(is_told, all_notes))
        # the table is gone, so the bots leave
        await bots.stop_racing()
