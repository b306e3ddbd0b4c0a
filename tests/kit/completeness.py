"""Fail a test run that had to be complete and was not.

With `SARATOGA_NEED_REDIS=1` in the environment, no test may be skipped or expected to fail, and tests
must have passed against redis-server.
"""

import os

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
