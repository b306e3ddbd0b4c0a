"""`saratoga` without a command: the home, on the screen or in lines of text.

Only the chosen interface is imported, so lines of text do not wait for Textual.
"""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Final

import click

from saratoga_client.cli.frame import CommandGroup
from saratoga_client.cli.host import OwnServer
from saratoga_client.cli.options import in_lines, say_kept_name
from saratoga_client.local.hosting import local_server
from saratoga_client.local.settings import Settings, load, remember_server
from saratoga_client.local.terminal import this_terminal
from saratoga_client.net.connection import Connection
from saratoga_client.problems import Exit, Problem, alarmed_at_end
from saratoga_client.session.open_connection import open_connection

SHORT_HELP: Final = "All commands: saratoga --help. In lines of text: saratoga --plain."


def open_home(context: click.Context, flags: Mapping[str, object]) -> None:
    """Open the home; without a terminal print a short help instead. Raises `Problem`."""
    if not flags.get("plain") and not this_terminal().is_terminal:
        formatter = context.make_formatter()
        assert isinstance(context.command, CommandGroup)
        context.command.format_examples(context, formatter)
        click.echo(f"{formatter.getvalue()}\n{SHORT_HELP}")
        return
    settings = load().given(**flags)
    asyncio.run(_in_lines(settings) if in_lines(settings) else _on_screen(settings))


async def _in_lines(settings: Settings) -> None:
    from saratoga_client.plain.lobby import run_lobby
    from saratoga_client.plain.session import open_session

    session = open_session()
    async with OwnServer() as own, AsyncExitStack() as connections:

        async def connected(server: str) -> Connection:
            connection = await connections.enter_async_context(open_connection(server))
            remember_server(server)
            say_kept_name(connection.welcome.name)
            return connection

        async def connected_here() -> Connection:
            here = await own.open(local_server())
            session.friends = here.friends
            return await connected(here.own)

        connection = None
        try:
            connection = await connected(settings.server_url)
        except Problem as problem:
            # a named server that is away is an error of the command
            if settings.server or problem.code is not Exit.UNREACHABLE:
                raise
        try:
            with alarmed_at_end(session.alarms):
                await run_lobby(
                    connection, name=settings.name, session=session, open_here=connected_here
                )
        finally:
            own.session, own.ask = session.table, session.ask


async def _on_screen(settings: Settings) -> None:
    from saratoga_client.tui.app import open_screen
    from saratoga_client.tui.home import home_flow

    async with OwnServer() as own_server:
        await open_screen(home_flow(settings, own_server), settings)
