"""What may be typed, and where: a table of orders, from which help and reading both come. Pure.

Whatever is no order is taken for a move; `hand.typed` knows those.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Flag, auto
from typing import Final


class Context(Flag):
    """Where one is when one types."""

    LOBBY = auto()
    TABLE = auto()
    PRACTICE = auto()
    WATCHING = auto()
    """Beside a table, watching it."""

    BOARD = TABLE | PRACTICE
    ANYWHERE = LOBBY | TABLE | PRACTICE | WATCHING


@dataclass(frozen=True, slots=True)
class TypedCommand:
    """Something that can be typed."""

    name: str
    context: Context
    form: str
    """How it is written; small letters as they are, capitals for what one chooses."""
    does: str
    """What it does, for the help."""
    also: tuple[str, ...] = ()
    """Other words for it."""
    is_quick: bool = False
    """It needs neither the house nor a settled board: it is answered even while the connection is lost."""


_L, _T, _P, _B = Context.LOBBY, Context.TABLE, Context.PRACTICE, Context.WATCHING

COMMANDS: Final = (
    # the lobby
    TypedCommand("name", _L, "name NAME", "take a name, or change it", ("i am",)),
    TypedCommand("tables", _L, "tables", "the public tables", ("list",)),
    TypedCommand(
        "create",
        _L,
        "create GAME [cap MINUTES] [seats N] [public]",
        "open a table, private unless you say public",
        ("host", "open"),
    ),
    TypedCommand("join", _L, "join CODE", "sit down at a table"),
    TypedCommand("watch", _L, "watch CODE", "follow a table without a seat"),
    TypedCommand("practice", _L, "practice GAME [SEED]", "play by yourself", ("practise",)),
    TypedCommand(
        "leaderboard",
        _L,
        "leaderboard GAME [day | week | month | all]",
        "who is best",
        ("leaders",),
    ),
    # a table
    TypedCommand("ready", _T, "ready", "say that you race"),
    TypedCommand("not ready", _T, "not ready", "take that back", ("unready",)),
    TypedCommand("start", _T, "start", "start the countdown, as host", ("go",)),
    TypedCommand("next", _T, "next", "gather for the next race, as host", ("next race", "again")),
    TypedCommand(
        "settings",
        _T,
        "settings [game GAME] [cap MINUTES] [seats N] [public | private]",
        "say the settings, or change them as host",
        ("set",),
    ),
    TypedCommand("kick", _T, "kick NAME", "send somebody away, as host"),
    TypedCommand(
        "table", _T | _B, "table", "who sits here, and how it stands", ("who", "seats"), True
    ),
    TypedCommand("totals", _T | _B, "totals", "races, wins and money of the evening", (), True),
    TypedCommand("results", _T | _B, "results", "how the last race ended", ("result",), True),
    TypedCommand(
        "review", _T, "review", "where you parted from the winner, and where the time went"
    ),
    TypedCommand("share", Context.BOARD, "share", "the result as text for friends"),
    TypedCommand("verify", _T, "verify", "check the record of the last race", ("proof",)),
    # a board
    TypedCommand(
        "look", Context.BOARD, "look", "the whole position", ("state", "board", "position")
    ),
    TypedCommand(
        "where", Context.BOARD, "where CARD", "where a card is: where 7C, where K", ("find",)
    ),
    TypedCommand("legal", Context.BOARD, "legal", "every legal move", ("moves",)),
    TypedCommand("bank", Context.BOARD, "bank PILE", "bank the top card: bank w, bank 3"),
    TypedCommand("draw", Context.BOARD, "draw", "turn the next cards of the stock", ("d",)),
    TypedCommand("redeal", Context.BOARD, "redeal", "turn the waste over"),
    TypedCommand(
        "cash out",
        _T,
        "cash out [yes]",
        "end your board and keep what is banked; asks once, yes does it at once",
        ("cashout", "cash"),
    ),
    TypedCommand("standings", _T | _B, "standings", "who stands where", ("places", "race"), True),
    TypedCommand("gap", _T, "gap", "how far you are behind or ahead", (), True),
    TypedCommand("clock", Context.BOARD | _B, "clock", "the time that is left", ("time",), True),
    # practice
    TypedCommand("undo", _P, "undo", "take the last move back", ("z", "u")),
    TypedCommand("redo", _P, "redo", "make it again", ("y",)),
    TypedCommand("hint", _P, "hint", "a move that seems good"),
    TypedCommand("safe", _P, "safe", "bank all that cannot be missed", ("auto", "a")),
    TypedCommand("ghost", _P, "ghost [on | off]", "how your best run of this deal stood by now"),
    TypedCommand("restart", _P, "restart", "the same deal from the start"),
    TypedCommand("seed", _P, "seed [SEED]", "the seed of this deal, or the deal of another"),
    TypedCommand("new", _P, "new", "another deal"),
    # anywhere
    TypedCommand(
        "verbose", _T | _B, "verbose [on | off]", "say every standing, or only yours", (), True
    ),
    TypedCommand(
        "cards",
        Context.BOARD | _B,
        "cards [letters | words]",
        "say TH, or 10 of hearts",
        (),
        True,
    ),
    TypedCommand("rules", Context.ANYWHERE, "rules [GAME]", "the rules of the game", (), True),
    TypedCommand(
        "wait",
        _T | _B,
        "wait ready [N] | countdown | deal | result | verified | gathering",
        "for scripts: do nothing before that",
    ),
    TypedCommand("help", Context.ANYWHERE, "help", "all of this", ("keys", "?", "commands"), True),
    TypedCommand(
        "leave", Context.ANYWHERE, "leave [yes]", "give up the seat; in a race it asks once"
    ),
    TypedCommand(
        "quit",
        Context.ANYWHERE,
        "quit",
        "end the program; in a race your seat is kept a minute",
        ("exit", "bye"),
        True,
    ),
    TypedCommand("yes", _T, "yes", "when you were asked"),
    TypedCommand("no", _T, "no", "when you were asked"),
)
"""Every order, in the order of the help."""

MOVES: Final = frozenset({"bank", "draw", "redeal"})
"""Orders that are moves, and are read as such."""

MOVES_HELP: Final = (
    "a move: SOURCE TARGET, such as w 3 or 3 5; w waste, r reserve, 1 2 3 .. columns, "
    "f foundation, g the one that builds down; or as written: w>t3, t3>t5:4, r>up"
)


@dataclass(frozen=True, slots=True)
class ParsedLine:
    """A line that was read."""

    command: TypedCommand | None
    """`None`: it must be a move, or nothing at all."""
    arguments: str
    """What follows the order's name; the whole line where it is none."""
    line: str
    """The whole line, without stray blanks."""

    @property
    def is_move(self) -> bool:
        """Whether it is to be read as a move."""
        return self.command is None or self.is_move_command

    @property
    def is_move_command(self) -> bool:
        """Whether it begins as only a move does: `draw`, `bank w`."""
        return self.command is not None and self.command.name in MOVES


def parse_line(line: str, context: Context) -> ParsedLine:
    """What a typed line orders; capitals and blanks do not matter before what one chooses."""
    words = line.split()
    line = " ".join(words)
    for length in (2, 1):
        name = " ".join(words[:length]).lower()
        command = _NAMES.get(name) if len(words) >= length else None
        if command is not None and context in command.context:
            return ParsedLine(command, " ".join(words[length:]), line)
    return ParsedLine(None, line, line)


def not_understood(text: str, context: Context) -> str:
    """What to say where a line is neither an order nor a move."""
    first = text.split()[0].lower()
    known = _NAMES.get(first)
    if known is not None:
        return f"no: {known.name} cannot be said here, only {_place(known.context)}. Say help."
    names = [name for name, command in _NAMES.items() if context in command.context]
    near = get_close_matches(first, names, n=1)
    guess = f" Did you mean {near[0]}?" if near else ""
    kind = "an order nor a move" if context & Context.BOARD else "an order here"
    word = "neither" if context & Context.BOARD else "not"
    return f"no: {text[:40]!r} is {word} {kind}.{guess} Say help."


def help_lines(context: Context) -> Iterator[str]:
    """Everything that can be typed here, an order a line."""
    if context & Context.BOARD:
        yield f"help {MOVES_HELP}"
    for command in COMMANDS:
        if context in command.context:
            also = f" (also {', '.join(command.also)})" if command.also else ""
            yield f"help {command.form}: {command.does}{also}"


def _place(context: Context) -> str:
    places = {
        Context.LOBBY: "in the lobby",
        Context.TABLE: "at a table",
        Context.PRACTICE: "in practice",
        Context.WATCHING: "beside a table",
    }
    return " or ".join(words for place, words in places.items() if place in context)


_NAMES: Final = {name: command for command in COMMANDS for name in (command.name, *command.also)}
