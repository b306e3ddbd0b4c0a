"""Tables and races as nodes see them: loaded, changed and followed, by one node or by two."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace

from kit.in_process_server import (
    InProcessServer,
    Nodes,
    always,
    compose_node,
    counted,
    gathered,
    open_in_process_server,
)
from kit.players import MemoryPlayer
from kit.stores import (
    opened_on,
)
from kit.tables import ANN, NOON, seated
from saratoga_protocol.codec import CODECS, Codec
from saratoga_protocol.commands import (
    ChangeSettings,
    CreateTable,
    JoinTable,
    LeaveTable,
    MakeMove,
    NextRace,
)
from saratoga_protocol.events import (
    Done,
    Ended,
    MatchChanged,
    RaceOver,
    Refused,
    SeatLost,
    Snapshot,
    TableChanged,
)
from saratoga_protocol.refusals import BANNED, TAKEN_OVER
from saratoga_rules.records.standing import State
from saratoga_server.background_tasks import cancel_all
from saratoga_server.domain import tables
from saratoga_server.domain.board import commit_of, ended
from saratoga_server.domain.tables import (
    CommandRejected,
    TableState,
    public_view,
)
from saratoga_server.domain.tables.lifecycle import MOST_SEATS
from saratoga_server.domain.tables.timers import UNUSED_MILLIS
from saratoga_server.domain.usernames import LONGEST
from saratoga_server.live import play, reactions
from saratoga_server.live.listener import Listener
from saratoga_server.live.races import LiveRace
from saratoga_server.live.scheduler import LOOK_EVERY
from saratoga_server.live.tables import ATTEMPTS
from saratoga_server.node import Node
from saratoga_server.ports import (
    CommitStatus,
    LiveStanding,
    Millis,
    PlayerRow,
    StoredBoard,
    StoreUnavailable,
)
from saratoga_server.store.leaderboards import BoardKey
from saratoga_server.store.news import PlayerChanged
from saratoga_server.transport.connection import MOST_UNREAD

AWAY = "odd-emu-11"
"""A code that no table has."""


async def cash_out_unnoticed(server: InProcessServer, player: MemoryPlayer) -> None:
    """End the player's board in the store only, as if its node died right after the commit."""
    race = server.node.races.known(player.board.race)
    assert race is not None
    _, board = await server.node.races.board(race, player.player)
    after, table, number = ended(board, State.CASH_OUT), race.code, race.number
    commit = commit_of(board, after, table=table, race=number, player=player.player)
    assert (await server.store.commits.commit(commit)).status is CommitStatus.DONE


async def test_a_table_is_loaded_once_however_many_ask(nodes: Nodes) -> None:
    anna = await nodes.east.player("Anna")
    code = await gathered(anna)
    tables = nodes.west.node.tables
    found = await asyncio.gather(*(tables.get(code) for _ in range(5)))
    assert len({id(table) for table in found}) == 1
    nodes.west.faults.unavailable = True
    with pytest.raises(StoreUnavailable):
        await tables.get(AWAY)
    nodes.west.faults.unavailable = False
    for _ in range(2):
        with pytest.raises(CommandRejected, match="no_such_table"):
            await tables.get(AWAY)


async def test_a_change_that_always_comes_too_late_is_given_up(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = await server.player("Anna")
    code = await gathered(anna)
    tries = 0

    def judged(state: TableState, now: Millis) -> TableState:
        nonlocal tries
        tries += 1
        return replace(state, notice=f"{tries}")

    async def always_newer(code: str) -> tuple[int, bytes]:
        version, body = await server.stored(code)
        server.store.server.ask("HINCRBY", f"table:{code}", "version", "1")
        return version, body

    monkeypatch.setattr(server.store.tables, "load_table", always_newer)
    server.store.server.ask("HINCRBY", f"table:{code}", "version", "1")
    with pytest.raises(CommandRejected, match="Too many changes"):
        await server.node.tables.change(code, judged)
    assert tries == ATTEMPTS


async def test_what_follows_from_a_change_is_done_again_if_it_fails(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, bert, code = await server.two_racing()
    follow, faults = reactions.follow, [StoreUnavailable("away")]

    async def failing(*given: object) -> None:
        if faults:
            raise faults.pop()
        await follow(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(reactions, "follow", failing)
    assert isinstance(await bert.ask(LeaveTable, table=code), Done)
    assert (await server.board(code, bert.player)).state == "racing"
    await server.node.tables.look_over()
    assert (await server.board(code, bert.player)).state == "left"


# Seats that are lost


async def test_a_connection_is_closed_before_the_change_that_replaces_it_is_sent(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert", bot=True)
    code = await gathered(anna, bert)
    told, received = [], bert.received.events
    monkeypatch.setattr(bert.connection, "close", lambda _: told.append(len(received)))
    newer, known = server.connect("Bert", bot=True), len(received)
    await newer.hello(level="strong")
    await newer.at_table(JoinTable, table=code)
    assert anna.table.seats[1].level == "strong"
    assert told == [known]


async def test_a_closed_table_frees_its_players_and_is_not_followed_any_more(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, public=True)
    await bert.at_table(JoinTable, table=code, seat=False)
    await server.pass_time(UNUSED_MILLIS)
    for each in (anna, bert):
        assert [lost.table for lost in each.received.all(SeatLost)] == [code]
        assert (each.session.seat, each.session.watching) == (None, frozenset())
    assert server.node.broadcaster.audience(code) == frozenset()
    assert await server.real.tables.list_public() == []
    assert (await server.row(anna.player)).table is None
    assert isinstance(await anna.ask(CreateTable, game="canfield"), Snapshot)


# The fullest table: its changes fit the outbox of a client that reads slowly


NAME, HASH = "Ж" * LONGEST, "0f" * 32


@pytest.mark.parametrize("codec", CODECS.values(), ids=list(CODECS))
def test_a_change_by_every_player_of_the_fullest_table_fits_the_outbox(codec: Codec) -> None:
    table = seated(ANN)
    everyone = [letter * 16 for letter in "abcdefghijklmnop"[:MOST_SEATS]]
    full = replace(table.seats[0], name=NAME, nonce_hash=HASH, races=99, wins=99, net=-4950)
    table = replace(
        table,
        seats=tuple(replace(full, player=player) for player in everyone),
        previous=Ended(race=table.race_id, digest=HASH, reason="nonce-missing", blamed=everyone),
        notice=f"{NAME} is ready, the 16th.",
    )
    change = TableChanged(now=NOON, table=public_view(table, 2**31))
    assert len(change.table.seats) == MOST_SEATS
    assert MOST_SEATS * len(codec.encode(change)) <= MOST_UNREAD


# Two nodes: each applies the events of the other, and finds changes whose events it missed


async def test_a_replaced_connection_is_closed_before_it_is_sent_that_its_player_left(
    nodes: Nodes,
) -> None:
    anna, _, code = await nodes.two_racing()
    (race,) = nodes.east.node.races.all()
    nodes.east.tap.is_deaf = True
    newer = await nodes.west.player("Anna")
    await newer.at_table(JoinTable, table=code)
    await newer.ask(LeaveTable, table=code)
    told = len(anna.received.events)
    ended = nodes.west.node.races.all()[0].runs[anna.player].standing
    # the standing comes before the table that says why
    nodes.east.node.races.merge(race, {anna.player: ended})
    await nodes.east.settle()
    assert race.runs[anna.player].standing.state is State.LEFT
    assert anna.close_codes == [TAKEN_OVER.code]
    assert anna.received.endings(told) == []


async def test_before_refusing_a_command_a_node_reads_the_table_again(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna, bert)
    cleo = await nodes.west.player("Cleo")
    await anna.ask(ChangeSettings, table=code, seats=2)
    await nodes.settle()
    assert await cleo.refused(JoinTable, table=code) == "table_full"
    nodes.west.tap.is_deaf = True
    await anna.ask(ChangeSettings, table=code, seats=3)
    await cleo.at_table(JoinTable, table=code)


async def test_a_node_that_seemed_dead_claims_its_seats_again(nodes: Nodes) -> None:
    anna, bert = await nodes.two()
    code = await gathered(anna, bert)
    await nodes.settle()
    await nodes.east.real.nodes.gone(nodes.west.node.name)
    await nodes.east.node.scheduler.look_around()
    await nodes.east.settle()
    await asyncio.sleep(0)
    assert [seat.connected for seat in anna.table.seats] == [True, False]
    await nodes.east.real.nodes.beat(nodes.west.node.name)
    await nodes.settle()
    await nodes.west.node.scheduler.sweep()
    await nodes.settle()
    assert [seat.connected for seat in anna.table.seats] == [True, True]
    assert isinstance(await bert.ready(), Done)
    assert code == bert.table.code


async def test_players_who_were_banned_or_renamed_during_a_lost_subscription_are_found(
    nodes: Nodes,
) -> None:
    anna, bert = await nodes.two()
    peer_events = nodes.west.node.listener
    await peer_events.subscribed()
    nodes.west.tap.is_deaf = True
    await nodes.west.store.players.set_banned(bert.player, True)
    cleo = await nodes.west.player("Cleo")
    await nodes.west.store.players.claim_name(cleo.player, "Chloe", "chloe")
    await peer_events.subscribed()
    assert bert.close_codes == [BANNED.code]
    assert cleo.session.name == "Chloe"
    assert (cleo.close_codes, anna.close_codes) == ([], [])
    assert counted(nodes.west.node.metrics, "resubscriptions_total") == 1


@asynccontextmanager
async def running(listener: Listener) -> AsyncIterator[None]:
    """Run the tasks of a node that apply events and catch up."""
    task = asyncio.create_task(listener.run())
    try:
        yield
    finally:
        await cancel_all([task])


async def no_events(listener: Listener) -> None:
    """Wait for ever, in place of a subscription that passes events to `listener`."""
    await asyncio.get_running_loop().create_future()


async def test_a_change_of_a_player_that_fails_stops_no_other(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, bert = await nodes.two()
    tab = await nodes.west.player("Bert")
    players, load = nodes.west.store.players, nodes.west.store.players.load_player
    faults = [StoreUnavailable("away")]

    async def failing_once(player: str) -> PlayerRow | None:
        if faults:
            raise faults.pop()
        return await load(player)

    await players.set_banned(bert.player, True)
    monkeypatch.setattr(nodes.west.store.events, "listen", no_events)
    monkeypatch.setattr(players, "load_player", failing_once)
    for player in (bert.player, bert.player):
        nodes.west.node.listener.receive(PlayerChanged(player))
    async with running(nodes.west.node.listener), asyncio.timeout(10):
        while not (bert.close_codes and tab.close_codes):  # noqa: ASYNC110 - a closed connection sets no event
            await asyncio.sleep(0)
    assert bert.close_codes == tab.close_codes == [BANNED.code]


# Two connections of one player on two nodes: only the newer one holds the seat


@pytest.mark.parametrize("same_node", [True, False])
async def test_of_two_connections_that_resume_at_once_only_the_newer_one_holds_the_seat(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch, same_node: bool
) -> None:
    anna, bert, code = await nodes.two_racing()
    slow = await nodes.east.player("Anna")
    quick = await (nodes.east if same_node else nodes.west).player("Anna")
    boards = nodes.east.store.boards
    load = boards.load_board
    loads: list[str] = []

    async def load_board(table: str, race: int, player: str) -> StoredBoard | None:
        if not loads:
            # the older connection's resume is stored, and its node now receives what it missed
            loads.append(player)
            nodes.east.tap.is_deaf = False
            await quick.at_table(JoinTable, table=code)
            await nodes.east.tap.pass_marker(nodes.east.real.events)
        return await load(table, race, player)

    nodes.east.tap.is_deaf = True
    await bert.ask(LeaveTable, table=code)
    monkeypatch.setattr(boards, "load_board", load_board)
    assert await slow.refused(JoinTable, table=code) == "taken_over"
    assert loads == [bert.player]
    assert set(slow.close_codes) == {TAKEN_OVER.code}
    assert (quick.close_codes, anna.close_codes) == ([], [TAKEN_OVER.code])
    await quick.moves("draw")
    assert await slow.refused(MakeMove, race=f"{code}/1", after=1, move="draw") == "not_seated"


# Races on a node: opened from the store, and read again after another connection or node wrote


@pytest.fixture
async def elsewhere(server: InProcessServer) -> AsyncIterator[Node]:
    """Another node on the same store, which receives no events."""
    async with opened_on(server.store.server, server.time, server.faults) as store:
        node = await compose_node(store, server.time, node="other")
        yield node
        await node.stop()


async def race_on(node: Node, player: MemoryPlayer) -> LiveRace:
    """Return the race of the player's table as that node holds it."""
    return await node.races.of(await node.tables.get(player.table.code))


def refused(answer: object) -> tuple[str, int | None]:
    """Return the code of a refusal, and the number of moves on the board that came with it."""
    assert isinstance(answer, Refused), answer
    return answer.code, None if answer.board is None else answer.board.count


async def test_a_board_has_a_longest_log(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.live.play.MOST_ENTRIES", 2)
    anna, *_ = await server.two_racing()
    await anna.moves("draw", "draw")
    assert refused(await anna.move("draw"))[0] == "board_full"
    assert (await anna.cash_out()).board.state == "cash-out"


async def test_a_standing_never_goes_back(server: InProcessServer) -> None:
    anna, *_ = await server.two_racing()
    await anna.moves("draw", "draw")
    race = await race_on(server.node, anna)
    run = race.runs[anna.player]
    newest = run.standing
    assert newest.length == 2
    older = LiveStanding(1, 9, State.RACING, "0" * 16)
    server.node.races.merge(race, {anna.player: older, "x" * 16: older})
    assert run.standing is newest
    assert "x" * 16 not in race.runs
    newer = LiveStanding(3, 9, State.RACING, "0" * 16)
    server.node.races.merge(race, {anna.player: newer})
    assert run.standing == newer
    await server.node.races.read_standings(race)
    assert run.standing == newer


async def test_two_nodes_that_count_at_once_make_one_result(nodes: Nodes) -> None:
    anna, bert, code = await nodes.two_racing(races=3)
    for player in (anna, bert):
        await player.moves("draw")
        await player.cash_out()
    both = (nodes.east.node, nodes.west.node)
    for node in both:
        await node.races.read_standings(node.races.all()[0])
    await asyncio.gather(*(play.look_at_end(node, code) for node in both))
    await nodes.settle()
    assert await nodes.east.record(code) is not None
    row = await nodes.east.real.leaderboards.row(
        BoardKey(game="canfield", ranking="bankroll", period="all", bots=False), anna.player
    )
    assert row is not None
    assert row.races == 1
    (over,), (also,) = anna.received.all(RaceOver), bert.received.all(RaceOver)
    assert over == also
    assert anna.match is not None
    assert anna.match == bert.match
    assert [len(row.results) for row in anna.match.rows] == [1, 1]
    _, stored = await nodes.east.stored(code)
    assert tables.unpack(stored).match == anna.match, "another node goes on with it"
    assert [counted(node.metrics, "races_over_total") for node in both].count(1) == 1


async def test_a_race_whose_last_board_ended_on_a_node_that_died_is_counted(
    nodes: Nodes,
) -> None:
    anna, bert, code = await nodes.two_racing()
    await anna.cash_out()
    await nodes.settle()
    await cash_out_unnoticed(nodes.west, bert)
    assert await nodes.east.record(code) is None
    nodes.east.tap.is_deaf = nodes.west.tap.is_deaf = True
    await nodes.east.pass_time(2000)
    assert await nodes.east.record(code) is not None
    assert len(anna.received.all(RaceOver)) == 1


# Boards: ended by the server, and locked


async def log(server: InProcessServer, race: LiveRace, player: str) -> list[str]:
    """Return the texts of a board's log in the store."""
    board = await server.real.boards.load_board(race.code, race.number, player)
    assert board is not None
    return [entry.text for entry in board.entries]


async def test_a_move_on_another_node_comes_before_an_ending_by_this_one(
    server: InProcessServer, elsewhere: Node
) -> None:
    anna, *_ = await server.two_racing()
    race = await race_on(server.node, anna)
    newer = MemoryPlayer(elsewhere.dispatcher, "Anna")
    await newer.hello()
    await newer.at_table(JoinTable, table=race.code)
    await newer.moves("draw")
    assert not await play.end_board(server.node, race, anna.player, State.STUCK, length=0)
    board = race.runs[anna.player].board
    assert board is not None
    assert (board.racing, board.length) == (True, 1)
    await newer.moves("draw")
    assert await play.end_board(server.node, race, anna.player, State.LEFT)
    assert await log(server, race, anna.player) == ["draw", "draw", "left"]
    answer = await newer.move("draw")
    assert isinstance(answer, Refused)
    assert answer.code == "board_over"
    assert answer.board is not None
    assert answer.board.count == 3


NEARLY_STUCK = "stock=- waste=7C reserve=- up=1,1,1,1 down=- columns=5C/5S/9C/9S base=1 passes=2"


async def test_a_match_is_sent_when_it_has_changed_and_in_every_snapshot(
    server: InProcessServer,
) -> None:
    anna, bert, carl = [await server.player(name) for name in ("Anna", "Bert", "Carl")]
    code = await gathered(anna, bert, races=3)
    await server.deal(anna, bert)
    for player in (anna, bert):
        await player.cash_out()
    await server.settle()
    (changed,) = anna.received.all(MatchChanged)
    assert changed.match is not None
    assert changed.match.finished == [f"{code}/1"]
    await anna.ask(NextRace, table=code)
    await bert.ready()
    assert anna.received.all(MatchChanged) == [changed]
    assert (await carl.at_table(JoinTable, table=code)).match == changed.match
    await anna.ask(ChangeSettings, table=code, races=1)
    assert anna.received.all(MatchChanged)[1:] == [MatchChanged(table=code, match=None)]


async def test_a_board_played_on_another_node_is_not_searched_here() -> None:
    async with open_in_process_server(always(NEARLY_STUCK)) as server:
        anna, bert, _ = await server.two_racing()
        code = anna.table.code
        await server.restart(always(NEARLY_STUCK))
        newer = await server.player("Anna")
        await newer.at_table(JoinTable, table=code)
        server.time.at += int(LOOK_EVERY * 1000)
        await server.node.scheduler.look_over_boards()
        await server.settle()
        states = [(await server.board(code, each.player)).state for each in (anna, bert)]
        assert states == ["stuck", "racing"]
