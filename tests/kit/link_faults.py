"""Faults of a link (`faulty_link.py`): answers lost, connections that break, headers added."""

from collections.abc import Callable
from random import Random

from kit.faulty_link import FaultyLink, LinkConnection, LinkFault, unchanged

LINE_END = b"\r\n"


def lose_answers_to(is_lost: Callable[[bytes], bool]) -> LinkFault:
    """Cut a connection when the answer comes to a request for which `is_lost` holds."""

    def fault(link: FaultyLink, connection: LinkConnection) -> None:
        loses = False

        def to_server(data: bytes) -> bytes:
            nonlocal loses
            loses = loses or is_lost(data)
            return data

        connection.to_server = to_server
        connection.to_client = lambda data: link.lose_answer(connection) if loses else data

    return fault


def lose_first_answers() -> LinkFault:
    """Lose the answer to each new Function call; the same call is answered when it is repeated."""
    seen: set[bytes] = set()

    def is_lost(data: bytes) -> bool:
        if b"FCALL" not in data or data in seen:
            return False
        seen.add(data)
        return True

    return lose_answers_to(is_lost)


def lose_next_answer(function: str) -> LinkFault:
    """Lose the answer to the next call of one Function."""
    awaited = [function.encode()]

    def is_lost(data: bytes) -> bool:
        if awaited and awaited[0] in data:
            awaited.clear()
            return True
        return False

    return lose_answers_to(is_lost)


def break_after(seed: int, fewest: int, most: int) -> LinkFault:
    """Cut each connection in place of one of the pieces from the server, by chance."""
    chance = Random(seed)

    def fault(link: FaultyLink, connection: LinkConnection) -> None:
        left = chance.randint(fewest, most)

        def to_client(data: bytes) -> bytes:
            nonlocal left
            left -= 1
            return data if left else link.lose_answer(connection)

        connection.to_client = to_client

    return fault


def add_header(name: str, value: str) -> LinkFault:
    """Add a header to each connection's HTTP request, as a host's proxy does."""

    def fault(link: FaultyLink, connection: LinkConnection) -> None:
        received = b""

        def to_server(data: bytes) -> bytes:
            nonlocal received
            received += data
            first, found, rest = received.partition(LINE_END)
            if not found:
                return b""
            connection.to_server = unchanged
            return first + found + f"{name}: {value}".encode() + LINE_END + rest

        connection.to_server = to_server

    return fault
