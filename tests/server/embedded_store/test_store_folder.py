"""The folder of an embedded store belongs to one user and one server."""

import os
from pathlib import Path

import pytest

from saratoga_server.embedded_store.store_folder import (
    LOOK_AGAIN,
    lock_for_server,
    locked,
    make_private,
    refuse_other_user,
    unusable,
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
