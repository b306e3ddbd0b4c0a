"""The rules of this repository: import layers, a test file for every module, and length of files."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kit.completeness import faults

ROOT = Path(__file__).parents[1]
PARTS = {
    "rules": ROOT / "protocol" / "saratoga_rules",
    "protocol": ROOT / "protocol" / "saratoga_protocol",
    "server": ROOT / "server" / "saratoga_server",
    "client": ROOT / "client" / "saratoga_client",
}

MOST_LINES = 400


@cache
def tracked() -> tuple[Path, ...]:
    """Return every file that git tracks or would track."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return tuple(path for name in listing.split("\0") if (path := ROOT / name).is_file())


def texts() -> Iterator[tuple[str, str]]:
    """Return path and text of every text file."""
    for path in tracked():
        try:
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def lines_with(pattern: str, *endings: str) -> list[str]:
    """Return every line that matches, as `path:line: text`, in files with these endings."""
    sought = re.compile(pattern)
    return [
        f"{path}:{number}: {line.strip()[:100]}"
        for path, text in texts()
        if path.endswith(endings or ("",)) and sought.search(text)
        for number, line in enumerate(text.splitlines(), 1)
        if sought.search(line)
    ]


def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_imports_follow_the_layers() -> None:
    linted = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert linted.returncode == 0, linted.stdout
    assert "0 broken" in linted.stdout


def modules() -> dict[str, tuple[Path, ...]]:
    """Return every module as `part/path.py`, with the paths where its test file may be.

    The test file of `part/folder/name.py` is `tests/part/folder/test_name.py`. Tests that would make it
    too long are in files beside it, `test_name_SUBJECT.py`.
    """
    found: dict[str, tuple[Path, ...]] = {}
    for part, folder in PARTS.items():
        for path in sorted(folder.rglob("*.py")):
            if path.name == "__init__.py":
                continue
            inner = path.relative_to(folder)
            tests = ROOT / "tests" / part
            beside = tests / inner.parent / f"test_{inner.name}"
            # a game's tests are beside those of the laws that hold for every game
            is_game = inner.parts[0] == "games"
            found[f"{part}/{inner.as_posix()}"] = (
                (beside, tests / beside.name) if is_game else (beside,)
            )
    return found


def test_every_module_has_a_test_file_at_its_path() -> None:
    missing = [
        name for name, paths in modules().items() if not any(path.is_file() for path in paths)
    ]
    assert missing == []


def test_no_file_is_too_long() -> None:
    long = [
        f"{path}: {text.count(chr(10))} lines"
        for path, text in texts()
        if path.endswith(".py") and text.count("\n") > MOST_LINES
    ]
    assert long == []


def test_nothing_names_a_machine_or_a_registry() -> None:
    # written in pieces, or this file would find itself
    folders = "|".join(("wo" + "rk/", "fa" + "rm/", "tmp/ba" + "sh_", "ro" + "ot/", "home/[a-z]"))
    hosts = "|".join(("py" + "pi", "python" + "hosted", "np" + "mjs", "deb" + "ian"))
    assert lines_with(rf"(^|[^a-zA-Z0-9._-])/({folders})") == []
    assert lines_with(rf"https?://[a-z.]*({hosts})") == []


def test_nothing_is_left_for_later() -> None:
    assert lines_with(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b", ".py", ".md", ".lua", "Makefile") == []
    assert lines_with(r"raise NotImplemented" r"Error", ".py") == []


def test_no_test_is_skipped_or_expected_to_fail() -> None:
    assert (
        lines_with(r"(mark\.(skip|skipif|xfail)|pytest\.(skip|xfail|importor" r"skip))\b", ".py")
        == []
    )


def test_no_test_waits_for_time_to_pass() -> None:
    """The kit may sleep to poll processes; tests of faults may sleep between two faults."""
    waits = lines_with(r"(time|asyncio)\.sleep\((?!0\))", ".py")
    assert [line for line in waits if re.match(r"tests/(?!kit/|benchmarks/|faults/)", line)] == []


def test_no_module_is_named_after_no_subject() -> None:
    names = {path.stem for path in tracked() if path.suffix == ".py"}
    assert names.isdisjoint({"utils", "util", "helpers", "helper", "common", "misc"})


def test_the_changelog_has_this_version() -> None:
    assert f"## [{pyproject()['project']['version']}]" in (ROOT / "CHANGELOG.md").read_text()


def test_every_make_target_in_the_readmes_exists() -> None:
    made = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    readmes = [path for path in tracked() if path.suffix == ".md"]
    named = {
        target
        for path in readmes
        for target in re.findall(
            r"^(?:    )?make ([a-z]+)|`make ([a-z]+)", path.read_text(), re.MULTILINE
        )
        for target in target
        if target
    }
    assert "demo" in named
    assert named - made == set()


def test_every_relative_link_in_a_page_has_a_target() -> None:
    broken = [
        f"{path.relative_to(ROOT)}: {link}"
        for path in tracked()
        if path.suffix == ".md"
        for link in re.findall(r"\]\(([^)#\s]+)", path.read_text())
        if not link.startswith(("http://", "https://", "mailto:"))
        and not (path.parent / link).exists()
    ]
    assert broken == []


@pytest.mark.parametrize(
    ("passed", "skipped", "complete"),
    [
        (["a.py::test_x[redis]"], [], True),
        (["a.py::test_x[redis-3]", "a.py::test_y"], [], True),
        (["a.py::test_x[valkey]", "a.py::test_x[a redis://url]"], [], False),
        (["a.py::test_x[redis]"], ["a.py::test_y"], False),
        ([], [], False),
    ],
)
def test_a_run_without_redis_or_with_skips_is_not_complete(
    passed: list[str], skipped: list[str], complete: bool
) -> None:
    stats: dict[str, list[Any]] = {
        "passed": [SimpleNamespace(nodeid=name) for name in passed],
        "skipped": [SimpleNamespace(nodeid=name) for name in skipped],
    }
    assert (faults(stats) == []) is complete
