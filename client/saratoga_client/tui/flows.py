"""How one comes to a screen: seated at a table, beside it, alone with a deal or with a record.

What a way needs is imported when it is taken: nobody who practises waits for the network's parts.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from saratoga_client.local import settings as choices
from saratoga_client.local.settings import Settings
from saratoga_client.local.terminal import Capabilities, this_terminal
from saratoga_client.problems import Problem
from saratoga_client.tui.app import Flow, SaratogaApp, run_errand
from saratoga_client.tui.appearance import Appearance

if TYPE_CHECKING:
    from saratoga_client.net.connection import Connection
    from saratoga_client.practice.deals import PracticeDeal
    from saratoga_client.session.state import SessionState
    from saratoga_client.session.table_session import TableSession
    from saratoga_client.tui.table_flow import TableFlow
    from saratoga_rules.records.record import RaceRecord


def open_screen(errand: Flow, settings: Settings) -> None:
    """Give the terminal to an errand; raises `Problem`, `KeyboardInterrupt`."""
    run_errand(errand, appearance_of(settings, this_terminal()), remember)


def appearance_of(settings: Settings, terminal: Capabilities) -> Appearance:
    """What was chosen, as far as the terminal can show it."""
    return Appearance(
        colours=terminal.colours,
        theme=settings.theme,
        ascii=not terminal.unicode if settings.ascii is None else settings.ascii,
        background=settings.background,
        suits=settings.suits,
        quick=settings.quick,
    )


def remember(key: str, value: str | bool | int) -> None:
    """Keep a choice made on the screen; where that cannot be, it holds until the end."""
    with suppress(Problem):
        choices.keep(key, value)


def at_table(server: str, code: str, invitation: Sequence[str] = ()) -> Flow:
    """Sit at a table until the seat is given up."""
    from saratoga_client.session.open_connection import open_connection

    async def errand(app: SaratogaApp) -> None:
        async with open_connection(server) as house:
            seated, visit = visit_of(app, house, invitation)
            await seated.sit_down(code)
            await visit.stay()

    return errand


def beside_table(server: str, code: str) -> Flow:
    """Watch a table until one has seen enough."""
    from saratoga_client.session.open_connection import open_connection

    async def errand(app: SaratogaApp) -> None:
        async with open_connection(server) as house:
            seated, visit = visit_of(app, house)
            await seated.watch(code)
            await visit.stay()

    return errand


def alone(dealt: "PracticeDeal", *, with_ghost: bool = False) -> Flow:
    """Practise, from this deal on."""
    from saratoga_client.tui.screens.practice import PracticeScreen

    async def errand(app: SaratogaApp) -> None:
        await app.push_screen_wait(PracticeScreen(dealt, with_ghost=with_ghost))

    return errand


def looking_back(record: "RaceRecord", player: str = "") -> Flow:
    """See a finished race again; raises `ReplayError` at a record that cannot be played."""
    from saratoga_client.tui.screens.review import ReviewScreen

    screen = ReviewScreen(record, player)

    async def errand(app: SaratogaApp) -> None:
        await app.push_screen_wait(screen)

    return errand


def visit_of(
    app: SaratogaApp, house: "Connection", invitation: Sequence[str] = ()
) -> tuple["TableSession", "TableFlow"]:
    """A seat that is yet to be taken, and the screens that will show it."""
    from saratoga_client.session.table_session import TableSession
    from saratoga_client.tui.table_flow import TableFlow

    seated = TableSession(house)

    def tell_from_now_on(tell: Callable[["SessionState"], None]) -> TableSession:
        seated.subscribe(tell)
        return seated

    visit = TableFlow(app, tell_from_now_on, invitation=invitation, server=house.url)
    return seated, visit
