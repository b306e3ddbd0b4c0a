"""News in memory: whoever listens hears at once, through the codec."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from saratoga_server.messages.node_events import (
    Here,
    NodeEvent,
    NodeEventListener,
    Standings,
    Stood,
    decode_node_event,
    encode_node_event,
)
from saratoga_server.ports import StoreUnavailable


def tell_all(ears: Sequence[NodeEventListener], nudge: NodeEvent) -> int:
    for ear in ears:
        ear.receive(decode_node_event(encode_node_event(nudge)))
    return len(ears)


class FakeNews:
    """`NewsStore` in memory."""

    def __init__(
        self, ears: list[NodeEventListener], reading: Callable[[], Awaitable[None]]
    ) -> None:
        """`ears` of every node; `reading` raises `StoreUnavailable` where a real store would."""
        self.ears = ears
        self.is_listening = False
        self._reading = reading

    async def publish(self, nudge: NodeEvent) -> int:
        await self._reading()
        return tell_all(self.ears, nudge)

    async def publish_standings(self, node: str, races: Mapping[str, Standings]) -> frozenset[str]:
        try:
            await self._reading()
        except StoreUnavailable:
            return frozenset(races)
        tell_all(self.ears, Stood(node, {race: dict(stood) for race, stood in races.items()}))
        return frozenset()

    async def listen(self, listener: NodeEventListener) -> None:
        self.ears.append(listener)
        try:
            tell_all(self.ears, Here(listener.node, 1))
            listener.counted(len(self.ears))
            self.is_listening = True
            await listener.subscribed()
            await asyncio.Event().wait()
        finally:
            self.is_listening = False
            if listener in self.ears:
                self.ears.remove(listener)
