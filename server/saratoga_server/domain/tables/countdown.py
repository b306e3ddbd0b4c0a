"""The countdown: from *ready* to the deal, which no player and no server can choose alone.

A racer sends *ready* with the hash of a nonce. The host's *start* opens the call, in which players
may still get ready; its end, after `CALL_MILLIS`, fixes the racers. Each racer reveals the nonce by
`reveal_by`, or the countdown is void: its seed and the nonces shown are opened, and the table
gathers for the next race number.

If the nonces are missing because of the server, the countdown begins again, once for each *start*:
no nonce came at all, the node of a missing racer died, or no node could take the nonces in time.
"""

from enum import StrEnum
from typing import Final

from msgspec.structs import replace

from saratoga_protocol.events import Racer
from saratoga_rules.dealing.fairness import deal_key, nonce_hash
from saratoga_rules.records.record import NONCE_MISSING, RACER_GONE, RACER_LEFT, SERVER_AWAY
from saratoga_rules.records.standing import State, may_be_ranked
from saratoga_server.domain.tables.lifecycle import with_next_race, with_no_countdown
from saratoga_server.domain.tables.phases import Act, checked, checked_race
from saratoga_server.domain.tables.records import Voided, voided_countdown
from saratoga_server.domain.tables.state import (
    NO_TIME,
    CommandRejected,
    TablePhase,
    TableState,
    listed,
)
from saratoga_server.ports import Damage, Millis

CALL_MILLIS: Final = 2_000
"""Milliseconds from *start* to the end of the call."""

REVEAL_MILLIS: Final = 4_500
"""Milliseconds from *start* until every nonce must have been revealed."""

COUNTDOWN_MILLIS: Final = 5_000
"""Milliseconds from *start* to the deal."""

STALLED_MILLIS: Final = 2_000
"""Milliseconds by which nonces are checked late if the server was busy."""

LATE_MILLIS: Final = 1_000
"""Milliseconds of delay above which the end of a call, or a race's start, moves all later times."""

NEW_DEAL: Final = "There is a new deal: get ready again."

MINUTE: Final = 60_000


class RankedTables(StrEnum):
    """The tables whose races may count for the leaderboards."""

    ALL = "all"
    PUBLIC = "public"


def ready(
    table: TableState,
    player: str,
    *,
    commitment: str,
    nonce_hash: str,
    now: Millis,
) -> TableState:
    """Return the table with a player ready for the deal that `commitment` fixes.

    A second nonce hash replaces the first. It may equal another player's: a copied hash cannot
    reveal its nonce, while a refusal would let the copier keep its owner from getting ready.
    """
    racer = table.racers.get(player)
    if racer is not None and racer.nonce_hash == nonce_hash and commitment == table.commitment:
        return table
    seat = checked(table, player, Act.READY)
    if table.is_blocked(player):
        raise CommandRejected(
            "ready_blocked",
            "You voided a countdown: your nonce did not come in time, or you left. "
            f"You can get ready when {table.name(table.host)}, the host, allows it.",
        )
    if commitment != table.commitment:
        raise CommandRejected(
            "wrong_commitment",
            "The deal has changed since you looked. Look at the table, and get ready again.",
        )
    return replace(table.with_seat(replace(seat, nonce_hash=nonce_hash)), touched=now)


def allow_ready(table: TableState, player: str, *, target: str, now: Millis) -> TableState:
    """Return the table whose host lets a player who voided a countdown get ready again."""
    checked(table, player, Act.ALLOW_READY)
    allowed = table.seat(target)
    if allowed is None:
        raise CommandRejected(
            "no_such_player", "That player is not at this table. Look at the table again."
        )
    if target not in table.blocked:
        return table
    blocked = tuple(each for each in table.blocked if each != target)
    notice = f"{allowed.name} may get ready again."
    return replace(table, blocked=blocked, notice=notice, touched=now)


def not_ready(table: TableState, player: str, *, now: Millis) -> TableState:
    """Return the table after a change that removes the player's ready mark, if there is one.

    In the call, the host calls off the start with it. The deal stays: nobody has revealed a nonce.
    """
    seat = checked(table, player, Act.NOT_READY)
    table = replace(table.with_seat(replace(seat, nonce_hash="")), touched=now)
    if table.phase is TablePhase.CALL and player == table.host:
        table = _called_off(table, f"{seat.name} is not ready any more.")
    return table


def start(table: TableState, player: str, *, race: str | None = None, now: Millis) -> TableState:
    """Return the table after a change that opens the call: players may get ready until it ends.

    With `race`, a race that has started already stays as it is.
    """
    checked_race(table, race)
    has_started = table.phase not in (TablePhase.GATHERING, TablePhase.CLOSED)
    if race and player == table.host and has_started:
        return table
    seat = checked(table, player, Act.START)
    if not seat.is_ready:
        raise CommandRejected("nobody_ready", "You aren't ready. Get ready first, then start.")
    called = replace(table, phase=TablePhase.CALL, notice="", touched=now)
    return replanned(called, now)


def call_ended(table: TableState, now: Millis) -> TableState:
    """Return the table after a change that fixes the racers: everyone who is ready and connected.

    If there is nobody, the table gathers again for the same deal, as no nonce was revealed.
    """
    racing = [seat for seat in table.seats if seat.is_ready and seat.is_connected]
    away = [seat.name for seat in table.seats if seat.is_ready and not seat.is_connected]
    if not racing:
        return _called_off(table, "Nobody who is ready is connected.")
    counting = replace(
        table,
        phase=TablePhase.COUNTDOWN,
        racers={
            seat.player: Racer(
                player=seat.player, name=seat.name, bot=seat.bot, nonce_hash=seat.nonce_hash
            )
            for seat in racing
        },
        notice=f"Not in this race, because not connected: {listed(away)}." if away else "",
    )
    is_late = now - table.call_until > LATE_MILLIS
    return replanned(counting, now) if is_late else counting


def _called_off(table: TableState, reason: str) -> TableState:
    return replace(with_no_countdown(table), notice=f"{reason} The start was called off.")


def replanned(table: TableState, now: Millis) -> TableState:
    """Return the table with its call, or the rest of its countdown, beginning now."""
    began = now if table.phase is TablePhase.CALL else now - CALL_MILLIS
    start_at = Millis(began + COUNTDOWN_MILLIS)
    return replace(
        table,
        call_until=Millis(began + CALL_MILLIS),
        reveal_by=Millis(began + REVEAL_MILLIS),
        start_at=start_at,
        deadline=_deadline(table, start_at),
    )


def begun_again(table: TableState, now: Millis) -> TableState | None:
    """Return the table whose countdown begins again, if nonces may be missing through the server.

    The write that ended the call may have taken so long that every nonce was late: then there is
    none. Returns `None` if the racers are why, or if the countdown has begun again before.
    """
    is_excused = _was_away(table, now) or not table.nonces
    if table.is_begun_again or not is_excused:
        return None
    return replace(replanned(table, now), is_begun_again=True, lost_node=False)


def _was_away(table: TableState, now: Millis) -> bool:
    """Return whether the server could not take the missing nonces by `reveal_by`."""
    return table.lost_node or now - table.reveal_by > STALLED_MILLIS


def reveal(
    table: TableState, player: str, *, commitment: str | None = None, nonce: str, now: Millis
) -> TableState:
    """Return the table with the player's nonce revealed. The last nonce fixes the deal.

    `now` is the time at which the nonce arrived at the server: the store may have stalled since. A
    late nonce is accepted if the countdown begins again (`begun_again`).
    """
    if commitment and commitment != table.commitment:
        raise CommandRejected("wrong_commitment")
    if table.nonces.get(player) == nonce:
        return table
    checked(table, player, Act.REVEAL)
    if player not in table.racers:
        raise CommandRejected(
            "not_racing",
            "You were not ready, so you are not in this race and have no nonce to reveal.",
        )
    shown = bytes.fromhex(nonce)
    if nonce_hash(shown) != table.racers[player].nonce_hash:
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
    table = replace(table, nonces={**table.nonces, player: shown.hex()}, touched=now)
    if table.missing:
        return table
    return replace(table, deal_key=made_key(table).hex())


def voided(table: TableState, result: Voided, why: str, fresh_seed: bytes) -> TableState:
    """Return the table with its countdown voided, gathering for the next race number.

    The notice says `why`.
    """
    ended = replace(table, previous=result.ended, voided=result.finish, notice=f"{why} {NEW_DEAL}")
    return with_next_race(ended, fresh_seed)


def voided_for_missing(table: TableState, now: Millis, fresh_seed: bytes) -> TableState:
    """Return the table with its countdown voided because nonces were not revealed in time."""
    names = listed(table.name(player) for player in table.missing)
    if _was_away(table, now):
        why = "the server was away again when the nonces were due"
        result = voided_countdown(table, SERVER_AWAY)
    else:
        why = f"no nonce came from {names} in time"
        result = voided_countdown(table, NONCE_MISSING, *table.missing)
        table = table.blaming(*table.missing)
    return voided(table, result, f"The countdown was voided: {why}.", fresh_seed)


def voided_for_leaving(
    table: TableState, player: str, ending: State, fresh_seed: bytes
) -> TableState:
    """Return the table with its countdown voided because a racer, still seated, leaves or is gone."""
    reason = RACER_LEFT if ending is State.LEFT else RACER_GONE
    result = voided_countdown(table, reason, player)
    return voided(table.blaming(player), result, "", fresh_seed)


def has_lost(table: TableState, known: TableState) -> bool:
    """Return whether the store has lost racers or nonces of the race in `known`, an earlier state.

    Then the deal is spent, and the table would offer it again, or wait for open nonces.
    """
    is_before_it = table.phase in (TablePhase.GATHERING, TablePhase.CALL, TablePhase.COUNTDOWN)
    if known.race != table.race or not is_before_it:
        return False
    return not (
        set(known.racers) <= set(table.racers) and known.nonces.keys() <= table.nonces.keys()
    )


def lost(table: TableState, known: TableState, fresh_seed: bytes) -> TableState:
    """Return the table after a change that voids the race of `known` if the store `has_lost` it."""
    if not has_lost(table, known):
        return table
    result = voided_countdown(known, SERVER_AWAY)
    why = f"The server's store lost data, and {known.race_id} was voided."
    return voided(table, result, why, fresh_seed)


def begun(table: TableState, now: Millis, ranked_tables: RankedTables) -> TableState:
    """Return the table after a change that starts the race."""
    start_at = table.start_at
    if now - start_at > LATE_MILLIS:
        start_at = now
    running = replace(
        table,
        phase=TablePhase.RUNNING,
        start_at=start_at,
        deadline=_deadline(table, start_at),
        call_until=NO_TIME,
        reveal_by=NO_TIME,
    )
    return with_ranked(running, ranked_tables)


def with_ranked(table: TableState, ranked_tables: RankedTables) -> TableState:
    """Return the table of a starting race, which counts or not for people and for bots.

    From *start* on, a table cannot be locked or unlocked: it was locked in the call.
    """
    is_open = table.settings.public and not table.locked
    racers = len(table.racers)

    def counts(number: int) -> bool:
        cap = table.settings.cap
        is_allowed = is_open or ranked_tables is RankedTables.ALL
        return is_allowed and may_be_ranked(cap=cap, racers=number)

    return replace(
        table,
        ranked=counts(sum(not racer.bot for racer in table.racers.values())),
        ranked_bots=counts(racers),
    )


def _deadline(table: TableState, start_at: Millis) -> Millis:
    cap = table.settings.cap
    return Millis(start_at + cap * MINUTE) if cap else NO_TIME


def checked_deal(table: TableState) -> bytes:
    """Return the deal key of the table's race. Raises `Damage` if it is wrong."""
    made = bytes.fromhex(table.deal_key) if table.open else made_key(table)
    if made.hex() != table.deal_key:
        raise Damage("the deal key is not that of the seed and the nonces")
    return made


def made_key(table: TableState) -> bytes:
    """Return the deal key of seed and nonces. Raises `Damage` if they cannot be read."""
    try:
        nonces = {player: bytes.fromhex(table.nonces[player]) for player in table.racers}
        return deal_key(bytes.fromhex(table.seed), table.race_id, nonces)
    except (ValueError, KeyError) as fault:
        raise Damage(f"the seed or a nonce cannot be read: {fault}") from None
