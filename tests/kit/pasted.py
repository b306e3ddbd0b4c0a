"""Commands that the program has printed, run by a shell as after a paste."""

import asyncio
import os
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from kit.line_client import LineClient


@asynccontextmanager
async def pasted(command: str, home: Path) -> AsyncIterator[LineClient]:
    """Run a command in a shell, with `home` as the player's folder and without any other setting."""
    programs = home / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    program = programs / "saratoga"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m saratoga_client "$@"\n')
    program.chmod(0o755)
    process = await asyncio.create_subprocess_shell(
        f"exec {command}",
        env={
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "SARATOGA_SERVER": "",
            "SARATOGA_HOME": str(home),
        },
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    client = LineClient(process)
    try:
        yield client
    finally:
        await client.end()
