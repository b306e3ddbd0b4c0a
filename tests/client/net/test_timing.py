from saratoga_client.net.timing import Timing

SERVER_SENDS_EVERY = 2.0
"""Seconds between two `alive` events of the server, as the protocol page promises."""


def test_one_late_sign_of_life_does_not_end_a_connection() -> None:
    timing = Timing()
    assert timing.silence > 2 * max(SERVER_SENDS_EVERY, timing.heartbeat_every)
    assert timing.answer_within > timing.silence + timing.greet_within
