"""Fuzz one target, guided by coverage: `python tests/hostile/guided.py TARGET -runs=100000`.

Options of libFuzzer follow the target's name. The program needs atheris, which `make fuzz` installs. Each
target parses bytes from an untrusted source; an unexpected exception is a failure.
"""

import asyncio
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import atheris

with atheris.instrument_imports(include=["saratoga_rules", "saratoga_protocol"]):
    from kit.mutations import read_or_refused
    from saratoga_protocol.codec import CODECS, JSON, MSGPACK, BadFrame
    from saratoga_protocol.views import rules_view
    from saratoga_rules.moves import parse_move
    from saratoga_rules.position import format_position, parse_position
    from saratoga_rules.records.record import RecordError, format_record, parse_record
    from saratoga_rules.records.replay import ReplayError
    from saratoga_rules.records.verify import verify

with atheris.instrument_imports(include=["saratoga_server", "saratoga_client"]):
    from saratoga_client.local import origins, token_export
    from saratoga_client.sanitised import sanitised
    from saratoga_client.session import invitation
    from saratoga_protocol.events import Leaderboard
    from saratoga_server.domain.tables import CommandRejected
    from saratoga_server.domain.usernames import BadName, checked_name
    from saratoga_server.handlers.replays import Replay
    from saratoga_server.messages.node_events import BadNodeEvent, decode_node_event
    from saratoga_server.node import Node
    from saratoga_server.rate_limits.addresses import client_address, network_of
    from saratoga_server.transport.http_api import HttpPages


def commands(data: bytes) -> None:
    """Decode commands of both subprotocols, as the server does."""
    read_or_refused(CODECS[MSGPACK], data)
    read_or_refused(CODECS[JSON], data.decode("utf-8", errors="replace"))


def events(data: bytes) -> None:
    """Decode events of a hostile server as a client does."""
    for codec, frame in ((CODECS[MSGPACK], data), (CODECS[JSON], _text(data))):
        with suppress(BadFrame):
            board = getattr(codec.decode_event(frame), "board", None)
            if board is not None:
                with suppress(ValueError):
                    rules_view(board.view)


def moves(data: bytes) -> None:
    with suppress(ValueError):
        move = parse_move(_text(data))
        assert parse_move(str(move)) == move


def positions(data: bytes) -> None:
    with suppress(ValueError):
        position = parse_position(_text(data))
        assert parse_position(format_position(position)) == position


def records(data: bytes) -> None:
    """Read a record from an untrusted source, and verify it."""
    with suppress(RecordError, ReplayError):
        record = parse_record(_text(data))
        assert format_record(record) == _text(data)
        verify(record)


class _Public(Node):
    """A store in which every leaderboard and record exists."""

    def __init__(self) -> None:
        pass

    async def why_not_ready(self) -> str | None:
        return None

    async def leaderboard(self, query: Any) -> Leaderboard:
        raise CommandRejected("no_such_game")

    async def record(self, race: str) -> str:
        raise CommandRejected("no_such_race")

    async def replay(self, race: str) -> Replay:
        raise CommandRejected("no_such_race")

    async def has_table(self, code: str) -> bool:
        return False

    async def has_race(self, race: str) -> bool:
        return True


_LOOP: Final = asyncio.new_event_loop()
_METHODS: Final = ("GET", "HEAD", "POST", "OPTIONS")


def pages(data: bytes) -> None:
    """Answer HTTP requests with random paths and queries, without an internal error."""
    text = data.decode("latin-1")
    page = _LOOP.run_until_complete(HttpPages(_Public()).page(_METHODS[len(data) % 4], "/" + text))
    assert page.status != 500, page


def addresses(data: bytes) -> None:
    """Parse any value of `X-Forwarded-For`."""
    text = data.decode("latin-1")
    for proxies in (0, 1, 2):
        network_of(client_address("192.0.2.1", text.split("\n"), proxies))


def node_events(data: bytes) -> None:
    """Decode events from the store's channels."""
    with suppress(BadNodeEvent):
        decode_node_event(data)


def names(data: bytes) -> None:
    """Normalise a name: an accepted name stays the same when it is normalised again."""
    with suppress(BadName):
        name, skeleton = checked_name(_text(data))
        assert checked_name(name) == (name, skeleton)
        assert sanitised(name) == name


def pasted(data: bytes) -> None:
    """Parse what players paste (invitations, addresses and tokens), and sanitise it for a terminal."""
    text = _text(data)
    found = invitation.destination(text)
    if found is not None:
        assert re.fullmatch(r"[a-z0-9-]*", found.code), found
    with suppress(ValueError):
        origin = origins.origin_of(text)
        assert origins.origin_of(origin) == origin, (text, origin)
    token_export.read(text)
    assert not re.search(
        r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", sanitised(text)
    )


TARGETS: Final[Mapping[str, Callable[[bytes], None]]] = {
    target.__name__: target
    for target in (
        *(commands, events, moves, positions, records),
        *(pages, addresses, node_events, names, pasted),
    )
}


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="surrogateescape" if data[:1] == b"\xff" else "replace")


def main() -> None:
    name, *flags = sys.argv[1:]
    atheris.Setup([sys.argv[0], *flags], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
