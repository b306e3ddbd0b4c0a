"""The difference between two states of a session as news. Pure.

News on the lead and on passing come with pauses, because both may change with every card.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from saratoga_client.net.errors import LinkState
from saratoga_client.session.result_text import (
    ending,
    last_board,
    name_of,
    newly_voided,
    own_ending,
    own_result,
    voided_words,
    who,
)
from saratoga_client.session.state import (
    LONG_AGO,
    MAX_NEWS,
    Kind,
    News,
    SessionState,
    Told,
    race_clock,
)
from saratoga_client.session.table_view import BEFORE_THE_RACE, Row, rows
from saratoga_client.wording import REACTIONS, settings_words, shown_name
from saratoga_protocol.events import Reacted
from saratoga_rules.money import CARD_PRIZE

MAX_AT_ONCE: Final = 4
"""Maximum number of news of the race at one moment; the less important ones are left out."""

LEAD_EVERY: Final = 3_000
"""Minimum milliseconds between two news on the lead."""

PASS_EVERY: Final = 5_000
"""Minimum milliseconds between two news on passing the same racer."""

MILESTONE: Final = 10
"""Banked cards between two milestones; ten cards pay for a pack of $50."""

LAST_MINUTE: Final = 60_000
"""The last minute of a race, in milliseconds."""

LATE: Final = 5_000
"""Milliseconds after which the beginning of the last minute is no news any more."""


def with_news(before: SessionState | None, after: SessionState, now: int) -> SessionState:
    """Return the state `after` with the news since `before`; `now` is the server's time in milliseconds.

    What a first state shows is no news.
    """
    if before is None:
        return replace(after, told=_first_told(after))
    told, news = after.told, after.news
    if after.phase in BEFORE_THE_RACE and before.phase not in BEFORE_THE_RACE:
        told, news = Told(), ()
    if after.alarms != before.alarms:  # some may be withdrawn
        news = tuple(
            each for each in news if each.kind is not Kind.ALARM or each.text in after.alarms
        )
    at = now - after.start_at if after.start_at and now >= after.start_at else None
    fresh = [*_between(before, after, now)]
    has_race = after.phase in ("running", "over") and after.table_view.standings
    if has_race and after.table_view is not before.table_view:
        told, of_race = _race(told, after, at or 0)
        fresh += of_race[:MAX_AT_ONCE]
    if not fresh and told is after.told and news is after.news:
        return after
    dated = [each._replace(at=at) for each in fresh]
    return replace(after, told=told, news=(*news, *dated)[-MAX_NEWS:])


def report(state: SessionState, text: str, now: int) -> SessionState:
    """Return the state with one more piece of news, unless it is known."""
    if any(each.text == text for each in state.news):
        return state
    at = max(0, now - state.start_at) if state.start_at else None
    return replace(state, news=(*state.news, News(Kind.REPORT, text, at=at))[-MAX_NEWS:])


# The table


def _between(before: SessionState, after: SessionState, now: int) -> Iterator[News]:
    if before.link is not after.link:
        yield from _link(after)
    if after.announcement and after.announcement != before.announcement:
        yield News(Kind.HOUSE, after.announcement)
    if after.reaction is not None and after.reaction is not before.reaction:
        yield from _said(after, after.reaction)
    if before.table is not after.table:
        yield from _table(before, after)
    for alarm in after.alarms:
        if alarm not in before.alarms:
            yield News(Kind.ALARM, alarm)
    yield from _player(before, after, now)
    outcome, known = after.table_view.outcome, before.table_view.outcome
    if outcome is not None and (known is None or known.race != outcome.race):
        yield News(Kind.RESULT, f"The race is over. {own_result(after)}".rstrip(), outcome.race)


def _player(before: SessionState, after: SessionState, now: int) -> Iterator[News]:
    """Return the news on the player's own part and on the clock."""
    if after.idle_left and after.idle_left != before.idle_left:
        yield News(Kind.IDLE, _idle(after))
    if after.own is not None and before.own is not None:
        taken_back = after.own.taken_back
        if taken_back and taken_back != before.own.taken_back:
            yield News(Kind.TAKEN_BACK, taken_back)
        if before.own.is_racing and not after.own.is_racing:
            yield News(Kind.BOARD_OVER, own_ending(after, after.own))
    if after.table.last_racer and after.table.last_racer != before.table.last_racer:
        yield News(Kind.ALONE, last_board(after, now), after.table.last_racer)
    if _last_minute_begins(after, now) and all(
        each.kind is not Kind.LAST_MINUTE for each in after.news
    ):
        yield News(Kind.LAST_MINUTE, "the last minute")


def _link(after: SessionState) -> Iterator[News]:
    is_racing = after.own is not None and after.own.is_racing
    if after.link is LinkState.RECONNECTING:
        safe = "; your score is safe" if is_racing else ""
        why = f"{after.announcement} Trying" if after.announcement else "connection lost; trying"
        yield News(Kind.LOST, f"{why} again{safe}")
    elif after.link is LinkState.CONNECTED:
        yield News(Kind.RESTORED, f"connected again{'; nothing is lost' if is_racing else ''}")


def _table(before: SessionState, after: SessionState) -> Iterator[News]:
    old, new = before.table, after.table
    voided = newly_voided(old, new)
    if voided is not None:
        words = voided_words(voided, [*new.seats, *old.seats], after.server)
        yield News(Kind.VOIDED, words, voided.race)
    # what the host has changed is no news to the host
    is_own = after.is_host and old.settings != new.settings
    notice = "" if is_own or new.notice == old.notice else new.notice
    if notice:
        yield News(Kind.NOTICE, notice)
    yield from _seats(before, after, notice)
    if old.host != new.host:
        host = next((seat for seat in new.seats if seat.player == new.host), None)
        if after.is_host:
            yield News(Kind.HOST, "you are the host now", new.host)
        elif host is not None and host.name not in notice:
            name = shown_name(host.name, host.bot)
            yield News(Kind.HOST, f"{name} is the host now", new.host)
    for player in new.votes:
        if player not in old.votes and player != after.player:
            does = "asks" if player == new.votes[0] else "agrees"
            yield News(Kind.VOTE, f"{name_of(after, player)} {does} to end the race", player)
    if old.settings != new.settings:
        yield News(Kind.SETTINGS, settings_words(new.settings))
    if (old.race, old.phase) != (new.race, new.phase):
        yield News(Kind.PHASE, new.phase, new.race)


def _said(state: SessionState, reaction: Reacted) -> Iterator[News]:
    words = REACTIONS.get(reaction.reaction)
    if words is not None and reaction.player != state.player:
        yield News(Kind.SAID, f"{name_of(state, reaction.player)}: {words}", reaction.player)


def _seats(before: SessionState, after: SessionState, notice: str) -> Iterator[News]:
    """Return what the other players' seats tell, unless the server's notice tells it."""
    old = {seat.player: seat for seat in before.table.seats}
    new = {seat.player: seat for seat in after.table.seats}
    for player, seat in (old | new).items():
        name = shown_name(seat.name, seat.bot)
        if player == after.player:
            continue
        if player not in new:
            if seat.name not in notice:
                yield News(Kind.SEAT, f"{name} has left", player)
        elif player not in old:
            level = (
                f": {'an' if seat.level == 'even' else 'a'} {seat.level} bot" if seat.level else ""
            )
            yield News(Kind.JOINED, f"{name} has joined{level}", player)
        elif seat.connected != old[player].connected:
            change = "is back" if seat.connected else "lost the connection"
            yield News(Kind.SEAT, f"{name} {change}", player)
        elif seat.ready and not old[player].ready:
            yield News(Kind.SEAT, f"{name} is ready", player)


def _idle(state: SessionState) -> str:
    if state.is_between_races:
        return "no sign of you for two minutes; after three, another player becomes host"
    return f"no sign of you for a while; your board ends in {state.idle_left} s"


def _last_minute_begins(state: SessionState, now: int) -> bool:
    left = race_clock(state, now).left
    is_minute = left is not None and LAST_MINUTE - LATE < left <= LAST_MINUTE
    return is_minute and state.phase == "running" and state.table_view.outcome is None


# The race


def _first_told(state: SessionState) -> Told:
    """Return the present situation as told."""
    found, you = rows(state.table_view), state.player
    return Told(
        leader=_leader(found),
        sides=MappingProxyType(_sides(found, you)),
        milestones=MappingProxyType({row.player: _milestone(row) for row in found}),
        is_even=any(row.player == you and row.net >= 0 for row in found),
        ended=frozenset(row.player for row in found if row.state != "racing"),
    )


def _race(told: Told, state: SessionState, at: int) -> tuple[Told, list[News]]:
    """Return what is told after the news of the race at this moment, and these news, the most important first."""
    found, you = rows(state.table_view), state.player
    news = list(_endings(told, found, you))
    ended = frozenset(row.player for row in found if row.state != "racing")
    told = replace(told, ended=told.ended | ended)
    own = next((row for row in found if row.player == you), None)
    is_new_even = own is not None and own.net >= 0 and not told.is_even
    if own is not None and is_new_even:
        told = replace(told, is_even=True)
        if own.state == "racing":
            # where no number of cards pays for the packs exactly, nobody is ever even
            what = "are ahead" if own.net % CARD_PRIZE else "broke even"
            news.append(News(Kind.EVEN, f"you {what} with {own.banked}", you))
    told, of_lead = _lead(told, found, you, at)
    told, of_passes = _passes(told, found, you, at, of_lead)
    news += [*of_lead, *of_passes]
    for row in found:
        is_told = row.player == you and is_new_even
        is_new = _milestone(row) > told.milestones.get(row.player, 0)
        if is_new and row.state == "racing" and not is_told:
            text = f"{who(row, you)} reached {_milestone(row)}"
            news.append(News(Kind.MILESTONE, text, row.player))
    reached = {
        row.player: max(_milestone(row), told.milestones.get(row.player, 0)) for row in found
    }
    return replace(told, milestones=MappingProxyType(reached)), news


def _endings(told: Told, found: Sequence[Row], you: str) -> Iterator[News]:
    ended = [row for row in found if row.state != "racing" and row.player not in told.ended]
    late = [row for row in ended if row.state == "out-of-time"]
    if len(late) > 1:
        yield News(Kind.ENDING, f"time is up for {len(late)} racers")
        ended = [row for row in ended if row.state != "out-of-time"]
    for row in ended:
        yield News(Kind.WON if row.state == "won" else Kind.ENDING, ending(row, you), row.player)


def _leader(found: Sequence[Row]) -> str:
    """Return the leader's id; empty while several racers share the first place."""
    first = [row for row in found if row.place == 1]
    return first[0].player if len(first) == 1 and len(found) > 1 else ""


def _lead(told: Told, found: Sequence[Row], you: str, at: int) -> tuple[Told, list[News]]:
    leader = _leader(found)
    if not leader or leader == told.leader or at - told.leader_at < LEAD_EVERY:
        return told, []
    row = next(row for row in found if row.player == leader)
    takes = "take" if leader == you else "takes"
    text = f"{who(row, you)} {takes} the lead with {row.banked}"
    return replace(told, leader=leader, leader_at=at), [News(Kind.LEAD, text, leader)]


def _sides(found: Sequence[Row], you: str) -> dict[str, int]:
    """Return by rival's id -1 for a rival ahead of the player and 1 for a rival behind."""
    own = next((row.place for row in found if row.player == you), None)
    if own is None:
        return {}
    return {row.player: -1 if row.place < own else 1 for row in found if row.place != own}


def _passes(
    told: Told, found: Sequence[Row], you: str, at: int, of_lead: Sequence[News]
) -> tuple[Told, list[News]]:
    news: list[News] = []
    sides, sides_at = dict(told.sides), dict(told.sides_at)
    leader = of_lead[0].about if of_lead else ""
    now = _sides(found, you)
    for row in found:
        player, side = row.player, now.get(row.player, 0)
        if not side or sides.setdefault(player, side) == side:
            continue
        if at - sides_at.get(player, LONG_AGO) < PASS_EVERY:
            continue
        sides[player], sides_at[player] = side, at
        # who has just taken the lead has passed somebody
        if leader != player and not (side > 0 and leader == you):
            name = who(row, you)
            text = f"you passed {name}" if side > 0 else f"{name} passed you"
            news.append(News(Kind.PASS, text, player))
    sides_seen, times = MappingProxyType(sides), MappingProxyType(sides_at)
    return replace(told, sides=sides_seen, sides_at=times), news


def _milestone(row: Row) -> int:
    return row.banked // MILESTONE * MILESTONE
