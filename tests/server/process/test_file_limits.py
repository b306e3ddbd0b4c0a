"""The server raises its limit on open files."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.server_process import running_server
from saratoga_server.process.file_limits import raise_open_file_limit

FEW = 512


@pytest.fixture
def few() -> Iterator[int]:
    """Lower the soft limit on open files, also for child processes; yield the hard limit."""
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FEW, most))
    try:
        yield most
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))


def test_the_soft_limit_is_raised_to_the_hard_limit(few: int) -> None:
    raise_open_file_limit()
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (few, few)


def files_of(process: int) -> tuple[int, int]:
    """Return the soft and the hard limit on open files of a process."""
    limits = Path(f"/proc/{process}/limits").read_text(encoding="ascii")
    (line,) = (line for line in limits.splitlines() if line.startswith("Max open files"))
    now, most = line.split()[3:5]
    return int(now), int(most)


async def test_a_server_that_is_started_with_a_low_limit_raises_it(few: int) -> None:
    async with running_server() as server_process:
        assert files_of(server_process.pid) == (few, few)
