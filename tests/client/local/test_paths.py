from collections.abc import Callable
from pathlib import Path

import pytest

from saratoga_client.local.paths import (
    HOME_VARIABLE,
    config_folder,
    config_path,
    data_folder,
    state_folder,
)

FOLDERS = (config_folder, state_folder, data_folder)


@pytest.mark.parametrize("folder", FOLDERS)
def test_one_variable_puts_everything_into_one_folder(
    folder: Callable[[], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    assert folder() == tmp_path
    assert not (tmp_path / "config.toml").exists()


def test_a_tilde_is_the_player_s_own_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, "~/cards")
    assert config_path() == Path.home() / "cards" / "config.toml"


def test_without_it_every_kind_has_its_own_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HOME_VARIABLE)
    folders = {folder() for folder in FOLDERS}
    assert all("saratoga" in folder.parts for folder in folders)
    assert config_folder() != data_folder() or len(folders) == 1  # one folder on macOS
