"""Faults for a link (`faulty_link.py`): lost answers, broken connections, added headers."""

import asyncio
from collections.abc import Callable
from random import Random

from kit.faulty_link import FaultyLink, LinkConnection, LinkFault, unchanged

LINE_END = b"\r\n"


def lose_answers_to(is_lost: Callable[[bytes], bool]) -> LinkFault:
    """Return a fault that cuts the connection when the answer to a selected request arrives."""

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
    """Return a fault that loses the answer to each Function call, except to a repeated call."""
    seen: set[bytes] = set()

    def is_lost(data: bytes) -> bool:
        if b"FCALL" not in data or data in seen:
            return False
        seen.add(data)
        return True

    return lose_answers_to(is_lost)


def lose_next_answer(function: str) -> LinkFault:
    """Return a fault that loses the answer to the next call of one Function."""
    awaited = [function.encode()]

    def is_lost(data: bytes) -> bool:
        if awaited and awaited[0] in data:
            awaited.clear()
            return True
        return False

    return lose_answers_to(is_lost)


def cut_within_commits(on_cut: Callable[[], None]) -> LinkFault:
    """Return a fault that forwards half of each commit, calls `on_cut` and cuts the connection."""

    def fault(link: FaultyLink, connection: LinkConnection) -> None:
        def to_server(data: bytes) -> bytes:
            if b"commit_boards" not in data:
                return data
            connection.send_to_server(data[: len(data) // 2])
            on_cut()
            connection.cut()
            return b""

        connection.to_server = to_server

    return fault


def break_after(seed: int, fewest: int, most: int) -> LinkFault:
    """Return a fault that cuts each connection after a random number of received chunks."""
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
    """Return a fault that adds a header to each connection's HTTP request, as a reverse proxy does."""

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


def narrow(bits: int, round_trip: float) -> LinkFault:
    """Return a fault that makes a link slow: so many bits a second each way, shared by all connections.

    A connection opens after `round_trip` seconds, and data takes half of that each way, in its order.
    """
    free = {"to_server": 0.0, "to_client": 0.0}

    def fault(link: FaultyLink, connection: LinkConnection) -> None:
        loop = asyncio.get_running_loop()
        opens = loop.time() + round_trip
        last = {"to_server": 0.0, "to_client": 0.0}

        def arrival(way: str, data: bytes) -> float:
            free[way] = max(free[way], loop.time()) + 8 * len(data) / bits
            # the loop keeps no order among calls at one time
            last[way] = max(free[way] + round_trip / 2, opens, last[way] + 1e-6)
            return last[way]

        def to_server(data: bytes) -> bytes:
            loop.call_at(arrival("to_server", data), connection.send_to_server, data)
            return b""

        def to_client(data: bytes) -> bytes:
            arrives = arrival("to_client", data)
            loop.call_at(arrives, connection.send_to_client, data)
            connection.late_until = arrives + 1e-6
            return b""

        connection.to_server, connection.to_client = to_server, to_client

    return fault
