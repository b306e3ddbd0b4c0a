"""Pack a table for the store, and unpack it. Fields with default values are left out."""

import msgspec

from saratoga_rules.games import RULES
from saratoga_server.domain.tables.state import TableState

_DECODER = msgspec.msgpack.Decoder(TableState)


def pack(table: TableState) -> bytes:
    """Return the table's body for `ports.TableWrite`; equal tables give equal bytes."""
    return msgspec.msgpack.encode(table)


def unpack(body: bytes) -> TableState:
    """Return the table that `pack` packed. Raises `ValueError` on other bytes."""
    try:
        state = _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"this is not a packed table: {error}") from error
    if state.settings.game not in RULES.get(state.rules_version, ()):
        raise ValueError(f"this release does not know the game {state.settings.game!r}")
    return state
