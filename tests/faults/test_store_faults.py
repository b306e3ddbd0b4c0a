"""A store that is killed, hangs, loses answers or Functions, or refuses writes: no move is lost or doubled."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path

import hiredis
import pytest

from kit.faulty_link import FaultyLink, lose_answers, open_link, to_socket
from kit.stores import StoreServer, free_port, scratch_folder
from kit.tables import ANN, CODE, TABLES, move, running_race, seated, started_players
from saratoga_server.ports import CommitOutcome, CommitStatus, StoreUnavailable
from saratoga_server.store import client, commits
from saratoga_server.store import link as store_link
from saratoga_server.store.commits import Commits, Connect
from saratoga_server.store.link import Link, dial
from saratoga_server.store.opening import Store, open_store
from saratoga_server.store.tables import NotSaved, TableWrite


@contextmanager
def replica_of(
    primary: StoreServer, settings: dict[str, str] | None = None
) -> Iterator[StoreServer]:
    """Run a replica that is in sync with a store; the store is restarted first."""
    port = free_port()
    primary.kill()
    primary.settings |= {"port": str(port), "bind": "127.0.0.1", "repl-diskless-sync-delay": "0"}
    primary.start()
    with scratch_folder() as folder:
        own = {"replicaof": f"127.0.0.1 {port}", "replica-read-only": "yes"}
        server = StoreServer(primary.binary, folder, own | (settings or {}))
        try:
            server.start()
            server.wait_for("INFO", "replication", says=b"master_link_status:up")
            primary.wait_for("INFO", "replication", says=b"state=online")
            yield server
        finally:
            server.kill()


@pytest.fixture
async def store(store_server: StoreServer) -> AsyncIterator[Store]:
    async with open_store(store_server.url) as opened:
        yield opened


@pytest.fixture
def short_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the timeout, so that commits are given up soon."""
    for module in (commits, client):
        monkeypatch.setattr(module, "STORE_TIMEOUT", 0.3)


def losing_next_answer(
    server: StoreServer, function: str
) -> AbstractAsyncContextManager[FaultyLink]:
    """Open a link to a store that loses the answer to the next call of a Function."""
    fault = lose_answers(function, most=1)
    return open_link(to_socket(server.socket), fault, socket=server.folder / "lossy")


def write(version: int) -> TableWrite:
    """Return a write of the table `CODE` that seats nobody."""
    return TableWrite(version=version, before=seated(ANN), after=seated(ANN))


async def test_an_equal_write_of_another_node_is_not_taken_for_this_nodes_own(
    store_server: StoreServer,
) -> None:
    async with (
        losing_next_answer(store_server, "save_") as link,
        open_store(link.url) as one,
        open_store(store_server.url) as other,
    ):
        assert await one.tables.save_table(write(0)) is None
        assert link.answers_lost == 1
        assert await other.tables.save_table(write(0)) is NotSaved.CHANGED


@pytest.mark.usefixtures("short_timeout")
async def test_a_store_that_stays_down_is_unavailable_and_repeating_is_safe(
    mortal_store: StoreServer,
) -> None:
    async with open_store(mortal_store.url) as store:
        race = await running_race(store)
        mortal_store.kill()
        with pytest.raises(StoreUnavailable):
            await race.commit(move("draw", 0))
        with pytest.raises(StoreUnavailable):
            await store.tables.load_table(CODE)
        await asyncio.to_thread(mortal_store.start)
        assert (await race.commit(move("draw", 0)))[0].status is CommitStatus.DONE
        assert await race.texts() == ["draw"]


@pytest.mark.usefixtures("short_timeout")
async def test_a_hanging_store_is_unavailable(
    mortal_store: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(mortal_store.url) as store:
        race = await running_race(store)
        await race.commit(move("draw", 0))
        monkeypatch.setattr(store_link, "REPLY_TIMEOUT", 0.1)
        mortal_store.pause()
        with pytest.raises(StoreUnavailable):
            await race.commit(move("w>t1", 1))
        mortal_store.resume()
        # The store carried the move out when it resumed, and recognises the repeated move.
        outcomes = await race.commit(move("w>t1", 1))
        assert outcomes[0].status is CommitStatus.DONE
        assert await race.texts() == ["draw", "w>t1"]


on_its_way = pytest.mark.parametrize("turns", [0, 1], ids=["not sent yet", "sent"])
"""The number of turns of the event loop between the commit and its cancellation."""


@on_its_way
async def test_a_cancelled_commit_does_not_disturb_the_others(store: Store, turns: int) -> None:
    players = await started_players(store)
    waiting = [
        asyncio.ensure_future(store.commits.commit(move("draw", 0, code=code))) for code in TABLES
    ]
    for _ in range(turns):
        await asyncio.sleep(0)
    waiting[3].cancel()
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(outcomes[3], asyncio.CancelledError)
    done = [outcome for outcome in outcomes if isinstance(outcome, CommitOutcome)]
    assert [outcome.status for outcome in done] == [CommitStatus.DONE] * (len(TABLES) - 1)
    again = await store.commits.commit(move("draw", 0, code=TABLES[3]))
    assert again.status is CommitStatus.DONE
    assert players.failures == 0


@pytest.mark.parametrize(
    ("setting", "refusing", "taking"),
    [
        pytest.param("min-replicas-to-write", "1", "0", id="no replica"),
        pytest.param("maxmemory", "1", "0", id="out of memory"),
    ],
)
async def test_commits_wait_for_a_store_that_refuses_writes_for_a_while(
    store: Store, store_server: StoreServer, setting: str, refusing: str, taking: str
) -> None:
    race = await running_race(store)
    assert store_server.ask("CONFIG", "SET", setting, refusing) == b"+OK"
    try:
        commit = asyncio.ensure_future(race.commit(move("draw", 0)))
        save = asyncio.ensure_future(store.tables.save_table(write(1)))
        await asyncio.wait([commit, save], timeout=0.2)
        assert not commit.done()
        assert not save.done()
    finally:
        assert store_server.ask("CONFIG", "SET", setting, taking) == b"+OK"
    assert (await commit)[0].status is CommitStatus.DONE
    assert await save is None


@on_its_way
async def test_pending_commits_complete_before_the_store_is_closed(
    store_server: StoreServer, turns: int
) -> None:
    async with open_store(store_server.url) as store:
        await started_players(store)
        on_their_way = [
            asyncio.ensure_future(store.commits.commit(move("draw", 0, code=code)))
            for code in TABLES
        ]
        for _ in range(turns):
            await asyncio.sleep(0)
    for outcome in await asyncio.gather(*on_their_way):
        assert outcome.status is CommitStatus.DONE
    with pytest.raises(StoreUnavailable):
        await store.commits.commit(move("draw", 1, code=TABLES[0]))


@pytest.mark.usefixtures("short_timeout")
async def test_a_store_client_can_be_closed_while_the_store_is_down(
    mortal_store: StoreServer,
) -> None:
    async with open_store(mortal_store.url) as store:
        race = await running_race(store)
        mortal_store.kill()
        unanswered = asyncio.ensure_future(race.commit(move("draw", 0)))
        await asyncio.sleep(0)
    with pytest.raises(StoreUnavailable):
        await unanswered
    assert asyncio.all_tasks() == {asyncio.current_task()}


@asynccontextmanager
async def own_commits(connect: Connect, *, replicas: int = 0) -> AsyncIterator[Commits]:
    """Open a batcher by itself."""
    own = Commits(connect, replicas, lambda boards: None)
    try:
        async with asyncio.timeout(10):
            yield own
    finally:
        await own.close(0)


async def test_unexpected_errors_while_connecting_do_not_stop_commits(
    store: Store, store_server: StoreServer
) -> None:
    race = await running_race(store)
    faults = [RuntimeError("odd"), ValueError("odder")]

    async def connect() -> Link:
        if faults:
            raise faults.pop()
        return await dial(store_server.url)

    async with own_commits(connect) as own:
        assert (await own.commit(move("draw", 0))).status is CommitStatus.DONE
    assert await race.texts() == ["draw"]
    assert not faults


@asynccontextmanager
async def scripted_store(socket: Path, reply: Callable[[list[bytes]], bytes]) -> AsyncIterator[str]:
    """Run a fake store that answers each command with `reply(words)`; yield its address."""
    connections: set[asyncio.Task[None] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(asyncio.current_task())
        parsed = hiredis.Reader()
        while data := await reader.read(1 << 16):
            parsed.feed(data)
            while (words := parsed.gets()) is not False:
                primary = b"*1\r\n$6\r\nmaster\r\n"
                writer.write(primary if words[0] == b"ROLE" else reply(words))
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_unix_server(serve, socket)
    try:
        yield f"unix://{socket}"
    finally:
        server.close()
        await asyncio.gather(*filter(None, connections))


DONE = b"*5\r\n:0\r\n:1\r\n:5\r\n:1\r\n:2\r\n"
"""The store's reply to a call with one commit."""


@pytest.mark.usefixtures("short_timeout")
async def test_a_refused_mark_is_sent_again_after_a_pause(tmp_path: Path) -> None:
    """The fake store refuses the mark at once, and its replicas confirm at once."""
    marks = 0

    def reply(words: list[bytes]) -> bytes:
        nonlocal marks
        if words[0] == b"SET":
            marks += 1
            return b"-OOM no memory\r\n"
        if words[0] == b"WAIT":
            return b":1\r\n"
        return DONE if words[0] == b"FCALL" else b"+OK\r\n"

    async with (
        scripted_store(tmp_path / "s", reply) as url,
        own_commits(lambda: dial(url), replicas=1) as own,
    ):
        with pytest.raises(StoreUnavailable, match="OOM no memory"):
            await own.commit(move("draw", 0))
    assert marks <= 3, "the pause is nearly as long as the time to retry"


async def test_a_new_connection_does_not_take_old_writes_for_replicated(
    mortal_store: StoreServer,
) -> None:
    """WAIT counts from the last write of its own connection, and a repeated commit writes nothing."""
    async with open_store(mortal_store.url) as store:
        await running_race(store)
    with replica_of(mortal_store) as replica:
        async with (
            losing_next_answer(mortal_store, "commit_boards") as link,
            own_commits(lambda: dial(link.url), replicas=1) as own,
        ):
            replica.pause()
            commit = own.commit(move("draw", 0))
            await link.has_lost_answer.wait()
            await asyncio.wait([commit], timeout=0.2)
            assert not commit.done()
            replica.resume()
            assert (await commit).status is CommitStatus.DONE
