"""Tables in every phase, with known players, nonces and times."""

import hashlib
from collections.abc import Iterable, Mapping

from saratoga_protocol.events import Outcome, Result, TableSettings
from saratoga_server.domain.tables import (
    TablePhase,
    TableState,
    close,
    elapse,
    finish,
    join,
    new_table,
    ready,
    reveal,
    start,
)
from saratoga_server.ports import Millis

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
    """Return a table whose countdown started at noon and whose call has ended; its racers are these players."""
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
