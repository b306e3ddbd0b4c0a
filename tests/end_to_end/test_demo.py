"""`make demo`: each game, from an empty folder to a verified race, as anybody would start it."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from saratoga_rules.games import GAMES

ENDS_WITHIN = 240
"""Seconds after which the demonstration is given up; a bound, never a measure."""

PACE = "40"
"""Moves a second: a race to be looked at takes its time, this one need not."""


@pytest.mark.parametrize("game", GAMES)
async def test_the_demonstration_races_and_verifies(game: str, tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "saratoga_client", "demo", "--game", game, "--pace", PACE),
        env={**os.environ, "SARATOGA_HOME": str(tmp_path)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(ENDS_WITHIN):
            out, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    told = out.decode()
    assert process.returncode == 0, told
    last = told.strip().splitlines()[-1]
    assert last.endswith("is verified: witnessed here."), told
    assert "one deal for all 4" in told
    assert f"{game}, best, bots" in told
