r"""A practice run as text: the deal and all actions with their times.

    saratoga practice 1                     the format's version
    game canfield
    rules 1                                 the version of the rules
    seed "k7m2pq"                           or `race mint-otter-42/3`
    deal stock=.. waste=- reserve=..        the opening position
    began 1788278400000                     milliseconds since 1970 UTC
    1532 draw                               milliseconds, and a move or an aid
    2890 undo
    ended 9120 7 stopped                    milliseconds, banked, and `won` or `stopped`

The seed is a JSON string in ASCII. A run has no digest, because it proves nothing to others. Reading
a run replays it; a run whose result differs is refused.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from saratoga_client.practice.deals import BadSeed, PracticeDeal, from_seed
from saratoga_client.practice.game import Aid, PracticeEntry, PracticeGame, after_entry, new_game
from saratoga_rules.games import GAMES, RULES_VERSION
from saratoga_rules.moves import parse_move
from saratoga_rules.position import Position, format_position, parse_position
from saratoga_rules.records.lines import RecordError, RecordReader
from saratoga_rules.refusals import IllegalMove

RUN_FORMAT: Final = 1
WON: Final = "won"
STOPPED: Final = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeRun:
    """A practice game and its times."""

    practice: PracticeGame
    began: int
    """The time of the deal, in milliseconds since 1970 UTC."""
    end: int
    """Milliseconds from the deal to the end of the run."""

    @property
    def is_won(self) -> bool:
        return self.practice.is_won


def format_run(run: PracticeRun) -> str:
    """Return a run as text that `parse_run` reads."""
    return "".join(f"{line}\n" for line in _lines(run))


def parse_run(text: str) -> PracticeRun:
    """Parse a run and replay it; raises `RecordError` with the line number."""
    reader = RecordReader(text)
    if reader.take(_HEAD, "the words 'saratoga practice 1'")[1] != str(RUN_FORMAT):
        reader.refuse(f"this program reads format {RUN_FORMAT}")
    deal = _parse_dealt(reader)
    began = int(reader.take(_BEGAN, "the beginning")[1])
    practice = new_game(deal)
    while reader.line[:1].isdigit():
        practice = _parse_entry(reader, practice)
    end, banked, state = reader.take(_ENDED, "an entry or the end").groups()
    if int(banked) != practice.banked or (state == WON) != practice.is_won:
        reader.refuse(f"the moves come to {practice.banked} banked, {_state(practice)}")
    if reader.line or reader.number != len(reader.lines) - 1:
        raise RecordError(reader.number + 1, "expected the end of the text")
    return PracticeRun(practice=practice, began=began, end=int(end))


def _lines(run: PracticeRun) -> Iterator[str]:
    practice = run.practice
    deal = practice.deal
    yield f"saratoga practice {RUN_FORMAT}"
    yield f"game {deal.game.name}"
    yield f"rules {RULES_VERSION}"
    yield f"race {deal.race}" if deal.race else f"seed {json.dumps(deal.seed)}"
    yield f"deal {format_position(deal.position)}"
    yield f"began {run.began}"
    for entry in practice.log:
        yield f"{entry.at} {entry.done}"
    yield f"ended {max(run.end, practice.last_at)} {practice.banked} {_state(practice)}"


def _state(practice: PracticeGame) -> str:
    return WON if practice.is_won else STOPPED


_NUMBER: Final = "(0|[1-9][0-9]{0,14})"
_HEAD: Final = re.compile("saratoga practice ([0-9]+)")
_GAME: Final = re.compile("game ([a-z][a-z0-9-]{0,31})")
_RULES: Final = re.compile("rules ([1-9][0-9]{0,5})")
_SOURCE: Final = re.compile('(race) ([a-z][a-z0-9-]{0,39}/[1-9][0-9]{0,5})|(seed) (".*")')
_DEAL: Final = re.compile("deal (stock=.+)")
_BEGAN: Final = re.compile(f"began {_NUMBER}")
_ENTRY: Final = re.compile(f"{_NUMBER} ([a-zCSHD0-9.:>-]+)")
_ENDED: Final = re.compile(f"ended {_NUMBER} {_NUMBER} ({WON}|{STOPPED})")


def _parse_dealt(reader: RecordReader) -> PracticeDeal:
    name = reader.take(_GAME, "the game")[1]
    if name not in GAMES:
        reader.refuse(f"there is no game called {name}")
    if reader.take(_RULES, "the version of the rules")[1] != str(RULES_VERSION):
        reader.refuse(f"this program knows version {RULES_VERSION} of the rules")
    _, race, _, quoted = reader.take(_SOURCE, "the seed or the race").groups()
    seed_line = reader.number
    text = reader.take(_DEAL, "the deal")[1]
    try:
        position = parse_position(text)
    except ValueError as fault:
        reader.refuse(str(fault))
    if race:
        return PracticeDeal(GAMES[name], position, race=race)
    deal = _dealt_from(name, quoted, seed_line)
    _refuse_other_deal(reader, deal, position)
    return deal


def _dealt_from(name: str, quoted: str, line: int) -> PracticeDeal:
    try:
        seed = json.loads(quoted)
        return from_seed(GAMES[name], seed)
    except BadSeed as fault:
        raise RecordError(line, str(fault)) from None
    except ValueError:
        raise RecordError(line, f"this is no seed: {quoted[:60]}") from None


def _refuse_other_deal(reader: RecordReader, deal: PracticeDeal, position: Position) -> None:
    if deal.position != position:
        reader.refuse("the seed makes another deal")


def _parse_entry(reader: RecordReader, practice: PracticeGame) -> PracticeGame:
    at, word = reader.take(_ENTRY, "an entry").groups()
    if int(at) < practice.last_at:
        reader.refuse("an entry earlier than the one before it")
    try:
        entry = PracticeEntry(int(at), Aid(word) if word in _AIDS else parse_move(word))
        after = after_entry(practice, entry)
    except (ValueError, IllegalMove) as fault:
        reader.refuse(str(fault))
    if after is practice:
        reader.refuse(f"there is nothing to {word}")
    return after


_AIDS: Final = frozenset(Aid)
