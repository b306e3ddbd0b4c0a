"""The flows of the terminal program: a table, practice, and the review of a finished race.

Each function imports its screens when called, so practice starts without the network's modules.
"""

from typing import TYPE_CHECKING

from saratoga_client.local.settings import Settings, remember
from saratoga_client.local.terminal import Capabilities, this_terminal
from saratoga_client.tui.app import Flow, SaratogaApp, run_flow
from saratoga_client.tui.appearance import Appearance

if TYPE_CHECKING:
    from saratoga_client.practice.deals import PracticeDeal
    from saratoga_client.session.invitation import Inviter
    from saratoga_client.session.table_session import TableSession
    from saratoga_rules.records.record import RaceRecord


async def open_screen(flow: Flow, settings: Settings) -> None:
    """Run a flow on the full screen until the flow returns; raises `Problem`, `KeyboardInterrupt`."""
    await run_flow(flow, appearance_of(settings, this_terminal()), remember)


def appearance_of(settings: Settings, terminal: Capabilities) -> Appearance:
    """Return the appearance that the player chose, within the terminal's capabilities."""
    return Appearance(
        colours=terminal.colours,
        theme=settings.theme,
        ascii=not terminal.unicode if settings.ascii is None else settings.ascii,
        background=settings.background,
        suits=settings.suits,
        quick=settings.quick,
    )


def table_flow(session: "TableSession", server: str, inviter: "Inviter | None" = None) -> Flow:
    """Return the flow of a player who sits at a table, or watches it, until the player leaves."""
    from saratoga_client.tui.table_flow import TableFlow

    async def flow(app: SaratogaApp) -> None:
        await TableFlow(app, session, inviter=inviter, server=server).stay()

    return flow


def practice_flow(dealt: "PracticeDeal", *, with_ghost: bool = False) -> Flow:
    """Return the flow of practice with a deal."""
    from saratoga_client.tui.screens.practice import PracticeScreen

    async def flow(app: SaratogaApp) -> None:
        await app.push_screen_wait(PracticeScreen(dealt, with_ghost=with_ghost))

    return flow


def review_flow(record: "RaceRecord", player: str = "", server: str = "") -> Flow:
    """Return the flow of a finished race's review; raises `ReplayError` for a bad record.

    `server` is the address by which friends reach the server that has the record, if known.
    """
    from saratoga_client.review.boards import open_boards
    from saratoga_client.review.share_text import race_text
    from saratoga_client.tui.screens.review import ReviewScreen

    share = race_text(record, open_boards(record), player, server)
    screen = ReviewScreen(record, player, share=share)

    async def flow(app: SaratogaApp) -> None:
        await app.push_screen_wait(screen)

    return flow
