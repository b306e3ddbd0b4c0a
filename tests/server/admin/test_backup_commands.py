"""`admin backup` and `admin restore` as a host types them, on a store of a house's own and another."""

from pathlib import Path

from click.testing import CliRunner

from kit.stores import StoreServer
from saratoga_server.__main__ import main


def said(*words: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["admin", *map(str, words)])
    return result.exit_code, result.output


def test_out_into_a_folder_and_back_into_a_store_of_ones_own(
    store_server: StoreServer, tmp_path: Path
) -> None:
    store_server.ask("SET", "here", "now")
    assert said("--redis", store_server.url, "backup", tmp_path / "b", "--keep", "3")[0] == 0
    (backup,) = (tmp_path / "b").iterdir()
    code, told = said("restore", "--check", backup)
    assert (code, "whole, 1 keys" in told) == (0, True)
    code, told = said("--data", tmp_path / "data", "restore", backup)
    assert (code, "1 keys restored; 0 have expired" in told) == (0, True), told
    code, told = said("--data", tmp_path / "data", "restore", backup)
    assert (code, "is not empty: it holds 1 keys" in told) == (1, True), told


def test_there_is_nothing_to_back_up_where_nothing_runs(tmp_path: Path) -> None:
    code, told = said("--data", tmp_path, "backup", tmp_path / "b")
    assert (code, "No server runs on" in told) == (1, True)


def test_what_is_no_backup_is_said(tmp_path: Path) -> None:
    code, told = said("restore", "--check", tmp_path)
    assert (code, "is no backup" in told) == (1, True)
