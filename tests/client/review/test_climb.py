from saratoga_client.review.climb import Climb

CLIMB = Climb(1, ((1000, 1), (2000, 2), (5000, 4)), 9000)


def test_the_count_at_a_moment_is_the_last_one_before_it() -> None:
    moments = [0, 1999, 2000, 4999, 5000, 10**9]
    assert [CLIMB.banked_at(at) for at in moments] == [1, 1, 2, 2, 4, 4]
    assert CLIMB.final == 4


def test_when_a_count_was_reached() -> None:
    assert [CLIMB.reached(count) for count in range(6)] == [0, 0, 2000, 5000, 5000, None]


def test_a_board_without_moves_keeps_the_count_of_the_deal() -> None:
    still = Climb(8, (), 0)
    assert (still.final, still.banked_at(700), still.reached(8), still.reached(9)) == (
        8,
        8,
        0,
        None,
    )
