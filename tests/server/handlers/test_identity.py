"""Hellos, tokens and names."""

import pytest

from kit.guests import token_of
from kit.rooms import HouseInMemory, gathered
from saratoga_protocol.commands import ClaimName, Hello
from saratoga_protocol.events import NameClaimed, Refused, Welcome
from saratoga_protocol.players import player_id
from saratoga_protocol.refusals import ABUSE, BANNED
from saratoga_rules.games import GAMES
from saratoga_server.handlers.identity import MOST_REFUSED, token_hash
from saratoga_server.live.session import Session
from saratoga_server.ports import PlayerRow
from saratoga_server.rate_limits.limiter import NO_CONNECTION, RateLimiter
from saratoga_server.rate_limits.rates import PER_ADDRESS, Action


def test_the_token_hash_contains_neither_the_token_nor_the_player_id() -> None:
    token = token_of("Anna")
    assert token not in token_hash(token)
    assert player_id(token) not in token_hash(token)


async def test_a_new_player_is_stored_and_welcomed(rooms: HouseInMemory) -> None:
    anna = rooms.stranger("Anna")
    welcome = await anna.hello()
    assert (welcome.player, welcome.name, welcome.bot) == (player_id(anna.token), "Anna", False)
    assert (welcome.next_id, welcome.now, welcome.table) == (1, rooms.time.at, None)
    assert (welcome.node, welcome.games) == (rooms.house.name, list(GAMES))
    assert rooms.fake.players[anna.player].token_hash == token_hash(anna.token)


async def test_a_second_hello_is_refused(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    assert await anna.refused(Hello, token=anna.token) == "hello_twice"
    assert await anna.refused(Hello, token=token_of("Bert"), name="Bert") == "hello_twice"
    assert anna.session.player == player_id(anna.token)


async def test_a_wrong_token_is_refused(rooms: HouseInMemory) -> None:
    anna = rooms.stranger("Anna")
    player = player_id(anna.token)
    rooms.fake.players[player] = PlayerRow(player=player, token_hash="another", name="Anna")
    assert await anna.refused(Hello, token=anna.token) == "wrong_token"
    assert anna.session.player == ""


async def test_a_returning_player_keeps_name_and_table(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    code = await gathered(anna)
    back = rooms.stranger("Anna")
    welcome = await back.hello(name="Annabel")
    assert (welcome.name, welcome.table) == ("Anna", code), "the name stays until it is changed"
    assert welcome.next_id > 1


async def test_a_bot_stays_a_bot(rooms: HouseInMemory) -> None:
    await rooms.guest("Otto", bot=True)
    welcome = await rooms.stranger("Otto", bot=False).hello()
    assert welcome.bot
    await rooms.guest("Anna", bot=False)
    assert not (await rooms.stranger("Anna", bot=True).hello()).bot


async def test_a_name_belongs_to_one_player(rooms: HouseInMemory) -> None:
    await rooms.guest("Anna")
    thief = rooms.stranger("thief")
    for name in ("Anna", "anna", "\u0391nna"):  # the last begins with a Greek letter
        answer = await thief.say(Hello(id=1, token=thief.token, name=name))
        assert isinstance(answer, Refused)
        assert answer.code in ("name_taken", "bad_name")
    assert thief.session.player == ""
    welcome = await thief.say(Hello(id=1, token=thief.token, name="Bert"))
    assert isinstance(welcome, Welcome)


@pytest.mark.parametrize("name", ["a", "x" * 40, "admin", "two\nlines", "\u202eanna", "   "])
async def test_a_bad_name_is_refused(rooms: HouseInMemory, name: str) -> None:
    anna = await rooms.guest("Anna")
    assert await anna.refused(ClaimName, name=name) == "bad_name"
    assert rooms.fake.players[anna.player].name == "Anna"


async def test_a_new_name_is_shown_at_the_table(rooms: HouseInMemory) -> None:
    anna, bert = await rooms.guest("Anna"), await rooms.guest("Bert")
    await gathered(anna, bert)
    answer = await anna.ask(ClaimName, name="Dora")
    assert answer == NameClaimed(re=anna.last_id, name="Dora")
    assert [seat.name for seat in bert.table.seats] == ["Dora", "Bert"]
    cleo = await rooms.guest("Anna Zwei")
    assert await cleo.refused(ClaimName, name="Dora") == "name_taken"
    assert isinstance(await cleo.ask(ClaimName, name="Anna"), NameClaimed)


async def test_a_banned_player_is_refused_and_disconnected(
    rooms: HouseInMemory,
) -> None:
    anna = await rooms.guest("Anna")
    await rooms.store.players.set_banned(anna.player, True)
    back = rooms.stranger("Anna")
    assert await back.refused(Hello, token=back.token) == "banned"
    assert back.sent_away == [BANNED.code]


async def test_a_hello_whose_reply_was_lost_may_be_repeated(
    rooms: HouseInMemory,
) -> None:
    anna = rooms.stranger("Anna")
    rooms.fake.lose_answers = 1
    assert await anna.refused(Hello, token=anna.token, name="Anna") == "store_unavailable"
    assert (await anna.hello()).name == "Anna"


async def test_a_connection_with_too_many_refused_hellos_is_closed(rooms: HouseInMemory) -> None:
    anna = rooms.stranger("Anna")
    await rooms.guest("Bert")
    codes = [
        await anna.refused(Hello, token=anna.token, name="Bert") for _ in range(MOST_REFUSED + 1)
    ]
    assert codes == ["name_taken"] * MOST_REFUSED + ["too_fast"]
    assert anna.sent_away == [ABUSE.code]
    assert anna.player not in rooms.fake.players


async def test_a_new_name_is_claimed_though_the_table_in_the_row_is_gone(
    rooms: HouseInMemory,
) -> None:
    anna = await rooms.guest("Anna")
    await rooms.store.players.sit(anna.player, "odd-emu-11")
    assert isinstance(await anna.ask(ClaimName, name="Dora"), NameClaimed)


# Limits


def limited(session: Session, factor: float, now: list[float]) -> None:
    """Apply the limits of an address to this session, scaled by `factor`."""
    limiter = RateLimiter(lambda: now[0], factor=factor, per_player={})
    session.quota = limiter.open("203.0.113.7", NO_CONNECTION)


async def test_new_players_from_one_address_are_limited(rooms: HouseInMemory) -> None:
    now = [0.0]
    known = await rooms.guest("Anna")
    anna = rooms.stranger("Anna")
    limited(anna.session, 1 / PER_ADDRESS[Action.NEW_PLAYER].burst, now)
    bert, cleo = rooms.stranger("Bert"), rooms.stranger("Cleo")
    bert.session.quota = cleo.session.quota = anna.session.quota
    await bert.hello()
    answer = await cleo.ask(Hello, token=cleo.token, name="Cleo")
    assert (answer.code, answer.retry) == ("too_fast", True)
    assert "Wait 2000 s." in answer.message
    assert answer.wait == 2_000_000
    assert cleo.session.player == ""
    # a known player is not counted
    assert (await anna.hello()).player == known.player
    now[0] += 2000
    assert (await cleo.hello()).name == "Cleo"


async def test_a_hello_without_a_name_claims_none(rooms: HouseInMemory) -> None:
    anna = rooms.stranger("Anna")
    limited(anna.session, 1 / PER_ADDRESS[Action.NAME].burst, [0.0])
    answer = await anna.ask(Hello, token=anna.token)
    assert isinstance(answer, Welcome)
    assert isinstance(await anna.ask(ClaimName, name="Anna"), NameClaimed)
    assert await anna.refused(ClaimName, name="Dora") == "too_fast"


async def test_refused_hellos_of_one_address_count_together(rooms: HouseInMemory) -> None:
    await rooms.guest("Bert")
    anna, cleo = rooms.stranger("Anna"), rooms.stranger("Cleo")
    limited(anna.session, 2 / PER_ADDRESS[Action.HELLO_REFUSED].burst, [0.0])
    cleo.session.quota = anna.session.quota
    for each in (anna, cleo):
        assert await each.refused(Hello, token=each.token, name="Bert") == "name_taken"
    assert await cleo.refused(Hello, token=cleo.token) == "too_fast"
