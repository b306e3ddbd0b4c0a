"""A count of what a store holds: tables, races, boards, moves, players and results."""

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.games import RULES
from saratoga_rules.records.record import parse_record
from saratoga_rules.records.void_record import is_void_record, parse_void_record
from saratoga_server.domain import board as boards
from saratoga_server.domain.damage import BoardDamaged, Damage
from saratoga_server.domain.tables import NewerTable, TablePhase, TableState, unpack
from saratoga_server.domain.tables.countdown import checked_deal
from saratoga_server.ports import StoreUnavailable
from saratoga_server.store.opening import Store


class Census(Struct):
    """What a store holds."""

    tables: int = 0
    newer: int = 0
    """The tables among them that only a newer release can read; nothing else of them is counted."""
    records: int = 0
    """Finished and voided races."""
    running: int = 0
    """Races that run."""
    boards: int = 0
    """Boards of running races."""
    moves: int = 0
    """Log entries of boards and records that can be read."""
    players: int = 0
    results: int = 0
    """Results on the leaderboards."""
    damaged: list[str] = []
    """What cannot be read or replayed, each with the reason."""


async def take_census(store: Store) -> Census:
    """Count what the store holds, and replay the boards of running races.

    Data that cannot be read do not end the count, whatever the error: they are `damaged`.
    """
    census = Census()
    async for code in store.tables.all_codes():
        census.tables += 1
        with _noted(census, f"the table {code}"):
            await _count_table(store, code, census)
    async for _ in store.client.scan("{players}:player:*", "hash"):
        census.players += 1
    async for key in store.client.scan("{leaderboard:*}:results:*", "hash"):
        with _noted(census, f"the results {key}"):
            census.results += int(await store.client.command("HLEN", key))
    return census


@contextmanager
def _noted(census: Census, what: str) -> Iterator[None]:
    """Note as damaged what cannot be read; only the loss of the store itself ends the count."""
    try:
        yield
    except StoreUnavailable:
        raise
    except ValueError as fault:
        census.damaged.append(f"{what}: {fault}")
    except Exception as fault:  # damaged data can raise anything
        census.damaged.append(f"{what}: it cannot be read ({type(fault).__name__}: {fault})")


async def _count_table(store: Store, code: str, census: Census) -> None:
    stored = await store.tables.load_table(code)
    if stored is None:
        raise Damage("it has no version")
    try:
        table = unpack(stored[1])
    except NewerTable:
        census.newer += 1
        return
    for race in range(1, table.race + 1):
        with _noted(census, f"the record of race {code}/{race}"):
            text = await store.tables.load_record(code, race)
            if text is not None:
                census.records += 1
                census.moves += _recorded(text)
    if table.phase is TablePhase.RUNNING:
        census.running += 1
        for player in table.racers:
            census.boards += 1
            with _noted(census, f"the board of {player} in race {table.race_id}"):
                try:
                    census.moves += await _replayed(store, table, player)
                except BoardDamaged as damage:
                    census.moves += len(damage.readable)
                    raise


def _recorded(text: str) -> int:
    """Return the number of log entries in a record."""
    racers = parse_void_record(text).racers if is_void_record(text) else parse_record(text).racers
    return sum(len(racer.log) for racer in racers)


async def _replayed(store: Store, table: TableState, player: str) -> int:
    """Return the length of a board's log. Raises `Damage` if it cannot be replayed."""
    game = RULES.get(table.rules_version, {}).get(table.settings.game)
    stored = await store.boards.load_board(table.code, table.race, player)
    if stored is None:
        raise Damage("it is gone")
    if game is not None:
        board = boards.open_board(deal_for_key(game, checked_deal(table)), table.start_at)
        for _ in boards.fold(game, board, stored):
            pass
    return len(stored.entries)
