"""Settlements as the outbox holds them: MessagePack maps. A newer node may add fields."""

import msgspec

from saratoga_server.ports import Settlement

_DECODER = msgspec.msgpack.Decoder(Settlement)


def pack_settlement(settlement: Settlement) -> bytes:
    """Pack a settlement for `RaceFinish.settlement`."""
    return msgspec.msgpack.encode(settlement)


def unpack_settlement(packed: bytes) -> Settlement:
    """Unpack a settlement. Raises `ValueError` on anything else."""
    try:
        return _DECODER.decode(packed)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"not a settlement: {error}") from error
