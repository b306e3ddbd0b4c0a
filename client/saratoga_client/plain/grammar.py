"""The typed commands: one table for both the help and the parser; and typed settings of a table. Pure.

A line that is no command is parsed as a move by `input.typed_moves`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Flag, auto
from functools import reduce
from operator import or_
from types import MappingProxyType
from typing import Any, Final

from saratoga_client.local.settings import CAPS, MATCHES
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.state import FEWEST_SEATS, MOST_SEATS
from saratoga_rules.games import GAMES


class Context(Flag):
    """The part of the program that reads a line, which decides the valid commands."""

    LOBBY = auto()
    TABLE = auto()
    """At a table, with a seat."""
    PRACTICE = auto()
    WATCHING = auto()
    """Following a table without a seat."""

    BOARD = TABLE | PRACTICE


@dataclass(frozen=True, slots=True)
class TypedCommand:
    """A command that can be typed."""

    name: str
    context: Context
    syntax: str
    """The command's syntax: lower case is typed literally, capitals stand for arguments."""
    description: str
    """The explanation in the help."""
    aliases: tuple[str, ...] = ()
    is_immediate: bool = False
    """True if the command uses only local state, so it works while the connection is lost."""


TABLE: Final = """
L     name, i am: NAME
        take a name, or change it
L     tables, list:
        list the public tables
L     create, host, open: GAME [cap MINUTES] [seats N] [races 1 | 3 | 5] [public]
        create a table; it is private unless you add public
L     daily, day, today: [GAME]
        run today's deal of a game, or show how your run compares; without a game, all of them
L     challenge: GAME | CODE
        open a challenge that friends run when they like, or run one
L     history:
        show your races on this machine, game by game
L     play:
        race two bots at Klondike at once
L     join: CODE
        take a seat at a table
L     watch: CODE
        follow a table without a seat
L     practice, practise: GAME [SEED]
        practise alone, with undo and hints
L     leaderboard, leaders: GAME [day | week | month | all]
        show the best players of a game
T     ready:
        take part in the next race
T     not ready, unready:
        do not take part after all
T     start, go: [now]
        start the countdown; add now to skip the question about players who are not ready
        (host only)
T     end race, end:
        ask all who still race to end the race, when your board has ended, or agree to it; the host
        ends the race of the last person a minute after the others
T     next, next race, again:
        prepare the next race (host only)
T     settings, set: [game GAME] [cap MINUTES] [seats N] [races 1 | 3 | 5] [public | private]
        show the settings; the host can change them; races 3 makes a match of three races
T     bot: weak | even | strong
        add a bot to the table, up to three (host only)
T     say: gg | again | nice
        say good game, again or nice to everyone at the table
T     hand over: NAME
        make a person at the table its host (host only)
T     kick: NAME
        remove a player from the table (host only)
T     allow: NAME
        let a player who voided a countdown get ready again (host only)
TW    qr:
        show the table's link for browsers as a QR code, 17 lines or more
T     lock:
        let nobody new take a seat (host only)
T     unlock:
        let new players take a seat again (host only)
TW!   table, who, seats:
        show the table and its seats
TW!   totals:
        show races, wins and money of everyone at this table; in a match, those of the
        match
TW!   results, result:
        show the result of the last race
T     review:
        show where you and the winner played differently, your longest pauses, and
        what the deal could have banked
TP    share:
        show the result as text for friends
T     verify, proof: [RACE][#WORDS]
        check the record of a race, by default the last, with a friend's four words
TP    look, state, board, position:
        show the whole position
TP    where, find: CARD
        find a card: where 7C, where K
TP    legal, moves:
        list every legal move
TP    bank: PILE
        bank the top card of a pile: bank w, bank 3
TP    draw, d:
        draw from the stock
TP    redeal:
        turn the waste over to be the stock again
T     cash out, cashout, cash: [yes]
        end your board and keep what is banked; add yes to skip the question
TW!   standings, places, race:
        show the standings
TW!   climb, chart:
        show everyone's banked cards over the time of the race
T!    gap:
        show how far you are ahead or behind
TPW!  clock, time:
        show the time of the race or practice
P     undo, z, u:
        undo the last move
P     redo, y:
        make the undone move again
P     hint:
        suggest a move
P     safe, auto, a:
        bank every card that you cannot need later
P     ghost:
        compare with your best run of this deal
P     restart:
        start this deal again
P     seed: [SEED]
        show the seed of this deal, or deal another seed
P     new:
        deal a new game
TW!   verbose: [on | off]
        show every change of the standings, or only what concerns you
TPW!  cards: [letters | words]
        name cards TH or 10 of hearts
LTPW! rules: [GAME]
        show the rules of a game
TW    wait: ready [N] | countdown | deal | result | verified | gathering
        wait for an event before the next command (for scripts)
LTPW! help, keys, ?, commands:
        show this help
LTPW  leave: [yes]
        leave the table or practice; in a race add yes to skip the question
LTPW! quit, exit, bye:
        end the program; your seat is kept for a minute
T     yes:
        answer a question with yes
T     no:
        answer a question with no
"""
"""Every command, in the order of the help: where it can be typed, `!` if it is immediate, its name,
aliases and arguments; then its description."""

_WHERE: Final = dict(
    zip("LTPW", (Context.LOBBY, Context.TABLE, Context.PRACTICE, Context.WATCHING), strict=True)
)


def _commands() -> Iterator[TypedCommand]:
    for entry in re.split(r"\n(?=\S)", TABLE.strip()):
        head, *description = (line.strip() for line in entry.splitlines())
        where, head = head.split(maxsplit=1)
        names, _, arguments = head.partition(":")
        name, *aliases = names.split(", ")
        yield TypedCommand(
            name=name,
            context=reduce(or_, (_WHERE[letter] for letter in where.strip("!"))),
            syntax=f"{name}{arguments}",
            description=" ".join(description),
            aliases=tuple(aliases),
            is_immediate=where.endswith("!"),
        )


COMMANDS: Final = tuple(_commands())

MOVE_COMMANDS: Final = frozenset({"bank", "draw", "redeal"})
"""Commands that are moves and are parsed as such."""

MOVES_HELP: Final = (
    "a move: SOURCE TARGET, such as w 3 or 3 5; w waste, r reserve, 1 2 3 .. columns, "
    "f foundation, g the one that builds down; or in the record's form: w>t3, t3>t5:4, r>up"
)


@dataclass(frozen=True, slots=True)
class ParsedLine:
    """A typed line, split into its command and arguments."""

    command: TypedCommand | None
    """The command; `None` if the line is a move or an error."""
    arguments: str
    """The text after the command's name; the whole line without a command."""
    line: str
    """The whole line, with single spaces."""

    @property
    def is_move(self) -> bool:
        """Return whether the line must be parsed as a move."""
        return self.command is None or self.is_move_command

    @property
    def is_move_command(self) -> bool:
        """Return whether the line begins with the name of a move command: `draw`, `bank w`."""
        return self.command is not None and self.command.name in MOVE_COMMANDS


def parse_line(line: str, context: Context) -> ParsedLine:
    """Split a typed line; the case of the command's name and extra spaces do not matter."""
    words = line.split()
    line = " ".join(words)
    for length in (2, 1):
        name = " ".join(words[:length]).lower()
        command = _BY_NAME.get(name) if len(words) >= length else None
        if command is not None and context in command.context:
            return ParsedLine(command, " ".join(words[length:]), line)
    return ParsedLine(None, line, line)


def not_understood(text: str, context: Context) -> str:
    """Return the `no:` line for text that is neither a command here nor a move."""
    first = text.split()[0].lower()
    known = _BY_NAME.get(first)
    if known is not None:
        return f"no: {known.name} works only {_place(known.context)}. Type help."
    names = [name for name, command in _BY_NAME.items() if context in command.context]
    near = get_close_matches(first, names, n=1)
    guess = f" Did you mean {near[0]}?" if near else ""
    kind = "neither a command nor a move" if context & Context.BOARD else "not a command here"
    return f"no: {text[:40]!r} is {kind}.{guess} Type help."


def help_lines(context: Context) -> Iterator[str]:
    """Return a line for every command that can be typed in this context."""
    if context & Context.BOARD:
        yield f"help {MOVES_HELP}"
    for command in COMMANDS:
        if context in command.context:
            aliases = f" (also {', '.join(command.aliases)})" if command.aliases else ""
            yield f"help {command.syntax}: {command.description}{aliases}"


def _place(context: Context) -> str:
    places = {
        Context.LOBBY: "in the lobby",
        Context.TABLE: "at a table",
        Context.PRACTICE: "in practice",
        Context.WATCHING: "while you watch",
    }
    return " or ".join(words for place, words in places.items() if place in context)


_BY_NAME: Final = {
    name: command for command in COMMANDS for name in (command.name, *command.aliases)
}


VALUES: Final[Mapping[str, tuple[Mapping[str, Any], str]]] = MappingProxyType(
    {
        "game": ({name: name for name in GAMES}, f"The games are {', '.join(GAMES)}."),
        "cap": (
            {"none": 0, **{str(cap): cap for cap in CAPS}},
            "The time limit is 3, 5, 10 or 20 minutes, or none at a private table.",
        ),
        "seats": (
            {str(seats): seats for seats in range(FEWEST_SEATS, MOST_SEATS + 1)},
            f"A table has {FEWEST_SEATS} to {MOST_SEATS} seats.",
        ),
        "races": (
            {str(races): races for races in MATCHES},
            "A match has 3 or 5 races; races 1 is no match.",
        ),
    }
)
"""The settings with a value: its words, and the answer to any other word."""


def wrong(sentence: str) -> Problem:
    """Return the error of a typed line that cannot be carried out; its `no:` line has the sentence."""
    return Problem(sentence, "", Exit.USAGE)


def read_settings(words: str) -> dict[str, Any]:
    """Parse settings such as `canfield cap 5 seats 4 public`. Raises `Problem`.

    The keys are those of `ChangeSettings`: `game`, `cap` in minutes (0: none), `seats`, `races`,
    `public`.
    """
    chosen: dict[str, Any] = {}
    rest = words.lower().split()
    while rest:
        word, *rest = rest
        if word in ("public", "private"):
            chosen["public"] = word == "public"
        elif word in GAMES:
            chosen["game"] = word
        elif word in VALUES:
            values, remedy = VALUES[word]
            value = rest.pop(0) if rest else ""
            rest = rest[1:] if rest[:1] == ["minutes"] else rest
            if value not in values:
                raise wrong(remedy)
            chosen[word] = values[value]
        else:
            raise wrong(
                f"{word[:40]!r} is not a setting. The settings are a game, cap, seats, races, "
                "public and private."
            )
    return chosen
