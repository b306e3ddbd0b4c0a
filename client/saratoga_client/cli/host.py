"""`saratoga host GAME`: open a table for friends, by default on a server on this machine.

Before a server that this program has started closes, the player is asked if others are at the
table.
"""

import asyncio
import signal
from collections.abc import Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Final, Self

import click

from saratoga_client.cli.frame import example_command
from saratoga_client.cli.join import play_at
from saratoga_client.cli.options import play_options
from saratoga_client.local.hosting import (
    EVERY_ADDRESS,
    THIS_MACHINE,
    LocalServer,
    friends_address,
    local_server,
)
from saratoga_client.local.origins import check_address, is_this_machine
from saratoga_client.local.printed_command import host_command, table_command
from saratoga_client.local.settings import CAPS, MATCHES, Settings, last_choices, remember
from saratoga_client.local.terminal import this_terminal
from saratoga_client.net.connection import Connection
from saratoga_client.output import say
from saratoga_client.plain.session import ask
from saratoga_client.problems import Problem
from saratoga_client.session.join import kept_table, others_at
from saratoga_client.session.open_connection import open_connection
from saratoga_client.session.state import FEWEST_SEATS, MOST_SEATS
from saratoga_client.session.table_session import TableSession
from saratoga_client.wording import listed
from saratoga_protocol.events import TableSettings
from saratoga_rules.games import GAMES

STOPS: Final = "The server on this machine stops now; banked cards are kept. To start it again:"
STAYS: Final = "The server stays open until Ctrl-C. To return, in another window:"


@example_command(
    ("saratoga host klondike", "with a server on this machine, for friends in its network"),
    ("saratoga host caprice --cap 20 --seats 4", "twenty minutes, four seats"),
    ("saratoga host lafayette --server wss://cards.example.org", "at a running server"),
    ("saratoga host canfield --public-url wss://cards.example.org", "... behind a proxy here"),
)
@click.argument("game", type=click.Choice(list(GAMES)), metavar="[GAME]", required=False)
@click.option(
    "--cap",
    type=click.Choice(CAPS),
    help="Time limit in minutes; 0 = none (private tables only).  [default: last used]",
)
@click.option(
    "--seats",
    type=click.IntRange(FEWEST_SEATS, MOST_SEATS),
    default=MOST_SEATS,
    show_default=True,
    help="Number of seats.",
)
@click.option(
    "--races",
    type=click.Choice(MATCHES),
    help="Number of races of a match; 1 = no match.  [default: last used]",
)
@click.option("--public", is_flag=True, help="List the table in the server's lobby.")
@click.option(
    "--public-url",
    metavar="URL",
    help="The address by which friends reach the server.  [default: this machine's]",
)
@click.option(
    "-p",
    "--port",
    type=click.IntRange(1, 65535),
    help="Port of a server on this machine.  [default: the last one, 7470, or any free port]",
)
@click.option(
    "--listen",
    type=click.Choice([EVERY_ADDRESS, THIS_MACHINE]),
    default=EVERY_ADDRESS,
    show_default=True,
    help="Address at which a server on this machine listens; 127.0.0.1 behind a proxy or tunnel.",
)
@play_options
def command(
    game: str | None,
    cap: int | None,
    seats: int,
    races: int | None,
    public: bool,
    public_url: str | None,
    port: int | None,
    listen: str,
    settings: Settings,
) -> None:
    """Open a table for GAME and print the invitation; without GAME, for the game hosted last.

    The table is at the server that --server, SARATOGA_SERVER or the settings name. With --port, or
    if none is named, a server runs on this machine until you leave. Its tables and results are
    saved for the next time.
    """
    chosen = {"game": game, "cap": cap, "races": races}
    settings = settings.given(**chosen)
    table = TableSettings(
        game=settings.game, cap=settings.cap, seats=seats, public=public, races=settings.races
    )
    remember(game=table.game, cap=table.cap, races=table.races)
    if public_url is not None:
        check_address(public_url)
    asyncio.run(_host(settings, table, chosen, public_url or "", port, listen))


async def _host(
    settings: Settings,
    table: TableSettings,
    chosen: Mapping[str, object],
    public_url: str,
    port: int | None,
    listen: str,
) -> None:
    """Open the table at the server of the settings, or at one on this machine. Raises `Problem`."""
    async with OwnServer() as own:
        if settings.server and port is None:
            server = settings.server
            check_address(server)
            friends = public_url or await friends_address(server)
            if is_this_machine(friends):
                say(
                    f"{friends} can be reached from this machine only. To let friends in, start "
                    "the server with --host 0.0.0.0, or give its address with --public-url."
                )
        else:
            here = await own.open(local_server(public_url, port, listen=listen))
            server, friends = here.own, here.friends
            if here.is_ours:
                say("A server runs on this machine now, until you leave.")
            if here.warning:
                say(here.warning)
        async with open_connection(server, reports_link=False) as connection:
            place: str | TableSettings = table
            if own.server is not None:
                place = await table_here(connection, server, table, chosen)
            there = settings.given(server=server)
            await play_at(there, connection, place, friends=friends, own_server=own)


async def table_here(
    connection: Connection, server: str, wanted: TableSettings, chosen: Mapping[str, object]
) -> str | TableSettings:
    """Return the code of the table where the host has a seat or friends wait, or else `wanted`.

    It is `wanted`, too, for a host who has chosen another game, time limit or match for this run.
    """
    table = await kept_table(connection, last_choices().last_table_at(server))
    if table is None:
        return wanted
    if all(each in (None, getattr(table.settings, key)) for key, each in chosen.items()):
        say(f"You return to your table {table.code}.")
        return table.code
    if others := others_at(table, connection.player):
        back = table_command("join", table.code, server)
        say(
            f"Your table {table.code} is still open, with {listed(others)}. To return there: {back}"
        )
    return wanted


class OwnServer:
    """The server on this machine, if this program uses one; an asynchronous context manager.

    At its end the server is closed, if this program has started it. If other people are at the
    player's table, the player is asked first; without a terminal, or if the answer is no, the
    server stays until Ctrl-C. It does not stay after SIGTERM, SIGHUP or SIGQUIT, which raise
    `SystemExit`.
    """

    def __init__(self) -> None:
        self.server: LocalServer | None = None
        """The open server; `None` if there is none."""
        self.session: TableSession | None = None
        """The player's last table there."""
        self.ask = ask
        """How to ask the player: a plain session reads the answer itself."""
        self._stack = AsyncExitStack()

    @property
    def is_ours(self) -> bool:
        """True if a server is open that this program has started."""
        return self.server is not None and self.server.is_ours

    async def open(self, server: AbstractAsyncContextManager[LocalServer]) -> LocalServer:
        """Find or start the server; raises `Problem`."""
        self.session = None
        self.server = await self._stack.enter_async_context(server)
        return self.server

    async def close(self) -> None:
        """Close the server without a question."""
        self.server = None
        await self._stack.aclose()

    def still_here(self) -> str:
        """Return who else is at the player's table there, as a sentence; empty if nobody is.

        It is empty, too, if this program has not started the server.
        """
        if self.session is None or (state := self.session.state) is None or not self.is_ours:
            return ""
        others = others_at(state.table, state.player)
        if not others:
            return ""
        return (
            f"{listed(others)} {'is' if len(others) == 1 else 'are'} still at {state.table.code}."
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        server = self.server
        try:
            if server is not None and server.is_ours and not isinstance(error, SystemExit):
                if isinstance(error, asyncio.CancelledError) and (task := asyncio.current_task()):
                    # Ctrl-C without a screen: the error is raised again when the server may close
                    task.uncancel()
                await self._hold_open(server.own, error)
                if isinstance(error, KeyboardInterrupt | asyncio.CancelledError):
                    say(STOPS)
                    say(f"  {host_command(server.own)}")
        finally:
            await self.close()

    async def _hold_open(self, own: str, error: BaseException | None) -> None:
        """Keep the server open for the other people at the table, unless the player wants to close it."""
        others = self.still_here()
        if not others:
            return
        if isinstance(error, Problem):
            say(error.what)
        say(others)
        if this_terminal().is_terminal and await _until_ctrl_c(self._is_to_close()):
            return
        assert self.session is not None
        assert self.session.state is not None
        say(STAYS)
        say(f"  {table_command('join', self.session.state.table.code, own)}")
        await _until_ctrl_c(asyncio.Event().wait())

    async def _is_to_close(self) -> bool:
        return (await self.ask("Close the server now? [y/N]")).lower() in ("y", "yes")


async def _until_ctrl_c(work: Coroutine[None, None, bool]) -> bool:
    """Return the result of a coroutine; `False` if Ctrl-C or the end of the input ends it."""
    loop, before = asyncio.get_running_loop(), signal.getsignal(signal.SIGINT)
    task = asyncio.ensure_future(work)
    loop.add_signal_handler(signal.SIGINT, task.cancel)
    try:
        return await task
    except (asyncio.CancelledError, click.Abort):
        return False
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
