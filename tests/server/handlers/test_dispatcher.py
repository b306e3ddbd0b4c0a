"""The dispatcher: who is greeted, what every command is answered, and a race from beginning to end."""

from typing import Any

import msgspec
import pytest

from kit.in_process_server import InProcessServer, gathered
from kit.messages import COMMANDS
from kit.players import MemoryPlayer, token_of
from saratoga_protocol.commands import ClaimName, Hello, JoinTable, player_id
from saratoga_protocol.events import BoardChanged, NameClaimed, Refused, Snapshot, Welcome
from saratoga_protocol.refusals import ABUSE, BANNED
from saratoga_rules.games import GAMES
from saratoga_server.handlers.identity import MOST_REFUSED, token_hash
from saratoga_server.limits import PER_ADDRESS, Action, RateLimiter
from saratoga_server.live.session import Session
from saratoga_server.ports import PlayerRow

# The dispatcher: every command gets exactly one response, even if it fails


async def test_nothing_is_answered_before_the_hello(server: InProcessServer) -> None:
    for command in COMMANDS.values():
        stranger = server.connect("Anna")
        answer = await stranger.send(command)
        if not isinstance(command, Hello):
            assert isinstance(answer, Refused)
            assert (answer.code, answer.re) == ("hello_first", command.id)
    assert await server.codes() == []


async def test_every_command_has_exactly_one_answer_with_its_id(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    for number, command in enumerate(COMMANDS.values(), 100):
        told = len(anna.received.events)
        await anna.send(msgspec.structs.replace(command, id=number))
        answers = [event for event in anna.received.events[told:] if event.re is not None]
        assert [answer.re for answer in answers] == [number], command


# Faults of the server's own


class Broken(RuntimeError):
    """An error with a secret in its text."""


async def test_a_server_fault_is_an_answer_without_a_trace_of_the_code(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = await server.player("Anna")
    await server.race(anna)

    def break_down(*_: object) -> Any:
        raise Broken("a secret inside")

    for broken, move in (
        ("domain.board.played", "draw"),
        ("live.races.wire_view", "redeal"),  # in making a refusal
        ("live.races.wire_view", "draw"),  # in making an acknowledgement
    ):
        with monkeypatch.context() as patch:
            patch.setattr(f"saratoga_server.{broken}", break_down)
            answer = await anna.move(move)
        assert isinstance(answer, Refused)
        assert (answer.code, answer.retry, answer.board) == ("server_fault", True, None)
    assert not any(
        word in frame
        for frame in anna.received.frames
        for word in (b"secret", b"Broken", b"Traceback", b".py")
    )
    assert isinstance(await anna.move("draw"), BoardChanged)


# Tests on every store, by the node's own clock


async def test_tokens_are_neither_sent_nor_stored(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    await server.race(anna)
    secret = token_of("Anna")
    for frame in anna.received.frames:
        assert secret.encode() not in frame if isinstance(frame, bytes) else secret not in frame
    stored = b"".join(
        path.read_bytes() for path in server.store.server.folder.glob("appendonlydir/*")
    )
    assert anna.player.encode() in stored
    assert secret.encode() not in stored


# Hellos, tokens and names


async def test_a_new_player_is_stored_and_welcomed(server: InProcessServer) -> None:
    anna = server.connect("Anna")
    welcome = await anna.hello()
    assert (welcome.player, welcome.name, welcome.bot) == (player_id(anna.token), "Anna", False)
    assert (welcome.now, welcome.table) == (server.time.at, None)
    assert (welcome.node, welcome.games) == (server.node.name, list(GAMES))
    assert welcome.durability == "safe"
    assert (await server.row(anna.player)).token_hash == token_hash(anna.token)


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


async def test_a_new_name_is_shown_at_the_table(server: InProcessServer) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    await gathered(anna, bert)
    answer = await anna.ask(ClaimName, name="Dora")
    assert answer == NameClaimed(re=anna.last_id, name="Dora")
    assert [seat.name for seat in bert.table.seats] == ["Dora", "Bert"]
    cleo = await server.player("Anna Zwei")
    assert await cleo.refused(ClaimName, name="Dora") == "name_taken"
    assert isinstance(await cleo.ask(ClaimName, name="Cleo"), NameClaimed)


async def test_a_banned_player_is_refused_and_disconnected(server: InProcessServer) -> None:
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


# Limits


def limited(session: Session, factor: float, now: list[float]) -> None:
    """Apply the limits of an address to this session, scaled by `factor`."""
    limiter = RateLimiter(lambda: now[0], factor=factor, per_player={})
    session.quota = limiter.open("203.0.113.7")


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


async def with_level(server: InProcessServer, name: str, level: str, bot: bool) -> MemoryPlayer:
    player = server.connect(name, bot=bot)
    await player.hello(level=level)
    return player


def levels(shown: Snapshot) -> list[tuple[str, bool, str]]:
    return [(seat.name, seat.bot, seat.level) for seat in shown.table.seats]


async def test_everyone_at_the_table_sees_the_newest_level_of_a_bot_and_none_of_a_person(
    server: InProcessServer,
) -> None:
    anna = await with_level(server, "Anna", "strong", bot=False)
    otto = await with_level(server, "Otto", "weak", bot=True)
    code = await gathered(otto, anna)
    shown = await anna.at_table(JoinTable, table=code)
    assert levels(shown) == [("Otto", True, "weak"), ("Anna", False, "")]
    back = await with_level(server, "Otto", "strong", bot=True)
    shown = await back.at_table(JoinTable, table=code)
    assert levels(shown) == [("Otto", True, "strong"), ("Anna", False, "")]
    cleo, rob = await server.player("Cleo"), await with_level(server, "Rob", "even", bot=True)
    code = await gathered(cleo, rob)
    assert levels(await cleo.at_table(JoinTable, table=code))[1] == ("Rob", True, "even")
