"""The first commands on a new WebSocket: hello, then those that restore the seat and the subscriptions.

They are sent one by one; events that come between are received as at any other time.
"""

from typing import Final

from saratoga_client.net.errors import CommandRefused
from saratoga_client.net.requests import Requests
from saratoga_client.net.websocket import Socket, UnusableConnection
from saratoga_protocol.codec import Codec
from saratoga_protocol.commands import Command, Hello, JoinTable
from saratoga_protocol.events import Event, Refused, SeatLost, Welcome

SEAT_EXPIRED: Final = "You were disconnected for too long, so your seat was given up."
"""The reason of `SeatLost` if the server has freed the seat."""


class Greeting:
    """The greeting of a server on one WebSocket."""

    def __init__(self, socket: Socket, codec: Codec, requests: Requests) -> None:
        self._socket = socket
        self._codec = codec
        self._requests = requests

    async def say_hello(self, hello: Hello) -> Welcome:
        """Return the server's welcome; raises `CommandRefused`, or `UnusableConnection` for another answer."""
        welcome = await self._exchange(hello)
        if not isinstance(welcome, Welcome):
            raise UnusableConnection(f"{type(welcome).__name__} instead of Welcome")
        return welcome

    async def restore(self, welcome: Welcome) -> None:
        """Restore the seat and the subscriptions; deliver the event of the loss of those that are gone."""
        seat = self._requests.subscriptions.seat
        if seat is not None and seat != welcome.table:
            self._requests.receive(SeatLost(table=seat, reason=SEAT_EXPIRED))
        for draft in self._requests.subscriptions.restoring_commands():
            await self._restore(self._requests.number(draft))

    async def _restore(self, command: Command) -> None:
        try:
            answer = await self._exchange(command)
        except CommandRefused as refusal:
            if refusal.retry:
                raise UnusableConnection(refusal.message) from refusal
            if isinstance(command, JoinTable):
                self._requests.receive(SeatLost(table=command.table, reason=refusal.message))
        else:
            self._requests.subscriptions.command_answered(command, answer)
            self._requests.deliver(answer)

    async def _exchange(self, command: Command) -> Event:
        """Send one command and read events until its answer; raises `CommandRefused`."""
        await self._socket.send(self._codec.encode(command))
        while True:
            event = self._codec.decode_event(await self._socket.recv())
            if event.re != command.id:
                self._requests.receive(event)
            elif isinstance(event, Refused):
                raise CommandRefused(event)
            else:
                return event
