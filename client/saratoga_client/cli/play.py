"""How the verbs that play begin: on the whole terminal, or in lines where it cannot redraw.

What is asked beforehand, and what goes wrong then, is said on the plain terminal.
"""

from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from saratoga_client.cli.options import Result, begin
from saratoga_client.local.settings import Settings
from saratoga_client.local.terminal import this_terminal
from saratoga_client.output import say
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.invitation import Destination, join_command


def in_lines(settings: Settings) -> bool:
    """Whether to play in lines of text; says why where nobody asked for it."""
    terminal = this_terminal()
    if settings.plain or not terminal.is_terminal:
        return True
    if not terminal.redraws:
        say(f"Playing in lines of text: {terminal.why_plain}.")
    return not terminal.redraws


def sit_down(
    settings: Settings, code: str, invitation: Sequence[str] = (), *, is_our_house: bool = False
) -> None:
    """Take a seat at a table and stay until it is given up. Raises `Problem`.

    `invitation` is what friends are sent; without one it is made for the house as it is reached here.
    A house of our own closes when this ends.
    """
    if in_lines(settings):
        begin(_sit_in_lines(settings, code))
        return
    code, lines = with_a_name(settings, partial(_seat, settings, code))
    from saratoga_client.tui.flows import at_table, open_screen

    try:
        open_screen(at_table(settings.server_url, code, invitation or lines), settings)
    except KeyboardInterrupt:
        _say_what_is_kept(settings, code, is_our_house=is_our_house)
        raise


def _say_what_is_kept(settings: Settings, code: str, *, is_our_house: bool) -> None:
    if is_our_house:
        say("The house closes with you. What was banked is kept in it; this opens it again:")
        say("  saratoga host")
        return
    say(f"Your seat at {code} is kept for a minute, and what you banked stays yours.")
    say("This goes back there:")
    say(f"  {join_command(Destination(code, settings.server_url))}")


def stand_beside(settings: Settings, code: str) -> None:
    """Watch a table on the whole terminal until one has seen enough. Raises `Problem`."""
    from saratoga_client.tui.flows import beside_table, open_screen

    open_screen(beside_table(settings.server_url, code), settings)


def with_a_name(settings: Settings, work: Callable[[str], Coroutine[Any, Any, Result]]) -> Result:
    """Do what needs a name at the house; where one is wanted, ask for it and do it again."""
    from saratoga_client.session.join import NameWanted, asked

    name = settings.name
    while True:
        try:
            return begin(work(name))
        except NameWanted as wanted:
            if wanted.why:
                say(wanted.why)
            name = asked(wanted.question)


async def _seat(settings: Settings, code: str, name: str) -> tuple[str, tuple[str, ...]]:
    """Have a name and a seat: where, and how friends come there.

    A race that goes on elsewhere is gone back to.
    """
    from saratoga_client.session.invitation import invitation_to
    from saratoga_client.session.join import freed, have_a_name, joined
    from saratoga_client.session.open_connection import open_connection

    async with open_connection(settings.server_url) as house:
        await have_a_name(house, name)
        if racing_at := await freed(house, code):
            say(f"You are in a race at {racing_at}; going back there.")
        table = await joined(house, racing_at or code)
        return table.code, await invitation_to(table, settings)


async def _sit_in_lines(settings: Settings, code: str) -> None:
    from saratoga_client.plain.lobby import ask_name, claim_name
    from saratoga_client.plain.session import open_session
    from saratoga_client.plain.table import play_table
    from saratoga_client.session.join import freed
    from saratoga_client.session.open_connection import open_connection

    # at the table, lines of the talk itself tell of the connection
    async with open_connection(settings.server_url, tells=False) as house:
        session = open_session()
        if house.welcome.name is None:
            is_named = settings.name and await claim_name(house, session, settings.name)
            if not is_named and await ask_name(house, session) is not None:
                raise Problem("Nobody sits down without a name.", "Say --name NAME.", Exit.USAGE)
        racing_at = await freed(house, code)
        if racing_at:
            session.output.write(f"seat: you are in a race at {racing_at}; going back there")
        await play_table(house, racing_at or code, session=session)
