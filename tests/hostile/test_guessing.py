"""Guessing table codes is limited as SECURITY.md says."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest

from kit.listening_server import ListeningServer, listening_server
from kit.player_sockets import player_at
from saratoga_protocol.commands import (
    CreateTable,
    GetRecord,
    JoinTable,
    LeaveTable,
    Resume,
    WatchTable,
)
from saratoga_protocol.events import Snapshot
from saratoga_server.domain.table_codes import FIRST_WORDS, NUMBERS, SECOND_WORDS, table_code
from saratoga_server.rate_limits.rates import PER_ADDRESS, PER_PLAYER, Action
from saratoga_server.store.opening import Store

SECURITY = Path(__file__).parents[2] / "SECURITY.md"
DAY = 24 * 60 * 60


@pytest.fixture
async def server(valkey: Store) -> AsyncIterator[ListeningServer]:
    async with listening_server(valkey) as opened:
        yield opened


def wrong_codes(right: str) -> list[str]:
    """Return wrong codes that an attacker might try."""
    chance = Random("guesses")
    codes = (table_code(chance.randrange) for _ in range(50))
    return [code for code in codes if code != right]


@pytest.mark.parametrize("kind", [WatchTable, JoinTable, Resume, LeaveTable, GetRecord])
async def test_after_a_few_wrong_codes_the_right_one_is_refused_too(
    server: ListeningServer, kind: type[WatchTable] | type[GetRecord]
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
        assert isinstance(await anna.ask(WatchTable, table=right), Snapshot)


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
