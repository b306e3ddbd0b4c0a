"""Measure whether response times reveal hidden cards, without the noise of a network.

Run `python tests/benchmarks/timing_bench.py [--rounds 24] [--game GAME]`. Two servers in this process get
the same commands, legal and not, in races whose deals differ only in cards that are never turned up. Each
pair of responses is timed in random order, and the servers swap deals after every round. For each game the
program prints the number of pairs, the median response time on each deal, the median difference, and z of
the sign test; z is within 4 of 0 if the deals cannot be told apart. The next line is a control: the same
deal on both servers. The last line is a server that takes 2 microseconds longer for a red card, which the
test must detect. The exit code is 1 if the deals can be told apart, or if that server is not detected.
"""

import argparse
import asyncio
import logging
import sys
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter_ns

sys.path.insert(0, str(Path(__file__).parents[1]))

from kit.in_process_server import always, open_in_process_server
from kit.players import MemoryPlayer
from kit.secrecy import ODD_MOVES, is_up, rearranged, slots
from kit.walks import banking, wandering
from saratoga_protocol.commands import Heartbeat, MakeMove
from saratoga_rules.cards import is_red
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.games import GAMES
from saratoga_rules.judge import legal_moves, play
from saratoga_rules.position import Position

STEPS = 60
FEWEST_HIDDEN = 6
MOST_Z = 4.0
"""Largest z of the sign test; chance exceeds it once in 16,000 runs."""
LEAK = 2000
"""Nanoseconds that the leaking server takes longer for a red card."""


@dataclass
class Pairs:
    """Response times in nanoseconds, on one deal and on the other."""

    ones: list[int] = field(default_factory=list)
    others: list[int] = field(default_factory=list)

    @property
    def z(self) -> float:
        """Return z of the sign test for the question which deal takes longer."""
        longer = sum(one > other for one, other in zip(self.ones, self.others, strict=True))
        shorter = sum(one < other for one, other in zip(self.ones, self.others, strict=True))
        return (longer - shorter) / sqrt(max(1, longer + shorter))

    def line(self, name: str) -> str:
        difference = median(one - other for one, other in zip(self.ones, self.others, strict=True))
        return (
            f"{name:<22}{len(self.ones):>8}{median(self.ones) / 1000:>10.2f}"
            f"{median(self.others) / 1000:>10.2f}{difference / 1000:>10.3f}{self.z:>8.2f}"
        )


@dataclass(frozen=True)
class Case:
    """Two deals, and moves that turn up none of the cards in which they differ."""

    game: str
    deals: tuple[Position, Position]
    steps: list[tuple[list[str], str]]
    """The illegal moves at each position, and the legal move that follows."""


def case(game: str, number: int) -> Case:
    """Return a random game, and a second deal that differs only in the order of cards never revealed."""
    chance = Random(f"{game} {number}")
    way = [deal_for_key(GAMES[game], practice_key(f"time {number}"))]
    steps: list[tuple[list[str], str]] = []
    while len(steps) < STEPS:
        legal = legal_moves(GAMES[game], way[-1])
        if not legal:
            break
        move = (banking if chance.random() < 0.6 else wandering)(legal, chance)
        after = play(GAMES[game], way[-1], move)
        if sum(not is_up(slot, [*way, after]) for slot in slots(way[0])) < FEWEST_HIDDEN:
            break
        illegal = [odd for odd in ODD_MOVES if odd not in map(str, legal)]
        steps.append((illegal, str(move)))
        way.append(after)
    hidden = [slot for slot in slots(way[0]) if not is_up(slot, way)]
    shuffled = dict(zip(hidden, chance.sample(hidden, len(hidden)), strict=True))
    return Case(game, (way[0], rearranged(way[0], shuffled)), steps)


async def measure(
    it: Case, pairs: Pairs, chance: Random, *, is_turned: bool, leak: int = 0
) -> None:
    """Send every command to both servers and add the times.

    With `leak`, a red card at the bottom of the reserve costs that many nanoseconds more.
    """
    deals = it.deals[::-1] if is_turned else it.deals
    leaks = [leak if leak and is_red(deal.reserve[0]) else 0 for deal in deals]
    async with (
        open_in_process_server(always(deals[0])) as one,
        open_in_process_server(always(deals[1])) as two,
    ):
        players = []
        for server in (one, two):
            anna, bert = await server.player("Anna", legal=True), await server.player("Bert")
            await server.race(anna, bert, game=it.game, cap=0)
            players.append(anna)
        for count, (illegal, move) in enumerate(it.steps):
            for text in (*illegal, move):
                order = [0, 1] if chance.random() < 0.5 else [1, 0]
                taken = {
                    which: await _timed(players[which], text, count, leaks[which])
                    for which in order
                }
                _note(pairs, taken, is_turned=is_turned)


async def _timed(player: MemoryPlayer, move: str, after: int, leak: int) -> int:
    """Return the nanoseconds until the encoded response; preparations do not count."""
    player.last_id += 1
    command = MakeMove(id=player.last_id, race=f"{player.table.code}/1", after=after, move=move)
    await player.server.answer(player.session, Heartbeat(id=player.last_id))
    began = perf_counter_ns()
    while leak and perf_counter_ns() < began + leak:
        pass
    player.session.codec.encode_event(await player.server.answer(player.session, command))
    return perf_counter_ns() - began


def _note(pairs: Pairs, taken: dict[int, int], *, is_turned: bool) -> None:
    one, other = (taken[1], taken[0]) if is_turned else (taken[0], taken[1])
    pairs.ones.append(one)
    pairs.others.append(other)


async def run(games: list[str], rounds: int) -> bool:
    """Print the figures; return whether they are as expected."""
    print(f"{'microseconds':<22}{'pairs':>8}{'one deal':>10}{'other':>10}{'differ':>10}{'z':>8}")
    chance, fine = Random(0), True
    for game in games:
        pairs, same = Pairs(), Pairs()
        for number in range(rounds):
            it = case(game, number // 2)
            twins = Case(game, (it.deals[0], it.deals[0]), it.steps)
            for is_turned in (False, True):
                await measure(it, pairs, chance, is_turned=is_turned)
                await measure(twins, same, chance, is_turned=is_turned)
        fine &= abs(pairs.z) < MOST_Z
        print(pairs.line(game), flush=True)
        print(same.line("  one deal twice"), flush=True)
    pairs, number = Pairs(), 0
    it = next(each for number in range(99) if differs(each := case("canfield", number)))
    for number in range(rounds):
        await measure(it, pairs, chance, is_turned=bool(number % 2), leak=LEAK)
    print(pairs.line("a server that tells"))
    return fine and abs(pairs.z) > MOST_Z


def differs(it: Case) -> bool:
    one, other = it.deals
    return is_red(one.reserve[0]) != is_red(other.reserve[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--game", choices=list(GAMES), action="append")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    return 0 if asyncio.run(run(given.game or list(GAMES), given.rounds)) else 1


if __name__ == "__main__":
    sys.exit(main())
