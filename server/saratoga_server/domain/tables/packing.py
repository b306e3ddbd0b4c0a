"""Pack a table for the store, as one MessagePack map, and unpack it.

Fields with default values are left out, so there is no nil. All values are texts and numbers, because
the store's MessagePack reader knows no binary type and no number above 2^53.

During an upgrade older and newer nodes write the same tables. A node keeps fields that it does not know,
in the table, its settings, its outcome and its seats. It does not change a table that it would misread, or
whose game it does not know (`NewerTable`).
"""

from collections.abc import Mapping
from typing import Any, Final

import msgpack
import msgspec

from saratoga_protocol.events import Outcome
from saratoga_protocol.match_rows import Match
from saratoga_rules.games import RULES, RULES_VERSION
from saratoga_server.domain.tables.state import FORMAT, TableOptions, TableSeat, TableState

_TABLE: Final = "table"
_SEAT: Final = "seat "
_PARTS: Final[dict[str, type[msgspec.Struct]]] = {
    "settings": TableOptions,
    "outcome": Outcome,
    "match": Match,
}
"""The maps inside a table other than its seats."""


class NewerTable(ValueError):
    """A table written by a newer node, which this node would misread or whose game it does not know."""


def pack(table: TableState) -> bytes:
    """Return the table's body for `ports.TableWrite`; equal tables give equal bytes."""
    body: dict[str, Any] = msgspec.to_builtins(table)
    unknown = body.pop("unknown", {})
    for where, fields in unknown.items():
        known = _part(body, where)
        if known is not None:
            known.update(fields)
    return bytes(msgpack.Packer(use_bin_type=False).pack(body))


def unpack(body: bytes) -> TableState:
    """Return the table that `pack` packed. Raises `NewerTable`, or `ValueError` on other bytes."""
    try:
        read = msgpack.unpackb(body)
        if isinstance(read, dict):
            _check_readable(read)
            unknown = _unknown(read)
            if unknown:
                read["unknown"] = unknown
        return _with_known_game(msgspec.convert(read, TableState))
    except NewerTable:
        raise
    except (ValueError, TypeError, LookupError, msgpack.UnpackException) as error:
        raise ValueError(f"this is not a packed table: {error}") from error


def _check_readable(body: Mapping[str, Any]) -> None:
    if body.get("format", 1) > FORMAT:
        raise NewerTable(f"a table of format {body['format']}; this node reads {FORMAT}")
    if body.get("rules_version", 1) > RULES_VERSION:
        raise NewerTable(f"a race by version {body['rules_version']} of the rules")


def _with_known_game(state: TableState) -> TableState:
    if state.settings.game not in RULES.get(state.rules_version, ()):
        raise NewerTable(
            f"a table of the game {state.settings.game!r}, which this node does not know"
        )
    return state


def _part(body: dict[str, Any], where: str) -> dict[str, Any] | None:
    """Return the map of that name in a table's body; `None` if there is none."""
    if where == _TABLE:
        return body
    if where in _PARTS:
        part: dict[str, Any] | None = body.get(where)
        return part
    player = where.removeprefix(_SEAT)
    return next((seat for seat in body.get("seats", ()) if seat["player"] == player), None)


def _unknown(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return every unknown field, by the map in which it was found."""
    found = {_TABLE: _strange(body, TableState)}
    found |= {name: _strange(body.get(name), kind) for name, kind in _PARTS.items()}
    found |= {_SEAT + str(s["player"]): _strange(s, TableSeat) for s in body.get("seats", ())}
    return {where: fields for where, fields in found.items() if fields}


def _strange(part: object, kind: type[msgspec.Struct]) -> dict[str, Any]:
    if not isinstance(part, dict):
        return {}
    known = {*kind.__struct_encode_fields__, kind.__struct_config__.tag_field}
    return {name: value for name, value in part.items() if name not in known}
