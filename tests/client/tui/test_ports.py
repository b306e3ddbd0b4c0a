"""The interfaces between screens and program: each screen depends on them alone."""

import ast
from pathlib import Path

import saratoga_client.tui

SCREENS = Path(saratoga_client.tui.__file__).parent / "screens"
FLOWS = {
    f"saratoga_client.tui.{name}"
    for name in ("app", "flows", "lobbies", "lobby_flow", "table_flow")
}


def test_no_screen_imports_the_app_or_a_flow() -> None:
    for path in SCREENS.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not imported & FLOWS, path.name
