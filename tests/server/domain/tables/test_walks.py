"""Invariants of a table under any order of commands and timers."""

import hashlib
from collections.abc import Callable

from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from msgspec.structs import replace

from kit.tables import ANN, BEN, CLEO, CODE, DAN, NAMES, NOON, SEED, outcome, table_settings
from saratoga_rules.dealing.fairness import commitment, deal_key
from saratoga_server.domain.tables import (
    CommandRejected,
    TablePhase,
    TableState,
    change_settings,
    disconnect,
    due,
    elapse,
    end_race,
    finish,
    hand_over,
    host_again,
    join,
    kick,
    last_board,
    leave,
    lock,
    new_table,
    next_race,
    not_ready,
    pack,
    public_view,
    ready,
    reveal,
    start,
    unpack,
)
from saratoga_server.ports import Millis

players = st.sampled_from([ANN, BEN, CLEO, DAN])
NODES = ("node-1", "node-2")

# The changes of phase as `phases` draws them, without closing and without staying in a phase.
WAYS = {
    (TablePhase.GATHERING, TablePhase.CALL),
    (TablePhase.CALL, TablePhase.GATHERING),
    (TablePhase.CALL, TablePhase.COUNTDOWN),
    (TablePhase.COUNTDOWN, TablePhase.GATHERING),
    (TablePhase.COUNTDOWN, TablePhase.RUNNING),
    (TablePhase.RUNNING, TablePhase.OVER),
    (TablePhase.OVER, TablePhase.GATHERING),
}


class TableWalk(RuleBasedStateMachine):
    """A random walk of four players on two nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.now = NOON
        self.seeds = 0
        self.nonces: dict[str, str] = {}
        change = new_table(
            CODE,
            table_settings(game="canfield", seats=3),
            ANN,
            NAMES[ANN],
            node=NODES[0],
            now=self.now,
            fresh_seed=SEED,
        )
        self.table: TableState = change

    def fresh_seed(self) -> bytes:
        self.seeds += 1
        return hashlib.sha256(str(self.seeds).encode()).digest()

    def fresh_nonce(self, player: str) -> str:
        self.seeds += 1
        self.nonces[player] = hashlib.md5(str(self.seeds).encode()).hexdigest()
        return hashlib.sha256(bytes.fromhex(self.nonces[player])).hexdigest()

    def attempt(self, act: Callable[..., TableState], *given: object, **named: object) -> None:
        """Carry out a command now; a refusal leaves everything unchanged."""
        if act not in (last_board, host_again, elapse):
            named["now"] = self.now
        before, packed = self.table, pack(self.table)
        try:
            change = act(before, *given, **named)
        except CommandRejected:
            change = before
        assert pack(before) == packed, "a transition returns a new table"
        if change is not before:
            self.check_step(before, change)
            self.table = replace(change, voided=None)

    def check_step(self, before: TableState, table: TableState) -> None:
        if table.phase is not before.phase and table.phase is not TablePhase.CLOSED:
            # one command or timer starts at most one race or voids at most one countdown
            assert (before.phase, table.phase) in WAYS
        if (table.settings, table.seed, table.race) != (before.settings, before.seed, before.race):
            assert table.commitment != before.commitment
            assert not any(seat.is_ready for seat in table.seats)
        if before.phase is TablePhase.RUNNING and table.phase is TablePhase.RUNNING:
            frozen = ("racers", "nonces", "deal_key", "seed")
            for name in (*frozen, "commitment", "start_at", "deadline", "race"):
                assert getattr(table, name) == getattr(before, name), name
            gone = {seat.player for seat in before.seats} - {seat.player for seat in table.seats}
            left = set(table.left) - set(before.left)
            assert left == (gone & set(table.racers)) - set(before.left)
        if table.voided is not None:
            assert before.phase is TablePhase.COUNTDOWN
            assert table.notice
            self.check_voided(before, table)
        else:
            is_over = table.phase is TablePhase.OVER and before.phase is TablePhase.RUNNING
            assert is_over or table.previous == before.previous
        assert table.epoch >= before.epoch

    def check_voided(self, before: TableState, table: TableState) -> None:
        voided = table.previous
        assert voided is not None
        assert (voided.race, table.race) == (before.race_id, before.race + 1)
        assert voided.reason
        if voided.reason == "nonce-missing":
            assert set(voided.blamed) == set(before.missing)

    # Commands of players

    @rule(player=players, node=st.sampled_from(NODES))
    def joins(self, player: str, node: str) -> None:
        self.attempt(join, player, NAMES[player], bot=player == DAN, node=node)

    @rule(player=players, older=st.sampled_from([0, 0, 0, 1]))
    def loses_the_connection(self, player: str, older: int) -> None:
        seat = self.table.seat(player)
        self.attempt(disconnect, player, seat.epoch - older if seat else 1)

    @rule(player=players)
    def leaves(self, player: str) -> None:
        self.attempt(leave, player, fresh_seed=self.fresh_seed())

    @rule(player=players, other=players)
    def sends_away(self, player: str, other: str) -> None:
        self.attempt(kick, player, target=other, fresh_seed=self.fresh_seed())

    @rule(player=players, locked=st.booleans())
    def locks(self, player: str, locked: bool) -> None:
        self.attempt(lock, player, locked=locked)

    @rule(player=players, has_ended=st.booleans())
    @precondition(lambda self: self.table.phase is TablePhase.RUNNING)
    def ends_the_race(self, player: str, has_ended: bool) -> None:
        self.attempt(last_board, [*self.table.racers][-1], self.now)
        self.attempt(end_race, player, race_id=self.table.race_id, has_ended=has_ended)

    @rule(player=players, other=players)
    def hands_over(self, player: str, other: str) -> None:
        self.attempt(hand_over, player, target=other)
        self.attempt(host_again, other, self.now)

    @rule(
        chosen=st.fixed_dictionaries(
            {
                "game": st.sampled_from([None, "canfield", "caprice", "faro"]),
                "cap": st.sampled_from([None, 0, 3, 7]),
                "seats": st.sampled_from([None, 1, 3, 16]),
                "public": st.sampled_from([None, True, False]),
            }
        )
    )
    def changes_settings(self, chosen: dict[str, object]) -> None:
        self.attempt(change_settings, self.table.host, **chosen, fresh_seed=self.fresh_seed())

    @rule(player=players)
    def is_ready(self, player: str) -> None:
        promise = {"commitment": self.table.commitment, "nonce_hash": self.fresh_nonce(player)}
        self.attempt(ready, player, **promise)

    @rule(player=players)
    def is_not_ready(self, player: str) -> None:
        self.attempt(not_ready, player)

    @rule()
    @precondition(lambda self: self.table.phase is TablePhase.GATHERING)
    def everyone_is_ready_and_the_host_starts(self) -> None:
        for seat in self.table.seats:
            self.is_ready(seat.player)
        self.starts()

    @rule()
    def starts(self) -> None:
        self.attempt(start, self.table.host)

    @rule(player=players)
    @precondition(lambda self: self.table.phase is TablePhase.COUNTDOWN)
    def shows_a_nonce(self, player: str) -> None:
        self.attempt(reveal, player, nonce=self.nonces.get(player, "0" * 32))

    @rule()
    @precondition(lambda self: self.table.phase is TablePhase.COUNTDOWN)
    def everyone_shows_the_nonce(self) -> None:
        for player in self.table.racers:
            self.shows_a_nonce(player)

    @rule()
    @precondition(lambda self: self.table.phase is TablePhase.GATHERING and self.table.seats)
    def a_whole_countdown_goes_by(self) -> None:
        self.everyone_is_ready_and_the_host_starts()
        self.the_next_timer_runs_out()
        self.everyone_shows_the_nonce()
        self.the_next_timer_runs_out()

    @rule(away=st.sets(players))
    @precondition(lambda self: self.table.phase is TablePhase.RUNNING)
    def the_last_board_ends(self, away: set[str]) -> None:
        self.attempt(finish, outcome(self.table), away=away)

    @rule()
    @precondition(lambda self: self.table.phase is TablePhase.OVER)
    def host_calls_the_next_race(self) -> None:
        self.attempt(next_race, self.table.host, fresh_seed=self.fresh_seed())

    # Effects of time

    @rule(
        millis=st.sampled_from([1, 1_000, 3_000, 5_000, 60_000, 600_000, 3_600_000]),
        dead=st.sampled_from([(), (), (), ("node-1",), ("node-1", "node-2")]),
    )
    def time_passes(self, millis: int, dead: tuple[str, ...]) -> None:
        self.now = Millis(self.now + millis)
        self.sweep(dead)

    @rule()
    def the_next_timer_runs_out(self) -> None:
        at = due(self.table)
        if at is not None:
            self.now = max(self.now, at)
            self.sweep(())

    def sweep(self, dead: tuple[str, ...]) -> None:
        self.attempt(elapse, self.now, self.fresh_seed(), dead)
        assert elapse(self.table, self.now, self.fresh_seed(), dead) is self.table
        at = due(self.table)
        assert at is None or at > self.now or self.table.phase is TablePhase.RUNNING
        assert at is not None or self.table.phase in (TablePhase.RUNNING, TablePhase.CLOSED)

    # Invariants

    @invariant()
    def an_empty_table_is_unlocked_and_only_a_running_race_has_a_last_racer(self) -> None:
        assert self.table.seats or not self.table.locked
        assert self.table.phase is TablePhase.RUNNING or not self.table.end_from

    @invariant()
    def somebody_is_host_while_anybody_sits(self) -> None:
        seated = [seat.player for seat in self.table.seats]
        assert len(set(seated)) == len(seated) <= self.table.settings.seats
        assert (self.table.host in seated) if seated else self.table.host == ""
        assert not set(seated) & set(self.table.kicked)

    @invariant()
    def the_commitment_fits_the_seed(self) -> None:
        table = self.table
        assert table.commitment == commitment(
            bytes.fromhex(table.seed),
            table.settings.game,
            table.rules_version,
            table.code,
            table.race,
            cap=table.settings.cap,
            public=table.settings.public,
        )

    @invariant()
    def racers_nonces_and_deal_key_belong_together(self) -> None:
        table = self.table
        if table.phase in (TablePhase.GATHERING, TablePhase.CALL):
            assert (table.racers, table.nonces, table.deal_key, table.left) == ({}, {}, "", {})
        if table.phase in (TablePhase.COUNTDOWN, TablePhase.RUNNING, TablePhase.OVER):
            assert table.racers
            assert set(table.nonces) <= set(table.racers)
            assert set(table.left) <= set(table.racers)
        if table.phase is TablePhase.COUNTDOWN:
            assert set(table.racers) <= {seat.player for seat in table.seats}
            assert bool(table.deal_key) == (not table.missing)
        if table.phase is TablePhase.RUNNING:
            assert not table.missing
            gone = set(table.racers) - {seat.player for seat in table.seats}
            assert gone <= set(table.left)
        if table.deal_key and table.phase is not TablePhase.CLOSED:
            nonces = {player: bytes.fromhex(nonce) for player, nonce in table.nonces.items()}
            key = deal_key(bytes.fromhex(table.seed), table.race_id, nonces)
            assert table.deal_key == key.hex()

    @invariant()
    def no_timer_is_late_unless_no_node_applied_it(self) -> None:
        at = due(self.table)
        assert at is None or at >= self.now or self.table.phase is TablePhase.RUNNING

    @invariant()
    def away_is_away_since_some_time(self) -> None:
        for seat in self.table.seats:
            assert seat.is_connected == (seat.absent_since == 0)
            assert seat.absent_since <= self.now
            assert 0 < seat.epoch <= self.table.epoch

    @invariant()
    def it_comes_back_from_the_store_as_it_was(self) -> None:
        assert unpack(pack(self.table)) == self.table

    @invariant()
    def the_picture_holds_no_secret(self) -> None:
        shown = str(public_view(self.table, 1))
        assert self.table.seed not in shown
        assert not any(nonce in shown for nonce in self.table.nonces.values())
        assert not self.table.deal_key or self.table.deal_key not in shown


TableWalk.TestCase.settings = hypothesis_settings(
    max_examples=60, stateful_step_count=40, deadline=None
)
test_any_walk_keeps_the_invariants = TableWalk.TestCase
