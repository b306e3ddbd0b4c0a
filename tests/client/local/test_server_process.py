"""A server process of the client's own: started, waited for, stopped."""

import asyncio
import logging
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from saratoga_client.local import server_process
from saratoga_client.local.server_process import SOMEBODY, Person, running_server
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
    async with running_server(tmp_path, program(OPENS)) as server:
        assert server.address == "ws://127.0.0.1:4711"
        assert not (tmp_path / "goodbye").exists()
    assert (tmp_path / "goodbye").exists()


ANSWERS = OPENS.replace(
    "signal.pause()",
    """
for line in sys.stdin:
    assert line == "people\\n"
    print('saratoga-server people [["p", "Zoe", "mint-otter-42"], ["q", "", ""]]', flush=True)
    break
print("saratoga-server people nonsense", flush=True)
signal.pause()
""",
)


async def test_a_server_says_who_is_on_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running_server(tmp_path, program(ANSWERS)) as server:
        assert await server.people() == (Person("p", "Zoe", "mint-otter-42"), Person("q", "", ""))
        assert await server.people() == (SOMEBODY,), "nonsense"
        monkeypatch.setattr(server_process, "ANSWERED_WITHIN", 0.01)
        assert await server.people() == (SOMEBODY,), "no answer"
    assert await server.people() == (), "the server has ended"


DIES = """
import os, sys
if os.path.exists(sys.argv[-1] + "/died"):
    open(sys.argv[-1] + "/port", "w").write(sys.argv[sys.argv.index("--port") + 1])
    print("saratoga-server ready ws://127.0.0.1:4711", flush=True)
    for line in sys.stdin:
        print('saratoga-server people [["p", "Zoe", ""]]', flush=True)
else:
    print("saratoga-server ready ws://127.0.0.1:4711", flush=True)
    sys.stdin.readline()
    open(sys.argv[-1] + "/died", "w").close()
    os.abort()
"""


LATE = OPENS.replace(
    "signal.pause()",
    """
sys.stdin.readline()
sys.stdin.readline()
print('saratoga-server people []', flush=True)
print('saratoga-server people [["p", "Zoe", ""]]', flush=True)
signal.pause()
""",
)


async def test_a_late_answer_is_not_taken_for_that_of_the_next_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_server(tmp_path, program(LATE)) as server:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(server_process, "ANSWERED_WITHIN", 0.01)
            assert await server.people() == (SOMEBODY,)
        monkeypatch.setattr(server_process, "ANSWERED_WITHIN", 30)
        assert await server.people() == (Person("p", "Zoe", ""),)


async def test_two_questions_at_once_are_both_answered(tmp_path: Path) -> None:
    twice = ANSWERS.replace("    break\n", "")
    async with running_server(tmp_path, program(twice)) as server:
        first, second = await asyncio.gather(server.people(), server.people())
        assert first == second == (Person("p", "Zoe", "mint-otter-42"), Person("q", "", ""))


async def test_a_server_that_dies_is_started_again_at_its_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_process, "RESTART_PAUSES", (0.0,))
    monkeypatch.setattr(server_process, "ANSWERED_WITHIN", 30)
    async with running_server(tmp_path, program(DIES)) as server:
        first = server.process
        assert await server.people() == (SOMEBODY,), "it dies of the question"
        await first.wait()
        # whoever was on it may not have reconnected yet
        assert await server.people() == (Person("p", "Zoe", ""), SOMEBODY)
        monkeypatch.setattr(server_process, "FRIENDS_BACK_WITHIN", 0)
        assert await server.people() == (Person("p", "Zoe", ""),)
        assert server.process.pid != first.pid
        assert (tmp_path / "port").read_text() == "4711"
    assert server.process.returncode is not None, "the newest process is stopped"


async def test_a_server_that_dies_at_every_start_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_process, "RESTART_PAUSES", (0.0, 0.0))
    full = SimpleNamespace(count=0, event=asyncio.Event())

    def seen(record: logging.LogRecord) -> bool:
        full.count += "full" in record.getMessage()
        if record.levelno == logging.ERROR:
            full.event.set()
        return True

    server_process.LOG.addFilter(seen)
    dies_again = DIES.replace('print("saratoga-server ready', 'sys.exit("full") or print("', 1)
    async with running_server(tmp_path, program(dies_again)) as server, asyncio.timeout(10):
        await server.people()
        await full.event.wait()
        assert full.count == 2
        assert await server.people() == ()
    server_process.LOG.removeFilter(seen)


async def test_a_server_that_fails_to_start_gives_the_reason(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="did not start") as problem:
        async with running_server(tmp_path, program(FAILS)):
            pass
    assert problem.value.code == Exit.UNREACHABLE
    assert problem.value.said == ("the store is full",)
