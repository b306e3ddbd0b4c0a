"""A store with the settings of each durability level: servers start on it, and a backup of it, or of an embedded store, has every move."""

import asyncio
import copy
import os
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from kit.auditor import disagreements, faults_of_open_board
from kit.deployment import DEPLOY, open_valkey, replaced, watched_store
from kit.players import player_at
from kit.racing_bots import Notes, RacingBots, racing_bots
from kit.server_process import program, running_server
from kit.stores import StoreServer, binaries, binary_of, scratch_folder
from saratoga_rules.records.record import parse_record
from saratoga_server.__main__ import main
from saratoga_server.embedded_store.process import find_binary
from saratoga_server.store.leaderboards import BoardKey
from saratoga_server.store.opening import Store, open_store


def test_every_file_names_the_folder_of_settings_that_the_stores_include() -> None:
    """A store silently ignores a settings file that is in another folder."""
    texts = [path.read_text() for path in DEPLOY.rglob("*") if path.is_file()]
    include = re.compile(r"^include (\S+)/\*\.conf$", re.MULTILINE)
    included = {folder for text in texts for folder in include.findall(text)}
    named = {path for text in texts for path in re.findall(r"/etc/valkey/[\w./*-]+\w", text)}
    own = {"/etc/valkey/valkey.conf", "/etc/valkey/sentinel.conf"}
    assert named > own
    assert {str(Path(path).parent) for path in named - own} == included


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


async def test_a_server_of_level_replicated_outlives_a_machine_of_its_store() -> None:
    with watched_store(str(find_binary()), down_after=3_000) as store:
        async with running_server(
            "--redis", store.url, "--durability", "replicated"
        ) as server_process:
            store.stores[0].kill()
            await asyncio.to_thread(store.elected, other_than=0)
            async with player_at(server_process.url, "Anna") as anna:
                assert anna.name == "Anna"


SHORT, LONG = "canfield", "lady-palk"
"""A game whose races take a few seconds, and one with somewhat longer races."""
PAGE = f"/api/leaderboards/{SHORT}?ranking=bankroll&bots=true"
RUNBOOK = (DEPLOY / "RUNBOOK.md").read_text()


def admin(data: Path, *words: str | Path) -> None:
    result = CliRunner().invoke(main, ["admin", "--data", str(data), *map(str, words)])
    assert result.exit_code == 0, result.output


def test_the_runbook_passes_no_password_as_an_argument() -> None:
    """Every user of a machine can read the arguments of all programs."""
    assert not re.search(r"--redis\b(?!-)|redis://\S*@|valkey-cli.* (-a|--pass|-u)\b", RUNBOOK)


async def test_an_embedded_stores_backup_has_all_moves_acknowledged_before_it() -> None:
    with scratch_folder() as scratch:
        backups, fresh = scratch / "backups", scratch / "fresh"

        async def back_up(bots: RacingBots) -> None:
            await asyncio.to_thread(admin, bots.server_process.data, "backup", backups)

        async with racing_bots((SHORT, LONG), 40) as bots:
            over, running = await backed_up_in_mid_race(bots, back_up)
        (backup,) = backups.iterdir()
        await asyncio.to_thread(admin, fresh / "data", "restore", backup)
        async with running_server(folder=fresh) as server_process:
            async with open_store(f"unix://{server_process.store_socket}") as store:
                await check_finished_races(over, store)
                await check_running_races(running, store)
            assert (await server_process.get(PAGE))[1]["total"] == len(over)


@pytest.mark.needs("redis-cli")
async def test_an_external_stores_backup_has_all_moves_acknowledged_before_it() -> None:
    with open_valkey("safe", str(find_binary())) as valkey:
        tools = Tools(valkey)

        async def back_up(bots: RacingBots) -> None:
            await asyncio.to_thread(tools.back_up)

        async with racing_bots((SHORT, LONG), 40, valkey) as bots:
            over, running = await backed_up_in_mid_race(bots, back_up)
        await asyncio.to_thread(tools.restore)
        async with open_store(valkey.url) as store:
            await check_finished_races(over, store)
            await check_running_races(running, store)
        async with running_server("--redis", valkey.url) as server_process:
            assert (await server_process.get(PAGE))[1]["total"] == len(over)


class Tools:
    """Valkey's tools for a store, under the names that they have on a production machine."""

    def __init__(self, store: StoreServer) -> None:
        self.store = store
        self.backups = store.folder / "backups"
        self.settings = store.folder / "valkey.conf"
        tools = store.folder / "tools"
        tools.mkdir()
        # Redis's client can speak to Valkey, and a server started as `valkey-check-rdb` checks files
        (tools / "valkey-check-rdb").symlink_to(store.binary)
        client = tools / "valkey-cli"
        client.write_text(f'#!/bin/sh\nexec {program("redis-cli")} -s {store.socket} "$@"\n')
        client.chmod(0o755)
        self.environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"}
        (store.folder / "local.d").mkdir()
        text = replaced(
            self.settings.read_text(), ("/etc/valkey/local.d", f"{store.folder}/local.d")
        )
        self.settings.write_text(text)

    def run(self, *command: str) -> str:
        ran = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, (command, ran.stdout, ran.stderr)
        return ran.stdout

    def back_up(self) -> None:
        self.run(str(DEPLOY / "back-up-valkey.sh"), str(self.backups))

    def restore(self) -> None:
        """Run the restore commands of the runbook, one after another."""
        (backup,) = self.backups.iterdir()
        assert backup.stat().st_mode & 0o77 == 0
        (block,) = (each for each in re.findall(r"```\n(.*?)```", RUNBOOK, re.DOTALL)
                    if "appendonly no" in each)  # fmt: skip
        block = replaced(
            block,
            (r"\bBACKUP\b", str(backup)),
            (r"/var/lib/valkey", str(self.store.folder)),
            (r"/etc/valkey", str(self.store.folder)),
            (r" -o valkey -g valkey", ""),
            (r"sleep 1\b", "sleep 0.05"),
            (
                r"systemd-run .*/saratoga-server admin",
                f"{sys.executable} -m saratoga_server admin --redis {self.store.url}",
            ),
        )
        counted = []
        for line in block.splitlines():
            if line.startswith("systemctl"):
                self._control(line)
            else:
                printed = self.run("sh", "-c", line)
                counted += [printed] if line.endswith("dbsize") else []
                assert "close-all" not in line or printed.endswith("Tables closed: 2.\n")
        assert len(counted) == 2
        assert counted[0] == counted[1] != "0\n"

    def _control(self, line: str) -> None:
        """Start the store as systemd does, without a server."""
        _, verb, *units = line.split()
        if "valkey-server" not in units:
            return
        if verb in ("stop", "restart"):
            self.store.shut_down()
        if verb in ("start", "restart"):
            self.store.start_on(self.settings)


@pytest.mark.needs("redis-cli")
def test_a_backup_of_a_store_that_is_not_there_fails_and_deletes_nothing(tmp_path: Path) -> None:
    (tmp_path / "saratoga-20200101T000000Z.rdb").touch()
    os.utime(tmp_path / "saratoga-20200101T000000Z.rdb", (0, 0))
    failed = subprocess.run(
        [DEPLOY / "back-up-valkey.sh", tmp_path, "-s", tmp_path / "nothing"],
        capture_output=True,
        check=False,
    )
    assert failed.returncode != 0
    assert [path.name for path in tmp_path.iterdir()] == ["saratoga-20200101T000000Z.rdb"]


def with_fake_tools(folder: Path) -> dict[str, str]:
    """Return an environment with a tool that writes the password it got, in place of a snapshot."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / "valkey-cli").write_text('#!/bin/sh\nprintenv REDISCLI_AUTH > "$2"\n')
    (tools / "valkey-check-rdb").write_text("#!/bin/sh\n")
    for tool in tools.iterdir():
        tool.chmod(0o755)
    return {"PATH": f"{tools}:{os.environ['PATH']}"}


def backed_up_beside(folder: Path, names: list[str]) -> tuple[int, set[str]]:
    """Run the script where these backups are, all very old; return its exit code, and those that are left."""
    backups = folder / "backups"
    backups.mkdir()
    for name in names:
        (backups / name).touch()
        os.utime(backups / name, (0, 0))
    environment = with_fake_tools(folder) | {"REDISCLI_AUTH": "0a1b2c"}
    ran = subprocess.run([DEPLOY / "back-up-valkey.sh", backups], env=environment, check=False)
    [fresh] = [path for path in backups.iterdir() if path.name not in names]
    assert fresh.suffix == ".rdb"
    return ran.returncode, {path.name for path in backups.iterdir()} - {fresh.name}


def test_the_newest_14_backups_are_kept_however_old_they_are(tmp_path: Path) -> None:
    names = [f"saratoga-202001{day:02}T000000Z.rdb" for day in range(1, 21)]
    unfinished = ["saratoga-20200101T000000Z.rdb.unfinished"]
    assert backed_up_beside(tmp_path, [*names, *unfinished]) == (0, set(names[-13:]))


def test_nothing_is_deleted_while_a_backup_is_dated_in_the_future(tmp_path: Path) -> None:
    names = [f"saratoga-{year}0101T000000Z.rdb" for year in (*range(2001, 2021), 2999)]
    assert backed_up_beside(tmp_path, names) == (1, set(names))


def test_the_nightly_backup_reads_the_password_from_the_stores_settings(tmp_path: Path) -> None:
    """The files are where README.md says, and no unit's environment has the password."""
    settings = "/etc/valkey/local.d/local.conf"
    assert f"deploy/valkey/local.conf.example {settings} " in (DEPLOY / "README.md").read_text()
    own, script = tmp_path / "local.conf", tmp_path / "back-up-valkey"
    own.write_text("dir /var/lib/valkey\nrequirepass 0a1b2c\n")
    text = (DEPLOY / "back-up-valkey.sh").read_text()
    script.write_text(replaced(text, (re.escape(settings), str(own))))
    environment = with_fake_tools(tmp_path)
    subprocess.run(["sh", script, tmp_path / "backups"], env=environment, check=True)
    (backup,) = (tmp_path / "backups").iterdir()
    assert backup.read_text() == "0a1b2c\n"


async def backed_up_in_mid_race(
    bots: RacingBots, back_up: Callable[[RacingBots], Awaitable[None]]
) -> tuple[list[Notes], list[Notes]]:
    """Back up while one race is over and another runs; return the notes of both tables' players."""
    short, long = bots.tables
    await bots.until(lambda: all(player.notes.outcomes for player in short))
    async with asyncio.timeout(20):
        while (await bots.server_process.get(PAGE))[1]["total"] < len(short):
            pass  # requests of pages take some time
    await bots.until(lambda: any(len(player.notes.acknowledged) > 20 for player in long))
    known = [[known_now(player.notes) for player in table] for table in bots.tables]
    await back_up(bots)
    return known[0], known[1]


def known_now(notes: Notes) -> Notes:
    now = copy.copy(notes)
    now.acknowledged = list(notes.acknowledged)
    now.facts, now.outcomes = dict(notes.facts), dict(notes.outcomes)
    return now


async def check_finished_races(known: list[Notes], store: Store) -> None:
    """Check the record against all players' notes, and the leaderboard."""
    (race,) = known[0].outcomes
    code, _, number = race.partition("/")
    text = await store.tables.load_record(code, int(number))
    assert text is not None
    assert await asyncio.to_thread(disagreements, text, known) == []
    for result in parse_record(text).results:
        key = BoardKey(game=SHORT, ranking="bankroll", period="all", bots=True)
        row = await store.leaderboards.row(key, result.player)
        assert row is not None
        assert (row.races, row.value) == (1, result.net)


async def check_running_races(known: list[Notes], store: Store) -> None:
    """Check that every move acknowledged before the backup is stored at its position."""
    for notes in known:
        for race in {each.race for each in notes.acknowledged}:
            number = int(race.partition("/")[2])
            board = await store.boards.load_board(notes.code, number, notes.player)
            assert board is not None
            assert list(faults_of_open_board(board, notes.of_race(race))) == []
    assert any(len(notes.acknowledged) > 20 for notes in known)
