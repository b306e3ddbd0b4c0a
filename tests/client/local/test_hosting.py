"""A server on this machine, addresses, and the terminal."""

import asyncio
import logging
import os
import shlex
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.scripted_server import CODE, table
from saratoga_client.local import hosting, server_process
from saratoga_client.local.hosting import (
    PORT,
    friends_address,
    is_server,
    last_port,
    local_server,
    page_origin,
)
from saratoga_client.local.origins import DEFAULT_SERVER, origin_of
from saratoga_client.local.paths import data_folder
from saratoga_client.local.printed_command import host_command, printed_command, table_command
from saratoga_client.local.server_process import RunningServer, running_server
from saratoga_client.local.settings import Settings, remember_server
from saratoga_client.local.terminal import Capabilities, Colours, capabilities
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.invitation import inviter_for


@asynccontextmanager
async def answering(answer: bytes) -> AsyncIterator[int]:
    """Listen on this machine and send every client the same response; yield the port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


ALIVE = b'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{"status":"alive"}'
OTHER = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello"


def test_a_host_opens_the_server_again_at_its_last_port() -> None:
    assert last_port() == PORT
    remember_server("ws://127.0.0.1:41233")
    assert last_port() == 41233
    remember_server("ws://192.168.1.7:8000")
    assert last_port() == PORT


async def test_a_running_local_server_is_used_and_not_stopped() -> None:
    reports: list[str] = []
    async with answering(ALIVE) as port:
        async with local_server("wss://cards.example.org", port, reports.append) as server:
            assert server.own == f"ws://127.0.0.1:{port}"
            assert server.friends == "wss://cards.example.org"
            assert not server.is_ours
            assert not server.warning
        assert await is_server("127.0.0.1", port)
    assert len(reports) == 1


async def test_a_server_that_listens_on_loopback_only_gets_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hosting, "lan_address", lambda: "127.0.0.2")
    async with answering(ALIVE) as port, local_server("", port, lambda _: None) as server:
        assert "--host 0.0.0.0" in server.warning
        assert server.friends == server.own


async def test_a_machine_without_a_network_gets_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "lan_address", lambda: None)
    async with answering(ALIVE) as port, local_server("", port, lambda _: None) as server:
        assert server.friends == server.own
        assert "--public-url" in server.warning


def ready_at(address: str) -> RunningServer:
    return RunningServer(address, Mock(asyncio.subprocess.Process))


async def test_a_server_is_started_on_a_free_port_if_the_usual_one_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flags_seen: list[tuple[str, ...]] = []

    @asynccontextmanager
    async def started(folder: Path, flags: tuple[str, ...]) -> AsyncIterator[RunningServer]:
        assert folder == data_folder()
        flags_seen.append(flags)
        yield ready_at("ws://0.0.0.0:4711")

    monkeypatch.setattr(hosting, "running_server", started)
    reports: list[str] = []
    async with answering(OTHER) as port:
        monkeypatch.setattr(hosting, "PORT", port)
        async with local_server("", report=reports.append) as server:
            pass
        with pytest.raises(Problem, match="in use by another program"):
            await local_server("", port).__aenter__()
    assert server.is_ours
    assert server.own == "ws://127.0.0.1:4711"
    assert server.friends.endswith(":4711")
    assert flags_seen == [("--host", "0.0.0.0", "--port", "0", "--metrics-port", "off")]
    assert reports[-1].startswith("Stopping")


@pytest.mark.parametrize("public_url", ["", "wss://cards.example.org"])
async def test_a_server_behind_a_local_proxy_listens_on_loopback_only(
    monkeypatch: pytest.MonkeyPatch, public_url: str
) -> None:
    flags_seen: list[tuple[str, ...]] = []

    @asynccontextmanager
    async def started(folder: Path, flags: tuple[str, ...]) -> AsyncIterator[RunningServer]:
        flags_seen.append(flags)
        yield ready_at("ws://127.0.0.1:4711")

    monkeypatch.setattr(hosting, "running_server", started)
    monkeypatch.setattr(hosting, "is_server", no_server)
    monkeypatch.setattr(hosting, "lan_address", lambda: "192.0.2.7")
    async with local_server(public_url, report=lambda _: None, listen="127.0.0.1") as server:
        pass
    assert flags_seen[0][:2] == ("--host", "127.0.0.1")
    # friends' browsers may connect from the page at the public address
    assert flags_seen[0][6:] == (("--origin", "https://cards.example.org") if public_url else ())
    assert server.friends == (public_url or server.own)
    assert ("--public-url" in server.warning) is not bool(public_url)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("wss://Cards.example.org/", "https://cards.example.org"),
        ("ws://machine.example.org:7470", "http://machine.example.org:7470"),
        ("https://anna:s3cret@cards.example/races", "https://cards.example"),
    ],
)
def test_the_page_at_a_public_address_has_an_origin(url: str, origin: str) -> None:
    assert page_origin(url) == origin


async def no_server(host: str, port: int) -> bool:
    return False


async def test_friends_get_the_lan_address_if_the_server_answers_at_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with answering(ALIVE) as port:
        here = f"ws://localhost:{port}"
        monkeypatch.setattr(hosting, "lan_address", lambda: "127.0.0.1")
        assert await friends_address(here) == f"ws://127.0.0.1:{port}"
        monkeypatch.setattr(hosting, "lan_address", lambda: "127.0.0.2")
        assert await friends_address(here) == here
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
    assert await friends_address(server) == address
    lines = (await inviter_for(Settings(server=server))).lines(table())
    assert lines[-1] == f"  saratoga join {address}/{CODE}"


OPENS = """
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: (open(sys.argv[-1] + "/goodbye", "w").close(), sys.exit()))
print("hello", flush=True)
print("saratoga-server ready ws://127.0.0.1:4711", flush=True)
signal.pause()
"""
FAILS = "import sys; sys.exit('the store is full')"


def program(text: str) -> tuple[str, ...]:
    return (sys.executable, "-c", text)


async def test_a_server_process_is_awaited_and_terminated(tmp_path: Path) -> None:
    async with running_server(tmp_path, program(OPENS)) as server:
        assert server.address == "ws://127.0.0.1:4711"
        assert not (tmp_path / "goodbye").exists()
    assert (tmp_path / "goodbye").exists()


DIES = """
import os, sys
print("saratoga-server ready ws://127.0.0.1:4711", flush=True)
if os.path.exists(sys.argv[-1] + "/died"):
    open(sys.argv[-1] + "/port", "w").write(sys.argv[sys.argv.index("--port") + 1])
    sys.stdin.readline()
else:
    open(sys.argv[-1] + "/died", "w").close()
    os.abort()
"""


async def test_a_server_that_dies_is_started_again_at_its_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_process, "RESTART_PAUSES", (0.0,))
    os.mkfifo(tmp_path / "port")
    async with running_server(tmp_path, program(DIES)) as server, asyncio.timeout(10):
        # written by the second process
        assert await asyncio.to_thread((tmp_path / "port").read_text) == "4711"
    assert server.process.returncode is not None, "the newest process is stopped"


async def test_a_server_that_dies_at_every_start_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_process, "RESTART_PAUSES", (0.0, 0.0))
    full = SimpleNamespace(count=0, event=asyncio.Event())

    def seen(record: logging.LogRecord) -> bool:
        full.count += "full" in record.getMessage()
        if record.levelno == logging.ERROR:
            full.event.set()
        return True

    server_process.LOG.addFilter(seen)
    dies_again = DIES.replace(
        "if os.path", 'os.path.exists(sys.argv[-1] + "/died") and sys.exit("full")\nif os.path'
    )
    dies_again = dies_again.replace('print("', 'os.path.exists(sys.argv[-1] + "/died") or print("')
    async with running_server(tmp_path, program(dies_again)), asyncio.timeout(10):
        await full.event.wait()
        assert full.count == 2
    server_process.LOG.removeFilter(seen)


async def test_a_server_that_fails_to_start_gives_the_reason(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="did not start") as problem:
        async with running_server(tmp_path, program(FAILS)):
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


def test_the_words_of_a_digest_need_no_quotes() -> None:
    command = printed_command("verify", "mint-otter-42/3#oak-pear-lamp-river")
    assert command == "saratoga verify mint-otter-42/3#oak-pear-lamp-river"
    assert shlex.quote("#comment") in printed_command("verify", "#comment")


def test_a_table_elsewhere_is_named_by_its_url() -> None:
    assert table_command("watch", "mint-otter-42") == "saratoga watch mint-otter-42"
    there = table_command("bot", "mint-otter-42", "wss://example.org/cards/")
    assert there == "saratoga bot wss://example.org/cards/mint-otter-42"


@pytest.mark.parametrize(
    ("server", "command"),
    [
        (DEFAULT_SERVER, "saratoga host --port 7470"),
        ("ws://localhost:80", "saratoga host --port 80"),
        ("ws://127.0.0.1:41233", "saratoga host --port 41233"),
    ],
)
def test_a_server_of_this_machine_opens_again_at_its_port(server: str, command: str) -> None:
    assert host_command(server) == command


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
    assert windows.is_full_screen
    assert windows.unicode
    assert windows.colours is Colours.MANY
