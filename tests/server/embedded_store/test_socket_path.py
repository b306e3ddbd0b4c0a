"""The path to the store's socket: short enough for a Unix socket, private, and with any character."""

import os
import socket
import tempfile
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from saratoga_server.embedded_store.socket_path import (
    PATH_LIMIT,
    SOCKET,
    ask,
    is_private,
    open_socket_path,
    url_of,
)


def test_a_short_folders_socket_is_named_directly() -> None:
    with tempfile.TemporaryDirectory() as folder, open_socket_path(Path(folder)) as path:
        assert path == str(Path(folder).resolve() / SOCKET)


def test_a_long_folders_socket_is_reached_by_a_private_link_that_is_removed(
    tmp_path: Path,
) -> None:
    folder = tmp_path / ("long name " * 16)
    folder.mkdir()
    with open_socket_path(folder) as path:
        assert len(os.fsencode(path)) <= PATH_LIMIT
        assert Path(path).readlink() == folder.resolve() / SOCKET
        assert is_private(Path(path).parent)
    assert not Path(path).parent.exists()


def test_a_long_temporary_folder_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("long" * 30)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with open_socket_path(long) as path:
        assert len(os.fsencode(path)) <= PATH_LIMIT


def test_any_character_of_a_path_stands_in_the_address() -> None:
    path = "/my data/50%/a,b?c#d/store.sock"
    parts = urlsplit(url_of(path))
    assert (parts.scheme, unquote(parts.path), parts.query) == ("unix", path, "")


def test_a_folder_is_private_if_it_is_ours_and_closed_to_others(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    assert is_private(tmp_path)
    tmp_path.chmod(0o750)
    assert not is_private(tmp_path)
    assert not is_private(tmp_path / "nothing")
    assert not is_private(Path("/"))


async def test_a_socket_without_a_store_gives_no_answer(tmp_path: Path) -> None:
    assert await ask(str(tmp_path / SOCKET), b"PING") == b""


async def test_a_store_that_hangs_gives_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.embedded_store.socket_path.ANSWER_WITHIN", 0.05)
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(SOCKET)
        listening.listen()
        assert await ask(SOCKET, b"PING") == b""
