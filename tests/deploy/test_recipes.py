"""Units, compose.yaml and image: their programs accept them, a server needs nothing that they forbid, and ports are closed."""

import asyncio
import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from click import Option
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from kit.deployment import DEPLOY, scrape
from kit.racing_bots import LINE_UP, players_at_a_table
from kit.server_process import ServerProcess, program, running_server
from kit.stores import free_port
from saratoga_server.__main__ import main
from saratoga_server.config import DEFAULT_METRICS_PORT, DEFAULT_PORT
from saratoga_server.embedded_store.process import find_binary

UNITS = DEPLOY / "systemd"


def ran(*words: str | Path) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end, whatever its exit code, and return what it said."""
    return subprocess.run(words, capture_output=True, text=True, check=False)


def values(unit: Path, name: str) -> list[str]:
    """Return every value of a setting in a unit."""
    lines = (line.partition("=") for line in unit.read_text().splitlines())
    return [value for key, _, value in lines if key == name]


@cache
def calls_of(group: str) -> frozenset[str]:
    """Return the system calls in one of systemd's groups, such as `@file-system`."""
    said = ran(program("systemd-analyze"), "--no-pager", "syscall-filter", group)
    lines = said.stdout.split("\n")[1:]
    names = [line.strip() for line in lines if line.strip() and "#" not in line]
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
    said = ran(program("systemd-analyze"), "verify", "--man=no", installed_units / unit)
    assert (said.returncode, said.stderr) == (0, "")


@pytest.mark.needs("systemd-analyze")
@pytest.mark.parametrize("unit", [SERVER, BACKUP, STORE_BACKUP], ids=lambda unit: unit.name)
def test_a_unit_exposes_as_little_as_works(unit: Path) -> None:
    said = ran(program("systemd-analyze"), "--no-pager", "security", "--offline=true", unit)
    found = re.search(r"Overall exposure level for .*: ([\d.]+)", said.stdout)
    assert found is not None, said.stdout + said.stderr
    assert float(found[1]) <= MOST_EXPOSED[unit.name]


def test_every_node_has_its_ports_in_nginx_and_prometheus() -> None:
    example = (UNITS / "node.env.example").read_text()
    ports = dict(re.findall(r"^SARATOGA_(PORT|METRICS_PORT)=(\d+)$", example, re.MULTILINE))
    upstream = (DEPLOY / "nginx" / "nodes.conf").read_text()
    # a request without an answer must take no node out of service
    nodes = re.findall(r"server 127\.0\.0\.1:(\d+) max_fails=0;", upstream)
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


FILLED_IN = {"SARATOGA_PUBLIC_URL": "wss://patience.example.org", "SARATOGA_TLS": "/etc/tls"}


def read_compose(environment: dict[str, str]) -> Any:
    """Return the whole configuration; raise `CalledProcessError` if it is invalid."""
    ended = subprocess.run(
        [program("docker-compose"), "--file", str(DEPLOY / "compose.yaml"), "config"],
        check=True,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin"} | environment,
    )
    return yaml.safe_load(ended.stdout)


ROOT = DEPLOY.parent


@pytest.fixture(scope="module")
def compose() -> Any:
    return read_compose(FILLED_IN)


@pytest.fixture(scope="module")
def services(compose: Any) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = compose["services"]
    return found


def settings_of_the_server() -> set[str]:
    """Return every environment variable that the server reads."""
    return {str(each.envvar) for each in main.params if isinstance(each, Option) and each.envvar}


@pytest.mark.needs("docker-compose")
@pytest.mark.parametrize("name", FILLED_IN)
def test_required_settings_are_asked_for(name: str) -> None:
    given = {key: value for key, value in FILLED_IN.items() if key != name}
    with pytest.raises(subprocess.CalledProcessError) as refused:
        read_compose(given)
    assert "Missing mandatory value" in refused.value.stderr


@pytest.mark.needs("docker-compose")
def test_only_the_proxy_is_reached_from_outside(
    compose: Any, services: dict[str, dict[str, Any]]
) -> None:
    published = {name: each["ports"] for name, each in services.items() if "ports" in each}
    assert published.keys() == {"proxy", "grafana"}
    assert all(port.startswith("127.0.0.1:") for port in published["grafana"])
    closed = {name for name, each in compose["networks"].items() if each and each.get("internal")}
    assert closed == {"players", "store", "metrics"}
    networks = {name: set(each["networks"]) for name, each in services.items()}
    assert networks["valkey"] == {"store"}
    assert networks["prometheus"] == {"metrics"}
    assert networks["node-1"] == networks["node-2"] == closed
    assert networks["proxy"].isdisjoint({"store", "metrics"})


@pytest.mark.needs("docker-compose")
def test_mounted_files_exist_and_find_the_nodes(
    services: dict[str, dict[str, Any]],
) -> None:
    mounted = [
        Path(volume.partition(":")[0])
        for each in services.values()
        for volume in each.get("volumes", [])
        if volume.startswith(str(DEPLOY))
    ]
    assert len(mounted) > 8
    assert [path for path in mounted if not path.is_file()] == []
    nodes = {name for name in services if name.startswith("node-")}
    upstream = (DEPLOY / "nginx" / "nodes-compose.conf").read_text()
    assert set(re.findall(r"server ([\w-]+):7470 resolve max_fails=0;", upstream)) == nodes
    targets = yaml.safe_load((DEPLOY / "prometheus" / "targets-compose.yml").read_text())
    assert {target.partition(":")[0] for target in targets[0]["targets"]} == nodes


@pytest.mark.needs("docker-compose")
def test_secrets_are_made_for_each_machine_and_kept_out_of_git(
    compose: Any, tmp_path: Path
) -> None:
    shutil.copy(DEPLOY / "make-secrets.sh", tmp_path)
    for _ in range(2):
        subprocess.run([tmp_path / "make-secrets.sh"], check=True, capture_output=True)
    wanted = {Path(each["file"]) for each in compose["secrets"].values()}
    made = {path.name: path.read_text().strip() for path in (tmp_path / "secrets").iterdir()}
    assert made.keys() == {path.name for path in wanted}
    assert re.fullmatch(r"[0-9a-f]{48}", made["store_password"])
    assert made["store_url"] == f"redis://:{made['store_password']}@valkey:6379"
    assert made["store_settings"] == f"requirepass {made['store_password']}"
    kept_out = ("deploy/secrets/store_url", "deploy/.env")
    ignored = ran("git", "-C", ROOT, "check-ignore", *kept_out)
    assert len(ignored.stdout.split()) == 2


@pytest.mark.needs("docker-compose")
async def test_the_store_accepts_only_clients_with_the_secret_address(
    services: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    """Run the container's command with its secrets, and a server on that store."""
    shutil.copy(DEPLOY / "make-secrets.sh", tmp_path)
    makes = await asyncio.create_subprocess_exec(tmp_path / "make-secrets.sh")
    assert await makes.wait() == 0
    secrets, port = tmp_path / "secrets", free_port()
    (tmp_path / "data").mkdir()
    there = {
        "valkey-server": str(find_binary()),
        "/etc/valkey/valkey.conf": str(DEPLOY / "valkey" / "valkey-safe.conf"),
        "/run/secrets/store_settings": str(secrets / "store_settings"),
        "/data": str(tmp_path / "data"),
        "0.0.0.0": "127.0.0.1",
    }
    command = services["valkey"]["command"]
    assert set(there) <= set(command)
    address = tmp_path / "store_url"
    address.write_text(
        (secrets / "store_url").read_text().replace("valkey:6379", f"localhost:{port}")
    )
    store = await asyncio.create_subprocess_exec(
        *(there.get(word, word) for word in command),
        *("--port", str(port), "--logfile", str(tmp_path / "log")),
    )
    try:
        async with running_server("--redis-file", str(address)) as server_process:
            assert (await server_process.get("/readyz"))[0] == 200
            assert (
                address.read_text().split(":")[2].split("@")[0]
                not in server_process.log.read_text()
            )
    finally:
        store.terminate()
        assert await store.wait() == 0


def test_the_examples_use_existing_settings_only() -> None:
    known = settings_of_the_server()
    for example in (DEPLOY / "systemd").glob("*.env.example"):
        named = set(re.findall(r"^(SARATOGA_\w+)=", example.read_text(), re.MULTILINE))
        assert named, example
        assert named - known == set(), example
    compose = (DEPLOY / "compose.yaml").read_text()
    assert set(re.findall(r"^ +(SARATOGA_\w+):", compose, re.MULTILINE)) - known == set()
    asked = set(re.findall(r"\$\{(SARATOGA_\w+)", compose))
    example_text = (DEPLOY / "compose.env.example").read_text()
    assert set(re.findall(r"^(SARATOGA_\w+)=", example_text, re.MULTILINE)) == asked


@pytest.mark.needs("shellcheck")
def test_shellcheck_accepts_the_scripts() -> None:
    scripts = [*DEPLOY.rglob("*.sh"), ROOT / ".ci" / "run"]
    assert len(scripts) > 1
    said = ran(program("shellcheck"), *scripts)
    assert said.returncode == 0, said.stdout


DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
LOCKS = ("requirements.lock", "build.lock")

PIN = re.compile(r"^([a-z0-9-]+)==(\S+)((?: \\\n +--hash=sha256:[0-9a-f]{64})+)$", re.MULTILINE)


def locked(name: str) -> dict[str, Version]:
    """Return the version of every package in a lock file."""
    text = (DEPLOY / name).read_text()
    pins = {found[1]: Version(found[2]) for found in PIN.finditer(text)}
    assert len(pins) == len(re.findall(r"^[a-z]", text, re.MULTILINE)), "a pin without a hash"
    return pins


def unmet(wanted: list[str], pins: dict[str, Version]) -> list[str]:
    """Return the requirements that a lock file does not fulfil, on Linux."""
    found = []
    for text in wanted:
        requirement = Requirement(text)
        pin = pins.get(canonicalize_name(requirement.name))
        if pin is None or not requirement.specifier.contains(pin):
            found.append(text)
    return found


@pytest.mark.needs("hadolint")
def test_hadolint_accepts_the_dockerfile() -> None:
    said = ran(program("hadolint"), DEPLOY / "Dockerfile")
    assert (said.returncode, said.stdout) == (0, "")


def test_the_build_context_has_only_files_that_the_image_copies() -> None:
    copied = {
        name
        for line in re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE)
        for name in line.split()
    }
    ignoring = (ROOT / ".dockerignore").read_text().splitlines()
    assert ignoring[1] == "*"
    assert {line[1:] for line in ignoring if line.startswith("!")} == copied
    assert [name for name in copied if not (ROOT / name).exists()] == []


def test_the_locks_fulfil_the_projects_requirements() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = project["project"]["dependencies"]
    wanted += project["project"]["optional-dependencies"]["server"]
    assert unmet(wanted, locked("requirements.lock")) == []
    assert unmet(project["build-system"]["requires"], locked("build.lock")) == []
    pins = locked("requirements.lock")
    assert unmet([f"redis>{pins['redis']}", "nothing>=1"], pins) != []


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_address(name: str) -> None:
    assert not re.search(r"://|index-url|find-links", (DEPLOY / name).read_text())


async def test_the_health_check_recognises_a_ready_server(
    server_process: ServerProcess,
) -> None:
    found = re.search(r"^HEALTHCHECK .*\\\n +CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    assert found is not None
    [python, flag, code] = json.loads(found[1])
    assert (python, flag) == ("python", "-c")

    def asks(port: int) -> int:
        words = [sys.executable, flag, code.replace(":7470", f":{port}")]
        return subprocess.run(words, capture_output=True, check=False).returncode

    assert asks(server_process.port) == 0
    assert asks(free_port()) != 0
