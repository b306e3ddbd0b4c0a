"""A server process of the client's own: started, waited for, stopped."""

import sys
from pathlib import Path

import pytest

from saratoga_client.local.server_process import running_server
from saratoga_client.problems import Exit, Problem

OPENS = """
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: (open(sys.argv[-1] + "/goodbye", "w").close(), sys.exit()))
print("hello", flush=True)
print("saratoga-server ready ws://127.0.0.1:4711", flush=True)
signal.pause()
"""
FAILS = "import sys; sys.exit('the store is full')"


def program(text: str) -> tuple[str, ...]:
    return (sys.executable, "-c", text)


async def test_a_server_process_is_awaited_and_terminated(tmp_path: Path) -> None:
    async with running_server(tmp_path, program(OPENS)) as url:
        assert url == "ws://127.0.0.1:4711"
        assert not (tmp_path / "goodbye").exists()
    assert (tmp_path / "goodbye").exists()


async def test_a_server_that_fails_to_start_gives_the_reason(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="did not start") as problem:
        async with running_server(tmp_path, program(FAILS)):
            pass
    assert problem.value.code == Exit.UNREACHABLE
    assert problem.value.said == ("the store is full",)
