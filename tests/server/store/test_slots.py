"""Slot maps, as a node of a cluster reports them."""

import pytest

from saratoga_server.store.slots import address_of, read_slots, url_at

INFO = b"cluster_state:ok\r\ncluster_current_epoch:7\r\n"


def test_a_map_names_primaries_and_replicas() -> None:
    told = read_slots(
        INFO,
        [
            [8192, 16383, [b"10.0.0.2", 6379, b"id2", []]],
            [0, 8191, [b"10.0.0.1", 6379, b"id1", []], [b"10.0.0.3", 6380, b"id3", []]],
        ],
        ("10.0.0.1", 6379),
    )
    assert told.is_whole
    assert told.epoch == 7
    assert told.ranges == ((0, 8191, ("10.0.0.1", 6379)), (8192, 16383, ("10.0.0.2", 6379)))
    assert told.replicas == {("10.0.0.3", 6380)}
    assert told.primaries == {("10.0.0.1", 6379), ("10.0.0.2", 6379)}
    assert told.served == 16384


@pytest.mark.parametrize("announced", [None, b"", b"?"])
def test_a_node_that_announces_nothing_is_reached_where_it_was_asked(
    announced: bytes | None,
) -> None:
    told = read_slots(INFO, [[0, 16383, [announced, 6380, b"id", []]]], ("store.example", 6379))
    assert told.primaries == {("store.example", 6380)}


def test_a_cluster_that_is_down_or_misses_slots_is_recognised() -> None:
    told = read_slots(
        b"cluster_state:fail\r\n", [[0, 100, [b"10.0.0.1", 6379, b"id", []]]], ("", 0)
    )
    assert not told.is_whole
    assert told.served == 101


@pytest.mark.parametrize(
    ("seed", "node"),
    [
        ("redis://10.0.0.1:6379", "redis://10.0.0.9:7000"),
        ("rediss://user:pass%2Cword@ten:1/0", "rediss://user:pass%2Cword@10.0.0.9:7000"),
        ("redis://ten?password=word", "redis://10.0.0.9:7000?password=word"),
    ],
)
def test_user_password_and_tls_hold_for_every_node(seed: str, node: str) -> None:
    assert url_at(seed, ("10.0.0.9", 7000)) == node


def test_nodes_may_have_host_names_and_ipv6_addresses() -> None:
    assert url_at("redis://ten", ("node-3.example", 7000)) == "redis://node-3.example:7000"
    assert url_at("redis://ten", ("fe80::1", 7000)) == "redis://[fe80::1]:7000"
    assert address_of("redis://[fe80::1]:7000") == ("fe80::1", 7000)
    assert address_of("redis://ten") == ("ten", 6379)
