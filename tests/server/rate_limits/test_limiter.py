"""Who has taken how much: addresses that cannot be forgotten on purpose, players on many connections."""

from collections import Counter
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from saratoga_server.rate_limits.accounts import CROWD, Quota, RateLimiter, unlimited
from saratoga_server.rate_limits.limits import (
    MOST_OF_A_PLAYER,
    MOST_OPEN,
    MOST_SILENT,
    MOST_SILENT_IN_ALL,
    PER_ADDRESS,
    Act,
)

ANNA, BERT = "203.0.113.7", "198.51.100.9"


class Times:
    """A clock for the ledger, and what it refused."""

    def __init__(self) -> None:
        self.now = 0.0
        self.refused: Counter[str] = Counter()

    def ledger(self, **options: object) -> RateLimiter:
        return RateLimiter(self.steady, on_refused=self.note, **options)  # type: ignore[arg-type]

    def steady(self) -> float:
        return self.now

    def note(self, what: str) -> None:
        self.refused[what] += 1


@pytest.fixture
def times() -> Times:
    return Times()


def spent(quota: Quota, act: Act) -> int:
    """How often it may be done now."""
    done = 0
    while quota.does(act) == 0 and done < 100_000:
        done += 1
    return done


# Addresses


def test_what_one_connection_takes_the_next_from_there_does_not_have(times: Times) -> None:
    ledger = times.ledger()
    assert spent(ledger.quota(ANNA), Act.WRONG_CODE) == PER_ADDRESS[Act.WRONG_CODE].burst
    assert spent(ledger.quota(ANNA), Act.WRONG_CODE) == 0
    assert spent(ledger.quota(BERT), Act.WRONG_CODE) == PER_ADDRESS[Act.WRONG_CODE].burst
    assert times.refused == {"codes": 3}
    times.now += 3 * PER_ADDRESS[Act.WRONG_CODE].every
    assert spent(ledger.quota(ANNA), Act.WRONG_CODE) == 3


def test_a_no_says_how_long_to_wait(times: Times) -> None:
    quota = times.ledger().quota(ANNA)
    spent(quota, Act.TABLE)
    wait = quota.does(Act.TABLE)
    assert wait == pytest.approx(PER_ADDRESS[Act.TABLE].every)
    times.now += wait
    assert quota.does(Act.TABLE) == 0


def test_what_was_no_guess_is_not_counted(times: Times) -> None:
    quota = times.ledger().quota(ANNA)
    for _ in range(10_000):
        assert quota.does(Act.WRONG_CODE) == 0
        quota.takes_back(Act.WRONG_CODE)
    assert times.refused == {}


def test_a_whole_ipv6_household_is_one(times: Times) -> None:
    ledger = times.ledger()
    assert spent(ledger.quota("2001:db8::1"), Act.PAGE) > 0
    assert spent(ledger.quota("2001:db8::ffff:1"), Act.PAGE) == 0
    assert spent(ledger.quota("2001:db8:0:1::1"), Act.PAGE) > 0


@pytest.mark.parametrize(
    ("options", "address", "counted"),
    [
        ({}, "127.0.0.1", False),
        ({}, "::1", False),
        ({}, "", False),
        ({"behind_proxies": True}, "127.0.0.1", True),
        ({"behind_proxies": True}, "", False),
        ({"factor": None}, ANNA, False),
        ({"factor": None, "behind_proxies": True}, ANNA, False),
        ({}, ANNA, True),
    ],
)
def test_this_machine_is_not_counted_unless_proxies_call_from_it(
    times: Times, options: dict[str, object], address: str, counted: bool
) -> None:
    ledger = times.ledger(**options)
    visitors = [ledger.quota(address) for _ in range(MOST_OPEN + 1)]
    assert ledger.has_room_for(visitors[-1]) is not counted
    assert (spent(visitors[0], Act.WRONG_CODE) < 100_000) is counted


def test_an_address_has_so_many_connections_and_no_more(times: Times) -> None:
    ledger = times.ledger()
    visitors = []
    for number in range(MOST_OPEN):
        visitors.append(ledger.quota(ANNA))
        visitors[-1].said_hello(f"player {number}")
        assert ledger.has_room_for(visitors[-1])
    one_more = ledger.quota(ANNA)
    assert not ledger.has_room_for(one_more)
    assert ledger.has_room_for(ledger.quota(BERT))
    one_more.left()
    visitors[0].left()
    visitors[0].left()
    assert ledger.has_room_for(ledger.quota(ANNA))
    assert not ledger.has_room_for(ledger.quota(ANNA))


def test_fewer_may_stand_there_and_say_nothing(times: Times) -> None:
    ledger = times.ledger()
    visitors = [ledger.quota(ANNA) for _ in range(MOST_SILENT)]
    for quota in visitors:
        quota.asks()
        assert ledger.has_room_for(quota)
    one_more = ledger.quota(ANNA)
    one_more.asks()
    assert not ledger.has_room_for(one_more)
    visitors[0].said_hello("anna")
    assert ledger.has_room_for(one_more)


def test_the_oldest_there_who_has_not_asked_for_anything_gives_way(times: Times) -> None:
    ledger = times.ledger()
    sent_away: list[int] = []
    visitors = [
        ledger.quota(ANNA, partial(sent_away.append, number)) for number in range(MOST_SILENT)
    ]
    visitors[0].asks()
    assert sent_away == []
    for number in range(3):
        assert ledger.has_room_for(ledger.quota(ANNA))
        assert sent_away == list(range(1, number + 2))
    # who has given way is counted no more, however long it takes to leave
    visitors[1].left()
    assert ledger.has_room_for(ledger.quota(BERT))
    assert times.refused == {"connections": 4 - 1}


def test_who_asks_after_all_the_others_have_is_told_no_and_costs_nobody_a_place(
    times: Times,
) -> None:
    ledger = times.ledger()
    sent_away: list[int] = []
    for number in range(MOST_SILENT):
        ledger.quota(ANNA, partial(sent_away.append, number)).asks()
    for number in range(3):
        late = ledger.quota(ANNA, partial(sent_away.append, MOST_SILENT + number))
        assert sent_away == [MOST_SILENT + each for each in range(number)]
        assert not ledger.has_room_for(late)


def test_the_oldest_who_says_nothing_gives_way_when_all_are_too_many(times: Times) -> None:
    ledger = times.ledger()
    sent_away: list[int] = []
    for number in range(MOST_SILENT_IN_ALL + 3):
        ledger.quota(
            f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}",
            partial(sent_away.append, number),
        )
    assert sent_away == [0, 1, 2]


# Forgetting


def test_who_owes_nothing_is_forgotten_first(times: Times) -> None:
    ledger = times.ledger(most=4)
    guesser = ledger.quota(ANNA)
    spent(guesser, Act.WRONG_CODE)
    guesser.left()
    for number in range(100):
        ledger.quota(f"10.0.0.{number}").left()
    assert spent(ledger.quota(ANNA), Act.WRONG_CODE) == 0


def test_who_floods_the_table_with_addresses_is_not_forgiven(times: Times) -> None:
    ledger = times.ledger(most=64)
    guesser = ledger.quota(ANNA)
    spent(guesser, Act.WRONG_CODE)
    guesser.left()
    for number in range(5000):
        quota = ledger.quota(f"2001:db8:0:{number:x}::1")
        quota.does(Act.WRONG_CODE)
        quota.left()
    assert spent(ledger.quota(ANNA), Act.WRONG_CODE) == 0
    assert ledger.kept <= 64 + CROWD


def test_a_crowd_of_new_addresses_shares_what_a_few_may_do(times: Times) -> None:
    ledger, burst = times.ledger(most=8), PER_ADDRESS[Act.WRONG_CODE].burst
    guesses = 0
    for number in range(3000):
        guesses += spent(ledger.quota(f"2001:db8:0:{number:x}::1"), Act.WRONG_CODE)
    assert guesses <= burst * (8 + CROWD)


def test_the_table_empties_when_all_is_made_good(times: Times) -> None:
    ledger = times.ledger(most=8)
    for number in range(8):
        quota = ledger.quota(f"10.0.0.{number}")
        spent(quota, Act.WRONG_CODE)
        quota.left()
    times.now += 3600
    assert spent(ledger.quota(ANNA), Act.WRONG_CODE) == PER_ADDRESS[Act.WRONG_CODE].burst
    assert ledger.kept == 1


# Players


def test_a_player_has_one_allowance_over_all_connections(times: Times) -> None:
    ledger = times.ledger(rate=10, burst=6)
    one, two = ledger.quota(ANNA), ledger.quota(BERT)
    assert one.pays(1, 0.0)
    one.said_hello("anna")
    two.said_hello("anna")
    assert [quota.pays(1, 0.0) for quota in (one, two) * 3] == [True] * 5 + [False]
    assert times.refused == {"commands": 1}
    assert two.wait_to_pay(1, 0.0) == pytest.approx(0.1)
    assert two.pays(1, 0.1)


def test_an_address_has_one_allowance_over_all_players(times: Times) -> None:
    ledger = times.ledger(rate=0)
    visitors = [ledger.quota(ANNA) for _ in range(100)]
    paid = sum(quota.pays(1, 0.0) for quota in visitors for _ in range(1000))
    assert 0.9 * PER_ADDRESS[Act.COMMANDS].burst < paid <= PER_ADDRESS[Act.COMMANDS].burst


def test_who_comes_says_hello_and_leaves_uses_up_no_more_than_that(times: Times) -> None:
    ledger = times.ledger(rate=0)
    for _ in range(4000):
        quota = ledger.quota(ANNA)
        assert quota.pays(1, 0.0)
        quota.left()
    assert times.refused == {}


def test_a_player_with_too_many_connections_keeps_the_newest_and_the_seat(times: Times) -> None:
    ledger = times.ledger()
    gave_way: list[int] = []
    for number in range(MOST_OF_A_PLAYER + 3):
        quota = ledger.quota(ANNA, partial(gave_way.append, number))
        if number == 0:
            quota.is_seated = lambda: True
        quota.said_hello("anna")
    assert gave_way == [1, 2, 3]


def test_a_player_who_leaves_and_comes_back_is_not_forgiven(times: Times) -> None:
    ledger = times.ledger(rate=1, burst=2)
    for paid in (2, 0, 0):
        quota = ledger.quota(ANNA)
        quota.said_hello("anna")
        assert sum(quota.pays(1, times.now) for _ in range(3)) == paid
        assert spent(quota, Act.WRONG_CODE) == 10 * paid
        quota.left()
    times.now += 2
    quota = ledger.quota(ANNA)
    quota.said_hello("anna")
    assert sum(quota.pays(1, times.now) for _ in range(3)) == 2


def test_who_came_once_and_owes_nothing_is_forgotten_by_and_by(times: Times) -> None:
    ledger = times.ledger()
    for number in range(2000):
        quota = ledger.quota(f"10.0.{number // 250}.{number % 250}")
        quota.pays(1, times.now)
        quota.said_hello(f"player {number}")
        quota.left()
        times.now += 1
    assert ledger.kept < 50


def test_nothing_counts_for_who_is_unlimited() -> None:
    quota = unlimited()
    quota.said_hello("anna")
    assert all(quota.does(act) == 0 for act in Act for _ in range(10_000))
    assert all(quota.pays(5, 0.0) for _ in range(10_000))


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["come", "hello", "leave"]))))
def test_the_counts_are_those_of_the_connections_that_are_there(
    steps: list[tuple[int, str]],
) -> None:
    ledger = Times().ledger()
    here: dict[int, Quota] = {}
    silent: set[int] = set()
    for number, step in steps:
        if step == "come" and number not in here:
            here[number] = ledger.quota(ANNA)
            silent.add(number)
        elif step == "hello" and number in silent:
            here[number].said_hello("anna")
            silent.discard(number)
        elif step == "leave" and number in here:
            here.pop(number).left()
            silent.discard(number)
    probe = ledger.quota(ANNA)
    assert (probe.address.open, probe.address.silent) == (len(here) + 1, len(silent) + 1)
