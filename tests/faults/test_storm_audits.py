"""The audit after a storm finds races and boards that a house has lost or told otherwise."""

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from kit.finished import finished_race
from kit.messages import GATHERING, NOW
from kit.race_audit import disagreements
from kit.recorded_players import Notes, NotingConnection, RecordedPlayer
from kit.results import result_of
from kit.stores import StoreServer
from kit.storms.auditor import Auditor
from kit.storms.town import Guest, Town
from saratoga_client.net.connection import Connection, LinkState
from saratoga_client.net.errors import RequestTimedOut
from saratoga_protocol import events
from saratoga_protocol.commands import CashOut, MakeMove
from saratoga_protocol.events import BoardView
from saratoga_protocol.views import wire_view
from saratoga_rules.games import GAMES
from saratoga_rules.money import net
from saratoga_rules.records.record import LOG_ENDINGS, RaceRecord, format_record
from saratoga_rules.records.replay import replay
from saratoga_rules.views import redact
from saratoga_server.messages.settlements import pack_settlement
from saratoga_server.ports import LogEntry, Millis, Settlement, StoredBoard
from saratoga_server.store.keys import OUTBOX_KEYS
from saratoga_server.store.opening import Store, open_store

RACES = (0, 1, 2)
"""Seeds of three races in a row; their numbers are one more."""
NOW_RACED = int(time.time() * 1000)


@cache
def race_of(seed: int) -> RaceRecord:
    """A race of today: leaderboards of other days may have gone."""
    return dataclasses.replace(finished_race(seed=seed), start_at=NOW_RACED + seed)


def board_after(record: RaceRecord, player: str, count: int) -> BoardView:
    """As the house shows it after so many entries."""
    racer, position = record.racer(player), replay(record, player)[count]
    return BoardView(
        race=record.race_id,
        count=count,
        view=wire_view(redact(position)),
        banked=position.banked,
        net=net(GAMES[record.game], position.banked),
        state=str(racer.state) if count == len(racer.log) else "racing",
    )


def told(notes: Notes, record: RaceRecord) -> StoredBoard:
    """A player's whole race goes by; what the store has of it."""
    racer, entries = record.racer(notes.player), []
    notes.hear(
        events.Dealt(
            board=board_after(record, notes.player, 0), start_at=0, deadline=1, now=record.start_at
        )
    )
    for place, line in enumerate(racer.log):
        command_id = record.race * 10_000 + place
        board = board_after(record, notes.player, place + 1)
        if line.text in LOG_ENDINGS and line.text != "cash-out":
            command_id = 0
            notes.hear(events.BoardEnded(board=board, at=line.at))
        else:
            notes.sent[command_id] = (
                CashOut(id=command_id, race=record.race_id)
                if line.text == "cash-out"
                else MakeMove(id=command_id, race=record.race_id, after=place, move=line.text)
            )
            notes.hear(events.MoveMade(re=command_id, board=board, at=line.at))
        entries.append(LogEntry(line.text, Millis(line.at), line.number, command_id))
    return StoredBoard(
        epoch=1, last_id=1, banked=racer.banked, state=str(racer.state), entries=tuple(entries)
    )


@dataclass
class Told:
    """Three races that a town's only table was told of, and what the store kept of them."""

    table: list[Guest] = field(default_factory=list)
    records: dict[int, str] = field(default_factory=dict)
    boards: dict[tuple[int, str], StoredBoard] = field(default_factory=dict)

    async def load_record(self, code: str, race: int) -> str | None:
        return self.records.get(race)

    async def load_board(self, code: str, race: int, player: str) -> StoredBoard | None:
        return self.boards.get((race, player))

    def notes(self, place: int) -> Notes:
        return self.table[place].notes

    async def faults(self) -> list[str]:
        auditor = self.auditor()
        await auditor.look_at_last_races()
        return auditor.faults

    def auditor(self, store: Store | None = None) -> Auditor:
        town = Town([], None, None, None, None, tables=[self.table])  # type: ignore[arg-type]
        kept = SimpleNamespace(tables=self, boards=self)
        if store is not None:
            kept.leaderboards, kept.client = store.leaderboards, store.client
        return Auditor(town, kept, settled_within=0.3)  # type: ignore[arg-type]


def raced(seeds: Sequence[int] = RACES) -> Told:
    """Everything was told, everything kept."""
    whole = Told()
    records = [race_of(seed) for seed in seeds]
    for racer in race_of(0).racers:
        notes = Notes(player=racer.player, code="mint-otter-42")
        player = RecordedPlayer(
            SimpleNamespace(notes=notes),  # type: ignore[arg-type]
            "weak",
            1,
            seat=SimpleNamespace(  # type: ignore[arg-type]
                _seat=SimpleNamespace(testimonies={}), report=SimpleNamespace(openings={})
            ),
        )
        whole.table.append(Guest(player, None))  # type: ignore[arg-type]
        for record in records:
            whole.boards[record.race, racer.player] = told(notes, record)
    whole.records |= {record.race: format_record(record) for record in records}
    return whole


async def test_nothing_is_found_where_everything_was_kept() -> None:
    whole = raced()
    auditor = whole.auditor()
    await auditor.look_at_last_races()
    assert auditor.faults == []
    assert auditor.races.total() == len(RACES)
    assert auditor.moves
    assert all(guest.notes.acknowledged == [] for guest in whole.table)


@pytest.mark.parametrize("race", [1, 2])
async def test_a_race_whose_record_is_lost_is_found_and_those_after_it_are_looked_through(
    race: int,
) -> None:
    whole = raced()
    del whole.records[race]
    auditor = whole.auditor()
    await auditor.look_at_last_races()
    assert f"mint-otter-42/{race} has no record" in auditor.faults
    assert sum("stand nowhere" in fault for fault in auditor.faults) == len(whole.table)
    assert auditor.races.total() == len(RACES) - 1


async def test_a_last_race_that_is_gone_is_found_by_its_moves_and_by_its_end() -> None:
    whole = raced()
    del whole.records[3]
    whole.boards = {key: board for key, board in whole.boards.items() if key[0] != 3}
    assert len(await whole.faults()) == len(whole.table)
    for place in range(len(whole.table)):
        whole = raced()
        del whole.records[3]
        whole.notes(place).announced.append("mint-otter-42/3")
        assert await whole.faults() == ["mint-otter-42/3 has no record"]


def test_moves_of_a_player_who_is_missing_in_the_record_are_found() -> None:
    whole = raced()
    whole.notes(0).player = "y" * 16
    everybody = [guest.notes for guest in whole.table]
    for text in whole.records.values():
        assert sum("is no racer" in fault for fault in disagreements(text, everybody)) == 1


def shown_as(board: BoardView) -> Sequence[events.AnyEvent]:
    """Every way in which the house shows a player's own board."""
    return (
        events.MoveMade(re=10_000, board=board, at=1, repeat=True),
        events.Refused(code="board_changed", message="", board=board),
        events.BoardEnded(board=board, at=1),
        events.Snapshot(table=GATHERING, now=NOW, board=board),
    )


@pytest.mark.parametrize("way", range(4))
@pytest.mark.parametrize("change", ["view", "banked", "net", "count", "none"])
def test_a_board_that_no_moves_make_is_found_however_it_is_shown(way: int, change: str) -> None:
    whole = raced([0])
    notes, record = whole.notes(0), race_of(0)
    board = board_after(record, notes.player, len(record.racer(notes.player).log))
    wrong: dict[str, Any] = {
        "view": {"view": board_after(record, notes.player, 0).view},
        "banked": {"banked": board.banked + 1},
        "net": {"net": board.net + 5},
        "count": {"count": board.count + 1},
        "none": {},
    }
    show(notes, shown_as(msgspec.structs.replace(board, **wrong[change]))[way])
    # what was shown first and last is compared in other ways too
    show(notes, events.BoardEnded(board=board, at=1))
    assert len(disagreements(whole.records[1], [notes])) == (change != "none")


async def test_a_player_who_comes_back_to_fewer_moves_than_were_acknowledged_finds_it() -> None:
    whole = raced([0])
    notes, record = whole.notes(0), race_of(0)
    older = board_after(record, notes.player, 3)
    notes.take_up(events.Snapshot(table=GATHERING, now=NOW, board=older))
    show(notes, events.BoardEnded(board=notes.ended[record.race_id], at=1))
    assert ["came back to 3 entries" in fault for fault in await whole.faults()] == [True]
    whole = raced([0])
    whole.notes(0).take_up(events.Snapshot(table=GATHERING, now=NOW, board=older))
    del whole.records[1]
    assert ["came back to 3 entries" in fault for fault in await whole.faults()] == [True]


def test_who_was_there_when_the_house_ended_a_board_must_have_been_told() -> None:
    record = race_of(0)
    (place, *_) = (
        place
        for place, racer in enumerate(record.racers)
        if racer.log[-1].text in LOG_ENDINGS and racer.log[-1].text != "cash-out"
    )

    def untold() -> tuple[str, Notes, BoardView]:
        whole = raced([0])
        notes = whole.notes(place)
        ended = notes.ended.pop(record.race_id)
        notes.shown[record.race_id].remove(ended)
        return whole.records[1], notes, ended

    text, notes, ended = untold()
    (fault,) = disagreements(text, [notes])
    assert "(racing), not" in fault
    notes.take_up(events.Snapshot(table=GATHERING, now=NOW, board=ended))
    assert disagreements(text, [notes]) == []
    text, notes, _ = untold()
    notes.connected.append(time.monotonic())  # and was away before
    assert disagreements(text, [notes]) == []


def show(notes: Notes, event: events.AnyEvent) -> None:
    if isinstance(event, events.Snapshot):
        notes.take_up(event)
    else:
        notes.hear(event)


def without_answers(places: Sequence[int], *, is_shown: bool = True) -> Told:
    """A race in which the first player never had those answers; perhaps saw the board afterwards."""
    whole = raced([0])
    notes, race = whole.notes(0), race_of(0).race_id
    notes.acknowledged = [each for each in notes.acknowledged if each.after not in places]
    if not is_shown:
        counts = {place + 1 for place in places}
        notes.shown[race] = [each for each in notes.shown[race] if each.count not in counts]
    return whole


@pytest.mark.parametrize("places", [[2], [2, 5]])
async def test_answers_that_never_came_are_found_unless_each_may_have_got_lost(
    places: list[int],
) -> None:
    for lost in range(len(places) + 1):
        whole = without_answers(places)
        whole.notes(0).lost_answers[race_of(0).race_id] = lost
        auditor = whole.auditor()
        await auditor.look_at_last_races()
        assert len(auditor.faults) == (lost < len(places))
        assert all("never had an answer to" in fault for fault in auditor.faults)
        assert auditor.unheard == 1


async def test_who_played_on_without_an_answer_must_have_seen_the_board() -> None:
    whole = without_answers([2], is_shown=False)
    race = race_of(0).race_id
    whole.notes(0).lost_answers[race] = 1
    [fault] = await whole.faults()
    assert "went on from 3 moves" in fault
    whole = without_answers([2], is_shown=False)
    whole.notes(0).lost_answers[race] = 1
    show(whole.notes(0), shown_as(board_after(race_of(0), whole.notes(0).player, 3))[1])
    show(whole.notes(0), events.BoardEnded(board=whole.notes(0).ended[race], at=1))
    assert await whole.faults() == []


async def test_moves_sent_in_a_hurry_get_lost_together_but_not_by_themselves() -> None:
    for lost in (0, 1):
        whole = without_answers([2, 3, 4], is_shown=False)
        whole.notes(0).hurried[race_of(0).race_id] = 3
        whole.notes(0).lost_answers[race_of(0).race_id] = lost
        assert len(await whole.faults()) == 1 - lost


async def test_an_answer_may_get_lost_with_the_line_the_store_and_ones_patience(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def unanswered(*args: object) -> None:
        raise RequestTimedOut("nothing came")

    monkeypatch.setattr(Connection, "request", unanswered)
    house = NotingConnection("ws://nowhere", "Anna")
    notes, race = house.notes, race_of(0).race_id
    notes.turn(LinkState.RECONNECTING)
    assert not notes.lost_answers, "nothing is played yet"
    notes.board = board_after(race_of(0), race_of(0).racers[0].player, 0)
    notes.turn(LinkState.CONNECTED)
    notes.hear(events.Refused(code="stale_move", message=""))
    assert not notes.lost_answers
    notes.turn(LinkState.RECONNECTING)
    notes.hear(events.Refused(code="store_unavailable", message=""))
    with pytest.raises(RequestTimedOut):
        await house.request(partial(CashOut, race=race))
    assert notes.lost_answers == {race: 3}
    notes.forget(race)
    assert not notes.lost_answers


def settlement_of(record: RaceRecord, game: str) -> bytes:
    return pack_settlement(
        Settlement(
            race=record.race_id,
            game=game,
            start_at=Millis(record.start_at),
            results=tuple(
                result_of(
                    row.player,
                    bot=record.racer(row.player).bot,
                    banked=row.banked,
                    net=row.net,
                    reached=row.reached or 0,
                )
                for row in record.results
            ),
        )
    )


async def ends(store: Store, game: str = "canfield", seeds: Sequence[int] = RACES) -> None:
    """The races end: their results are in an outbox."""
    for seed in seeds:
        packed = settlement_of(race_of(seed), game)
        await store.client.command("RPUSH", OUTBOX_KEYS[7], packed)


async def test_results_that_no_node_settles_are_found_and_stay_where_they_are(
    store_server: StoreServer,
) -> None:
    async with open_store(store_server.url) as store:
        await ends(store)
        auditor = raced().auditor(store)
        await auditor.close()
        assert "the nodes have left results in the outboxes" in auditor.faults
        assert any("has other players than the records" in fault for fault in auditor.faults)
        assert await store.client.command("LLEN", OUTBOX_KEYS[7]) == len(RACES)


async def test_rankings_are_compared_with_the_records_whether_any_record_asks_for_them_or_not(
    store_server: StoreServer,
) -> None:
    async with open_store(store_server.url) as store:
        await ends(store)
        await store.leaderboards.settle_outbox(10)
        auditor = raced().auditor(store)
        await auditor.close()
        assert auditor.faults == []
        await ends(store, "lady-palk", [0])
        await store.leaderboards.settle_outbox(10)
        auditor = raced().auditor(store)
        await auditor.close()
        assert len(auditor.faults) == 2 * 2 * 4
        assert all("at lady-palk has other players" in fault for fault in auditor.faults)
