"""`make demo`: from an empty folder to a verified race, with face-down cards, one pack and two."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from kit.server_process import python_path

ENDS_WITHIN = 240
"""Seconds after which the demonstration is killed; a bound, not a measurement."""

PACE = "40"
"""Moves a second, faster than in a demonstration that people watch."""


@pytest.mark.parametrize("game", ["klondike", "canfield-aisleriot", "lady-palk"])
async def test_the_demonstration_races_and_verifies(game: str, tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "kit.demo", "--game", game, "--pace", PACE),
        env={**os.environ, "SARATOGA_HOME": str(tmp_path), "PYTHONPATH": python_path()},
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
    printed = out.decode()
    assert process.returncode == 0, printed
    last = printed.strip().splitlines()[-1]
    assert last.endswith("is verified: witnessed here."), printed
    assert "one deal for all 4" in printed
    assert f"{game}, best, bots" in printed
