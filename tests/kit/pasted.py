"""Commands that the program has printed, run by a shell as after a paste."""

import os
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from kit.line_client import LineClient, piped


@asynccontextmanager
async def pasted(command: str, home: Path) -> AsyncIterator[LineClient]:
    """Run a command in a shell, with `home` as the player's folder and without any other setting."""
    programs = home / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    program = programs / "saratoga"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m saratoga_client "$@"\n')
    program.chmod(0o755)
    env = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "SARATOGA_SERVER": "",
        "SARATOGA_HOME": str(home),
    }
    async with piped("/bin/sh", "-c", f"exec {command}", **env) as client:
        yield client
