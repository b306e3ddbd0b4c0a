"""The command that installs the client on a friend's machine."""

from pathlib import Path

import pytest

from saratoga_client.local import installation
from saratoga_client.local.installation import BY_NAME, install_line, line_for, origin_of

ELSEWHERE = "https://code.example.org/cards/saratoga.git"


def clone(folder: Path, url: str) -> str:
    """Make `folder` a clone of `url`; return its file URL, as installation metadata has it."""
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text(
        '[core]\n\tbare = false\n[remote "spare"]\n\turl = https://spare.example.org/x\n'
        f'[remote "origin"]\n\tfetch = +refs/heads/*\n\turl = {url}\n[branch "main"]\n'
    )
    return folder.as_uri()


def test_what_came_from_a_repository_is_had_from_there() -> None:
    direct_url = {"url": ELSEWHERE, "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}}
    assert line_for(direct_url) == f"pip install git+{ELSEWHERE}"


def test_a_clone_knows_where_it_came_from(tmp_path: Path) -> None:
    direct_url = {"url": clone(tmp_path, ELSEWHERE), "dir_info": {"editable": True}}
    assert line_for(direct_url) == f"pip install git+{ELSEWHERE}"


@pytest.mark.parametrize(
    "url",
    [
        "git@code.example.org:cards/saratoga.git",
        "ssh://code.example.org/saratoga",
        "https://anna:secret@code.example.org/saratoga",
        "../saratoga",
    ],
)
def test_a_local_or_secret_source_is_not_in_the_install_line(tmp_path: Path, url: str) -> None:
    assert line_for({"url": clone(tmp_path, url), "dir_info": {}}) == BY_NAME


@pytest.mark.parametrize(
    "direct_url", [{}, [], None, {"url": 3}, {"url": "file:///nowhere/at/all"}]
)
def test_without_a_source_the_install_line_names_the_package(direct_url: object) -> None:
    assert line_for(direct_url) == BY_NAME


def test_what_is_no_clone_has_no_origin(tmp_path: Path) -> None:
    assert origin_of(tmp_path) == ""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_bytes(b"\xff\xfe")
    assert origin_of(tmp_path) == ""


def test_a_program_that_was_never_installed_has_a_line_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(installation, "PACKAGE", "a-package-that-nobody-has")
    assert install_line() == BY_NAME
