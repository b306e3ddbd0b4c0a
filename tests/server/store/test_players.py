"""Players and their names, on every kind of store."""

from kit.running_race import ANNA, BERT, AnyStore
from saratoga_server.ports import Millis, PlayerRow
from saratoga_server.store.keys import name_key
from saratoga_server.store.opening import Store
from saratoga_server.store.players import NotClaimed


def row(player: str = ANNA, *, token_hash: str = "a1b2", bot: bool = False) -> PlayerRow:
    return PlayerRow(
        player=player, token_hash=token_hash, bot=bot, created=Millis(1_760_000_000_000)
    )


async def test_a_name_that_is_given_up_is_held_for_its_owner(store: AnyStore) -> None:
    for player in (ANNA, BERT):
        await store.players.create_player(row(player))
    for name in ("zoe", "ann", "zoe"):
        assert await store.players.claim_name(ANNA, name.title(), name) is None
    for name in ("zoe", "ann"):
        assert await store.players.claim_name(BERT, name.title(), name) is NotClaimed.TAKEN
    assert await store.players.load_names([ANNA, BERT]) == {ANNA: "Zoe"}


async def test_only_the_newest_three_names_are_held_for_a_player(store: AnyStore) -> None:
    for player in (ANNA, BERT):
        await store.players.create_player(row(player))
    for name in ("one", "two", "three", "four", "one", "five"):
        assert await store.players.claim_name(ANNA, name.title(), name) is None
    held = [await store.players.find_player(name) for name in ("two", "three", "four", "one")]
    assert held == [None, ANNA, ANNA, ANNA]
    assert await store.players.claim_name(BERT, "Two", "two") is None


async def test_a_name_that_another_player_took_after_its_time_is_freed_by_nobody_else(
    store: Store,
) -> None:
    for player in (ANNA, BERT):
        await store.players.create_player(row(player))
    for name in ("zoe", "one"):
        assert await store.players.claim_name(ANNA, name.title(), name) is None
    # the name runs out, and Bert takes it and gives it up
    await store.client.command("DEL", name_key("zoe"))
    for name in ("zoe", "bert"):
        assert await store.players.claim_name(BERT, name.title(), name) is None
    for name in ("two", "three", "four", "five"):
        assert await store.players.claim_name(ANNA, name.title(), name) is None
    assert await store.players.find_player("zoe") == BERT
    assert await store.client.command("PTTL", name_key("zoe")) > 0, "so it is not held for ever"


async def test_an_administrator_gives_away_only_names_that_are_held_for_nobody(
    store: AnyStore,
) -> None:
    for player in (ANNA, BERT):
        await store.players.create_player(row(player))
    for name in ("zoe", "ann"):
        assert await store.players.claim_name(ANNA, name.title(), name) is None
    for name in ("zoe", "ann"):
        assert (
            await store.players.claim_name(BERT, name.title(), name, by_admin=True)
            is NotClaimed.TAKEN
        )
    await store.players.forget_player(ANNA)
    assert await store.players.claim_name(BERT, "Zoe", "zoe") is NotClaimed.TAKEN
    assert await store.players.claim_name(BERT, "Zoe", "zoe", by_admin=True) is None


async def test_a_forgotten_player_leaves_only_names_that_nobody_can_take(store: AnyStore) -> None:
    for player in (ANNA, BERT):
        await store.players.create_player(row(player))
    await store.players.claim_name(ANNA, "Anna", "anna")
    await store.players.claim_name(ANNA, "Zoe", "zoe")
    await store.players.forget_player(ANNA)
    await store.players.forget_player(ANNA)
    assert await store.players.load_player(ANNA) is None
    assert await store.players.load_names([ANNA]) == {}
    await store.players.create_player(row())
    for player in (ANNA, BERT):
        for name in ("anna", "zoe"):
            assert await store.players.claim_name(player, name.title(), name) is NotClaimed.TAKEN
    assert await store.players.find_player("zoe") == ""


async def test_a_player_is_found_by_the_skeleton_of_the_name(store: AnyStore) -> None:
    await store.players.create_player(row())
    assert await store.players.find_player("zoe") is None
    await store.players.claim_name(ANNA, "Zoë", "zoe")
    assert await store.players.find_player("zoe") == ANNA
    await store.players.claim_name(ANNA, "Anna", "anna")
    assert await store.players.find_player("zoe") == ANNA
