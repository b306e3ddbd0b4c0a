"""The flow from the lobby of one server to that of the next, one of them perhaps on this machine.

`lobby_flow` runs until the player quits. Each server that the player visits has one `LobbyFlow`.
"""

from typing import TYPE_CHECKING

from saratoga_client.local.hosting import local_server
from saratoga_client.local.settings import Settings
from saratoga_client.problems import Problem
from saratoga_client.session.join import TableWanted
from saratoga_client.tui.app import Flow, SaratogaApp
from saratoga_client.tui.lobby_flow import LobbyFlow
from saratoga_client.tui.lobby_steps import FirstTable, HostHere, Leaving, OtherServer, Quit

if TYPE_CHECKING:
    from saratoga_client.cli.own_server import OwnServer


def lobby_flow(settings: Settings, hosting: "OwnServer", notice: str = "") -> Flow:
    """Return the flow of the lobby; it returns when the player quits the program."""

    async def flow(app: SaratogaApp) -> None:
        at, shown = settings, notice
        first: FirstTable | None = None
        leaving: Leaving = await LobbyFlow(app, at, shown).run()
        while True:
            match leaving:
                case Quit():
                    return
                case OtherServer(server, code, is_watching):
                    at, shown = at.given(server=server), ""
                    first = FirstTable(code, is_watching) if code else None
                case HostHere(table):
                    first = None
                    shown, leaving = await _host_here(app, at, hosting, table)
                    if not isinstance(leaving, Quit):
                        continue
            leaving = await LobbyFlow(app, at, shown, first).run()

    return flow


async def _host_here(
    app: SaratogaApp, settings: Settings, hosting: "OwnServer", table: TableWanted
) -> tuple[str, Leaving]:
    """Open a table at a server on this machine; return a notice and the reason for leaving."""
    try:
        server = hosting.server or await hosting.open(local_server(report=app.show_progress))
        here = settings.given(server=server.own)
        own = hosting if server.is_ours else None
        first = FirstTable(table)
        leaving = await LobbyFlow(app, here, server.warning, first, own, server.friends).run()
    except Problem as problem:
        if others := hosting.still_here():
            return f"{problem} {others} Your server here stays open.", Quit()
        await hosting.close()
        return str(problem), Quit()
    await hosting.close()
    return "Your server on this machine has been closed." if server.is_ours else "", leaving
