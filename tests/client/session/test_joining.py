"""Invitations, connections, and joining a table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kit.session_states import table
from saratoga_client.net.errors import Redirected
from saratoga_client.problems import Exit
from saratoga_client.session.invitation import FROM_A_CLONE, Destination, Inviter, destination
from saratoga_client.session.open_connection import problem_for
from saratoga_protocol.events import TableSettings

CODE = "mint-otter-42"
LAN = "ws://192.168.1.7:7470"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (CODE, Destination(CODE)),
        ("  Mint-OTTER-42 \n", Destination(CODE)),
        ("mint-otter-42.", Destination(CODE)),
        ("come to mint-otter-42!", Destination(CODE)),
        (f"{LAN}/{CODE}", Destination(CODE, LAN)),
        (f"WS://192.168.1.7:7470/{CODE.upper()}", Destination(CODE, LAN)),
        (f"wss://Cards.Example/Games/{CODE}", Destination(CODE, "wss://cards.example/Games")),
        (f"{LAN}/{CODE}/", Destination(CODE, LAN)),
        (f"see {LAN}/{CODE}.", Destination(CODE, LAN)),
        (f"({LAN}/{CODE})", Destination(CODE, LAN)),
        (f"192.168.1.7:7470/{CODE}", Destination(CODE, LAN)),
        ("192.168.1.7:7470", Destination("", LAN)),
        (f"Cards.Example.org/{CODE}", Destination(CODE, "wss://cards.example.org")),
        (f"cards.example/games/{CODE}", Destination(CODE, "wss://cards.example/games")),
        (f"now/{CODE}", Destination(CODE)),
        ("localhost:7470", Destination("", "ws://localhost:7470")),
        (f"https://cards.example.org/{CODE}", Destination(CODE, "wss://cards.example.org")),
        (f"http://cards.example.org/{CODE}", Destination(CODE, "ws://cards.example.org")),
        (f"wss://example.org/cards/{CODE}", Destination(CODE, "wss://example.org/cards")),
        ("wss://example.org/cards/", Destination("", "wss://example.org/cards")),
        (f"ws://[fe80::1]:7470/{CODE}", Destination(CODE, "ws://[fe80::1]:7470")),
        (f"saratoga join {LAN}/{CODE}", Destination(CODE, LAN)),
        (f"saratoga join {CODE} --server {LAN}", Destination(CODE, LAN)),
        (f"saratoga join --server='{LAN}' {CODE}", Destination(CODE, LAN)),
    ],
)
def test_friends_paste_what_they_have(text: str, read: Destination) -> None:
    assert destination(text) == read


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "mint-otter",
        "mint-otter-4242",
        "ftp://x/",
        "ws://",
        "ws://a:0/",
        "ws://a:99999/",
        "ws://[a",
    ],
)
def test_text_that_names_neither_table_nor_server_is_no_destination(text: str) -> None:
    assert destination(text) is None


@given(text=st.text())
def test_no_text_is_too_strange_to_be_read(text: str) -> None:
    for read in (destination(text), destination(f"ws://{text}")):
        assert read is None or read.code or read.server


@pytest.mark.parametrize("install", ["", "pipx install saratoga"])
def test_a_friend_may_paste_the_whole_invitation(install: str) -> None:
    lines = Inviter(server=LAN, install=install).lines(table())
    assert destination("\n".join(lines)) == Destination(CODE, LAN)


def test_the_invitation_says_what_to_expect_and_what_to_type() -> None:
    settings = TableSettings(game="caprice", cap=0, seats=4, public=False)
    inviter = Inviter(server=LAN, install="pipx install saratoga")
    assert inviter.lines(replace(table(), settings=settings)) == (
        "Race me at patience: Caprice, no time limit, the same deal for everyone.",
        f"In a browser: {LAN.replace('ws:', 'http:')}/{CODE}",
        "  pipx install saratoga",
        f"  saratoga join {LAN}/{CODE}",
    )


def test_an_invitation_without_a_public_source_installs_no_package_by_name() -> None:
    lines = Inviter(server=LAN).lines(table())
    assert lines[2] == FROM_A_CLONE
    assert "pip install saratoga" not in "\n".join(lines)


@pytest.mark.parametrize(
    ("server", "page"),
    [
        ("ws://192.168.1.7:7470", "http://192.168.1.7:7470/mint-otter-42"),
        ("wss://patience.example.org/", "https://patience.example.org/mint-otter-42"),
    ],
)
def test_browsers_open_the_address_of_programs(server: str, page: str) -> None:
    assert Destination(CODE, server).page == page
    assert destination(page) == Destination(CODE, server.rstrip("/"))


SERVER = "wss://cards.example.org"


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
    problem = problem_for(SERVER, Redirected(SERVER, location))
    assert problem.code == Exit.REFUSED
    assert "example.org@" not in str(problem)
    assert f"saratoga join {target}" in problem.remedy


@pytest.mark.parametrize("location", ["ftp://a.example/", "http://", "http://[bad", "ws://a:0"])
def test_a_redirect_to_no_server_is_not_offered(location: str) -> None:
    problem = problem_for(SERVER, Redirected(SERVER, location))
    assert "which is not a server's" in problem.what
    assert "saratoga join" not in problem.remedy
