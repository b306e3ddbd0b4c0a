"""Names that look alike, by Unicode Technical Standard 39, "Unicode Security Mechanisms".

Two names count as equal if they differ only in case, if they look the same by the standard's table
of confusable characters (0 and O, Latin a and Cyrillic a), or both. So characters form families: a
capital, its small letter, and every character that looks like either. `skeleton` replaces
each character by the head of its family.

A few families would merge that way: Greek capital nu looks like N and its small letter looks like
v, which would make Latin n and v equal. Such a link is left out, and its letter is added to
`masks`: a name that could pass for a Latin one by such letters (`is_mask`) is refused.

Loading the tables and building the families takes 0.1 to 0.2 s. It is done when the first name is
checked, not when the server starts.
"""

import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

# Unicode Standard Annex 31, table 5: the scripts in everyday use.
_SCRIPTS: Final = """
    LATIN GREEK CYRILLIC ARMENIAN HEBREW ARABIC THAANA DEVANAGARI BENGALI GURMUKHI GUJARATI
    ORIYA TAMIL TELUGU KANNADA MALAYALAM SINHALA THAI LAO TIBETAN MYANMAR GEORGIAN ETHIOPIC
    KHMER HAN HIRAGANA KATAKANA HANGUL BOPOMOFO
"""
SCRIPTS: Final = frozenset(_SCRIPTS.split())

# Earlier scripts win: if two links conflict, the link of the later script is left out.
_FAVOURED: Final = ("LATIN", "CYRILLIC", "ARMENIAN", "HEBREW", "ARABIC")


def script(character: str) -> str:
    """Return the script of a character; `COMMON` and `INHERITED` mean several scripts."""
    return _alias()(character)


def skeleton(name: str) -> str:
    """Return a key that is equal for names that look alike; spaces and punctuation are ignored."""
    mapped = _mapped(name)
    while (again := _mapped(mapped)) != mapped:
        mapped = again
    return mapped


def masks() -> frozenset[str]:
    """Return the letters whose links were left out."""
    return _families()[1]


def is_mask(name: str) -> bool:
    """Return whether a name can pass for a Latin name although their skeletons differ."""
    shown = [_prototype(character) for character in unicodedata.normalize("NFD", name)]
    return all(look.isascii() for look in shown) and any(letter in name for letter in masks())


def _mapped(name: str) -> str:
    folded = unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())
    mapped = "".join(map(_mapped_character, folded))
    # m is the only Latin letter that looks like two others
    return "".join(filter(_counts, mapped)).replace("m", "rn")


def _mapped_character(character: str) -> str:
    families, _ = _families()
    member = families.get(character, character)
    return "".join(families.get(part, part) for part in _prototype(member).casefold())


def _counts(character: str) -> bool:
    """Return whether a character is compared: not spaces, punctuation and ASCII signs."""
    if character.isascii():
        return character.isalnum()
    return unicodedata.category(character)[0] in "LMNS"


@cache
def _alias() -> Callable[[str], str]:
    # imported here, because it loads a megabyte of JSON
    from confusable_homoglyphs.categories import alias

    found: Callable[[str], str] = alias
    return found


@cache
def _table() -> dict[str, str]:
    """Return each confusable character with its prototype.

    The package lists every pair in both directions. A prototype has many look-alikes, but a
    look-alike has only one prototype. If both have one, either can be the prototype.
    """
    from confusable_homoglyphs.confusables import confusables_data

    # The table of the package sets right-to-left marks around some characters.
    pairs: dict[str, set[str]] = {}
    for character, others in confusables_data.items():
        alike = pairs.setdefault(character.strip("\u200e"), set())
        alike.update(other["c"].strip("\u200e") for other in others)
    table = {}
    for character, alike in pairs.items():
        if len(character) == 1 and len(alike) == 1:
            (other,) = alike
            # a letter that looks like a sign (Hebrew yod, kana no) is its own prototype
            nothing = not any(map(_counts, other))
            if not nothing and (len(pairs[other]) > 1 or len(other) > 1 or other < character):
                table[character] = other
    return table


def _prototype(character: str) -> str:
    return _table().get(character, character)


class _FamilyBuilder:
    """A builder that joins characters into families, but never two ASCII letters."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}
        self.left_out: set[str] = set()

    def join(self, character: str, other: str) -> None:
        ours, theirs = self.head(character), self.head(other)
        if ours == theirs:
            return
        if ours.isascii() and theirs.isascii() and not (character + other).isascii():
            self.left_out.add(character)
            return
        # An ASCII character heads its family, the smallest of them if there are several.
        head, follower = sorted((ours, theirs), key=_headship)
        self._parents[follower] = head

    def head(self, character: str) -> str:
        while character in self._parents:
            character = self._parents[character]
        return character

    def members(self) -> Iterator[str]:
        yield from self._parents


def _headship(character: str) -> tuple[bool, bool, str]:
    return not character.isascii(), not character.islower(), character


@cache
def _families() -> tuple[dict[str, str], frozenset[str]]:
    """Return the head of each character's family, and the letters whose links were left out."""
    table = _table()
    known = [c for c in table if script(c) in SCRIPTS | {"COMMON", "INHERITED"} and _counts(c)]
    alphabet = sorted({*known, *(table[c] for c in known if len(table[c]) == 1)}, key=_rank)
    families = _FamilyBuilder()
    for character in [*map(chr, range(ord("A"), ord("Z") + 1)), *alphabet]:
        for other in (character.lower(), character.casefold(), character.upper()):
            if len(other) == 1:
                families.join(character, other)
    for character in alphabet:
        prototype = _prototype(character)
        if len(prototype) == 1:
            families.join(character, prototype)
    heads = {member: families.head(member) for member in families.members()}
    return heads, frozenset(families.left_out)


def _rank(character: str) -> tuple[bool, bool, int, str]:
    """Return the sort key: ASCII first, then capitals (most links go through them), by script."""
    name = script(character)
    place = _FAVOURED.index(name) if name in _FAVOURED else len(_FAVOURED)
    return not character.isascii(), character.islower(), place, character
