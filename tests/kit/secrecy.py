"""The cards that a player may see, and a search for hidden cards in every frame it was sent.

This is a second implementation, without the server's `redact` and `wire_view`. A player may see the
waste, the face-up cards of the columns, the foundations, the top card of the reserve, and the
number of cards in the stock, in the reserve and face down in each column.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NoReturn

import msgspec
import pytest

from saratoga_rules.cards import Card
from saratoga_rules.games import GAMES
from saratoga_rules.moves import COLUMN_INDEX, COLUMN_NAMES, parse_move
from saratoga_rules.play import play
from saratoga_rules.position import Position
from saratoga_rules.records.record import RaceRecord

Slot = tuple[str, int]
"""The place of a hidden card: its pile, and its number there. The piles are the stock and the
reserve, numbered from the top, and each column with face-down cards, numbered from the bottom."""


def slots(opening: Position) -> list[Slot]:
    """Return every slot of the opening that holds a hidden card."""
    of_reserve = range(1, len(opening.reserve))
    found = [("stock", n) for n in range(len(opening.stock))]
    found += [("reserve", n) for n in of_reserve]
    for name, count in zip(COLUMN_NAMES, opening.face_down_counts, strict=False):
        found += [(name, n) for n in range(count)]
    return found


def is_up(slot: Slot, way: Sequence[Position]) -> bool:
    """Return whether the card of that slot was turned up in one of these successive positions."""
    if slot[0] in COLUMN_INDEX:
        return slot[1] >= face_down_at_last(way)[COLUMN_INDEX[slot[0]]]
    drawn, seen = turned_up(way)
    return slot[1] < (drawn if slot[0] == "stock" else seen)


def rearranged(opening: Position, into: dict[Slot, Slot]) -> Position:
    """Return the opening with each slot's card replaced by the card of the slot `into[slot]`."""
    stock, reserve = list(opening.stock), list(opening.reserve)
    cards = {("stock", n): card for n, card in enumerate(opening.stock)}
    cards |= {("reserve", n): card for n, card in enumerate(reversed(opening.reserve))}
    face_down = [list(pile) for pile in opening.face_down]
    for name, below in zip(COLUMN_NAMES, opening.face_down, strict=False):
        cards |= {(name, n): card for n, card in enumerate(below)}
    for (pile, n), source in into.items():
        if pile == "stock":
            stock[n] = cards[source]
        elif pile in COLUMN_INDEX:
            face_down[COLUMN_INDEX[pile]][n] = cards[source]
        else:
            reserve[-1 - n] = cards[source]
    return opening._replace(
        stock=tuple(stock), reserve=tuple(reserve), face_down=tuple(map(tuple, face_down))
    )


CARD: Final = re.compile(r"[A23456789TJQK][CSHD]")
"""Matches the name of a card anywhere in a text."""

OF_A_BOARD: Final = frozenset(
    {
        *("view", "stock", "waste", "reserve", "reserve_top", "columns", "face_down"),
        *("up", "down", "passes", "base"),
    }
)
"""The keys of a board view: a player may receive them for its own board only."""

HEAD: Final = re.compile("([0-9a-f]{16})?")
"""A head; a ghost's is empty."""
OF_A_STANDING: Final = frozenset({"player", "place", "banked", "net", "state", "head"})
"""The keys of a standing, which is all that others may know of a racer."""


ODD_MOVES: Final = (
    *("redeal", "draw", "w>up", "w>down", "r>up", "r>t1", "t1>t2", "t2>t1:9", "up.S>t3", "x"),
)
"""Moves that a curious player tries, most of them illegal."""


class Leak(AssertionError):
    """An error: the server sent a player information that it may not see."""


def sight(position: Position) -> dict[str, Any]:
    """Return the part of a position that its player may see, in the format of the wire."""
    return {
        "stock": len(position.stock),
        "waste": "".join(position.waste),
        "reserve": len(position.reserve),
        "reserve_top": position.reserve[-1] if position.reserve else "",
        "up": list(position.up),
        "down": list(position.down),
        "columns": ["".join(column) for column in position.columns],
        "face_down": [len(pile) for pile in position.face_down],
        "base": position.base,
        "passes": position.passes,
    }


def followed(record: RaceRecord) -> dict[str, list[tuple[int, Position]]]:
    """Return by racer the elapsed milliseconds and the position after each entry of its log."""
    ways = {}
    for racer in record.racers:
        way = [(0, record.opening)]
        for line in racer.log:
            after = way[-1][1]
            if line.is_move:
                after = play(GAMES[record.game], after, parse_move(line.text))
            way.append((line.at, after))
        ways[racer.player] = way
    return ways


def opened(frame: bytes | str) -> dict[str, Any]:
    """Decode a frame to plain maps, lists, texts and numbers, with every field."""
    event = msgspec.json.decode(frame) if isinstance(frame, str) else msgspec.msgpack.decode(frame)
    assert isinstance(event, dict)
    return event


def check_frame(frame: bytes | str, own: Sequence[Position]) -> None:
    """Raise `Leak` if the frame shows more than the player's own positions."""
    event = opened(frame)
    board = event.pop("board", None)
    if board is not None:
        _check_own_board(board, own)
    for path, value in _walked(event):
        if isinstance(value, str) and CARD.search(value):
            raise Leak(f"{path}: {value}")
        if path.rpartition(".")[2] in OF_A_BOARD:
            raise Leak(f"{path}: {value}")
    for row in event.get("standings", []):
        if not set(row) <= OF_A_STANDING or not HEAD.fullmatch(row["head"]):
            raise Leak(f"a standing has {sorted(row)}")


def _check_own_board(board: dict[str, Any], own: Sequence[Position]) -> None:
    view = dict(board.pop("view"))
    if not own:
        raise Leak("a board for a player without one")
    # Frames leave out default values.
    expected = sight(own[board["count"]])
    shown = {"waste": "", "reserve": 0, "reserve_top": "", "up": [], "down": []} | view
    shown = {"columns": [], "face_down": [], "base": 1, "passes": 1} | shown
    if shown != expected:
        raise Leak(f"own board: {shown}, and not {expected}")
    for path, value in _walked(board):
        if isinstance(value, str) and CARD.search(value):
            raise Leak(f"board.{path}: {value}")


def _walked(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of every field in a decoded frame."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{path}.{key}", key
            yield from _walked(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from _walked(inner, f"{path}[]")
    else:
        yield path, value


def check_secrets(frames: Iterable[bytes | str], secrets: Iterable[str]) -> None:
    """Raise `Leak` if a frame holds one of the secrets, in hexadecimal or as bytes."""
    sought = [form for secret in secrets for form in (secret.encode(), bytes.fromhex(secret))]
    for frame in frames:
        raw = frame.encode() if isinstance(frame, str) else frame
        for form in sought:
            if form in raw or form.upper() in raw:
                raise Leak(f"a secret in {raw[:80]!r}")


def turned_up(positions: Iterable[Position]) -> tuple[int, int]:
    """Return how many cards of the first position's stock and reserve were turned up later.

    Cards of the stock count from the first drawn, cards of the reserve from its top.
    """
    way = list(positions)
    opening = way[0]
    if any(position.passes > opening.passes for position in way):
        drawn = len(opening.stock)
    else:
        drawn = len(opening.stock) - min(len(position.stock) for position in way)
    seen = len(opening.reserve) - min(len(position.reserve) for position in way) + 1
    return drawn, min(seen, len(opening.reserve))


def face_down_at_last(positions: Sequence[Position]) -> tuple[int, ...]:
    """Return how many cards of each column are still face down at the end."""
    return positions[-1].face_down_counts or (0,) * len(positions[-1].columns)


def leak(monkeypatch: pytest.MonkeyPatch, name: str, leaky: Callable[..., Any]) -> None:
    """Let every use of the server's function `name` pass its result through `leaky`."""
    for module in [m for n, m in sys.modules.items() if n.startswith("saratoga_server")]:
        if hasattr(module, name):
            sound = getattr(module, name)
            monkeypatch.setattr(
                module,
                name,
                lambda *given, sound=sound, **more: leaky(sound(*given, **more), *given),
            )


class HiddenCardRead(AssertionError):
    """An error: code has read a hidden card."""


class MaskedText(str):
    """The name of a hidden card: it can be moved, but not compared, looked up, or read."""

    __slots__ = ()

    def _raise(self, *_: Any) -> NoReturn:
        raise HiddenCardRead("a hidden card was read")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _raise
    __hash__ = __getitem__ = __iter__ = __contains__ = _raise
    __str__ = __repr__ = __format__ = __len__ = __add__ = _raise


def masked(position: Position) -> Position:
    """Return the position with every card masked that its player has not seen.

    The stock is hidden in the first pass only; after it the player has turned up every card of the
    stock. Face-down cards are always hidden.
    """
    stock = _mask(position.stock) if position.passes == 1 else position.stock
    reserve = _mask(position.reserve[:-1]) + position.reserve[-1:]
    return with_masked_columns(position._replace(stock=stock, reserve=reserve))


def with_masked_columns(position: Position) -> Position:
    """Return the position with only the face-down cards of the columns masked."""
    return position._replace(face_down=tuple(map(_mask, position.face_down)))


def unmasked(position: Position) -> Position:
    """Return the position without masks."""
    return position._replace(
        stock=_unmask(position.stock),
        waste=_unmask(position.waste),
        reserve=_unmask(position.reserve),
        columns=tuple(map(_unmask, position.columns)),
        face_down=tuple(map(_unmask, position.face_down)),
    )


def _mask(pile: tuple[Card, ...]) -> tuple[Card, ...]:
    return tuple(Card(MaskedText(card)) for card in pile)


def _unmask(pile: tuple[Card, ...]) -> tuple[Card, ...]:
    return tuple(Card(str.__str__(card)) for card in pile)
