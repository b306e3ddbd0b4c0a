"""Addresses of stores, as an operator configures them."""

import pytest

from saratoga_server.store.addresses import addresses


@pytest.mark.parametrize(
    "url",
    ["redis://store:6379/2", "unix:///run/a,b/store", "rediss://me:hush,hush@store?password=a,b"],
)
def test_a_comma_by_itself_separates_nothing(url: str) -> None:
    assert addresses(url) == [url]


def test_several_nodes_of_a_cluster_are_separated_by_commas() -> None:
    nodes = ["redis://me:a,b@one:6379", "rediss://two", "redis://three:1"]
    assert addresses(",".join(nodes)) == nodes
