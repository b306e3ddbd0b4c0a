"""Tests of the reader of record lines."""

import re

import pytest

from saratoga_rules.records.lines import RecordError, RecordReader

ANYTHING = re.compile(".*")
NUMBER = re.compile("([0-9]+)")


def test_lines_are_taken_one_after_another() -> None:
    reader = RecordReader("12\nthree")
    assert reader.take(NUMBER, "a number")[1] == "12"
    assert reader.line == "three"


def test_a_line_that_is_not_the_expected_one_is_named_and_not_taken() -> None:
    reader = RecordReader("12\nthree")
    reader.take(NUMBER, "a number")
    with pytest.raises(RecordError, match="line 2: expected a number, found 'three'"):
        reader.take(NUMBER, "a number")
    assert reader.line == "three"


def test_an_error_at_the_end_of_the_text_says_so() -> None:
    reader = RecordReader("12")
    reader.take(NUMBER, "a number")
    assert reader.line == ""
    with pytest.raises(RecordError, match="line 2: expected a number, found the end of the text"):
        reader.take(NUMBER, "a number")


def test_only_a_line_feed_ends_a_line() -> None:
    reader = RecordReader("one\r\x0b\x0c\x85\u2028two\nthree")
    assert reader.line == "one\r\x0b\x0c\x85\u2028two"


def test_a_line_can_be_refused_after_it_was_taken() -> None:
    reader = RecordReader("one\ntwo")
    reader.take(ANYTHING, "anything")
    with pytest.raises(RecordError, match="line 1: because") as refused:
        reader.refuse("because")
    assert (refused.value.line, refused.value.reason) == (1, "because")


def test_a_line_starts_with_a_whole_word() -> None:
    assert RecordReader("racer anna").starts("racer")
    assert not RecordReader("racers").starts("racer")
