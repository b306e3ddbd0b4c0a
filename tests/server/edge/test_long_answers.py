"""Long answers: only so many bytes of them are on their way at once."""

from saratoga_server.edge.long_answers import LONG, LongAnswers


def test_long_answers_wait_for_room_and_short_ones_do_not() -> None:
    long = LongAnswers(most=3 * LONG)
    assert long.has_room(2 * LONG)
    assert not long.has_room(2 * LONG)
    assert all(long.has_room(LONG) for _ in range(100))
    for _ in range(100):
        long.done(LONG)
    assert not long.has_room(2 * LONG)
    long.done(2 * LONG)
    assert long.has_room(3 * LONG)
