"""What `saratoga host` checks and remembers before it connects.

`end_to_end/test_host_and_join.py` hosts with real servers and friends.
"""

import shlex

import pytest

from saratoga_client.__main__ import saratoga
from saratoga_client.cli.commands import run
from saratoga_client.local.printed_command import host_command
from saratoga_client.local.settings import load
from saratoga_client.problems import Exit

NOWHERE = "ws://127.0.0.1:1"


def test_the_hosted_game_its_limit_and_its_match_are_remembered_for_the_next_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = ["host", "caprice", "--cap", "20", "--races", "3", "--server", NOWHERE]
    assert run(saratoga, first) == Exit.UNREACHABLE
    assert (load().game, load().cap, load().races) == ("caprice", 20, 3)
    assert run(saratoga, ["host", "lafayette", "--server", NOWHERE]) == Exit.UNREACHABLE
    assert (load().game, load().cap, load().races) == ("lafayette", 20, 3)
    assert NOWHERE in capsys.readouterr().err


def test_a_host_learns_that_friends_cannot_reach_an_address_of_this_machine(
    capsys: pytest.CaptureFixture[str],
) -> None:
    hosting = ["host", "canfield", "--server", NOWHERE, "--public-url", "ws://localhost:7470"]
    assert run(saratoga, hosting) == Exit.UNREACHABLE
    assert "ws://localhost:7470 can be reached from this machine only" in capsys.readouterr().err
    hosting[-1] = "wss://cards.example.org"
    assert run(saratoga, hosting) == Exit.UNREACHABLE
    assert "from this machine only" not in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--server", "--public-url"])
def test_a_wrong_address_is_refused_before_a_server_starts(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(saratoga, ["host", "canfield", option, "cards.example.org"]) == Exit.USAGE
    assert "'cards.example.org' is not the address of a server" in capsys.readouterr().err


def test_a_named_port_is_of_this_machine_although_a_server_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ports: list[int | None] = []

    async def host_here(*words: object) -> None:
        ports.extend(word for word in words if isinstance(word, int))

    monkeypatch.setattr("saratoga_client.cli.host._host_here", host_here)
    monkeypatch.setenv("SARATOGA_SERVER", "ws://127.0.0.1:8123")
    _, *words = shlex.split(host_command("ws://127.0.0.1:8123"))
    assert run(saratoga, words) == Exit.DONE
    assert ports == [8123]
