"""Records in loose forms: the same facts, but not written as the protocol page demands."""

import re
from collections.abc import Callable
from random import Random
from typing import Final

from saratoga_rules.records.record import digest_of

_Put = str | Callable[[re.Match[str]], str]

LOOSE: Final[tuple[tuple[str, _Put], ...]] = (
    ("([0-9]+)", r"0\1"),
    ("([0-9]+)", r"+\1"),
    ("([0-9]+)", r"\g<1>.0"),
    ("([0-9]+)", r"-0\1"),
    ("([0-9])", "\uff11"),
    ("([0-9]+)", r"\g<1>0000000000000000"),
    (" ", "  "),
    (" ", "\t"),
    ("$", " "),
    ("$", "\r"),
    ("$", "\n"),
    ("^", " "),
    ("^", "\ufeff"),
    ("([a-f])", lambda found: found[1].upper()),
    ("u00([a-f]+)", lambda found: f"u00{found[1].upper()}"),
    ('"', "'"),
    ('"(.)', r'"\\u0041'),
    ('"(.)', r'"\\n'),
    ("([a-z])", lambda found: found[1].upper()),
    (">t([0-9])", r">t0\1"),
    ("(>t[0-9]+)$", r"\1:1"),
    ("([a-z]+)-([a-z]+)-([0-9]+)", r"\1-\2-4"),
    ("[|]", "||"),
    ("/[A-Z0-9]+[|]", "/-|"),
    ("columns=", "columns=|"),
)
"""Changes that leave the meaning, or nearly: a pattern and its replacement."""


def sealed(lines: list[str]) -> str:
    """Return the lines of a record with the digest that fits them."""
    body = "\n".join([*lines, "digest"])
    return f"{body} {digest_of(body + chr(10))}\n"


def loosened(line: str, sought: str, put: _Put) -> str:
    """Return the line with the first place that fits replaced; unchanged if there is none, or in a name."""
    name = line.find('"') if line.startswith("racer ") else -1
    found = re.search(sought, line)
    is_another_name = found is not None and 0 <= name < found.start() and '"' not in found[0]
    return line if is_another_name else re.sub(sought, put, line, count=1)


def loosely_written(text: str, chance: Random) -> tuple[str, str]:
    """Return what was changed and a record in which one line has another form, or the whole has other line ends."""
    lines = text.split("\n")[:-2]
    if chance.random() < 0.1:
        return chance.choice(
            [
                ("line ends of two characters", text.replace("\n", "\r\n")),
                ("no last line end", text[:-1]),
                ("an empty line after the end", text + "\n"),
                ("a text before the record", "\n" + text),
                ("the digest in capitals", text[:-65] + text[-65:].upper()),
            ]
        )
    while True:
        place = chance.randrange(len(lines))
        sought, put = chance.choice(LOOSE)
        changed = loosened(lines[place], sought, put)
        if changed != lines[place]:
            lines[place] = changed
            return f"{sought} -> {put} in {changed[:40]!r}", sealed(lines)
