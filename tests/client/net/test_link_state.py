"""The states of the link to the server, as a connection goes through them."""

from kit.scripted_server import TOKEN, scripted_server
from saratoga_client.net.backoff import Backoff
from saratoga_client.net.connection import Connection
from saratoga_client.net.link_state import LinkState
from saratoga_protocol.events import Announcement

AT_ONCE = Backoff(first=0.0, largest=0.0, shortest=0.0)


async def test_a_connection_goes_through_every_state() -> None:
    states: list[LinkState] = []
    async with scripted_server() as server:
        connection = Connection(server.url, TOKEN, backoff=AT_ONCE, on_state=states.append)
        states.append(connection.state)
        async with connection:
            (await server.peer()).cut()
            await (await server.peer()).send(Announcement(text="connected again"))
            await anext(connection.events())
    assert list(dict.fromkeys(states)) == list(LinkState)
