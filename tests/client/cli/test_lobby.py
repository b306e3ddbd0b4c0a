"""`saratoga` without a command opens the lobby, as a screen or as plain lines, or prints a short help."""

from pathlib import Path

import pytest

from kit.line_client import line_client
from kit.lobbies import open_lobby
from saratoga_client.__main__ import saratoga
from saratoga_client.cli import lobby
from saratoga_client.cli.commands import run
from saratoga_client.local.terminal import capabilities
from saratoga_client.problems import Exit
from saratoga_client.tui import flows
from saratoga_client.tui.app import Flow


def test_a_capable_terminal_has_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Flow] = []

    async def open_screen(flow: Flow, settings: object) -> None:
        opened.append(flow)

    terminal = capabilities({"TERM": "xterm-256color"}, is_terminal=True, size=(80, 24))
    monkeypatch.setattr(lobby, "this_terminal", lambda: terminal)
    monkeypatch.setattr(flows, "open_screen", open_screen)
    assert run(saratoga, []) == Exit.DONE
    assert len(opened) == 1


def test_a_pipe_has_a_short_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(saratoga, []) == Exit.DONE
    assert "saratoga host klondike" in capsys.readouterr().out


async def test_plain_has_the_lobby_in_lines(tmp_path: Path) -> None:
    async with open_lobby() as server, line_client(server.url, tmp_path, "--plain") as client:
        await client.expect("lobby: ")
        client.type("quit")
        assert await client.ended() == Exit.DONE
