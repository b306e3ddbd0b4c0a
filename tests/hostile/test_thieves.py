"""Tokens, sessions and table codes in wrong hands: guessed, stolen, replayed; and one person with two tokens.

SECURITY.md says what a victim can do: take the seat back at once, or have the server's administrator
forget or ban the stolen player, which also locks out the thief.
"""

import re
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from random import Random

import pytest

from kit.in_process_server import counted_down, gathered
from kit.listening_server import ListeningServer, listening_server
from kit.player_sockets import SocketPlayer, connected_player, player_at
from kit.players import token_of
from kit.secrecy import check_frame
from saratoga_protocol.commands import (
    CashOut,
    ClaimName,
    Command,
    CreateTable,
    GetRecord,
    Hello,
    JoinTable,
    LeaveTable,
    MakeMove,
)
from saratoga_protocol.events import (
    BoardChanged,
    Event,
    RaceOver,
    Record,
    Refused,
    Snapshot,
    Standings,
    Welcome,
)
from saratoga_protocol.refusals import TAKEN_OVER
from saratoga_server.admin.acts import Administration
from saratoga_server.domain.table_codes import FIRST_WORDS, NUMBERS, SECOND_WORDS, table_code
from saratoga_server.limits import PER_ADDRESS, PER_PLAYER, Action
from saratoga_server.node import Node
from saratoga_server.store.opening import Store


@pytest.fixture
async def server(valkey: Store, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ListeningServer]:
    """A server with short countdowns."""
    monkeypatch.setattr("saratoga_server.domain.tables.countdown.CALL_MILLIS", 1)
    monkeypatch.setattr("saratoga_server.domain.tables.countdown.COUNTDOWN_MILLIS", 50)
    async with listening_server(valkey) as opened:
        yield opened


@asynccontextmanager
async def thief_of(server: ListeningServer, victim: str) -> AsyncIterator[SocketPlayer]:
    """Connect a second client with the token of that player."""
    async with player_at(server.url, victim) as came:
        yield came


async def racing(server: ListeningServer, *racers: SocketPlayer) -> str:
    """Start a race; return the table's code."""
    code = await gathered(*racers)
    await counted_down(*racers)
    for racer in racers:
        await racer.received.next(BoardChanged, 0, entries=[])
    return code


async def test_an_unknown_token_is_a_new_player(server: ListeningServer) -> None:
    async with (
        player_at(server.url, "Anna") as anna,
        connected_player(server.url, "Mallory") as mallory,
    ):
        await anna.at_table(CreateTable, game="canfield")
        nearly = anna.token[:-1] + ("0" if anna.token[-1] != "0" else "1")
        welcome = await mallory.ask(Hello, token=nearly)
        assert isinstance(welcome, Welcome)
        assert welcome.player != anna.player
        assert (welcome.name, welcome.table) == (None, None)
        assert await mallory.refused(CreateTable, game="canfield") == "name_needed"


async def test_a_token_that_only_matches_the_player_id_is_refused(
    server: ListeningServer, valkey: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A player id has 80 bits of the token's hash; a token that shares only these is refused."""
    async with (
        player_at(server.url, "Anna") as anna,
        connected_player(server.url, "Mallory") as mallory,
    ):
        monkeypatch.setattr(
            "saratoga_server.handlers.identity.player_id", lambda token: anna.player
        )
        assert await mallory.refused(Hello, token=secrets.token_hex(32)) == "wrong_token"


async def test_the_owner_of_a_stolen_token_is_notified_and_takes_the_seat_back(
    server: ListeningServer,
) -> None:
    async with player_at(server.url, "Anna", legal=True) as anna:
        code = await racing(server, anna)
        board = (await anna.moves("draw")).board
        async with thief_of(server, "Anna") as thief:
            # Before the takeover both connections may watch, but only the holder of the seat may move.
            answer = await thief.ask(MakeMove, race=board.race, after=1, move="draw")
            assert isinstance(answer, Refused)
            assert answer.code == "not_seated"
            await thief.at_table(JoinTable, table=code)
            assert (await anna.closed())[0] == TAKEN_OVER.code
            async with player_at(server.url, "Anna", legal=True) as again:
                back = await again.at_table(JoinTable, table=code)
                assert back.board is not None
                assert back.board.count == 1
                assert (await thief.closed())[0] == TAKEN_OVER.code
                await again.moves("draw")


async def test_forgetting_a_stolen_player_locks_out_the_thief(
    server: ListeningServer, valkey: Store
) -> None:
    async with player_at(server.url, "Anna") as anna:
        player = anna.player
    table_cache = (await Node.for_administration(valkey)).tables
    office = Administration(valkey, table_cache, "the host")
    await office.forget(player)
    async with player_at(server.url, "Mallory") as mallory:
        # Nobody gets the name, until the host gives it to the victim, who has a new token.
        async with connected_player(server.url, "Anna") as owner:
            owner.token = secrets.token_hex(32)
            assert await owner.refused(Hello, token=owner.token, name="Anna") == "name_taken"
            await owner.hello(name="Anna Zwei")
            await office.rename(owner.player, "Anna")
        async with connected_player(server.url, "Anna") as again:
            again.token = owner.token
            assert (await again.hello()).name == "Anna"
        # The server does not know the stolen token any more: the thief has no name and no seat.
        async with connected_player(server.url, "Anna") as thief:
            thief.token = token_of("Anna")
            assert await thief.refused(Hello, token=thief.token, name="Anna") == "name_taken"
            welcome = await thief.ask(Hello, token=thief.token)
            assert (welcome.name, welcome.table) == (None, None)
        assert mallory.name == "Mallory"


async def said_by(player: SocketPlayer, *commands: Command) -> list[Event]:
    """Send these commands unchanged; return the responses."""
    return [await player.send(command) for command in commands]


async def test_commands_of_another_session_do_not_affect_its_player(
    server: ListeningServer,
) -> None:
    async with AsyncExitStack() as stack:
        anna, bert, mallory = [
            await stack.enter_async_context(player_at(server.url, name))
            for name in ("Anna", "Bert", "Mallory")
        ]
        code = await racing(server, anna, bert)
        race = f"{code}/1"
        played = MakeMove(id=anna.last_id + 1, race=race, after=0, move="draw")
        overheard: list[Command] = [
            played,
            MakeMove(id=played.id + 1, race=race, after=1, move="draw"),
            CashOut(id=played.id + 2, race=race),
            LeaveTable(id=played.id + 3, table=code),
        ]
        await anna.send(played)
        answers = await said_by(mallory, *overheard)
        assert {answer.code for answer in answers if isinstance(answer, Refused)} == {"not_seated"}
        assert len(answers) == len(overheard)
        made = await anna.moves("draw")
        assert (made.board.count, made.board.state) == (2, "racing")


async def test_a_replayed_session_is_answered_and_not_carried_out_again(
    server: ListeningServer,
) -> None:
    """An eavesdropper on a connection without TLS has the token, but a replayed session changes nothing."""
    async with player_at(server.url, "Anna") as anna:
        code = await racing(server, anna)
        moves = [
            MakeMove(id=anna.last_id + 1 + after, race=f"{code}/1", after=after, move="draw")
            for after in range(3)
        ]
        for move in moves:
            assert isinstance(await anna.send(move), BoardChanged)
        async with connected_player(server.url, "Anna") as replay:
            await replay.send(Hello(id=1, token=anna.token))
            await replay.send(JoinTable(id=2, table=code))
            again = [await replay.send(move) for move in moves]
        assert all(isinstance(answer, BoardChanged) for answer in again)
        assert {answer.board.count for answer in again if isinstance(answer, BoardChanged)} == {3}


async def test_a_second_token_shows_no_more_than_any_rival_sees(server: ListeningServer) -> None:
    """Two seats of one person are treated as two people: neither is shown the other's cards."""
    async with AsyncExitStack() as stack:
        anna, shadow = [
            await stack.enter_async_context(player_at(server.url, name))
            for name in ("Anna", "Bert")
        ]
        wanda = await stack.enter_async_context(player_at(server.url, "Wanda"))
        code = await racing(server, anna, shadow)
        await wanda.at_table(JoinTable, table=code, seat=False)
        since = len(shadow.received.events)
        await anna.moves("draw", "draw")
        await shadow.received.next(Standings, 0)
        for frame in (*shadow.received.frames[since:], *wanda.received.frames):
            check_frame(frame, [])


async def test_boards_stay_closed_to_a_racer_who_has_ended_until_the_race_is_over(
    server: ListeningServer,
) -> None:
    """The others still play the same deal, so neither the ended racer nor a watcher is shown it."""
    async with AsyncExitStack() as stack:
        anna, shadow, wanda = [
            await stack.enter_async_context(player_at(server.url, name))
            for name in ("Anna", "Bert", "Wanda")
        ]
        code = await racing(server, anna, shadow)
        await wanda.at_table(JoinTable, table=code, seat=False)
        ended = await shadow.ask(CashOut, race=f"{code}/1")
        assert isinstance(ended, BoardChanged)
        since = len(shadow.received.events)
        await anna.moves("draw", "draw")
        for reader in (shadow, wanda):
            assert await reader.refused(GetRecord, race=f"{code}/1") == "race_running"
        await shadow.received.next(Standings, since)
        for frame in (*shadow.received.frames[since:], *wanda.received.frames):
            check_frame(frame, [])
        await anna.ask(CashOut, race=f"{code}/1")
        over = await shadow.received.next(RaceOver, 0)
        assert over.outcome.seed
        assert isinstance(await wanda.ask(GetRecord, race=f"{code}/1"), Record)


async def test_one_player_holds_one_seat_however_many_connections_there_are(
    server: ListeningServer,
) -> None:
    async with player_at(server.url, "Anna") as anna, player_at(server.url, "Anna") as second:
        await anna.at_table(CreateTable, game="canfield", key="a" * 32)
        # A command with the same key is the same command, and creates no second table.
        again = await second.at_table(CreateTable, game="canfield", key="a" * 32)
        assert again.table.code == anna.table.code
        assert await second.refused(CreateTable, game="canfield") == "elsewhere"


IMPOSTORS = (
    *("anna", "ANNA", "An\u0578a", "\u0410nna", "A\u043fna", "Anna\u200b", "An\u00adna"),
    *("\u202eannA", "Anna ", " Anna", "Anna\u00a0", "\uff21nna", "\U0001d400nna"),
    *("Ann\u0430", "Anna\ufe0f", "A\u200dnna"),
)
RESERVED_NAMES = (
    *("house", "Host", "BOT", "bots", "server", "dealer", "Saratoga", "admin", "Admin Anna"),
    *("root", "sar\u0430toga", "B0T", "Mod", "system", "everyone", "nobody", "official"),
    *("[bot]", "Anna [bot]"),
)


async def test_names_like_another_player_s_or_the_server_s_are_refused(
    server: ListeningServer,
) -> None:
    no = ("name_taken", "bad_name")
    async with player_at(server.url, "Anna"), player_at(server.url, "Mallory") as mallory:
        assert await mallory.refused(ClaimName, name="\u0410nna") in no
        for name in (*IMPOSTORS, *RESERVED_NAMES):
            async with connected_player(server.url, "another") as another:
                assert await another.refused(Hello, token=secrets.token_hex(32), name=name) in no


SECURITY = Path(__file__).parents[2] / "SECURITY.md"
DAY = 24 * 60 * 60


def wrong_codes(right: str) -> list[str]:
    """Return wrong codes that an attacker might try."""
    chance = Random("guesses")
    codes = (table_code(chance.randrange) for _ in range(50))
    return [code for code in codes if code != right]


@pytest.mark.parametrize("kind", [JoinTable, LeaveTable, GetRecord])
async def test_after_a_few_wrong_codes_the_right_one_is_refused_too(
    server: ListeningServer, kind: type[object]
) -> None:
    async with player_at(server.url, "Anna") as anna, player_at(server.url, "Mallory") as mallory:
        right = (await anna.at_table(CreateTable, game="canfield")).table.code
        guesses = wrong_codes(right)
        burst = int(PER_PLAYER[Action.WRONG_CODE].burst)
        said = [await tried(mallory.refused, kind, code) for code in guesses[: burst + 1]]
        assert said[-1] == "too_fast"
        assert set(said[:-1]) <= {"no_such_table", "no_such_race", "not_seated"}
        assert await tried(mallory.refused, kind, right) == "too_fast"
        # A player who joins by the right code has not guessed, and is admitted.
        assert isinstance(await anna.ask(JoinTable, table=right, seat=False), Snapshot)


async def tried(refused: object, kind: type[object], code: str) -> str:
    assert callable(refused)
    named = {"race": f"{code}/1"} if kind is GetRecord else {"table": code}
    answer = await refused(kind, **named)
    assert isinstance(answer, str)
    return answer


def test_the_page_says_what_guessing_takes() -> None:
    codes = len(FIRST_WORDS) * len(SECOND_WORDS) * NUMBERS
    pace = PER_ADDRESS[Action.WRONG_CODE]
    a_day = int(pace.burst + DAY / pace.every)
    page = " ".join(SECURITY.read_text().split())
    assert f"{codes:,} codes" in page
    assert f"{a_day:,} guesses a day" in page
    chance = re.search(r"a chance of one in ([0-9]+)", page)
    assert chance is not None
    assert int(chance[1]) == round(codes / a_day)


def test_every_test_that_the_page_names_exists() -> None:
    text = SECURITY.read_text()
    named = set(re.findall(r"`(tests/[a-z_/]+(?:\.py)?)`", text))
    assert len(named) > 12
    assert [path for path in sorted(named) if not (SECURITY.parent / path).exists()] == []
    tests = {path.name for path in (SECURITY.parent / "tests").rglob("test_*.py")}
    assert set(re.findall(r"`(test_[a-z_]+\.py)`", text)) <= tests
