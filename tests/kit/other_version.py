"""The server as another version: `python -m kit.other_version`, with the server's own options.

It has another version number, its Functions have another text and so other names, and everything that it
writes for other nodes has one field more than they know: tables, their settings, seats and outcomes, and
node events. Once it has read that field in a table, it logs an error (`field_lost`) when a later version of
the table lacks it, which fails the kit's house.
"""

import sys
from hashlib import sha256
from typing import Any, Final

import msgpack

import saratoga_server.store.library as library

VERSION: Final = "99.0.0"
MOOD: Final = "fair"


def change_functions() -> None:
    """Have the Functions publish one field more, under names that belong to the new text."""
    changed = library.SOURCE.replace("{kind = 'touched',", f"{{kind = 'touched', mood = '{MOOD}',")
    assert changed != library.SOURCE
    version = sha256(changed.encode()).hexdigest()[:10]
    changed = changed.replace(library.VERSION, version)
    library.VERSION, library.SOURCE = version, changed  # type: ignore[misc]


def change_the_rest() -> None:
    """Change the rest; modules that are imported from now on use the new Functions."""
    from saratoga_server import app
    from saratoga_server.domain import tables
    from saratoga_server.domain.tables import TableState, packing
    from saratoga_server.logs import EventLog
    from saratoga_server.messages import node_events
    from saratoga_server.store import event_channel, subscriber

    log = EventLog("other_version")
    pack, unpack, encode = packing.pack, packing.unpack, node_events.encode_node_event
    found: set[str] = set()
    """Tables that were read with the field."""

    def packed(table: TableState) -> bytes:
        return bytes(msgpack.packb(with_moods(msgpack.unpackb(pack(table))), use_bin_type=False))

    def unpacked(body: bytes) -> TableState:
        state = unpack(body)
        missing = moods_lost(msgpack.unpackb(body))
        for lost in missing if state.code in found else ():
            log.error("house_fault", field_lost=lost, table=state.code)
        if not missing:
            found.add(state.code)
        return state

    def encoded(event: node_events.NodeEvent) -> bytes:
        told = msgpack.unpackb(encode(event)) | {"mood": MOOD}
        for stood in told.get("races", {}).values():
            for each in stood:
                each.append(MOOD)
        return bytes(msgpack.packb(told))

    # looked up there at every call
    tables.pack, tables.unpack = packed, unpacked
    for module in (node_events, event_channel, subscriber):
        vars(module)["encode_node_event"] = encoded
    app.program = lambda: f"saratoga-server {VERSION}"


def with_moods(body: dict[str, Any]) -> dict[str, Any]:
    """Return the body with one field more in each part."""
    for part in parts(body).values():
        part["mood"] = MOOD
    return body


def moods_lost(body: dict[str, Any]) -> list[str]:
    """Return the parts that lack the field.

    Seats and outcomes do not count: an older node may have added them since.
    """
    return [where for where in ("table", "settings") if parts(body)[where].get("mood") != MOOD]


def parts(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = {"table": body, "settings": body["settings"]}
    if "outcome" in body:
        found["outcome"] = body["outcome"]
    return found | {f"seat {seat['player']}": seat for seat in body.get("seats", ())}


def main() -> None:
    change_functions()
    change_the_rest()
    from saratoga_server.__main__ import main as serve

    sys.argv[0] = "saratoga-server"
    serve()


if __name__ == "__main__":
    main()
