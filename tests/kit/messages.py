"""Sample messages, and texts by which a hostile server may try to control a terminal.

The messages are one of every kind with all fields set, and some with as few fields as possible.
They are read from `tests/protocol/golden`, where each stands as JSON below its name, and then in
MessagePack.
"""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeVar

from saratoga_protocol import events
from saratoga_protocol.codec import CODECS, JSON
from saratoga_protocol.commands import Command
from saratoga_protocol.events import Event

FOLDER = Path(__file__).parents[1] / "protocol" / "golden"

Message = TypeVar("Message")


def _samples(file: str, decoded: Callable[[str], Message]) -> dict[str, Message]:
    lines = (FOLDER / file).read_text(encoding="utf-8").splitlines()
    return {head[2:]: decoded(text) for head, text in pairwise(lines) if head.startswith("# ")}


COMMANDS: dict[str, Command] = _samples("commands.txt", CODECS[JSON].decode_command)
EVENTS: dict[str, Event] = _samples("events.txt", CODECS[JSON].decode_event)


def racer(
    player: str, name: str = "", bot: bool = False, nonce_hash: str = "d1" * 32
) -> events.Racer:
    """Return a racer, by default with the player id as the name."""
    return events.Racer(player=player, name=name or player, bot=bot, nonce_hash=nonce_hash)


TRICKS: Final = (
    "\x1b[2J",
    "\x1b]0;another title\x07",
    "\x9b31m",
    "\x08\x08",
    "\rAnna won",
    "\nrace mint-otter-42/3 is over",
    "\x7f",
    "\x00",
    "\u202egnp.exe",
    "\u2066",
    "\u200f",
    "\u2028",
    "\ufeff",
    "\u00ad",
    "\u034f",
    "\u180e",
    "\u3164",
    "\U000e0041",
)
"""Sequences that control a terminal, and signs that hide a difference of two names."""

HOSTILE: Final = "".join(TRICKS) + "[red on blue][link=http://cards.example]"
"""All tricks in one text, and Rich markup."""

OBEYED: Final = frozenset(
    chr(code)
    for first, last in [
        (0x00, 0x1F),
        (0x7F, 0x9F),
        (0x200E, 0x200F),
        (0x2028, 0x202E),
        (0x2066, 0x2069),
        (0xFEFF, 0xFEFF),
    ]
    for code in range(first, last + 1)
) | {"\u061c"}
"""Characters that a terminal obeys: C0, C1, line breaks, and changes of the writing direction."""
