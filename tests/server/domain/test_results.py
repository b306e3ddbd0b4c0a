"""Results of a race: the record, the outcome, and the results that leaderboards count."""

from collections.abc import Iterable

from msgspec.structs import replace

from kit.tables import ANN, BEN, CLEO, NAMES, nonce, running
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.games import GAMES
from saratoga_rules.judge import legal_moves
from saratoga_rules.position import Position
from saratoga_rules.records.record import parse_record
from saratoga_rules.records.standing import State
from saratoga_rules.records.verify import verify
from saratoga_server.domain.board import (
    ENDING_OF_STATE,
    Board,
    BoardChange,
    enter,
    open_board,
    played,
)
from saratoga_server.domain.results import CountedRace, count_up, recorded_outcome, wire_standings
from saratoga_server.domain.tables import TableState
from saratoga_server.ports import LogEntry, Millis

GAME = GAMES["canfield"]


class PlayedRace:
    """A race whose boards the test plays, entry by entry."""

    def __init__(self, *players: str, bots: Iterable[str] = ()) -> None:
        self.state: TableState = running(*players, bots=bots)
        self.opening: Position = deal_for_key(GAME, bytes.fromhex(self.state.deal_key))
        start = self.state.start_at
        self.boards: dict[str, Board] = {each: open_board(self.opening, start) for each in players}
        self.commits = 0

    def moves(self, player: str, count: int, since: int = 0) -> None:
        board = self.boards[player]
        for number in range(count):
            move = next(iter(legal_moves(GAME, board.position)))
            self._enter(player, played(GAME, board, move), str(move), since + 1000 * number)

    def ends(self, player: str, state: State = State.CASHED_OUT, at: int = 60_000) -> None:
        board = self.boards[player]
        after = BoardChange(board.position, board.banked, state)
        self._enter(player, after, ENDING_OF_STATE[state], at)

    def _enter(self, player: str, after: BoardChange, text: str, at: int) -> None:
        self.commits += 1
        moment = Millis(self.state.start_at + at)
        enter(self.boards[player], after, [LogEntry(text, moment, self.commits, self.commits)])

    def counted(self) -> CountedRace:
        return count_up(self.state, self.opening, self.boards)


def played_out(*players: str, bots: Iterable[str] = ()) -> CountedRace:
    race = PlayedRace(*players, bots=bots)
    for place, player in enumerate(players):
        race.moves(player, 6, since=place * 10_000)
    for player in players:
        race.ends(player)
    return race.counted()


def settled(counted: CountedRace) -> list[str]:
    """Return the players whose results leaderboards count."""
    return [] if counted.settlement is None else [r.player for r in counted.settlement.results]


def test_the_record_verifies_and_its_digest_is_announced() -> None:
    counted = played_out(ANN, BEN, CLEO)
    record = parse_record(counted.record)
    verdict = verify(record)
    assert verdict.ok, verdict
    assert counted.record.endswith(f"digest {counted.outcome.digest}\n")
    assert counted.outcome.nonces == {player: nonce(player) for player in (ANN, BEN, CLEO)}
    assert (record.race, record.cap, record.ranked) == (1, 10, True)
    assert {racer.name for racer in record.racers} == {"Ann", "Ben", "Cleo"}


def test_the_outcome_has_everyones_result() -> None:
    race = PlayedRace(ANN, BEN)
    race.moves(BEN, 3)
    race.ends(BEN, State.LEFT, at=4000)
    race.ends(ANN, State.OUT_OF_TIME, at=600_000)
    results = {row.player: row for row in race.counted().outcome.results}
    assert (results[BEN].state, results[BEN].moves, results[BEN].ended) == ("left", 3, 4000)
    assert (results[ANN].state, results[ANN].moves) == ("out of time", 0)
    assert (results[ANN].net, results[ANN].reached, results[ANN].name) == (-45, None, "Ann")


def test_a_race_of_two_people_is_ranked() -> None:
    counted = played_out(ANN, BEN)
    assert counted.outcome.ranked
    assert sorted(settled(counted)) == [ANN, BEN]
    assert counted.settlement is not None
    assert (counted.settlement.race, counted.settlement.game) == ("mint-otter-42/1", "canfield")


def test_a_racer_without_a_move_is_settled_with_the_net_of_the_deal() -> None:
    race = PlayedRace(ANN, BEN)
    race.moves(ANN, 5)
    for player in (ANN, BEN):
        race.ends(player)
    counted = race.counted()
    assert counted.settlement is not None
    nets = {row.player: (row.banked, row.net) for row in counted.settlement.results}
    assert counted.outcome.ranked
    assert nets[BEN] == (race.opening.banked, -45)


def test_a_race_alone_is_not_ranked() -> None:
    assert (played_out(ANN).outcome.ranked, settled(played_out(ANN))) == (False, [])


def test_a_person_among_bots_is_not_ranked_and_the_bots_are() -> None:
    counted = played_out(ANN, BEN, CLEO, bots=(BEN, CLEO))
    assert not counted.outcome.ranked
    assert sorted(settled(counted)) == [BEN, CLEO]
    assert counted.settlement is not None
    assert all(result.bot for result in counted.settlement.results)


def test_bots_among_themselves_have_their_own_leaderboards() -> None:
    counted = played_out(ANN, BEN, bots=(ANN, BEN))
    assert (counted.outcome.ranked, sorted(settled(counted))) == (False, [ANN, BEN])
    assert settled(played_out(ANN, bots=(ANN,))) == []


def test_people_and_bots_of_a_ranked_race_enter_each_their_own() -> None:
    counted = played_out(ANN, BEN, CLEO, bots=(CLEO,))
    assert counted.settlement is not None
    assert {r.player: r.bot for r in counted.settlement.results} == {
        ANN: False,
        BEN: False,
        CLEO: True,
    }


def test_a_result_is_settled_with_the_time_at_which_its_count_was_reached() -> None:
    race = PlayedRace(ANN, BEN)
    race.moves(ANN, 1)
    race.moves(BEN, 1)
    for player in (ANN, BEN):
        race.ends(player)
    counted = race.counted()
    assert counted.settlement is not None
    for result in counted.settlement.results:
        reached = race.boards[result.player].reached
        assert result.reached == (None if reached is None else reached.at)
        assert result.net == 5 * result.banked - 50


def test_racers_are_named_as_at_the_countdown() -> None:
    race = PlayedRace(ANN, BEN)
    race.state = replace(race.state, seats=race.state.seats[:1])
    for player in (ANN, BEN):
        race.ends(player)
    assert {row.name for row in race.counted().outcome.results} == {NAMES[ANN], NAMES[BEN]}


# Results read from the record


def test_the_outcome_can_be_read_from_the_record() -> None:
    race = PlayedRace(ANN, BEN, CLEO, bots=(CLEO,))
    race.moves(BEN, 5)
    race.moves(ANN, 2)
    race.ends(ANN, State.LEFT, at=7000)
    race.ends(BEN, State.STUCK, at=9000)
    race.ends(CLEO, State.OUT_OF_TIME, at=600_000)
    counted = race.counted()
    assert recorded_outcome(counted.record) == counted.outcome


def test_the_final_standings_are_those_of_the_outcome() -> None:
    outcome = played_out(ANN, BEN).outcome
    standings = wire_standings(outcome.race, outcome.results)
    assert standings.race == outcome.race
    assert [
        (row.player, row.place, row.banked, row.net, row.state) for row in standings.standings
    ] == [(row.player, row.place, row.banked, row.net, row.state) for row in outcome.results]
