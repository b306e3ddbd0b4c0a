"""A storm: every kind of fault once, while whole races run on real processes; and the audit finds a doubled move.

`make faults` injects a thousand faults with another seed each time. A storm that fails names its
seed and the injection; `PYTHONPATH=tests python -m kit.storm --seed ...` repeats it.
"""

import pytest
from redis import Redis

from kit.auditor import Auditor
from kit.racing_bots import racing_bots
from kit.storm import PARTS, Storm, run_storm
from saratoga_server.store.keys import race_key
from saratoga_server.store.opening import open_store

pytestmark = pytest.mark.long


async def test_faults_of_nodes_connections_and_store_lose_nothing_and_leak_nothing() -> None:
    assert await run_storm(Storm("short", sum(map(len, PARTS.values())))) == []


MOVES = 5
"""The number of moves that a racer has made before the race is audited."""


async def test_the_audit_finds_a_doubled_move() -> None:
    async with racing_bots(("canfield-aisleriot",), 60.0) as bots:
        [racers] = bots.tables
        await bots.until(
            lambda: (
                any(each.notes.outcomes for each in racers)
                and any(len(each.notes.acknowledged) > MOVES for each in racers)
            )
        )
        await bots.stop_racing()
        mover = max(racers, key=lambda each: len(each.notes.acknowledged)).notes
        with Redis(unix_socket_path=str(bots.server_process.store_socket)) as client:
            race = race_key(mover.code, 1)
            log = f"{race}:log:{mover.player}"
            entry = client.lindex(log, 1)
            assert isinstance(entry, bytes)
            client.linsert(log, "AFTER", entry, entry)
            client.hincrby(race, f"{mover.player}:length", 1)
        async with open_store(bots.store_url) as store:
            auditor = Auditor(bots.tables, store)
            await auditor.audit_all()
        assert any("is no command that the player sent" in fault for fault in auditor.faults)
