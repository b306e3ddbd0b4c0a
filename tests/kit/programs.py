"""Programs that some tests need, and what a test run says at its end.

`@pytest.mark.needs("nginx")` names programs that not every machine has. If one is missing, its
tests are deselected (not skipped) and the summary names it. With `CI` or `SARATOGA_NEED_PROGRAMS=1`
in the environment these tests run and fail. With `SARATOGA_NEED_REDIS=1` no test may be skipped or
expected to fail, and tests must have passed against redis-server.
"""

import os
import shutil
import sys
from pathlib import Path

import pytest

NEEDED = "redis"
"""The word in the ids of tests against redis-server (`kit.stores`)."""


def faults(stats: dict[str, list[pytest.TestReport]]) -> list[str]:
    """Return the reasons why a test run was not complete."""
    found = [
        f"{kind}: {report.nodeid}"
        for kind in ("skipped", "xfailed", "xpassed")
        for report in stats.get(kind, [])
    ]
    passed = (report.nodeid for report in stats.get("passed", []))
    if not any(NEEDED in nodeid.rstrip("]").partition("[")[2].split("-") for nodeid in passed):
        found.append(f"no test passed against {NEEDED}-server")
    return found


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("SARATOGA_NEED_REDIS") != "1" or reporter is None:
        return  # not asked for, or a worker: the process that gathers the reports decides
    if hasattr(session.config, "workerinput") or session.config.option.collectonly:
        return
    missing = faults(reporter.stats)
    if missing:
        reporter.write_line("")
        for line in missing:
            reporter.write_line(f"not complete: {line}", red=True)
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


KNOWN = (
    "cc",
    "chromium-headless-shell",
    "docker-compose",
    "hadolint",
    "nginx",
    "node",
    "openssl",
    "prometheus",
    "prometheus-node-exporter",
    "prometheus-redis-exporter",
    "promtool",
    "redis-cli",
    "redis-server",
    "shellcheck",
    "faketime",
    "strace",
    "systemd-analyze",
)


def find_program(name: str) -> str | None:
    """Return a program's path, found beside this Python, on PATH or in root's folders; or `None`."""
    beside = Path(sys.executable).with_name(name)
    if beside.exists():
        return str(beside)
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


def program(name: str) -> str:
    """Return the path of a program; fail the test if the program is missing."""
    found = find_program(name)
    if found is None:
        pytest.fail(f"{name} is not installed, and this run must test with it")
    return found


def must_have_all() -> bool:
    """Return whether a missing program must fail its tests."""
    return bool(os.environ.get("CI")) or os.environ.get("SARATOGA_NEED_PROGRAMS") == "1"


def needed(item: pytest.Item) -> tuple[str, ...]:
    return tuple(name for mark in item.iter_markers("needs") for name in mark.args)


def missing_of(names: tuple[str, ...]) -> set[str]:
    return {name for name in names if find_program(name) is None}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    unknown = {name for item in items for name in needed(item)} - set(KNOWN)
    assert not unknown, f"no such programs are known: {unknown}"
    if must_have_all():
        return
    left_out = [item for item in items if missing_of(needed(item))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_runtest_setup(item: pytest.Item) -> None:
    missing = missing_of(needed(item))
    if missing:
        pytest.fail(f"not installed, and this run must test with it: {', '.join(sorted(missing))}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    missing = missing_of(KNOWN)
    if missing and not must_have_all():
        terminalreporter.write_line(
            f"not tested because programs are missing: {', '.join(sorted(missing))}",
            yellow=True,
        )
