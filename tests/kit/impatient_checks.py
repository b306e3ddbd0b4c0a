"""Records count as withheld sooner, for tests of servers that withhold them."""

import pytest

from saratoga_client.session import record_check

WITHHELD_AFTER = 0.2


@pytest.fixture
def impatient_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_check, "WITHHELD_AFTER", WITHHELD_AFTER)
    monkeypatch.setattr(record_check, "ASK_AGAIN_AFTER", 0.01)
