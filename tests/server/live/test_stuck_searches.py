"""Long searches for *stuck* boards run one at a time, in slices, and stop when they are out of date."""

import asyncio

import pytest

from saratoga_rules.games import GAMES
from saratoga_rules.position import Position, parse_position
from saratoga_rules.stuck.stuck import StuckSearch
from saratoga_server.background_tasks import BackgroundTasks
from saratoga_server.live.stuck_searches import StuckSearches
from saratoga_server.ports import StoreUnavailable

STUCK = parse_position(
    "stock=- waste=7C reserve=- up=1,1,1,1 down=- columns=5C/5S/9C/9S base=1 passes=2"
)
NOT_STUCK = parse_position(
    "stock=- waste=7C reserve=- up=1,1,1,1 down=- columns=2C/5S/9C/9S base=1 passes=2"
)
SUBJECT = ("mint-otter-42/1", "a" * 16, 7)


class BoardEnding:
    """A callback that counts the boards that it ends; its first calls may fail."""

    def __init__(self, *faults: Exception) -> None:
        self.ended = 0
        self.faults = list(faults)

    async def __call__(self) -> None:
        self.ended += 1
        if self.faults:
            raise self.faults.pop()


@pytest.fixture
def background_tasks() -> BackgroundTasks:
    return BackgroundTasks()


@pytest.fixture
def searches(background_tasks: BackgroundTasks) -> StuckSearches:
    return StuckSearches(background_tasks)


def search(position: Position = STUCK) -> StuckSearch:
    return StuckSearch(GAMES["canfield"], position)


async def test_a_board_proved_stuck_is_ended_once(
    searches: StuckSearches, background_tasks: BackgroundTasks
) -> None:
    ending = BoardEnding()
    for _ in range(3):
        searches.search(SUBJECT, search(), lambda: True, ending)
    await background_tasks.finish()
    searches.search(SUBJECT, search(), lambda: True, ending)
    await background_tasks.finish()
    assert ending.ended == 1


async def test_each_subject_is_searched(
    searches: StuckSearches, background_tasks: BackgroundTasks
) -> None:
    ending = BoardEnding()
    for length in range(3):
        searches.search((*SUBJECT[:2], length), search(), lambda: True, ending)
    await background_tasks.finish()
    assert ending.ended == 3


async def test_a_board_that_is_not_stuck_is_not_ended(
    searches: StuckSearches, background_tasks: BackgroundTasks
) -> None:
    ending = BoardEnding()
    searches.search(SUBJECT, search(NOT_STUCK), lambda: True, ending)
    await background_tasks.finish()
    assert ending.ended == 0


async def test_a_search_out_of_date_is_given_up(
    searches: StuckSearches, background_tasks: BackgroundTasks
) -> None:
    ending = BoardEnding()
    searches.search(SUBJECT, search(), lambda: False, ending)
    await background_tasks.finish()
    assert ending.ended == 0


async def test_a_board_whose_ending_failed_is_searched_again(
    searches: StuckSearches, background_tasks: BackgroundTasks
) -> None:
    ending = BoardEnding(StoreUnavailable("away"))
    searches.search(SUBJECT, search(), lambda: True, ending)
    await background_tasks.finish()
    searches.search(SUBJECT, search(), lambda: True, ending)
    await background_tasks.finish()
    assert ending.ended == 2


class EndlessSearch(StuckSearch):
    """A search without a verdict, which sets an event when it begins."""

    def __init__(self) -> None:
        super().__init__(GAMES["canfield"], STUCK)
        self.slices = 0
        self.has_begun = asyncio.Event()

    def advance(self, arrangements: int) -> bool | None:
        self.slices += 1
        self.has_begun.set()
        return None


async def test_searches_end_when_the_server_stops(
    searches: StuckSearches, background_tasks: BackgroundTasks
) -> None:
    endless, ending = EndlessSearch(), BoardEnding()
    searches.search(SUBJECT, endless, lambda: True, ending)
    await endless.has_begun.wait()
    searches.stop()
    slices = endless.slices
    await background_tasks.finish()
    assert (endless.slices, ending.ended) == (slices, 0)
    searches.search(("mint-otter-42/1", "b" * 16, 7), search(), lambda: True, ending)
    await background_tasks.finish()
    assert ending.ended == 0, "none begins afterwards"
