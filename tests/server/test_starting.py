"""What a start loads, and in which order."""

import subprocess
import sys

SPARED = (
    *("prometheus_client", "precis_i18n", "confusable_homoglyphs"),
    *("saratoga_server.admin", "saratoga_server.process.workers"),
)
"""For scrapes, names, administrators and parents: none of them is there when a house opens."""


def loaded_by(*imports: str) -> set[str]:
    program = f"import sys, {', '.join(imports)}; print(*sys.modules)"
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(told.stdout.split())


def test_a_house_opens_without_what_only_others_need() -> None:
    loaded = loaded_by("saratoga_server.__main__", "saratoga_server.serving")
    assert "saratoga_server.handlers.dispatcher" in loaded
    assert loaded.isdisjoint(SPARED)


def test_the_store_is_started_before_what_serves_players_is_loaded() -> None:
    loaded = loaded_by("saratoga_server.starting")
    assert "saratoga_server.embedded_store.embedded" in loaded
    assert loaded.isdisjoint({"redis", "websockets", "saratoga_server.handlers.dispatcher"})
