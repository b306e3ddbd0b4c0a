"""The events of one primary: the node subscribes first, then probes the subscription regularly."""

import asyncio

from kit.event_recorder import EventRecorder
from kit.stores import StoreServer
from saratoga_server.cancellation import cancel_all
from saratoga_server.messages.node_events import Announce, encode_node_event
from saratoga_server.store.primaries import open_primaries
from saratoga_server.store.subscriber import Subscriber


async def test_every_event_of_every_channel_is_received(store_server: StoreServer) -> None:
    primaries = await open_primaries(store_server.url, is_cluster=False)
    listener = EventRecorder("east")
    subscriber = Subscriber(primaries, primaries.all()[0], ["one", "two"], listener)
    running = asyncio.create_task(subscriber.run())
    try:
        await listener.until(lambda: subscriber.is_open)
        for channel in ("one", "two"):
            await primaries.all()[0].client.execute_command(
                "SPUBLISH", channel, encode_node_event(Announce(channel))
            )
            await listener.receives(Announce(channel))
        assert (listener.subscriptions, listener.nodes) == (1, 1), "the node itself is listening"
    finally:
        await cancel_all([running])
        await primaries.close()
    assert not subscriber.is_open
