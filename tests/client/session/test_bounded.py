"""What a session remembers has a bound."""

from saratoga_client.session.bounded import put_newest


def test_the_oldest_entry_goes_and_one_that_is_set_again_is_the_newest() -> None:
    known: dict[str, int] = {}
    for number, key in enumerate("abcad"):
        put_newest(known, key, number, most=3)
    assert list(known.items()) == [("c", 2), ("a", 3), ("d", 4)]
