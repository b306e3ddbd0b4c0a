"""Long searches for *stuck*: one at a time, in slices, and given up when they are out of date."""

import asyncio

import pytest

from saratoga_rules.games import GAMES
from saratoga_rules.position import parse_position
from saratoga_rules.stuck import StuckSearch
from saratoga_server.live.stuck_searches import StuckSearches
from saratoga_server.ports import StoreUnavailable

STUCK = parse_position(
    "stock=- waste=7C reserve=- up=1,1,1,1 down=- columns=5C/5S/9C/9S base=1 passes=2"
)
NOT_STUCK = STUCK._replace(columns=(("2C",), ("5S",), ("9C",), ("9S",)))  # type: ignore[arg-type]
SUBJECT = ("mint-otter-42/1", "a" * 16, 7)


class Ending:
    """Whom a verdict is told to."""

    def __init__(self, *faults: Exception) -> None:
        self.told = 0
        self.faults = list(faults)

    async def __call__(self) -> None:
        self.told += 1
        if self.faults:
            raise self.faults.pop()


def search(position: object = STUCK) -> StuckSearch:
    return StuckSearch(GAMES["canfield"], position)  # type: ignore[arg-type]


async def done(searches: StuckSearches) -> None:
    await asyncio.gather(*searches._tasks)


async def test_a_proof_is_told_once() -> None:
    searches, ending = StuckSearches(), Ending()
    for _ in range(3):
        searches.go_on(SUBJECT, search(), lambda: True, ending)
    await done(searches)
    searches.go_on(SUBJECT, search(), lambda: True, ending)
    await done(searches)
    assert ending.told == 1


async def test_what_is_not_stuck_ends_nothing() -> None:
    searches, ending = StuckSearches(), Ending()
    searches.go_on(SUBJECT, search(NOT_STUCK), lambda: True, ending)
    await done(searches)
    assert ending.told == 0


async def test_what_is_out_of_date_is_not_searched() -> None:
    searches, ending = StuckSearches(), Ending()
    searches.go_on(SUBJECT, search(), lambda: False, ending)
    await done(searches)
    assert ending.told == 0


async def test_a_verdict_that_could_not_be_written_may_be_found_again() -> None:
    searches, ending = StuckSearches(), Ending(StoreUnavailable("away"))
    searches.go_on(SUBJECT, search(), lambda: True, ending)
    await done(searches)
    searches.go_on(SUBJECT, search(), lambda: True, ending)
    await done(searches)
    assert ending.told == 2


async def test_searches_are_given_up_when_the_house_stops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searches, ending = StuckSearches(), Ending()
    waiting = search()
    monkeypatch.setattr(waiting, "advance", lambda arrangements: None)
    searches.go_on(SUBJECT, waiting, lambda: True, ending)
    await asyncio.sleep(0)
    await searches.stop()
    assert (ending.told, searches._tasks) == (0, set())
