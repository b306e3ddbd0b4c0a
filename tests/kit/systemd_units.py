"""The permissions of the units in `deploy/systemd`, as systemd interprets them."""

import subprocess
from functools import cache
from pathlib import Path

from kit.deployment import DEPLOY
from kit.programs import program

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
