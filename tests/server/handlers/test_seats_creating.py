"""Creating a table: repeats, lost replies and the number of store round trips."""

import asyncio

import pytest

from kit.in_process_server import InProcessServer, gathered
from saratoga_protocol.commands import (
    CreateTable,
)
from saratoga_protocol.events import (
    AnyEvent,
    Refused,
    Snapshot,
)
from saratoga_server.domain.tables.timers import UNUSED_MILLIS
from saratoga_server.ports import StoreUnavailable

# Opening and joining


async def test_the_player_who_creates_a_table_is_its_host(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    snapshot = await anna.at_table(CreateTable, game="caprice", cap=5, seats=3, public=True)
    assert snapshot.table.host == anna.player
    assert (snapshot.table.phase, snapshot.table.race) == (
        "gathering",
        f"{snapshot.table.code}/1",
    )
    settings = snapshot.table.settings
    assert (settings.game, settings.cap, settings.seats, settings.public) == (
        "caprice",
        5,
        3,
        True,
    )
    assert [seat.name for seat in anna.table.seats] == ["Anna"]


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"game": "freecell"}, "no_such_game"),
        ({"game": "canfield", "cap": 4}, "bad_settings"),
        ({"game": "canfield", "cap": 0, "public": True}, "bad_settings"),
    ],
)
async def test_settings_that_do_not_go_together_are_refused(
    server: InProcessServer, settings: dict[str, object], code: str
) -> None:
    anna = await server.player("Anna")
    assert await anna.refused(CreateTable, **settings) == code
    assert await server.codes() == []


async def test_a_repeated_create_table_has_the_same_table(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    command = CreateTable(id=7, game="canfield")
    first, again = await anna.send(command), await anna.send(command)
    assert isinstance(first, Snapshot)
    assert isinstance(again, Snapshot)
    assert again.table.code == first.table.code
    assert len(await server.codes()) == 1
    assert anna.close_codes == []


async def test_a_repeated_create_table_has_the_same_table_after_a_restart(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    command = CreateTable(id=7, game="canfield")
    first = await anna.send(command)
    await server.restart()
    back = await server.player("Anna")
    again = await back.send(command)
    assert isinstance(first, Snapshot)
    assert isinstance(again, Snapshot)
    assert again.table.code == first.table.code
    assert len(await server.codes()) == 1


async def test_a_repeated_create_table_does_not_open_a_closed_table_again(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    command = CreateTable(id=7, game="canfield")
    assert isinstance(await anna.send(command), Snapshot)
    await server.pass_time(UNUSED_MILLIS)
    again = await anna.send(command)
    assert isinstance(again, Snapshot)
    assert again.table.phase == "closed"
    assert len(await server.codes()) == 1


async def test_a_create_table_whose_reply_was_lost_has_one_table_when_repeated(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    command = CreateTable(id=7, game="canfield")
    codes = set()
    for lost in (3, 2, 1):  # the code, the table, and the note of the seat
        server.faults.lost_replies = lost
        while server.faults.lost_replies:
            answer = await anna.send(command)
            assert isinstance(answer, Refused)
            assert answer.code == "store_unavailable"
        done = await anna.send(command)
        assert isinstance(done, Snapshot)
        codes.add(done.table.code)
    assert len(codes) == len(await server.codes()) == 1


class RoundTrips:
    """A counter of store round trips, which holds each store call until all tasks wait."""

    def __init__(self) -> None:
        self._waiting: list[asyncio.Event] = []
        self._in_flight = 0

    async def before(self) -> None:
        turn = asyncio.Event()
        self._waiting.append(turn)
        await turn.wait()
        self._in_flight += 1

    def after(self, method: str) -> None:
        self._in_flight -= 1

    async def until_done(self, task: asyncio.Task[AnyEvent]) -> int:
        """Run the task to its end; return the number of store round trips that it took."""
        rounds = 0
        while not task.done():
            for _ in range(50):
                await asyncio.sleep(0)
            if self._in_flight:
                continue
            rounds += bool(self._waiting)
            turns, self._waiting = self._waiting, []
            for turn in turns:
                turn.set()
        return rounds


@pytest.mark.parametrize("public", [False, True])
async def test_a_table_is_created_in_three_store_round_trips(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch, public: bool
) -> None:
    anna = await server.player("Anna")
    trips = RoundTrips()
    with monkeypatch.context() as patch:
        patch.setattr(server.faults, "before", trips.before)
        patch.setattr(server.faults, "after", trips.after)
        command = CreateTable(id=7, game="canfield", public=public)
        task = asyncio.create_task(server.node.dispatcher.answer(anna.session, command))
        assert await trips.until_done(task) == 3
    snapshot = task.result()
    assert isinstance(snapshot, Snapshot)
    assert (snapshot.table.host, anna.session.seat) == (anna.player, snapshot.table.code)
    assert len(await server.real.tables.list_public()) == int(public)


async def test_a_public_table_that_could_not_be_listed_is_listed_by_the_next_check(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = await server.player("Anna")

    async def unavailable(code: str, summary: bytes | None) -> None:
        raise StoreUnavailable("the store does not answer")

    with monkeypatch.context() as patch:
        patch.setattr(server.store.tables, "set_public", unavailable)
        code = await gathered(anna, public=True)
    assert await server.real.tables.list_public() == []
    await server.node.scheduler.sweep()
    (summary,) = await server.real.tables.list_public()
    assert code.encode() in summary
