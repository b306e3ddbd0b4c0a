"""The commands that install the client on a friend's machine, and the server on this one."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from saratoga_client.local import installation
from saratoga_client.local.installation import (
    install_line,
    origin_of,
    repository_of,
    server_install_line,
)

ELSEWHERE = "https://code.example.org/cards/saratoga.git"
FROM_A_REPOSITORY = {"url": ELSEWHERE, "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}}


class Installed:
    """An installation with this PEP 610 metadata."""

    def __init__(self, direct_url: str | None) -> None:
        self._direct_url = direct_url

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return self._direct_url


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Pretend that the program was installed with this metadata."""

    def install(direct_url: str | None) -> None:
        monkeypatch.setattr(installation, "distribution", lambda _name: Installed(direct_url))

    return install


def clone(folder: Path, url: str) -> str:
    """Make `folder` a clone of `url`; return its file URL, as installation metadata has it."""
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text(
        '[core]\n\tbare = false\n[remote "spare"]\n\turl = https://spare.example.org/x\n'
        f'[remote "origin"]\n\tfetch = +refs/heads/*\n\turl = {url}\n[branch "main"]\n'
    )
    return folder.as_uri()


def test_what_came_from_a_repository_is_had_from_there(installed: Any) -> None:
    assert repository_of(FROM_A_REPOSITORY) == ELSEWHERE
    installed(json.dumps(FROM_A_REPOSITORY))
    assert install_line() == f"pip install git+{ELSEWHERE}"
    assert server_install_line() == f"pip install 'saratoga[server] @ git+{ELSEWHERE}'"


def test_a_clone_knows_where_it_came_from(tmp_path: Path) -> None:
    direct_url = {"url": clone(tmp_path, ELSEWHERE), "dir_info": {"editable": True}}
    assert repository_of(direct_url) == ELSEWHERE


@pytest.mark.parametrize(
    "url",
    [
        "git@code.example.org:cards/saratoga.git",
        "ssh://code.example.org/saratoga",
        "https://anna:secret@code.example.org/saratoga",
        "../saratoga",
    ],
)
def test_a_local_or_secret_source_is_not_for_friends(
    tmp_path: Path, url: str, installed: Any
) -> None:
    folder = tmp_path / "a clone"
    folder.mkdir()
    installed(json.dumps({"url": clone(folder, url), "dir_info": {}}))
    assert install_line() == ""
    assert shlex.split(server_install_line()) == ["pip", "install", f"{folder}[server]"]


@pytest.mark.parametrize(
    "direct_url", ["{}", "[]", "null", '{"url": 3}', '{"url": "file:///nowhere/at/all"}', "{", None]
)
def test_without_a_source_no_command_installs_the_package_by_name(
    direct_url: str | None, installed: Any
) -> None:
    installed(direct_url)
    assert install_line() == ""
    assert server_install_line() == "pip install '.[server]', in a clone of Saratoga"


def test_what_is_no_clone_has_no_origin(tmp_path: Path) -> None:
    assert origin_of(tmp_path) == ""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_bytes(b"\xff\xfe")
    assert origin_of(tmp_path) == ""


def test_a_program_that_was_never_installed_has_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "PACKAGE", "a-package-that-nobody-has")
    assert install_line() == ""
