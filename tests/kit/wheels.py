"""This checkout as a wheel: built, with the judge compiled if it is wanted, and installed in a folder."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]

_PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


def built(folder: Path, *, compiled: bool) -> Path:
    """Build it into that folder; nothing is fetched for that. Raises `RuntimeError` if it fails."""
    building = ("wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir")
    told([*_PIP, *building, str(folder), "."], SARATOGA_COMPILE="1" if compiled else "")
    (wheel,) = folder.glob("*.whl")
    return wheel


def install_compiled(wheel: Path, target: Path) -> None:
    """Put it into a folder; raises `RuntimeError` unless it is a compiled judge that is found there."""
    told([*_PIP, "install", "--no-deps", "--no-index", "--target", str(target), str(wheel)])
    asking = (sys.executable, "-c", "from saratoga_rules import judge; print(judge.__file__)")
    judge = told(asking, PYTHONPATH=str(target)).strip()
    if not judge.startswith(str(target)) or judge.endswith(".py"):
        raise RuntimeError(f"the judge that is used is not the compiled one: {judge}")


def told(command: Sequence[str], **environment: str) -> str:
    """What a command says, run at the top of the repository; raises `RuntimeError` with it if it fails."""
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return done.stdout
