from saratoga_client.net.server_time import OBSERVATIONS, ServerTime


def test_an_answer_is_true_at_the_middle_of_its_journey() -> None:
    clock = ServerTime()
    clock.observe(asked=10.0, heard=10.2, house=50_000)
    assert clock.at(10.1) == 50_000
    assert clock.at(11.1) == 51_000


def test_the_quickest_answer_counts() -> None:
    clock = ServerTime()
    clock.observe(asked=10.0, heard=10.02, house=50_000)
    clock.observe(asked=20.0, heard=22.0, house=61_700)
    assert clock.at(20.0) == 59_990
    assert clock.round_trip == 2.0


def test_old_answers_are_forgotten() -> None:
    clock = ServerTime()
    clock.observe(asked=0.0, heard=0.0, house=0)
    for second in range(1, OBSERVATIONS + 1):
        clock.observe(asked=second, heard=second + 0.5, house=second * 1000 + 5250)
    assert clock.at(100.0) == 105_000


def test_another_node_is_another_clock() -> None:
    clock = ServerTime()
    clock.observe(asked=0.0, heard=0.0, house=7_000)
    clock.forget()
    assert clock.at(1.0) == 1_000
    assert clock.round_trip is None
