"""What a crash leaves of a last write is told from a damaged length."""

import pytest

from saratoga_server.embedded_store.writes_in_file import interrupted_at

SET = b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$4\r\n\r\n*1\r\n"
MULTI, EXEC = b"*1\r\n$5\r\nMULTI\r\n", b"*1\r\n$4\r\nEXEC\r\n"


@pytest.mark.parametrize("begun", [SET, MULTI + SET + SET + EXEC], ids=["command", "transaction"])
def test_every_beginning_of_a_write_is_an_interrupted_write(begun: bytes) -> None:
    for length in range(1, len(begun)):
        assert interrupted_at(SET + begun[:length]) == len(SET), begun[:length]
        assert interrupted_at(begun[:length]) == 0, begun[:length]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        SET,
        SET + MULTI + SET + EXEC,
        SET + b"x",
        SET + bytes(40),
        SET + b"*3\r\n$3\r\nSET\r\n*",
        SET + b"*3x",
        SET + b"*" + b"9" * 40,
        SET.replace(b"$3", b"$300") + SET,
        MULTI + SET.replace(b"$1", b"$100") + EXEC,
        SET.replace(b"*3", b"*9") + SET,
    ],
)
def test_nothing_else_is_an_interrupted_write(content: bytes) -> None:
    assert interrupted_at(content) is None
