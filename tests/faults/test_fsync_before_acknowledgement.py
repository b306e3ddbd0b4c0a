"""System calls show that a move is acknowledged only when the store's log is on disk.

Server and store are traced together, so their calls have one order: the move is sent to the store,
the store writes and syncs its log, and only then the acknowledgement is written to the player's
socket.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from kit.altered_server import QUICK
from kit.racing_bots import players_at_a_table
from kit.server_process import program, running_server

GAME = "lady-palk"
MOVES = 20
"""The least number of acknowledged moves."""

PACE = 50.0
"""Moves a second of the bot."""

READS, WRITES = "read,readv,recvfrom", "write,writev,sendto,sendmsg"
CALL: Final = re.compile(r"(?P<name>\w+)\(\d+<(?P<path>[^>]*)>(?P<rest>.*)")
RESUMED: Final = re.compile(r"<\.\.\. \w+ resumed>")


class Call(NamedTuple):
    """A system call on an open file or socket, and the lines of the trace where it began and ended."""

    began: int
    ended: int
    name: str
    path: str
    rest: str

    @property
    def reads(self) -> bool:
        return self.name in READS.split(",")

    @property
    def writes(self) -> bool:
        return self.name in WRITES.split(",")

    @property
    def syncs(self) -> bool:
        return self.name in ("fsync", "fdatasync") and self.rest.rstrip().endswith("= 0")


def read_calls(output: Path) -> list[Call]:
    """Read the traced calls of all processes in the order in which they began."""
    begun: dict[str, tuple[int, str]] = {}
    calls = []
    for place, line in enumerate(output.read_text(errors="replace").splitlines()):
        process, _, text = line.partition(" ")
        began, text = place, text.strip()
        if text.endswith("<unfinished ...>"):
            begun[process] = place, text.removesuffix("<unfinished ...>")
            continue
        if resumed := RESUMED.match(text):
            began, first = begun.pop(process, (place, ""))
            text = first + text[resumed.end() :]
        if call := CALL.search(text):
            calls.append(Call(began, place, call["name"], call["path"], call["rest"]))
    return sorted(calls)


async def make_moves(url: str) -> None:
    """Let a bot race alone until it has made enough moves, one after another."""
    async with players_at_a_table(url, GAME, "Anna", line_up=("weak",)) as (anna,):
        news = asyncio.Event()
        anna.notes.on_news = news.set
        racing = asyncio.create_task(anna.race(None, PACE, starts_with=1))
        racing.add_done_callback(lambda _: news.set())
        while len(anna.notes.acknowledged) < MOVES:
            assert not racing.done(), racing
            news.clear()
            await news.wait()
        racing.cancel()


def durable_when_acknowledged(calls: Sequence[Call]) -> Iterator[bool]:
    # one without a board, by which the server looks whether the store answers, writes nothing
    commits = [
        call for call in calls if call.reads and re.search("commit_boards.*:race:", call.rest)
    ]
    on_log = [call for call in calls if call.path.endswith(".aof")]
    for call in calls:
        if call.writes and "board\\242re" in call.rest:
            commit = max(each.ended for each in commits if each.ended < call.began)
            # the store writes its log after each round of commands: the first write holds this commit
            later = (each.ended for each in on_log if each.writes and each.began > commit)
            written = min(later, default=call.began)
            yield any(
                each.syncs and written < each.began and each.ended < call.began for each in on_log
            )


@pytest.mark.needs("strace")
@pytest.mark.parametrize("durability", ["safe", pytest.param("fast", marks=pytest.mark.long)])
async def test_at_safe_no_move_is_acknowledged_before_it_is_on_disk(
    tmp_path: Path, durability: str
) -> None:
    """At `fast` some moves are, which shows that the trace would tell."""
    output = tmp_path / "calls"
    traced = f"trace={READS},{WRITES},fsync,fdatasync"
    # -D: the server keeps its own process id, and strace works behind it
    strace = (program("strace"), "-D", "-f", "-qq", "-y", "-s", "300", "-e", traced)
    before = (*strace, "-e", "signal=none", "-o", str(output))
    async with running_server(
        "--durability", durability, folder=tmp_path, before=before, module=QUICK
    ) as server_process:
        await make_moves(server_process.url)
    shown = list(durable_when_acknowledged(read_calls(output)))
    assert len(shown) >= MOVES
    assert all(shown) is (durability == "safe")
