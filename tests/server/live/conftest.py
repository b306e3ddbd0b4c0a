"""Table caches of two nodes on one store."""

from collections.abc import AsyncIterator

import pytest

from kit.stepped_store import stepped_store
from kit.table_caches import Caches, CachingNode


@pytest.fixture
async def caches() -> AsyncIterator[Caches]:
    async with stepped_store() as store:
        yield Caches(store)


@pytest.fixture
async def here(caches: Caches) -> CachingNode:
    return await caches.node()


@pytest.fixture
async def there(caches: Caches) -> CachingNode:
    return await caches.node()
