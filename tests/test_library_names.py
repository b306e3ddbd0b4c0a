"""Third-party libraries are used by documented names only, all of them listed in `library_names.toml`.

What ruff's SLF rules see (a leading underscore in code) ruff reports; this file covers the rest.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from kit.library_use import Use, hidden_uses, library_uses

ROOT = Path(__file__).parents[1]
LISTS = Path(__file__).with_name("library_names.toml")
FOLDERS = ("server", "protocol", "deploy", "client")

OUR_FOLDERS = {"kit", "benchmarks", ""}

LISTED = tomllib.loads(LISTS.read_text())
ALLOWED: dict[str, str] = LISTED.pop("allowed")
PAGES = {
    name: f"{library}: {page}"
    for library, pages in LISTED.items()
    for page, names in pages.items()
    for name in names
}

PRIVATE = re.compile(r"\._(?!_\w+__\b)")
OVERLOOKED = re.compile(r"type: ignore\[[^\]]*attr-defined\]|noqa:.*\bSLF\w*")


def sources(*folders: str) -> Iterator[tuple[str, str]]:
    """Yield path and text of every Python file in these folders; by default, of all but the tests."""
    for folder in folders or FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield str(path.relative_to(ROOT)), path.read_text()


@cache
def uses() -> dict[str, str]:
    """Return every name used of a listed library, with one place that uses it."""
    return {
        use.name: f"{path}:{use.line}"
        for path, text in sources()
        for use in library_uses(text, LISTED.keys())
        if use.name not in LISTED
    }


@cache
def hidden() -> dict[str, str]:
    """Return every use of a private part that ruff does not see, or is told to overlook."""
    found = {
        use.name: f"{path}:{use.line}" for path, text in sources() for use in hidden_uses(text)
    }
    overlooked = {
        f"{path}: {told[0]}": f"{path}:{text.count(chr(10), 0, told.start()) + 1}"
        for path, text in sources()
        for told in OVERLOOKED.finditer(text)
    }
    return found | overlooked


def third_party(text: str) -> set[str]:
    """Return the third-party libraries that a file imports."""
    imported = {
        (alias.name if isinstance(node, ast.Import) else node.module or "").partition(".")[0]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    ours = {name for name in imported if name.startswith("saratoga_")}
    return imported - ours - OUR_FOLDERS - sys.stdlib_module_names


def covers(listed: str, name: str) -> bool:
    """Return whether a listed name covers a used one.

    A listed name covers itself and its dotted prefixes; with `.*` also every public name below it.
    """
    every = listed.removesuffix(".*")
    if every != listed and name.startswith(f"{every}.") and not PRIVATE.search(name):
        return True
    return f"{every}.".startswith(f"{name}.")


def is_allowed(name: str) -> bool:
    """Return whether a name is allowed itself, or is below or above an allowed name."""
    return any(covers(name, allowed) or covers(allowed, name) for allowed in ALLOWED)


def test_every_name_of_a_library_is_listed_under_the_page_that_describes_it() -> None:
    unlisted = [
        f"{place} uses {name}: list it under its page in tests/library_names.toml"
        for name, place in sorted(uses().items())
        if not any(covers(listed, name) for listed in PAGES) and not is_allowed(name)
    ]
    assert not unlisted, "\n".join(unlisted)


def test_every_library_has_its_list() -> None:
    imported = {name for _, text in sources() for name in third_party(text)}
    assert imported == LISTED.keys()


def test_no_listed_name_is_unused() -> None:
    unused = [
        f"nobody uses {name}: delete it from tests/library_names.toml"
        for name in (*PAGES, *ALLOWED)
        if not any(covers(used, name.removesuffix(".*")) for used in (*uses(), *hidden()))
    ]
    assert not unused, "\n".join(unused)


def test_no_private_part_is_used_or_overlooked() -> None:
    private = [
        f"{place}: {name}"
        for name, place in sorted(uses().items())
        if PRIVATE.search(name) and not is_allowed(name)
    ]
    found = [f"{place}: {name}" for name, place in sorted(hidden().items()) if name not in ALLOWED]
    assert private + found == []


def test_no_test_uses_a_private_part_of_a_library() -> None:
    found = [
        f"{path}:{use.line}: {use.name}"
        for path, text in sources("tests")
        if re.search(r"\._[a-z]", text)
        for use in library_uses(text, third_party(text))
        if PRIVATE.search(use.name)
    ]
    found += [
        f"{path}: {told[0]}"
        for path, text in sources("tests")
        if path != "tests/test_library_names.py"
        for told in OVERLOOKED.finditer(text)
    ]
    assert found == []


def test_every_allowed_name_has_its_reason() -> None:
    assert [name for name, reason in ALLOWED.items() if not reason.strip()] == []
    assert [name for name in ALLOWED if name in PAGES] == []


def names(text: str) -> set[str]:
    return {use.name for use in library_uses(text, ("websockets", "redis", "msgspec"))}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import msgspec\nmsgspec.json.decode(b'')", {"msgspec", "msgspec.json.decode"}),
        ("import redis.asyncio as r\nr.Redis", {"redis.asyncio", "redis.asyncio.Redis"}),
        ("import asyncio\nasyncio.Lock()._locked", set()),
        (
            "from redis.asyncio import Redis\ndef f(x: 'Redis | None', y: int): x.get(y.real)",
            {"redis.asyncio.Redis", "redis.asyncio.Redis.get"},
        ),
        (
            "from websockets.asyncio.server import serve\nasync def f():\n"
            " server = serve(None)\n server.create_server = None",
            {"websockets.asyncio.server.serve", "websockets.asyncio.server.Server.create_server"},
        ),
        (
            "from redis.asyncio import Redis\nclass A:\n def __init__(self, x: Redis): self._x = x\n"
            " def f(self): self._x.get(self.y)",
            {"redis.asyncio.Redis", "redis.asyncio.Redis.get"},
        ),
        (
            "from websockets.server import ServerProtocol\nclass A(ServerProtocol):\n"
            " def __init__(self): self.mine = self.parser = None\n"
            " def own(self): return self.mine, self.state.name\n"
            " def accept(self, request): pass\n",
            {
                "websockets.server.ServerProtocol",
                "websockets.server.ServerProtocol.accept",
                "websockets.server.ServerProtocol.parser",
                "websockets.server.ServerProtocol.state.name",
            },
        ),
    ],
)
def test_names_are_found_in_imports_annotations_and_subclasses(text: str, found: set[str]) -> None:
    assert names(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("getattr(x, '_waiters')", ['getattr("_waiters")']),
        ("import time\ntime.sleep = None", ["time.sleep ="]),
        ("from a import b\nsetattr(b, 'c', 1)", ["setattr(b, ...)"]),
        ("step.gi_yieldfrom.gi_frame", [".gi_frame", ".gi_yieldfrom"]),
        ("from pathlib import Path\nPath(x, '_binaries')", ['Path("_binaries")']),
        ("import time\nself.sleep = time.sleep\n__slots__ = ('_mine',)", []),
    ],
)
def test_private_parts_are_found_that_ruff_does_not_see(text: str, found: list[str]) -> None:
    assert [use.name for use in hidden_uses(text)] == found


def test_a_use_says_where_it_is() -> None:
    assert library_uses("\nimport redis", ("redis",)) == [Use("redis", 2)]
