"""Bots that a player brings along: they sit down from this machine, and go with the program."""

from functools import partial
from typing import TYPE_CHECKING

from saratoga_protocol.commands import JoinTable

if TYPE_CHECKING:
    from saratoga_client.tui.table_flow import TableFlow


def bring_bot(visit: "TableFlow", strength: str) -> None:
    """Have a bot sit down and say ready whenever the table gathers."""
    visit.do(_be_guest(visit.server, visit.evening.table.code, strength))


async def _be_guest(server: str, code: str, strength: str) -> None:
    """Race as long as the table goes on; raises `Problem`."""
    from saratoga_client.bots.bot_connection import seated_bot

    async with seated_bot(server, partial(JoinTable, table=code)) as bot:
        await bot.play(strength)
