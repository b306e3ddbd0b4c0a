"""No test of the players' side touches what the player of this machine keeps."""

from pathlib import Path

import pytest

from saratoga_client.local.paths import HOME_VARIABLE


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
