"""What a store has lost is logged, and said to the players: never silently another board or table."""

import asyncio

import pytest

from kit.in_process_server import InProcessServer, gathered
from saratoga_protocol.commands import (
    ClaimName,
    GetRecord,
    JoinTable,
    MakeMove,
    NotReady,
    Resume,
    Start,
)
from saratoga_protocol.events import Announcement, Done, Refused, SeatLost, Snapshot
from saratoga_protocol.refusals import STORE_LOST_DATA
from saratoga_server.domain.tables.timers import LOOK_MILLIS
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
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await server.race(anna, bert)
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
    snapshot = await back.at_table(Resume, table=code)
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
    await server.node.peer_events.subscribed()
    await server.settle()
    back = await server.player("Anna")
    table = (await back.at_table(Resume, table=code)).table
    assert (table.phase, table.race) == ("gathering", f"{code}/2")
    assert table.commitment != spent
    (voided,) = table.voided
    assert (voided.race, voided.reason, voided.commitment) == (f"{code}/1", "server-away", spent)
    assert (await back.ask(GetRecord, race=f"{code}/1")).text.startswith("saratoga void record")


async def test_a_table_older_than_acknowledged_is_said_to_its_players_and_logged(
    server: InProcessServer, caplog: pytest.LogCaptureFixture
) -> None:
    anna, bert, cleo = [await server.player(name) for name in ("Anna", "Bert", "Cleo")]
    code = await gathered(anna, bert)
    keep(server, table_key(code))
    await cleo.at_table(JoinTable, table=code)
    bring_back(server, table_key(code))
    await server.node.peer_events.subscribed()
    await server.settle()
    for player in (anna, bert, cleo):
        (said,) = player.received.all(Announcement)
        assert said.text.startswith("The server's store lost data: this table is as it was")
        assert player.close_codes == [STORE_LOST_DATA.code]
    assert len(logged(caplog, "table_lost")) == 1
    back = await server.player("Anna")
    snapshot = await back.at_table(Resume, table=code)
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
        await server.node.peer_events.subscribed()
        await server.settle()
    for player in (anna, bert):
        (lost,) = player.received.all(SeatLost)
        assert lost.reason.startswith("The server's store lost data, and this table with it.")
    assert len(logged(caplog, "table_lost")) == 1
    assert await anna.refused(ClaimName, name="Dora") == "hello_first"


async def test_commands_that_wait_for_a_table_that_is_gone_do_not_log_the_loss_again(
    server: InProcessServer, caplog: pytest.LogCaptureFixture
) -> None:
    players = [await server.player(name) for name in ("Anna", "Bert", "Cleo")]
    code = await gathered(*players)
    server.store.server.ask("DEL", table_key(code))
    refused = await asyncio.gather(*(each.refused(NotReady, table=code) for each in players))
    assert refused == ["no_such_table"] * 3
    assert len(logged(caplog, "table_lost")) == 1
    for player in players:
        (lost,) = player.received.all(SeatLost)
        assert lost.reason.startswith("The server's store lost data, and this table with it.")


async def test_a_race_that_is_gone_while_it_is_played_is_not_a_plain_refusal(
    server: InProcessServer, caplog: pytest.LogCaptureFixture
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await server.race(anna, bert)
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
    await server.pass_time(LOOK_MILLIS)
    (lost,) = bert.received.all(SeatLost)
    assert lost.reason.startswith("The server's store lost data, and this table with it.")
    late = await bert.ask(MakeMove, race=f"{code}/1", after=0, move="draw")
    assert isinstance(late, Refused)
    assert (late.code, late.message) == ("not_seated", lost.reason)
