"""Which wire this is: the subprotocols a connection may speak, and the limits of a frame."""

from typing import Final

WIRE_VERSION: Final = 1
"""Raised when an old client could no longer follow; additions do not raise it."""

MSGPACK: Final = "saratoga.v1.msgpack"
"""WebSocket subprotocol: every message one binary frame, MessagePack."""

JSON: Final = "saratoga.v1.json"
"""WebSocket subprotocol: every message one text frame, JSON."""

SUBPROTOCOLS: Final = (MSGPACK, JSON)

MAX_COMMAND_BYTES: Final = 8 * 1024
"""A longer frame from a player closes the connection with code 1009."""

LARGEST_NUMBER: Final = 2**53 - 1
"""The largest integer on the wire: exact in JSON readers and in the store alike."""
