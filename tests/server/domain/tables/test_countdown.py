"""The countdown: from the first `ready` to the deal."""

import hashlib

import pytest

from kit.tables import (
    ANN,
    BEN,
    CLEO,
    CODE,
    NOON,
    OTHER_SEED,
    SEED,
    after,
    all_ready,
    all_shown,
    called,
    calling,
    counting,
    nonce,
    nonce_hash,
    running,
    seated,
)
from saratoga_rules.dealing.fairness import commitment, deal_key
from saratoga_rules.records.verify import verify
from saratoga_rules.records.void_record import parse_void_record
from saratoga_server.domain.tables import (
    CommandRejected,
    RaceStarted,
    RaceVoided,
    TableOptions,
    TablePhase,
    TableState,
    disconnect,
    due,
    elapse,
    join,
    leave,
    not_ready,
    ready,
    resume,
    reveal,
    start,
)
from saratoga_server.domain.tables.countdown import STALLED_MILLIS
from saratoga_server.domain.tables.voids import voided_lines_of
from saratoga_server.ports import Millis


def refused_ready(table: TableState, **content: str) -> CommandRejected:
    given = {"commitment": table.commitment, "nonce_hash": nonce_hash(ANN)} | content
    with pytest.raises(CommandRejected) as refused:
        ready(
            table,
            ANN,
            2,
            commitment=given["commitment"],
            nonce_hash=given["nonce_hash"],
            now=NOON,
        )
    return refused.value


def test_the_commitment_fixes_seed_game_table_and_race() -> None:
    table = seated(ANN)
    assert table.commitment == commitment(
        SEED, "canfield", table.rules_version, CODE, 1, cap=10, public=False
    )


def test_ready_names_the_deal_that_is_coming() -> None:
    table = seated(ANN)
    assert all_ready(table).seats[0].nonce_hash == nonce_hash(ANN)
    assert refused_ready(table, commitment="0" * 64).code == "wrong_commitment"


def test_a_hash_that_another_player_has_copied_does_not_keep_its_owner_from_being_ready() -> None:
    table = all_ready(seated(ANN, BEN), BEN)
    same = ready(
        table, ANN, 3, commitment=table.commitment, nonce_hash=nonce_hash(BEN), now=NOON
    ).table
    assert [seat.nonce_hash for seat in same.seats] == [nonce_hash(BEN)] * 2


def test_ready_again_replaces_the_hash() -> None:
    table = all_ready(seated(ANN))
    again = ready(
        table, ANN, 3, commitment=table.commitment, nonce_hash=nonce_hash(BEN), now=NOON
    ).table
    assert again.seats[0].nonce_hash == nonce_hash(BEN)


def test_not_ready_takes_the_mark_back() -> None:
    table = not_ready(all_ready(seated(ANN)), ANN, 3, now=NOON).table
    assert not table.seats[0].is_ready


def test_at_least_the_host_must_be_ready() -> None:
    with pytest.raises(CommandRejected) as refused:
        start(all_ready(seated(ANN, BEN), BEN), ANN, 2, now=NOON)
    assert refused.value.code == "nobody_ready"


def test_the_start_freezes_those_who_are_ready() -> None:
    table = all_ready(seated(ANN, BEN, CLEO), ANN, CLEO)
    table = start(table, ANN, 3, now=NOON).table
    assert (table.phase, table.racers) == (TablePhase.CALL, ())
    assert due(table) == table.call_until == after(2_000)
    table = called(table)
    assert table.phase is TablePhase.COUNTDOWN
    assert table.racers == (ANN, CLEO)
    assert table.racer_names == {ANN: "Ann", CLEO: "Cleo"}
    assert (table.reveal_by, table.start_at) == (after(4_500), after(5_000))
    assert table.deadline == after(5_000 + 10 * 60_000)


def test_players_may_still_get_ready_in_the_call_but_not_after_it() -> None:
    table = start(all_ready(seated(ANN, BEN, CLEO), ANN), ANN, 3, now=NOON).table
    table = called(all_ready(table, BEN))
    assert table.racers == (ANN, BEN)
    with pytest.raises(CommandRejected) as refused:
        all_ready(table, CLEO)
    assert refused.value.code == "wrong_phase"


def test_no_nonce_is_taken_in_the_call() -> None:
    with pytest.raises(CommandRejected) as refused:
        all_shown(calling(ANN, BEN), ANN)
    assert refused.value.code == "wrong_phase"


def test_a_player_who_joins_in_the_call_may_race_and_one_who_leaves_it_voids_nothing() -> None:
    table = join(calling(ANN, BEN), CLEO, "Cleo", 1, node="node-1", now=after(100)).table
    change = leave(all_ready(table, CLEO), BEN, 9, now=after(200), fresh_seed=OTHER_SEED)
    assert change.effects == ()
    assert called(change.table).racers == (ANN, CLEO)


def test_a_player_who_is_not_ready_any_more_in_the_call_sits_out() -> None:
    table = not_ready(calling(ANN, BEN), BEN, 9, now=after(100)).table
    assert table.phase is TablePhase.CALL
    assert called(table).racers == (ANN,)


def test_a_host_who_is_not_ready_any_more_calls_the_start_off_and_the_deal_stays() -> None:
    before = calling(ANN, BEN)
    change = not_ready(before, ANN, 9, now=after(100))
    table = change.table
    assert (table.phase, change.effects) == (TablePhase.GATHERING, ())
    assert (table.call_until, table.reveal_by, table.start_at, table.deadline) == (0, 0, 0, 0)
    assert (table.race, table.commitment) == (before.race, before.commitment)
    assert [seat.is_ready for seat in table.seats] == [False, True]
    assert table.notice == "Ann is not ready any more. The start was called off."


def test_the_call_of_a_host_who_leaves_goes_on() -> None:
    change = leave(calling(ANN, BEN), ANN, 9, now=after(100), fresh_seed=OTHER_SEED)
    assert (change.table.phase, change.table.host) == (TablePhase.CALL, BEN)
    assert called(change.table).racers == (BEN,)


def test_a_call_that_ends_with_nobody_ready_is_called_off() -> None:
    before = start(all_ready(seated(ANN, BEN), ANN), ANN, 3, now=NOON).table
    left = leave(before, ANN, 9, now=after(100), fresh_seed=OTHER_SEED).table
    table = called(left)
    assert (table.phase, table.commitment) == (TablePhase.GATHERING, before.commitment)
    assert table.notice == "Nobody who is ready is connected. The start was called off."


def test_a_call_whose_end_no_node_could_serve_moves_the_times_after_it() -> None:
    change = elapse(calling(ANN, BEN), after(40_000), OTHER_SEED)
    assert change is not None
    table = change.table
    assert table.racers == (ANN, BEN)
    assert (table.reveal_by, table.start_at) == (after(42_500), after(43_000))
    assert not table.is_begun_again, "so it may begin again once"


def test_bots_among_the_racers_are_frozen_as_bots() -> None:
    table = all_ready(seated(ANN, BEN, bots=(BEN,)))
    assert called(start(table, ANN, 3, now=NOON).table).racer_bots == (BEN,)


def test_a_ready_player_without_a_connection_does_not_race_and_is_named() -> None:
    table = all_ready(seated(ANN, BEN, CLEO))
    change = disconnect(start(table, ANN, 3, now=NOON).table, BEN, 2, now=after(100))
    assert change is not None
    table = called(change.table)
    assert table.racers == (ANN, CLEO)
    assert table.notice == "Not in this race, because not connected: Ben."


def test_a_race_without_a_cap_has_no_deadline() -> None:
    assert counting(ANN, settings=TableOptions(game="canfield", cap=0)).deadline == 0


def test_the_last_nonce_makes_the_deal_key() -> None:
    table = all_shown(counting(ANN, BEN), ANN)
    assert table.deal_key == ""
    assert table.missing == (BEN,)
    table = all_shown(table, BEN)
    nonces = {ANN: bytes.fromhex(nonce(ANN)), BEN: bytes.fromhex(nonce(BEN))}
    assert table.deal_key == deal_key(SEED, f"{CODE}/1", nonces).hex()


def test_a_nonce_must_fit_its_hash() -> None:
    with pytest.raises(CommandRejected) as refused:
        reveal(counting(ANN, BEN), ANN, 4, nonce=nonce(BEN), now=NOON)
    assert refused.value.code == "wrong_nonce"


def test_a_player_outside_the_race_cannot_reveal_a_nonce() -> None:
    table = join(counting(ANN), BEN, "Ben", 1, node="node-1", now=NOON).table
    with pytest.raises(CommandRejected) as refused:
        reveal(table, BEN, 2, nonce=nonce(BEN), now=NOON)
    assert refused.value.code == "not_racing"


def test_a_nonce_shown_twice_is_shown_once() -> None:
    table = all_shown(counting(ANN, BEN), ANN)
    again = all_shown(table, ANN)
    assert again.nonces == table.nonces
    # also after the last moment
    late = reveal(table, ANN, 9, nonce=nonce(ANN), now=after(4_500)).table
    assert late.nonces == table.nonces


def test_a_nonce_that_comes_too_late_is_refused_even_before_the_sweep() -> None:
    table = all_shown(counting(ANN, BEN), BEN)
    with pytest.raises(CommandRejected) as refused:
        reveal(table, ANN, 4, nonce=nonce(ANN), now=after(4_500))
    assert refused.value.code == "wrong_phase"
    assert "too late" in refused.value.detail


def test_late_nonces_count_if_no_node_could_take_them_in_time() -> None:
    table, late = all_shown(counting(ANN, BEN, CLEO), CLEO), after(4_500 + STALLED_MILLIS + 1)
    for player in (ANN, BEN):
        table = reveal(table, player, 4, nonce=nonce(player), now=late).table
        assert (table.reveal_by, table.start_at) == (late + 2_500, late + 3_000)
    assert table.deal_key
    assert due(table) == late + 3_000


@pytest.mark.parametrize("by_a_timer", [True, False])
def test_a_countdown_to_which_no_nonce_came_begins_again_once(by_a_timer: bool) -> None:
    table = counting(ANN, BEN)
    if by_a_timer:
        change = elapse(table, table.reveal_by, OTHER_SEED)
    else:
        change = reveal(table, ANN, 4, nonce=nonce(ANN), now=table.reveal_by)
    assert change is not None
    again = change.table
    assert (again.phase, again.reveal_by) == (TablePhase.COUNTDOWN, table.reveal_by + 2_500)
    voided = elapse(again, again.reveal_by, OTHER_SEED)
    assert voided is not None
    assert voided.table.voided[-1].reason == "nonce-missing"


def test_a_countdown_begins_again_only_once() -> None:
    late = after(4_500 + STALLED_MILLIS + 1)
    table = reveal(counting(ANN, BEN), ANN, 4, nonce=nonce(ANN), now=late).table
    later = Millis(table.reveal_by + STALLED_MILLIS + 1)
    with pytest.raises(CommandRejected):
        reveal(table, BEN, 4, nonce=nonce(BEN), now=later)
    change = elapse(table, later, OTHER_SEED)
    assert change is not None
    assert change.table.voided[-1].reason == "server-away"
    assert "the server was away again" in change.table.notice
    table = called(start(all_ready(change.table), ANN, 9, now=later).table)
    again = elapse(table, Millis(table.reveal_by + STALLED_MILLIS + 1), OTHER_SEED)
    assert again is not None
    assert again.table.phase is TablePhase.COUNTDOWN


def test_a_missing_nonce_voids_the_countdown_and_says_whose_it_was() -> None:
    table = all_shown(counting(ANN, BEN, CLEO), ANN)
    assert due(table) == after(4_500)
    assert elapse(table, after(4_499), OTHER_SEED) is None
    change = elapse(table, after(4_500), OTHER_SEED)
    assert change is not None
    gathering = change.table
    (effect,) = change.effects
    assert isinstance(effect, RaceVoided)
    assert (effect.race, effect.reason) == (table.race_id, "nonce-missing")
    assert verify(effect.record).ok
    (voided,) = gathering.voided
    assert voided_lines_of([voided]) == (parse_void_record(effect.record).line,)
    assert (voided.seed, voided.nonces) == (table.seed, {ANN: nonce(ANN)})
    assert voided.missing == {BEN: nonce_hash(BEN), CLEO: nonce_hash(CLEO)}
    assert gathering.phase is TablePhase.GATHERING
    assert gathering.notice == (
        "The countdown was voided: no nonce came from Ben and Cleo in time. "
        "There is a new deal: get ready again."
    )
    assert gathering.seed == OTHER_SEED.hex()
    assert gathering.commitment != table.commitment
    assert gathering.race == table.race + 1
    assert not any(seat.is_ready for seat in gathering.seats)
    assert (gathering.racers, gathering.nonces, gathering.deal_key) == ((), {}, "")
    assert (gathering.reveal_by, gathering.start_at, gathering.deadline) == (0, 0, 0)


def test_a_racer_who_leaves_in_the_countdown_voids_it() -> None:
    table = all_shown(counting(ANN, BEN))
    change = leave(table, BEN, 9, now=after(200), fresh_seed=OTHER_SEED)
    (voided,) = change.table.voided
    assert (voided.reason, voided.nonces, voided.left) == ("racer-left", table.nonces, BEN)
    (effect,) = change.effects
    assert isinstance(effect, RaceVoided)
    assert voided_lines_of([voided]) == (parse_void_record(effect.record).line,)
    assert verify(effect.record).ok
    assert change.table.phase is TablePhase.GATHERING
    assert change.table.notice == (
        "Ben has left. The countdown was voided. There is a new deal: get ready again."
    )
    assert change.table.commitment != table.commitment
    assert not change.table.seats[0].is_ready


def test_the_countdown_of_a_host_who_leaves_is_void_and_the_next_is_host() -> None:
    change = leave(counting(ANN, BEN), ANN, 9, now=after(200), fresh_seed=OTHER_SEED)
    assert (change.table.phase, change.table.host) == (TablePhase.GATHERING, BEN)
    assert "Ben is host now." in change.table.notice


def test_a_player_outside_the_race_may_join_and_leave_in_the_countdown() -> None:
    table = join(counting(ANN), BEN, "Ben", 1, node="node-1", now=after(100)).table
    change = leave(table, BEN, 2, now=after(200), fresh_seed=OTHER_SEED)
    assert (change.table.phase, change.effects) == (TablePhase.COUNTDOWN, ())
    assert change.table.racers == (ANN,)


def test_a_racer_may_lose_the_connection_and_still_show_the_nonce() -> None:
    change = disconnect(counting(ANN), ANN, 1, now=after(100))
    assert change is not None
    table = resume(change.table, ANN, node="node-2", now=after(900)).table
    assert all_shown(table).deal_key


def test_the_race_begins_at_the_announced_moment_and_not_before() -> None:
    table = all_shown(counting(ANN, BEN))
    assert due(table) == after(5_000)
    assert elapse(table, after(4_999), OTHER_SEED) is None
    change = elapse(table, after(5_000), OTHER_SEED)
    assert change is not None
    assert change.effects == (RaceStarted(),)
    assert change.table.phase is TablePhase.RUNNING
    assert change.table.start_at == after(5_000)
    assert change.table.deadline == after(605_000)


def test_a_sweep_a_little_late_leaves_the_race_its_clock() -> None:
    change = elapse(all_shown(counting(ANN)), after(5_900), OTHER_SEED)
    assert change is not None
    assert change.table.start_at == after(5_000)


def test_a_start_that_no_server_was_up_to_carry_out_gives_everyone_the_whole_time() -> None:
    change = elapse(all_shown(counting(ANN, BEN)), after(40_000), OTHER_SEED)
    assert change is not None
    assert change.table.start_at == after(40_000)
    assert change.table.deadline == after(640_000)


def test_a_racer_who_is_disconnected_after_revealing_the_nonce_is_in_the_race() -> None:
    change = disconnect(all_shown(counting(ANN, BEN)), BEN, 2, now=after(200))
    assert change is not None
    begun = elapse(change.table, after(5_000), OTHER_SEED)
    assert begun is not None
    assert begun.table.racers == (ANN, BEN)


def test_the_frozen_nonces_are_those_that_were_hashed() -> None:
    table = running(ANN, BEN)
    for seat in table.seats:
        shown = bytes.fromhex(table.nonces[seat.player])
        assert hashlib.sha256(shown).hexdigest() == seat.nonce_hash
