"""The server as another version: `python -m kit.other_version`, with the server's own options.

Its countdown is short (`quick_countdown`). It reports another version number, and knows one more game
(`UNKNOWN_GAME`), whose facts are those of no other. Its Functions have another text, and therefore other names. Everything
that it writes for other nodes has one field that they do not know: tables, their settings, seats and
outcomes, and the events that nodes publish. This field must survive writes by nodes of the usual version.
If it is lost, the server logs the error `field_lost`, and the test fails.
"""

import sys
from dataclasses import replace
from hashlib import sha256
from types import MappingProxyType, ModuleType
from typing import Any, Final

import msgpack

import saratoga_server.store.library as library

VERSION: Final = "99.0.0"
UNKNOWN_GAME: Final = "moonlight"
"""A game that no other version knows."""
TITLE: Final = "By the Light of the Moon"
MOOD: Final = "fair"


def add_game() -> None:
    """Add a game to those that the rules know: Canfield with another name, price, stock and deal."""
    import saratoga_rules.games as games
    from saratoga_rules.vocabulary.deal_steps import BaseCard, ToColumns, ToReserve
    from saratoga_rules.vocabulary.stocks import turned

    added = replace(
        games.GAMES["canfield"],
        name=UNKNOWN_GAME,
        title=TITLE,
        pack_price=48,
        deal=(BaseCard(), ToColumns(2), ToReserve(9)),
        stock=turned(2, passes=4),
    )
    words = ModuleType(f"{games.__name__}.{UNKNOWN_GAME}", "A game for the moon.")
    sys.modules[words.__name__] = words
    games.GAMES = MappingProxyType({**games.GAMES, UNKNOWN_GAME: added})  # type: ignore[misc]
    games.RULES = MappingProxyType(  # type: ignore[misc]
        {**games.RULES, games.RULES_VERSION: games.GAMES}
    )


def change_functions() -> None:
    """Make the Functions publish an additional field, and rename them to fit the new text."""
    text = library.SOURCE.replace(library.VERSION, library.VERSION_MARK)
    changed = text.replace("{kind = 'touched',", f"{{kind = 'touched', mood = '{MOOD}',")
    assert changed != text
    library.VERSION = sha256(changed.encode()).hexdigest()[:10]  # type: ignore[misc]
    library.SOURCE = changed.replace(library.VERSION_MARK, library.VERSION)  # type: ignore[misc]


def change_the_rest() -> None:
    """Change everything but the Functions, which must be changed before: imports here take their names."""
    from saratoga_server import serving
    from saratoga_server.domain import tables
    from saratoga_server.domain.tables import TableState, packing, writes
    from saratoga_server.logs import EventLog
    from saratoga_server.messages import node_events
    from saratoga_server.store import event_channel, subscriber

    log = EventLog("other_version")
    pack, unpack, encode = packing.pack, packing.unpack, node_events.encode_node_event
    found: set[str] = set()
    """Tables that were read with the additional field; a table that was only encoded may not be stored."""

    def packed(table: TableState) -> bytes:
        return bytes(msgpack.packb(with_moods(msgpack.unpackb(pack(table))), use_bin_type=False))

    def unpacked(body: bytes) -> TableState:
        state = unpack(body)
        missing = moods_lost(msgpack.unpackb(body))
        for lost in missing if state.code in found else ():
            log.error("server_fault", field_lost=lost, table=state.code)
        if not missing:
            found.add(state.code)
        return state

    def encoded(event: node_events.NodeEvent) -> bytes:
        fields = msgpack.unpackb(encode(event)) | {"mood": MOOD}
        for standings in fields.get("races", {}).values():
            for standing in standings.values():
                standing.append(MOOD)
        return bytes(msgpack.packb(fields))

    # The server looks up both names at every call.
    vars(writes)["pack"] = packed
    tables.unpack = unpacked
    for module in (node_events, event_channel, subscriber):
        setattr(module, encode.__name__, encoded)
    serving.program = lambda: f"saratoga-server {VERSION}"


def with_moods(body: dict[str, Any]) -> dict[str, Any]:
    """Return a table's body with an additional field in each of its parts."""
    for part in parts(body).values():
        part["mood"] = MOOD
    return body


def moods_lost(body: dict[str, Any]) -> list[str]:
    """Return the parts that lack the additional field although this version has written them.

    Seats and outcomes are left out: another node may have created them since.
    """
    return [where for where in ("table", "settings") if parts(body)[where].get("mood") != MOOD]


def parts(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = {"table": body, "settings": body["settings"]}
    if "outcome" in body:
        found["outcome"] = body["outcome"]
    return found | {f"seat {seat['player']}": seat for seat in body.get("seats", ())}


def main() -> None:
    add_game()
    change_functions()
    change_the_rest()
    from kit.altered_server import shorten_countdown

    shorten_countdown()
    from saratoga_server.__main__ import main as serve

    sys.argv[0] = "saratoga-server"
    serve()


if __name__ == "__main__":
    main()
