"""A server on this machine, addresses, and the terminal."""

import asyncio
import os
import re
import shlex
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.session_states import CODE, table
from saratoga_client.local import hosting
from saratoga_client.local.hosting import (
    EVERY_ADDRESS,
    PORT,
    LocalServer,
    friends_address,
    last_port,
    local_server,
    running_server,
)
from saratoga_client.local.identity import token_for
from saratoga_client.local.origins import origin_of
from saratoga_client.local.printed_command import printed_command
from saratoga_client.local.settings import Settings, remember_server
from saratoga_client.local.terminal import Capabilities, Colours, capabilities
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.invitation import inviter_for
from saratoga_protocol.commands import player_id

PROXY = "wss://cards.example.org"


@asynccontextmanager
async def answering(status: str) -> AsyncIterator[int]:
    """Listen on this machine and send every client the same response; yield the port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{{"status":{status}}}'.encode())
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


SERVES = """
import os, signal, sys
folder = sys.argv[sys.argv.index("--data") + 1]
with open(folder + "/starts", "a") as starts:
    starts.write(" ".join(sys.argv[1:]) + "\\n")
signal.signal(signal.SIGTERM, lambda *_: (open(folder + "/goodbye", "w").close(), sys.exit()))
print("hello", flush=True)
print("saratoga-server ready ws://0.0.0.0:4711", flush=True)
"""
STAYS = f"{SERVES}\nsignal.pause()"
DIES_ONCE = f"""{SERVES}
if os.path.exists(folder + "/died"):
    open(folder + "/port", "w").write(sys.argv[-1])
    signal.pause()
open(folder + "/died", "w")
os.abort()
"""
DIES = SERVES.replace("print", "os.path.exists(folder + '/died') and sys.exit('full')\nprint", 1)
DIES_AGAIN = f"{DIES}\nopen(folder + '/died', 'w'), os.abort()"


def program(text: str) -> tuple[str, ...]:
    return (sys.executable, "-c", text)


async def found(
    public_url: str, port: int | None = None, listen: str = EVERY_ADDRESS
) -> tuple[LocalServer, list[str]]:
    """Find or start the server on this machine; return it and the reports."""
    reports: list[str] = []
    async with local_server(public_url, port, reports.append, listen) as server:
        pass
    return server, reports


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give this machine another address, at which no local test server listens."""
    monkeypatch.setattr(hosting, "lan_address", lambda: "127.0.0.2")


def test_a_host_opens_the_server_again_at_its_last_port() -> None:
    assert last_port() == PORT
    remember_server("ws://127.0.0.1:41233")
    assert last_port() == 41233
    remember_server("ws://192.168.1.7:8000")
    assert last_port() == PORT


async def test_a_running_server_is_used_and_the_host_learns_who_can_reach_it(
    network: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with answering('"alive"') as port:
        behind_proxy, reports = await found(PROXY, port)
        private, _ = await found("", port)
        monkeypatch.setattr(hosting, "lan_address", lambda: None)
        alone, _ = await found("", port)
    own = f"ws://127.0.0.1:{port}"
    assert behind_proxy == LocalServer(own=own, friends=PROXY, is_ours=False)
    assert (private.friends, alone.friends) == (own, own)
    assert "--host 0.0.0.0" in private.warning
    assert "not on a network" in alone.warning
    assert len(reports) == 1, "nothing is stopped"


@pytest.mark.parametrize(
    ("public_url", "listen", "friends", "warning"),
    [
        ("", "0.0.0.0", "ws://127.0.0.2:4711", ""),
        ("", "127.0.0.1", "ws://127.0.0.1:4711", "--public-url"),
        (PROXY, "127.0.0.1", PROXY, ""),
    ],
)
async def test_a_server_is_started_at_a_free_port(
    public_url: str,
    listen: str,
    friends: str,
    warning: str,
    network: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    async def started(folder: Path, flags: tuple[str, ...]) -> AsyncIterator[object]:
        async with running_server(tmp_path, program(STAYS), flags) as server:
            yield server

    monkeypatch.setattr(hosting, "running_server", asynccontextmanager(started))
    async with answering("0") as port:
        monkeypatch.setattr(hosting, "PORT", port)
        server, reports = await found(public_url, None, listen)
        with pytest.raises(Problem, match="in use by another program"):
            await found(public_url, port)
    assert (server.own, server.friends, server.is_ours) == ("ws://127.0.0.1:4711", friends, True)
    assert warning in server.warning
    assert bool(server.warning) is bool(warning)
    # friends' browsers may connect from the page at the public address
    origin = " --origin https://cards.example.org" if public_url else ""
    started_with = (tmp_path / "starts").read_text()
    (at,) = re.findall(r"--port ([1-9]\d+)", started_with)
    owner = f"--owner {player_id(token_for(f'ws://127.0.0.1:{at}'))}"
    flags = f"--host {listen} --port {at} --metrics-port off {owner} --bots{origin}\n"
    assert started_with == f"--until-eof --data {tmp_path} {flags}"
    assert (tmp_path / "goodbye").exists(), "the process is terminated in order"
    assert reports[-1].startswith("Stopping")


async def test_friends_get_the_lan_address_if_the_server_answers_at_it(
    network: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with answering('"alive"') as port:
        here = f"ws://localhost:{port}"
        assert await friends_address(here) == here
        monkeypatch.setattr(hosting, "lan_address", lambda: "127.0.0.1")
        assert await friends_address(here) == f"ws://127.0.0.1:{port}"
    assert await friends_address("wss://cards.example") == "wss://cards.example"


@pytest.mark.parametrize(
    ("server", "address"),
    [
        ("wss://anna:s3cret@cards.example/races", "wss://cards.example/races"),
        ("wss://anna:s@3cret@cards.example:8443", "wss://cards.example:8443"),
        ("ws://anna:s3cret@localhost:1", "ws://localhost:1"),
    ],
)
async def test_an_invitation_has_no_user_name_and_no_password(server: str, address: str) -> None:
    lines = (await inviter_for(Settings(server=server))).lines(table())
    assert lines[-1] == f"  saratoga join {address}/{CODE}"


async def test_a_server_that_dies_is_started_again_at_its_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "RESTART_PAUSES", (0.0,))
    os.mkfifo(tmp_path / "port")
    async with running_server(tmp_path, program(DIES_ONCE)) as server, asyncio.timeout(10):
        # written by the second process
        assert await asyncio.to_thread((tmp_path / "port").read_text) == "4711"
    assert server.process is not None
    assert server.process.returncode is not None, "the newest process is stopped"


async def test_a_server_that_dies_at_every_start_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hosting, "RESTART_PAUSES", (0.0, 0.0))
    given_up = asyncio.Event()
    monkeypatch.setattr(hosting.LOG, "error", lambda *_: given_up.set())
    async with running_server(tmp_path, program(DIES_AGAIN)), asyncio.timeout(10):
        await given_up.wait()
    assert sum("full" in record.getMessage() for record in caplog.records) == 2


async def test_a_server_that_fails_to_start_gives_the_reason(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="did not start") as problem:
        async with running_server(tmp_path, program("import sys; sys.exit('the store is full')")):
            pass
    assert problem.value.code == Exit.UNREACHABLE
    assert problem.value.said == ("the store is full",)


LAN = "ws://192.168.1.7:7470"


@given(words=st.lists(st.text(min_size=1).filter(lambda word: "\0" not in word), min_size=1))
def test_a_shell_reads_the_printed_words_back(words: list[str]) -> None:
    assert shlex.split(printed_command(*words, server=LAN)) == [
        "saratoga",
        *words,
        "--server",
        LAN,
    ]


SAME = {
    "wss://cards.example.org:443": (
        "wss://cards.example.org",
        "WSS://Cards.Example.ORG./",
        "wss://cards.example.org..",
        "wss://cards.example.org:443/path",
        "wss://someone:else@cards.example.org",
        " wss://cards.example.org?x#y ",
    ),
    "ws://cards.example.org:80": ("ws://cards.example.org", "ws://cards.example.org:80/"),
    "ws://cards.example.org:7470": ("ws://CARDS.example.org:7470/mint-otter-42",),
    "ws://localhost:7470": (
        "ws://localhost:7470",
        "ws://127.0.0.1:7470",
        "ws://127.8.0.1:7470",
        "ws://[::1]:7470",
        "ws://[0:0::1]:7470",
        "ws://[::ffff:127.0.0.1]:7470",
    ),
    "ws://lan:7470": (
        "ws://192.168.1.7:7470",
        "ws://[::ffff:192.168.1.9]:7470",
        "ws://10.0.0.2:7470",
        "ws://172.31.0.2:7470",
        "ws://169.254.3.4:7470",
        "ws://[FD00:0:0::7]:7470",
        "ws://[fe80::1%25eth0]:7470",
    ),
    "ws://172.32.0.2:7470": ("ws://172.32.0.2:7470/",),
    "ws://lan:7471": ("ws://192.168.1.7:7471",),
    "wss://xn--bcher-kva.example:443": (
        "wss://bücher.example",
        "wss://BÜCHER.example",
        "wss://xn--bcher-kva.example",
    ),
}


@pytest.mark.parametrize("origin", SAME)
def test_different_spellings_of_an_address_have_one_origin(origin: str) -> None:
    assert {origin_of(address) for address in SAME[origin]} == {origin}
    assert origin_of(origin) == origin


def test_another_name_port_or_scheme_is_another_origin() -> None:
    assert len({origin_of(origin) for origin in SAME}) == len(SAME)
    # a token sent without encryption must not be valid for a server behind TLS, even at the same port
    assert origin_of("ws://cards.example.org:443") != origin_of("wss://cards.example.org:443")
    assert origin_of("ws://cards.example.org.evil.example") != origin_of("ws://cards.example.org")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "mint-otter-42",
        "https://x.example",
        "ws://",
        "ws://x:0",
        "ws://x:99999",
        "ws://[",
        "ws://../",
    ],
)
def test_an_invalid_server_address_has_no_origin(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        origin_of(text)


def judged(
    environment: Mapping[str, str] = MappingProxyType({}),
    *,
    encoding: str = "utf-8",
    is_terminal: bool = True,
) -> Capabilities:
    return capabilities(
        {"TERM": "xterm-256color", "LANG": "en_GB.UTF-8", **environment},
        is_terminal=is_terminal,
        size=(80, 24),
        encoding=encoding,
    )


@pytest.mark.parametrize(
    ("environment", "colours"),
    [
        ({}, Colours.MANY),
        ({"COLORTERM": "truecolor"}, Colours.ALL),
        ({"COLORTERM": "24bit", "TERM": "tmux-256color"}, Colours.ALL),
        ({"TERM": "xterm"}, Colours.SIXTEEN),
        ({"TERM": "linux"}, Colours.SIXTEEN),
        ({"TERM": "xterm-direct"}, Colours.ALL),
        ({"TERM": "vt100"}, Colours.NONE),
        ({"TERM": "xterm-mono"}, Colours.NONE),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, Colours.NONE),
        ({"NO_COLOR": "1", "COLORTERM": "truecolor"}, Colours.NONE),
        ({"NO_COLOR": ""}, Colours.MANY),
    ],
)
def test_colours_are_what_the_environment_says(
    environment: dict[str, str], colours: Colours
) -> None:
    assert judged(environment).colours is colours


@pytest.mark.parametrize(
    ("environment", "unicode"),
    [
        ({}, True),
        ({"LANG": "", "LC_CTYPE": ""}, True),
        ({"LANG": "", "LC_CTYPE": "UTF-8"}, True),
        ({"LC_ALL": "C"}, False),
        ({"LC_ALL": "POSIX"}, False),
        ({"LC_ALL": "C.utf8"}, True),
        ({"LANG": "de_DE.ISO-8859-1@euro"}, False),
        ({"LANG": "de_DE.UTF-8@euro"}, True),
        ({"LANG": "de_DE"}, False),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, True),
        ({"TERM": "linux"}, False),
    ],
)
def test_suits_are_signs_only_where_they_arrive(environment: dict[str, str], unicode: bool) -> None:
    assert judged(environment).unicode is unicode


def test_an_output_of_another_encoding_gets_letters() -> None:
    assert not judged(encoding="latin-1").unicode


def test_windows_has_no_term_and_redraws_all_the_same() -> None:
    windows = capabilities({}, is_terminal=True, size=(120, 40), is_windows=True)
    assert not windows.why_plain
    assert windows.unicode
    assert windows.colours is Colours.MANY
