"""Tests that every echo server responds with the requested number of bytes."""

import asyncio

import pytest

from benchmarks.closed_loop import command_payload, echo_payload
from benchmarks.contestants import echo_server
from benchmarks.measuring import Load
from kit.lean_socket import connect

WITHIN = 20.0
"""Longest time in seconds that a wait takes; a bound, not a measurement."""


@pytest.mark.parametrize("answer", [224, 300])
@pytest.mark.parametrize(
    ("program", "is_command"),
    [
        (("echo_server.py",), False),
        (("transport_echo.py", "bytes"), False),
        (("transport_echo.py", "commands"), True),
    ],
)
async def test_an_echo_answers_with_the_size_that_is_asked_for(
    program: tuple[str, ...], is_command: bool, answer: int
) -> None:
    like = Load(messages=1, sent=54, answered=answer)
    payload = (command_payload if is_command else echo_payload)(like)
    assert len(payload) == 54
    heard: asyncio.Queue[bytes] = asyncio.Queue()
    with echo_server(*program) as running:
        socket = await connect("127.0.0.1", running.ports[0])
        socket.on_message = heard.put_nowait
        async with asyncio.timeout(WITHIN):
            for _ in range(2):
                socket.send(payload)
                assert len(await heard.get()) == answer
        socket.close()
