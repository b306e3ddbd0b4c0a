"""Stores that die, lose answers, forget our Functions or take no writes: nothing lost or doubled."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import hiredis
import pytest

from kit.faulty_link import link_to_store
from kit.link_faults import lose_next_answer
from kit.running_race import ANNA, BERT, CODE, commit_all, ending, move, running_race
from kit.stores import StoreServer
from saratoga_server.ports import CommitOutcome, CommitStatus, StoreUnavailable, TableWrite
from saratoga_server.store import batcher, request_connection, store_client
from saratoga_server.store.batcher import Batcher, Connect, HandOver
from saratoga_server.store.commit_encoder import CommitEncoder
from saratoga_server.store.dial import dial
from saratoga_server.store.keys import mark_key, table_key
from saratoga_server.store.opening import Store, open_store
from saratoga_server.store.pending import PendingCommit
from saratoga_server.store.primaries import Primaries, Primary

TABLES = [f"mint-otter-{number}" for number in range(10, 18)]


@pytest.fixture
async def store(store_server: StoreServer) -> AsyncIterator[Store]:
    async with open_store(store_server.url) as opened:
        yield opened


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the timeout: tested is that commits are given up, not when."""
    for module in (batcher, store_client):
        monkeypatch.setattr(module, "STORE_TIMEOUT", 0.3)


class Players:
    """One player a table, who moves without a pause and records what was acknowledged."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.acknowledged: dict[str, list[tuple[str, int, int]]] = {code: [] for code in TABLES}
        self.failures = 0

    async def play(self, code: str, enough: Callable[[], bool]) -> None:
        log = self.acknowledged[code]
        while not enough():
            text = f"t{len(log)}>up"
            outcome = await self.store.commits.commit(move(text, len(log), code=code))
            assert outcome.status is CommitStatus.DONE, (code, outcome)
            log.append((text, outcome.at, outcome.number))

    def rounds(self, number: int) -> Callable[[], bool]:
        return lambda: all(len(log) >= number for log in self.acknowledged.values())

    async def play_until(self, enough: Callable[[], bool]) -> None:
        async with asyncio.TaskGroup() as group:
            for code in TABLES:
                group.create_task(self.play(code, enough))

    async def check(self, store: Store) -> None:
        """What was acknowledged is what is stored, entry by entry."""
        for code, log in self.acknowledged.items():
            board = await store.boards.load_board(code, 1, ANNA)
            assert board is not None
            assert [(entry.text, entry.at, entry.number) for entry in board.entries] == log
            assert [number for _, _, number in log] == list(range(1, len(log) + 1))


async def started_players(store: Store) -> Players:
    for code in TABLES:
        await running_race(store, code=code)
    return Players(store)


async def test_a_killed_store_loses_and_doubles_nothing(mortal_store: StoreServer) -> None:
    async with open_store(mortal_store.url) as store:
        players = await started_players(store)
        kills = 0

        def enough() -> bool:
            return kills >= 5 and players.rounds(60)()

        async def kill() -> None:
            nonlocal kills
            for kill in range(1, 6):
                await reached(players, 10 * kill)
                mortal_store.kill()
                await asyncio.to_thread(mortal_store.start)
                kills = kill

        async with asyncio.TaskGroup() as group:
            group.create_task(kill())
            group.create_task(players.play_until(enough))
        await players.check(store)
    mortal_store.kill()
    mortal_store.start()
    async with open_store(mortal_store.url) as store:
        await players.check(store)


async def reached(players: Players, rounds: int) -> None:
    """Until every player has made so many moves."""
    while not players.rounds(rounds)():  # noqa: ASYNC110 - they count without telling anybody
        await asyncio.sleep(0.001)


async def test_flushed_functions_are_loaded_again_in_flight(
    store: Store, store_server: StoreServer
) -> None:
    players = await started_players(store)

    async def flush() -> None:
        for rounds in range(10, 60, 10):
            await reached(players, rounds)
            assert store_server.ask("FUNCTION", "FLUSH", "SYNC") == b"+OK"

    async with asyncio.TaskGroup() as group:
        group.create_task(flush())
        group.create_task(players.play_until(players.rounds(60)))
    store_server.ask("FUNCTION", "FLUSH", "SYNC")
    await players.check(store)


async def test_a_move_whose_answer_got_lost_is_answered_as_the_first_time(
    store_server: StoreServer,
) -> None:
    async with (
        link_to_store(
            store_server.socket, store_server.folder / "lossy", lose_next_answer("commit_boards")
        ) as link,
        open_store(link.url) as store,
    ):
        race = await running_race(store, banked=3)
        outcomes = await race.commit(
            move("t1>up", 0, banked=4, rises=True),
            move("draw", 7, player=BERT),
            move("draw", 0, player=BERT),
        )
        assert link.answers_lost == 1
        assert [outcome.status for outcome in outcomes] == [
            CommitStatus.DONE,
            CommitStatus.STALE,
            CommitStatus.DONE,
        ]
        assert [outcome.number for outcome in outcomes] == [1, 0, 2]
        for player, outcome in ((ANNA, outcomes[0]), (BERT, outcomes[2])):
            [entry] = (await race.board(player)).entries
            assert (entry.at, entry.number) == (outcome.at, outcome.number)
        assert (await race.standing()).reached == (outcomes[0].at - race.start_at, 1)


async def test_an_ending_of_the_servers_own_may_lose_its_answer(store_server: StoreServer) -> None:
    async with (
        link_to_store(
            store_server.socket, store_server.folder / "lossy", lose_next_answer("commit_boards")
        ) as link,
        open_store(link.url) as store,
    ):
        race = await running_race(store)
        [outcome] = await race.commit(ending("left", 0, "left"))
        assert link.answers_lost == 1
        assert (outcome.status, outcome.length, outcome.number) == (CommitStatus.DONE, 1, 1)
        assert await race.texts() == ["left"]


async def test_another_nodes_equal_write_is_not_taken_for_ours(store_server: StoreServer) -> None:
    write = TableWrite(code=CODE, expected=0, body=b"the same", due=None)
    async with (
        link_to_store(
            store_server.socket, store_server.folder / "lossy", lose_next_answer("save_table")
        ) as link,
        open_store(link.url) as one,
        open_store(store_server.url) as other,
    ):
        assert await one.tables.save_table(write)
        assert link.answers_lost == 1
        assert not await other.tables.save_table(write)


@pytest.mark.usefixtures("impatient")
async def test_a_store_that_stays_away_is_unavailable_and_repeating_is_safe(
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


@pytest.mark.usefixtures("impatient")
async def test_a_hanging_store_is_unavailable_too(
    mortal_store: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(mortal_store.url) as store:
        race = await running_race(store)
        await race.commit(move("draw", 0))
        monkeypatch.setattr(request_connection, "REPLY_TIMEOUT", 0.1)
        mortal_store.pause()
        with pytest.raises(StoreUnavailable):
            await race.commit(move("w>t1", 1))
        mortal_store.resume()
        # it was carried out when the store woke up: the same move again is known
        outcomes = await race.commit(move("w>t1", 1))
        assert outcomes[0].status in (CommitStatus.REPEAT, CommitStatus.DONE)
        assert await race.texts() == ["draw", "w>t1"]


on_its_way = pytest.mark.parametrize("turns", [0, 1], ids=["not sent yet", "sent"])
"""Turns of the event loop that a commit has had."""


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
    assert again.status is CommitStatus.REPEAT
    assert players.failures == 0


@pytest.mark.parametrize(
    ("setting", "refusing", "taking"),
    [
        pytest.param("min-replicas-to-write", "1", "0", id="no replica"),
        pytest.param("maxmemory", "1", "0", id="out of memory"),
    ],
)
async def test_a_store_that_takes_no_writes_for_a_while_is_waited_for(
    store: Store, store_server: StoreServer, setting: str, refusing: str, taking: str
) -> None:
    race = await running_race(store)
    assert store_server.ask("CONFIG", "SET", setting, refusing) == b"+OK"
    try:
        commit = asyncio.ensure_future(race.commit(move("draw", 0)))
        save = asyncio.ensure_future(
            store.tables.save_table(TableWrite(code=CODE, expected=1, body=b"x", due=None))
        )
        await asyncio.wait([commit, save], timeout=0.2)
        assert not commit.done()
        assert not save.done()
    finally:
        assert store_server.ask("CONFIG", "SET", setting, taking) == b"+OK"
    assert (await commit)[0].status is CommitStatus.DONE
    assert await save


async def test_a_board_ruined_in_the_store_fails_alone(
    store: Store, store_server: StoreServer
) -> None:
    await started_players(store)
    [log] = [
        key.decode()
        for key in [
            await store.client.command("SCAN", 0, "MATCH", f"*{TABLES[2]}:race:1", "COUNT", 1000)
        ][0][1]
    ]
    assert store_server.ask("SET", f"{log}:log:{ANNA}", "not a list") == b"+OK"
    outcomes = await commit_all(store, [move("draw", 0, code=code) for code in TABLES])
    assert [outcome.status for outcome in outcomes] == [
        CommitStatus.NO_BOARD if code == TABLES[2] else CommitStatus.DONE for code in TABLES
    ]


@pytest.mark.usefixtures("impatient")
async def test_a_store_that_comes_back_unfit_gets_no_more_moves(mortal_store: StoreServer) -> None:
    async with open_store(mortal_store.url) as store:
        race = await running_race(store)
        await race.commit(move("draw", 0))
        mortal_store.kill()
        mortal_store.settings["appendfsync"] = "everysec"
        await asyncio.to_thread(mortal_store.start)
        with pytest.raises(StoreUnavailable, match="CONFIG SET appendfsync always"):
            await race.commit(move("w>t1", 1))
        assert mortal_store.ask("CONFIG", "SET", "appendfsync", "always") == b"+OK"
        assert (await race.commit(move("w>t1", 1)))[0].status is CommitStatus.DONE


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


async def test_a_commit_that_cannot_be_encoded_holds_up_no_other(store: Store) -> None:
    race = await running_race(store)
    with pytest.raises(StoreUnavailable, match="cannot be encoded"):
        await race.commit(move("\ud800", 0))
    assert (await race.commit(move("draw", 0)))[0].status is CommitStatus.DONE


@pytest.mark.usefixtures("impatient")
async def test_a_store_can_be_closed_while_it_is_away(mortal_store: StoreServer) -> None:
    async with open_store(mortal_store.url) as store:
        race = await running_race(store)
        mortal_store.kill()
        unheard = asyncio.ensure_future(race.commit(move("draw", 0)))
        await asyncio.sleep(0)
    with pytest.raises(StoreUnavailable):
        await unheard
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_the_connection_is_made_again_before_anybody_needs_it(
    mortal_store: StoreServer,
) -> None:
    async with open_store(mortal_store.url) as store:
        race = await running_race(store)
        mortal_store.kill()
        mortal_store.start()
        await asyncio.to_thread(mortal_store.wait_for, "CLIENT", "LIST", says=b"cmd=function|load")
        [outcome] = await race.commit(move("draw", 0))
        assert outcome.status is CommitStatus.DONE


class OneStore(Primaries):
    """A store by itself, whose slot map can fail."""

    def __init__(self, url: str, *faults: Exception) -> None:
        super().__init__((url,), is_cluster=False)
        self._faults = list(faults)

    async def refresh(self) -> None:
        if self._faults:
            raise self._faults.pop()


@asynccontextmanager
async def one_batcher(
    primaries: Primaries,
    connect: Connect,
    *,
    replicated: bool = False,
    hand_over: HandOver | None = None,
) -> AsyncIterator[Batcher]:
    """Open a batcher of the test's own."""
    encoder = CommitEncoder(replicated=replicated, on_disk=False)
    [primary] = primaries.all()
    own = Batcher(primaries, primary, connect, encoder, lambda boards: None, hand_over)
    try:
        async with asyncio.timeout(10):
            yield own
    finally:
        await own.close(0)
        await primaries.close()


async def dialled(primary: Primary) -> asyncio.Transport:
    return await dial(primary.url)


async def test_unexpected_errors_while_connecting_do_not_stop_the_moves(
    store: Store, store_server: StoreServer
) -> None:
    race = await running_race(store)
    faults = [RuntimeError("odd"), ValueError("odder")]

    async def connect(primary: Primary) -> asyncio.Transport:
        if faults:
            raise faults.pop()
        return await dial(primary.url)

    primaries = OneStore(store_server.url, RuntimeError("no map"), RuntimeError("no map"))
    async with one_batcher(primaries, connect) as own:
        assert (await own.commit(move("draw", 0))).status is CommitStatus.DONE
    assert await race.texts() == ["draw"]
    assert not faults


async def test_a_recovery_that_fails_fails_what_waits_and_the_next_move_is_made(
    store: Store, store_server: StoreServer
) -> None:
    race = await running_race(store)
    faults = [RuntimeError("no such slot")]

    class Lost(OneStore):
        def of_table(self, code: str) -> Primary:
            if faults:
                raise faults.pop()
            return super().of_table(code)

    def hand_over(pending: PendingCommit) -> None:
        raise AssertionError

    async with one_batcher(Lost(store_server.url), dialled, hand_over=hand_over) as own:
        with pytest.raises(StoreUnavailable, match="no such slot"):
            await own.commit(move("draw", 0))
        assert (await own.commit(move("draw", 0))).status is CommitStatus.DONE
    assert await race.texts() == ["draw"]


@asynccontextmanager
async def scripted_store(socket: Path, reply: Callable[[list[bytes]], bytes]) -> AsyncIterator[str]:
    """Run a store that answers each command with `reply(words)`; yield its address."""
    connections: set[asyncio.Task[None] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(asyncio.current_task())
        parsed = hiredis.Reader()
        while data := await reader.read(1 << 16):
            parsed.feed(data)
            while (words := parsed.gets()) is not False:
                writer.write(reply(words))
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_unix_server(serve, socket)
    try:
        yield f"unix://{socket}"
    finally:
        server.close()
        await asyncio.gather(*filter(None, connections))


DONE = b"*4\r\n:0\r\n:1\r\n:5\r\n:1\r\n"
"""The answer to a call with one commit."""


async def test_a_mark_and_a_call_that_are_being_moved_do_not_hold_up_the_others(
    tmp_path: Path,
) -> None:
    leaving, moving, here = TABLES[:3]
    refused = 0

    def reply(words: list[bytes]) -> bytes:
        nonlocal refused
        if words[0] == b"WAIT":
            return b":1\r\n"
        key = words[3] if words[0] == b"FCALL" else words[1]
        if words[0] == b"SET":
            tag = mark_key(table_key(leaving)).encode()
            return b"-ASK 1 127.0.0.1:1\r\n" if key == tag else b"+OK\r\n"
        if words[0] != b"FCALL":
            return b"+OK\r\n"
        if moving.encode() in key and not has_moved:
            refused += 1
            return b"-TRYAGAIN a part is on its way\r\n"
        return DONE

    has_moved = False
    handed_over: list[PendingCommit] = []
    async with (
        scripted_store(tmp_path / "s", reply) as url,
        one_batcher(OneStore(url), dialled, replicated=True, hand_over=handed_over.append) as own,
    ):
        commits = [own.commit(move("draw", 0, code=code)) for code in (leaving, moving, here)]
        for outcome in await asyncio.gather(commits[0], commits[2]):
            assert outcome.status is CommitStatus.DONE
        assert not commits[1].done()
        has_moved = True
        assert (await commits[1]).status is CommitStatus.DONE
    assert refused
    assert not handed_over


async def test_a_commit_that_belongs_elsewhere_by_now_is_handed_over_as_sent(
    tmp_path: Path,
) -> None:
    elsewhere = OneStore("redis://127.0.0.1:1")
    has_moved = False
    handed_over: asyncio.Queue[PendingCommit] = asyncio.Queue()

    class Moving(OneStore):
        def of_table(self, code: str) -> Primary:
            return elsewhere.of_table(code) if has_moved else super().of_table(code)

    def reply(words: list[bytes]) -> bytes:
        nonlocal has_moved
        if words[0] != b"FCALL":
            return b"+OK\r\n"
        has_moved = True
        return b"-MOVED 1 127.0.0.1:1\r\n"

    async with (
        scripted_store(tmp_path / "s", reply) as url,
        one_batcher(Moving(url), dialled, hand_over=handed_over.put_nowait) as own,
    ):
        outcome = own.commit(move("draw", 0))
        pending = await handed_over.get()
        assert pending.outcome is outcome
        assert pending.was_sent
    outcome.cancel()
    await elsewhere.close()


@pytest.mark.usefixtures("impatient")
async def test_a_mark_that_is_refused_is_sent_again_after_a_pause(tmp_path: Path) -> None:
    """The refusal comes at once, and the replicas confirm at once what they have."""
    marks = 0

    def reply(words: list[bytes]) -> bytes:
        nonlocal marks
        if words[0] == b"SET":
            marks += 1
            return b"-ASK 1 127.0.0.1:1\r\n"
        if words[0] == b"WAIT":
            return b":1\r\n"
        return DONE if words[0] == b"FCALL" else b"+OK\r\n"

    async with (
        scripted_store(tmp_path / "s", reply) as url,
        one_batcher(OneStore(url), dialled, replicated=True) as own,
    ):
        with pytest.raises(StoreUnavailable, match="ASK 1"):
            await own.commit(move("draw", 0))
    assert marks <= 3, "the pause is nearly as long as the time to retry"
