"""A server of this program is not closed under others at the table without a question."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

import click
import pytest

from kit.session_states import CODE, YOU, table
from saratoga_client.cli import own_server
from saratoga_client.cli.own_server import STAYS, OwnServer
from saratoga_client.local.hosting import LocalServer
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.table_session import TableSession

URL = "ws://127.0.0.1:7470"
KICKED = Problem("The host has kicked you.", "Join another table.", Exit.REFUSED)


@dataclass
class Hosted:
    """A server of this program, with the questions to the player and what happened."""

    letters: str = "yo"
    """Who is at the table: the player `y`, a bot `o`, perhaps raj."""
    is_ours: bool = True
    answers: list[bool | BaseException] = field(default_factory=list)
    happened: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[LocalServer]:
        yield LocalServer(own=URL, friends=URL, is_ours=self.is_ours)
        self.happened.append("closed")

    @property
    def session(self) -> TableSession:
        """The player's seat at the table."""
        state = SimpleNamespace(table=table(self.letters), player=YOU)
        return cast(TableSession, SimpleNamespace(state=state))

    async def confirm(self, question: str) -> bool:
        self.happened.append("asked")
        if not self.answers:
            # the player presses Ctrl-C instead
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.Event().wait()
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def say(self, text: str) -> None:
        self.happened.append(text)
        if text.startswith("  saratoga join"):
            asyncio.get_running_loop().call_soon(self.interrupt)

    def interrupt(self) -> None:
        """Press Ctrl-C, if the server is still open."""
        if "closed" not in self.happened:
            self.happened.append("Ctrl-C")
            os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def hosted(monkeypatch: pytest.MonkeyPatch) -> Hosted:
    hosted = Hosted()

    class Terminal:
        is_terminal = True

    monkeypatch.setattr(own_server, "this_terminal", Terminal)
    monkeypatch.setattr(own_server, "confirm", hosted.confirm)
    monkeypatch.setattr(own_server, "say", hosted.say)
    return hosted


async def play(hosted: Hosted, end: BaseException | None = None) -> None:
    """Open the server, and leave it with this error."""
    async with asyncio.timeout(10), OwnServer() as own:
        await own.open(hosted.opened())
        own.session = hosted.session
        if end is not None:
            raise end


async def test_a_server_without_other_people_is_closed_at_once(hosted: Hosted) -> None:
    await play(hosted)
    assert hosted.happened == ["closed"]


@pytest.mark.parametrize("end", [None, KICKED, KeyboardInterrupt()], ids=str)
async def test_every_end_asks_about_the_people_at_the_table(
    hosted: Hosted, end: BaseException | None
) -> None:
    hosted.letters = "yor"
    hosted.answers = [True]
    with nullcontext() if end is None else pytest.raises(type(end)):
        await play(hosted, end)
    asked = hosted.happened.index("asked")
    assert hosted.happened[asked - 1] == f"raj is still at {CODE}."
    assert hosted.happened[-1] == "closed"
    assert STAYS not in hosted.happened
    assert (KICKED.what in hosted.happened) is (end is KICKED)


@pytest.mark.parametrize("answer", [False, click.Abort(), None], ids=str)
async def test_without_a_yes_the_server_stays_until_ctrl_c(
    hosted: Hosted, answer: bool | BaseException | None
) -> None:
    hosted.letters = "yor"
    hosted.answers = [] if answer is None else [answer]
    before = signal.getsignal(signal.SIGINT)
    await play(hosted)
    join = f"  saratoga join {URL}/{CODE}"
    assert hosted.happened[1:] == ["asked", STAYS, join, "Ctrl-C", "closed"]
    assert signal.getsignal(signal.SIGINT) is before


async def test_without_a_terminal_the_server_stays_without_a_question(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Pipe:
        is_terminal = False

    monkeypatch.setattr(own_server, "this_terminal", Pipe)
    hosted.letters = "yor"
    await play(hosted)
    assert "asked" not in hosted.happened
    assert STAYS in hosted.happened


async def test_ctrl_c_without_a_screen_asks_too(hosted: Hosted) -> None:
    hosted.letters = "yor"
    hosted.answers = [True]
    playing = asyncio.Event()

    async def play() -> None:
        async with OwnServer() as own:
            await own.open(hosted.opened())
            own.session = hosted.session
            playing.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(play())
    await playing.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert hosted.happened[1] == "asked"
    assert hosted.happened[-1] == "closed"


async def test_a_signal_that_ends_the_program_closes_the_server_without_a_question(
    hosted: Hosted,
) -> None:
    hosted.letters = "yor"
    with pytest.raises(SystemExit):
        await play(hosted, SystemExit(129))
    assert hosted.happened == ["closed"]


async def test_a_server_of_another_program_is_left_running(hosted: Hosted) -> None:
    hosted.letters = "yor"
    hosted.is_ours = False
    await play(hosted)
    assert hosted.happened == ["closed"], "the end of the context manager, which stops nothing"
