"""A table's packed form, as the store keeps it."""

import msgspec

from saratoga_rules.games import RULES
from saratoga_server.domain.tables.state import TableState
from saratoga_server.ports import Damage

_DECODER = msgspec.msgpack.Decoder(TableState)


def pack(table: TableState) -> bytes:
    """Return the table packed; equal tables give equal bytes."""
    return msgspec.msgpack.encode(table)


def unpack(body: bytes) -> TableState:
    """Return the table that `pack` packed. Raises `Damage` on other bytes."""
    try:
        state = _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Damage(f"this is not a packed table: {error}") from error
    if state.settings.game not in RULES.get(state.rules_version, ()):
        raise Damage(f"this release does not know the game {state.settings.game!r}")
    return state
