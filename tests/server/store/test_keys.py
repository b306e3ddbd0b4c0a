"""Keys: keys that change together have the same slot."""

from saratoga_server.store.keys import PARTITIONS, due_key, mark_key, news_channel, race_key
from saratoga_server.store.slots import slot_of


def test_all_that_changes_with_a_table_lies_in_one_slot() -> None:
    for code in ("mint-otter-42", "oak-lynx-7"):
        key = race_key(code, 3)
        tag = key[: key.index("}") + 1]
        number = int(tag[2:-1])
        together = {due_key(number), news_channel(number), f"{key}:log:ann", mark_key(key)}
        assert {slot_of(each) for each in together} == {slot_of(key)}


def test_a_mark_lies_beside_any_key() -> None:
    for key in ("audit", "leaderboard:games", "{players}:player:ann", "{public}:listed"):
        assert slot_of(mark_key(key)) == slot_of(key)


def test_the_partitions_are_spread_over_a_cluster() -> None:
    """With three equal primaries, each owns between a quarter and a half of the partitions."""
    owners = [slot_of(due_key(number)) * 3 // 16384 for number in range(PARTITIONS)]
    assert all(PARTITIONS / 4 < owners.count(owner) < PARTITIONS / 2 for owner in range(3))
