"""The first inputs of guided fuzzing: some valid ones for every target."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kit.messages import COMMANDS, EVENTS
from saratoga_protocol.codec import CODECS, Frame
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.games import GAMES
from saratoga_rules.position import format_position
from saratoga_server.messages.node_events import Announce, Banned, Renamed, encode_node_event

RECORDS: Final = Path(__file__).parent.parent / "rules" / "records"

_TEXTS: Final = {
    "moves": ("draw", "redeal", "w>up", "r>t2", "t3>t5:4", "up.H>t1", "t10>down"),
    "pages": (
        *("healthz", "readyz", "api/records/mint-otter-42/3", "api/leaderboards/canfield"),
        "api/leaderboards/caprice?ranking=best&period=week&bots=1&offset=0&limit=20",
    ),
    "addresses": ("192.0.2.7", "192.0.2.7, 10.0.0.1", "[2001:db8::1]:443", "::ffff:192.0.2.7"),
    "names": ("Anna", "Jos\u00e9", "O'Neil", "\u0412\u0435\u0440\u0430", "\u7530\u4e2d", "kg_9"),
    "pasted": (
        *("mint-otter-42", "saratoga join ws://10.0.0.2:7470/mint-otter-42", "wss://x.example/"),
        *("saratoga token wss://x.example:443 " + "ab" * 32, "ws://[::1]:7470"),
    ),
}


def seeds(target: str) -> Iterator[bytes]:
    """Yield valid inputs for a target."""
    if target == "commands":
        for command in COMMANDS.values():
            yield from (_bytes(codec.encode_command(command)) for codec in CODECS.values())
    elif target == "events":
        for event in EVENTS.values():
            yield from (_bytes(codec.encode_event(event)) for codec in CODECS.values())
    elif target == "positions":
        for game in GAMES.values():
            yield format_position(deal_for_key(game, practice_key("seed"))).encode()
    elif target == "records":
        yield from (path.read_bytes() for path in sorted(RECORDS.glob("*.record")))
    elif target == "node_events":
        player = "abcdefghijklmnop"
        for node_event in (Announce("Hello."), Banned(player), Renamed(player, "Anna")):
            yield encode_node_event(node_event)
    else:
        yield from (text.encode() for text in _TEXTS[target])


def _bytes(frame: Frame) -> bytes:
    return frame.encode() if isinstance(frame, str) else frame
