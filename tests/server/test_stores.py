"""All ports of one store: an opened store provides each of them with all of its methods."""

import inspect
from typing import get_type_hints

from kit.stores import StoreServer
from saratoga_server.store.opening import open_store
from saratoga_server.stores import Stores


async def test_an_opened_store_provides_every_method_of_every_port(
    store_server: StoreServer,
) -> None:
    ports = {
        name: port
        for name, each in vars(Stores).items()
        if isinstance(each, property) and (port := get_type_hints(each.fget)["return"]) is not str
    }
    assert len(ports) == 9
    async with open_store(store_server.url) as store:
        for name, port in ports.items():
            methods = [each for each, _ in inspect.getmembers(port, inspect.isfunction)]
            assert methods, name
            for method in methods:
                if not method.startswith("_"):
                    assert callable(getattr(getattr(store, name), method)), (name, method)
