"""A server that lies about a race is found out by the bundled client, by bots, and by `saratoga verify`.

The records of most lies verify by themselves: only what a machine saw during the race shows such a lie.
The others agree with all that the machine saw, and fail another check.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import msgspec
import pytest

from kit.line_client import line_client
from kit.lying_server import Lie, LyingServer
from kit.race_lies import (
    ABSENCES,
    CLOSED_LIE,
    DISCARDED,
    ENDED,
    LIES,
    OWN,
    TOKEN,
    TRUTH,
    UNVERIFIED,
    VANISHED,
)
from kit.races import (
    settled,
    with_line,
)
from kit.scripted_server import scripted_server
from kit.sightings import announced, sighting_of
from saratoga_client.bots.choice import Choice
from saratoga_client.bots.memory import Memory
from saratoga_client.bots.player import Report, TablePlayer
from saratoga_client.local.files import OWNER_ONLY, replace_file
from saratoga_client.local.identity import TOKENS_FOLDER
from saratoga_client.local.origins import origin_of
from saratoga_client.net.connection import Connection
from saratoga_client.problems import Exit, Problem
from saratoga_client.session import fairness
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.testimony import compare_with_record
from saratoga_client.session.verification import prove
from saratoga_client.session.witness import Witness
from saratoga_protocol import commands, events
from saratoga_rules.game import Game
from saratoga_rules.moves import parse_move
from saratoga_rules.position import View
from saratoga_rules.records.digest_words import digest_words
from saratoga_rules.records.record import RaceRecord, digest_of, format_record
from saratoga_rules.records.verify import verify


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
            await session.until(lambda state: state.phase == "gathering")
            await session.ready()
            is_dealt = not (lie.is_discarded or lie.is_blamed or lie.instead)
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
        # a bot that has played its last race hears no second result
        races = len(lie.outcomes(announced(TRUTH)))
        bot = TablePlayer(
            connection, chosen, pace=0, races=races, alarm=lambda race, sentences: alarmed.set()
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


@pytest.mark.parametrize("name", UNVERIFIED)
async def test_a_record_that_is_not_verified_raises_the_alarm(name: str, tmp_path: Path) -> None:
    lie, sentence = UNVERIFIED[name]
    record = lie.record(TRUTH)
    text = format_record(record)
    seen = msgspec.structs.replace(sighting_of(TRUTH), outcome=announced(record))
    assert not compare_with_record(seen, text).disagreements, "only verification finds it out"
    state, _ = await seated(lie, tmp_path)
    said = f"Race {TRUTH.race_id}: the record is not verified: "
    assert [alarm for alarm in state.alarms if not alarm.startswith(said)] == []
    assert any(sentence in alarm for alarm in state.alarms), state.alarms
    assert not state.verifications[TRUTH.race_id].ok
    assert state.phase == ("gathering" if lie.is_next_open else "over")


async def test_a_void_record_without_the_own_ending_is_found_out(tmp_path: Path) -> None:
    lie = CLOSED_LIE
    assert lie.void is not None
    text = format_record(lie.void(TRUTH)).encode()
    assert verify(text).ok, "only a witness can find it out"
    lacks = f"the record lacks this player's entry {len(OWN.log)}, cash-out"
    state, _ = await seated(lie, tmp_path)
    assert any(lacks in alarm for alarm in state.alarms), state.alarms
    proof = prove(text, TRUTH.race_id, witness=Witness(tmp_path / "witness"))
    assert lacks in " ".join(proof.testimony.disagreements)
    report = await bot_raced(lie)
    assert any(lacks in alarm for alarm in report.alarms), report.alarms


@pytest.mark.usefixtures("impatient_checks")
@pytest.mark.parametrize("name", [*LIES, *UNVERIFIED, *ABSENCES, *DISCARDED])
async def test_a_bot_says_that_the_server_lied(name: str) -> None:
    lie, sentence = {**LIES, **UNVERIFIED, **ABSENCES, **DISCARDED}[name]
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


@pytest.mark.usefixtures("impatient_checks")
@pytest.mark.parametrize("name", ENDED)
async def test_a_race_that_is_taken_away_with_the_table_is_missed(
    name: str, tmp_path: Path
) -> None:
    async with connected(ENDED[name]) as (connection, _):
        session = TableSession(
            connection, witness=Witness(tmp_path), records=RecordStore(tmp_path / "races")
        )
        attending = asyncio.create_task(session.attend())
        async with asyncio.timeout(10):
            await session.sit_down(TRUTH.table)
            await session.ready()
            with pytest.raises(Problem) as ended:
                await attending
    assert ended.value.code is Exit.NOT_VERIFIED
    assert VANISHED in ended.value.what
    kept = Witness(tmp_path).load(TRUTH.race_id)
    assert kept is not None
    assert any(VANISHED in alarm for alarm in kept.alarms)


@pytest.mark.usefixtures("impatient_checks")
@pytest.mark.parametrize("name", ENDED)
async def test_a_bot_misses_a_race_that_is_taken_away_with_the_table(name: str) -> None:
    report = await bot_raced(ENDED[name])
    assert any(VANISHED in alarm for alarm in report.alarms), report.alarms


@asynccontextmanager
async def lying_to(lie: Lie, *, is_watched: bool = False) -> AsyncIterator[str]:
    """Serve one race to a client that is another process; yield the server's address."""
    async with scripted_server() as server:
        liar = LyingServer(server, TRUTH, lie, is_watched)

        async def serve() -> None:
            await liar.race(await server.peer())

        serving = asyncio.create_task(serve())
        try:
            yield server.url
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)


def import_token(folder: Path, url: str) -> None:
    """Give a client with this folder the token of the racer."""
    path = folder / TOKENS_FOLDER / f"{quote(origin_of(url), safe='')}.token"
    replace_file(path, TOKEN.encode(), mode=OWNER_ONLY)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        *((name, ("join", TRUTH.table, "--plain")) for name in ("honest", *UNVERIFIED)),
        *((name, ("--plain",)) for name in ("honest", "a foreign seed")),
    ],
)
async def test_the_plain_client_writes_the_alarm_and_ends_with_7(
    name: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    lie, sentence = UNVERIFIED.get(name, (Lie(), ""))
    moves = ["cash out yes" if line.text == "cash-out" else line.text for line in OWN.log]
    async with lying_to(lie) as url:
        import_token(tmp_path, url)
        async with line_client(url, tmp_path, *words, nonce=OWN.nonce) as client:
            if "join" not in words:
                client.type(f"join {TRUTH.table}")
            client.type("ready", "wait deal", *moves)
            client.end_input()
            code = await client.ended()
    alarms = [line for line in client.lines if line.startswith("alarm: ")]
    if name == "honest":
        assert f"verified: {TRUTH.race_id} is verified: witnessed here." in client.lines
        assert (code, alarms, client.errors) == (Exit.DONE, [], [])
        return
    assert code == Exit.NOT_VERIFIED
    assert any(sentence in alarm for alarm in alarms), client.lines
    assert any("NOT VERIFIED" in alarm for alarm in alarms), client.lines
    assert any(sentence in line for line in client.errors), "again when the program ends"


@pytest.mark.parametrize("name", ["honest", *UNVERIFIED])
async def test_watch_once_waits_for_the_verdict_and_has_it_in_json(
    name: str, tmp_path: Path
) -> None:
    lie, sentence = UNVERIFIED.get(name, (Lie(), ""))
    words = ("watch", TRUTH.table, "--once", "--json")
    async with lying_to(lie, is_watched=True) as url, line_client(url, tmp_path, *words) as client:
        code = await client.ended()
    last = json.loads(client.lines[-1])
    assert (last["race"], bool(last["digest"])) == (TRUTH.race_id, True)
    assert last["verification"]["race"] == TRUTH.race_id
    if name == "honest":
        assert last["verification"]["verified"], last
        assert (code, last["alarms"], client.errors) == (Exit.DONE, [], [])
        return
    assert code == Exit.NOT_VERIFIED
    assert not last["verification"]["verified"]
    assert any(sentence in alarm for alarm in last["alarms"]), last


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
