from saratoga_client.wording import cap_words, capitalised, counted


def test_numbers_go_with_their_nouns() -> None:
    assert [counted(1), counted(0), counted(2, "pass")] == ["1 card", "0 cards", "2 passes"]


def test_a_sentence_begins_with_a_great_letter() -> None:
    assert [capitalised(text) for text in ("the waste", "7♣ fits", "")] == [
        "The waste",
        "7♣ fits",
        "",
    ]


def test_a_race_without_a_cap_says_so() -> None:
    assert [cap_words(3), cap_words(0)] == ["3 minutes", "no cap"]
