"""The server as if it were another version: `python -m kit.other_version`, with the server's own flags.

It calls itself otherwise, its Functions have another text and so other names, and everything that it writes
for other nodes to read has a field more than they know: tables, their settings, seats and outcomes, and
what nodes tell each other. What it once found in a table it wants to find there again, whoever else has
written meanwhile: if it does not, that is a fault in its log (`field_lost`), and the kit's house fails.
"""

import sys
from hashlib import sha256
from typing import Any, Final

import msgpack

import saratoga_server.store.library as library

VERSION: Final = "99.0.0"
MOOD: Final = "fair"


def change_functions() -> None:
    """Another text, which says more to other nodes, under the names that belong to it."""
    text = library.SOURCE.replace(library.VERSION, library.VERSION_MARK)
    changed = text.replace("{kind = 'touched',", f"{{kind = 'touched', mood = '{MOOD}',")
    assert changed != text
    library.VERSION = sha256(changed.encode()).hexdigest()[:10]  # type: ignore[misc]
    library.SOURCE = changed.replace(library.VERSION_MARK, library.VERSION)  # type: ignore[misc]


def change_the_rest() -> None:
    """Everything else, once the Functions are changed: whoever is imported now takes the new names."""
    from saratoga_server import serving
    from saratoga_server.domain import tables
    from saratoga_server.domain.tables import TableState, packing
    from saratoga_server.logs import EventLog
    from saratoga_server.messages import node_events
    from saratoga_server.store import event_channel, subscriber

    log = EventLog("other_version")
    pack, unpack, encode = packing.pack, packing.unpack, node_events.encode_node_event
    found: set[str] = set()
    """Tables that were read with the field; what is packed may never be written."""

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

    # the floor takes both from there at every call
    tables.pack, tables.unpack = packed, unpacked
    for module in (node_events, event_channel, subscriber):
        vars(module)["encode_node_event"] = encoded
    serving.program = lambda: f"saratoga-server {VERSION}"


def with_moods(body: dict[str, Any]) -> dict[str, Any]:
    """The body with a field more wherever one may stand."""
    for part in parts(body).values():
        part["mood"] = MOOD
    return body


def moods_lost(body: dict[str, Any]) -> list[str]:
    """Where the field is missing, though a node that has it has written there.

    A seat, or an outcome, may be newer than that.
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
