"""Open races: days and challenges, their runs, what each player may see of them, and their closing records."""

import secrets
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import pytest

from kit.in_process_server import InProcessServer
from kit.players import MemoryPlayer
from kit.positions import banking
from kit.secrecy import ODD_MOVES, check_frame, check_secrets, followed, opened
from saratoga_protocol.codec import JSON, MSGPACK
from saratoga_protocol.commands import (
    CreateChallenge,
    CreateTable,
    EnterOpen,
    GetOpen,
    GetRecord,
    JoinTable,
    LeaveTable,
    NextRace,
)
from saratoga_protocol.events import (
    OpenRace,
    OpenRaceShown,
    RaceOver,
    Record,
    Snapshot,
    Standings,
)
from saratoga_rules.dealing.fairness import commitment
from saratoga_rules.games import GAMES
from saratoga_rules.moves import parse_move
from saratoga_rules.records.record import RaceRecord, format_record, parse_record
from saratoga_rules.records.verify import verify
from saratoga_server.domain.open_races import (
    CAP,
    DAYS_AHEAD,
    MOST_GHOSTS,
    OpenState,
    date_of,
    day_id,
    ghosts_for,
)
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS, MINUTE
from saratoga_server.ports import Millis, Run

DAY_MILLIS = 24 * 60 * MINUTE


def today(server: InProcessServer, game: str = "klondike") -> str:
    return day_id(game, date_of(Millis(server.time.at)))


def until_midnight(server: InProcessServer) -> int:
    return DAY_MILLIS - server.time.at % DAY_MILLIS


async def seen(player: MemoryPlayer, race: str) -> OpenRace:
    answer = await player.ask(GetOpen, open=race)
    assert isinstance(answer, OpenRaceShown), answer
    return answer.open


async def run(server: InProcessServer, player: MemoryPlayer, race: str) -> Snapshot:
    """Enter an open race and wait until the deal has come."""
    snapshot = await player.at_table(EnterOpen, open=race)
    await server.pass_time(COUNTDOWN_MILLIS)
    assert player.board.state == "racing"
    return snapshot


async def bank(server: InProcessServer, player: MemoryPlayer, most: int) -> int:
    """Make up to `most` moves that bank a card, a second apart, drawing between them; return the count."""
    start = player.board.banked
    for _ in range(80):
        legal = player.board.legal or []
        up = [text for text in legal if ">up" in text]
        if not up and "draw" not in legal:
            break
        await server.pass_time(1000)
        await player.moves(up[0] if up else "draw")
        if player.board.banked - start >= most:
            break
    return player.board.banked


async def end(player: MemoryPlayer) -> RaceOver:
    """Cash out and wait for the result."""
    since = len(player.received.events)
    await player.cash_out()
    return await player.expect(RaceOver, since)


async def closed_record(server: InProcessServer, player: MemoryPlayer, race: str) -> RaceRecord:
    answer = await player.ask(GetRecord, race=race)
    assert isinstance(answer, Record), answer
    verdict = verify(answer.text)
    assert verdict.ok, verdict.faults
    assert format_record(parse_record(answer.text)) == answer.text
    return parse_record(answer.text)


@pytest.fixture(autouse=True)
def _same_deals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deal the same days and challenges in every run."""
    random = Random(3)
    monkeypatch.setattr(secrets, "token_bytes", random.randbytes)


@pytest.fixture
async def anna(server: InProcessServer) -> MemoryPlayer:
    player = await server.player("Anna", legal=True)
    await server.pass_time(1000)
    return player


async def test_a_run_of_the_day_is_a_race_of_ones_own(
    server: InProcessServer, anna: MemoryPlayer
) -> None:
    race = today(server)
    before = await seen(anna, race)
    assert (before.entrants, before.mine, before.results) == (0, "", [])
    snapshot = await run(server, anna, race)
    assert (snapshot.table.open, snapshot.table.commitment) == (race, before.commitment)
    assert snapshot.table.start_at + CAP * MINUTE == snapshot.table.deadline
    banked = await bank(server, anna, 2)
    assert (await seen(anna, race)).results == []
    over = await end(anna)
    assert [row.banked for row in over.outcome.results] == [banked]
    assert (over.outcome.seed, over.outcome.nonces, over.outcome.digest) == ("", {}, "")
    after = await seen(anna, race)
    assert after.mine == "cash-out"
    assert after.counts[banked] == 1
    assert len(after.climb) == banked == len(after.middle)
    assert after.streak == 1
    assert await anna.refused(EnterOpen, open=race) == "entered"
    assert await anna.refused(NextRace, table=snapshot.table.code) == "wrong_phase"
    assert await anna.refused(GetRecord, race=race) == "race_running"


async def test_the_days_ahead_are_committed_to_and_keep_their_commitments(
    server: InProcessServer, anna: MemoryPlayer
) -> None:
    promised: dict[str, str] = {}
    for game in GAMES:
        answer = await anna.ask(GetOpen, open=today(server, game))
        assert len(answer.days) == DAYS_AHEAD + 1
        promised |= {day.open: day.commitment for day in answer.days}
    assert await anna.refused(EnterOpen, open=list(promised)[1]) == "no_such_open"
    await server.pass_time(until_midnight(server))
    answer = await anna.ask(GetOpen, open=today(server))
    assert [promised.get(day.open, day.commitment) for day in answer.days] == [
        day.commitment for day in answer.days
    ]


async def test_a_run_goes_on_while_its_player_is_away_and_another_server_gives_it_back(
    server: InProcessServer, anna: MemoryPlayer
) -> None:
    race = today(server)
    await run(server, anna, race)
    banked = await bank(server, anna, 1)
    await server.pass_time(5 * MINUTE)
    await server.restart()
    again = await server.player("Anna", legal=True)
    snapshot = await again.at_table(EnterOpen, open=race)
    assert snapshot.board is not None
    assert snapshot.board.banked == banked
    await again.disconnect()
    await server.pass_time(6 * MINUTE)
    third = await server.player("Anna")
    shown = await seen(third, race)
    assert (shown.mine, shown.results[0].banked) == ("out-of-time", banked)


async def test_a_day_closes_after_its_last_run_and_its_record_is_verified(
    server: InProcessServer, anna: MemoryPlayer
) -> None:
    race, ben = today(server), await server.player("Ben", legal=True)
    zora = await server.player("Zora", bot=True, legal=True)
    promised = (await seen(anna, race)).commitment
    await run(server, ben, race)
    await bank(server, ben, 3)
    await ben.cash_out()
    await server.pass_time(until_midnight(server) - 2 * MINUTE)
    for player in (anna, zora):
        await run(server, player, race)
        await bank(server, player, 1)
    await server.pass_time(2 * MINUTE)
    assert await ben.refused(GetRecord, race=race) == "race_running"
    late = await server.player("Lara")
    assert await late.refused(EnterOpen, open=race) == "open_closed"
    await zora.ask(LeaveTable, table=zora.table.code)
    await server.pass_time(12 * MINUTE)
    record = await closed_record(server, ben, race)
    assert {racer.name: len(racer.log) > 0 for racer in record.racers} == {
        "Anna": True,
        "Ben": True,
        "Zora": True,
    }
    assert {row.state for row in record.results} == {"cash-out", "out-of-time", "left"}
    assert (
        record.commitment
        == promised
        == commitment(
            bytes.fromhex(record.seed),
            "klondike",
            record.rules_version,
            race,
            1,
            cap=CAP,
            public=True,
        )
    )
    shown = await seen(late, race)
    assert len(shown.results) == 3
    assert shown.digest


async def test_a_challenge_shows_ghosts_up_to_ones_own_elapsed_time(
    server: InProcessServer, anna: MemoryPlayer
) -> None:
    ben = await server.player("Ben", legal=True)
    answer = await anna.ask(CreateChallenge, game="lafayette", key="ab" * 16)
    race = answer.open.id
    assert (await anna.ask(CreateChallenge, game="lafayette", key="ab" * 16)).open.id == race
    assert (answer.open.by, answer.open.closes - answer.open.opened) == ("Anna", 7 * DAY_MILLIS)
    await run(server, anna, race)
    banked = await bank(server, anna, 3)
    await end(anna)
    climb = (await seen(anna, race)).climb
    snapshot = await run(server, ben, race)
    assert [(racer.name, racer.ghost) for racer in snapshot.table.racers] == [
        ("Ben", False),
        ("Anna", True),
    ]
    assert len(climb) == banked - ben.board.banked
    start, told = server.time.at, []
    for _ in range(climb[-1] // 1000 + 2):
        await server.pass_time(1000)
        await server.node.scheduler._tick()  # noqa: SLF001 - the tick that time alone would bring
        for event in ben.received.all(Standings):
            told += [row.banked for row in event.standings if row.player == anna.player]
        elapsed = server.time.at - start
        assert max(told) <= ben.board.banked + sum(at <= elapsed for at in climb)
    assert told[-1] == banked
    await end(ben)
    assert [row.name for row in (await seen(ben, race)).results] == ["Anna", "Ben"]
    await server.pass_time(7 * DAY_MILLIS + 15 * MINUTE)
    assert {racer.name for racer in (await closed_record(server, ben, race)).racers} == {
        "Anna",
        "Ben",
    }


def test_ghosts_are_the_challengers_and_the_best_of_the_others_that_have_ended() -> None:
    race = OpenState(
        id="challenge-1", kind="challenge", game="canfield", rules=2, seed="",
        opened=Millis(0), closes=Millis(1), by="by",
    )  # fmt: skip
    runs = [
        Run(player=player, name=player, table="t", state=state, banked=banked)
        for player, state, banked in (
            *((f"p{banked}", "cash-out", banked) for banked in range(10, 22)),
            ("by", "stuck", 3),
            ("own", "cash-out", 30),
            ("racing", "racing", 40),
        )
    ]
    shown = [run.player for run in ghosts_for(race, runs, "own")]
    assert shown == ["by", *(f"p{banked}" for banked in range(21, 22 - MOST_GHOSTS, -1))]


async def test_a_deal_just_raced_is_a_challenge_without_a_commitment(
    server: InProcessServer, anna: MemoryPlayer
) -> None:
    ben, cleo = await server.player("Ben", legal=True), await server.player("Cleo", legal=True)
    code = await server.race(anna, ben, game="klondike")
    dealt = anna.board.view
    await bank(server, anna, 1)
    await ben.cash_out()
    await end(anna)
    for player in (anna, ben):
        await player.ask(LeaveTable, table=code)
    given: dict[str, Any] = {"game": "klondike", "race": f"{code}/1", "key": "cd" * 16}
    assert await cleo.refused(CreateChallenge, **given) == "not_racing"
    opened = (await anna.ask(CreateChallenge, **given)).open
    assert (opened.kind, opened.commitment) == ("known", "")
    assert [row.name for row in opened.results] == ["Anna"]
    assert await anna.refused(EnterOpen, open=opened.id) == "entered"
    snapshot = await run(server, cleo, opened.id)
    assert [racer.name for racer in snapshot.table.racers] == ["Cleo", "Anna"]
    assert cleo.board.view == dealt
    await end(cleo)
    assert {row.name for row in (await seen(anna, opened.id)).results} == {"Anna", "Cleo"}
    await server.pass_time(7 * DAY_MILLIS + 15 * MINUTE)
    record = await closed_record(server, cleo, opened.id)
    raced = await closed_record(server, cleo, f"{code}/1")
    assert record.deal == raced.deal


async def test_a_run_frees_its_seat_once_it_has_ended(
    server: InProcessServer, anna: MemoryPlayer
) -> None:
    race, ben = today(server), await server.player("Ben")
    snapshot = await run(server, anna, race)
    code = snapshot.table.code
    assert await anna.refused(CreateTable, game="canfield", key="ef" * 16) == "elsewhere"
    assert await ben.refused(JoinTable, table=code) == "table_full"
    assert await ben.refused(JoinTable, table=code, seat=False) == "table_full"
    await end(anna)
    assert await anna.refused(CreateTable, game="canfield") == "store_unavailable"
    await anna.at_table(CreateTable, game="canfield")


async def test_streaks_count_days_on_which_a_server_ran(
    server: InProcessServer, anna: MemoryPlayer
) -> None:
    async def play() -> int:
        await run(server, anna, today(server))
        await end(anna)
        await anna.ask(LeaveTable, table=anna.table.code)
        return (await seen(anna, today(server))).streak

    async def sleep(days: int) -> None:
        await server.pass_time(until_midnight(server) + (days - 1) * DAY_MILLIS + MINUTE)

    assert await play() == 1
    await sleep(1)
    assert await play() == 2
    await sleep(4)  # the server was off for three days
    assert await play() == 3
    missed = day_id("klondike", date_of(Millis(server.time.at - 2 * DAY_MILLIS)))
    assert (await closed_record(server, anna, missed)).racers == ()
    await sleep(1)
    await sleep(1)
    assert (await seen(anna, today(server))).streak == 0
    assert await play() == 1


async def test_a_changed_record_of_an_open_race_is_contradicted(
    server: InProcessServer, anna: MemoryPlayer
) -> None:
    race, ben = today(server), await server.player("Ben", legal=True)
    for player in (anna, ben):
        await run(server, player, race)
        await bank(server, player, 2)
        await player.cash_out()
    await server.pass_time(until_midnight(server) + 15 * MINUTE)
    record = await closed_record(server, anna, race)
    first, *others = record.racers
    for changed, check in (
        (replace(record, seed="00" * 32), "commitment"),
        (replace(record, closes=record.start_at - 60_000), "times"),
        (replace(record, racers=(first,)), "finish"),
        (replace(record, results=record.results[:1]), "finish"),
        (replace(record, racers=(replace(first, log=first.log[1:]), *others)), "numbers"),
    ):
        faults = verify(changed).faults
        assert faults
        assert faults[0].name == check


RUNS = 5
"""Runs of each game whose frames are searched."""


@dataclass
class Heard:
    """What a player has received until its own run has ended."""

    start: int = 0
    """When the run started, in milliseconds since 1970 UTC; 0 before."""
    frames: list[tuple[int, bytes | str]] = field(default_factory=list)
    """Frames with the player's elapsed time when they were there."""


async def random_runs(
    server: InProcessServer, players: list[MemoryPlayer], race: str, chance: Random
) -> dict[str, Heard]:
    """Run an open race in random order, up to three at once, by players who ask for all they can.

    Returns by player what it has received.
    """
    waiting, racing, codes = list(players), list[MemoryPlayer](), list[str]()
    heard = {player.player: Heard() for player in players}
    read = dict.fromkeys(heard, 0)
    while waiting or racing:
        dice = chance.random()
        if waiting and len(racing) < 3 and (not racing or dice < 0.1):
            runner = waiting.pop()
            table = (await run(server, runner, race)).table
            codes.append(table.code)
            heard[runner.player].start = table.start_at
            racing.append(runner)
        elif dice < 0.2:
            await seen(chance.choice(players), race)
            snoop = chance.choice(players)
            if snoop not in racing:
                await snoop.exchange(JoinTable(id=10**6, table=chance.choice(codes), seat=False))
        elif dice < 0.5:
            await server.pass_time(chance.randrange(200, 9000))
            await server.node.scheduler._tick()  # noqa: SLF001 - the tick that time alone would bring
        else:
            await one_move(chance.choice(racing), chance)
        racing = [runner for runner in racing if runner.board.state == "racing"]
        for player in players:
            own, frames = heard[player.player], player.received.frames
            if player in racing or player in waiting:
                elapsed = server.time.at - own.start
                own.frames += [(elapsed, frame) for frame in frames[read[player.player] :]]
            read[player.player] = len(frames)
    return heard


async def one_move(runner: MemoryPlayer, chance: Random) -> None:
    """Make a move, at times an odd one, or cash out."""
    legal = [parse_move(text) for text in runner.board.legal or []]
    if not legal or chance.random() < 0.02:
        await runner.cash_out()
    else:
        odd = chance.random() < 0.1
        await runner.move(chance.choice(ODD_MOVES) if odd else str(banking(legal, chance)))


@pytest.mark.parametrize("game", GAMES)
async def test_no_frame_shows_a_card_or_a_count_beyond_ones_own_time(
    server: InProcessServer, game: str
) -> None:
    players = [
        await server.player(f"Runner {n}", legal=True, subprotocol=(JSON, MSGPACK)[n % 2])
        for n in range(RUNS)
    ]
    race = (await players[0].ask(CreateChallenge, game=game, key="ef" * 16)).open.id
    heard = await random_runs(server, players, race, Random(game))
    secret = await server.real.open_races.load(race)
    assert secret is not None
    await server.pass_time(7 * DAY_MILLIS + 15 * MINUTE)
    ways = followed(await closed_record(server, players[0], race))
    ghosts = 0
    for player, own in heard.items():
        check_secrets((frame for _, frame in own.frames), [secret.seed, secret.key.hex()])
        for elapsed, frame in own.frames:
            check_frame(frame, [position for _, position in ways[player]])
            event = opened(frame)
            assert not {"results", "counts", "climb", "middle"} & event.get("open", {}).keys()
            rows = [row for row in event.get("standings", []) if row["player"] != player]
            for row in rows:
                way = ways[row["player"]]
                assert row["banked"] <= max(after.banked for at, after in way if at <= elapsed)
            ghosts += len(rows)
    assert ghosts > RUNS
