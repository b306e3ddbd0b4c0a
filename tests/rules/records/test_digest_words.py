"""Four words of a digest: the list, the derivation, and words as people type them."""

import hashlib
import re
from pathlib import Path

import pytest

from saratoga_rules.records.digest_words import WORDS, digest_words, parse_digest_words
from saratoga_rules.records.record import digest_of

PAGE = (Path(__file__).parents[3] / "protocol" / "README.md").read_text(encoding="utf-8")


def test_the_words_are_short_plain_and_differ_in_four_letters() -> None:
    assert len(WORDS) == 1024
    assert list(WORDS) == sorted(WORDS)
    assert len({word[:4] for word in WORDS}) == 1024
    assert all(re.fullmatch("[a-z]{3,5}", word) for word in WORDS)


def test_the_page_names_this_list_and_these_words() -> None:
    assert hashlib.sha256(" ".join(WORDS).encode()).hexdigest() in PAGE
    for start, words in re.findall(r"\| `([0-9a-f]{16})\.\.` \| `([a-z-]+)` \|", PAGE):
        assert digest_words(start * 4) == words
    record = re.search(r"```record\n(.*?)```", PAGE, re.DOTALL)
    assert record is not None
    assert f"| of the record above | `{digest_words(digest_of(record[1]))}` |" in PAGE


def test_forty_bits_of_the_digest_count() -> None:
    digest = "0123456789" + "0" * 54
    words = digest_words(digest)
    assert digest_words(digest[:10] + "f" * 54) == words
    for place in range(10):
        other = digest[:place] + "f" + digest[place + 1 :]
        assert digest_words(other) != words


def test_words_are_understood_as_people_type_them() -> None:
    words = digest_words("0123456789" + "0" * 54)
    assert words == "actor-merry-fresh-tone"
    for typed in ("ACTOR merry Fresh tone", "acto-merr-fres-tone", " actor - merry-fresh tone "):
        assert parse_digest_words(typed) == words


@pytest.mark.parametrize("typed", ["", "actor-merry-fresh", "act-merry-fresh-tone", "a b c d e"])
def test_other_words_are_refused(typed: str) -> None:
    with pytest.raises(ValueError, match="word"):
        parse_digest_words(typed)
