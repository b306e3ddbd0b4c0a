"""What stands around the board in practice: a title that no race has, and the player's own counts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from rich.cells import cell_len

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.board_view.text_width import wrapped
from saratoga_client.board_view.title import title_facts
from saratoga_client.practice.game import PracticeGame
from saratoga_client.practice.ghost import Ghost, gap_text
from saratoga_client.review.times import clock
from saratoga_client.sanitised import sanitised
from saratoga_client.session.table_view import dollars
from saratoga_client.tui.pages.symbols import Signs
from saratoga_rules.money import CARD_PRIZE, PACK_PRICE

TAG: Final = " PRACTICE "
SIGN: Final = " nothing counts here "

Line: TypeAlias = tuple[str, Role]


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeStanding:
    """How a practice game stands at a moment."""

    practice: PracticeGame
    elapsed: int
    """Milliseconds since the deal was shown."""
    ghost: Ghost | None = None

    @property
    def even(self) -> int:
        """Cards with which the money would be even."""
        return PACK_PRICE * self.practice.game.packs // CARD_PRIZE


def practice_title(standing: PracticeStanding, width: int) -> Canvas:
    """One line in a colour of its own: what is practised, and for how long."""
    canvas = Canvas(width, 1, Role.PRACTICE)
    practice = standing.practice
    clean = "clean" if practice.is_clean else "helped"
    right = f"{clean}  {clock(standing.elapsed)} "
    end = width - cell_len(right)
    x = canvas.put(0, 0, TAG, Role.PRACTICE)
    facts = (practice.game.title, practice.dealt.title, *title_facts(practice.game, practice.view))
    for fact in map(sanitised, facts):
        if x + cell_len(fact) + 1 < end:
            x = canvas.put(x, 0, fact, Role.PRACTICE) + 2
    canvas.put(end, 0, right, Role.PRACTICE)
    return canvas


def practice_panel(standing: PracticeStanding, signs: Signs, width: int, height: int) -> Canvas:
    """The player alone: no rival, no place; as much of it as there is room for."""
    canvas = Canvas(width, height)
    practice = standing.practice
    canvas.put(1, 0, SIGN, Role.PRACTICE)
    canvas.put(1, 2, f"banked {practice.banked}/{practice.game.goal.cards}", Role.COUNT)
    _meter(canvas, standing, signs)
    sections = [_money(practice), _counts(practice), _ghost(standing)]
    y = 6
    for section in sections:
        lines = [(part, role) for text, role in section for part in wrapped(text, width - 2)]
        if lines and y + len(lines) <= height:
            for text, role in lines:
                canvas.put(1, y, text, role)
                y += 1
            y += 1
    return canvas


def practice_ticker(standing: PracticeStanding, width: int) -> Canvas:
    """The same in a line, where there is no room for a panel."""
    canvas = Canvas(width, 1)
    practice = standing.practice
    x = canvas.put(1, 0, f"banked {practice.banked}/{practice.game.goal.cards}", Role.COUNT)
    if standing.ghost is not None:
        words = gap_text(standing.ghost, practice.banked, standing.elapsed)
        x = canvas.put(x + 2, 0, words, Role.TEXT)
    canvas.put(x + 2, 0, "practice: nothing counts", Role.DIM)
    return canvas


def _meter(canvas: Canvas, standing: PracticeStanding, signs: Signs) -> None:
    practice, room = standing.practice, canvas.width - 2
    cards = practice.game.goal.cards
    filled = practice.banked * room // cards
    canvas.put(1, 3, signs.filled * filled, Role.BAR)
    canvas.put(1 + filled, 3, signs.rest * (room - filled), Role.BAR_REST)
    tick = 1 + standing.even * room // cards
    canvas.put(tick, 4, f"{signs.tick}{standing.even} = even", Role.TICK)


def _money(practice: PracticeGame) -> Sequence[Line]:
    return [(f"in a race: {dollars(practice.net)}", Role.DIM)]


def _counts(practice: PracticeGame) -> Iterator[Line]:
    yield f"moves {len(practice.made)}", Role.TEXT
    if practice.undone:
        yield f"to be made again {len(practice.undone)}", Role.DIM
    if practice.is_clean:
        yield "clean: no undo, no hint", Role.MONEY_UP
    else:
        yield f"undone {practice.undos}, hints {practice.hints}", Role.TEXT


def _ghost(standing: PracticeStanding) -> Iterator[Line]:
    ghost = standing.ghost
    if ghost is None:
        return
    banked = standing.practice.banked
    lead = banked - ghost.climb.banked_at(standing.elapsed)
    role = Role.MONEY_UP if lead > 0 else Role.MONEY_DOWN if lead < 0 else Role.TEXT
    yield "GHOST", Role.LABEL
    yield sanitised(ghost.words), Role.TEXT
    yield f"now {ghost.climb.banked_at(standing.elapsed)}, you {banked}", Role.TEXT
    yield gap_text(ghost, banked, standing.elapsed), role
    if standing.elapsed >= ghost.climb.end:
        yield f"it stopped at {clock(ghost.climb.end)}", Role.DIM
