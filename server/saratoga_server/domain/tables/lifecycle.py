"""Transitions between races: settings, a race's end, the next race, matches, hosts, closing.

When one board of several is the last one racing, the host may end it `LAST_BOARD_MILLIS` later.
"""

from collections.abc import Collection
from math import ceil
from typing import Final

from msgspec.structs import replace

from saratoga_protocol.events import Ended, Match, Outcome, TableSettings
from saratoga_protocol.matches import is_over, with_race
from saratoga_rules.dealing.fairness import commitment
from saratoga_rules.games import GAMES, RULES_VERSION
from saratoga_rules.records.record import CLOSED_IN_COUNTDOWN, VOID_REASONS
from saratoga_rules.records.standing import LAST_BOARD_MILLIS
from saratoga_server.domain.tables.phases import (
    BETWEEN_RACES,
    Act,
    checked,
    checked_open,
    checked_phase,
    checked_race,
)
from saratoga_server.domain.tables.records import Voided, voided_countdown
from saratoga_server.domain.tables.state import (
    NO_TIME,
    CommandRejected,
    TablePhase,
    TableSeat,
    TableState,
    listed,
)
from saratoga_server.ports import Millis

CAPS: Final = (3, 5, 10, 20)
"""Time limits of a race, in minutes."""

NO_CAP: Final = 0

MOST_SEATS: Final = 16

AHEAD_MILLIS: Final = 200
"""Milliseconds by which a node's clock may be ahead of the store's."""


NO_MATCH: Final = 1

RACES: Final = (NO_MATCH, 3, 5)
"""Numbers of races of a match."""


def checked_settings(settings: TableSettings, seated: int = 0) -> TableSettings:
    """Return the settings. Raises `CommandRejected` if they contradict each other."""
    if settings.game not in GAMES:
        raise CommandRejected(
            "no_such_game", f"There is no game of that name. Choose from {listed(GAMES)}."
        )
    if settings.cap not in (*CAPS, NO_CAP):
        raise CommandRejected(
            "bad_settings", "The time limit is 3, 5, 10 or 20 minutes, or 0 for none."
        )
    if settings.cap == NO_CAP and settings.public:
        raise CommandRejected(
            "bad_settings",
            "A public table needs a time limit. Choose one, or make the table private.",
        )
    if not 1 <= settings.seats <= MOST_SEATS:
        raise CommandRejected("bad_settings", f"A table has 1 to {MOST_SEATS} seats.")
    if settings.races not in RACES:
        raise CommandRejected("bad_settings", "A match has 3 or 5 races; 1 means no match.")
    if settings.seats < seated:
        raise CommandRejected(
            "bad_settings", f"{seated} players are seated. Choose at least as many seats."
        )
    return settings


def change_settings(
    table: TableState,
    player: str,
    *,
    commitment: str | None = None,
    game: str | None = None,
    cap: int | None = None,
    seats: int | None = None,
    public: bool | None = None,
    races: int | None = None,
    now: Millis,
    fresh_seed: bytes,
) -> TableState:
    """Return the table with other options, a new deal and nobody ready.

    If all options stay the same, nothing changes. A match that has begun keeps its length, but the
    host can end it with `races=1`.
    """
    seat = checked(table, player, Act.CHANGE_SETTINGS)
    old = table.settings
    new = checked_settings(
        TableSettings(
            game=old.game if game is None else game,
            cap=old.cap if cap is None else cap,
            seats=old.seats if seats is None else seats,
            public=old.public if public is None else public,
            races=checked_races(table, old.races if races is None else races),
        ),
        seated=len(table.seats),
    )
    if new == old:
        return table
    if commitment and commitment != table.commitment:
        raise CommandRejected("wrong_commitment")
    notice = f"{seat.name} has changed the settings. Get ready again."
    match = table.match
    if match is not None and new.races != old.races:
        match = None
        notice = f"{seat.name} has ended the match, which has no champion. Get ready again."
    options = replace(table, settings=new, match=match, notice=notice, touched=now)
    return with_new_deal(options, fresh_seed)


def last_board(table: TableState, player: str, others_ended: Millis) -> TableState:
    """Return the table that names the only player who still races, unless it names one.

    `others_ended` is the time at which the last of the other boards ended.
    """
    if table.phase is not TablePhase.RUNNING or table.last_racer:
        return table
    end_from = Millis(others_ended + LAST_BOARD_MILLIS + AHEAD_MILLIS)
    notice = f"Only {table.name(player)} is still racing."
    if player != table.host:
        notice += (
            f" {table.name(table.host)} may end the race {LAST_BOARD_MILLIS // 1000} s after the"
            " others' boards have ended."
        )
    return replace(table, last_racer=player, end_from=end_from, notice=notice)


def end_race(
    table: TableState, player: str, *, race_id: str, has_ended: bool, now: Millis
) -> TableState:
    """Return the table after the host ends the last board, or a racer votes for it.

    `has_ended`: the racer's own board has ended. Such a racer asks first, and those who still race
    agree.
    """
    if _has_ended(table, race_id) and table.seat(player) is not None:
        return table
    seat = checked(table, player, Act.END_RACE)
    if race_id != table.race_id:
        raise CommandRejected("no_such_race", f"The race at this table is {table.race_id}.")
    if player == table.host and table.last_racer not in ("", player) and now >= table.end_from:
        notice = f"{seat.name} has ended the race."
        return replace(table, is_ended_by_host=True, notice=notice, touched=now)
    if player in table.votes:
        return table
    if player not in table.racers:
        raise _too_early(table, player, now)
    if not table.votes and not has_ended:
        message = (
            "Cash out to end your own board. Who has ended may ask the others to end the race."
        )
        raise CommandRejected("too_early", message)
    does = "agrees" if table.votes else "asks"
    votes, notice = (*table.votes, player), f"{seat.name} {does} to end the race."
    return replace(table, votes=votes, notice=notice, touched=now)


def _too_early(table: TableState, player: str, now: Millis) -> CommandRejected:
    """Return why somebody who does not race cannot end the race now."""
    if player != table.host:
        return CommandRejected("not_racing", "Only the racers and the host can end the race.")
    if not table.last_racer:
        return CommandRejected("too_early")
    wait = (table.end_from - now) / 1000
    seconds = min(ceil(wait), LAST_BOARD_MILLIS // 1000)
    message = f"You can end the race of {table.name(table.last_racer)} in {seconds} s."
    return CommandRejected("too_early", message, wait)


def hand_over(table: TableState, player: str, *, target: str, now: Millis) -> TableState:
    """Return the table after a change by which the host makes another person the host."""
    if target == table.host and table.seat(player) is not None:
        return table
    seat, other = checked(table, player, Act.HAND_OVER), table.seat(target)
    if other is None or other.bot:
        raise CommandRejected("no_such_player", "Choose a person at this table.")
    handed = replace(table, deposed="", touched=now)
    return with_host(handed, other, f"{seat.name} has made {other.name} the host.", now)


def host_again(table: TableState, player: str, now: Millis) -> TableState:
    """Return the table after a change by which a host whom silence had deposed is host again."""
    seat = table.seat(player)
    if seat is None or player != table.deposed or player == table.host:
        return table
    back = replace(table, deposed="", touched=now)
    return with_host(back, seat, f"{seat.name} is host again.", now)


def _has_ended(table: TableState, race_id: str) -> bool:
    """Return whether the race is over, or the host has ended it."""
    is_over = table.previous is not None and table.previous.race == race_id
    return is_over or (race_id == table.race_id and table.is_ended_by_host)


def finish(
    table: TableState, outcome: Outcome, *, now: Millis, away: Collection[str] = ()
) -> TableState:
    """Return the table with its race over: secrets are opened, results added.

    `away` are the racers whose boards ended as idle, and who gave no sign of activity since.
    """
    checked_open(table)
    checked_phase(table, Act.FINISH)
    results = {result.player: result for result in outcome.results}

    def counted(seat: TableSeat) -> TableSeat:
        result = results.get(seat.player)
        if result is None:
            return seat
        return replace(
            seat,
            races=seat.races + 1,
            wins=seat.wins + (result.place == 1),
            net=seat.net + result.net,
        )

    over = replace(
        table,
        phase=TablePhase.OVER,
        last_racer="",
        end_from=NO_TIME,
        outcome=outcome,
        previous=None if table.open else Ended(race=outcome.race, digest=outcome.digest),
        seats=tuple(counted(seat) for seat in table.seats),
        match=match_after(table, outcome),
        touched=now,
        waited_since=now,
    )
    return with_present_host(over, away, now)


def next_race(
    table: TableState, player: str, *, race: str | None = None, now: Millis, fresh_seed: bytes
) -> TableState:
    """Return the change after which the table gathers for the next race."""
    has_moved_on = table.previous is not None and table.previous.race == race != table.race_id
    if player == table.host and has_moved_on:
        return table
    checked_race(table, race)
    checked(table, player, Act.NEXT_RACE)
    return with_next_race(replace(table, notice="", touched=now), fresh_seed)


def close(
    table: TableState, reason: str, *, now: Millis, fresh_seed: bytes, race: Voided | None = None
) -> TableState:
    """Return the table, closed permanently; the notice says why.

    A countdown is voided, and so is a running race, for which `race` is needed (`closed_race`).
    """
    checked_open(table)
    notice = reason
    if table.open and table.phase in (TablePhase.COUNTDOWN, TablePhase.RUNNING):
        raise CommandRejected("wrong_phase", "A run in an open race ends by its own clock.")
    if table.phase is TablePhase.COUNTDOWN:
        race = voided_countdown(table, CLOSED_IN_COUNTDOWN)
    if table.phase in (TablePhase.COUNTDOWN, TablePhase.RUNNING):
        if race is None or race.ended.race != table.race_id:
            raise CommandRejected("store_unavailable", "A race has begun meanwhile. Try again.")
        why = VOID_REASONS[race.ended.reason]
        notice = f"{reason.rstrip('.')}. {table.race_id} was voided: {why}. It counts for nothing."
        ended = replace(table, previous=race.ended, voided=race.finish)
        table = with_next_race(ended, fresh_seed)
    return replace(
        table.without(*table.seats),
        phase=TablePhase.CLOSED,
        host="",
        locked=False,
        last_racer="",
        end_from=NO_TIME,
        notice=notice,
        touched=now,
    )


# A match: 3 or 5 races, with a champion over all of them. It begins when its first race finishes,
# so a voided race counts for nothing. People may come and go, and the game may change.


def match_after(table: TableState, outcome: Outcome) -> Match | None:
    """Return the match after a race at the table; `None` without a match."""
    if table.settings.races == NO_MATCH:
        return None
    match = unfinished(table.match)
    begun = match or Match(races=table.settings.races, finished=[], rows=[])
    return with_race(begun, outcome, table.racers.values())


def checked_races(table: TableState, races: int) -> int:
    """Return the number of races. Raises `CommandRejected` in a match of another length."""
    match = table.match
    if match is not None and races not in (match.races, NO_MATCH):
        raise CommandRejected(
            "bad_settings",
            f"This match of {match.races} races has begun, so its length stays. To end it without "
            "a champion, set 1 race.",
        )
    return races


def forgotten(table: TableState, player: str) -> TableState:
    """Return the table with the player's name in the match replaced by the id.

    The results stay, because the others' places follow from them.
    """
    match = table.match
    if match is None or all(row.player != player or row.name == player for row in match.rows):
        return table
    rows = [replace(row, name=player) if row.player == player else row for row in match.rows]
    return replace(table, match=replace(match, rows=rows))


# The host between races, who is known to be there to the node of the host's connection only


def with_host(table: TableState, host: TableSeat, notice: str, now: Millis) -> TableState:
    """Return the table with another host. Between races, the new host's silence counts from now."""
    since = table.waited_since if table.phase is TablePhase.RUNNING else now
    return replace(table, host=host.player, notice=notice, waited_since=since)


def with_present_host(table: TableState, away: Collection[str], now: Millis) -> TableState:
    """Return the table; its next connected person is host if the host is away."""
    host = table.seat(table.host)
    if host is None or host.player not in away:
        return table
    place = table.seats.index(host)
    around = table.seats[place + 1 :] + table.seats[:place]
    present = (seat for seat in around if seat.is_connected and not seat.bot)
    following = next((seat for seat in present if seat.player not in away), None)
    if following is None:
        return table
    notice = f"{host.name} has been away for three minutes; {following.name} is host now."
    passed = replace(table, deposed=table.deposed or host.player)
    return with_host(passed, following, notice, now)


def host_passed_on(table: TableState, away: Collection[str], now: Millis) -> TableState:
    """Return the table after its host was silent for too long, or the same table."""
    return with_present_host(table, away, now) if table.phase in BETWEEN_RACES else table


# The next deal


def unfinished(match: Match | None) -> Match | None:
    """Return the match that the next race belongs to; `None` if that race begins a new one."""
    return None if match is None or is_over(match) else match


def commitment_of(table: TableState, seed: bytes) -> str:
    """Return the commitment to a seed for the table's race."""
    return commitment(
        seed,
        table.settings.game,
        table.rules_version,
        table.code,
        table.race,
        cap=table.settings.cap,
        public=table.settings.public,
    )


def with_next_race(table: TableState, seed: bytes) -> TableState:
    """Return the table that gathers for the next race."""
    counted = replace(table, race=table.race + 1, match=unfinished(table.match))
    return with_new_deal(counted, seed)


def with_no_countdown(table: TableState) -> TableState:
    """Return the table in phase gathering, with its commitment and ready marks, after a call."""
    return replace(
        table,
        phase=TablePhase.GATHERING,
        call_until=NO_TIME,
        reveal_by=NO_TIME,
        start_at=NO_TIME,
        deadline=NO_TIME,
    )


def with_new_deal(table: TableState, seed: bytes) -> TableState:
    """Return the table in phase gathering, with a new commitment and no player ready."""
    return replace(
        with_no_countdown(table),
        seats=tuple(replace(seat, nonce_hash="") for seat in table.seats),
        rules_version=RULES_VERSION,
        seed=seed.hex(),
        commitment=commitment_of(replace(table, rules_version=RULES_VERSION), seed),
        racers={},
        nonces={},
        deal_key="",
        left={},
        last_racer="",
        end_from=NO_TIME,
        is_ended_by_host=False,
        votes=(),
        is_begun_again=False,
        lost_node=False,
        ranked=False,
        ranked_bots=False,
        outcome=None,
    )
