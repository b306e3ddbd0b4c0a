"""Print the measurements of tests at the end of a test run."""

import pytest

_figures: list[str] = []


def note(figure: str) -> None:
    """Store a line that is printed after the last test."""
    _figures.append(figure)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for figure in _figures:
        terminalreporter.write_line(figure)
