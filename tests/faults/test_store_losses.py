"""What a store has lost is logged, and said to the players: never silently another board or table.

The last tests run real processes: an older copy of the store's files, and a deleted store. The
server cannot prevent these losses.
"""

import asyncio
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from kit.in_process_server import InProcessServer, gathered
from kit.racing_bots import RacingBots, racing_bots
from kit.server_process import running_server
from kit.stores import StoreServer
from saratoga_client.problems import Problem
from saratoga_protocol.commands import ClaimName, GetRecord, JoinTable, MakeMove, NotReady, Start
from saratoga_protocol.events import Announcement, Done, Refused, SeatLost, Snapshot
from saratoga_protocol.refusals import STORE_LOST_DATA
from saratoga_rules.records.verify import verify
from saratoga_server.live.scheduler import LOOK_EVERY
from saratoga_server.store.keys import race_key, table_key

KEPT = "kept:"
"""The beginning of the names of copies, made to bring an older state back."""


def keep(server: InProcessServer, *keys: str) -> None:
    for key in keys:
        assert server.store.server.ask("COPY", key, KEPT + key) == b":1"


def bring_back(server: InProcessServer, *keys: str) -> None:
    """Replace the keys by what was kept, as a store does that has lost the writes since."""
    for key in keys:
        if server.store.server.ask("COPY", KEPT + key, key, "REPLACE") != b":1":
            server.store.server.ask("DEL", key)


def logged(caplog: pytest.LogCaptureFixture, event: str) -> list[dict[str, object]]:
    """Return the fields of all log lines of that event."""
    return [vars(record)["fields"] for record in caplog.records if record.getMessage() == event]


async def test_a_board_shorter_than_acknowledged_is_said_to_its_player_and_logged(
    server: InProcessServer, caplog: pytest.LogCaptureFixture
) -> None:
    anna, bert, code = await server.two_racing()
    race = race_key(code, 1)
    await anna.moves("draw")
    keys = (race, f"{race}:log:{anna.player}")
    keep(server, *keys)
    await anna.moves("draw", "draw")
    bring_back(server, *keys)
    answer = await anna.move("draw")
    assert isinstance(answer, Refused)
    assert answer.code == "stale_move"
    assert answer.board is not None
    assert answer.board.count == 1
    (said,) = anna.received.all(Announcement)
    assert (
        said.text
        == "The server's store lost data: your board is back at move 1 of 3. Continue from there."
    )
    assert anna.close_codes == [STORE_LOST_DATA.code]
    assert (bert.received.all(Announcement), bert.close_codes) == ([], [])
    (line,) = logged(caplog, "moves_lost")
    expected = {"acknowledged": 3, "stored": 1, "player": anna.player, "table": code}
    assert expected.items() <= line.items()
    back = await server.player("Anna")
    snapshot = await back.at_table(JoinTable, table=code)
    assert snapshot.board is not None
    assert snapshot.board.count == 1
    await back.moves("draw")
    assert len(logged(caplog, "moves_lost")) == 1


async def test_all_that_a_node_holds_is_read_again_when_the_store_has_lost_writes(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    code = await server.race(anna)
    race = race_key(code, 1)
    keys = (race, f"{race}:log:{anna.player}")
    await anna.moves("draw")
    keep(server, *keys)
    await anna.moves("draw", "draw")
    bring_back(server, *keys)
    await server.node.read_again()
    (said,) = anna.received.all(Announcement)
    assert "your board is back at move 1 of 3" in said.text
    assert anna.close_codes == [STORE_LOST_DATA.code]


async def test_a_countdown_that_the_store_has_lost_is_voided_and_its_deal_not_offered_again(
    server: InProcessServer,
) -> None:
    anna, bert = [await server.player(name) for name in ("Anna", "Bert")]
    code = await gathered(anna, bert)
    for player in (anna, bert):
        await player.ready()
    spent = anna.table.commitment
    keep(server, table_key(code))
    await anna.ask(Start, table=code)
    await anna.reveal()
    bring_back(server, table_key(code))
    await server.node.listener.subscribed()
    await server.settle()
    back = await server.player("Anna")
    table = (await back.at_table(JoinTable, table=code)).table
    assert (table.phase, table.race) == ("gathering", f"{code}/2")
    assert table.commitment != spent
    assert table.previous is not None
    assert (table.previous.race, table.previous.reason) == (f"{code}/1", "server-away")
    text = (await back.ask(GetRecord, race=f"{code}/1")).text
    assert f"\ncommitment {spent}\n" in text
    assert verify(text).ok


async def test_a_table_older_than_acknowledged_is_said_to_its_players_and_logged(
    server: InProcessServer, caplog: pytest.LogCaptureFixture
) -> None:
    anna, bert, cleo = [await server.player(name) for name in ("Anna", "Bert", "Cleo")]
    code = await gathered(anna, bert)
    keep(server, table_key(code))
    await cleo.at_table(JoinTable, table=code)
    bring_back(server, table_key(code))
    await server.node.listener.subscribed()
    await server.settle()
    for player in (anna, bert, cleo):
        (said,) = player.received.all(Announcement)
        assert said.text.startswith("The server's store lost data: this table is as it was")
        assert player.close_codes == [STORE_LOST_DATA.code]
    assert len(logged(caplog, "table_lost")) == 1
    back = await server.player("Anna")
    snapshot = await back.at_table(JoinTable, table=code)
    assert [seat.name for seat in snapshot.table.seats] == ["Anna", "Bert"]
    assert isinstance(await back.ready(), Done)
    again = await server.player("Cleo")
    assert isinstance(await again.ask(JoinTable, table=code), Snapshot)


@pytest.mark.parametrize("is_asked", [True, False])
async def test_players_of_a_table_that_is_gone_lose_their_seats_and_are_told_why(
    server: InProcessServer, caplog: pytest.LogCaptureFixture, is_asked: bool
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, bert)
    for player in (anna, bert):
        server.store.server.ask("DEL", f"player:{player.player}")
        server.store.server.ask("DEL", f"name:{player.name.lower()}")
    server.store.server.ask("DEL", table_key(code))
    if is_asked:
        assert await anna.refused(NotReady, table=code) == "no_such_table"
    else:
        await server.node.listener.subscribed()
        await server.settle()
    for player in (anna, bert):
        (lost,) = player.received.all(SeatLost)
        assert lost.reason.startswith("The server's store lost data, and this table with it.")
    assert len(logged(caplog, "table_lost")) == 1
    assert await anna.refused(ClaimName, name="Dora") == "hello_first"


async def test_a_race_that_is_gone_while_it_is_played_is_not_a_plain_refusal(
    server: InProcessServer, caplog: pytest.LogCaptureFixture
) -> None:
    anna, bert, code = await server.two_racing()
    await anna.moves("draw")
    race = race_key(code, 1)
    for key in (race, *(f"{race}:log:{each.player}" for each in (anna, bert)), table_key(code)):
        server.store.server.ask("DEL", key)
    answer = await anna.ask(MakeMove, race=f"{code}/1", after=1, move="draw")
    assert isinstance(answer, Refused)
    (said,) = anna.received.all(Announcement)
    assert (
        said.text
        == "The server's store lost data: your board is back at move 0 of 1. Continue from there."
    )
    assert [line["stored"] for line in logged(caplog, "moves_lost")] == [0]
    await server.settle()
    await server.pass_time(int(LOOK_EVERY * 1000))
    (lost,) = bert.received.all(SeatLost)
    assert lost.reason.startswith("The server's store lost data, and this table with it.")
    late = await bert.ask(MakeMove, race=f"{code}/1", after=0, move="draw")
    assert isinstance(late, Refused)
    assert (late.code, late.message) == ("not_seated", lost.reason)


PACE = 15.0
"""Moves a second of each player, so slow that no board ends before the loss."""

MOVES = 60
"""The number of acknowledged moves that are lost, in all."""


WITHIN = 30.0
"""Longest time in seconds for a log line; a bound, not a measurement."""


valkey_only = pytest.mark.parametrize("mortal_store", ["valkey"], indirect=True)


def moves_of(bots: RacingBots) -> int:
    return sum(len(player.notes.acknowledged) for player in bots.players)


def sequence(store: StoreServer) -> int:
    """Return the number of the newest write that the nodes remember."""
    reply = store.ask_all("HGET", "ledger", "sequence")
    return int(reply.split(b"\r\n")[1])


async def until_moves(bots: RacingBots, number: int) -> None:
    until = moves_of(bots) + number
    await bots.until(lambda: moves_of(bots) >= until)


async def lose_moves(bots: RacingBots, store: StoreServer, older: Path) -> None:
    """Give the store an older copy of its files; wait until every player is back on a shorter board."""
    files = store.folder / "appendonlydir"
    shutil.copytree(files, older)
    before = sequence(store)
    await until_moves(bots, MOVES)
    # a loss between two raises of the ledger is noticed board by board only
    await bots.until(lambda: sequence(store) > before)
    await asyncio.to_thread(store.kill)
    shutil.rmtree(files)
    shutil.copytree(older, files)
    await asyncio.to_thread(store.start)
    await bots.until(lambda: all(player.notes.clashes for player in bots.players))


@valkey_only
@pytest.mark.parametrize("durability", ["fast", "safe"])
async def test_a_bot_takes_lost_moves_for_a_lie_only_if_the_server_may_lose_none(
    mortal_store: StoreServer, tmp_path: Path, durability: str
) -> None:
    async with racing_bots(("lady-palk",), PACE, mortal_store, durability) as bots:
        await bots.mid_race()
        board = bots.players[0].notes.board
        assert board is not None
        await lose_moves(bots, mortal_store, tmp_path / "older")
        for player in bots.players:
            while player.notes.is_racing:
                with suppress(Problem):  # one of the bot's moves was refused meanwhile
                    await player.session.cash_out()
        for player in bots.players:
            async with asyncio.timeout(WITHIN):
                state = await player.session.until(lambda state: board.race in state.verifications)
            found = state.verifications[board.race]
            if durability == "fast":
                assert state.alarms == ()
                assert found.ok
                # what came before the loss is not compared, so the race is not called the one that was played
                assert "did not see all of it" in found.sentence
            else:
                assert any("your moves" in alarm for alarm in state.alarms)
                assert not found.ok


async def test_a_server_process_says_what_is_wrong_with_its_store_and_recovers(
    mortal_store: StoreServer,
) -> None:
    async with running_server("--redis", mortal_store.url) as server:
        for value, event, status in (
            ("no", "store_refused", 503),
            ("always", "store_accepted", 200),
        ):
            mortal_store.ask("CONFIG", "SET", "appendfsync", value)
            async with asyncio.timeout(WITHIN):
                while not (lines := [each for each in server.events() if each["event"] == event]):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            assert (await server.get("/readyz"))[0] == status
            if status == 503:
                assert "CONFIG SET appendfsync always" in str(lines[0]["reason"])
