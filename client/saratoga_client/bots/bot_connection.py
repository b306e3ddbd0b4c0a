"""A bot on its way from this machine to a table: under which name, and with which token."""

import random
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from saratoga_client.bots.identities import NAMES, claimed, temper_of
from saratoga_client.bots.player import PACE, Report, TablePlayer
from saratoga_client.bots.strengths import CHOOSERS, Strength
from saratoga_client.local.key_files import UnusableToken
from saratoga_client.net.connection import Connection
from saratoga_client.net.unanswered import Draft
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.open_connection import check_address, open_connection
from saratoga_client.session.witness import Witness
from saratoga_protocol.commands import LeaveTable
from saratoga_protocol.events import AnyEvent, Snapshot

GOODBYE: Final = 1.0
"""Seconds to give up the seat, when the program is to end."""


class Visitor:
    """A bot that has sat down."""

    def __init__(self, house: Connection, code: str) -> None:
        self.house = house
        self.code = code
        """Of the table."""

    @property
    def name(self) -> str:
        return self.house.welcome.name or ""

    @property
    def player(self) -> str:
        return self.house.welcome.player

    async def play(
        self,
        strength: str,
        *,
        pace: float = PACE,
        races: int | None = None,
        starts_with: int | None = None,
        witness: Witness | None = None,
        on_event: Callable[[AnyEvent], None] = lambda event: None,
    ) -> Report:
        """Race until `races` are over, or for ever; as host, start when `starts_with` are ready."""
        player = TablePlayer(
            self.house,
            CHOOSERS[Strength(strength)],
            pace=pace,
            temper=temper_of(self.name),
            races=races,
            starts_with=starts_with,
            witness=witness,
            on_event=on_event,
        )
        return await player.stay()


@asynccontextmanager
async def seated_bot(
    server: str, sit_down: Draft, *, name: str | None = None, folder: Path | None = None
) -> AsyncIterator[Visitor]:
    """A bot that joins or creates a table, and gives the seat up in the end.

    Its name is the one given, or a free one of `NAMES`. Raises `Problem`.
    """
    async with AsyncExitStack() as stack:
        house = await _entered(stack, server, name, folder)
        if house.welcome.table is not None:
            # an earlier run ended without a goodbye
            await house.request(partial(LeaveTable, table=house.welcome.table))
        snapshot = await house.ask(sit_down, Snapshot)
        try:
            yield Visitor(house, snapshot.table.code)
        finally:
            await _leave(house)


async def _entered(
    stack: AsyncExitStack, server: str, name: str | None, folder: Path | None
) -> Connection:
    """A connection under a name that neither another process nor another player has."""
    check_address(server)
    names = [name] if name is not None else _own_names()
    for candidate in names:
        async with AsyncExitStack() as attempt:
            try:
                token = attempt.enter_context(claimed(candidate, server, folder))
            except UnusableToken as unusable:
                raise Problem(unusable.what, unusable.remedy, Exit.UNEXPECTED) from unusable
            if token is None:
                continue
            try:
                house = await attempt.enter_async_context(
                    open_connection(server, token=token, name=candidate, bot=True)
                )
            except Problem as problem:
                if problem.refusal == "name_taken" and name is None:
                    continue
                raise
            stack.push_async_exit(attempt.pop_all())
            return house
    if name is not None:
        raise Problem(
            f"The bot {name} is already at work on this machine.",
            "Send another with --name.",
            Exit.REFUSED,
        )
    raise Problem("Every bot's name is taken.", "Choose one with --name.", Exit.REFUSED)


def _own_names() -> list[str]:
    """Names in any order; behind them the same with numbers, for a house where all are taken."""
    drawn = random.sample(NAMES, len(NAMES))
    return drawn + [f"{name} {number}" for number in (2, 3) for name in drawn]


async def _leave(house: Connection) -> None:
    """Give the seat up, if there is still somebody to tell."""
    if house.seat is None:
        return
    with suppress(Exception):
        await house.request(partial(LeaveTable, table=house.seat), within=GOODBYE)
