"""A real store accepts the settings of every durability level, and a server accepts that store."""

import re
import subprocess
from pathlib import Path

import pytest

from kit.deployment import DEPLOY, open_valkey, replaced
from kit.server_process import running_server
from kit.stores import binaries, free_port
from saratoga_server.embedded_store.process import find_binary

LEVELS = ("fast", "safe", "replicated")

ALONE = "min-replicas-to-write 0"
"""The setting of a primary that has no replica yet."""


def binary_of(kind: str) -> str:
    found = binaries()[kind]
    assert found is not None, "redis-server is not installed, and this run must test against it"
    return found


def test_there_are_settings_for_every_level() -> None:
    names = {path.name for path in (DEPLOY / "valkey").glob("*.conf")}
    assert names == {f"valkey-{level}.conf" for level in LEVELS}


def test_every_file_names_the_folder_of_settings_that_the_stores_include() -> None:
    """A store silently ignores a settings file that is in another folder."""
    texts = [path.read_text() for path in DEPLOY.rglob("*") if path.is_file()]
    include = re.compile(r"^include (\S+)/\*\.conf$", re.MULTILINE)
    included = {folder for text in texts for folder in include.findall(text)}
    named = {path for text in texts for path in re.findall(r"/etc/valkey/[\w./*-]+\w", text)}
    assert named > {"/etc/valkey/valkey.conf"}
    assert {str(Path(path).parent) for path in named - {"/etc/valkey/valkey.conf"}} == included


@pytest.mark.parametrize("kind", list(binaries()))
@pytest.mark.parametrize("level", ["fast", "safe"])
async def test_a_server_of_that_level_starts_on_them(kind: str, level: str) -> None:
    with open_valkey(level, binary_of(kind)) as store:
        async with running_server("--redis", store.url, "--durability", level) as server_process:
            assert (await server_process.get("/readyz"))[0] == 200


def test_the_runbook_gives_valkey_cli_the_password_before_it_asks_anything(tmp_path: Path) -> None:
    """The test runs the runbook's command on the example's file."""
    runbook = (DEPLOY / "RUNBOOK.md").read_text()
    (command,) = re.findall(r"^export REDISCLI_AUTH=.*$", runbook, re.MULTILINE)
    assert runbook.index(command) < runbook.index("## ")
    example = (DEPLOY / "valkey" / "local.conf.example").read_text()
    own = tmp_path / "local.conf"
    own.write_text(replaced(example, (r"^requirepass .*", "requirepass 0a1b2c")))
    script = replaced(command, ("/etc/valkey/local.d/local.conf", str(own)))
    said = subprocess.run(
        ["sh", "-euc", f'{script}\nprintenv REDISCLI_AUTH'],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert said.stdout == "0a1b2c\n"


async def test_settings_of_a_lower_level_are_refused_at_a_higher_one() -> None:
    with (
        open_valkey("fast", str(find_binary())) as store,
        pytest.raises(AssertionError, match="appendfsync is everysec"),
    ):
        async with running_server("--redis", store.url, "--durability", "safe"):
            pass


async def test_a_replicated_server_starts_on_a_primary_with_its_replica() -> None:
    port = free_port()
    with (
        open_valkey("replicated", str(find_binary()), f"port {port}") as primary,
        open_valkey("replicated", str(find_binary()), f"replicaof 127.0.0.1 {port}") as replica,
    ):
        replica.wait_for("INFO", "replication", says=b"master_link_status:up")
        primary.wait_for("INFO", "replication", says=b"min_slaves_good_slaves:1")
        async with running_server(
            "--redis", primary.url, "--durability", "replicated"
        ) as server_process:
            assert (await server_process.get("/readyz"))[0] == 200
        replica.kill()
        primary.wait_for("SET", "a", "b", says=b"NOREPLICAS")


def test_a_failover_by_the_runbook_survives_restarts() -> None:
    """The new primary's writes survive a restart, and the old primary becomes its replica."""
    ports = old_port, new_port = free_port(), free_port()
    follows = [f"replicaof 127.0.0.1 {port}" for port in ports]
    binary = str(find_binary())
    with (
        open_valkey("replicated", binary, f"port {old_port}") as old,
        open_valkey("replicated", binary, f"port {new_port}", follows[0]) as new,
    ):
        old.wait_for("INFO", "replication", says=b"min_slaves_good_slaves:1")
        assert old.ask("SET", "before", "1") == b"+OK"
        assert b":1" in old.ask_all("WAITAOF", "1", "1", "5000")
        old.kill()

        assert new.ask("REPLICAOF", "NO", "ONE") == b"+OK"
        own = new.folder / "valkey.conf"
        own.write_text(replaced(own.read_text(), (follows[0], ALONE)))
        assert new.ask("CONFIG", "SET", *ALONE.split()) == b"+OK"
        assert new.ask("SET", "since", "1") == b"+OK"
        own_of_old = old.folder / "valkey.conf"
        own_of_old.write_text(f"{own_of_old.read_text()}{follows[1]}\n")
        old.start_on(own_of_old)
        new.kill()
        new.start_on(own)

        assert b"role:master" in new.ask_all("INFO", "replication")
        assert new.ask_all("MGET", "before", "since") == b"*2\r\n$1\r\n1\r\n$1\r\n1\r\n"
        old.wait_for("MGET", "before", "since", says=b"$1\r\n1\r\n$1\r\n1\r\n")
        old.wait_for("INFO", "replication", says=b"role:slave")


def test_the_runbook_makes_a_failover_permanent() -> None:
    """Steps that a restart undoes would lose moves acknowledged since the failover."""
    text = (DEPLOY / "RUNBOOK.md").read_text()
    failover = text.partition("\n## Failover\n")[2].partition("\n## ")[0]
    order = [
        "replicaof no one",
        "remove the line `replicaof`",
        ALONE,
        "SARATOGA_REDIS",
        "replicaof NEW",
    ]
    places = [failover.find(words) for words in order]
    assert -1 not in places
    assert failover.find("local.conf") < places[3] < places[4]
