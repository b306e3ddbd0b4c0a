"""The audit log, on every kind of store."""

from kit.running_race import AnyStore


async def test_acts_are_read_newest_first(store: AnyStore) -> None:
    acts = [{"act": "ban", "player": "anna"}, {"act": "close"}, {"act": "close"}, {"act": "void"}]
    for act in acts:
        await store.audit.append(act)
    assert await store.audit.read(10) == acts[::-1]
    assert await store.audit.read(2) == acts[:1:-1]
    assert await store.audit.read(0) == []
