"""No text from a server, such as a player's name, controls the terminal through a table's screens."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from kit.pictures import TABLES
from kit.screens import table_player
from saratoga_client.session.state import SessionState
from saratoga_protocol.visible_text import UNSEEN

CLIPBOARD = "\x1b]52;c;cm0gLXJmIH4=\x07"
C1_AND_DIRECTION = "\x9b2J\u202e\r\n"
MARKUP = "[red][@click=app.exit]x[/]"

UNCHANGED = {"player", "phase", "state", "waste", "reserve_top", "columns"}
"""Fields that stay as they are: they decide which screen is shown and where the cards are."""


def poisoned(value: Any, payload: str, key: str = "") -> Any:
    """Return a value with the payload after every text from the server."""
    match value:
        case msgspec.Struct():
            fields = {
                name: poisoned(getattr(value, name), payload, name)
                for name in value.__struct_fields__
            }
            return msgspec.structs.replace(value, **fields)
        case list():
            return [poisoned(each, payload, key) for each in value]
        case str() if key not in UNCHANGED:
            return value + payload
        case _:
            return value


def hostile(state: SessionState, payload: str) -> SessionState:
    """Return a state whose every text from the server ends with the payload."""
    view = state.table_view
    return replace(
        state,
        announcement=f"Soon{payload}",
        alarms=(payload,),
        table_view=replace(
            view,
            table=poisoned(view.table, payload),
            outcome=poisoned(view.outcome, payload),
        ),
    )


@pytest.mark.parametrize("payload", [CLIPBOARD, C1_AND_DIRECTION, MARKUP])
@pytest.mark.parametrize(
    "name", ["gathering-120x40", "countdown-80x24", "race-canfield-80x24", "results-caprice-80x24"]
)
async def test_no_text_from_a_server_controls_the_terminal(name: str, payload: str) -> None:
    picture = TABLES[name]
    first, position, record = picture.show(picture.game)
    first = hostile(first, payload)
    async with table_player(first, position=position, record=record) as player:
        for key in ("escape", "k", "q"):
            await player.press(key)
            assert ("<U+" if payload is not MARKUP else "[red]") in player.text
            assert not UNSEEN.search("".join(player.rows))
