"""The health of a store's primary."""

from saratoga_server.health_port import StoreHealth


def test_a_primary_that_does_not_answer_has_nothing_but_a_name() -> None:
    health = StoreHealth(primary="store-1:6379", is_up=False)
    assert not any((health.memory, health.replicas, health.is_appending, health.file_size))
