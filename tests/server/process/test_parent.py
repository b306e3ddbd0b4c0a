"""The program that started the server learns who is on it."""

import asyncio
import os

from saratoga_server.live.people import Person
from saratoga_server.process.parent import ANSWER, answer_parent


async def test_a_question_is_answered_by_one_line_and_other_lines_are_ignored() -> None:
    reading, writing = os.pipe()
    lines: asyncio.Queue[bytes] = asyncio.Queue()
    for line in (b"\n", b"who?\n", b"people\n", b"people\r\n"):
        lines.put_nowait(line)
    answering = asyncio.create_task(
        answer_parent(lines, lambda: [Person("p" * 16, "Zo\u00eb", "mint-otter-42")], writing)
    )
    with os.fdopen(reading, "rb") as answers:
        for _ in range(2):
            line = await asyncio.to_thread(answers.readline)
            assert line.decode() == f'{ANSWER}[["{"p" * 16}","Zo\u00eb","mint-otter-42"]]\n'
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)
        os.close(writing)
        assert answers.read() == b""


async def test_a_parent_that_has_gone_is_not_answered() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    lines: asyncio.Queue[bytes] = asyncio.Queue()
    lines.put_nowait(b"people\n")
    asked: list[int] = []

    def people() -> list[Person]:
        asked.append(1)
        if len(asked) == 1:
            lines.put_nowait(b"people\n")
        else:
            done.set()
        return []

    done = asyncio.Event()
    answering = asyncio.create_task(answer_parent(lines, people, writing))
    async with asyncio.timeout(10):
        await done.wait()  # the second question, after the answer to the first could not be written
    answering.cancel()
    os.close(writing)
