"""The judge compiled: only where somebody asks for it, and then it judges all the same."""

import re
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from kit.wheels import built, install_compiled, told


def libraries(wheel: Path) -> set[str]:
    """The modules of a wheel that are compiled."""
    names = ZipFile(wheel).namelist()
    return {
        found[1] for name in names if (found := re.fullmatch(r"(.+?)\.[^/]+\.(?:so|pyd)", name))
    }


def test_nothing_is_compiled_unless_somebody_asks(tmp_path: Path) -> None:
    wheel = built(tmp_path, compiled=False)
    assert wheel.name.endswith("-py3-none-any.whl")
    assert libraries(wheel) == set()
    installed = tmp_path / "installed"
    with pytest.raises(RuntimeError, match=f"not the compiled one: {re.escape(str(installed))}"):
        install_compiled(wheel, installed)


@pytest.mark.long
@pytest.mark.needs("cc")
def test_the_compiled_judge_passes_every_test_of_the_rules(tmp_path: Path) -> None:
    wheel = built(tmp_path, compiled=True)
    assert "none-any" not in wheel.name
    assert {"saratoga_rules__mypyc", "saratoga_rules/judge"} <= libraries(wheel)
    target = tmp_path / "installed"
    install_compiled(wheel, target)
    testing = ("-m", "pytest", "-q", "-m", "not long", "-p", "no:cacheprovider", "tests/rules")
    told([sys.executable, *testing], PYTHONPATH=str(target))
