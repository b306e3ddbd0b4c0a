"""Programs that host a table: the port and the invitation of their server, and its end."""

import asyncio
import re
import socket

from kit.tmux import Pane, Screen
from saratoga_client.local.hosting import is_server

INVITATION = re.compile(r"saratoga join (ws://[^/\s]+:(\d+)/[a-z]+-[a-z]+-\d\d)")
GONE_WITHIN = 30.0
"""Longest time in seconds for a server to stop; it drains for at most 20."""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


async def gone(port: int) -> bool:
    """Wait until no server answers at the port."""
    async with asyncio.timeout(GONE_WITHIN):
        while await is_server("127.0.0.1", port):
            pass
    return True


async def enter(pane: Pane, text: str) -> None:
    """Type a line and press Enter."""
    await pane.type(text)
    await pane.press("Enter")


async def start_race(host: Pane, friend: Pane, board: str) -> None:
    """Let both players get ready and the host start; wait until both screens show the text of a board."""
    for player in (host, friend):
        await player.press("r")
    await host.until(lambda screen: str(screen).count("✓") == 2)
    await host.press("s")
    for player in (host, friend):
        await player.until(board)


async def invitation(pane: Pane) -> tuple[str, int]:
    """Wait for the gathering page of a table with one player; return the invitation's URL and port."""

    def found(screen: Screen) -> re.Match[str] | None:
        return INVITATION.search(str(screen))

    match = found(await pane.until("SEATS 1 of 16", lambda screen: found(screen) is not None))
    assert match is not None
    return match[1], int(match[2])
