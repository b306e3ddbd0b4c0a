"""The program as a process of its own: its exit code and its streams."""

import subprocess
import sys

import pytest

from saratoga_client.problems import Exit


def saratoga(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the program without a terminal."""
    return subprocess.run(
        [sys.executable, "-m", "saratoga_client", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_version_goes_to_standard_output() -> None:
    ended = saratoga("--version")
    assert (ended.returncode, ended.stderr) == (Exit.DONE, "")
    assert ended.stdout.startswith("saratoga ")


@pytest.mark.parametrize("words", [("--plain", "rules"), ("--server", "ws://a:1", "rules")])
def test_options_of_a_command_must_follow_it(words: tuple[str, ...]) -> None:
    ended = saratoga(*words, "canfield")
    assert (ended.returncode, ended.stdout) == (Exit.USAGE, "")
    assert "Options go after the command: saratoga rules" in ended.stderr


def test_a_problem_becomes_the_exit_code_of_the_process() -> None:
    ended = saratoga("join", "ws://127.0.0.1:1/mint-otter-42")
    assert (ended.returncode, ended.stdout) == (Exit.UNREACHABLE, "")
    assert "Traceback" not in ended.stderr
