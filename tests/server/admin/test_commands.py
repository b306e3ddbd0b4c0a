"""The administrator's commands: what they ask, show and refuse."""

import asyncio
import json
import os
import pwd
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest
from click.testing import CliRunner, Result

from kit.messages import HOSTILE, TRICKS
from kit.stores import StoreServer
from kit.tables import ANN, BEN, CODE, running_race, seated
from saratoga_protocol.visible_text import UNSEEN
from saratoga_server.__main__ import main
from saratoga_server.admin.commands import admin, failure
from saratoga_server.config import Config
from saratoga_server.domain.usernames import checked_name
from saratoga_server.embedded_store.embedded import EmbeddedStore
from saratoga_server.ports import PlayerRow
from saratoga_server.store.opening import Store, open_store
from saratoga_server.store.tables import TableWrite

# The administrator's commands, run as from a shell, against a real store


T = TypeVar("T")


def in_store(url: str, act: Callable[[Store], Awaitable[T]]) -> T:
    async def run() -> T:
        async with open_store(url) as store:
            return await act(store)

    return asyncio.run(run())


async def furnish(store: Store) -> None:
    """Store a table where Ann and Ben have seats."""
    for player, name in ((ANN, "Ann"), (BEN, "Ben")):
        await store.players.create_player(PlayerRow(player=player, token_hash=player * 4))
        await store.players.claim_name(player, *checked_name(name))
    table = seated(ANN, BEN)
    write = TableWrite(version=0, before=None, after=table)
    assert await store.tables.save_table(write) is None


@pytest.fixture
def url(store_server: StoreServer) -> str:
    in_store(store_server.url, furnish)
    return store_server.url


def typed(url: str, *words: str, answer: str = "") -> Result:
    return CliRunner().invoke(admin, ["--redis", url, *words], input=answer)


def test_tables_are_listed_in_columns(url: str) -> None:
    result = typed(url, "tables")
    heading, line = result.stdout.splitlines()
    assert heading.split() == [
        "TABLE",
        "PHASE",
        "GAME",
        "RACE",
        "SEATS",
        "HERE",
        "HOST",
        "PUBLIC",
        "LAST",
        "USED",
    ]
    assert line.split()[:7] == [CODE, "gathering", "canfield", "1", "2/16", "2", "Ann"]
    assert line.index("gathering") == heading.index("PHASE")


def test_the_audit_log_names_the_system_user_whatever_the_environment_says(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(variable, "somebody-else")
    assert typed(url, "ban", "Ben", "--yes").exit_code == 0
    [act] = json.loads(typed(url, "audit", "--json").stdout)
    assert act["who"].partition("@")[0] == pwd.getpwuid(os.getuid()).pw_name


def test_no_stored_text_controls_the_administrators_terminal_or_hides_there(url: str) -> None:
    async def note(store: Store) -> None:
        for detail in TRICKS:
            await store.audit.append({"target": f"Ben{detail}", "detail": detail})

    in_store(url, note)
    lines = typed(url, "audit").stdout.splitlines()
    assert len(lines) == len(TRICKS)
    assert all("Ben<U+" in line and line.isprintable() for line in lines)
    as_json = typed(url, "audit", "--json").stdout.rstrip("\n")
    assert not UNSEEN.search(as_json)
    assert {act["detail"] for act in json.loads(as_json)} == set(TRICKS)
    refused = typed(url, "ban", HOSTILE, "--yes")
    assert refused.exit_code == 1
    assert all(line.isprintable() for line in refused.stderr.split("\n"))


@pytest.mark.parametrize(
    "words", [("close", CODE), ("ban", "Ben"), ("void", f"{CODE}/1"), ("forget", "Ben")]
)
def test_destructive_commands_ask_for_confirmation(url: str, words: tuple[str, ...]) -> None:
    for answer in ("n\n", "\n", ""):
        refused = typed(url, *words, answer=answer)
        assert (refused.exit_code, refused.stdout) == (1, "")
    assert typed(url, "audit").stdout == "The audit log is empty.\n"


def test_a_question_is_answered_with_yes(url: str) -> None:
    done = typed(url, "close", CODE, answer="y\n")
    assert f"Close the table {CODE}" in done.stderr
    assert (done.exit_code, done.stdout) == (0, f"{CODE} is closed. Seats that were taken: 2.\n")
    assert typed(url, "tables").stdout == "There are no tables.\n"


def test_a_script_confirms_with_an_option(url: str) -> None:
    result = typed(url, "ban", "Ben", "--yes", "--json")
    assert (result.exit_code, json.loads(result.stdout)) == (0, {"player": BEN})
    assert typed(url, "unban", BEN).stdout == f"{BEN} is unbanned.\n"


def test_an_action_that_is_refused_is_an_error_on_standard_error(url: str) -> None:
    result = typed(url, "close", "no-such-01", "--yes")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: There is no table no-such-01.\n"


def test_without_a_running_server_the_error_names_the_option(tmp_path: Path) -> None:
    result = CliRunner().invoke(admin, ["--data", str(tmp_path), "tables"])
    assert result.exit_code == 1
    assert "No server runs on" in result.stderr
    assert "--redis" in result.stderr


def test_an_address_that_cannot_be_one_is_wrong_usage() -> None:
    result = CliRunner().invoke(admin, ["--redis", "store:6379", "tables"])
    assert (result.exit_code, "begin with redis://" in result.stderr) == (2, True)


def test_all_tables_are_closed_after_a_question(url: str) -> None:
    assert typed(url, "close-all", answer="n\n").exit_code == 1
    result = typed(url, "close-all", "--yes")
    assert result.output == "Tables closed: 1.\n"
    assert json.loads(typed(url, "close-all", "--yes", "--json").output) == {"closed": 0}
    assert "restored from a backup" in typed(url, "audit").output


# `admin backup` and `admin restore` as an administrator types them


EXTERNAL = "redis://:hunter2@store.example.org"


def typed_backup_commands(*words: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["admin", *map(str, words)])
    return result.exit_code, result.output


async def typed_beside_a_server(data: Path, *words: str | Path) -> tuple[int, str]:
    """Run a command while a server with a race is running; return its exit code and output."""
    folder = Config(data=data).store_folder
    async with EmbeddedStore(folder) as url, open_store(url) as store:
        await running_race(store)
        # the command has an event loop of its own, so it needs a thread of its own
        return await asyncio.to_thread(typed_backup_commands, "--data", data, *words)


async def tables_in(data: Path) -> list[str]:
    folder = Config(data=data).store_folder
    async with EmbeddedStore(folder) as url, open_store(url) as store:
        return [code async for code in store.tables.all_codes()]


def test_out_into_a_folder_and_back_into_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, told = asyncio.run(typed_beside_a_server(Path("data"), "backup", "b", "--keep", "3"))
    assert code == 0, told
    (backup,) = Path("b").iterdir()
    code, told = typed_backup_commands("restore", "--check", backup)
    assert (code, "complete, " in told) == (0, True)
    code, told = typed_backup_commands("--data", "new", "restore", backup)
    assert (code, "keys restored into new/store, as of 20" in told) == (0, True), told
    assert asyncio.run(tables_in(Path("new"))) == [CODE]
    code, told = typed_backup_commands("--data", "new", "restore", backup)
    assert (code, "new/store is not empty" in told) == (1, True), told


@pytest.mark.parametrize(
    "words",
    [("backup", "b"), ("restore", "."), ("tables",)],
)
def test_a_folder_of_another_user_is_left_to_that_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Config(data=tmp_path / "data").store_folder
    folder.mkdir(mode=0o700, parents=True)
    (folder / "appendonlydir").mkdir()
    (folder / "appendonlydir" / "appendonly.aof.1.incr.aof").write_bytes(b"*")
    other = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: other)
    code, told = typed_backup_commands("--data", tmp_path / "data", *words)
    assert (code, f"{folder} belongs to another user. Run this command as " in told) == (1, True)


@pytest.mark.parametrize("words", [("backup", "b"), ("restore", ".")])
def test_another_store_is_left_to_its_own_tools_which_are_named(words: tuple[str, str]) -> None:
    code, told = typed_backup_commands("--redis", EXTERNAL, *words)
    assert code == 1
    assert "for the embedded store" in told
    assert "deploy/RUNBOOK.md" in told
    assert told.startswith("Warning: Every user of this machine can read")
    assert "hunter2" not in told


def test_what_is_no_backup_is_said(tmp_path: Path) -> None:
    code, told = typed_backup_commands("restore", "--check", tmp_path)
    assert (code, "is not a backup" in told) == (1, True)


def test_a_failure_keeps_its_lines_and_shows_all_other_characters() -> None:
    assert failure("The store did not start.\nIts log: \x1b[2J").message == (
        "The store did not start.\nIts log: <U+001B>[2J"
    )
