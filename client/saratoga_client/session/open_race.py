"""Open races for a player: the day's deal, challenges, and the records of those that are closed."""

import asyncio
from datetime import UTC, date, datetime, timedelta
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING, Final

from saratoga_client.net.connection import Connection
from saratoga_client.review.boards import OpenBoard, par_board
from saratoga_client.session.history import Raced
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.run_watch import OpenBook
from saratoga_protocol import events
from saratoga_protocol.commands import CreateChallenge, GetOpen, GetPar, GetRecord
from saratoga_protocol.events import OpenRace, OpenResult
from saratoga_rules.records.record import RaceRecord, digest_of
from saratoga_rules.records.verify import verify

if TYPE_CHECKING:
    from saratoga_client.session.table_session import TableSession

PAR_WITHIN: Final = 20.0
"""Seconds to ask for par; the server searches for that of one race at a time."""

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


async def par_of(connection: Connection, record: RaceRecord) -> OpenBoard | None:
    """Return a board that plays the line of moves that the server found for the deal of a finished race.

    `None` if the moves are not legal, or do not bank what the server says.
    """
    answer = await connection.ask(partial(GetPar, race=record.race_id), events.Par, PAR_WITHIN)
    return await asyncio.to_thread(par_board, record, answer.banked, answer.moves)


async def open_challenge(
    connection: Connection, book: OpenBook, game: str, race: str | None = None
) -> OpenRace:
    """Open a challenge, on a fresh deal or that of a race, and remember that it is the player's own."""
    create = partial(CreateChallenge, game=game, race=race, key=token_hex(16))
    shown = await connection.ask(create, events.OpenRaceShown)
    book.tell(connection.player, shown.open.id, 0)
    return shown.open


async def new_results(
    connection: Connection, book: OpenBook
) -> list[tuple[OpenRace, list[OpenResult]]]:
    """Return the player's challenges with results that were not told yet; they count as told now."""
    found = []
    for race, told in book.challenges(connection.player).items():
        shown, _ = await look(connection, race, book)
        others = [each for each in ended(shown) if each.player != connection.player]
        if len(others) > told:
            found.append((shown, others[told:]))
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
