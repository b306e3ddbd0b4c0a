"""Table caches of two nodes on one store."""

import pytest

from kit.fake_store import FakeHouse
from kit.in_process_server import InventedTime
from kit.table_caches import Caches, CachingNode


@pytest.fixture
def caches() -> Caches:
    time = InventedTime()
    return Caches(FakeHouse(clock=time.millis), time)


@pytest.fixture
def fake(caches: Caches) -> FakeHouse:
    return caches.fake


@pytest.fixture
async def here(caches: Caches) -> CachingNode:
    return await caches.node()


@pytest.fixture
async def there(caches: Caches) -> CachingNode:
    return await caches.node()
