"""Connections to a server: addresses, timeouts, and a problem for every failure."""

import pytest

from kit.lobbies import open_lobby
from saratoga_client.local.identity import token_for
from saratoga_client.net.errors import (
    CommandRefused,
    Redirected,
    RequestTimedOut,
    ServerClosed,
    UnexpectedAnswer,
    Unreachable,
)
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.open_connection import (
    LOCAL_TIMING,
    REMOTE_TIMING,
    check_address,
    open_connection,
    problem_of,
    timing_for,
)
from saratoga_protocol.events import Refused
from saratoga_protocol.refusals import WRONG_SUBPROTOCOL

SERVER = "wss://cards.example.org"


@pytest.mark.parametrize(
    "address",
    ["", "cards.example.org", "http://a", "ws://", "ws://a:0", "ws://a:99999", "ws://[bad"],
)
def test_any_other_text_is_wrong_usage(address: str) -> None:
    with pytest.raises(Problem, match="is not the address of a server") as problem:
        check_address(address)
    assert problem.value.code == Exit.USAGE


def test_a_server_on_this_machine_has_to_answer_sooner() -> None:
    assert timing_for("ws://127.0.0.1:7470") is LOCAL_TIMING
    assert timing_for(SERVER) is REMOTE_TIMING
    assert LOCAL_TIMING.first_within < REMOTE_TIMING.first_within


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CommandRefused(Refused(code="no_such_table", message="No table.")), Exit.NOT_FOUND),
        (ServerClosed(WRONG_SUBPROTOCOL.code, ""), Exit.TOO_OLD),
        (ServerClosed(4503, "banned"), Exit.REFUSED),
        (UnexpectedAnswer(), Exit.TOO_OLD),
        (Unreachable(SERVER, "no server listens there"), Exit.UNREACHABLE),
        (RequestTimedOut(), Exit.UNREACHABLE),
    ],
)
def test_every_error_of_a_connection_has_its_exit_code(error: Exception, code: Exit) -> None:
    assert problem_of(SERVER, error).code == code


def test_an_unknown_certificate_has_a_remedy_of_its_own() -> None:
    problem = problem_of(SERVER, Unreachable(SERVER, "the certificate is not trusted"))
    assert "SSL_CERT_FILE" in problem.remedy


async def test_the_connection_belongs_to_the_player_of_this_machine() -> None:
    async with open_lobby() as lobby:
        async with open_connection(lobby.url) as first:
            player = first.welcome.player
        async with open_connection(lobby.url, token=token_for(lobby.url)) as second:
            assert second.welcome.player == player


async def test_without_a_server_the_problem_has_a_remedy() -> None:
    with pytest.raises(Problem) as problem:
        async with open_connection("ws://127.0.0.1:1"):
            raise AssertionError("no server listens there")
    assert problem.value.code == Exit.UNREACHABLE
    assert problem.value.remedy


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("https://cards.example.org:443/", "wss://cards.example.org:443"),
        ("http://Other.Example/cards/", "ws://other.example/cards"),
        ("https://cards.example.org@thief.example/", "wss://thief.example"),
        ("wss://a.example/$(reboot)", "'wss://a.example/$(reboot)/CODE'"),
    ],
)
def test_a_redirect_is_named_with_the_command_that_follows_it(location: str, target: str) -> None:
    problem = problem_of(SERVER, Redirected(SERVER, location))
    assert problem.code == Exit.REFUSED
    assert "example.org@" not in str(problem)
    assert f"saratoga join {target}" in problem.remedy


@pytest.mark.parametrize("location", ["ftp://a.example/", "http://", "http://[bad", "ws://a:0"])
def test_a_redirect_to_no_server_is_not_offered(location: str) -> None:
    problem = problem_of(SERVER, Redirected(SERVER, location))
    assert "which is not a server's" in problem.what
    assert "saratoga join" not in problem.remedy
