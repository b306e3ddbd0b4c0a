"""News in memory: whoever listens hears at once, through the codec."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from saratoga_server.messages.node_events import (
    Here,
    NodeEvent,
    NodeEventListener,
    Stood,
    StoodAt,
    decode_node_event,
    encode_node_event,
)
from saratoga_server.ports import StoreUnavailable


def tell_all(ears: Sequence[NodeEventListener], nudge: NodeEvent) -> int:
    for ear in ears:
        ear.hear(decode_node_event(encode_node_event(nudge)))
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

    async def tell(self, nudge: NodeEvent) -> int:
        await self._reading()
        return tell_all(self.ears, nudge)

    async def tell_standings(
        self, node: str, races: Mapping[str, Sequence[StoodAt]]
    ) -> frozenset[str]:
        try:
            await self._reading()
        except StoreUnavailable:
            return frozenset(races)
        tell_all(self.ears, Stood(node, {race: list(stood) for race, stood in races.items()}))
        return frozenset()

    async def listen(self, ear: NodeEventListener) -> None:
        self.ears.append(ear)
        try:
            tell_all(self.ears, Here(ear.node, 1))
            ear.counted(len(self.ears))
            self.is_listening = True
            await ear.opened()
            await asyncio.Event().wait()
        finally:
            self.is_listening = False
            if ear in self.ears:
                self.ears.remove(ear)
