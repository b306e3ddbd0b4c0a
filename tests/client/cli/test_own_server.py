"""A server of this program is not closed under others at the table without a question.

Real programs show the same in `tests/end_to_end/test_host_and_join.py`; here are every end and
every answer.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

import click
import pytest

from kit.session_states import CODE, YOU, table
from saratoga_client.cli import host
from saratoga_client.cli.host import STAYS, OwnServer
from saratoga_client.local.hosting import LocalServer
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.table_session import TableSession

URL = "ws://127.0.0.1:7470"
JOIN = f"  saratoga join {URL}/{CODE}"
STILL = f"raj is still at {CODE}."
KICKED = Problem("The host has kicked you.", "Join another table.", Exit.REFUSED)


@dataclass
class Hosted:
    """A server of this program, the questions to the player, and what happened."""

    answer: str | BaseException | None = None
    """The answer to the question; without one the player presses Ctrl-C instead."""
    is_terminal: bool = True
    happened: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def opened(self, is_ours: bool) -> AsyncIterator[LocalServer]:
        yield LocalServer(own=URL, friends=URL, is_ours=is_ours)
        self.happened.append("closed")

    async def ask(self, question: str) -> str:
        self.happened.append("asked")
        if self.answer is None:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.Event().wait()
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer or ""

    def say(self, text: str) -> None:
        self.happened.append(text)
        if text == JOIN:
            asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGINT)

    async def play(
        self, end: BaseException | None = None, *, letters: str = "yor", is_ours: bool = True
    ) -> list[str]:
        """Open the server, leave it with this error, and return what happened."""
        state = SimpleNamespace(table=table(letters), player=YOU)
        async with asyncio.timeout(10):
            try:
                async with OwnServer() as own:
                    await own.open(self.opened(is_ours))
                    own.session = cast(TableSession, SimpleNamespace(state=state))
                    if end is not None:
                        raise end
            except BaseException as error:
                assert error is end, "the error that ended the program stays"  # noqa: PT017
        return self.happened


@pytest.fixture
def hosted(monkeypatch: pytest.MonkeyPatch) -> Hosted:
    hosted = Hosted()
    monkeypatch.setattr(host, "this_terminal", lambda: hosted)
    monkeypatch.setattr(host, "ask", hosted.ask)
    monkeypatch.setattr(host, "say", hosted.say)
    return hosted


async def test_without_other_people_or_a_server_of_our_own_nothing_is_asked(hosted: Hosted) -> None:
    assert await hosted.play(letters="yo") == ["closed"]
    assert await hosted.play(is_ours=False) == ["closed", "closed"]
    assert await hosted.play(SystemExit(129)) == ["closed"] * 3, "a signal ends the program"


@pytest.mark.parametrize(
    ("end", "before", "after"),
    [
        (None, [], []),
        (KICKED, [KICKED.what], []),
        (KeyboardInterrupt(), [], [host.STOPS, "  saratoga host --port 7470"]),
        (asyncio.CancelledError(), [], [host.STOPS, "  saratoga host --port 7470"]),
    ],
    ids=str,
)
async def test_every_end_asks_about_the_people_at_the_table(
    hosted: Hosted, end: BaseException | None, before: list[str], after: list[str]
) -> None:
    hosted.answer = "Yes"
    assert await hosted.play(end) == [*before, STILL, "asked", *after, "closed"]


@pytest.mark.parametrize("answer", ["", "no", click.Abort(), None], ids=str)
async def test_without_a_yes_the_server_stays_until_ctrl_c(
    hosted: Hosted, answer: str | BaseException | None
) -> None:
    hosted.answer = answer
    before = signal.getsignal(signal.SIGINT)
    assert await hosted.play() == [STILL, "asked", STAYS, JOIN, "closed"]
    assert signal.getsignal(signal.SIGINT) is before


async def test_without_a_terminal_the_server_stays_without_a_question(hosted: Hosted) -> None:
    hosted.is_terminal = False
    assert await hosted.play() == [STILL, STAYS, JOIN, "closed"]
