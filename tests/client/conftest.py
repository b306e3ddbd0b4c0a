"""Keep the client's tests away from the files of this machine's user."""

from pathlib import Path

import pytest

from saratoga_client.local.paths import HOME_VARIABLE


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
