"""A table of two players on a server in the test's process, and a change of it."""

from kit.in_process_server import InProcessServer, gathered
from kit.players import MemoryPlayer
from saratoga_server.domain.tables import Change, TableState, kick
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.table_cache import Transition
from saratoga_server.ports import Millis


async def two_at(server: InProcessServer) -> tuple[MemoryPlayer, MemoryPlayer, str]:
    """Seat Anna, who is the host, and Bert at a table; return them and its code."""
    anna, bert = await server.player("Anna"), await server.player("Bert")
    return anna, bert, await gathered(anna, bert)


def live_table(server: InProcessServer, code: str) -> LiveTable:
    """Return a table that the server holds."""
    table = server.node.table_cache.known(code)
    assert table is not None
    return table


def kicking(host: MemoryPlayer, target: MemoryPlayer) -> Transition:
    """Return the transition by which the host kicks another player."""

    def transition(state: TableState, now: Millis) -> Change:
        return kick(state, host.player, 100, target=target.player, now=now, fresh_seed=bytes(32))

    return transition
