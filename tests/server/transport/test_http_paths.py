"""The paths that the server answers over HTTP are those that the pages about it list."""

import ast
import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

from saratoga_server.transport import http_api, web_page

ROOT: Final = Path(__file__).parents[3]

ANY: Final = "*"
"""A part of a path that a client chooses."""

PATH: Final = re.compile(r"(?<![\w/])/(?:[\w.]+(?:/[\w.]+)*)?")


def answered(module: ModuleType) -> set[str]:
    """Return the paths that a module's `match` statements name; parts that they capture are `ANY`."""
    found = set()
    for case in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(case, ast.match_case) and isinstance(case.pattern, ast.MatchSequence):
            parts = case.pattern.patterns
            if not isinstance(parts[-1], ast.MatchStar):
                found.add("/" + "/".join(map(_part, parts)))
    return found


def _part(pattern: ast.pattern) -> str:
    if isinstance(pattern, ast.MatchValue) and isinstance(pattern.value, ast.Constant):
        return str(pattern.value.value)
    return ANY


def listed(text: str) -> set[str]:
    """Return the paths in a text; parts in capitals are `ANY`."""
    return {re.sub(r"\b[A-Z]+\b(?:\.svg)?", ANY, path) for path in PATH.findall(text)}


def in_table(page: str) -> set[str]:
    """Return the paths in the first column of the table of a page's section on HTTP."""
    section = (ROOT / page).read_text().split("\n## HTTP\n")[1].split("\n#")[0]
    rows = re.findall(r"^\| (`/[^|]*) \|", section, re.MULTILINE)
    return {path for row in rows for path in listed(row)}


OF_PROGRAMS: Final = answered(http_api)
OF_THE_PAGE: Final = answered(web_page) | {"/static/*/*"}


def test_there_are_paths() -> None:
    assert {"/healthz", "/api/records/*/*/boards"} <= OF_PROGRAMS
    assert {"/", "/*", "/races/*/*"} <= OF_THE_PAGE


@pytest.mark.parametrize(
    ("page", "expected"),
    [("protocol/README.md", OF_PROGRAMS), ("server/README.md", OF_PROGRAMS | OF_THE_PAGE)],
)
def test_every_path_is_in_the_documents_and_no_other(page: str, expected: set[str]) -> None:
    assert in_table(page) == expected


@pytest.mark.parametrize(("module", "expected"), [(http_api, OF_PROGRAMS), (web_page, OF_THE_PAGE)])
def test_the_docstrings_list_them_too(module: ModuleType, expected: set[str]) -> None:
    doc = inspect.getdoc(module) or ""
    assert listed(" ".join(re.findall(r"^    GET (/\S*)", doc, re.MULTILINE))) == expected
