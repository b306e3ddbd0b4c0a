"""The page's pure modules in Node.js: `make page-check` runs the same tests."""

import subprocess
from pathlib import Path

import pytest


@pytest.mark.needs("node")
def test_the_pure_modules_of_the_page_do_what_their_tests_say() -> None:
    told = subprocess.run(
        ["node", "--test"], cwd=Path(__file__).parent, capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stdout + told.stderr
