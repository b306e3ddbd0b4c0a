"""The form of records: the same in the code and on the page of the protocol, and no other is read."""

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random

import pytest

from kit.races import Entrant, race, void_record
from kit.record_lies import LOOSE, loosened, sealed
from kit.walks import banking, wandering
from saratoga_rules.games import GAMES
from saratoga_rules.records import grammar
from saratoga_rules.records.lines import RecordError
from saratoga_rules.records.record import LOG_ENDINGS, format_record, parse_record
from saratoga_rules.records.standing import State
from saratoga_rules.records.void_record import format_void_record, parse_void_record
from saratoga_rules.records.voided import VOID_REASONS

PAGE = Path(__file__).parents[3].joinpath("protocol/FAIRNESS.md").read_text(encoding="utf-8")
FIELD = [Entrant("Anna", banking, patience=60), Entrant("Zoë \U00020000", wandering, bot=True)]


def block(kind: str) -> list[str]:
    """Return the lines of the page's only block of this kind."""
    (text,) = re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(text).splitlines()


PARTS = dict(line.split(" = ") for line in block("grammar"))


def expanded(line: str) -> re.Pattern[str]:
    """Return the pattern of a line of the page with the pattern of each part in its place."""
    return re.compile(re.sub("[A-Z][A-Z_]+", lambda word: PARTS.get(word[0], word[0]), line))


LINES = [expanded(line) for line in block("lines")]
VOID_LINES = [*LINES, *map(expanded, block("void-lines"))]


def has_form(text: str, lines: list[re.Pattern[str]]) -> bool:
    """Return whether every line matches a pattern of the page, and the last line ends."""
    *written, rest = text.split("\n")
    return not rest and all(any(line.fullmatch(word) for line in lines) for word in written)


@pytest.mark.parametrize("name", PARTS)
def test_every_part_on_the_page_is_that_of_the_code(name: str) -> None:
    part = str(getattr(grammar, name)).replace("(?:", "(").replace(r"\"", '"')
    assert part == PARTS[name]


def test_the_words_of_the_grammar_are_those_of_the_code() -> None:
    assert PARTS["ENDING"] == f"({'|'.join(state for state in State if state in LOG_ENDINGS)})"
    (reasons,) = {line for line in block("void-lines") if line.startswith("reason ")}
    assert reasons == f"reason ({'|'.join(VOID_REASONS)})"


def test_the_page_lists_the_characters_that_no_name_has() -> None:
    listed = set[int]()
    sentence = (
        " ".join(PAGE.split()).split("A name has no character in ")[1].split("The heights")[0]
    )
    for first, last in re.findall("U[+]([0-9A-F]{4,5})(?:-([0-9A-F]{4}))?", sentence):
        listed.update(range(int(first, 16), int(last or first, 16) + 1))
    listed.update(range(0xE0000, 0x110000))
    never = re.compile(grammar.NEVER_IN_A_NAME)
    assert listed == {code for code in range(0x110000) if never.match(chr(code))}


@pytest.mark.parametrize("name", GAMES)
def test_every_record_has_the_form_of_the_page(name: str) -> None:
    assert has_form(format_record(race(name, 1, FIELD)), LINES)


def test_a_void_record_has_the_form_of_the_page() -> None:
    assert has_form(format_void_record(void_record()), VOID_LINES)


@pytest.mark.parametrize(
    ("text", "parse", "patterns"),
    [
        (format_record(race("lafayette", 1, FIELD)), parse_record, LINES),
        (format_record(race("klondike", 1, FIELD)), parse_record, LINES),
        (format_void_record(void_record()), parse_void_record, VOID_LINES),
    ],
    ids=["race", "race with face-down cards", "void"],
)
def test_no_other_form_is_read_though_the_digest_fits(
    text: str, parse: Callable[[str], object], patterns: list[re.Pattern[str]]
) -> None:
    lines = text.split("\n")[:-2]
    chance = Random("loose forms")
    places = sorted({*range(14), *chance.sample(range(len(lines)), min(12, len(lines)))})
    tried = 0
    for place, (sought, put) in product([each for each in places if each < len(lines)], LOOSE):
        changed = loosened(lines[place], sought, put)
        if changed == lines[place]:
            continue
        forged = sealed([*lines[:place], changed, *lines[place + 1 :]])
        tried += 1
        assert not has_form(forged, patterns), changed
        with pytest.raises(RecordError):
            parse(forged)
    assert tried > 100


@pytest.mark.parametrize("code", ["mint-otter-42", "airy-acorn-10", "lavender-carousel-99"])
def test_a_table_s_code_is_known_as_one(code: str) -> None:
    assert re.fullmatch(grammar.TABLE_CODE, code)
    assert re.fullmatch(grammar.RACE_ID, f"{code}/1")
    assert re.fullmatch(grammar.RACE_ID, f"{code}/999999")


@pytest.mark.parametrize(
    "race_id",
    ["mint-otter-42", "mint-otter-42/0", "mint-otter-42/1/2", "../42/1", "Mint-otter-42/1"],
)
def test_anything_else_is_no_race(race_id: str) -> None:
    assert not re.fullmatch(grammar.RACE_ID, race_id)
