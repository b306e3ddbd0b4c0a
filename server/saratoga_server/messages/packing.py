"""Pack values for the store, as MessagePack that Redis's cmsgpack can read.

That excludes bin and ext types, numbers above 2^53, and nil inside a list.
"""

from typing import Any

import msgpack


def pack(value: object) -> bytes:
    packed: bytes | None = msgpack.packb(value, use_bin_type=False)
    assert packed is not None
    return packed


def unpack(packed: bytes) -> Any:
    """Return the value in these bytes. Raises `ValueError` if they are not MessagePack."""
    return msgpack.unpackb(packed)
