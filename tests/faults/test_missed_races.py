"""A player without a connection when the racers are listed misses that race, and nothing else is wrong."""

from kit.faulty_link import FaultyLink, listening, to_ports
from kit.racing_bots import RacingBots, racing_bots_at, store_of
from kit.recorded_players import LINE_UP
from kit.server_process import flags_for, running_server

PACE = 120.0
"""Moves a second of each player."""


def is_called(bots: RacingBots) -> bool:
    """Return whether a call goes on: the countdown has begun, and no racer is listed."""
    notes = bots.players[0].notes
    return notes.phase == "countdown" and notes.present not in notes.nonce_hashes


async def test_a_race_without_a_player_who_was_away_in_the_call_is_complete() -> None:
    flags = flags_for(None, ("--rate", "0", "--log-level", "warning"))
    async with running_server(*flags) as server:
        ports = [server.port]
        link = FaultyLink(to_ports(ports))
        addresses = [server.url] * (len(LINE_UP) - 1)
        async with (
            listening(link),
            racing_bots_at([*addresses, link.url], ("lady-palk",), PACE, server, None) as bots,
        ):
            *racers, absent = bots.players
            await bots.until(lambda: is_called(bots))
            ports.clear()
            link.cut()
            await bots.until(lambda: all(player.notes.is_racing for player in racers))
            board = racers[0].notes.board
            assert board is not None
            ports.append(server.port)
            await bots.finish()
            async with store_of(bots) as store:
                races, moves = await bots.audit(store)
            assert races
            assert moves
            assert all(player.notes.of_race(board.race) for player in racers)
            assert not absent.notes.of_race(board.race)
