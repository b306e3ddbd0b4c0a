"""Players and their names, on every kind of store."""

import asyncio

from msgspec.structs import replace

from kit.running_race import ANNA, BERT, AnyStore
from saratoga_server.ports import Millis, PlayerRow, Reservation, RowTable
from saratoga_server.store.keys import name_key
from saratoga_server.store.opening import Store


def row(player: str = ANNA, *, token_hash: str = "a1b2", bot: bool = False) -> PlayerRow:
    return PlayerRow(
        player=player, token_hash=token_hash, bot=bot, created=Millis(1_760_000_000_000)
    )


async def test_a_player_is_made_once(store: AnyStore) -> None:
    await store.players.create_player(row())
    assert await store.players.create_player(row(token_hash="other")) == row()
    assert await store.players.load_player(ANNA) == row()


async def test_a_name_belongs_to_one_player(store: AnyStore) -> None:
    for player in (ANNA, BERT):
        await store.players.create_player(row(player))
    assert await store.players.claim_name(ANNA, "Zoë", "zoe")
    assert not await store.players.claim_name(BERT, "Zoe", "zoe")
    assert await store.players.load_names([ANNA, BERT]) == {ANNA: "Zoë"}
    found = await store.players.load_player(ANNA)
    assert found is not None
    assert found.name == "Zoë"


async def test_a_name_that_is_given_up_is_held_for_its_owner(store: AnyStore) -> None:
    for player in (ANNA, BERT):
        await store.players.create_player(row(player))
    for name in ("zoe", "ann", "zoe"):
        assert await store.players.claim_name(ANNA, name.title(), name)
    for name in ("zoe", "ann"):
        assert await store.players.claim_name(BERT, name.title(), name) is False
    assert await store.players.load_names([ANNA, BERT]) == {ANNA: "Zoe"}


async def test_only_the_newest_three_names_are_held_for_a_player(store: AnyStore) -> None:
    for player in (ANNA, BERT):
        await store.players.create_player(row(player))
    for name in ("one", "two", "three", "four", "one", "five"):
        assert await store.players.claim_name(ANNA, name.title(), name)
    held = [await store.players.find_player(name) for name in ("two", "three", "four", "one")]
    assert held == [None, ANNA, ANNA, ANNA]
    assert await store.players.claim_name(BERT, "Two", "two")


async def test_a_name_that_another_player_took_after_its_time_is_freed_by_nobody_else(
    store: Store,
) -> None:
    for player in (ANNA, BERT):
        await store.players.create_player(row(player))
    for name in ("zoe", "one"):
        assert await store.players.claim_name(ANNA, name.title(), name)
    # the sweeper deletes the name after its time, and Bert takes it and gives it up
    await store.client.command("ZREM", "expiring", name_key("zoe"))
    await store.client.command("DEL", name_key("zoe"))
    for name in ("zoe", "bert"):
        assert await store.players.claim_name(BERT, name.title(), name)
    for name in ("two", "three", "four", "five"):
        assert await store.players.claim_name(ANNA, name.title(), name)
    assert await store.players.find_player("zoe") == BERT
    expires = await store.client.command("ZSCORE", "expiring", name_key("zoe"))
    assert expires is not None, "so it is not held for ever"


async def test_an_administrator_gives_away_only_names_that_are_held_for_nobody(
    store: AnyStore,
) -> None:
    for player in (ANNA, BERT):
        await store.players.create_player(row(player))
    for name in ("zoe", "ann"):
        assert await store.players.claim_name(ANNA, name.title(), name)
    for name in ("zoe", "ann"):
        assert await store.players.claim_name(BERT, name.title(), name, by_admin=True) is False
    await store.players.forget_player(ANNA)
    assert await store.players.claim_name(BERT, "Zoe", "zoe") is False
    assert await store.players.claim_name(BERT, "Zoe", "zoe", by_admin=True)


async def test_a_player_sits_down_at_the_first_table_only(store: AnyStore) -> None:
    await store.players.create_player(row())
    assert await store.players.sit(ANNA, "mint-otter-42") is None
    there = await store.players.sit(ANNA, "amber-heron-07")
    assert there is not None
    assert there.table == "mint-otter-42"
    assert await store.players.sit(ANNA, "mint-otter-42") is None
    assert (await store.players.load_player(ANNA)).table == "mint-otter-42"  # type: ignore[union-attr]
    await store.players.stand_up(ANNA, "mint-otter-42")
    assert await store.players.sit(ANNA, "amber-heron-07") is None
    assert (await store.players.load_player(ANNA)).table == "amber-heron-07"  # type: ignore[union-attr]


async def test_of_two_seats_taken_at_once_for_one_player_the_second_gets_the_first_table(
    store: AnyStore,
) -> None:
    await store.players.create_player(row())
    codes = {"mint-otter-42", "amber-heron-07"}
    told = await asyncio.gather(*(store.players.sit(ANNA, code) for code in codes))
    [there] = [each for each in told if each is not None]
    assert (await store.players.load_player(ANNA)).table == there.table  # type: ignore[union-attr]


async def test_a_seat_that_is_gone_is_given_up_once(store: AnyStore) -> None:
    await store.players.create_player(row())
    await store.players.sit(ANNA, "mint-otter-42")
    gone = RowTable("mint-otter-42", 0)
    assert await store.players.sit(ANNA, "amber-heron-07", gone) is None
    there = await store.players.sit(ANNA, "lone-crane-11", gone)
    assert there is not None
    assert there.table == "amber-heron-07"


async def test_a_table_that_was_written_again_is_not_replaced_or_removed(store: AnyStore) -> None:
    await store.players.create_player(row())
    await store.players.sit(ANNA, "mint-otter-42")
    read = await store.players.sit(ANNA, "amber-heron-07")
    assert read is not None
    await store.players.sit(ANNA, "mint-otter-42")
    again = await store.players.sit(ANNA, "amber-heron-07", read)
    assert again is not None
    assert (again.table, again.writes > read.writes) == ("mint-otter-42", True)
    assert not await store.players.stand_up(ANNA, *read)
    assert await store.players.sit(ANNA, "amber-heron-07", again) is None
    read = await store.players.sit(ANNA, "mint-otter-42")
    assert read is not None
    assert await store.players.stand_up(ANNA, *read)
    assert (await store.players.load_player(ANNA)).table is None  # type: ignore[union-attr]


async def test_a_players_ids_only_rise(store: AnyStore) -> None:
    await store.players.create_player(row())
    for command_id in (40, 7):
        await store.players.note_join(ANNA, "mint-otter-42", command_id)
    found = await store.players.load_player(ANNA)
    assert found is not None
    assert (found.last_id, found.joined) == (40, "mint-otter-42 7")


async def test_each_hello_of_a_player_has_a_higher_number(store: AnyStore) -> None:
    assert await store.players.meet_player(ANNA) is None
    assert await store.players.load_player(ANNA) is None, "who was never stored is not by a hello"
    now = await store.tables.now()
    await store.players.create_player(row(bot=True))
    numbers = [(await store.players.meet_player(ANNA)).hello for _ in range(3)]  # type: ignore[union-attr]
    assert now <= numbers[0] < numbers[1] < numbers[2]
    met = await store.players.load_player(ANNA)
    assert met == replace(row(bot=True), hello=numbers[-1])


async def test_the_numbers_of_hellos_rise_though_a_clock_is_set_back(store: AnyStore) -> None:
    ahead = await store.tables.now() + 3_600_000
    await store.players.create_player(replace(row(), hello=ahead))
    assert (await store.players.meet_player(ANNA)).hello > ahead  # type: ignore[union-attr]


async def test_a_ban_can_be_lifted(store: AnyStore) -> None:
    await store.players.create_player(row())
    await store.players.set_banned(ANNA, True)
    assert (await store.players.load_player(ANNA)).banned  # type: ignore[union-attr]
    await store.players.set_banned(ANNA, False)
    assert await store.players.load_player(ANNA) == row()


async def reserved(
    store: AnyStore,
    command_id: int,
    code: str,
    *,
    player: str = ANNA,
    instead_of: str | None = None,
) -> str:
    """Reserve a table; return its code."""
    return (await store.players.reserve_table(player, command_id, code, instead_of)).code


async def test_only_the_codes_of_the_newest_commands_are_kept(store: AnyStore) -> None:
    await store.players.create_player(row())
    for command_id in range(10, 19):
        code = f"mint-otter-{command_id}"
        assert await reserved(store, command_id, code) == code
    for command_id in range(11, 19):
        again = await reserved(store, command_id, "amber-heron-07")
        assert again == f"mint-otter-{command_id}"
    for stale in (9, 10):
        answer = await store.players.reserve_table(ANNA, stale, "amber-heron-07")
        assert (answer.code, answer.is_stale) == ("", True)
    assert (await store.players.load_player(ANNA)).table == "mint-otter-10"  # type: ignore[union-attr]


async def test_a_code_is_exchanged_once(store: AnyStore) -> None:
    await store.players.create_player(row())
    await reserved(store, 3, "mint-otter-42")
    for drawn, taken in (
        ("amber-heron-07", "mint-otter-42"),
        ("lone-crane-11", "mint-otter-42"),
        ("odd-emu-11", ""),
    ):
        assert await reserved(store, 3, drawn, instead_of=taken) == "amber-heron-07"


async def test_a_reservation_seats_the_player_and_returns_the_name(store: AnyStore) -> None:
    await store.players.create_player(row())
    nameless = await store.players.reserve_table(ANNA, 3, "mint-otter-42")
    assert (nameless.code, nameless.name, nameless.elsewhere) == ("mint-otter-42", None, None)
    await store.players.claim_name(ANNA, "Zoë", "zoe")
    named = await store.players.reserve_table(ANNA, 3, "mint-otter-42")
    assert named == Reservation(code="mint-otter-42", name="Zoë", elsewhere=None, is_repeat=True)
    assert (await store.players.load_player(ANNA)).table == "mint-otter-42"  # type: ignore[union-attr]


async def test_a_reservation_leaves_a_player_who_sits_elsewhere_there(store: AnyStore) -> None:
    await store.players.create_player(row())
    await store.players.sit(ANNA, "odd-emu-11")
    reservation = await store.players.reserve_table(ANNA, 3, "mint-otter-42")
    assert reservation.code == "mint-otter-42"
    # if the first answer was lost, the row is to be asked again
    assert reservation.is_repeat or (
        reservation.elsewhere is not None and reservation.elsewhere.table == "odd-emu-11"
    )
    assert (await store.players.load_player(ANNA)).table == "odd-emu-11"  # type: ignore[union-attr]


async def test_an_exchanged_code_takes_the_row_over_from_the_code_that_was_taken(
    store: AnyStore,
) -> None:
    await store.players.create_player(row())
    await reserved(store, 3, "mint-otter-42")
    exchanged = await store.players.reserve_table(ANNA, 3, "amber-heron-07", "mint-otter-42")
    assert exchanged.elsewhere is None
    assert (await store.players.load_player(ANNA)).table == "amber-heron-07"  # type: ignore[union-attr]


async def test_a_forgotten_player_leaves_only_names_that_nobody_can_take(store: AnyStore) -> None:
    for player in (ANNA, BERT):
        await store.players.create_player(row(player))
    await store.players.claim_name(ANNA, "Anna", "anna")
    await store.players.claim_name(ANNA, "Zoe", "zoe")
    await store.players.reserve_table(ANNA, 3, "mint-otter-42")
    await store.players.forget_player(ANNA)
    await store.players.forget_player(ANNA)
    assert await store.players.load_player(ANNA) is None
    assert await store.players.load_names([ANNA]) == {}
    await store.players.create_player(row())
    for player in (ANNA, BERT):
        for name in ("anna", "zoe"):
            assert await store.players.claim_name(player, name.title(), name) is False
    assert await store.players.find_player("zoe") == ""
    assert await reserved(store, 3, "amber-heron-07") == "amber-heron-07"


async def test_a_player_is_found_by_the_skeleton_of_the_name(store: AnyStore) -> None:
    await store.players.create_player(row())
    assert await store.players.find_player("zoe") is None
    await store.players.claim_name(ANNA, "Zoë", "zoe")
    assert await store.players.find_player("zoe") == ANNA
    await store.players.claim_name(ANNA, "Anna", "anna")
    assert await store.players.find_player("zoe") == ANNA
