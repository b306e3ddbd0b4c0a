"""Players who void a countdown: they get ready again only when the host allows it."""

import pytest
from msgspec.structs import replace

from kit.tables import (
    ANN,
    BEN,
    CLEO,
    DAN,
    NODE,
    NOON,
    OTHER_SEED,
    after,
    all_ready,
    all_shown,
    called,
    counting,
    seated,
)
from saratoga_server.domain.tables import (
    CommandRejected,
    TablePhase,
    TableState,
    allow_ready,
    elapse,
    join,
    leave,
    public_view,
    resume,
    start,
)
from saratoga_server.domain.tables.countdown import STALLED_MILLIS
from saratoga_server.domain.tables.state import MOST_BLOCKED


@pytest.fixture
def voided_by_ben() -> TableState:
    change = elapse(all_shown(counting(ANN, BEN, CLEO), ANN, CLEO), after(4_500), OTHER_SEED)
    assert change is not None
    return change.table


def test_a_player_who_voided_a_countdown_gets_ready_when_the_host_allows_it(
    voided_by_ben: TableState,
) -> None:
    table = all_ready(voided_by_ben, ANN, CLEO)
    with pytest.raises(CommandRejected) as refused:
        all_ready(table, BEN)
    assert refused.value.code == "ready_blocked"
    assert "when Ann, the host, allows it" in refused.value.detail
    table = allow_ready(table, ANN, 9, target=BEN, now=after(9_000)).table
    assert table.notice == "Ben may get ready again."
    assert called(start(all_ready(table, BEN), ANN, 10, now=NOON).table).racers == (ANN, BEN, CLEO)
    assert table.voids == {BEN: 1}, "everyone still sees how often"


def test_only_the_host_allows_it_and_only_for_a_player_at_the_table(
    voided_by_ben: TableState,
) -> None:
    for player, target, code in ((BEN, BEN, "host_only"), (ANN, DAN, "no_such_player")):
        with pytest.raises(CommandRejected) as refused:
            allow_ready(voided_by_ben, player, 9, target=target, now=NOON)
        assert refused.value.code == code


def test_leaving_and_joining_again_does_not_lift_the_block(voided_by_ben: TableState) -> None:
    table = leave(voided_by_ben, BEN, 9, now=NOON, fresh_seed=OTHER_SEED).table
    table = join(table, BEN, "Ben", 10, node="node-1", now=NOON).table
    with pytest.raises(CommandRejected) as refused:
        all_ready(table, BEN)
    assert refused.value.code == "ready_blocked"


def test_a_racer_who_leaves_the_countdown_is_blocked_and_the_others_are_not() -> None:
    table = leave(counting(ANN, BEN), BEN, 9, now=after(2_100), fresh_seed=OTHER_SEED).table
    assert (table.voids, table.blocked) == ({BEN: 1}, (BEN,))


def test_a_host_who_voids_a_countdown_is_not_blocked_but_counted() -> None:
    change = elapse(all_shown(counting(ANN, BEN), BEN), after(4_500), OTHER_SEED)
    assert change is not None
    ann, ben = public_view(change.table, 1).seats
    assert (ann.voids, ann.blocked, ben.voids) == (1, False, 0)
    assert all_ready(change.table).seats[0].is_ready


def test_nobody_is_blamed_for_a_countdown_that_the_server_could_not_serve() -> None:
    table = replace(counting(ANN, BEN), is_begun_again=True)
    change = elapse(table, after(4_500 + STALLED_MILLIS + 1), OTHER_SEED)
    assert change is not None
    assert (change.table.voided[-1].reason, change.table.voids) == ("server-away", {})


def test_nobody_is_blamed_for_a_nonce_that_was_lost_with_a_node() -> None:
    table = all_shown(counting(ANN, BEN), ANN)
    lost = elapse(table, after(3_000), OTHER_SEED, (NODE,))
    assert lost is not None
    again = elapse(lost.table, after(4_500), OTHER_SEED)
    assert again is not None
    assert (again.table.phase, again.table.reveal_by) == (TablePhase.COUNTDOWN, after(7_000))
    blamed = elapse(again.table, after(7_000), OTHER_SEED)
    assert blamed is not None
    assert blamed.table.voids == {BEN: 1}, (
        "the node that died before does not excuse the second time"
    )
    back = resume(again.table, BEN, node=NODE, now=after(5_000)).table
    excused = elapse(back, after(7_000), OTHER_SEED, (NODE,))
    assert excused is not None
    assert (excused.table.voided[-1].reason, excused.table.voids) == ("server-away", {})


def test_a_dead_node_is_no_excuse_for_a_racer_of_another_one() -> None:
    table = all_shown(counting(ANN, BEN), ANN)
    moved = resume(table, BEN, node="node-2", now=after(2_500)).table
    lost = elapse(moved, after(3_000), OTHER_SEED, (NODE,))
    assert lost is not None
    change = elapse(lost.table, after(4_500), OTHER_SEED)
    assert change is not None
    assert change.table.voids == {BEN: 1}


def test_a_table_remembers_a_bounded_number_of_players_who_voided_a_countdown() -> None:
    table = seated(ANN)
    for number in range(MOST_BLOCKED + 1):
        table = table.blaming(f"player {number}")
    assert len(table.voids) == len(table.blocked) == MOST_BLOCKED
    assert "player 0" not in table.blocked
