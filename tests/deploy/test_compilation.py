"""The judge compiled: only where somebody asks for it, and then it judges all the same."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")


def run(command: Sequence[str], **environment: str) -> str:
    """What a command says, run at the top of the repository."""
    surroundings = {**os.environ, "SARATOGA_COMPILE": "", **environment}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=surroundings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def wheel(folder: Path, **environment: str) -> Path:
    building = ("wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir")
    run([*PIP, *building, str(folder), "."], **environment)
    (built,) = folder.glob("*.whl")
    return built


def libraries(built: Path) -> set[str]:
    """The modules of a wheel that are compiled."""
    names = ZipFile(built).namelist()
    return {
        found[1] for name in names if (found := re.fullmatch(r"(.+?)\.[^/]+\.(?:so|pyd)", name))
    }


def test_nothing_is_compiled_unless_somebody_asks(tmp_path: Path) -> None:
    built = wheel(tmp_path)
    assert built.name.endswith("-py3-none-any.whl")
    assert libraries(built) == set()


@pytest.mark.long
@pytest.mark.needs("cc")
def test_the_compiled_judge_passes_every_test_of_the_rules(tmp_path: Path) -> None:
    built = wheel(tmp_path, SARATOGA_COMPILE="1")
    assert "none-any" not in built.name
    assert {"saratoga_rules__mypyc", "saratoga_rules/judge"} <= libraries(built)
    target = str(tmp_path / "installed")
    run([*PIP, "install", "--no-deps", "--no-index", "--target", target, str(built)])
    used = run(
        [sys.executable, "-c", "from saratoga_rules import judge; print(judge.__file__)"],
        PYTHONPATH=target,
    )
    assert used.startswith(target)
    assert not used.strip().endswith(".py")
    testing = ("-m", "pytest", "-q", "-m", "not long", "-p", "no:cacheprovider", "tests/rules")
    run([sys.executable, *testing], PYTHONPATH=target)
