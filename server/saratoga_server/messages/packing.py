"""Values on their way into the store: MessagePack as Redis's cmsgpack reads it.

No bin and no ext types, numbers below 2^53, no nil inside a list.
"""

from typing import Any

import msgpack


def pack(value: object) -> bytes:
    packed: bytes | None = msgpack.packb(value, use_bin_type=False)
    assert packed is not None
    return packed


def unpack(packed: bytes) -> Any:
    """Raises `ValueError` on what is no MessagePack."""
    try:
        return msgpack.unpackb(packed)
    except msgpack.UnpackException as error:
        raise ValueError(f"not MessagePack: {error}") from error
