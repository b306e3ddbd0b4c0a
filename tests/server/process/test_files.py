"""Files that may be open: a house takes all that it may have."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.house import open_house
from saratoga_server.process.files import allow_all_files

FEW = 512


@pytest.fixture
def few() -> Iterator[int]:
    """This process, and whoever it starts, may have few files open, and take more; how many."""
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FEW, most))
    try:
        yield most
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))


def test_all_files_that_may_be_open_may_be(few: int) -> None:
    allow_all_files()
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (few, few)


def files_of(process: int) -> tuple[int, int]:
    """How many it may have open, and how many it may take."""
    limits = Path(f"/proc/{process}/limits").read_text(encoding="ascii")
    (line,) = (line for line in limits.splitlines() if line.startswith("Max open files"))
    now, most = line.split()[3:5]
    return int(now), int(most)


async def test_a_house_started_where_few_may_be_open_takes_more(few: int) -> None:
    async with open_house() as house:
        assert files_of(house.pid) == (few, few)
