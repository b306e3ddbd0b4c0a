"""Protocol classes between the screens and the program that shows them.

Screens import this module and never a flow or the app. The app implements `Program`, the table flow
`TableControls`, and the lobby flow `LobbyActions`.
"""

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from saratoga_client.session.state import SessionState
from saratoga_client.tui.appearance import Appearance
from saratoga_client.tui.colours import Paint
from saratoga_rules.game import Game
from saratoga_rules.moves import Move
from saratoga_rules.records.record import RaceRecord

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from saratoga_client.local.hosting import LocalServer
    from saratoga_client.local.server_process import Person
    from saratoga_client.session.join import TableWanted
    from saratoga_client.tui.pages.findings import Findings


class Program(Protocol):
    """The app, as the screens see it."""

    appearance: Appearance

    @property
    def colours(self) -> Paint:
        """The style of each role in the current theme."""
        ...

    def next_theme(self) -> str:
        """Change to the next colour theme and return its name."""
        ...

    def other_suits(self, game: Game) -> str:
        """Switch a game's suits between two and four colours and return the new number as a word."""
        ...


@runtime_checkable
class Themed(Protocol):
    """A widget that is painted in the theme's colours."""

    def dress(self, colours: Paint) -> None:
        """Change the colours."""
        ...


class SeatActions(Protocol):
    """The state of a table and a player's commands there; `TableSession` implements this class."""

    @property
    def state(self) -> SessionState | None: ...
    def now(self) -> int: ...
    def subscribe(self, observer: Callable[[SessionState], None]) -> Callable[[], None]: ...
    async def attend(self) -> None: ...
    def note_activity(self) -> None: ...
    def play(self, move: Move) -> bool: ...
    async def cash_out(self) -> None: ...
    async def record(self, race: str) -> RaceRecord: ...
    async def ready(self) -> None: ...
    async def not_ready(self) -> None: ...
    async def start(self) -> None: ...
    async def end_race(self) -> None: ...
    async def next_race(self) -> None: ...
    async def change_settings(
        self,
        *,
        game: str | None = None,
        cap: int | None = None,
        seats: int | None = None,
        public: bool | None = None,
        races: int | None = None,
    ) -> None: ...
    async def kick(self, player: str) -> None: ...
    async def allow_ready(self, player: str) -> None: ...
    async def lock(self, locked: bool) -> None: ...
    async def leave(self) -> bool: ...


class TableControls(Protocol):
    """The actions and data that a screen at a table may use."""

    @property
    def app(self) -> Program: ...

    @property
    def seat(self) -> SeatActions: ...

    @property
    def state(self) -> SessionState:
        """The current state of the table session."""
        ...

    @property
    def friends_server(self) -> str:
        """The address by which friends reach the server."""
        ...

    @property
    def invitation_lines(self) -> Sequence[str]:
        """The lines of the invitation to this table."""
        ...

    def now(self) -> int:
        """Return the server's time in milliseconds since 1970."""
        ...

    def do(self, action: Coroutine[Any, Any, Any]) -> None:
        """Run a command in the background; a `Problem` appears on the message line."""
        ...

    def bring_bot(self, strength: str) -> None:
        """Seat a bot that runs in this program; it leaves the table with the player."""
        ...

    def help(self) -> None:
        """Open the help over the current screen."""
        ...

    def show_invitation(self) -> None:
        """Open the link for browsers with its QR code over the current screen."""
        ...

    def review(self, findings: "Findings") -> None:
        """Open all boards of the finished race over the current screen."""
        ...

    def leave(self) -> None:
        """Give up the seat, or stop watching."""
        ...


class Hosting(Protocol):
    """The server on this machine that the program has started, if any; it outlives the screens.

    When the program ends, it asks before it closes the server while other people are on it.
    """

    code: str
    """The player's last table there."""

    @property
    def server(self) -> "LocalServer | None":
        """The open server; `None` if there is none."""
        ...

    async def open(self, server: "AbstractAsyncContextManager[LocalServer]") -> "LocalServer":
        """Find or start the server; raises `Problem`."""
        ...

    async def close(self) -> None:
        """Close the server without a question."""
        ...

    async def others(self) -> "tuple[Person, ...]":
        """Return the other people on the server."""
        ...


class LobbyActions(Protocol):
    """The actions that the lobby's screen may use.

    Each action shows its result in the lobby, or opens another screen.
    """

    def take_name(self, name: str) -> None: ...
    def join(self, text: str) -> None: ...
    def watch(self, text: str) -> None: ...
    def open_table(self, table: "TableWanted") -> None: ...
    def look_here(self) -> None: ...
    def host_here(self, table: "TableWanted") -> None: ...
    def go_to_server(self, text: str) -> None: ...
    def practise(self, game: str) -> None: ...
    def quit(self) -> None: ...
