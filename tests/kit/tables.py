"""Tables in every phase, with known players and times; a running race in a store; results."""

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from saratoga_protocol.events import Outcome, Racer, Result, TableSettings
from saratoga_server.domain.tables import (
    TablePhase,
    TableSeat,
    TableState,
    close,
    elapse,
    finish,
    join,
    new_table,
    ready,
    reveal,
    start,
    unpack,
)
from saratoga_server.ports import (
    BoardCommit,
    CommitOutcome,
    CommitStatus,
    LiveStanding,
    Millis,
    RaceFinish,
    Settlement,
    StoredBoard,
    StoreUnavailable,
)
from saratoga_server.store.opening import Store
from saratoga_server.store.tables import TableWrite

CODE = "mint-otter-42"
NOON = Millis(1_790_000_000_000)
SEED = bytes(range(32))
OTHER_SEED = bytes(range(32, 64))
NODE = "node-1"

ANN, BEN, CLEO, DAN = "a" * 16, "b" * 16, "c" * 16, "d" * 16
NAMES = {ANN: "Ann", BEN: "Ben", CLEO: "Cleo", DAN: "Dan"}


def after(millis: int) -> Millis:
    """Return the time that many milliseconds after noon."""
    return Millis(NOON + millis)


def table_settings(
    game: str, *, cap: int = 10, seats: int = 16, public: bool = False, races: int = 1
) -> TableSettings:
    """Return settings, by default those of a new private table."""
    return TableSettings(game=game, cap=cap, seats=seats, public=public, races=races)


def nonce(player: str) -> str:
    """Return the nonce of a player, the same in every test."""
    return hashlib.sha256(player.encode()).hexdigest()[:32]


def nonce_hash(player: str) -> str:
    return hashlib.sha256(bytes.fromhex(nonce(player))).hexdigest()


def seated(
    *players: str, settings: TableSettings | None = None, bots: tuple[str, ...] = ()
) -> TableState:
    """Return a table where these players have seats; the first is the host."""
    host, *others = players
    table = new_table(
        CODE,
        settings or table_settings(game="canfield"),
        host,
        NAMES[host],
        bot=host in bots,
        node=NODE,
        now=NOON,
        fresh_seed=SEED,
    )
    for other in others:
        table = join(table, other, NAMES[other], bot=other in bots, node=NODE, now=NOON)
    return table


def all_ready(table: TableState, *players: str) -> TableState:
    """Return the table with these players ready; with all players if none is named."""
    for player in players or [seat.player for seat in table.seats]:
        table = ready(
            table,
            player,
            commitment=table.commitment,
            nonce_hash=nonce_hash(player),
            now=NOON,
        )
    return table


def calling(
    *players: str, settings: TableSettings | None = None, bots: Iterable[str] = ()
) -> TableState:
    """Return a table whose host started the countdown at noon; these players are ready."""
    table = all_ready(seated(*players, settings=settings, bots=tuple(bots)))
    return start(table, players[0], now=NOON)


def counting(
    *players: str, settings: TableSettings | None = None, bots: Iterable[str] = ()
) -> TableState:
    """Return a table of these racers whose countdown started at noon and whose call has ended."""
    return called(calling(*players, settings=settings, bots=bots))


def called(table: TableState) -> TableState:
    """Return the table after the end of its call, when the racers are fixed."""
    return elapse(table, table.call_until, OTHER_SEED)


def all_shown(table: TableState, *players: str) -> TableState:
    """Return the table with the nonces of these racers revealed; of all racers if none is named."""
    for player in players or table.racers:
        table = reveal(table, player, nonce=nonce(player), now=after(2_100))
    return table


def running(
    *players: str, settings: TableSettings | None = None, bots: Iterable[str] = ()
) -> TableState:
    """Return a table whose race began five seconds after noon."""
    table = all_shown(counting(*players, settings=settings, bots=bots))
    return elapse(table, table.start_at, OTHER_SEED)


def outcome(table: TableState, nets: Mapping[str, int] | None = None) -> Outcome:
    """Return the outcome of the race, with the given nets or with descending ones."""
    nets = nets or {player: -10 * place for place, player in enumerate(table.racers)}
    return Outcome(
        race=table.race_id,
        game=table.settings.game,
        results=[
            Result(
                player=player,
                place=1 + sum(other > net for other in nets.values()),
                banked=10,
                net=net,
                state="cash-out",
                moves=3,
                head="0" * 16,
            )
            for player, net in sorted(nets.items(), key=lambda item: -item[1])
        ],
        seed=table.seed,
        nonces=dict(table.nonces),
        digest="0" * 64,
    )


def over(*players: str, settings: TableSettings | None = None) -> TableState:
    """Return a table whose race ended a minute after noon."""
    table = running(*players, settings=settings)
    return finish(table, outcome(table), now=after(60_000))


def in_phase(phase: TablePhase) -> TableState:
    """Return a table in that phase with Ann, the host, and Ben; both race or are ready."""
    match phase:
        case TablePhase.GATHERING:
            return all_ready(seated(ANN, BEN))
        case TablePhase.CALL:
            return calling(ANN, BEN)
        case TablePhase.COUNTDOWN:
            return counting(ANN, BEN)
        case TablePhase.RUNNING:
            return running(ANN, BEN)
        case TablePhase.OVER:
            return over(ANN, BEN)
        case TablePhase.CLOSED:
            return close(seated(ANN, BEN), "The house closes.", now=NOON, fresh_seed=SEED)


CODE = "mint-otter-42"
ANNA, BERT = "annaannaannaanna", "bertbertbertbert"
MINUTE = 60_000


def move(
    text: str,
    after: int,
    *,
    player: str = ANNA,
    epoch: int = 1,
    banked: int = 0,
    rises: bool = False,
    code: str = CODE,
) -> BoardCommit:
    """Return the commit of one move."""
    return BoardCommit(
        table=code,
        race=1,
        player=player,
        epoch=epoch,
        after=after,
        entries=(text,),
        banked=banked,
        state="racing",
        rises=rises,
        head="",
    )


def ending(
    state: str, after: int, *entries: str, player: str = ANNA, banked: int = 0, late: bool = False
) -> BoardCommit:
    """Return the commit with which the server ends a board."""
    made = move("", after, player=player, epoch=0, banked=banked)
    return replace(made, entries=entries, state=state, late=late)


async def commit_all(store: Store, commits: Iterable[BoardCommit]) -> list[CommitOutcome]:
    """Send all commits to the store concurrently; return the outcomes in the same order."""
    return await asyncio.gather(*map(store.commits.commit, commits))


@dataclass
class RunningRace:
    """A table whose first race is running, with Anna and Bert."""

    store: Store
    start_at: Millis
    version: int = 1

    async def commit(self, *commits: BoardCommit) -> list[CommitOutcome]:
        return await commit_all(self.store, commits)

    async def board(self, player: str = ANNA) -> StoredBoard:
        board = await self.store.boards.load_board(CODE, 1, player)
        assert board is not None
        return board

    async def texts(self, player: str = ANNA) -> list[str]:
        return [entry.text for entry in (await self.board(player)).entries]

    async def resumed(self, player: str, epoch: int, code: str = CODE) -> None:
        """Give the player's seat to a connection of this epoch."""
        stored = await self.store.tables.load_table(code)
        assert stored is not None
        table = unpack(stored[1])
        seat = table.seat(player)
        assert seat is not None
        after = table.with_seat(replace(seat, epoch=epoch))
        write = TableWrite(version=stored[0], before=table, after=after)
        assert await self.store.tables.save_table(write) is None

    async def standing(self, player: str = ANNA) -> LiveStanding:
        return (await self.store.boards.load_standings(CODE, 1))[player]


async def running_race(
    store: Store,
    *,
    started_ago: int = MINUTE,
    minutes: int = 10,
    banked: int = 0,
    code: str = CODE,
) -> RunningRace:
    """Store a race, `started_ago` milliseconds old, that lasts `minutes`; 0: no deadline."""
    now = await store.tables.now()
    start_at = Millis(now - started_ago)
    racers = {player: Racer(player=player, name=player, nonce_hash="") for player in (ANNA, BERT)}
    counting = TableState(
        code=code,
        settings=table_settings(game="canfield"),
        created=now,
        touched=now,
        phase=TablePhase.COUNTDOWN,
        seats=tuple(TableSeat(player=each, name=each, epoch=1, node=NODE) for each in racers),
        racers=racers,
    )
    running = replace(
        counting,
        phase=TablePhase.RUNNING,
        start_at=start_at,
        deadline=Millis(start_at + minutes * MINUTE) if minutes else Millis(0),
    )
    write = TableWrite(version=0, before=counting, after=running, opening_banked=banked)
    assert await store.tables.save_table(write) is None
    return RunningRace(store, start_at)


TABLES = [f"mint-otter-{number}" for number in range(10, 18)]


class Movers:
    """Players, one at each table, who move without pause and record the acknowledged moves."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.acknowledged: dict[str, list[tuple[str, int, int]]] = {code: [] for code in TABLES}
        self.failures = 0

    async def play(self, code: str, enough: Callable[[], bool]) -> None:
        log = self.acknowledged[code]
        while not enough():
            text = f"t{len(log)}>up"
            try:
                outcome = await self.store.commits.commit(move(text, len(log), code=code))
            except StoreUnavailable:
                self.failures += 1  # nobody knows whether it is written: the same again
                await asyncio.sleep(0.01)
                continue
            assert outcome.status is CommitStatus.DONE, (code, outcome)
            log.append((text, outcome.at, outcome.number))

    def rounds(self, number: int) -> Callable[[], bool]:
        return lambda: all(len(log) >= number for log in self.acknowledged.values())

    async def play_until(self, enough: Callable[[], bool]) -> None:
        async with asyncio.TaskGroup() as group:
            for code in TABLES:
                group.create_task(self.play(code, enough))

    async def check(self, store: Store) -> None:
        """Check that the store has the acknowledged moves, entry by entry."""
        for code, log in self.acknowledged.items():
            board = await store.boards.load_board(code, 1, ANNA)
            assert board is not None
            assert [(entry.text, entry.at, entry.number) for entry in board.entries] == log
            assert [number for _, _, number in log] == list(range(1, len(log) + 1))


async def started_players(store: Store) -> Movers:
    for code in TABLES:
        await running_race(store, code=code)
    return Movers(store)


async def reached(players: Movers, rounds: int) -> None:
    """Wait until every player has made this many moves."""
    while not players.rounds(rounds)():  # noqa: ASYNC110 - they count, and set no event
        await asyncio.sleep(0.001)


def result_of(
    player: str,
    *,
    banked: int = 9,
    net: int = -5,
    reached: int | None = 1000,
) -> Result:
    """Return a racer's result in the form that leaderboards count."""
    return Result(
        player=player,
        place=1,
        banked=banked,
        net=net,
        state="cash-out",
        moves=3,
        reached=reached,
        head="0" * 16,
    )


async def finish_race(store: Store, results: Settlement) -> None:
    """Finish a race of a new table with these results."""
    code, _, number = results.race.partition("/")
    over = TableState(
        code=code,
        settings=table_settings(game=results.game),
        created=results.ended,
        touched=results.ended,
        phase=TablePhase.OVER,
    )
    finish = RaceFinish(race=int(number), record="record", settlement=results)
    write = TableWrite(version=0, before=None, after=over, finish=finish)
    assert await store.tables.save_table(write) is None
