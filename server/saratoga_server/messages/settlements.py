"""Pack settlements for the outbox, as MessagePack maps."""

import msgspec

from saratoga_server.leaderboard_port import Settlement

_DECODER = msgspec.msgpack.Decoder(Settlement)


def pack_settlement(settlement: Settlement) -> bytes:
    """Return a packed settlement, for `RaceFinish.settlement`."""
    return msgspec.msgpack.encode(settlement)


def unpack_settlement(packed: bytes) -> Settlement:
    """Return the settlement that was packed. Raises `ValueError` on other bytes."""
    try:
        return _DECODER.decode(packed)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"not a settlement: {error}") from error
