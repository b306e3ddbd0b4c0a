"""Every command in every phase: a table lists the commands that each phase allows."""

from collections.abc import Callable, Mapping

import pytest
from msgspec.structs import replace

from kit.tables import (
    ANN,
    BEN,
    CLEO,
    CODE,
    DAN,
    NODE,
    OTHER_SEED,
    after,
    in_phase,
    nonce,
    nonce_hash,
    outcome,
)
from saratoga_server.domain.tables import (
    CommandRejected,
    TablePhase,
    TableState,
    allow_ready,
    change_settings,
    check_bot,
    end_race,
    finish,
    hand_over,
    join,
    kick,
    last_board,
    leave,
    lock,
    next_race,
    not_ready,
    pack,
    ready,
    reveal,
    start,
)
from saratoga_server.domain.tables.phases import ALLOWED, HOST_ONLY, Act

NOW = after(200)


def done(table: TableState, act: Act, player: str) -> TableState:
    """Return the change that a command with valid content makes."""
    return ACTS[act](table, player)


def _ready(table: TableState, player: str) -> TableState:
    return ready(
        table,
        player,
        commitment=table.commitment,
        nonce_hash=nonce_hash(player),
        now=NOW,
    )


def _kick(table: TableState, player: str) -> TableState:
    late = join(table, DAN, "Dan", node=NODE, now=NOW)
    return kick(late, player, target=DAN, now=NOW, fresh_seed=OTHER_SEED)


def _end_race(table: TableState, player: str) -> TableState:
    named = last_board(table, BEN, after(-120_000))
    late = table if named is None else named
    return end_race(late, player, race_id=late.race_id, has_ended=True, now=NOW)


def _change_settings(table: TableState, player: str) -> TableState:
    return change_settings(table, player, cap=5, now=NOW, fresh_seed=OTHER_SEED)


ACTS: Mapping[Act, Callable[[TableState, str], TableState]] = {
    Act.JOIN: lambda t, p: join(t, p, "Someone", node=NODE, now=NOW),
    Act.LEAVE: lambda t, p: leave(t, p, now=NOW, fresh_seed=OTHER_SEED),
    Act.KICK: _kick,
    Act.ALLOW_READY: lambda t, p: allow_ready(replace(t, blocked=(BEN,)), p, target=BEN, now=NOW),
    Act.ADD_BOT: check_bot,
    Act.LOCK: lambda t, p: lock(t, p, locked=True, now=NOW),
    Act.CHANGE_SETTINGS: _change_settings,
    Act.READY: _ready,
    Act.NOT_READY: lambda t, p: not_ready(t, p, now=NOW),
    Act.START: lambda t, p: start(t, p, race=t.race_id, now=NOW),
    Act.REVEAL: lambda t, p: reveal(t, p, nonce=nonce(p), now=NOW),
    Act.END_RACE: _end_race,
    Act.HAND_OVER: lambda t, p: hand_over(t, p, target=BEN, now=NOW),
    Act.NEXT_RACE: lambda t, p: next_race(t, p, race=f"{CODE}/1", now=NOW, fresh_seed=OTHER_SEED),
    Act.FINISH: lambda t, p: finish(t, outcome(t), now=NOW),
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
EVERYWHERE_OPEN = {"join_table", "leave_table", "kick", "allow_ready", "add_bot", "hand_over"}


_RACING = frozenset({TablePhase.COUNTDOWN, TablePhase.RUNNING, TablePhase.OVER})
DONE_ALREADY = {
    Act.READY: _RACING,
    Act.START: _RACING | {TablePhase.CALL},
    Act.REVEAL: _RACING - {TablePhase.COUNTDOWN},
    Act.END_RACE: {TablePhase.OVER},
}
"""The phases in which a command of the race at hand is a repeat."""


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
        assert (done(table, act, ANN) == table) is (act is Act.ADD_BOT)
    elif phase in DONE_ALREADY.get(act, ()):
        assert done(table, act, ANN) is table
    else:
        with pytest.raises(CommandRejected) as refused:
            done(table, act, ANN)
        expected = "table_closed" if phase is TablePhase.CLOSED else "wrong_phase"
        assert refused.value.code == expected
        # the reason, and what to do
        assert refused.value.detail.count(".") >= 2
    assert pack(table) == before


# Commands that a table has carried out already change nothing when they come again.
REPEATS = {
    Act.ALLOW_READY: TablePhase.GATHERING,
    Act.LOCK: TablePhase.GATHERING,
    Act.CHANGE_SETTINGS: TablePhase.GATHERING,
    Act.READY: TablePhase.GATHERING,
    Act.START: TablePhase.GATHERING,
    Act.REVEAL: TablePhase.COUNTDOWN,
    Act.END_RACE: TablePhase.RUNNING,
    Act.NEXT_RACE: TablePhase.OVER,
}


@pytest.mark.parametrize(("act", "phase"), REPEATS.items())
def test_a_command_that_comes_again_changes_nothing(act: Act, phase: TablePhase) -> None:
    changed = done(in_phase(phase), act, ANN)
    again = done(changed, act, ANN)
    assert replace(again, touched=changed.touched) == changed


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


def test_a_closed_table_is_closed_to_those_without_a_seat_too() -> None:
    for act in sorted(set(Act) - {Act.FINISH}):
        with pytest.raises(CommandRejected) as refused:
            done(in_phase(TablePhase.CLOSED), act, CLEO)
        assert refused.value.code == "table_closed"
