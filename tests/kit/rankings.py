"""The leaderboards of a store, and the results of a record that they must count.

This module settles no results, so it notices a server that leaves results in its outbox. It computes
which results count from the record, by the rules in `protocol/README.md`, *Ranked*.
"""

import asyncio
import re

from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.standing import Placed
from saratoga_server.store.keys import OUTBOX
from saratoga_server.store.leaderboards import BoardKey
from saratoga_server.store.opening import Store

SETTLED_WITHIN = 30.0
"""Longest time in seconds for the nodes to settle all results; they try once a second."""

_RANKING = re.compile(r"^leaderboard:([^:]+):(best|bankroll):([^:]+):(bots|people)$")


async def settled(store: Store, within: float = SETTLED_WITHIN) -> bool:
    """Wait until the nodes have emptied the outbox; return False after `within` seconds."""
    loop = asyncio.get_running_loop()
    until = loop.time() + within
    while await store.client.command("LLEN", OUTBOX):
        if loop.time() > until:
            return False
        await asyncio.sleep(0.1)
    return True


async def stored_leaderboards(store: Store) -> set[BoardKey]:
    """Return the keys of all leaderboards that the store holds."""
    found = set()
    async for key in store.client.scan("leaderboard:*", "zset"):
        parts = _RANKING.match(key)
        assert parts, f"{key} is no leaderboard"
        game, ranking, period, kind = parts.groups()
        found.add(BoardKey(game=game, ranking=ranking, period=period, bots=kind == "bots"))
    return found


def counted(record: RaceRecord) -> list[Placed]:
    """Return the results of a race that leaderboards count.

    A race without a time limit counts for no player. People's results count if at
    least two of the racers are people, bots' results if there are at least two racers.
    """
    if not record.cap:
        return []
    is_bot = {racer.player: racer.bot for racer in record.racers}
    takes_people = sum(not bot for bot in is_bot.values()) >= 2
    takes_bots = len(is_bot) >= 2
    return [row for row in record.results if (takes_bots if is_bot[row.player] else takes_people)]
