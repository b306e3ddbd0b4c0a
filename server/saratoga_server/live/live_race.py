"""A running race on this node, with one board run for each racer."""

from dataclasses import dataclass, field

from msgspec.structs import replace

from saratoga_protocol.events import BoardChanged, BoardView, Standings
from saratoga_protocol.views import wire_view
from saratoga_rules.game import Game
from saratoga_rules.money import net
from saratoga_rules.position import Position
from saratoga_rules.records.heads import shown
from saratoga_rules.records.standing import RacerScore, ranking
from saratoga_server.domain.board import Board, analysis_of, open_board
from saratoga_server.domain.results import wire_standings
from saratoga_server.live.board_lock import BoardLock
from saratoga_server.ports import BEGINNING, LiveStanding, Millis


@dataclass(slots=True, eq=False)
class BoardRun:
    """One racer's part of a race: start, deadline, audience, standing and board.

    All runs of a race share start, deadline and audience.
    """

    player: str
    start_at: Millis
    deadline: Millis
    """The end of the run; 0: no deadline."""
    audience: str
    """The code of the table whose players and watchers are sent the standing."""
    standing: LiveStanding
    sent: LiveStanding | None = None
    """The standing that was last sent to the table at a tick; `None` if none was."""
    board: Board | None = None
    """The board, rebuilt from its log when first needed; `None` before."""
    active_at: Millis = BEGINNING
    """The time of the player's last sign of activity other than a move; 0: none."""
    stored_active_at: Millis = BEGINNING
    """The newest of these times that is known to be stored."""
    lock: BoardLock = field(default_factory=BoardLock)
    """The lock held while a move is judged, stored and applied."""

    @property
    def shown_head(self) -> str:
        """The head that others see: as last sent while count and state are, or it would show other moves."""
        sent, standing = self.sent, self.standing
        if sent and (sent.banked, sent.state) == (standing.banked, standing.state):
            return sent.head
        return standing.head

    @property
    def stored_sign(self) -> Millis:
        """The time of the newest stored sign of activity, or move; 0: none."""
        entries = () if self.board is None else self.board.log
        return max(self.stored_active_at, entries[-1].at if entries else BEGINNING)

    def is_out_of_time(self, now: Millis) -> bool:
        return bool(self.deadline) and now >= self.deadline


@dataclass(slots=True, eq=False)
class LiveRace:
    """A running race and the runs of its racers."""

    id: str
    code: str
    """The code of the table."""
    number: int
    game: Game
    key: bytes
    """The deal key."""
    opening: Position
    runs: dict[str, BoardRun]
    """The runs, by player."""
    is_dealt: bool = False
    """True if this node's racers have been sent the deal."""

    @property
    def is_over(self) -> bool:
        return all(run.standing.state.has_ended for run in self.runs.values())

    @property
    def last_racer(self) -> str:
        """The only player who still races in a race of several; empty if there is none."""
        racing = [run.player for run in self.runs.values() if not run.standing.state.has_ended]
        return racing[0] if len(racing) == 1 < len(self.runs) else ""

    def standings(self) -> Standings:
        """Return all racers' standings, in order of place."""
        placed = ranking(
            self.game,
            [
                RacerScore(
                    player=run.player,
                    banked=run.standing.banked,
                    state=run.standing.state,
                    reached=run.standing.reached,
                )
                for run in self.runs.values()
            ],
        )
        heads = {player: run.shown_head for player, run in self.runs.items()}
        return wire_standings(self.id, placed, heads)

    def next_standings(self) -> Standings:
        """Return the standings that are sent to the table at a tick."""
        for run in self.runs.values():
            run.sent = replace(run.standing, head=run.shown_head)
        return self.standings()

    def open_board(self, run: BoardRun) -> Board:
        """Return a racer's board with the deal and no moves."""
        return open_board(self.opening, run.start_at, self.key, self.id, run.player)

    def changed(
        self,
        board: Board,
        entries: range,
        *,
        legal: bool,
        re: int | None = None,
        repeat: bool = False,
    ) -> BoardChanged:
        """Return the event with a board and some entries of its log; `entries` are their indexes."""
        return BoardChanged(
            re=re,
            board=self.view(board, legal),
            place=entries.start + 1,
            entries=board.lines(entries),
            repeat=repeat,
        )

    def view(self, board: Board, legal: bool) -> BoardView:
        """Return a board as its own player may see it; `legal`: with the legal moves."""
        moves = None
        if legal:
            moves = (
                [move.text for move in analysis_of(self.game, board).legal_moves()]
                if board.racing
                else []
            )
        return BoardView(
            race=self.id,
            count=board.length,
            view=wire_view(board.position),
            banked=board.banked,
            net=net(self.game, board.banked),
            state=board.state,
            head=shown(board.head),
            legal=moves,
        )
