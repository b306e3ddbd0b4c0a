"""The audit of a storm passes a real race, and describes every kind of sabotage.

The tests share two races on a real server: a finished one and one in play. Each test changes one thing in
the store or in a player's notes, runs the audit, and undoes the change.
"""

import dataclasses
import signal
from collections.abc import AsyncIterator
from typing import Any, TypeVar

import msgpack
import msgspec
import pytest
import pytest_asyncio
from redis import Redis

from kit import quick_countdown
from kit.messages import GATHERING, NOW
from kit.rankings import settled
from kit.recorded_players import Refusal
from kit.storms.audited_races import AuditedRaces, has_mover, log_of, mover
from kit.storms.installation import open_installation
from kit.storms.refusals import untrue_refusals_of_race
from kit.storms.storm_player import StormPlayer
from kit.voided_races import void_record
from saratoga_protocol.commands import MakeMove, Reveal
from saratoga_protocol.events import Snapshot
from saratoga_rules.records.record import RacerLog, ResultLine, format_record, parse_record
from saratoga_rules.records.standing import State
from saratoga_rules.records.void_record import format_void_record
from saratoga_server.store.keys import OUTBOX_KEYS, race_key, records_key
from saratoga_server.store.opening import open_store

Row = TypeVar("Row", RacerLog, ResultLine)

pytestmark = pytest.mark.asyncio(loop_scope="module")

GAMES = ("canfield-aisleriot", "lafayette")
"""A game of short races, and one of longer races."""
PACE = 60.0
"""Moves a second of each player."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[AuditedRaces]:
    """Races on a real server, played once for all tests."""
    async with open_installation(
        GAMES, nodes=1, pace=PACE, module=quick_countdown.MODULE
    ) as installation:
        finished, in_play = installation.tables
        await installation.until(
            "one race over, and one in play",
            lambda: (
                any(player.notes.outcomes for player in finished)
                and has_mover(in_play)
                and all(player.notes.is_connected for player in in_play)
            ),
        )
        await installation.stop_racing()
        async with open_store(installation.store_url) as store:
            assert await settled(store)
            assert installation.standalone is not None
            with Redis(unix_socket_path=str(installation.standalone.socket)) as client:
                yield AuditedRaces(installation, store, client)


@pytest_asyncio.fixture(loop_scope="module")
async def races(shared: AuditedRaces) -> AsyncIterator[AuditedRaces]:
    with shared.restored():
        yield shared


def described(faults: list[str], *words: str) -> bool:
    """Return whether one of the faults contains all these words."""
    return any(all(word in fault for word in words) for fault in faults)


async def test_races_without_sabotage_pass(races: AuditedRaces) -> None:
    auditor = await races.audited()
    assert auditor.faults == []
    assert auditor.races.total() == 1
    assert auditor.moves
    assert auditor.ranked == len(races.finished)
    assert auditor.rows
    assert not any(player.notes.of_race(races.race) for player in races.finished)


# The store


@pytest.mark.parametrize("place", range(3))
async def test_a_dropped_acknowledged_move_is_described(races: AuditedRaces, place: int) -> None:
    player, _ = races.mover()
    key = log_of(player)
    entry = races.client.lindex(key, place)
    assert entry is not None
    races.client.lrem(key, 1, entry)
    faults = await races.faults()
    assert described(faults, races.race, player.notes.player, "is damaged", "entries of")
    assert described(faults, races.race, "not numbered one after the other")
    assert described(faults, races.race, "the stored log and the record differ")


async def test_a_dropped_move_of_a_race_in_play_is_described(races: AuditedRaces) -> None:
    player, _ = mover(races.in_play)
    races.client.rpop(log_of(player))
    race = f"{player.notes.code}/1"
    assert described(await races.faults(), race, "was acknowledged at", "and is not stored")


async def test_a_doubled_move_is_described(races: AuditedRaces) -> None:
    player, _ = races.mover()
    key = log_of(player)
    entry = races.client.lindex(key, 1)
    assert entry is not None
    races.client.linsert(key, "AFTER", entry, entry)
    assert described(await races.faults(), races.race, "a command was carried out twice")


async def test_two_swapped_moves_are_described(races: AuditedRaces) -> None:
    player, _ = races.mover()
    key = log_of(player)
    one, other = races.client.lrange(key, 1, 2)
    races.client.lset(key, 1, other)
    races.client.lset(key, 2, one)
    assert described(await races.faults(), races.race, "command", "follows")


async def test_a_lost_board_is_described(races: AuditedRaces) -> None:
    player, _ = races.mover()
    races.client.delete(race_key(races.code, 1))
    assert described(
        await races.faults(), races.race, f"the board of {player.notes.player} is missing"
    )


async def test_a_lost_record_is_described(races: AuditedRaces) -> None:
    races.client.hdel(records_key(races.code), "1")
    assert described(await races.faults(), races.race, "has no record")


async def test_a_race_voided_after_its_countdown_is_described(races: AuditedRaces) -> None:
    forged = format_void_record(void_record(races.race))
    races.client.hset(records_key(races.code), "1", forged)
    faults = await races.faults()
    assert described(faults, races.race, "it was voided: the server's stored data")
    assert described(faults, races.race, "has acknowledged moves in a voided countdown")


async def test_an_altered_result_is_described(races: AuditedRaces) -> None:
    record = parse_record(races.record())
    first, *rest = record.results
    altered = (dataclasses.replace(first, banked=first.banked + 1, net=first.net + 5), *rest)
    forged = format_record(dataclasses.replace(record, results=altered))
    races.client.hset(records_key(races.code), "1", forged)
    faults = await races.faults()
    assert described(faults, "/1: ", "was sent the results")
    assert described(faults, "/1: ", "was sent another digest")
    assert described(faults, "/1: verify: ")


async def test_a_lost_leaderboard_row_is_described(races: AuditedRaces) -> None:
    [key] = races.client.keys("{leaderboard:canfield-aisleriot}:bankroll:all:bots")
    races.client.zremrangebyrank(key, 0, 0)
    assert described(await races.faults(), "bankroll", "other players than in the records")


async def test_an_altered_leaderboard_value_is_described(races: AuditedRaces) -> None:
    [key] = races.client.keys("{leaderboard:canfield-aisleriot}:bankroll:all:bots:rows")
    [player, *_] = races.client.hkeys(key)
    race, net, *more = msgpack.unpackb(races.client.hget(key, player))
    races.client.hset(key, player, msgpack.packb([race, net + 5, *more]))
    assert described(await races.faults(), "bankroll", "by the records")


async def test_a_leaderboard_in_the_wrong_order_is_described(races: AuditedRaces) -> None:
    [key] = races.client.keys("{leaderboard:canfield-aisleriot}:bankroll:all:bots")
    [(_, least), *_, (best, _)] = races.client.zrange(key, 0, -1, withscores=True)
    race, net, *more = msgpack.unpackb(races.client.hget(f"{key.decode()}:rows", best))
    races.client.hset(f"{key.decode()}:rows", best, msgpack.packb([race, net + 1_000, *more]))
    races.client.zadd(key, {best: least - 1})
    assert described(await races.faults(), "bankroll", "wrong order")


async def test_results_that_no_node_settles_are_described(races: AuditedRaces) -> None:
    [node] = races.installation.nodes
    assert node.server.process is not None
    node.server.process.send_signal(signal.SIGSTOP)
    try:
        races.client.rpush(OUTBOX_KEYS[7], "results")
        assert "results are left in the outboxes" in await races.faults()
        races.client.delete(OUTBOX_KEYS[7])
    finally:
        node.server.process.send_signal(signal.SIGCONT)


# What the players were sent


async def test_an_acknowledgement_that_no_fault_lost_is_described(races: AuditedRaces) -> None:
    player, moves = races.mover()
    player.notes.acknowledged.remove(moves[2])
    assert described(await races.faults(), races.race, "never had an answer to 1 moves")


async def test_an_acknowledgement_lost_by_a_fault_passes(races: AuditedRaces) -> None:
    player, moves = races.mover()
    player.notes.acknowledged.remove(moves[2])
    player.notes.lost_answers[races.race] = 1
    auditor = await races.audited()
    assert auditor.faults == []
    assert auditor.unanswered == 1


async def test_a_player_that_moved_on_without_seeing_the_board_is_described(
    races: AuditedRaces,
) -> None:
    player, moves = races.mover()
    player.notes.acknowledged.remove(moves[2])
    player.notes.lost_answers[races.race] = 1
    count = moves[2].board.count
    player.notes.shown[races.race] = [
        each for each in player.notes.shown[races.race] if each.count != count
    ]
    assert described(await races.faults(), races.race, f"moved on after {count} moves")


async def test_pipelined_moves_may_lose_their_answers_together(races: AuditedRaces) -> None:
    player, moves = races.mover()
    for move in moves[1:4]:
        player.notes.acknowledged.remove(move)
    player.notes.pipelined[races.race] = 3
    assert described(await races.faults(), races.race, "never had an answer to 3 moves")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ("view", "was shown another position"),
        ("banked", "banked after"),
        ("net", "banked after"),
        ("count", "was shown a board of"),
    ],
)
async def test_a_board_that_the_moves_do_not_make_is_described(
    races: AuditedRaces, changed: str, words: str
) -> None:
    player, _ = races.mover()
    shown = player.notes.shown[races.race]
    board = shown[2]
    altered = {
        "view": msgspec.structs.replace(board, view=shown[0].view),
        "banked": msgspec.structs.replace(board, banked=board.banked + 1),
        "net": msgspec.structs.replace(board, net=board.net + 5),
        "count": msgspec.structs.replace(board, count=100_000),
    }
    shown[2] = altered[changed]
    assert described(await races.faults(), races.race, words)


async def test_a_snapshot_older_than_the_acknowledged_moves_is_described(
    races: AuditedRaces,
) -> None:
    player, moves = races.mover()
    table = msgspec.structs.replace(GATHERING, code=races.code)
    player.notes.take_up(Snapshot(table=table, now=NOW, board=moves[0].board))
    assert described(await races.faults(), races.race, "came back to 1 entries")


async def test_an_ending_that_a_connected_player_was_not_sent_is_described(
    races: AuditedRaces,
) -> None:
    notes = races.mover()[0].notes
    last = [each for each in notes.of_race(races.race) if each.board.state != "racing"]
    notes.lost_answers[races.race] += len(last)
    notes.acknowledged = [each for each in notes.acknowledged if each not in last]
    notes.shown[races.race] = [each for each in notes.shown[races.race] if each.state == "racing"]
    notes.ended.pop(races.race, None)
    assert described(await races.faults(), races.race, "(racing), not")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"code": "time_up"}, "was refused time_up"),
        ({"code": "board_over"}, "which was carried out"),
        ({"code": "stale_move"}, "which was meant for the board's position"),
        ({"code": "illegal_move"}, "which was legal"),
        ({"code": "stale_id"}, "which was carried out"),
    ],
)
async def test_a_refusal_of_a_move_that_is_not_true_is_described(
    races: AuditedRaces, changed: dict[str, Any], words: str
) -> None:
    player, moves = races.mover()
    board = moves[1].board
    refusal = Refusal(id=moves[2].id, code="", retry=False, wait=0, board=board, moment=0.0)
    player.notes.refusals.append(dataclasses.replace(refusal, **changed))
    assert described(await races.faults(), races.race, player.notes.player, words)


async def test_a_nonce_refused_as_too_late_is_described_if_its_countdown_went_on(
    races: AuditedRaces,
) -> None:
    player, _ = races.mover()
    nonce = parse_record(races.record()).racer(player.notes.player).nonce
    (reveal,) = (
        sent
        for sent in player.notes.sent.values()
        if isinstance(sent, Reveal) and sent.nonce == nonce
    )
    late = Refusal(id=reveal.id, code="wrong_phase", retry=False, wait=0, board=None, moment=0.0)
    player.notes.refusals.append(late)
    assert described(await races.faults(), races.race, "was refused a nonce as too late")


async def test_a_refusal_as_stale_without_a_later_command_is_described(
    races: AuditedRaces,
) -> None:
    player, moves = races.mover()
    notes, number = player.notes, moves[-1].id + 1000
    notes.sent[number] = MakeMove(id=number, race=races.race, after=0, move="draw")
    notes.refusals.append(Refusal(number, "stale_id", retry=False, wait=0, board=None, moment=0.0))
    assert described(await races.faults(), races.race, notes.player, "no later command was")


async def test_a_racer_that_was_taken_from_the_race_is_described(races: AuditedRaces) -> None:
    player, _ = races.mover()
    record = parse_record(races.record())
    racers = tuple(
        dataclasses.replace(racer, state=State.LEFT)
        if racer.player == player.notes.player
        else racer
        for racer in record.racers
    )
    forged = dataclasses.replace(record, racers=racers)
    board = await races.store.boards.load_board(races.code, 1, player.notes.player)
    assert board is not None
    found = list(untrue_refusals_of_race(forged, board, player.notes))
    assert described(found, "was taken from the race")


async def test_another_commitment_is_described(races: AuditedRaces) -> None:
    player, _ = races.mover()
    player.notes.commitments[races.race] = "c0" * 32
    assert described(await races.faults(), races.race, "was shown another commitment")


async def test_moves_of_a_player_that_the_record_lacks_are_described(races: AuditedRaces) -> None:
    player, _ = races.mover()
    record = parse_record(races.record())
    forged = dataclasses.replace(
        record,
        racers=tuple(_as_other(racer, player) for racer in record.racers),
        results=tuple(_as_other(row, player) for row in record.results),
    )
    races.client.hset(records_key(races.code), "1", format_record(forged))
    faults = await races.faults()
    assert described(faults, races.race, "acknowledged and is no racer in the record")


def _as_other(row: Row, player: StormPlayer) -> Row:
    """Give the player's row to another player id that sorts at the same place."""
    own = player.notes.player
    other = own[:-1] + ("a" if own[-1] != "a" else "b")
    return dataclasses.replace(row, player=other) if row.player == own else row
