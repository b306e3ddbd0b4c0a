"""Open races for a player: the day's deal, challenges, the records of those that are closed, and what is said about them."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING, Final

from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused, RequestTimedOut
from saratoga_client.review.boards import OpenBoard, par_board
from saratoga_client.session.history import Raced
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.run_watch import OpenBook
from saratoga_client.wording import (
    counted,
    dollars,
    duration_text,
    game_title,
    ordinal,
    shown_name,
    state_words,
)
from saratoga_protocol import events
from saratoga_protocol.commands import CreateChallenge, GetLeaderboard, GetOpen, GetPar, GetRecord
from saratoga_protocol.events import OpenRace, OpenResult, Table
from saratoga_protocol.visible_text import sanitised
from saratoga_rules.records.record import RaceRecord, digest_of
from saratoga_rules.records.verify import verify

if TYPE_CHECKING:
    from saratoga_client.session.table_session import TableSession

PAR_WITHIN: Final = 20.0
"""Seconds to ask for par; the server searches for that of one race at a time."""

PAR_SOON: Final = 2.0
"""Seconds to ask for par in a command whose answer waits for it."""

RATINGS_WITHIN: Final = 1.0
"""Seconds to ask for a rating that is shown beside what is known here."""

NOT_YET: Final = ("", "racing")
"""The states of the player's own run before it has ended."""


def day_id(game: str, now: int) -> str:
    """Return the id of the open race on today's deal; `now` is the server's time."""
    return f"day/{game}/{datetime.fromtimestamp(now / 1000, UTC).date()}"


def day_before(race: OpenRace) -> str:
    """Return the id of the day before a day's race."""
    folder, _, day = race.id.rpartition("/")
    return f"{folder}/{date.fromisoformat(day) - timedelta(days=1)}"


async def look(connection: Connection, race: str, book: OpenBook) -> tuple[OpenRace, list[str]]:
    """Return an open race as it is now, and alarms about it. Raises the errors of `Connection.request`."""
    shown = await connection.ask(partial(GetOpen, open=race), events.OpenRaceShown)
    alarms = book.check(connection.player, shown)
    return shown.open, alarms


async def closed_record(
    connection: Connection, race: str, book: OpenBook
) -> tuple[RaceRecord | None, list[str]]:
    """Return the closing record of an open race, and what is wrong with it."""
    text = (await connection.ask(partial(GetRecord, race=race), events.Record)).text
    verdict = verify(text)
    alarms = [
        f"the record of {race} is wrong: {check.detail}"
        for check in verdict.faults
        if check.is_contradicted
    ]
    if verdict.record is None or not verdict.ok:
        return None, alarms
    alarms += book.wrong(verdict.record, digest_of(text))
    return verdict.record, alarms


async def par_of(
    connection: Connection, record: RaceRecord, within: float = PAR_WITHIN
) -> OpenBoard | None:
    """Return a board that plays the line of moves that the server found for the deal of a finished race.

    `None` if the moves are not legal, or do not bank what the server says.
    """
    answer = await connection.ask(partial(GetPar, race=record.race_id), events.Par, within)
    return await asyncio.to_thread(par_board, record, answer.banked, answer.moves)


async def open_challenge(
    connection: Connection, book: OpenBook, game: str, race: str | None = None
) -> OpenRace:
    """Open a challenge, on a fresh deal or that of a race, and remember that it is the player's own."""
    create = partial(CreateChallenge, game=game, race=race, key=token_hex(16))
    shown = await connection.ask(create, events.OpenRaceShown)
    book.tell(connection.player, shown.open.id, 0)
    return shown.open


async def new_results(connection: Connection, book: OpenBook) -> list[str]:
    """Return a sentence on each result of the player's challenges that was not told yet; it counts as told now."""
    found: list[str] = []
    for race, told in book.challenges(connection.player).items():
        shown, _ = await look(connection, race, book)
        others = [each for each in ended(shown) if each.player != connection.player]
        if len(others) > told:
            found += (
                f"{each.name} ran your challenge: {each.banked} banked." for each in others[told:]
            )
            book.tell(connection.player, race, len(others))
    return found


async def until_over(session: "TableSession") -> None:
    """Leave the table of a run when it is over."""
    await session.until(lambda state: state.phase == "over")
    await session.leave()


def remember(race: OpenRace, player: str, records: RecordStore, now: int) -> None:
    """Add the player's run to the own races on this machine."""
    own = own_result(race, player)
    if own is not None:
        records.add(
            Raced(
                race=race.id,
                game=race.game,
                at=now,
                player=player,
                place=own.place,
                banked=own.banked,
                net=own.net,
                rivals=[],
            )
        )


def ended(race: OpenRace) -> list[OpenResult]:
    """Return the results of the runs that have ended, best first."""
    return [each for each in race.results if each.state != "racing"]


def own_result(race: OpenRace, player: str) -> OpenResult | None:
    """Return the player's own result; `None` without one."""
    return next((each for each in ended(race) if each.player == player), None)


DOTTED: Final = 16
"""The most people of whom a histogram shows each as a dot."""
WIDEST: Final = 24
BIN: Final = 5
"""The number of counts in a line of the histogram."""
LAST: Final = 30
"""The number of last races whose average is shown."""

SEALED: Final = (
    "When the race has closed, all boards open, and anyone can check deal, moves and places."
)
PRACTICE_DAY: Final = "No server answers, so this is practice: a deal by date, which nobody judges."


def have_run(race: OpenRace) -> str:
    """Return how many have run the race."""
    if not race.entrants:
        return "nobody has run it yet"
    return "1 has run it" if race.entrants == 1 else f"{race.entrants} have run it"


def title(race: OpenRace) -> str:
    """Return what the race is: `Klondike of 2026-11-28`, or `Anna's challenge: Klondike`."""
    game = game_title(race.game)
    return (
        f"{game} of {race.id.rpartition('/')[2]}"
        if race.kind == "day"
        else f"{race.by}'s challenge: {game}"
    )


def run_words(table: Table) -> str:
    """Return of which open race a table is a run: `deal of 2026-11-28`, or `challenge`; empty among friends."""
    kind, _, name = table.open.partition("/")
    return f"deal of {name.rpartition('/')[2]}" if kind == "day" else "challenge" if kind else ""


def about(race: OpenRace, player: str) -> str:
    """Return a line on the race before or after the player's run."""
    parts = [have_run(race)]
    if race.mine == "racing":
        parts = ["your run is on"]
    elif (own := own_result(race, player)) is not None:
        parts = [f"you: {placed(own)}{counted(own.banked)}", *parts]
    if race.streak > 1:
        parts.append(f"{race.streak} days in a row")
    return "; ".join(parts)


def placed(result: OpenResult) -> str:
    """Return the place of a result before other words; nothing for the unranked."""
    return f"{ordinal(result.place)} with " if result.place else ""


def headline(race: OpenRace, player: str) -> str:
    """Return how the player's run went."""
    own, ranked = own_result(race, player), [each for each in ended(race) if each.place]
    if own is None:
        return counted(len(ended(race)), "run") if race.digest else "Your run has not ended."
    place = (
        f" {ordinal(own.place)} of {len(ranked)}{'' if race.digest else ' so far'}."
        if own.place
        else ""
    )
    return f"You banked {counted(own.banked)}, {dollars(own.net)}.{place}"


def notes(race: OpenRace, player: str) -> Iterator[str]:
    """Yield sentences below the results."""
    own = own_result(race, player)
    if own is not None and own.young:
        yield "You are new here today; from tomorrow on you have a place."
    if race.kind == "day" and race.streak:
        yield f"Your streak: {counted(race.streak, 'day')}."
    if not race.digest:
        yield SEALED


def histogram(counts: Sequence[int], own: int | None) -> list[tuple[str, str, bool]]:
    """Return the lines of a histogram of banked cards: counts, signs, and whether the own count is among them.

    A sign is a person up to sixteen people; above, the longest line has `WIDEST` signs.
    """
    bins = [sum(counts[first : first + BIN]) for first in range(0, len(counts), BIN)]
    scale = 1.0 if sum(counts) <= DOTTED else min(1.0, WIDEST / max(bins))
    sign = "●" if sum(counts) <= DOTTED else "▇"
    return [
        (
            f"{at * BIN}-{at * BIN + BIN - 1}",
            sign * max(round(number * scale), min(number, 1)),
            own is not None and own // BIN == at,
        )
        for at, number in enumerate(bins)
    ]


def result_line(result: OpenResult) -> str:
    """Return a result in a line of text."""
    place = f"{result.place}." if result.place else "-"
    name = shown_name(result.name, result.bot)
    if result.state == "racing":
        return f"{place} {name}: still running"
    return f"{place} {name}: {counted(result.banked)}, {dollars(result.net)}, {state_words(result.state)} after {duration_text(result.elapsed)}"


def share(race: OpenRace, player: str, link: str) -> str:
    """Return three lines for friends, without a card of the deal."""
    own, ranked = own_result(race, player), [each for each in ended(race) if each.place]
    if own is None:
        return f"{title(race)}\n{link}"
    top = max((each.banked for each in ended(race)), default=0) or 1
    bar = "▇" * -(-10 * own.banked // top)
    place = f", {ordinal(own.place)} of {len(ranked)}" if own.place and len(ranked) > 1 else ""
    streak = f", {race.streak} days in a row" if race.streak > 1 else ""
    lines = (f"Saratoga, {title(race)}", f"{own.banked} {bar}{place}{streak}", link)
    return "\n".join(map(sanitised, lines))


def link(race: OpenRace, server: str) -> str:
    """Return the address of the race's page."""
    path = race.id if race.kind == "day" else f"c/{race.id}"
    return f"http{server.removeprefix('ws').rstrip('/')}/{path}"


async def own_ratings(connection: Connection | None, races: Sequence[Raced]) -> dict[str, str]:
    """Return the player's rating at a server by game, in words; only those that come in time."""
    found: dict[str, str] = {}
    games = dict.fromkeys(each.game for each in races) if connection is not None else ()
    with suppress(CommandRefused, RequestTimedOut):
        for game in games:
            assert connection is not None
            ask = partial(GetLeaderboard, game=game, ranking="rating", limit=1)
            page = await connection.ask(ask, events.Leaderboard, RATINGS_WITHIN)
            if page.me is not None:
                found[game] = f"{page.me.value}, give or take {page.me.doubt}"
    return found


def own_history(races: Sequence[Raced], ratings: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Return the player's history, a row a game: title, races, won, best, average of the last, and rating."""
    rows: list[tuple[str, ...]] = []
    for game in dict.fromkeys(each.game for each in races):
        mine = [each for each in races if each.game == game]
        won = sum(each.place == 1 and bool(each.rivals) for each in mine)
        last = [each.banked for each in mine[:LAST]]
        rows.append(
            (
                game_title(game),
                f"{len(mine)}",
                f"{won}",
                f"{max(each.banked for each in mine)}",
                f"{sum(last) / len(last):.1f}",
                ratings.get(game, ""),
            )
        )
    return rows
