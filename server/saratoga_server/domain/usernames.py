"""The rules for players' names.

A name has 2 to 20 characters in one to three words with single spaces between. Each word obeys
the PRECIS profile UsernameCasePreserved (RFC 8265), which excludes spaces, symbols, emoji, and
characters that are invisible or change the direction. Words are checked one by one, because the
profile allows no space. Further rules: the letters are of one writing system (or kana and Han, or
Latin with Chinese, Japanese or Korean: UTS 39, "highly restrictive"), the digits of one kind, the
signs only `-`, `_`, `'` and `.`, and there is at least one letter.

Names are shown as chosen and compared by `lookalikes.skeleton`.
"""

import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Final

from saratoga_server.domain.lookalikes import SCRIPTS, is_mask, script, skeleton

SHORTEST: Final = 2
LONGEST: Final = 20
MOST_WORDS: Final = 3
SIGNS: Final = "-_'."
MOST_MARKS: Final = 3
"""The most combining marks on one letter."""

_RESERVED_ALONE: Final = """
    house dealer server system root bot bots robot host owner player players nobody anybody
    everybody everyone somebody anonymous unknown none null undefined deleted you me all
    watcher support help
"""

_RESERVED_ANYWHERE: Final = """
    saratoga admin admins administrator moderator mod mods official staff operator sysop
"""

_EAST_ASIAN: Final = (
    frozenset({"LATIN", "HAN", "HIRAGANA", "KATAKANA"}),
    frozenset({"LATIN", "HAN", "BOPOMOFO"}),
    frozenset({"LATIN", "HAN", "HANGUL"}),
)
_KANA_LENGTH_MARK: Final = "\u30fc"


@cache
def _enforce() -> Callable[[str], str]:
    """Return the profile's check of a word; the first call loads its tables."""
    from precis_i18n import get_profile

    enforce: Callable[[str], str] = get_profile("UsernameCasePreserved").enforce
    return enforce


@cache
def reserved_words() -> frozenset[str]:
    """Return the skeletons that may not be a word of any name."""
    return frozenset(map(skeleton, _RESERVED_ANYWHERE.split()))


@cache
def reserved_names() -> frozenset[str]:
    """Return the skeletons that no name may have; the first call takes 0.1 s."""
    return reserved_words() | frozenset(map(skeleton, _RESERVED_ALONE.split()))


def load_tables() -> None:
    """Load the tables that names are checked against; takes 0.25 s, once."""
    _enforce()
    reserved_names()


class BadName(ValueError):
    """A name that cannot be used; the text tells the player why."""


def checked_name(text: str) -> tuple[str, str]:
    """Return the name as it will be shown, and its skeleton. Raises `BadName`."""
    words = _words(text)
    name = " ".join(_enforced(word) for word in words)
    if not SHORTEST <= len(name) <= LONGEST:
        raise BadName(f"A name has {SHORTEST} to {LONGEST} characters; that one has {len(name)}.")
    _check_characters(name)
    _check_scripts(name)
    key = skeleton(name)
    if is_mask(name):
        raise BadName(
            "That name looks like one in Latin letters. "
            "Write it with its accents, or choose another."
        )
    parts = name.replace("-", " ").replace("_", " ").replace(".", " ").split()
    if key in reserved_names() or any(skeleton(part) in reserved_words() for part in parts):
        raise BadName("That name is reserved for the server. Choose another.")
    return name, key


def _words(text: str) -> list[str]:
    if len(text) > 4 * LONGEST:
        raise BadName(f"A name has {SHORTEST} to {LONGEST} characters.")
    words = text.split(" ")
    if not all(words):
        raise BadName("A name has no space before or after it, and single spaces inside.")
    if len(words) > MOST_WORDS:
        raise BadName(f"A name has at most {MOST_WORDS} words.")
    return words


def _enforced(word: str) -> str:
    try:
        return _enforce()(word)
    except (UnicodeEncodeError, ValueError):
        raise BadName(
            "Use letters, digits, single spaces and - _ ' . only: no symbols, no emoji."
        ) from None


def _check_characters(name: str) -> None:
    """Allow letters, marks on letters, digits of one kind, and a few signs between them."""
    zeros = set()
    marks = 0
    before = " "
    for character in name:
        kind = unicodedata.category(character)
        marks = marks + 1 if kind[0] == "M" else 0
        if marks > MOST_MARKS or (marks == 1 and unicodedata.category(before)[0] != "L"):
            raise BadName(
                "That name has an accent without a letter, or too many accents on one letter."
            )
        if not (kind[0] in "LM" or kind == "Nd" or character in SIGNS or character == " "):
            raise BadName("Use letters, digits, single spaces and - _ ' . only.")
        if character in SIGNS and before in SIGNS:
            raise BadName("That name has two signs in a row. Use one.")
        if kind == "Nd":
            zeros.add(ord(character) - unicodedata.decimal(character))
        before = character
    if len(zeros) > 1:
        raise BadName("Use digits of one kind only.")
    if not any(character.isalpha() for character in name):
        raise BadName("A name has at least one letter.")


def _check_scripts(name: str) -> None:
    scripts = set()
    for character in name:
        found = script(character)
        if found == "COMMON" and character.isalpha() and character != _KANA_LENGTH_MARK:
            raise BadName("That name has a sign that looks like a letter. Use ordinary letters.")
        scripts.add(found)
    scripts -= {"COMMON", "INHERITED"}
    if not scripts <= SCRIPTS:
        raise BadName("Use letters of a writing system that is in use today.")
    if len(scripts) > 1 and not any(scripts <= together for together in _EAST_ASIAN):
        raise BadName("Use letters of one writing system; a mixed name can pass for another one.")
