"""Tests in a real browser: they share one event loop with Chromium, and are part of `make browser`."""

from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest

from kit import players

HERE: Final = Path(__file__).parent

# without the extra `browser` there is nothing to collect; `make browser` then finds no test and fails
collect_ignore_glob = [] if find_spec("playwright") else ["test_*.py"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.needs("chromium-headless-shell"))
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest.fixture(autouse=True)
def own_players(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the players of a test tokens of their own, since tests share a server."""
    token_of = players.token_of
    monkeypatch.setattr(players, "token_of", lambda name: token_of(f"{request.node.nodeid} {name}"))
