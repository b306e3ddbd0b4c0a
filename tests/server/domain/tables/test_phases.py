"""Every command in every phase: a table lists the commands that each phase allows."""

from collections.abc import Callable, Mapping

import pytest

from kit.tables import (
    ANN,
    BEN,
    CLEO,
    DAN,
    NODE,
    OTHER_SEED,
    after,
    in_phase,
    next_id,
    nonce,
    nonce_hash,
    outcome,
    seated,
)
from saratoga_server.domain.tables import (
    Change,
    CommandRejected,
    TablePhase,
    TableState,
    allow_ready,
    change_settings,
    end_race,
    finish,
    is_repeat,
    join,
    kick,
    last_board,
    leave,
    lock,
    next_race,
    not_ready,
    ready,
    reveal,
    start,
)
from saratoga_server.domain.tables.packing import pack
from saratoga_server.domain.tables.phases import ALLOWED, HOST_ONLY, Act
from saratoga_server.domain.tables.state import ACCEPTED_KEPT

NOW = after(200)


def done(table: TableState, act: Act, player: str) -> Change:
    """Return the change that a command with valid content makes."""
    return ACTS[act](table, player, next_id(table, player))


def _ready(table: TableState, player: str, command_id: int) -> Change:
    return ready(
        table,
        player,
        command_id,
        commitment=table.commitment,
        nonce_hash=nonce_hash(player),
        now=NOW,
    )


def _kick(table: TableState, player: str, command_id: int) -> Change:
    late = join(table, DAN, "Dan", 1, node=NODE, now=NOW).table
    return kick(late, player, command_id, target=DAN, now=NOW, fresh_seed=OTHER_SEED)


def _end_race(table: TableState, player: str, command_id: int) -> Change:
    named = last_board(table, BEN, after(-120_000))
    late = table if named is None else named.table
    return end_race(late, player, command_id, race_id=late.race_id, now=NOW)


def _change_settings(table: TableState, player: str, command_id: int) -> Change:
    return change_settings(table, player, command_id, cap=5, now=NOW, fresh_seed=OTHER_SEED)


ACTS: Mapping[Act, Callable[[TableState, str, int], Change]] = {
    Act.JOIN: lambda t, p, i: join(t, p, "Someone", i, node=NODE, now=NOW),
    Act.LEAVE: lambda t, p, i: leave(t, p, i, now=NOW, fresh_seed=OTHER_SEED),
    Act.KICK: _kick,
    Act.ALLOW_READY: lambda t, p, i: allow_ready(t, p, i, target=p, now=NOW),
    Act.LOCK: lambda t, p, i: lock(t, p, i, locked=True, now=NOW),
    Act.CHANGE_SETTINGS: _change_settings,
    Act.READY: _ready,
    Act.NOT_READY: lambda t, p, i: not_ready(t, p, i, now=NOW),
    Act.START: lambda t, p, i: start(t, p, i, now=NOW),
    Act.REVEAL: lambda t, p, i: reveal(t, p, i, nonce=nonce(p), now=NOW),
    Act.END_RACE: _end_race,
    Act.NEXT_RACE: lambda t, p, i: next_race(t, p, i, now=NOW, fresh_seed=OTHER_SEED),
    Act.FINISH: lambda t, p, i: finish(t, outcome(t), now=NOW),
}

# A second copy of `ALLOWED`, so that nobody changes it by accident.
EXPECTED = {
    "gathering": {"lock_table", "change_settings", "ready", "not_ready", "start"},
    "call": {"ready", "not_ready"},
    "countdown": {"reveal"},
    "running": {"lock_table", "finish", "end_race"},
    "over": {"lock_table", "next_race"},
    "closed": set[str](),
}
EVERYWHERE_OPEN = {"join_table", "leave_table", "kick", "allow_ready"}

# These commands reserve ids at the seat; joining is possible with any id.
WITHOUT_ID = {Act.JOIN, Act.FINISH}


def test_every_act_is_allowed_in_the_phases_written_down() -> None:
    assert {phase.value: {act.value for act in acts} for phase, acts in ALLOWED.items()} == {
        phase: acts | (EVERYWHERE_OPEN if phase != "closed" else set())
        for phase, acts in EXPECTED.items()
    }
    assert set(ACTS) == set(Act)


@pytest.mark.parametrize("act", Act)
@pytest.mark.parametrize("phase", TablePhase)
def test_an_act_goes_through_in_its_phases_and_is_refused_in_all_others(
    phase: TablePhase, act: Act
) -> None:
    table = in_phase(phase)
    assert table.phase is phase
    before = pack(table)
    if act in ALLOWED[phase]:
        assert done(table, act, ANN).table != table
    else:
        with pytest.raises(CommandRejected) as refused:
            done(table, act, ANN)
        expected = "table_closed" if phase is TablePhase.CLOSED else "wrong_phase"
        assert refused.value.code == expected
        # the reason, and what to do
        assert refused.value.detail.count(".") >= 2
    assert pack(table) == before


@pytest.mark.parametrize(
    ("phase", "act"),
    [
        (phase, act)
        for phase, acts in ALLOWED.items()
        for act in sorted(acts - WITHOUT_ID - {Act.LEAVE})
    ],
)
def test_an_accepted_command_is_known_when_it_comes_again(phase: TablePhase, act: Act) -> None:
    table = in_phase(phase)
    command_id = next_id(table, ANN)
    assert not is_repeat(table, ANN, command_id)
    changed = done(table, act, ANN).table
    assert is_repeat(changed, ANN, command_id)
    assert not is_repeat(changed, ANN, command_id + 1)


@pytest.mark.parametrize("act", sorted(set(Act) - {Act.JOIN, Act.FINISH}))
@pytest.mark.parametrize("phase", sorted(set(TablePhase) - {TablePhase.CLOSED}))
def test_a_player_without_a_seat_is_refused_before_any_other_check(
    phase: TablePhase, act: Act
) -> None:
    with pytest.raises(CommandRejected) as refused:
        done(in_phase(phase), act, CLEO)
    assert refused.value.code == "not_seated"
    assert "Join" in refused.value.detail


@pytest.mark.parametrize("act", sorted(HOST_ONLY))
@pytest.mark.parametrize("phase", sorted(set(TablePhase) - {TablePhase.CLOSED}))
def test_host_commands_of_another_player_are_refused_in_every_phase(
    phase: TablePhase, act: Act
) -> None:
    with pytest.raises(CommandRejected) as refused:
        done(in_phase(phase), act, BEN)
    assert refused.value.code == "host_only"
    assert "Ann" in refused.value.detail


def test_the_time_is_checked_before_what_the_command_says() -> None:
    table = in_phase(TablePhase.RUNNING)
    with pytest.raises(CommandRejected) as refused:
        change_settings(table, ANN, 9, game="faro", now=NOW, fresh_seed=OTHER_SEED)
    assert refused.value.code == "wrong_phase"
    with pytest.raises(CommandRejected) as refused:
        ready(table, ANN, 9, commitment="0" * 64, nonce_hash="0" * 64, now=NOW)
    assert refused.value.code == "wrong_phase"


def test_a_closed_table_is_closed_to_those_without_a_seat_too() -> None:
    for act in sorted(set(Act) - {Act.FINISH}):
        with pytest.raises(CommandRejected) as refused:
            done(in_phase(TablePhase.CLOSED), act, CLEO)
        assert refused.value.code == "table_closed"


def test_a_refusal_can_be_read() -> None:
    with pytest.raises(CommandRejected) as refused:
        leave(seated(ANN), BEN, 1, now=NOW, fresh_seed=OTHER_SEED)
    assert str(refused.value) == (
        "not_seated: You have no seat at mint-otter-42. Join the table first."
    )
    assert not refused.value.retry


# Repeated commands, and late ones


def after_commands(table: TableState, *ids: int) -> TableState:
    """Return the table after commands of Ann's with these ids."""
    for command_id in ids:
        change = change_settings(table, ANN, command_id, cap=5, now=NOW, fresh_seed=OTHER_SEED)
        table = change.table
    return table


@pytest.mark.parametrize("older", [3, 4, 6])
def test_a_command_that_a_later_one_has_overtaken_is_no_repeat(older: int) -> None:
    table = after_commands(seated(ANN, BEN), 2, 5, 7)
    assert [is_repeat(table, ANN, known) for known in (1, 2, 5, 7, 8)] == [True] * 4 + [False]
    with pytest.raises(CommandRejected) as refused:
        is_repeat(table, ANN, older)
    assert refused.value.code == "stale_id"


def test_the_latest_command_ids_of_a_seat_are_remembered() -> None:
    ids = range(10, 10 + 3 * ACCEPTED_KEPT, 2)
    table = after_commands(seated(ANN, BEN), *ids)
    assert all(is_repeat(table, ANN, known) for known in ids[-ACCEPTED_KEPT:])
    with pytest.raises(CommandRejected):
        is_repeat(table, ANN, ids[-ACCEPTED_KEPT - 1])
