"""Which server `saratoga join` connects to, and a table that does not exist.

`end_to_end/test_host_and_join.py` joins real tables.
"""

import asyncio

import pytest

from kit.lobbies import open_lobby
from saratoga_client.__main__ import saratoga
from saratoga_client.cli.commands import run
from saratoga_client.local.settings import load
from saratoga_client.problems import Exit


def test_the_url_of_an_invitation_names_the_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(saratoga, ["join", "ws://127.0.0.1:1/mint-otter-42"]) == Exit.UNREACHABLE
    assert "ws://127.0.0.1:1" in capsys.readouterr().err


def test_a_code_is_looked_up_at_the_named_server(capsys: pytest.CaptureFixture[str]) -> None:
    joining = ["join", "mint-otter-42", "--server", "ws://127.0.0.1:2"]
    assert run(saratoga, joining) == Exit.UNREACHABLE
    assert "ws://127.0.0.1:2" in capsys.readouterr().err


async def test_a_table_that_does_not_exist_ends_with_6(capsys: pytest.CaptureFixture[str]) -> None:
    async with open_lobby() as lobby:
        joining = ["join", "mint-otter-99", "--server", lobby.url, "--name", "Anna", "--plain"]
        assert await asyncio.to_thread(run, saratoga, joining) == Exit.NOT_FOUND
    assert "saratoga: " in capsys.readouterr().err


@pytest.mark.parametrize("plain", [True, False])
async def test_an_unknown_table_is_reported_before_a_name_is_asked(
    plain: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_client.cli.play.in_lines", lambda _settings: plain)
    async with open_lobby() as lobby:
        joining = ["join", "mint-otter-99", "--server", lobby.url]
        assert await asyncio.to_thread(run, saratoga, joining) == Exit.NOT_FOUND
    shown = capsys.readouterr()
    assert "There is no table with that code." in shown.err
    assert "name" not in shown.out
    assert "Your name" not in shown.err


async def test_a_joined_server_is_the_one_that_commands_mean_from_then_on() -> None:
    async with open_lobby() as lobby:
        joining = ["join", f"{lobby.url}/mint-otter-99", "--plain"]
        assert await asyncio.to_thread(run, saratoga, joining) == Exit.NOT_FOUND
        assert load({}).server_url == lobby.url
    assert load({}).server == "", "`saratoga host` opens a server on this machine"
