"""A backup taken while races go on, the store lost, the backup restored: nothing from before is missing."""

import asyncio
import copy
import re
from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import CliRunner

from kit.catastrophes import party
from kit.deployment import DEPLOY
from kit.house import open_house
from kit.race_audit import disagreements, faults_of_open_board
from kit.recorded_players import Notes
from kit.stores import SCRATCH, StoreServer
from saratoga_rules.record import parse_record
from saratoga_server.__main__ import main
from saratoga_server.embedded_store.process import find_binary
from saratoga_server.ports import BoardKey
from saratoga_server.store.opening import Store, open_store

SHORT, LONG = "canfield", "lady-palk"
"""Games whose races take a few seconds, and a few more."""
PAGE = f"/leaderboards/{SHORT}?ranking=bankroll&bots=true"


def admin(store: StoreServer, *words: str | Path) -> str:
    """As the runbook says it: the store's address stands in a file."""
    address = store.folder / "address"
    address.write_text(f"{store.url}\n")
    told = ["--redis-file", str(address), "admin", *map(str, words)]
    result = CliRunner().invoke(main, told)
    assert result.exit_code == 0, result.output
    return result.output


def open_store_in(folder: Path) -> StoreServer:
    folder.mkdir()
    store = StoreServer(str(find_binary()), folder)
    store.start()
    return store


def test_the_runbook_shows_the_password_to_nobody() -> None:
    """A program's words are read by everybody on the machine."""
    runbook = (DEPLOY / "RUNBOOK.md").read_text()
    assert runbook.count("saratoga-server --redis-file ") == 2
    assert not re.search(r"--redis\b(?!-)|redis://\S*@|valkey-cli.* (-a|--pass|-u)\b", runbook)


async def test_what_was_acknowledged_before_a_backup_is_there_after_a_restore() -> None:
    with TemporaryDirectory(prefix="saratoga-", dir=SCRATCH, ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        lost = open_store_in(folder / "lost")
        try:
            over, running = await backed_up_in_mid_race(lost, folder / "backups")
        finally:
            lost.kill()
        (backup,) = (folder / "backups").iterdir()
        fresh = open_store_in(folder / "fresh")
        try:
            told = await asyncio.to_thread(admin, fresh, "restore", backup)
            assert "keys restored" in told
            async with open_store(fresh.url) as store:
                await hold_what_is_over(over, store)
                await hold_what_runs(running, store)
            async with open_house("--redis", fresh.url) as house:
                assert (await house.get(PAGE))[1]["total"] == len(over)
        finally:
            fresh.kill()


async def backed_up_in_mid_race(
    store: StoreServer, folder: Path
) -> tuple[list[Notes], list[Notes]]:
    """Back up while one race is over and another runs; what everybody knew before that."""
    async with party((SHORT, LONG), 40, store) as guests:
        short, long = guests.tables
        await guests.until(lambda: all(player.notes.outcomes for player in short))
        async with asyncio.timeout(20):
            while (await guests.house.get(PAGE))[1]["total"] < len(short):
                pass  # the page itself takes its time
        await guests.until(lambda: any(len(player.notes.acknowledged) > 20 for player in long))
        known = [[known_now(player.notes) for player in table] for table in guests.tables]
        await asyncio.to_thread(admin, store, "backup", folder)
    return known[0], known[1]


def known_now(notes: Notes) -> Notes:
    now = copy.copy(notes)
    now.acknowledged = list(notes.acknowledged)
    now.outcomes = dict(notes.outcomes)
    return now


async def hold_what_is_over(known: list[Notes], store: Store) -> None:
    """The record, proved against what everybody saw, and the leaderboard."""
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


async def hold_what_runs(known: list[Notes], store: Store) -> None:
    """Every move that was acknowledged before the backup, at its place."""
    for notes in known:
        for race in {each.race for each in notes.acknowledged}:
            number = int(race.partition("/")[2])
            board = await store.boards.load_board(notes.code, number, notes.player)
            assert board is not None
            assert list(faults_of_open_board(board, notes.of_race(race))) == []
    assert any(len(notes.acknowledged) > 20 for notes in known)
