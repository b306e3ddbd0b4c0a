"""A connection to the store: replies in order, in chunks of any size; its loss is reported once."""

from typing import Any

import hiredis
import pytest

from kit.fake_transport import FakeTransport
from saratoga_server.store.resp_connection import RespConnection, encode_command


class Log:
    """A record of the received replies, and of how often the connection was lost."""

    def __init__(self) -> None:
        self.replies: list[Any] = []
        self.losses = 0

    def lose(self) -> None:
        self.losses += 1


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def connection(log: Log) -> RespConnection:
    return RespConnection(FakeTransport(), log.replies.append, log.lose)


def test_a_command_is_an_array_of_its_words() -> None:
    assert encode_command("SET", b"k", 7) == b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\n7\r\n"


def test_replies_arrive_whole_however_they_are_cut(connection: RespConnection, log: Log) -> None:
    for byte in b":1\r\n*2\r\n$1\r\na\r\n$-1\r\n-ERR no\r\n":
        connection.data_received(bytes([byte]))
    *replies, error = log.replies
    assert replies == [1, [b"a", None]]
    assert isinstance(error, hiredis.ReplyError)
    connection.data_received(b":2\r\n:3\r\n")
    assert log.replies[3:] == [2, 3]


def test_a_loss_is_reported_once(connection: RespConnection, log: Log) -> None:
    connection.connection_lost(None)
    connection.connection_lost(None)
    assert log.losses == 1


def test_an_aborted_connection_reports_neither_replies_nor_its_loss(
    connection: RespConnection, log: Log
) -> None:
    connection.abort()
    connection.data_received(b":1\r\n")
    connection.connection_lost(None)
    assert (log.replies, log.losses) == ([], 0)
