"""System calls of a store and a server, traced by strace in order."""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

STRACE: Final = shutil.which("strace")
MUST_TRACE: Final = bool(os.environ.get("CI")) or os.environ.get("SARATOGA_NEED_REDIS") == "1"
"""If true, the tests fail when strace is missing."""

_CALL: Final = re.compile(r"(?P<name>\w+)\((?P<fd>\d+)<(?P<path>[^>]*)>(?P<rest>.*)")


_RESUMED: Final = re.compile(r"<\.\.\. \w+ resumed>")


@dataclass(frozen=True)
class SystemCall:
    """One system call on an open file or socket."""

    name: str
    fd: int
    path: str
    rest: str

    @property
    def on_log(self) -> bool:
        """Whether the call acts on the store's append-only file."""
        return self.path.endswith(".aof")

    @property
    def reads(self) -> bool:
        return self.name in ("read", "readv", "recvfrom")

    @property
    def writes(self) -> bool:
        return self.name in ("write", "writev", "sendto", "sendmsg")

    @property
    def syncs(self) -> bool:
        return self.name in ("fsync", "fdatasync") and self.rest.rstrip().endswith("= 0")


_CALLS: Final = "trace=read,readv,recvfrom,write,writev,sendto,sendmsg,fsync,fdatasync"


def traced(output: Path) -> list[str]:
    """Return the command prefix that traces a program's main thread to `output`."""
    assert STRACE is not None, "strace is not installed, and this run must trace"
    return [STRACE, "-qq", "-y", "-s", "300", "-e", _CALLS, "-e", "signal=none", "-o", str(output)]


def traced_with_children(output: Path) -> list[str]:
    """Return the command prefix that traces all threads and child processes into one ordered log.

    The program keeps its own process id; strace works behind it.
    """
    program, *options = traced(output)
    return [program, "-D", "-f", *options]


def read_calls(output: Path) -> list[SystemCall]:
    found = (_CALL.search(line) for line in output.read_text(errors="replace").splitlines())
    return [
        SystemCall(call["name"], int(call["fd"]), call["path"], call["rest"])
        for call in found
        if call
    ]


def answers(calls: Sequence[SystemCall], request: str) -> Iterator[list[SystemCall]]:
    """Yield, for each request that contains the word, all calls from reading to answering it."""
    for start, call in enumerate(calls):
        if call.reads and request in call.rest:
            for end in range(start + 1, len(calls)):
                if calls[end].fd == call.fd and calls[end].writes:
                    yield list(calls[start : end + 1])
                    break


def is_durable(calls: Sequence[SystemCall]) -> bool:
    """Return whether everything written to the store's log was synced before the answer."""
    logged = [place for place, call in enumerate(calls) if call.on_log and call.writes]
    synced = [place for place, call in enumerate(calls) if call.on_log and call.syncs]
    return bool(logged) and bool(synced) and logged[-1] < synced[-1] < len(calls) - 1


@dataclass(frozen=True)
class Span:
    """A system call of one of several processes, and the log's lines where it began and ended."""

    call: SystemCall
    process: int
    began: int
    ended: int


def read_spans(output: Path) -> list[Span]:
    """Read the traced calls in the order in which they began."""
    begun: dict[int, tuple[int, str]] = {}
    spans = []
    for place, line in enumerate(output.read_text(errors="replace").splitlines()):
        number, _, text = line.partition(" ")
        process, began = int(number), place
        text = text.strip()
        if text.endswith("<unfinished ...>"):
            begun[process] = place, text.removesuffix("<unfinished ...>")
            continue
        if resumed := _RESUMED.match(text):
            began, first = begun.pop(process, (place, ""))
            text = first + text[resumed.end() :]
        if call := _CALL.search(text):
            seen = SystemCall(call["name"], int(call["fd"]), call["path"], call["rest"])
            spans.append(Span(seen, process, began, place))
    return sorted(spans, key=lambda span: span.began)
