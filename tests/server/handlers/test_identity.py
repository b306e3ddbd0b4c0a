"""Hellos, tokens and names."""

from msgspec.structs import replace

from kit.in_process_server import InProcessServer, gathered, serving
from kit.players import MemoryPlayer, token_of
from kit.stepped_store import stepped_store
from saratoga_protocol.commands import ClaimName, Hello, Resume
from saratoga_protocol.events import NameClaimed, Refused, Snapshot, Welcome
from saratoga_protocol.players import player_id
from saratoga_protocol.refusals import ABUSE, BANNED
from saratoga_rules.games import GAMES
from saratoga_server.handlers.identity import MOST_REFUSED, token_hash
from saratoga_server.live.session import Session
from saratoga_server.ports import PlayerRow
from saratoga_server.rate_limits.limiter import NO_CONNECTION, RateLimiter
from saratoga_server.rate_limits.rates import PER_ADDRESS, Action
from saratoga_server.store.durability import Durability


def test_the_token_hash_contains_neither_the_token_nor_the_player_id() -> None:
    token = token_of("Anna")
    assert token not in token_hash(token)
    assert player_id(token) not in token_hash(token)


async def test_the_welcome_says_how_durable_a_move_is() -> None:
    async with (
        stepped_store() as store,
        serving(replace(store, durability=Durability.FAST)) as server,
    ):
        assert (await server.connect("Anna").hello()).durability == "fast"


async def test_a_new_player_is_stored_and_welcomed(server: InProcessServer) -> None:
    anna = server.connect("Anna")
    welcome = await anna.hello()
    assert (welcome.player, welcome.name, welcome.bot) == (player_id(anna.token), "Anna", False)
    assert (welcome.next_id, welcome.now, welcome.table) == (1, server.time.at, None)
    assert (welcome.node, welcome.games) == (server.node.name, list(GAMES))
    assert welcome.durability == "safe"
    assert (await server.row(anna.player)).token_hash == token_hash(anna.token)


async def test_a_second_hello_is_refused(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    assert await anna.refused(Hello, token=anna.token) == "hello_twice"
    assert await anna.refused(Hello, token=token_of("Bert"), name="Bert") == "hello_twice"
    assert anna.session.player == player_id(anna.token)


async def test_a_wrong_token_is_refused(server: InProcessServer) -> None:
    anna = server.connect("Anna")
    player = player_id(anna.token)
    await server.real.players.create_player(PlayerRow(player=player, token_hash="another"))
    assert await anna.refused(Hello, token=anna.token) == "wrong_token"
    assert anna.session.player == ""


async def test_a_returning_player_keeps_name_and_table(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    code = await gathered(anna)
    back = server.connect("Anna")
    welcome = await back.hello(name="Annabel")
    assert (welcome.name, welcome.table) == ("Anna", code), "the name stays until it is changed"
    assert welcome.next_id > 1


async def test_a_bot_stays_a_bot(server: InProcessServer) -> None:
    await server.player("Otto", bot=True)
    welcome = await server.connect("Otto", bot=False).hello()
    assert welcome.bot
    await server.player("Anna", bot=False)
    assert not (await server.connect("Anna", bot=True).hello()).bot


async def test_a_name_belongs_to_one_player(server: InProcessServer) -> None:
    await server.player("Anna")
    thief = server.connect("thief")
    for name in ("Anna", "anna", "\u0391nna"):  # the last name begins with a Greek letter
        answer = await thief.send(Hello(id=1, token=thief.token, name=name))
        assert isinstance(answer, Refused)
        assert answer.code in ("name_taken", "bad_name")
    assert thief.session.player == ""
    welcome = await thief.send(Hello(id=1, token=thief.token, name="Bert"))
    assert isinstance(welcome, Welcome)


async def test_a_name_that_was_given_up_goes_to_no_lookalike_and_back_to_its_owner(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    await anna.ask(ClaimName, name="Anita")
    thief = await server.player("Thea")
    for name in ("Anna", "ANNA", "Anita"):
        assert await thief.refused(ClaimName, name=name) == "name_taken"
    assert (await anna.ask(ClaimName, name="Anna")).name == "Anna"


async def test_a_new_name_is_shown_at_the_table(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    await gathered(anna, bert)
    answer = await anna.ask(ClaimName, name="Dora")
    assert answer == NameClaimed(re=anna.last_id, name="Dora")
    assert [seat.name for seat in bert.table.seats] == ["Dora", "Bert"]
    cleo = await server.player("Anna Zwei")
    assert await cleo.refused(ClaimName, name="Dora") == "name_taken"
    assert isinstance(await cleo.ask(ClaimName, name="Cleo"), NameClaimed)


async def test_a_banned_player_is_refused_and_disconnected(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    await server.store.players.set_banned(anna.player, True)
    back = server.connect("Anna")
    assert await back.refused(Hello, token=back.token) == "banned"
    assert back.close_codes == [BANNED.code]


async def test_a_connection_with_too_many_refused_hellos_is_closed(server: InProcessServer) -> None:
    anna = server.connect("Anna")
    await server.player("Bert")
    codes = [await anna.refused(Hello, token=anna.token, name="Bert") for _ in range(MOST_REFUSED)]
    assert codes == ["name_taken"] * MOST_REFUSED
    assert anna.close_codes == [ABUSE.code]
    assert await server.real.players.load_player(anna.player) is None


async def test_a_new_name_is_claimed_though_the_table_in_the_row_is_gone(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    await server.store.players.sit(anna.player, "odd-emu-11")
    assert isinstance(await anna.ask(ClaimName, name="Dora"), NameClaimed)


# Limits


def limited(session: Session, factor: float, now: list[float]) -> None:
    """Apply the limits of an address to this session, scaled by `factor`."""
    limiter = RateLimiter(lambda: now[0], factor=factor, per_player={})
    session.quota = limiter.open("203.0.113.7", NO_CONNECTION)


async def test_new_players_from_one_address_are_limited(server: InProcessServer) -> None:
    now = [0.0]
    known = await server.player("Anna")
    anna = server.connect("Anna")
    limited(anna.session, 1 / PER_ADDRESS[Action.NEW_PLAYER].burst, now)
    bert, cleo = server.connect("Bert"), server.connect("Cleo")
    bert.session.quota = cleo.session.quota = anna.session.quota
    await bert.hello()
    answer = await cleo.ask(Hello, token=cleo.token, name="Cleo")
    assert (answer.code, answer.retry) == ("too_fast", True)
    assert "Wait 2000 s." in answer.message
    assert answer.wait == 2_000_000
    assert cleo.session.player == ""
    # a known player does not count as new
    assert (await anna.hello()).player == known.player
    now[0] += 2000
    assert (await cleo.hello()).name == "Cleo"


async def test_a_hello_without_a_name_claims_none(server: InProcessServer) -> None:
    anna = server.connect("Anna")
    limited(anna.session, 1 / PER_ADDRESS[Action.NAME].burst, [0.0])
    answer = await anna.ask(Hello, token=anna.token)
    assert isinstance(answer, Welcome)
    assert isinstance(await anna.ask(ClaimName, name="Anna"), NameClaimed)
    assert await anna.refused(ClaimName, name="Dora") == "too_fast"


async def test_refused_hellos_of_one_address_count_together(server: InProcessServer) -> None:
    await server.player("Bert")
    anna, cleo = server.connect("Anna"), server.connect("Cleo")
    limited(anna.session, 2 / PER_ADDRESS[Action.HELLO_REFUSED].burst, [0.0])
    cleo.session.quota = anna.session.quota
    for each in (anna, cleo):
        assert await each.refused(Hello, token=each.token, name="Bert") == "name_taken"
    assert await cleo.refused(Hello, token=cleo.token) == "too_fast"


async def with_level(server: InProcessServer, name: str, level: str, bot: bool) -> MemoryPlayer:
    player = server.connect(name, bot=bot)
    await player.hello(level=level)
    return player


def levels(shown: Snapshot) -> list[tuple[str, bool, str]]:
    return [(seat.name, seat.bot, seat.level) for seat in shown.table.seats]


async def test_everyone_at_the_table_sees_the_level_of_a_bot(server: InProcessServer) -> None:
    anna, otto = await server.player("Anna"), await with_level(server, "Otto", "weak", bot=True)
    code = await gathered(anna, otto)
    shown = await anna.at_table(Resume, table=code)
    assert levels(shown) == [("Anna", False, ""), ("Otto", True, "weak")]


async def test_a_bot_that_opens_a_table_has_its_level(server: InProcessServer) -> None:
    otto = await with_level(server, "Otto", "weak", bot=True)
    code = await gathered(otto)
    assert levels(await otto.at_table(Resume, table=code)) == [("Otto", True, "weak")]


async def test_a_bot_has_the_level_of_its_newest_connection(server: InProcessServer) -> None:
    anna, otto = await server.player("Anna"), await with_level(server, "Otto", "weak", bot=True)
    code = await gathered(anna, otto)
    back = await with_level(server, "Otto", "strong", bot=True)
    shown = await back.at_table(Resume, table=code)
    assert levels(shown) == [("Anna", False, ""), ("Otto", True, "strong")]


async def test_a_person_has_no_level(server: InProcessServer) -> None:
    anna = await with_level(server, "Anna", "strong", bot=False)
    code = await gathered(anna)
    assert levels(await anna.at_table(Resume, table=code)) == [("Anna", False, "")]
