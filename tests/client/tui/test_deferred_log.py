"""Log messages are not written while a screen is shown; they are written after it closes."""

import io
import logging
from collections.abc import Iterator

import pytest

from saratoga_client.tui.deferred_log import MOST_KEPT, deferred_logs

LOG = logging.getLogger("saratoga.late")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    """A terminal to which a log handler writes messages of the level `warning` and above."""
    written = Terminal()
    speaker = logging.StreamHandler(written)
    speaker.setLevel(logging.WARNING)
    logging.getLogger().addHandler(speaker)
    yield written
    logging.getLogger().removeHandler(speaker)


def test_important_log_lines_are_written_afterwards_in_order(terminal: Terminal) -> None:
    with deferred_logs():
        LOG.warning("one")
        LOG.info("nothing much")
        LOG.error("two")
        assert terminal.getvalue() == ""
    assert terminal.getvalue() == "one\ntwo\n"
    LOG.warning("three")
    assert terminal.getvalue().endswith("three\n")


def test_log_lines_are_written_after_a_failed_screen_too(terminal: Terminal) -> None:
    def fail() -> None:
        with deferred_logs():
            LOG.warning("before that")
            raise ValueError("gone")

    with pytest.raises(ValueError, match="gone"):
        fail()
    assert terminal.getvalue() == "before that\n"


def test_the_number_of_deferred_log_lines_is_bounded(terminal: Terminal) -> None:
    with deferred_logs():
        for number in range(MOST_KEPT + 5):
            LOG.warning("%d", number)
    assert terminal.getvalue().split() == [str(number) for number in range(5, MOST_KEPT + 5)]


def test_a_log_that_goes_into_a_file_is_written_at_once() -> None:
    file = io.StringIO()
    speaker = logging.StreamHandler(file)
    logging.getLogger().addHandler(speaker)
    with deferred_logs():
        LOG.warning("at once")
        assert file.getvalue() == "at once\n"
    logging.getLogger().removeHandler(speaker)
