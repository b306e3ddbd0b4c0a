"""Sample messages: one of every kind with all fields set, and some with as few fields as possible.

They are read from `tests/protocol/golden`, where each stands as JSON below its name, and then in
MessagePack.
"""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

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
