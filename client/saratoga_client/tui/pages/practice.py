"""The title line, the panel and the one-line ticker of practice. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.draw import title_facts
from saratoga_client.board_view.roles import Role
from saratoga_client.practice.game import PracticeGame
from saratoga_client.practice.ghost import Ghost, gap_text
from saratoga_client.text import cells_of, wrapped
from saratoga_client.tui.pages.panel import draw_meter
from saratoga_client.tui.pages.symbols import PageSymbols
from saratoga_client.wording import dollars, minutes_and_seconds, money_meter

TAG: Final = " PRACTICE "
NOTICE: Final = " nothing counts here "

Line: TypeAlias = tuple[str, Role]


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeStanding:
    """The figures of a practice game at one moment."""

    practice: PracticeGame
    elapsed: int
    """Milliseconds since the deal was shown."""
    ghost: Ghost | None = None

    @property
    def content(self) -> tuple[object, ...]:
        """A value that changes whenever the drawing of the panel changes."""
        ghost = self.ghost
        if ghost is None:
            return (self.practice,)
        is_over = self.elapsed >= ghost.climb.end
        return (self.practice, ghost, ghost.climb.banked_at(self.elapsed), is_over)


def practice_title(standing: PracticeStanding, width: int) -> Canvas:
    """Draw the title line with game, deal and time, in a colour that races do not use."""
    canvas = Canvas(width, 1, Role.PRACTICE)
    practice = standing.practice
    clean = "clean" if practice.is_clean else "helped"
    right = f"{clean}  {minutes_and_seconds(standing.elapsed)} "
    end = width - cells_of(right)
    x = canvas.put(0, 0, TAG, Role.PRACTICE)
    facts = (practice.game.title, practice.deal.title, *title_facts(practice.game, practice.view))
    for fact in facts:
        if x + cells_of(fact) + 1 < end:
            x = canvas.put(x, 0, fact, Role.PRACTICE) + 2
    canvas.put(end, 0, right, Role.PRACTICE)
    return canvas


def practice_panel(
    standing: PracticeStanding, symbols: PageSymbols, width: int, height: int
) -> Canvas:
    """Draw the player's figures; omit each section that does not fit into the panel."""
    canvas = Canvas(width, height)
    practice = standing.practice
    canvas.put(1, 0, NOTICE, Role.PRACTICE)
    money = money_meter(practice.game, practice.banked)
    y = draw_meter(canvas, 1, 2, width - 2, money, symbols) + 1
    for section in (_money(practice), _counts(practice), _ghost(standing)):
        lines = [(part, role) for text, role in section for part in wrapped(text, width - 2)]
        if lines and y + len(lines) <= height:
            for text, role in lines:
                canvas.put(1, y, text, role)
                y += 1
            y += 1
    return canvas


def practice_ticker(standing: PracticeStanding, width: int) -> Canvas:
    """Draw the figures in one line, for screens that are too small for the panel."""
    canvas = Canvas(width, 1)
    practice = standing.practice
    x = canvas.put(1, 0, f"banked {practice.banked}/{practice.game.cards}", Role.COUNT)
    if standing.ghost is not None:
        text = gap_text(standing.ghost, practice.banked, standing.elapsed)
        x = canvas.put(x + 2, 0, text, Role.TEXT)
    canvas.put(x + 2, 0, "practice: nothing counts", Role.DIM)
    return canvas


def _money(practice: PracticeGame) -> Sequence[Line]:
    return [(f"in a race: {dollars(practice.net)}", Role.DIM)]


def _counts(practice: PracticeGame) -> Iterator[Line]:
    yield f"moves {len(practice.made)}", Role.TEXT
    if practice.undone:
        yield f"undone moves {len(practice.undone)}", Role.DIM
    if practice.is_clean:
        yield "clean: no undo, no hint", Role.MONEY_UP
    else:
        yield f"undos {practice.undos}, hints {practice.hints}", Role.TEXT


def _ghost(standing: PracticeStanding) -> Iterator[Line]:
    ghost = standing.ghost
    if ghost is None:
        return
    banked = standing.practice.banked
    lead = banked - ghost.climb.banked_at(standing.elapsed)
    role = Role.MONEY_UP if lead > 0 else Role.MONEY_DOWN if lead < 0 else Role.TEXT
    yield "GHOST", Role.LABEL
    yield ghost.words, Role.TEXT
    yield f"now {ghost.climb.banked_at(standing.elapsed)}, you {banked}", Role.TEXT
    yield gap_text(ghost, banked, standing.elapsed), role
    if standing.elapsed >= ghost.climb.end:
        yield f"stopped at {minutes_and_seconds(ghost.climb.end)}", Role.DIM
