"""Questions at the terminal: an answer, a repeated question, the end of the input."""

import asyncio
from queue import SimpleQueue

import click
import pytest

from saratoga_client.cli.prompt import confirm, prompt


class Typed:
    """A replacement for `StandardInput`: each read returns one typed line."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lines: SimpleQueue[bytes] = SimpleQueue()
        monkeypatch.setattr("saratoga_client.cli.prompt.StandardInput", lambda: self)

    def read(self, size: int, /) -> bytes:
        return self.lines.get()


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Typed:
    return Typed(monkeypatch)


async def test_the_event_loop_runs_while_the_player_types(
    typed: Typed, capsys: pytest.CaptureFixture[str]
) -> None:
    asking = asyncio.create_task(prompt("Your name\x1b"))
    await asyncio.sleep(0)
    assert not asking.done()
    typed.lines.put("  Zoë \n".encode())
    assert await asking == "Zoë"
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "Your name<U+001B>: ")


async def test_an_empty_line_repeats_the_question(
    typed: Typed, capsys: pytest.CaptureFixture[str]
) -> None:
    typed.lines.put(b"\n")
    typed.lines.put(b"Anna\n")
    assert await prompt("Your name") == "Anna"
    assert capsys.readouterr().err.count("Your name: ") == 2


@pytest.mark.parametrize(
    ("line", "means"), [(b"y\n", True), (b"YES\n", True), (b"\n", False), (b"no\n", False)]
)
async def test_only_yes_confirms(typed: Typed, line: bytes, means: bool) -> None:
    typed.lines.put(line)
    assert await confirm("Close the server now?") is means


async def test_the_end_of_the_input_aborts(typed: Typed) -> None:
    typed.lines.put(b"")
    with pytest.raises(click.Abort):
        await prompt("Your name")
