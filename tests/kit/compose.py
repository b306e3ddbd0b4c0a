"""`deploy/compose.yaml` as docker-compose reads it, with anchors and variables resolved."""

import subprocess
from typing import Any

import yaml

from kit.deployment import DEPLOY
from kit.programs import program

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
