"""The replies after a write that count as a confirmation by a replica."""

from typing import Any

import pytest

from saratoga_server.store.confirmations import confirmation_commands, is_confirmed


@pytest.mark.parametrize(
    "replies",
    [
        (b"OK", 1),
        (True, 2),
        (b"OK", 1, [1, 1]),
        (True, 3, [1, 2]),
    ],
)
def test_one_replica_that_has_it_is_enough(replies: tuple[Any, ...]) -> None:
    assert is_confirmed(replies)


@pytest.mark.parametrize(
    "replies",
    [
        pytest.param((b"OK", 0), id="no replica in time"),
        pytest.param((b"OK", 1, [1, 0]), id="on no replica's disk"),
        pytest.param((b"OK", 1, [0, 1]), id="not on the primary's"),
        pytest.param((Exception("OOM no memory"), 1), id="the mark was not written"),
        pytest.param((b"OK", Exception("ERR WAIT cannot be used")), id="no replica was asked"),
        pytest.param((b"OK", 1, Exception("ERR unknown command")), id="half was asked"),
    ],
)
def test_anything_less_is_no_confirmation(replies: tuple[Any, ...]) -> None:
    assert not is_confirmed(replies)


def test_the_mark_is_written_before_and_the_disk_asked_for_last() -> None:
    words = [question[0] for question in confirmation_commands(on_disk=True)]
    assert words == ["SET", "WAIT", "WAITAOF"]
    assert [question[0] for question in confirmation_commands(on_disk=False)] == [
        "SET",
        "WAIT",
    ]
