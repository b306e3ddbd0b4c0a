"""What can come between a program and the house."""

from typing import Final

from saratoga_protocol import events
from saratoga_protocol.refusals import WRONG_SUBPROTOCOL

STALE_ID: Final = "stale_id"
"""The refusal of a move that a later command has overtaken: it may be sent under another id.

It says for how many moves it is meant, so that it is not made twice.
"""


class CommandRefused(Exception):
    """The house said no, and changed nothing."""

    def __init__(self, refusal: events.Refused) -> None:
        super().__init__(refusal)
        self.refusal = refusal

    @property
    def code(self) -> str:
        """One of the closed list in `saratoga_protocol.refusals`."""
        return self.refusal.code

    @property
    def message(self) -> str:
        return self.refusal.message

    @property
    def retry(self) -> bool:
        """Whether the same may work later."""
        return self.refusal.retry

    @property
    def board(self) -> events.BoardView | None:
        """The present board, where the command was meant for another position."""
        return self.refusal.board

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class ServerClosed(Exception):
    """The house hung up and does not want this program back: close codes from 4500 on."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason

    @property
    def is_of_another_version(self) -> bool:
        """House and program have no subprotocol in common."""
        return self.code == WRONG_SUBPROTOCOL.code

    def __str__(self) -> str:
        return f"{self.reason} ({self.code})"


class Unreachable(Exception):
    """Nobody answers at that address, or nobody who speaks the protocol."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(url, reason)
        self.url = url
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.url}: {self.reason}"


class RequestTimedOut(Exception):
    """No answer came in time. The command may have been carried out all the same."""


class UnexpectedAnswer(Exception):
    """The house answered with another event than the protocol says."""


class DealSpent(Exception):
    """The deal that the house gathers for had its countdown: its nonces are known already.

    A nonce given for it once more would leave the house a choice of deals.
    """


class ClientClosed(Exception):
    """The program has closed its own connection."""
