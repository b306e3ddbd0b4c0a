"""`saratoga` without a command: the lobby, on the screen or in lines of text.

Only the chosen interface is imported, so lines of text do not wait for Textual.
"""

import asyncio
from collections.abc import Mapping
from typing import Final

import click

from saratoga_client.cli.frame import CommandGroup
from saratoga_client.cli.options import in_lines
from saratoga_client.local.settings import Settings, load, remember_server
from saratoga_client.local.terminal import this_terminal
from saratoga_client.problems import alarmed_at_end
from saratoga_client.session.open_connection import open_connection

SHORT_HELP: Final = "All commands: saratoga --help. The lobby as lines of text: saratoga --plain."


def open_lobby(context: click.Context, flags: Mapping[str, object]) -> None:
    """Open the lobby; without a terminal print a short help instead. Raises `Problem`."""
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

    async with open_connection(settings.server_url) as connection:
        remember_server(settings.server_url)
        session = open_session()
        with alarmed_at_end(session.alarms):
            await run_lobby(connection, name=settings.name, session=session)


async def _on_screen(settings: Settings) -> None:
    from saratoga_client.cli.host import OwnServer
    from saratoga_client.tui.app import open_screen
    from saratoga_client.tui.lobby import lobby_flow

    async with OwnServer() as own_server:
        await open_screen(lobby_flow(settings, own_server), settings)
