"""Print the figures that tests measured, at the end of a run."""

import pytest

_figures: list[str] = []


def note(figure: str) -> None:
    """Print this line after the last test."""
    _figures.append(figure)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for figure in _figures:
        terminalreporter.write_line(figure)
