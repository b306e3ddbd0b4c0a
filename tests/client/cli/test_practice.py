"""`saratoga practice`: offline, as plain lines or as a screen, with an answer to every input."""

import io
import socket
import sys

import pytest

from saratoga_client.__main__ import saratoga
from saratoga_client.cli.frame import run
from saratoga_client.local.settings import Settings
from saratoga_client.problems import Exit
from saratoga_client.tui import app as tui_app


def typed(monkeypatch: pytest.MonkeyPatch, *orders: str) -> None:
    """Feed these lines to standard input through a pipe."""
    pipe = io.TextIOWrapper(io.BytesIO("".join(f"{order}\n" for order in orders).encode()))
    monkeypatch.setattr(sys, "stdin", pipe)


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("practice goes nowhere")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def test_it_is_played_through_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed(monkeypatch, "draw", "undo", "leave")
    asked = ["practice", "canfield", "--seed", "k7m2pq", "--plain"]
    assert run(saratoga, asked) == Exit.DONE
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("practice: Canfield, seed k7m2pq")
    assert said[-1].startswith("practice: over")


@pytest.mark.parametrize("seed", ["x" * 41, "a\x1b[2J"])
def test_a_bad_seed_is_a_matter_of_usage(seed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(saratoga, ["practice", "canfield", "--seed", seed, "--plain"]) == Exit.USAGE
    shown = capsys.readouterr()
    assert "Choose another --seed." in shown.err
    assert "\x1b" not in shown.out + shown.err


def test_on_a_terminal_the_screen_opens_at_the_deal_that_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[str] = []

    async def open_screen(flow: str, settings: Settings) -> None:
        opened.append(flow)

    monkeypatch.setattr("saratoga_client.cli.practice.in_lines", lambda _: False)
    monkeypatch.setattr(tui_app, "practice_flow", lambda deal: f"{deal.game.name} {deal.title}")
    monkeypatch.setattr(tui_app, "open_screen", open_screen)
    assert run(saratoga, ["practice", "caprice", "--seed", "7"]) == Exit.DONE
    assert opened == ["caprice seed 7"]
