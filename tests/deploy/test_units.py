"""systemd's units: systemd accepts them, and a server with players needs nothing that they forbid."""

import asyncio
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

from kit.deployment import DEPLOY
from kit.deployment_fixture import scrape
from kit.programs import program
from kit.recorded_players import LINE_UP, players_at_a_table
from kit.server_process import running_server
from saratoga_server.config import DEFAULT_METRICS_PORT, DEFAULT_PORT

UNITS = DEPLOY / "systemd"


def values(unit: Path, name: str) -> list[str]:
    """Return every value of a setting in a unit."""
    lines = (line.partition("=") for line in unit.read_text().splitlines())
    return [value for key, _, value in lines if key == name]


@cache
def calls_of(group: str) -> frozenset[str]:
    """Return the system calls in one of systemd's groups, such as `@file-system`."""
    said = subprocess.run(
        [program("systemd-analyze"), "--no-pager", "syscall-filter", group],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    names = [line.strip() for line in said[1:] if line.strip() and "#" not in line]
    return expanded(tuple(names))


def expanded(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(
        call
        for name in names
        for call in (calls_of(name) if name.startswith("@") else frozenset({name}))
    )


def allowed_calls(unit: Path) -> frozenset[str]:
    """Return the system calls that a unit's process may use; `@default` is always allowed."""
    allowed = calls_of("@default")
    for value in values(unit, "SystemCallFilter"):
        if value.startswith("~"):
            allowed -= expanded(tuple(value[1:].split()))
        else:
            allowed |= expanded(tuple(value.split()))
    return allowed


SERVER = UNITS / "saratoga-server@.service"
BACKUP = UNITS / "saratoga-backup@.service"
STORE_BACKUP = UNITS / "valkey-backup.service"

MOST_EXPOSED = {SERVER.name: 1.0, BACKUP.name: 1.0, STORE_BACKUP.name: 1.0}
"""The largest exposure of each unit on systemd's scale from 0 (can do nothing) to 10 (can do everything)."""

HOT = ("read,readv,recvfrom,recvmsg,write,writev,sendto,sendmsg,epoll_wait,epoll_pwait,epoll_ctl,"
       "futex,close,lseek,newfstatat,fdatasync,clock_nanosleep,getpid,poll,readlink,getdents64")  # fmt: skip
"""System calls so frequent that tracing them would take minutes; all of them are allowed."""

CALL = re.compile(r"^(\d+) +(?:<\.\.\. )?(\w+)(?: resumed>|\()(.*)$")

UNFINISHED = " <unfinished ...>"
"""The end of a trace line whose call is interrupted by that of another process."""

TEMPORARY = re.compile(re.escape(tempfile.gettempdir()) + r"/(\w{8}|saratoga-\w+/.*)")
"""The temporary folder, which is private in the units; Python checks that it can write there."""


@pytest.fixture
def installed_units(tmp_path: Path) -> Path:
    """A folder with the units, in which the paths of installed programs are replaced."""
    shutil.copytree(UNITS, tmp_path / "units")
    for unit in (tmp_path / "units").glob("*.service"):
        text = unit.read_text().replace("/opt/saratoga/bin", str(Path(sys.executable).parent))
        text = text.replace("/usr/local/bin/back-up-valkey", str(DEPLOY / "back-up-valkey.sh"))
        unit.write_text(text)
    return tmp_path / "units"


@pytest.mark.needs("systemd-analyze")
@pytest.mark.parametrize(
    "unit",
    [
        *("saratoga-server@x.service", "saratoga-backup@x.service", "saratoga-backup@x.timer"),
        *("valkey-backup.service", "valkey-backup.timer"),
    ],
)
def test_systemd_accepts_a_unit(installed_units: Path, unit: str) -> None:
    said = subprocess.run(
        [program("systemd-analyze"), "verify", "--man=no", str(installed_units / unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (said.returncode, said.stderr) == (0, "")


@pytest.mark.needs("systemd-analyze")
@pytest.mark.parametrize("unit", [SERVER, BACKUP, STORE_BACKUP], ids=lambda unit: unit.name)
def test_a_unit_exposes_as_little_as_works(unit: Path) -> None:
    said = subprocess.run(
        [program("systemd-analyze"), "--no-pager", "security", "--offline=true", str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.search(r"Overall exposure level for .*: ([\d.]+)", said.stdout)
    assert found is not None, said.stdout + said.stderr
    assert float(found[1]) <= MOST_EXPOSED[unit.name]


def test_every_node_has_its_ports_in_nginx_and_prometheus() -> None:
    example = (UNITS / "node.env.example").read_text()
    ports = dict(re.findall(r"^SARATOGA_(PORT|METRICS_PORT)=(\d+)$", example, re.MULTILINE))
    nodes = re.findall(r"server 127\.0\.0\.1:(\d+)", (DEPLOY / "nginx" / "nodes.conf").read_text())
    assert nodes == [str(DEFAULT_PORT), ports["PORT"]]
    targets = (DEPLOY / "prometheus" / "targets-machine.yml").read_text()
    scraped = re.findall(r'"127\.0\.0\.1:(7\d+)"', targets)
    assert scraped == [str(DEFAULT_METRICS_PORT), ports["METRICS_PORT"]]
    (bound,) = values(SERVER, "SocketBindAllow")
    assert bound == "tcp:7470-7499"
    assert all(7470 <= int(port) <= 7499 for port in (*nodes, *scraped))


@pytest.mark.needs("systemd-analyze", "strace")
async def test_a_server_with_players_needs_nothing_that_its_unit_forbids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trace the start, notifications, a race, a scrape, a backup and the end, with an embedded store."""
    notified = tmp_path / "n"
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("NOTIFY_SOCKET", str(notified))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(notified))
        manager.settimeout(10)
        async with (
            running_server(
                *("--metrics-port", "0", "--rate", "0"),
                folder=tmp_path / "server",
                before=traced(tmp_path / "calls"),
            ) as server_process,
            players_at_a_table(server_process.url, "canfield", "Player") as players,
        ):
            await asyncio.gather(*(each.race(1, 0, len(LINE_UP)) for each in players))
            assert (await asyncio.to_thread(scrape, server_process))["saratoga_ready"] == 1
            backup = await asyncio.create_subprocess_exec(
                *(*traced(tmp_path / "calls of the backup"), sys.executable, "-m"),
                *("saratoga_server", "admin", "--data", str(server_process.data)),
                *("backup", str(tmp_path / "backups"), "--keep", "2"),
            )
            assert await backup.wait() == 0
        assert [manager.recv(200) for _ in range(2)] == [b"READY=1", b"STOPPING=1"]
    calls = read_calls(tmp_path / "calls")
    assert {"clone", "clone3"} & {name for name, _ in calls}
    assert any("appendonlydir" in path for path in written(calls))
    check(calls, SERVER, (server_process.folder,))
    calls = read_calls(tmp_path / "calls of the backup")
    check(calls, BACKUP, (server_process.data / "store", tmp_path / "backups"))


def traced(account: Path) -> tuple[str, ...]:
    """Return the command prefix that traces a program and its children."""
    how = ("-f", "-D", "-qq", "-y", "--seccomp-bpf", "-e", "signal=none")
    return (program("strace"), *how, "-e", f"trace=!{HOT}", "-o", str(account))


def read_calls(account: Path) -> list[tuple[str, str]]:
    """Return each call's name, with its arguments and result."""
    calls, begun = [], dict[str, str]()
    for line in account.read_text(errors="replace").splitlines():
        found = CALL.match(line)
        if found is None:
            continue
        process, name, text = found.groups()
        if text.endswith(UNFINISHED):
            begun[process] = text.removesuffix(UNFINISHED)
        else:
            calls.append((name, begun.pop(process, "") + text))
    return calls


def check(calls: list[tuple[str, str]], unit: Path, folders: tuple[Path, ...]) -> None:
    """Check calls and written files against the permissions of a unit."""
    used = {name for name, _ in calls} | set(HOT.split(","))
    assert used - allowed_calls(unit) == set()
    assert [text for name, text in calls if name in ("mmap", "mprotect") and is_both(text)] == []
    families = {
        family
        for name, text in calls
        if name in ("socket", "socketpair")
        for family in re.findall(r"^AF_\w+", text)
    }
    assert "AF_UNIX" in families
    assert families - set(" ".join(values(unit, "RestrictAddressFamilies")).split()) == set()
    assert [text for name, text in calls if name.startswith("clone") and "CLONE_NEW" in text] == []
    own = (*map(str, folders), "/dev/null")
    elsewhere = {path for path in written(calls) if not path.startswith(own)}
    assert {path for path in elsewhere if not TEMPORARY.fullmatch(path)} == set()


def is_both(text: str) -> bool:
    """Return whether the call maps memory that is both writable and executable."""
    return "PROT_WRITE" in text and "PROT_EXEC" in text


def written(calls: list[tuple[str, str]]) -> set[str]:
    """Return the files that were opened for writing."""
    opened = (
        re.search(r"O_(?:WRONLY|RDWR).* = \d+<(.*)>$", text)
        for name, text in calls
        if name in ("open", "openat")
    )
    return {found[1] for found in opened if found}
