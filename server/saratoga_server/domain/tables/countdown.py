"""The countdown: from *ready* to the deal, which no player and no server can choose alone.

A racer sends *ready* with the hash of a nonce. The host's *start* fixes the racers. Each racer reveals the
nonce within `REVEAL_MILLIS`, or the countdown is void. A player who sees the others' nonces and withholds
their own gains nothing, because the next countdown has another seed.

If no node could serve the table when the nonces were due, the countdown begins again, once for each *start*.
"""

from typing import Final

from msgspec.structs import replace

from saratoga_rules.dealing.fairness import deal_key, nonce_hash
from saratoga_server.domain.damage import Damage
from saratoga_server.domain.tables.phases import Act, checked
from saratoga_server.domain.tables.ranked import RankedTables, with_ranked
from saratoga_server.domain.tables.state import (
    NO_TIME,
    Change,
    CommandRejected,
    CountdownVoided,
    RaceStarted,
    TablePhase,
    TableState,
    listed,
    with_new_deal,
)
from saratoga_server.ports import Millis

COUNTDOWN_MILLIS: Final = 5_000
"""Milliseconds from *start* to the deal."""

REVEAL_MILLIS: Final = 3_000
"""Milliseconds from *start* until every nonce must have been revealed."""

UNSERVED_MILLIS: Final = 5_000
"""Milliseconds by which a timer is late if no node could serve the table meanwhile."""

LATE_START_MILLIS: Final = 1_000
"""Milliseconds of delay above which a race (after a server outage) gets a later start and deadline."""

MINUTE: Final = 60_000


def ready(
    table: TableState,
    player: str,
    command_id: int,
    *,
    commitment: str,
    nonce_hash: str,
    now: Millis,
) -> Change:
    """Return the change that marks a player as ready for the deal that `commitment` fixes.

    A second nonce hash replaces the first. It may equal another player's: whoever copied a hash cannot
    reveal its nonce, while a refusal would let the copier keep its owner from getting ready.
    """
    seat = checked(table, player, Act.READY)
    if commitment != table.commitment:
        raise CommandRejected(
            "wrong_commitment",
            "The deal has changed since you looked. Look at the table, and get ready again.",
        )
    seat = replace(seat.with_accepted(command_id), nonce_hash=nonce_hash)
    return Change(replace(table.with_seat(seat), touched=now))


def not_ready(table: TableState, player: str, command_id: int, *, now: Millis) -> Change:
    """Return the change that removes the player's ready mark, if there is one."""
    seat = checked(table, player, Act.NOT_READY)
    seat = replace(seat.with_accepted(command_id), nonce_hash="")
    return Change(replace(table.with_seat(seat), touched=now))


def start(table: TableState, player: str, command_id: int, *, now: Millis) -> Change:
    """Return the change that starts the countdown with everyone who is ready and connected."""
    seat = checked(table, player, Act.START)
    if not seat.is_ready:
        raise CommandRejected("nobody_ready", "You aren't ready. Get ready first, then start.")
    racing = [s for s in table.seats if s.is_ready and (s.is_connected or s.player == player)]
    away = [s.name for s in table.seats if s.is_ready and s not in racing]
    counting = replace(
        table.with_seat(seat.with_accepted(command_id)),
        phase=TablePhase.COUNTDOWN,
        racers=tuple(s.player for s in racing),
        racer_names={s.player: s.name for s in racing},
        racer_bots=tuple(s.player for s in racing if s.bot),
        notice=f"Not in this race, because not connected: {listed(away)}." if away else "",
        touched=now,
    )
    return Change(replanned(counting, now))


def replanned(table: TableState, now: Millis) -> TableState:
    """Return the table with the countdown's times as if it began now."""
    start_at = Millis(now + COUNTDOWN_MILLIS)
    return replace(
        table,
        reveal_by=Millis(now + REVEAL_MILLIS),
        start_at=start_at,
        deadline=_deadline(table, start_at),
    )


def begun_again(table: TableState, now: Millis) -> TableState | None:
    """Return the table whose countdown begins again, because no node could serve it when the nonces were due.

    Returns `None` if a node could, or if the countdown has begun again before.
    """
    if table.is_begun_again or now - table.reveal_by <= UNSERVED_MILLIS:
        return None
    return replace(replanned(table, now), is_begun_again=True)


def reveal(table: TableState, player: str, command_id: int, *, nonce: str, now: Millis) -> Change:
    """Return the change that reveals the player's nonce. The last nonce fixes the deal.

    A late nonce is accepted if the countdown begins again (`begun_again`).
    """
    seat = checked(table, player, Act.REVEAL)
    if player not in table.racers:
        raise CommandRejected(
            "not_racing",
            "You were not ready, so you are not in this race and have no nonce to reveal.",
        )
    shown = bytes.fromhex(nonce)
    if nonce_hash(shown) != seat.nonce_hash:
        raise CommandRejected(
            "wrong_nonce",
            "That nonce does not match the hash you sent with ready. Send the one that does.",
        )
    if player in table.missing and now >= table.reveal_by:
        again = begun_again(table, now)
        if again is None:
            raise CommandRejected(
                "wrong_phase",
                "That nonce came too late, and the countdown is void. Get ready again.",
            )
        table = again
    table = replace(
        table.with_seat(seat.with_accepted(command_id)),
        nonces={**table.nonces, player: shown.hex()},
        touched=now,
    )
    return Change(table if table.missing else replace(table, deal_key=_deal_key(table)))


def voided(table: TableState, reason: str, fresh_seed: bytes) -> Change:
    """Return the change that voids the countdown: the table gathers for another deal and shows the reason."""
    notice = f"{reason} There is a new deal: get ready again."
    gathering = replace(with_new_deal(table, fresh_seed), notice=notice)
    return Change(gathering, (CountdownVoided(),))


def voided_for_missing(table: TableState, now: Millis, fresh_seed: bytes) -> Change:
    """Return the change that voids the countdown because nonces were not revealed in time."""
    names = listed(table.name(player) for player in table.missing)
    reason = f"no nonce came from {names} in time"
    if now - table.reveal_by > UNSERVED_MILLIS:
        reason = "the server was away again when the nonces were due"
    return voided(table, f"The countdown was called off: {reason}.", fresh_seed)


def begun(table: TableState, now: Millis, fresh_seed: bytes, ranked_tables: RankedTables) -> Change:
    """Return the change that starts the race; it voids the countdown if the stored deal is damaged."""
    try:
        checked_deal(table)
    except Damage:
        return voided(
            table,
            "The countdown was called off: the server's stored data of the deal were damaged.",
            fresh_seed,
        )
    start_at = table.start_at
    if now - start_at > LATE_START_MILLIS:
        start_at = now
    running = replace(
        table,
        phase=TablePhase.RUNNING,
        start_at=start_at,
        deadline=_deadline(table, start_at),
        reveal_by=NO_TIME,
        looked=now,
    )
    return Change(with_ranked(running, ranked_tables), (RaceStarted(),))


def _deadline(table: TableState, start_at: Millis) -> Millis:
    cap = table.settings.cap
    return Millis(start_at + cap * MINUTE) if cap else NO_TIME


def checked_deal(table: TableState) -> bytes:
    """Return the deal key of the table's race. Raises `Damage` if it is not that of its seed and nonces."""
    try:
        made = _deal_key(table)
    except (ValueError, KeyError) as fault:
        raise Damage(f"the seed or a nonce cannot be read: {fault}") from None
    if made != table.deal_key:
        raise Damage("the deal key is not that of the seed and the nonces")
    return bytes.fromhex(made)


def _deal_key(table: TableState) -> str:
    nonces = {player: bytes.fromhex(table.nonces[player]) for player in table.racers}
    return deal_key(bytes.fromhex(table.seed), table.race_id, nonces).hex()
