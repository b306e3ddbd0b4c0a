"""A storm: every kind of fault once, while whole races run on real processes; and the audit finds a doubled move.

`make faults` injects a thousand faults with another seed each time. A storm that fails names its
seed and the injection; `PYTHONPATH=tests python -m kit.storms.storm --seed ...` repeats it.
"""

import pytest
from redis import Redis

from kit.altered_server import QUICK
from kit.auditor import Auditor
from kit.storms.faults import PARTS
from kit.storms.installation import open_installation
from kit.storms.storm import Storm, run_storm
from saratoga_server.store.keys import race_key
from saratoga_server.store.opening import open_store

pytestmark = pytest.mark.long


async def test_faults_of_nodes_connections_and_store_lose_nothing_and_leak_nothing() -> None:
    assert await run_storm(Storm("short", sum(map(len, PARTS.values())))) == []


MOVES = 5
"""The number of moves that a racer has made before the race is audited."""


@pytest.mark.asyncio
async def test_the_audit_finds_a_doubled_move() -> None:
    async with open_installation(
        ["canfield-aisleriot"], nodes=1, pace=60.0, module=QUICK
    ) as installation:
        [racers] = installation.tables
        await installation.until(
            lambda: (
                any(each.notes.outcomes for each in racers)
                and any(len(each.notes.acknowledged) > MOVES for each in racers)
            )
        )
        await installation.stop_racing()
        mover = max(racers, key=lambda each: len(each.notes.acknowledged)).notes
        async with open_store(installation.store.url) as store:
            with Redis(unix_socket_path=str(installation.store.socket)) as client:
                race = race_key(mover.code, 1)
                log = f"{race}:log:{mover.player}"
                entry = client.lindex(log, 1)
                assert isinstance(entry, bytes)
                client.linsert(log, "AFTER", entry, entry)
                client.hincrby(race, f"{mover.player}:length", 1)
            auditor = Auditor(installation.tables, store)
            await auditor.audit_all()
            assert any("is no command that the player sent" in fault for fault in auditor.faults)
