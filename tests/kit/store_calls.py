"""Store methods changed by a test, and the stored tables where a player has a seat."""

from collections.abc import Awaitable, Callable

from kit.in_process_server import InProcessServer
from saratoga_server.domain.tables import unpack
from saratoga_server.ports import StoreUnavailable


async def tables_of(server: InProcessServer, player: str) -> list[str]:
    """Return the codes of the stored tables where the player has a seat."""
    codes = sorted(await server.codes())
    return [code for code in codes if unpack((await server.stored(code))[1]).seat(player)]


def before_once(method: Callable[..., Awaitable[object]], first: Callable[[], Awaitable[object]]):  # type: ignore[no-untyped-def]
    """Return `method`, changed so that `first` runs before the first call."""
    waiting = [first]

    async def called(*args: object, **named: object) -> object:
        if waiting:
            await waiting.pop()()
        return await method(*args, **named)

    return called


def failing_after(method: Callable[..., Awaitable[object]], calls: int):  # type: ignore[no-untyped-def]
    """Return `method`, changed so that the store is unavailable after that many calls."""
    left = iter(range(calls))

    async def called(*args: object, **named: object) -> object:
        if next(left, None) is None:
            raise StoreUnavailable("the store does not answer")
        return await method(*args, **named)

    return called
