"""`saratoga host GAME`: a table for friends, in a house on this machine if no other is known."""

import asyncio
from contextlib import AsyncExitStack, suppress
from functools import partial

import click

from saratoga_client.cli.commands import ExampleCommand
from saratoga_client.cli.options import begin, play_options
from saratoga_client.cli.play import in_lines, sit_down, with_a_name
from saratoga_client.local.hosting import (
    EVERY_ADDRESS,
    THIS_MACHINE,
    LocalServer,
    friends_address,
    local_server,
)
from saratoga_client.local.origins import is_this_machine
from saratoga_client.local.setting_values import CAPS, FEWEST_SEATS, MOST_SEATS
from saratoga_client.local.settings import Settings, remember_last
from saratoga_client.local.terminal import this_terminal
from saratoga_client.output import say, write_line
from saratoga_client.session.invitation import Destination, join_command
from saratoga_client.session.join import TableWanted
from saratoga_client.session.open_connection import check_address
from saratoga_rules.games import GAMES


@click.command(
    cls=ExampleCommand,
    examples=(
        ("saratoga host canfield", "a house on this machine, for friends in its network"),
        ("saratoga host caprice --cap 20 --seats 4", "twenty minutes, four seats"),
        ("saratoga host lafayette --server wss://cards.example.org", "in a house that is open"),
        ("saratoga host canfield --public-url wss://cards.example.org", "... behind a proxy here"),
    ),
)
@click.argument("game", type=click.Choice(list(GAMES)), metavar="[GAME]", required=False)
@click.option(
    "--cap",
    type=click.Choice([str(cap) for cap in CAPS]),
    help="Minutes that a race may last; 0 is no limit, at private tables.  [default: as last]",
)
@click.option(
    "--seats",
    type=click.IntRange(FEWEST_SEATS, MOST_SEATS),
    default=MOST_SEATS,
    show_default=True,
    help="Seats.",
)
@click.option("--public", is_flag=True, help="Show the table to everybody in the house's lobby.")
@click.option(
    "--public-url",
    metavar="URL",
    help="How friends reach the house, if not by this machine's address in its network.",
)
@click.option(
    "-p",
    "--port",
    type=click.IntRange(1, 65535),
    help="Port of a house on this machine.  [default: 7470, or any that is free]",
)
@click.option(
    "--listen",
    type=click.Choice([EVERY_ADDRESS, THIS_MACHINE]),
    default=EVERY_ADDRESS,
    show_default=True,
    help="Where a house on this machine listens: in every network, or behind a proxy or tunnel here.",
)
@play_options
def command(
    game: str | None,
    cap: str | None,
    seats: int,
    public: bool,
    public_url: str | None,
    port: int | None,
    listen: str,
    settings: Settings,
) -> None:
    """Open a table for GAME and say how friends come in; without GAME, for the last one hosted.

    The house is the one that --server, the environment or the settings name. If none is named,
    this machine becomes the house: it keeps its tables and results between evenings, and it is
    open as long as you stay.
    """
    settings = settings.given(game=game, cap=None if cap is None else int(cap))
    table = TableWanted(game=settings.game, cap=settings.cap, seats=seats, public=public)
    remember_last(game=table.game, cap=table.cap)
    if public_url is not None:
        check_address(public_url)
    if settings.server:
        check_address(settings.server)
        friends = public_url or begin(friends_address(settings.server))
        if is_this_machine(friends):
            say(
                f"{friends} is for this machine alone. Let friends in with saratoga-server "
                "--host 0.0.0.0, or say with --public-url how they come."
            )
        host_at(settings, table, friends)
        return
    host_here(settings, table, public_url or "", port, listen)


def host_here(
    settings: Settings,
    table: TableWanted,
    public_url: str = "",
    port: int | None = None,
    listen: str = EVERY_ADDRESS,
) -> None:
    """Be the house, for as long as the host stays. Raises `Problem`."""
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        house = runner.run(stack.enter_async_context(local_server(public_url, port, listen=listen)))
        try:
            if house.is_ours:
                say("This machine is the house now: it is open as long as you stay.")
            if house.warning:
                say(house.warning)
            here = settings.given(server=house.own)
            code = host_at(here, table, house.friends, is_our_house=house.is_ours)
            if house.is_ours:
                _stay_for_friends(house, code)
        finally:
            with suppress(KeyboardInterrupt):
                runner.run(stack.aclose())


def host_at(
    settings: Settings, table: TableWanted, friends: str, *, is_our_house: bool = False
) -> str:
    """Open a table at the settings' house, invite, and sit there; returns its code."""
    code, lines = with_a_name(settings, partial(_opened, settings, table, friends))
    is_plain = in_lines(settings)
    write_line(f"invitation: table {code}" if is_plain else f"Your table is {code}. Friends type:")
    for line in lines:
        write_line(f"invitation: {line.strip()}" if is_plain else line)
    sit_down(settings, code, lines, is_our_house=is_our_house)
    return code


async def _opened(
    settings: Settings, wanted: TableWanted, friends: str, name: str
) -> tuple[str, tuple[str, ...]]:
    """Open the table: its code, and how friends come. A race of one's own that goes on is gone back to."""
    from saratoga_client.session.invitation import invitation_to
    from saratoga_client.session.join import freed, have_a_name, joined, opened
    from saratoga_client.session.open_connection import open_connection

    async with open_connection(settings.server_url) as house:
        await have_a_name(house, name)
        if racing_at := await freed(house):
            say(f"You are in a race at {racing_at}; going back there.")
            table = await joined(house, racing_at)
        else:
            table = await opened(house, wanted)
        return table.code, await invitation_to(table, settings, friends)


def _stay_for_friends(house: LocalServer, code: str) -> None:
    """Ask before friends lose their house; where nobody can be asked it closes."""
    others = begin(_others(house, code))
    if not others or not this_terminal().is_terminal:
        return
    names = " and ".join(filter(None, (", ".join(others[:-1]), others[-1])))
    verb = "is" if len(others) == 1 else "are"
    say(f"{names} {verb} still at {code}, and this machine is their house.")
    if click.confirm("Close it now?", default=False, err=True):
        return
    say("The house stays open until Ctrl-C. To come back, in another window:")
    say(f"  {join_command(Destination(code, house.own))}")
    with suppress(KeyboardInterrupt):
        begin(_for_ever())


async def _others(house: LocalServer, code: str) -> tuple[str, ...]:
    from saratoga_client.session.join import others_at
    from saratoga_client.session.open_connection import open_connection

    async with open_connection(house.own) as visit:
        return await others_at(visit, code)


async def _for_ever() -> None:
    await asyncio.get_running_loop().create_future()
