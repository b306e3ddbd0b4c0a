"""A server that lies about a race is found out by the bundled client, by bots, and by `saratoga verify`.

The records of these lies verify by themselves: only what a machine saw during the race shows the lie.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from kit.forged_records import (
    position_before,
    promised,
    renumbered,
    settled,
    with_line,
    with_racer,
)
from kit.lying_server import Lie, LyingServer
from kit.races import Entrant, race
from kit.scripted_server import TOKEN, scripted_server
from kit.walks import banking, wandering
from saratoga_client.bots.choice import Choice
from saratoga_client.bots.memory import Memory
from saratoga_client.bots.player import Report, TablePlayer
from saratoga_client.net.connection import Connection
from saratoga_client.session import fairness
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.verification import prove
from saratoga_client.session.witness import Witness
from saratoga_protocol import commands, events
from saratoga_rules.game import Game
from saratoga_rules.judge import legal_moves
from saratoga_rules.moves import parse_move
from saratoga_rules.records.digest_words import digest_words
from saratoga_rules.records.record import RaceRecord, digest_of, format_record
from saratoga_rules.records.replay import game_of
from saratoga_rules.records.standing import State
from saratoga_rules.records.verify import verify
from saratoga_rules.views import View

TRUTH = race(
    "canfield",
    5,
    [
        Entrant("Anna", banking, patience=7),
        Entrant("Bert", banking, patience=14),
        Entrant("Carl", wandering, patience=9),
        Entrant("Zora", wandering, bot=True, patience=5),
    ],
)
OWN, RIVAL, OTHER = TRUTH.racers[:3]


def exchanged(record: RaceRecord, first: int, second: int) -> RaceRecord:
    """Return the record with the boards of two racers exchanged."""
    racers = list(record.racers)
    one, two = racers[first], racers[second]
    racers[first] = replace(one, log=two.log, banked=two.banked, state=two.state)
    racers[second] = replace(two, log=one.log, banked=one.banked, state=one.state)
    return settled(replace(record, racers=tuple(racers)))


def rivals_exchanged(record: RaceRecord) -> RaceRecord:
    return exchanged(record, 1, 2)


def own_board_exchanged(record: RaceRecord) -> RaceRecord:
    return exchanged(record, 0, 1)


def another_cap(record: RaceRecord) -> RaceRecord:
    return promised(replace(record, cap=20))


def another_start(record: RaceRecord) -> RaceRecord:
    return replace(record, start_at=record.start_at - 86_400_000)


def another_name(record: RaceRecord) -> RaceRecord:
    return with_racer(record, record.racers[1], name="Robert")


def person_as_bot(record: RaceRecord) -> RaceRecord:
    return with_racer(record, record.racers[2], bot=True)


def own_move_left_out(record: RaceRecord) -> RaceRecord:
    own = record.racers[0]
    return settled(renumbered(with_racer(record, own, log=(*own.log[:-2], own.log[-1]))))


def own_move_changed(record: RaceRecord) -> RaceRecord:
    """Play another legal move in the place of the last one."""
    own, game = record.racers[0], game_of(record)
    position = position_before(record, own, len(own.log) - 2)
    other = next(str(move) for move in legal_moves(game, position) if str(move) != own.log[-2].text)
    return settled(with_line(record, own, -2, text=other))


def own_ending_changed(record: RaceRecord) -> RaceRecord:
    own = record.racers[0]
    left = (*own.log[:-1], replace(own.log[-1], text="left"))
    return settled(with_racer(record, own, log=left, state=State.LEFT))


def own_time_changed(record: RaceRecord) -> RaceRecord:
    """Move an own entry to the time of the entry before it, as far as the order allows."""
    own = record.racers[0]
    times = {line.number: line.at for racer in record.racers for line in racer.log}
    index, line = next(
        (index, line)
        for index, line in enumerate(own.log)
        if line.number > 1 and times[line.number - 1] < line.at
    )
    return settled(with_line(record, own, index, at=times[line.number - 1]))


def rise_moved_forward(record: RaceRecord) -> RaceRecord:
    """Let a rival have made all moves before everybody else."""
    rival = record.racers[1]
    shift = len(rival.log)
    racers = [
        replace(
            racer,
            log=tuple(
                replace(line, number=line.number + shift, at=line.at + 60_000) for line in racer.log
            ),
        )
        if racer.player != rival.player
        else replace(
            racer,
            log=tuple(
                replace(line, number=place, at=place) for place, line in enumerate(racer.log, 1)
            ),
        )
        for racer in record.racers
    ]
    return settled(renumbered(replace(record, racers=tuple(racers))))


def one_card_more(shown: events.Standings) -> events.Standings:
    """Show a rival who has ended with one card too many."""
    rows = [
        msgspec.structs.replace(row, banked=row.banked + 1, net=row.net + 5)
        if row.player == OTHER.player and row.state != State.RACING
        else row
        for row in shown.standings
    ]
    placed = [
        msgspec.structs.replace(row, place=1 + sum(other.banked > row.banked for other in rows))
        for row in rows
    ]
    return msgspec.structs.replace(shown, standings=placed)


LIES = {
    "rivals exchanged": (Lie(record=rivals_exchanged), "was shown with"),
    "own board exchanged": (Lie(record=own_board_exchanged), "this player's entry"),
    "another cap": (Lie(record=another_cap), "the time limit was 10 minutes"),
    "another start": (Lie(record=another_start), "the race started at"),
    "another name": (Lie(record=another_name), "and in the record is Robert"),
    "a person as a bot": (Lie(record=person_as_bot), "raced as a person"),
    "own move changed": (Lie(record=own_move_changed), "this player's entry"),
    "own move left out": (Lie(record=own_move_left_out), "this player's entry"),
    "own ending changed": (Lie(record=own_ending_changed), "this player's entry"),
    "own time changed": (Lie(record=own_time_changed), "this player's entry"),
    "a rival was faster": (Lie(record=rise_moved_forward), "this player's entry"),
    "a standing changed": (Lie(standings=one_card_more), "was shown with"),
}
"""Lies about the race, each with a part of what the client says about it."""

ABSENCES = {
    "vanished": (Lie(is_announced=False, is_sent=False), "and then disappeared"),
    "gathered again": (Lie(is_announced=False, is_reused=True), "under the number of a race"),
    "withheld": (Lie(is_sent=False), "did not send the record"),
}
"""Lies by saying nothing, each with a part of what the client says about it."""

DISCARDED = {
    "a deal thrown away": (Lie(is_discarded=True), "under the number of a race"),
    "a blamed reveal": (Lie(is_blamed=True), "it had confirmed that it took the nonce"),
}
"""Lies that discard a deal, each with a part of what the client says about it."""


@pytest.fixture(autouse=True)
def known_nonce(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the client draw the nonce that the race's record has."""
    drawn = SimpleNamespace(token_hex=lambda count: OWN.nonce)
    monkeypatch.setattr(fairness, "secrets", drawn)


@asynccontextmanager
async def connected(lie: Lie) -> AsyncIterator[tuple[Connection, LyingServer]]:
    """Connect a client to a lying server, which then serves one race."""
    async with scripted_server() as server:
        liar = LyingServer(server, TRUTH, lie)
        async with Connection(server.url, TOKEN, name=OWN.name) as connection:
            serving = asyncio.create_task(liar.race(await server.peer()))
            try:
                yield connection, liar
            finally:
                serving.cancel()
                served = await asyncio.gather(serving, return_exceptions=True)
        (fault,) = served
        assert isinstance(fault, asyncio.CancelledError | TimeoutError), fault


async def seated(lie: Lie, folder: Path) -> tuple[SessionState, LyingServer]:
    """Race as a person; return the last state, after the record was checked or an alarm was raised."""
    async with connected(lie) as (connection, liar):
        session = TableSession(
            connection, witness=Witness(folder / "witness"), records=RecordStore(folder / "races")
        )
        attending = asyncio.create_task(session.attend())
        async with asyncio.timeout(10):
            await session.sit_down(TRUTH.table)
            await session.ready()
            is_dealt = not (lie.is_discarded or lie.is_blamed)
            for line in OWN.log if is_dealt else ():
                await session.until(lambda state: state.own is not None and state.own.may_move)
                if line.is_move:
                    assert session.play(parse_move(line.text))
                else:
                    await session.cash_out()
            is_checked = lie.is_announced and lie.is_sent and is_dealt
            state = await session.until(
                lambda state: bool(state.verifications if is_checked else state.alarms)
            )
        attending.cancel()
        await asyncio.gather(attending, return_exceptions=True)
        return state, liar


async def bot_raced(lie: Lie) -> Report:
    """Race as a bot until the record was checked, or until it raised an alarm."""
    alarmed = asyncio.Event()
    log: Iterator[str] = iter([line.text for line in OWN.log])

    def chosen(game: Game, view: View, memory: Memory) -> Choice:
        text = next(log)
        return Choice(None if text == "cash-out" else parse_move(text), memory)

    async with connected(lie) as (connection, _):
        bot = TablePlayer(
            connection, chosen, pace=0, races=1, alarm=lambda race, sentences: alarmed.set()
        )
        await connection.ask(partial(commands.JoinTable, table=TRUTH.table), events.Snapshot)
        ends = [asyncio.create_task(bot.stay()), asyncio.create_task(alarmed.wait())]
        await asyncio.wait(ends, timeout=10, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.cancel()
        await asyncio.gather(*ends, return_exceptions=True)
        return bot.report


async def test_an_honest_server_is_believed(tmp_path: Path) -> None:
    state, _ = await seated(Lie(), tmp_path)
    assert state.alarms == ()
    found = state.verifications[TRUTH.race_id]
    assert (found.ok, found.sentence) == (True, f"{TRUTH.race_id} is verified: witnessed here.")
    assert (await bot_raced(Lie())).alarms == []


@pytest.mark.parametrize("name", LIES)
async def test_a_lie_about_the_race_is_found_out(name: str, tmp_path: Path) -> None:
    lie, sentence = LIES[name]
    record = lie.record(TRUTH)
    assert verify(record).ok, "only a witness can find it out"
    state, _ = await seated(lie, tmp_path)
    assert any(sentence in alarm for alarm in state.alarms), state.alarms
    assert not state.verifications[TRUTH.race_id].ok
    # `saratoga verify` on this machine, at any later time
    text = format_record(record).encode()
    proof = prove(text, TRUTH.race_id, witness=Witness(tmp_path / "witness"))
    assert not proof.ok
    assert sentence in " ".join(check.detail for check in proof.checks if not check.ok)


@pytest.mark.usefixtures("impatient_checks")
@pytest.mark.parametrize("name", [*LIES, *ABSENCES, *DISCARDED])
async def test_a_bot_says_that_the_server_lied(name: str) -> None:
    lie, sentence = {**LIES, **ABSENCES, **DISCARDED}[name]
    report = await bot_raced(lie)
    assert any(sentence in alarm for alarm in report.alarms), report.alarms


@pytest.mark.usefixtures("impatient_checks")
@pytest.mark.parametrize("name", [*ABSENCES, *DISCARDED])
async def test_a_race_that_is_not_shown_to_its_end_is_missed(name: str, tmp_path: Path) -> None:
    lie, sentence = {**ABSENCES, **DISCARDED}[name]
    state, _ = await seated(lie, tmp_path)
    assert any(sentence in alarm for alarm in state.alarms), state.alarms
    kept = Witness(tmp_path / "witness").load(TRUTH.race_id)
    assert kept is not None
    assert any(sentence in alarm for alarm in kept.alarms)


async def test_players_who_were_shown_two_records_have_different_words(tmp_path: Path) -> None:
    def split(record: RaceRecord) -> RaceRecord:
        """Change what this player cannot see: the time of a rival's last entry, the last of all."""
        rival = max(record.racers, key=lambda racer: racer.log[-1].number)
        assert rival.player != OWN.player
        return settled(with_line(record, rival, -1, at=rival.log[-1].at + 1))

    state, liar = await seated(Lie(record=split), tmp_path)
    assert state.verifications[TRUTH.race_id].ok, "no single player can find it out"
    shown = format_record(liar.told).encode()
    friends = digest_words(digest_of(format_record(TRUTH)))
    proof = prove(shown, witness=Witness(tmp_path / "witness"), words=friends)
    assert [check.name for check in proof.checks if not check.ok] == ["words"]
    assert proof.words == digest_words(digest_of(shown.decode()))
