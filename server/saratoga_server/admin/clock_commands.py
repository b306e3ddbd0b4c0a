"""`saratoga-server admin accept-clock`: go on with the clock that the store has now."""

import asyncio
from contextlib import AsyncExitStack

import click

from saratoga_server.admin.acts import note_act
from saratoga_server.admin.commands import StoreAccess, administrator
from saratoga_server.admin.terminal import failure, say
from saratoga_server.embedded_store.append_files import FOLDER, MANIFEST
from saratoga_server.embedded_store.embedded import EmbeddedStore, running_store
from saratoga_server.embedded_store.store_folder import refuse_other_user
from saratoga_server.ports import Millis, StoreRefused, StoreUnavailable
from saratoga_server.store.clock_check import AHEAD, FIRST_MOMENT, shown
from saratoga_server.store.durability import Durability
from saratoga_server.store.keys import LEDGER
from saratoga_server.store.opening import open_store


@click.command("accept-clock")
@click.pass_obj
def accept_clock(access: StoreAccess) -> None:
    """Accept the store's clock, although newer data are stored, or only very old ones.

    Use it if the clock is right now: it was ahead before, and data were stored with that time, or no server
    ran for more than 400 days. The server then starts, or goes on by itself.
    """
    try:
        now, newest = asyncio.run(_accepted(access))
    except (StoreRefused, StoreUnavailable, OSError) as fault:
        raise failure(fault) from None
    if now < FIRST_MOMENT:
        raise failure(
            f"The store's clock shows {shown(now)}, which cannot be right. Set the clock of the "
            "store's machine."
        )
    if _fits(now, newest):
        say(f"There was nothing to do: the clock shows {shown(now)}, and fits the times stored.")
    else:
        say(
            f"The clock is accepted: it shows {shown(now)}. The newest time stored was "
            f"{shown(newest)}. Old data are not deleted in the next 90 days."
        )


async def _accepted(access: StoreAccess) -> tuple[Millis, Millis]:
    """Set the newest time of the ledger to the store's time; return the store's time, and the newest time before."""
    async with AsyncExitStack() as opened:
        url = access.redis
        if url is None:
            url = await _embedded(access, opened)
        store = await opened.enter_async_context(
            open_store(url, Durability.FAST, trust_store=True, is_guarded=False)
        )
        now, newest = await store.client.read("accept_clock", (), LEDGER)
        if now >= FIRST_MOMENT and not _fits(now, newest):
            detail = f"the newest time stored was {shown(newest)}"
            await note_act(store, administrator(), "accept-clock", "", detail)
        return Millis(now), Millis(newest)


def _fits(now: int, newest: int) -> bool:
    """True if a clock is accepted by a server already, with this newest time in the store."""
    return newest <= now and (now <= newest + AHEAD or newest < FIRST_MOMENT)


async def _embedded(access: StoreAccess, opened: AsyncExitStack) -> str:
    """Return the address of the running server's store; start the store if no server runs."""
    refuse_other_user(access.folder)
    try:
        return await opened.enter_async_context(running_store(access.folder))
    except StoreRefused:
        if not (access.folder / FOLDER / MANIFEST).exists():
            raise StoreRefused(
                f"{access.folder} has no store. Give the server's folder with --data, or its store with --redis."
            ) from None
        return await opened.enter_async_context(EmbeddedStore(access.folder))
