"""Commands that the program prints for pasting: quoted, and leading to the right server."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saratoga_client.local.origins import DEFAULT_SERVER
from saratoga_client.local.printed_command import (
    host_command,
    printed_command,
    table_command,
)

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
