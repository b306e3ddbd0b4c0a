"""Bot hosts: the connections, at any node, that offer bots to tables.

Each node repeats the offers of its own connections every two seconds, as events between nodes. An
offer that is not repeated is dropped. So no offer is stored, and every node knows all of them.
"""

from typing import TYPE_CHECKING, Final

from saratoga_protocol import commands as wire
from saratoga_protocol.events import BotWanted, Done, TableChanged
from saratoga_server.domain.tables import CommandRejected
from saratoga_server.live.session import Session
from saratoga_server.ports import Millis
from saratoga_server.store.news import BotAsked, BotsOffered

if TYPE_CHECKING:
    from saratoga_server.node import Node

OFFER_LASTS: Final = 6_000
"""Milliseconds after which an offer that was not repeated is dropped."""


class BotHosts:
    """The offers of all bot hosts, and the connections of those at this node."""

    def __init__(self, node: "Node") -> None:
        self._node = node
        self._here: dict[str, tuple[Session, BotsOffered]] = {}
        """The connection and offer of each bot host at this node, by its player id."""
        self._offers: dict[str, tuple[BotsOffered, Millis]] = {}
        """The last offer of each bot host at any node, and when it came, by player id."""

    @property
    def levels(self) -> list[str]:
        """The strengths of the bots that can be added, as the bot hosts list them."""
        offers = (offer for offer, _ in self._offers.values())
        return list(dict.fromkeys(level for offer in offers for level in offer.levels))

    def receive(self, event: BotsOffered | BotAsked) -> None:
        """Note an offer of a bot host, or pass a request on to it if it is at this node."""
        if isinstance(event, BotsOffered):
            self.heard(event)
        else:
            self.deliver(event)

    # At the node of the bot host

    async def offer(self, session: Session, command: wire.OfferBots) -> Done:
        """Offer bots in place of this player's last offer. Raises `CommandRejected`."""
        if session.player not in (self._node.owner, self._node.own_bot_host):
            raise CommandRejected("owner_only")
        offer = BotsOffered(session.player, command.levels, command.free)
        self._here[session.player] = session, offer
        await self._node.store.events.publish(offer)
        return Done(re=command.id)

    async def withdraw(self, session: Session) -> None:
        """End the offer of a connection that is closed, if it has one."""
        if self._here.get(session.player, (None,))[0] is session:
            del self._here[session.player]
            await self._node.store.events.publish(BotsOffered(session.player, [], 0))

    def deliver(self, event: BotAsked) -> None:
        """Send the request to its bot host, if that is at this node."""
        if event.host in self._here:
            session, _ = self._here[event.host]
            session.send(BotWanted(table=event.table, level=event.level, key=event.key))

    # At every node

    async def repeat(self) -> None:
        """Repeat the offers of the connections here, and drop those that nobody repeats."""
        is_open = {host: each for host, each in self._here.items() if each[0].connection.is_open}
        self._here = is_open
        for _, offer in is_open.values():
            await self._node.store.events.publish(offer)
        before, since = self.levels, self._node.clock.now() - OFFER_LASTS
        self._offers = {host: each for host, each in self._offers.items() if each[1] >= since}
        self._show(before)

    def heard(self, offer: BotsOffered) -> None:
        """Note an offer of a bot host at any node."""
        before = self.levels
        self._offers[offer.host] = offer, self._node.clock.now()
        self._show(before)

    def _show(self, before: list[str]) -> None:
        """Send the tables here again if other bots can be added than before."""
        if self.levels == before:
            return
        for table in self._node.tables.all():
            changed = TableChanged(table=self._node.tables.view(table), now=self._node.clock.now())
            self._node.broadcaster.send_to_table(table.code, changed)

    async def ask(self, command: wire.AddBot) -> None:
        """Ask the bot host with the most free bots for one. Raises `CommandRejected`."""
        offers = [offer for offer, _ in self._offers.values() if command.level in offer.levels]
        if not self.levels:
            raise CommandRejected(
                "no_bots", "This server has no bots. Bring one yourself: saratoga bot CODE."
            )
        if not offers:
            raise CommandRejected("no_bots", f"Choose a bot that is {' or '.join(self.levels)}.")
        offer = max(offers, key=lambda each: each.free)
        if not offer.free:
            raise CommandRejected(
                "no_bots", "All bots of this server are playing. Remove one, or try again later."
            )
        asked = BotAsked(offer.host, command.table, command.level, command.key)
        await self._node.store.events.publish(asked)
