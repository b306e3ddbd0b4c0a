"""The version of the wire protocol, its subprotocols, and the limits of a frame."""

from typing import Final

WIRE_VERSION: Final = 1
"""The version, raised when a change breaks old clients; additions do not raise it."""

MSGPACK: Final = "saratoga.v1.msgpack"
"""The WebSocket subprotocol in which each message is one binary frame of MessagePack."""

JSON: Final = "saratoga.v1.json"
"""The WebSocket subprotocol in which each message is one text frame of JSON."""

SUBPROTOCOLS: Final = (MSGPACK, JSON)

MAX_COMMAND_BYTES: Final = 8 * 1024
"""The most bytes of a client's frame; a longer frame closes the connection with code 1009."""

LARGEST_NUMBER: Final = 2**53 - 1
"""The largest integer on the wire: exact in JSON readers and in the store alike."""
