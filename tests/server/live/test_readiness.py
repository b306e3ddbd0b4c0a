"""Whether a node is ready, how it refuses, and its work in the background."""

import asyncio

import pytest

from saratoga_rules.games import GAMES
from saratoga_rules.position import Position, parse_position
from saratoga_rules.stuck.arrangements import ArrangementSearch
from saratoga_rules.stuck.prospects import prospects
from saratoga_server.background_tasks import BackgroundTasks
from saratoga_server.live.readiness import FRESH, STORE_REFUSED, Readiness
from saratoga_server.live.stuck_searches import StuckSearches
from saratoga_server.ports import StoreUnavailable

# Readiness: at most one request a second to the store, for any number of callers


NO_STORE = "The store does not answer."
STOPPING = "This server is about to stop."


class Store:
    """A store that responds once `may_answer` is set, while `is_there` is true."""

    def __init__(self) -> None:
        self.asked = 0
        self.is_there = True
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def ask(self) -> None:
        self.asked += 1
        await self.may_answer.wait()
        if not self.is_there:
            raise StoreUnavailable("no")


class Seconds:
    def __init__(self) -> None:
        self.now = 0.0

    def steady(self) -> float:
        return self.now


async def test_the_store_is_asked_at_most_once_a_second() -> None:
    store, time = Store(), Seconds()
    readiness = Readiness(store.ask, time.steady)
    for _ in range(10):
        assert await readiness.why_not_ready() is None
    assert store.asked == 1
    store.is_there = False
    assert await readiness.why_not_ready() is None
    time.now += FRESH
    assert await readiness.why_not_ready() == NO_STORE
    assert await readiness.why_not_ready() == NO_STORE
    assert store.asked == 2
    store.is_there = True
    time.now += FRESH
    assert await readiness.why_not_ready() is None


async def test_callers_that_wait_for_the_same_question_share_its_answer() -> None:
    store, time = Store(), Seconds()
    store.may_answer.clear()
    readiness = Readiness(store.ask, time.steady)
    asking = [asyncio.ensure_future(readiness.why_not_ready()) for _ in range(10)]
    await asyncio.sleep(0)
    time.now += 2 * FRESH
    store.may_answer.set()
    assert await asyncio.gather(*asking) == [None] * 10
    assert store.asked == 1


async def test_a_store_that_is_away_is_one_line_in_the_log_and_so_is_its_return(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store, time = Store(), Seconds()
    readiness = Readiness(store.ask, time.steady)
    store.is_there = False
    with caplog.at_level("INFO"):
        for _ in range(10):
            time.now += FRESH
            assert await readiness.why_not_ready() == NO_STORE
        store.is_there = True
        for _ in range(2):
            time.now += FRESH
            assert await readiness.why_not_ready() is None
    assert [line.getMessage() for line in caplog.records] == ["store_away", "store_back"]


async def test_a_node_that_stops_is_not_ready_and_asks_no_store() -> None:
    store = Store()
    stopping, draining = (Readiness(store.ask, Seconds().steady) for _ in range(2))
    stopping.is_stopping = True
    draining.is_draining = True
    for readiness in (stopping, draining):
        assert await readiness.why_not_ready() == STOPPING
    assert store.asked == 0


async def test_a_node_whose_store_is_refused_names_no_folder_and_asks_no_store() -> None:
    store, reasons = Store(), ["Move /srv/saratoga/store away.", None]
    readiness = Readiness(store.ask, Seconds().steady, lambda: reasons[0])
    assert await readiness.why_not_ready() == STORE_REFUSED
    assert store.asked == 0
    del reasons[0]
    assert await readiness.why_not_ready() is None


# Long searches for *stuck* boards run one at a time, in slices, and stop when they are out of date


STUCK = parse_position(
    "stock=- waste=7C reserve=- up=1,1,1,1 down=- columns=5C/5S/9C/9S base=1 passes=2"
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


def search(position: Position = STUCK) -> ArrangementSearch:
    game = GAMES["canfield"]
    return ArrangementSearch(game, position, prospects(game, position))


async def test_a_board_whose_ending_failed_is_searched_again(
    searches: StuckSearches, background_tasks: BackgroundTasks
) -> None:
    ending = BoardEnding(StoreUnavailable("away"))
    searches.search(SUBJECT, search(), lambda: True, ending)
    await background_tasks.finish()
    searches.search(SUBJECT, search(), lambda: True, ending)
    await background_tasks.finish()
    assert ending.ended == 2


class EndlessSearch(ArrangementSearch):
    """A search without a verdict, which sets an event when it begins."""

    def __init__(self) -> None:
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
