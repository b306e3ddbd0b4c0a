"""The container image: its Dockerfile is valid, its locks fit, and its health check works.

No test builds the image, because that needs Docker.
"""

import json
import re
import subprocess
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from kit.deployment import DEPLOY
from kit.programs import program
from kit.server_process import ServerProcess
from kit.stores import free_port

ROOT = DEPLOY.parent
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
    said = subprocess.run(
        [program("hadolint"), str(DEPLOY / "Dockerfile")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (said.returncode, said.stdout) == (0, "")


def test_the_image_is_small_unprivileged_and_stops_at_sigterm() -> None:
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    assert "USER 10001:10001" in last
    assert "STOPSIGNAL SIGTERM" in last
    assert "pip uninstall" in last
    assert "pip install" not in last
    assert set(re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)) == {
        "python:3.11-slim-bookworm"
    }
    assert DOCKERFILE.count("--require-hashes") == 2


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
