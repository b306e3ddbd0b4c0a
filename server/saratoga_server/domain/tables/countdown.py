"""From *ready* to the deal: who races, and the nonces that make the deal nobody's choice.

A racer says *ready* with the hash of a nonce. The host's *start* fixes the racers; each reveals the
nonce within `REVEAL_MILLIS`, or the countdown is void. Nobody gains by seeing the others' nonces and
withholding their own: the next countdown has another seed.
"""

from typing import Final

from msgspec.structs import replace

from saratoga_rules.dealing.fairness import deal_key, nonce_hash
from saratoga_server.domain.tables.phases import Act, checked
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
"""From *start* to the deal."""

REVEAL_MILLIS: Final = 3_000
"""From *start* until every nonce must have been revealed."""

LATE_START_MILLIS: Final = 1_000
"""A start later than this (the server was away) shifts the race's clock."""

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
    """Be ready for the deal that `commitment` fixes. A second hash replaces the first."""
    seat = checked(table, player, Act.READY)
    if commitment != table.commitment:
        raise CommandRejected(
            "wrong_commitment",
            "The coming deal has changed since you looked. Look at the table, and say ready again.",
        )
    if any(other.nonce_hash == nonce_hash for other in table.seats if other.player != player):
        raise CommandRejected(
            "wrong_nonce", "Somebody at the table gave that hash. Draw a nonce of your own."
        )
    seat = replace(seat.with_accepted(command_id), nonce_hash=nonce_hash)
    return Change(replace(table.with_seat(seat), touched=now))


def not_ready(table: TableState, player: str, command_id: int, *, now: Millis) -> Change:
    """Take the ready mark back, if there is one."""
    seat = checked(table, player, Act.NOT_READY)
    seat = replace(seat.with_accepted(command_id), nonce_hash="")
    return Change(replace(table.with_seat(seat), touched=now))


def start(table: TableState, player: str, command_id: int, *, now: Millis) -> Change:
    """Start the countdown with everyone who is ready and connected."""
    seat = checked(table, player, Act.START)
    if not seat.is_ready:
        raise CommandRejected("nobody_ready", "Say ready yourself first; then start.")
    racing = [s for s in table.seats if s.is_ready and (s.is_connected or s.player == player)]
    away = [s.name for s in table.seats if s.is_ready and s not in racing]
    start_at = Millis(now + COUNTDOWN_MILLIS)
    counting = replace(
        table.with_seat(seat.with_accepted(command_id)),
        phase=TablePhase.COUNTDOWN,
        racers=tuple(s.player for s in racing),
        racer_names={s.player: s.name for s in racing},
        racer_bots=tuple(s.player for s in racing if s.bot),
        reveal_by=Millis(now + REVEAL_MILLIS),
        start_at=start_at,
        deadline=_deadline(table, start_at),
        notice=f"Not connected, and so not in this race: {listed(away)}." if away else "",
        touched=now,
    )
    return Change(counting)


def reveal(table: TableState, player: str, command_id: int, *, nonce: str, now: Millis) -> Change:
    """Reveal the nonce. The last one fixes the deal."""
    seat = checked(table, player, Act.REVEAL)
    if player not in table.racers:
        raise CommandRejected(
            "not_racing", "You were not ready, and sit this race out. Nothing to show."
        )
    shown = bytes.fromhex(nonce)
    if nonce_hash(shown) != seat.nonce_hash:
        raise CommandRejected(
            "wrong_nonce",
            "That nonce does not fit the hash you said ready with. Show the one that does.",
        )
    if player in table.missing and now >= table.reveal_by:
        raise CommandRejected(
            "wrong_phase", "That nonce came too late; the countdown is void. Say ready again."
        )
    table = replace(
        table.with_seat(seat.with_accepted(command_id)),
        nonces={**table.nonces, player: shown.hex()},
        touched=now,
    )
    return Change(table if table.missing else replace(table, deal_key=_deal_key(table)))


def voided(table: TableState, reason: str, fresh_seed: bytes) -> Change:
    """Void the countdown: gather again for another deal, and say why."""
    notice = f"{reason} There is a new deal; say ready again."
    gathering = replace(with_new_deal(table, fresh_seed), notice=notice)
    return Change(gathering, (CountdownVoided(),))


def voided_for_missing(table: TableState, fresh_seed: bytes) -> Change:
    """Void the countdown because nonces were not revealed in time."""
    names = listed(table.name(player) for player in table.missing)
    return voided(
        table, f"The countdown was called off: nothing came from {names} in time.", fresh_seed
    )


def begun(table: TableState, now: Millis) -> Change:
    """Start the race."""
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
    return Change(running, (RaceStarted(),))


def _deadline(table: TableState, start_at: Millis) -> Millis:
    cap = table.settings.cap
    return Millis(start_at + cap * MINUTE) if cap else NO_TIME


def _deal_key(table: TableState) -> str:
    nonces = {player: bytes.fromhex(table.nonces[player]) for player in table.racers}
    return deal_key(bytes.fromhex(table.seed), table.race_id, nonces).hex()
