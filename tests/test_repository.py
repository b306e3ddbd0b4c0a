"""What the pages of this repository promise: links, make targets, the version's changes; and no machine is named."""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from kit.server_process import faults

ROOT = Path(__file__).parents[1]


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


def lines_with(pattern: str) -> list[str]:
    """Return every line that matches, as `path:line: text`."""
    sought = re.compile(pattern)
    return [
        f"{path}:{number}: {line.strip()[:100]}"
        for path, text in texts()
        if sought.search(text)
        for number, line in enumerate(text.splitlines(), 1)
        if sought.search(line)
    ]


def pages() -> list[Path]:
    return [path for path in tracked() if path.suffix == ".md"]


def test_nothing_names_a_machine_or_a_registry() -> None:
    # written in pieces, or this file would find itself
    folders = "|".join(("wo" + "rk/", "fa" + "rm/", "tmp/ba" + "sh_", "ro" + "ot/", "home/[a-z]"))
    hosts = "|".join(("py" + "pi", "python" + "hosted", "np" + "mjs", "deb" + "ian"))
    assert lines_with(rf"(^|[^a-zA-Z0-9._-])/({folders})") == []
    assert lines_with(rf"https?://[a-z.]*({hosts})") == []


def test_the_changelog_has_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text()


def test_every_make_target_in_the_pages_exists() -> None:
    made = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        target
        for path in pages()
        for targets in re.findall(
            r"^(?:    )?make ([a-z]+)|`make ([a-z]+)", path.read_text(), re.MULTILINE
        )
        for target in targets
        if target
    }
    assert {"demo", "test"} <= named
    assert named - made == set()


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def test_every_relative_link_in_a_page_has_a_target() -> None:
    broken = [
        f"{path.relative_to(ROOT)}: {link}#{anchor}"
        for path in pages()
        for link, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", path.read_text())
        if not link.startswith(("http://", "https://", "mailto:"))
        and (
            not (target := path.parent / link if link else path).exists()
            or (anchor and anchor not in anchors(target))
        )
    ]
    assert broken == []


def test_a_run_with_a_skip_or_without_redis_server_is_not_complete() -> None:
    def report(name: str) -> Any:
        return SimpleNamespace(nodeid=name)

    complete = {"passed": [report("a.py::test_x[redis]")]}
    assert faults(complete) == []
    assert faults(complete | {"skipped": [report("a.py::test_y")]})
    assert faults({"passed": [report("a.py::test_x[valkey]")]})
