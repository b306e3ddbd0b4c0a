"""What the long targets have measured, said at the end of a run."""

import pytest

_figures: list[str] = []


def note(figure: str) -> None:
    """Say this when the tests are through."""
    _figures.append(figure)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for figure in _figures:
        terminalreporter.write_line(figure)
