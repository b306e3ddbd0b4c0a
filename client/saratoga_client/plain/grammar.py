"""What may be typed, and where: a table of orders, from which help and reading both come. Pure.

Whatever is no order is taken for a move; `hand.typed` knows those.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Flag, auto
from typing import Final


class Where(Flag):
    """Where one is when one types."""

    LOBBY = auto()
    TABLE = auto()
    PRACTICE = auto()
    BESIDE = auto()
    """Beside a table, watching it."""

    BOARD = TABLE | PRACTICE
    ANYWHERE = LOBBY | TABLE | PRACTICE | BESIDE


@dataclass(frozen=True, slots=True)
class Order:
    """Something that can be typed."""

    name: str
    where: Where
    form: str
    """How it is written; small letters as they are, capitals for what one chooses."""
    does: str
    """What it does, for the help."""
    also: tuple[str, ...] = ()
    """Other words for it."""
    is_quick: bool = False
    """It needs neither the house nor a settled board: it is answered even while the connection is lost."""


_L, _T, _P, _B = Where.LOBBY, Where.TABLE, Where.PRACTICE, Where.BESIDE

ORDERS: Final = (
    # the lobby
    Order("name", _L, "name NAME", "take a name, or change it", ("i am",)),
    Order("tables", _L, "tables", "the public tables", ("list",)),
    Order(
        "create",
        _L,
        "create GAME [cap MINUTES] [seats N] [public]",
        "open a table, private unless you say public",
        ("host", "open"),
    ),
    Order("join", _L, "join CODE", "sit down at a table"),
    Order("watch", _L, "watch CODE", "follow a table without a seat"),
    Order("practice", _L, "practice GAME [SEED]", "play by yourself", ("practise",)),
    Order(
        "leaderboard",
        _L,
        "leaderboard GAME [day | week | month | all]",
        "who is best",
        ("leaders",),
    ),
    # a table
    Order("ready", _T, "ready", "say that you race"),
    Order("not ready", _T, "not ready", "take that back", ("unready",)),
    Order("start", _T, "start", "start the countdown, as host", ("go",)),
    Order("next", _T, "next", "gather for the next race, as host", ("next race", "again")),
    Order(
        "settings",
        _T,
        "settings [game GAME] [cap MINUTES] [seats N] [public | private]",
        "say the settings, or change them as host",
        ("set",),
    ),
    Order("kick", _T, "kick NAME", "send somebody away, as host"),
    Order("table", _T | _B, "table", "who sits here, and how it stands", ("who", "seats"), True),
    Order("totals", _T | _B, "totals", "races, wins and money of the evening", (), True),
    Order("results", _T | _B, "results", "how the last race ended", ("result",), True),
    Order("review", _T, "review", "where you parted from the winner, and where the time went"),
    Order("share", Where.BOARD, "share", "the result as text for friends"),
    Order("verify", _T, "verify", "check the record of the last race", ("proof",)),
    # a board
    Order("look", Where.BOARD, "look", "the whole position", ("state", "board", "position")),
    Order("where", Where.BOARD, "where CARD", "where a card is: where 7C, where K", ("find",)),
    Order("legal", Where.BOARD, "legal", "every legal move", ("moves",)),
    Order("bank", Where.BOARD, "bank PILE", "bank the top card: bank w, bank 3"),
    Order("draw", Where.BOARD, "draw", "turn the next cards of the stock", ("d",)),
    Order("redeal", Where.BOARD, "redeal", "turn the waste over"),
    Order(
        "cash out",
        _T,
        "cash out [yes]",
        "end your board and keep what is banked; asks once, yes does it at once",
        ("cashout", "cash"),
    ),
    Order("standings", _T | _B, "standings", "who stands where", ("places", "race"), True),
    Order("gap", _T, "gap", "how far you are behind or ahead", (), True),
    Order("clock", Where.BOARD | _B, "clock", "the time that is left", ("time",), True),
    # practice
    Order("undo", _P, "undo", "take the last move back", ("z", "u")),
    Order("redo", _P, "redo", "make it again", ("y",)),
    Order("hint", _P, "hint", "a move that seems good"),
    Order("safe", _P, "safe", "bank all that cannot be missed", ("auto", "a")),
    Order("ghost", _P, "ghost [on | off]", "how your best run of this deal stood by now"),
    Order("restart", _P, "restart", "the same deal from the start"),
    Order("seed", _P, "seed [SEED]", "the seed of this deal, or the deal of another"),
    Order("new", _P, "new", "another deal"),
    # anywhere
    Order("verbose", _T | _B, "verbose [on | off]", "say every standing, or only yours", (), True),
    Order(
        "cards",
        Where.BOARD | _B,
        "cards [letters | words]",
        "say TH, or 10 of hearts",
        (),
        True,
    ),
    Order("rules", Where.ANYWHERE, "rules [GAME]", "the rules of the game", (), True),
    Order(
        "wait",
        _T | _B,
        "wait ready [N] | countdown | deal | result | verified | gathering",
        "for scripts: do nothing before that",
    ),
    Order("help", Where.ANYWHERE, "help", "all of this", ("keys", "?", "commands"), True),
    Order("leave", Where.ANYWHERE, "leave [yes]", "give up the seat; in a race it asks once"),
    Order(
        "quit",
        Where.ANYWHERE,
        "quit",
        "end the program; in a race your seat is kept a minute",
        ("exit", "bye"),
        True,
    ),
    Order("yes", _T, "yes", "when you were asked"),
    Order("no", _T, "no", "when you were asked"),
)
"""Every order, in the order of the help."""

MOVES: Final = frozenset({"bank", "draw", "redeal"})
"""Orders that are moves, and are read as such."""

MOVES_HELP: Final = (
    "a move: SOURCE TARGET, such as w 3 or 3 5; w waste, r reserve, 1 2 3 .. columns, "
    "f foundation, g the one that builds down; or as written: w>t3, t3>t5:4, r>up"
)


@dataclass(frozen=True, slots=True)
class Said:
    """A line that was read."""

    order: Order | None
    """`None`: it must be a move, or nothing at all."""
    rest: str
    """What follows the order's name; the whole line where it is none."""
    line: str
    """The whole line, without stray blanks."""

    @property
    def is_move(self) -> bool:
        """Whether it is to be read as a move."""
        return self.order is None or self.is_move_order

    @property
    def is_move_order(self) -> bool:
        """Whether it begins as only a move does: `draw`, `bank w`."""
        return self.order is not None and self.order.name in MOVES


def read_order(line: str, where: Where) -> Said:
    """What a typed line orders; capitals and blanks do not matter before what one chooses."""
    words = line.split()
    line = " ".join(words)
    for length in (2, 1):
        name = " ".join(words[:length]).lower()
        order = _NAMES.get(name) if len(words) >= length else None
        if order is not None and where in order.where:
            return Said(order, " ".join(words[length:]), line)
    return Said(None, line, line)


def not_understood(text: str, where: Where) -> str:
    """What to say where a line is neither an order nor a move."""
    first = text.split()[0].lower()
    known = _NAMES.get(first)
    if known is not None:
        return f"no: {known.name} cannot be said here, only {_place(known.where)}. Say help."
    names = [name for name, order in _NAMES.items() if where in order.where]
    near = get_close_matches(first, names, n=1)
    guess = f" Did you mean {near[0]}?" if near else ""
    kind = "an order nor a move" if where & Where.BOARD else "an order here"
    word = "neither" if where & Where.BOARD else "not"
    return f"no: {text[:40]!r} is {word} {kind}.{guess} Say help."


def help_lines(where: Where) -> Iterator[str]:
    """Everything that can be typed here, an order a line."""
    if where & Where.BOARD:
        yield f"help {MOVES_HELP}"
    for order in ORDERS:
        if where in order.where:
            also = f" (also {', '.join(order.also)})" if order.also else ""
            yield f"help {order.form}: {order.does}{also}"


def _place(where: Where) -> str:
    places = {
        Where.LOBBY: "in the lobby",
        Where.TABLE: "at a table",
        Where.PRACTICE: "in practice",
        Where.BESIDE: "beside a table",
    }
    return " or ".join(words for place, words in places.items() if place in where)


_NAMES: Final = {name: order for order in ORDERS for name in (order.name, *order.also)}
