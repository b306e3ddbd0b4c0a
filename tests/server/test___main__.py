"""The command line of the server: its options, its subcommands, and the modules it imports for each."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from saratoga_server.__main__ import main


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--help"], "--port"),
        (["--help"], "admin"),
        (["--version"], "saratoga-server"),
        (["admin", "--help"], "backup"),
    ],
)
def test_the_help_names_options_and_subcommands(words: list[str], shown: str) -> None:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0
    assert shown in result.output


def test_a_command_that_does_not_exist_is_wrong_usage() -> None:
    assert CliRunner().invoke(main, ["amdin"]).exit_code == 2


def test_the_command_line_loads_neither_the_server_nor_the_administration() -> None:
    loaded = "import sys, saratoga_server.__main__; print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", loaded], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "saratoga_server.config" in modules
    assert {"saratoga_server.serving", "saratoga_server.admin.commands"}.isdisjoint(modules)
