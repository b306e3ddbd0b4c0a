from saratoga_client.net.server_time import OBSERVATIONS, ServerTime


def test_an_answer_is_taken_as_exact_halfway_through_the_round_trip() -> None:
    clock = ServerTime()
    clock.observe(sent=10.0, received=10.2, server=50_000)
    assert clock.at(10.1) == 50_000
    assert clock.at(11.1) == 51_000


def test_the_fastest_answer_counts() -> None:
    clock = ServerTime()
    clock.observe(sent=10.0, received=10.02, server=50_000)
    clock.observe(sent=20.0, received=22.0, server=61_700)
    assert clock.at(20.0) == 59_990
    assert clock.round_trip == 2.0


def test_old_observations_are_dropped() -> None:
    clock = ServerTime()
    clock.observe(sent=0.0, received=0.0, server=0)
    for second in range(1, OBSERVATIONS + 1):
        clock.observe(sent=second, received=second + 0.5, server=second * 1000 + 5250)
    assert clock.at(100.0) == 105_000


def test_all_observations_of_another_node_can_be_dropped() -> None:
    clock = ServerTime()
    clock.observe(sent=0.0, received=0.0, server=7_000)
    clock.forget()
    assert clock.at(1.0) == 1_000
    assert clock.round_trip is None


def test_a_step_of_the_servers_clock_is_followed_at_once() -> None:
    for step in (-3_600_000, 3_600_000):
        clock = ServerTime()
        clock.observe(sent=0.0, received=0.0, server=10_000_000)
        clock.observe(sent=10.0, received=10.4, server=10_010_200 + step)
        assert clock.at(10.4) == 10_010_400 + step


def test_a_slow_answer_is_no_step() -> None:
    clock = ServerTime()
    clock.observe(sent=0.0, received=0.0, server=10_000_000)
    clock.observe(sent=10.0, received=20.0, server=10_019_999)
    assert clock.at(20.0) == 10_020_000
