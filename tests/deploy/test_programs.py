"""A test whose program is missing is deselected and reported, or fails if no program may be missing."""

from types import SimpleNamespace
from typing import Any

import pytest

from kit import programs


def item(*needs: str) -> Any:
    marks = [SimpleNamespace(args=needs)] if needs else []
    return SimpleNamespace(name=needs, iter_markers=lambda name: iter(marks))


def collected(items: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the tests that are kept, and the programs reported as missing."""
    left_out: list[Any] = []
    hook = SimpleNamespace(pytest_deselected=lambda **kwargs: left_out.extend(kwargs["items"]))
    config: Any = SimpleNamespace(hook=hook)
    programs.pytest_collection_modifyitems(config, items)
    return items, left_out


@pytest.fixture
def without_nginx(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    found = {"nginx": None}
    monkeypatch.setattr(programs, "find_program", lambda name: found.get(name, f"/bin/{name}"))
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("SARATOGA_NEED_PROGRAMS", raising=False)
    return monkeypatch


def test_tests_of_a_missing_program_are_deselected_and_reported(
    without_nginx: pytest.MonkeyPatch,
) -> None:
    plain, traced, proxied = item(), item("strace"), item("strace", "nginx")
    assert collected([plain, traced, proxied]) == ([plain, traced], [proxied])
    lines: list[str] = []
    reporter: Any = SimpleNamespace(write_line=lambda line, **how: lines.append(line))
    programs.pytest_terminal_summary(reporter)
    assert lines == ["not tested because programs are missing: nginx"]


@pytest.mark.parametrize("name", ["CI", "SARATOGA_NEED_PROGRAMS"])
def test_tests_of_a_missing_program_fail_if_all_programs_are_required(
    without_nginx: pytest.MonkeyPatch, name: str
) -> None:
    without_nginx.setenv(name, "1")
    proxied = item("nginx")
    assert collected([proxied]) == ([proxied], [])
    with pytest.raises(pytest.fail.Exception, match="must test with it: nginx"):
        programs.pytest_runtest_setup(proxied)


def test_an_unknown_program_is_an_error() -> None:
    with pytest.raises(AssertionError, match="no such programs"):
        collected([item("ngnix")])
