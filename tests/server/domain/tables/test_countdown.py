"""The countdown: from the first `ready` to the deal, and players who void it."""

import pytest
from msgspec.structs import replace

from kit.tables import (
    ANN,
    BEN,
    CLEO,
    NODE,
    NOON,
    OTHER_SEED,
    after,
    all_ready,
    all_shown,
    called,
    calling,
    counting,
    nonce,
    nonce_hash,
    seated,
)
from saratoga_protocol.events import Ended
from saratoga_rules.records.record import digest_of, parse_record
from saratoga_rules.records.verify import verify
from saratoga_server.domain.tables import (
    CommandRejected,
    TablePhase,
    TableState,
    allow_ready,
    disconnect,
    due,
    elapse,
    join,
    leave,
    not_ready,
    public_view,
    ready,
    reveal,
    start,
)
from saratoga_server.domain.tables.countdown import STALLED_MILLIS
from saratoga_server.domain.tables.seating import force_leave
from saratoga_server.domain.tables.state import MOST_BLOCKED
from saratoga_server.ports import Millis

# The countdown: from the first `ready` to the deal


def test_a_hash_that_another_player_has_copied_does_not_keep_its_owner_from_being_ready() -> None:
    table = all_ready(seated(ANN, BEN), BEN)
    same = ready(table, ANN, commitment=table.commitment, nonce_hash=nonce_hash(BEN), now=NOON)
    assert [seat.nonce_hash for seat in same.seats] == [nonce_hash(BEN)] * 2


def test_the_start_freezes_those_who_are_ready() -> None:
    table = all_ready(seated(ANN, BEN, CLEO), ANN, CLEO)
    table = start(table, ANN, now=NOON)
    assert (table.phase, table.racers) == (TablePhase.CALL, {})
    assert due(table) == table.call_until == after(2_000)
    table = called(table)
    assert table.phase is TablePhase.COUNTDOWN
    assert [(racer.player, racer.name) for racer in table.racers.values()] == [
        (ANN, "Ann"),
        (CLEO, "Cleo"),
    ]
    assert (table.reveal_by, table.start_at) == (after(4_500), after(5_000))
    assert table.deadline == after(5_000 + 10 * 60_000)


def test_players_may_still_get_ready_in_the_call_but_not_after_it() -> None:
    table = start(all_ready(seated(ANN, BEN, CLEO), ANN), ANN, now=NOON)
    table = called(all_ready(table, BEN))
    assert [*table.racers] == [ANN, BEN]
    with pytest.raises(CommandRejected) as refused:
        all_ready(table, CLEO)
    assert refused.value.code == "wrong_phase"


def test_a_host_who_is_not_ready_any_more_calls_the_start_off_and_the_deal_stays() -> None:
    before = calling(ANN, BEN)
    change = not_ready(before, ANN, now=after(100))
    table = change
    assert table.phase is TablePhase.GATHERING
    assert (table.call_until, table.reveal_by, table.start_at, table.deadline) == (0, 0, 0, 0)
    assert (table.race, table.commitment) == (before.race, before.commitment)
    assert [seat.is_ready for seat in table.seats] == [False, True]
    assert table.notice == "Ann is not ready any more. The start was called off."


def test_a_call_that_ends_with_nobody_ready_is_called_off() -> None:
    before = start(all_ready(seated(ANN, BEN), ANN), ANN, now=NOON)
    left = leave(before, ANN, now=after(100), fresh_seed=OTHER_SEED)
    table = called(left)
    assert (table.phase, table.commitment) == (TablePhase.GATHERING, before.commitment)
    assert table.notice == "Nobody who is ready is connected. The start was called off."


def test_a_call_whose_end_no_node_could_serve_moves_the_times_after_it() -> None:
    change = elapse(calling(ANN, BEN), after(40_000), OTHER_SEED)
    table = change
    assert [*table.racers] == [ANN, BEN]
    assert (table.reveal_by, table.start_at) == (after(42_500), after(43_000))
    assert not table.is_begun_again, "so it may begin again once"


def test_a_ready_player_without_a_connection_does_not_race_and_is_named() -> None:
    table = all_ready(seated(ANN, BEN, CLEO))
    change = disconnect(start(table, ANN, now=NOON), BEN, 2, now=after(100))
    table = called(change)
    assert [*table.racers] == [ANN, CLEO]
    assert table.notice == "Not in this race, because not connected: Ben."


def test_a_nonce_must_fit_its_hash() -> None:
    with pytest.raises(CommandRejected) as refused:
        reveal(counting(ANN, BEN), ANN, nonce=nonce(BEN), now=NOON)
    assert refused.value.code == "wrong_nonce"


def test_a_player_outside_the_race_cannot_reveal_a_nonce() -> None:
    table = join(counting(ANN), BEN, "Ben", node="node-1", now=NOON)
    with pytest.raises(CommandRejected) as refused:
        reveal(table, BEN, nonce=nonce(BEN), now=NOON)
    assert refused.value.code == "not_racing"


def test_a_nonce_that_comes_too_late_is_refused_even_before_the_sweep() -> None:
    table = all_shown(counting(ANN, BEN), BEN)
    with pytest.raises(CommandRejected) as refused:
        reveal(table, ANN, nonce=nonce(ANN), now=after(4_500))
    assert refused.value.code == "wrong_phase"
    assert "too late" in refused.value.detail


def reason_of(table: TableState) -> str:
    """Return why the table's last race was voided."""
    return "" if table.previous is None else table.previous.reason


def test_a_racer_who_is_removed_in_the_countdown_did_not_leave() -> None:
    change = force_leave(counting(ANN, BEN), BEN, now=after(200), fresh_seed=OTHER_SEED)
    assert change.previous is not None
    assert (change.previous.reason, change.previous.blamed) == ("racer-gone", [BEN])
    effect = change.voided
    assert effect is not None
    assert verify(effect.record).ok


def test_late_nonces_count_if_no_node_could_take_them_in_time() -> None:
    table, late = all_shown(counting(ANN, BEN, CLEO), CLEO), after(4_500 + STALLED_MILLIS + 1)
    for player in (ANN, BEN):
        table = reveal(table, player, nonce=nonce(player), now=late)
        assert (table.reveal_by, table.start_at) == (late + 2_500, late + 3_000)
    assert table.deal_key
    assert due(table) == late + 3_000


@pytest.mark.parametrize("by_a_timer", [True, False])
def test_a_countdown_to_which_no_nonce_came_begins_again_once(by_a_timer: bool) -> None:
    table = counting(ANN, BEN)
    if by_a_timer:
        change = elapse(table, table.reveal_by, OTHER_SEED)
    else:
        change = reveal(table, ANN, nonce=nonce(ANN), now=table.reveal_by)
    again = change
    assert (again.phase, again.reveal_by) == (TablePhase.COUNTDOWN, table.reveal_by + 2_500)
    voided = elapse(again, again.reveal_by, OTHER_SEED)
    assert reason_of(voided) == "nonce-missing"


def test_a_countdown_begins_again_only_once() -> None:
    late = after(4_500 + STALLED_MILLIS + 1)
    table = reveal(counting(ANN, BEN), ANN, nonce=nonce(ANN), now=late)
    later = Millis(table.reveal_by + STALLED_MILLIS + 1)
    with pytest.raises(CommandRejected):
        reveal(table, BEN, nonce=nonce(BEN), now=later)
    change = elapse(table, later, OTHER_SEED)
    assert reason_of(change) == "server-away"
    assert "the server was away again" in change.notice
    table = called(start(all_ready(change), ANN, now=later))
    again = elapse(table, Millis(table.reveal_by + STALLED_MILLIS + 1), OTHER_SEED)
    assert again.phase is TablePhase.COUNTDOWN


def test_a_racer_who_leaves_in_the_countdown_voids_it() -> None:
    table = all_shown(counting(ANN, BEN))
    change = leave(table, BEN, now=after(200), fresh_seed=OTHER_SEED)
    effect = change.voided
    assert effect is not None
    assert change.previous == Ended(
        race=table.race_id, digest=digest_of(effect.record), reason="racer-left", blamed=[BEN]
    )
    assert verify(effect.record).ok
    assert {racer.player: racer.nonce for racer in parse_record(effect.record).racers} == (
        table.nonces
    )
    assert change.phase is TablePhase.GATHERING
    assert change.notice == (
        "Ben has left. The countdown was voided. There is a new deal: get ready again."
    )
    assert change.commitment != table.commitment
    assert not change.seats[0].is_ready


def test_the_race_begins_at_the_announced_moment_and_not_before() -> None:
    table = all_shown(counting(ANN, BEN))
    assert due(table) == after(5_000)
    assert elapse(table, after(4_999), OTHER_SEED) is table
    change = elapse(table, after(5_000), OTHER_SEED)
    assert change.phase is TablePhase.RUNNING
    assert change.start_at == after(5_000)
    assert change.deadline == after(605_000)


def test_a_start_that_no_server_was_up_to_carry_out_gives_everyone_the_whole_time() -> None:
    change = elapse(all_shown(counting(ANN, BEN)), after(40_000), OTHER_SEED)
    assert change.start_at == after(40_000)
    assert change.deadline == after(640_000)


# Players who void a countdown: they get ready again only when the host allows it


@pytest.fixture
def voided_by_ben() -> TableState:
    return elapse(all_shown(counting(ANN, BEN, CLEO), ANN, CLEO), after(4_500), OTHER_SEED)


def test_a_player_who_voided_a_countdown_gets_ready_when_the_host_allows_it(
    voided_by_ben: TableState,
) -> None:
    table = all_ready(voided_by_ben, ANN, CLEO)
    with pytest.raises(CommandRejected) as refused:
        all_ready(table, BEN)
    assert refused.value.code == "ready_blocked"
    assert "when Ann, the host, allows it" in refused.value.detail
    table = allow_ready(table, ANN, target=BEN, now=after(9_000))
    assert table.notice == "Ben may get ready again."
    again = called(start(all_ready(table, BEN), ANN, now=NOON))
    assert [*again.racers] == [ANN, BEN, CLEO]
    assert table.voids == {BEN: 1}, "everyone still sees how often"


def test_leaving_and_joining_again_does_not_lift_the_block(voided_by_ben: TableState) -> None:
    table = leave(voided_by_ben, BEN, now=NOON, fresh_seed=OTHER_SEED)
    table = join(table, BEN, "Ben", node="node-1", now=NOON)
    with pytest.raises(CommandRejected) as refused:
        all_ready(table, BEN)
    assert refused.value.code == "ready_blocked"


def test_a_host_who_voids_a_countdown_is_not_blocked_but_counted() -> None:
    change = elapse(all_shown(counting(ANN, BEN), BEN), after(4_500), OTHER_SEED)
    ann, ben = public_view(change, 1).seats
    assert (ann.voids, ann.blocked, ben.voids) == (1, False, 0)
    assert all_ready(change).seats[0].is_ready


def test_nobody_is_blamed_for_a_countdown_that_the_server_could_not_serve() -> None:
    table = replace(counting(ANN, BEN), is_begun_again=True)
    change = elapse(table, after(4_500 + STALLED_MILLIS + 1), OTHER_SEED)
    assert (reason_of(change), change.voids) == ("server-away", {})


def test_nobody_is_blamed_for_a_nonce_that_was_lost_with_a_node() -> None:
    table = all_shown(counting(ANN, BEN), ANN)
    lost = elapse(table, after(3_000), OTHER_SEED, (NODE,))
    assert lost is not None
    again = elapse(lost, after(4_500), OTHER_SEED)
    assert (again.phase, again.reveal_by) == (TablePhase.COUNTDOWN, after(7_000))
    blamed = elapse(again, after(7_000), OTHER_SEED)
    assert blamed is not None
    assert blamed.voids == {BEN: 1}, "the node that died before does not excuse the second time"
    back = join(again, BEN, "Ben", node=NODE, now=after(5_000))
    excused = elapse(back, after(7_000), OTHER_SEED, (NODE,))
    assert excused is not None
    assert (reason_of(excused), excused.voids) == ("server-away", {})


def test_a_dead_node_is_no_excuse_for_a_racer_of_another_one() -> None:
    table = all_shown(counting(ANN, BEN), ANN)
    moved = join(table, BEN, "Ben", node="node-2", now=after(2_500))
    lost = elapse(moved, after(3_000), OTHER_SEED, (NODE,))
    assert lost is not None
    change = elapse(lost, after(4_500), OTHER_SEED)
    assert change.voids == {BEN: 1}


def test_a_table_remembers_a_bounded_number_of_players_who_voided_a_countdown() -> None:
    table = seated(ANN)
    for number in range(MOST_BLOCKED + 1):
        table = table.blaming(f"player {number}")
    assert len(table.voids) == len(table.blocked) == MOST_BLOCKED
    assert "player 0" not in table.blocked
