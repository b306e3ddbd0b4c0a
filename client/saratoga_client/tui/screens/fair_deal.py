"""The page on a fair deal, shown over a table's screen: what was fixed before the race, and how it was checked."""

from collections.abc import Iterator
from typing import Final

from rich.console import Group, RenderableType

from saratoga_client.board_view.roles import Role
from saratoga_client.session.result_text import digest_words_of
from saratoga_client.session.state import SessionState
from saratoga_client.tui.base_screen import ReadingScreen
from saratoga_client.tui.widgets import Ink

NAME: Final = 26
"""Width of a name in cells."""


def short_hash(digits: str, dots: str = "…") -> str:
    """Return the first eight and last four digits of a hash, for players who compare it by voice.

    >>> short_hash("c0ffee" * 10)
    'c0ff eec0 … ffee'
    """
    return f"{digits[:4]} {digits[4:8]} {dots} {digits[-4:]}"


def grouped(digits: str, in_line: int) -> str:
    """Return a hash in groups of four digits, with `in_line` groups per line.

    >>> grouped("c0ffee" * 4, 3).split(chr(10))
    ['c0ff eec0 ffee', 'c0ff eec0 ffee']
    """
    groups = [digits[at : at + 4] for at in range(0, len(digits), 4)]
    lines = (groups[at : at + in_line] for at in range(0, len(groups), in_line))
    return "\n".join(" ".join(line) for line in lines)


def fair_deal_page(state: SessionState, dots: str, ink: Ink) -> RenderableType:
    """Return the page for the table's race."""
    return Group(
        ink.text(" THE FAIR DEAL", Role.LABEL),
        ink.indented(
            "The deal was fixed before anyone was ready, and every racer adds a secret number to it, so nobody"
            " can choose it or know it before the race. This is its fingerprint:"
        ),
        "",
        ink.indented(grouped(state.table.commitment, 8), left=3),
        *_racers(state, dots, ink),
        *_checks(state, ink),
    )


def _racers(state: SessionState, dots: str, ink: Ink) -> Iterator[RenderableType]:
    if not state.table.racers:
        return
    yield ""
    yield ink.text(" RACERS, each with the fingerprint of a secret number", Role.LABEL)
    grid = ink.grid(1, NAME, None)
    for racer in state.table.racers:
        grid.add_row("", ink.text(racer.name), ink.text(short_hash(racer.nonce_hash, dots)))
    yield grid


def _checks(state: SessionState, ink: Ink) -> Iterator[RenderableType]:
    outcome = state.table_view.outcome
    if outcome is None:
        yield ""
        yield ink.indented("After the race your program checks it all by itself.")
        return
    yield ""
    yield ink.text(" CHECKED", Role.LABEL)
    verified = state.verifications.get(outcome.race)
    yield ink.indented("The record has not come yet." if verified is None else verified.sentence)
    if words := digest_words_of(outcome):
        yield ink.indented(f"Your friends should have the same four words: {words}")


class FairDealScreen(ReadingScreen):
    """What was fixed before the race, and how it was checked."""

    CLOSING = "k"

    def __init__(self, state: SessionState) -> None:
        super().__init__()
        self._state = state

    def draw_page(self, ink: Ink) -> RenderableType:
        return fair_deal_page(self._state, self.symbols.dots, ink)

    def facts(self) -> list[str]:
        return [self._state.table.race, "fair deal"]
