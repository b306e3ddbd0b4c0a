"""Golden bytes: the expected frames of every message, kept in files.

The files are written by `python -m kit.golden` (from the folder `tests`). Check the difference before
committing it: every byte that changes breaks the protocol for existing clients.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kit.messages import COMMANDS, EVENTS
from saratoga_protocol.codec import CODECS, JSON, MSGPACK, Frame

FOLDER: Final = Path(__file__).parent.parent / "protocol" / "golden"
LINE: Final = 32
"""The number of bytes on each line of the file."""

text, packed = CODECS[JSON], CODECS[MSGPACK]


def command_text() -> str:
    """Return the golden text of every command: JSON, then MessagePack."""
    return _text(
        {name: (text.encode(command), packed.encode(command)) for name, command in COMMANDS.items()}
    )


def event_text() -> str:
    """Return the golden text of every event: JSON, then MessagePack."""
    return _text(
        {name: (text.encode(event), packed.encode(event)) for name, event in EVENTS.items()}
    )


def _text(messages: Mapping[str, tuple[Frame, Frame]]) -> str:
    return "\n".join(
        f"# {name}\n{frame!s}\n{_hexadecimal(binary)}" for name, (frame, binary) in messages.items()
    )


def _hexadecimal(frame: Frame) -> str:
    assert isinstance(frame, bytes)
    parts = (frame[at : at + LINE] for at in range(0, len(frame), LINE))
    return "".join(f"    {part.hex()}\n" for part in parts)


if __name__ == "__main__":
    (FOLDER / "commands.txt").write_text(command_text(), encoding="utf-8")
    (FOLDER / "events.txt").write_text(event_text(), encoding="utf-8")
