"""A table as the store keeps it: one MessagePack map.

Fields at their defaults are left out, which keeps nil out of the bytes; texts and numbers are
all there is (the store's own reader knows no binary type and no number above 2^53).
"""

import msgpack
import msgspec

from saratoga_server.table.state import TableState


def pack(table: TableState) -> bytes:
    """The table's body for `ports.TableWrite`; equal tables give equal bytes."""
    return bytes(msgpack.Packer(use_bin_type=False).pack(msgspec.to_builtins(table)))


def unpack(body: bytes) -> TableState:
    """The table that `pack` packed; raises `ValueError` on anything else."""
    try:
        return msgspec.convert(msgpack.unpackb(body), TableState)
    except (ValueError, msgpack.UnpackException, msgspec.ValidationError) as error:
        raise ValueError(f"this is not a packed table: {error}") from error
