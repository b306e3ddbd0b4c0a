"""Tokens, sessions and table codes in wrong hands: guessed, stolen, replayed; and one person with two tokens.

SECURITY.md says what a victim can do: take the seat back at once, or have the server's
administrator forget or ban the stolen player, which also locks out the thief.
"""

import re
import secrets
from contextlib import AsyncExitStack
from pathlib import Path

from kit.in_process_server import ListeningServer, counted_down, gathered
from kit.players import SocketPlayer, connected_player, player_at, token_of
from kit.secrecy import check_frame
from saratoga_protocol.commands import (
    CashOut,
    Command,
    GetRecord,
    Hello,
    JoinTable,
    LeaveTable,
    MakeMove,
)
from saratoga_protocol.events import BoardChanged, Event, RaceOver, Record, Refused, Standings
from saratoga_protocol.refusals import TAKEN_OVER
from saratoga_server.admin.acts import Administration
from saratoga_server.domain.table_codes import FIRST_WORDS, NUMBERS, SECOND_WORDS
from saratoga_server.limits import PER_ADDRESS, Action
from saratoga_server.node import Node
from saratoga_server.store.opening import Store


async def racing(*racers: SocketPlayer) -> str:
    """Start a race; return the table's code."""
    code = await gathered(*racers)
    await counted_down(*racers)
    for racer in racers:
        await racer.received.next(BoardChanged, 0, entries=[])
    return code


async def test_the_owner_of_a_stolen_token_is_notified_and_takes_the_seat_back(
    listener: ListeningServer,
) -> None:
    async with player_at(listener.url, "Anna", legal=True) as anna:
        code = await racing(anna)
        board = (await anna.moves("draw")).board
        async with player_at(listener.url, "Anna") as thief:
            # Before the takeover both connections may watch, but only the holder of the seat may move.
            answer = await thief.ask(MakeMove, race=board.race, after=1, move="draw")
            assert isinstance(answer, Refused)
            assert answer.code == "not_seated"
            await thief.at_table(JoinTable, table=code)
            assert (await anna.closed())[0] == TAKEN_OVER.code
            async with player_at(listener.url, "Anna", legal=True) as again:
                back = await again.at_table(JoinTable, table=code)
                assert back.board is not None
                assert back.board.count == 1
                assert (await thief.closed())[0] == TAKEN_OVER.code
                await again.moves("draw")


async def test_forgetting_a_stolen_player_locks_out_the_thief(
    listener: ListeningServer, valkey: Store
) -> None:
    async with player_at(listener.url, "Anna") as anna:
        player = anna.player
    table_cache = (await Node.for_administration(valkey)).tables
    office = Administration(valkey, table_cache, "the host")
    await office.forget(player)
    async with player_at(listener.url, "Mallory") as mallory:
        # Nobody gets the name, until the host gives it to the victim, who has a new token.
        async with connected_player(listener.url, "Anna") as owner:
            owner.token = secrets.token_hex(32)
            assert await owner.refused(Hello, token=owner.token, name="Anna") == "name_taken"
            await owner.hello(name="Anna Zwei")
            await office.rename(owner.player, "Anna")
        async with connected_player(listener.url, "Anna") as again:
            again.token = owner.token
            assert (await again.hello()).name == "Anna"
        # The server does not know the stolen token any more: the thief has no name and no seat.
        async with connected_player(listener.url, "Anna") as thief:
            thief.token = token_of("Anna")
            assert await thief.refused(Hello, token=thief.token, name="Anna") == "name_taken"
            welcome = await thief.ask(Hello, token=thief.token)
            assert (welcome.name, welcome.table) == (None, None)
        assert mallory.name == "Mallory"


async def said_by(player: SocketPlayer, *commands: Command) -> list[Event]:
    """Send these commands unchanged; return the responses."""
    return [await player.send(command) for command in commands]


async def test_commands_of_another_session_do_not_affect_its_player(
    listener: ListeningServer,
) -> None:
    async with AsyncExitStack() as stack:
        anna, bert, mallory = [
            await stack.enter_async_context(player_at(listener.url, name))
            for name in ("Anna", "Bert", "Mallory")
        ]
        code = await racing(anna, bert)
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


async def test_boards_stay_closed_to_a_racer_who_has_ended_until_the_race_is_over(
    listener: ListeningServer,
) -> None:
    """The others still play the same deal, so neither the ended racer, their second token perhaps, nor a watcher is shown it."""
    async with AsyncExitStack() as stack:
        anna, shadow, wanda = [
            await stack.enter_async_context(player_at(listener.url, name))
            for name in ("Anna", "Bert", "Wanda")
        ]
        code = await racing(anna, shadow)
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


SECURITY = Path(__file__).parents[2] / "SECURITY.md"
DAY = 24 * 60 * 60


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
