"""The folder of an embedded store belongs to one user and one server; its socket has a short path."""

import os
import socket
import tempfile
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from saratoga_server.embedded_store.store_folder import (
    LOOK_AGAIN,
    PATH_LIMIT,
    SOCKET,
    ask,
    is_private,
    lock_for_server,
    locked,
    make_private,
    open_socket_path,
    refuse_other_user,
    unusable,
    url_of,
)
from saratoga_server.ports import StoreRefused


def test_a_new_folder_is_closed_to_others_and_an_open_one_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "store"
    make_private(folder)
    folder.chmod(0o755)
    make_private(folder)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_of_another_user_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "chmod", lambda path, mode: None)
    with pytest.raises(StoreRefused, match="belongs to another user or is open to others"):
        make_private(Path("/tmp"))


async def test_a_folder_belongs_to_one_server(tmp_path: Path) -> None:
    with await lock_for_server(tmp_path):
        with pytest.raises(StoreRefused, match=f"another server, process {os.getpid()}"):
            await lock_for_server(tmp_path)
        assert await locked(tmp_path / "server.lock", within=LOOK_AGAIN) is None
    with await lock_for_server(tmp_path):
        pass


def test_a_folder_that_root_would_create_belongs_to_the_user_of_the_one_around_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = tmp_path / "data" / "store"
    refuse_other_user(new)
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    refuse_other_user(new)
    with pytest.raises(StoreRefused, match=f"{tmp_path} belongs to another user"):
        refuse_other_user(tmp_path)
    monkeypatch.setattr(os, "getuid", lambda: 0)
    other_user_owns(monkeypatch)
    with pytest.raises(StoreRefused, match=f"{tmp_path} belongs to another user.* uid-4000000000"):
        refuse_other_user(new)


def test_a_folder_in_a_closed_one_belongs_to_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other_user_owns(monkeypatch, closed=tmp_path / "data")
    with pytest.raises(StoreRefused, match=f"{tmp_path} belongs to another user"):
        refuse_other_user(tmp_path / "data" / "store")


def other_user_owns(monkeypatch: pytest.MonkeyPatch, closed: Path | None = None) -> None:
    """Let every file belong to another user, and whatever is in `closed` be hidden from this one."""
    stat = Path.stat

    def stat_of_another_user(path: Path) -> os.stat_result:
        if closed is not None and path.is_relative_to(closed):
            raise PermissionError
        values = list(stat(path))
        values[4] = 4_000_000_000
        return os.stat_result(values)

    monkeypatch.setattr(Path, "stat", stat_of_another_user)


def test_what_is_wrong_with_a_folder_is_said_with_the_file() -> None:
    said = unusable(Path("store"), OSError(28, "No space left on device", "store/ledger.json.new"))
    assert "No space left on device: store/ledger.json.new" in said


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
    monkeypatch.setattr("saratoga_server.embedded_store.store_folder.ANSWER_WITHIN", 0.05)
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(SOCKET)
        listening.listen()
        assert await ask(SOCKET, b"PING") == b""
