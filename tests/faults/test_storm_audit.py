"""The audit of a storm finds a move that is stored twice: its positive control."""

import pytest
from redis import Redis

from kit.altered_server import QUICK
from kit.rankings import settled
from kit.storms.auditor import Auditor
from kit.storms.installation import open_installation
from saratoga_server.store.keys import race_key
from saratoga_server.store.opening import open_store

MOVES = 5
"""The number of moves that a racer has made before the race is audited."""


@pytest.mark.asyncio
async def test_the_audit_finds_a_doubled_move() -> None:
    async with open_installation(
        ["canfield-aisleriot"], nodes=1, pace=60.0, module=QUICK
    ) as installation:
        [racers] = installation.tables
        await installation.until(
            "the race is over",
            lambda: (
                any(each.notes.outcomes for each in racers)
                and any(len(each.notes.acknowledged) > MOVES for each in racers)
            ),
        )
        await installation.stop_racing()
        mover = max(racers, key=lambda each: len(each.notes.acknowledged)).notes
        async with open_store(installation.store_url) as store:
            assert await settled(store)
            with Redis(unix_socket_path=str(installation.store.socket)) as client:
                race = race_key(mover.code, 1)
                log = f"{race}:log:{mover.player}"
                entry = client.lindex(log, 1)
                assert isinstance(entry, bytes)
                client.linsert(log, "AFTER", entry, entry)
                client.hincrby(race, f"{mover.player}:length", 1)
            auditor = Auditor(installation, store)
            await auditor.audit_all()
            assert any("carried out twice" in fault for fault in auditor.faults)
