"""Whatever a house says, and whatever people call themselves, the screens at a table obey none of it."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from kit.table_pictures import pictures
from kit.table_screens import table_player
from saratoga_client.sanitised import COMMANDS
from saratoga_client.session.state import SessionState

CLIPBOARD = "\x1b]52;c;cm0gLXJmIH4=\x07"
C1_AND_DIRECTION = "\x9b2J\u202e\r\n"
MARKUP = "[red][@click=app.exit]x[/]"

MUST_BE_TRUE = {"player", "phase", "state", "waste", "reserve_top", "columns"}
"""What decides which screen is shown, and how the cards lie: anything else leads to no screen."""


def poisoned(value: Any, payload: str, key: str = "") -> Any:
    """The same, with the payload behind every text that the house has said."""
    match value:
        case msgspec.Struct():
            told = {
                name: poisoned(getattr(value, name), payload, name)
                for name in value.__struct_fields__
            }
            return msgspec.structs.replace(value, **told)
        case list():
            return [poisoned(each, payload, key) for each in value]
        case str() if key not in MUST_BE_TRUE:
            return value + payload
        case _:
            return value


def hostile(evening: SessionState, payload: str) -> SessionState:
    """The evening, had the house said all that."""
    picture = evening.table_view
    return replace(
        evening,
        announcement=f"Soon{payload}",
        alarms=(payload,),
        table_view=replace(
            picture,
            table=poisoned(picture.table, payload),
            outcome=poisoned(picture.outcome, payload),
        ),
    )


@pytest.mark.parametrize("payload", [CLIPBOARD, C1_AND_DIRECTION, MARKUP])
@pytest.mark.parametrize(
    "name", ["gathering-120x40", "countdown-80x24", "race-canfield-80x24", "results-caprice-80x24"]
)
async def test_no_word_of_the_house_is_a_command(name: str, payload: str) -> None:
    picture = pictures()[name]()
    first = hostile(picture.first, payload)
    async with table_player(first, position=picture.position, record=picture.record) as player:
        for key in ("escape", "k", "q"):
            await player.press(key)
            assert ("<U+" if payload is not MARKUP else "[red]") in player.text
            assert not COMMANDS.search("".join(player.rows))
