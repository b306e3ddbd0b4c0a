"""The page of a table before a race: the invitation, the seats, and the race's settings."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Group, RenderableType

from saratoga_client.board_view.roles import Role, money_role
from saratoga_client.local.origins import is_this_machine
from saratoga_client.session.match_text import race_of_match, totals_of
from saratoga_client.session.state import SessionState
from saratoga_client.session.voided import check_line, void_reason
from saratoga_client.text import fitted_name
from saratoga_client.tui.pages.symbols import PageSymbols
from saratoga_client.tui.rich_view import Ink
from saratoga_client.wording import cap_words, counted, dollars, game_title, match_words
from saratoga_protocol.events import Seat
from saratoga_rules.records.record import CLOSED


def short_hash(digits: str, dots: str = "…") -> str:
    """Return the first eight and last four digits of a hash, for players who compare it by voice.

    >>> short_hash("c0ffee" * 10)
    'c0ff eec0 … ffee'
    """
    return f"{digits[:4]} {digits[4:8]} {dots} {digits[-4:]}"


def grouped(digits: str, in_line: int = 0) -> str:
    """Return a hash in groups of four digits, with `in_line` groups per line; 0 is one line.

    >>> grouped("c0ffee" * 4, 3).split(chr(10))
    ['c0ff eec0 ffee', 'c0ff eec0 ffee']
    """
    groups = [digits[at : at + 4] for at in range(0, len(digits), 4)]
    step = in_line or len(groups) or 1
    lines = (groups[at : at + step] for at in range(0, len(groups), step))
    return "\n".join(" ".join(line) for line in lines)


NAME: Final = 26
"""Width of a name in cells, with the mark of a bot."""
MOST_ALARMS: Final = 2
"""Maximum number of alarms on a page; the program lists all of them when it ends."""
SEATS: Final = 52
"""Width of the list of seats in cells."""


def invitation_part(state: SessionState, invitation: Sequence[str], ink: Ink) -> RenderableType:
    """Return the alarms, if there are any, and the invitation for friends without its install line."""
    what, line, *_, command = invitation
    link = line.rpartition(" ")[2]
    code = ((" (", Role.TEXT), ("o", Role.KEY), (": QR code)", Role.TEXT))
    return Group(
        *alarms_part(state, ink),
        ink.line(
            (opened_by(link), Role.TEXT),
            (link, Role.YOU),
            # a phone cannot open an address of this machine
            *(() if is_this_machine(link) else code),
            (" or type", Role.TEXT),
        ),
        *(ink.indented(line.strip(), Role.TITLE, 3) for line in (what, command)),
    )


def opened_by(link: str) -> str:
    """Return the words before a table's link, which say who can open it."""
    return " Only on this machine: " if is_this_machine(link) else " Friends open "


def seats_part(state: SessionState, chosen: str, symbols: PageSymbols, ink: Ink) -> RenderableType:
    """Return the list of seats; `chosen` is the id of the player to mark for a kick, or empty.

    The heading is line 0, and each seat takes one line.
    """
    table = state.table
    totals = {seat.player: totals_of(table, state.match, seat) for seat in table.seats}
    grid = ink.grid(1, 2, NAME, 12, 5, 6)
    for seat in table.seats:
        is_you = seat.player == state.player
        sign = (
            symbols.away if not seat.connected else symbols.ready if seat.ready else symbols.waiting
        )
        races, wins, dollars_won = totals[seat.player]
        won, net = (f"{wins}/{races}", dollars(dollars_won)) if races else ("", "")
        grid.add_row(
            ink.text(symbols.mark if seat.player == chosen else "", Role.WARNING),
            ink.text(sign, Role.MONEY_UP if seat.ready else Role.DIM),
            ink.text(
                fitted_name(seat.name, seat.bot, seat.level, NAME, symbols.dots),
                Role.YOU if is_you else Role.TEXT,
            ),
            ink.text(", ".join(_states(state, seat)), Role.DIM),
            ink.text(won, Role.COUNT),
            ink.text(f"{net:>6}", money_role(dollars_won)),
        )
    heading = f" SEATS {len(table.seats)} of {table.settings.seats}"
    match = "" if table.settings.races == 1 else "match: "
    heads = f"{match}won     net" if any(each.races for each in totals.values()) else ""
    return Group(ink.text(f"{heading:<{SEATS - len(heads)}}{heads}", Role.LABEL), grid)


def _states(state: SessionState, seat: Seat) -> Iterator[str]:
    if seat.player == state.table.host:
        yield "host"
    if not seat.connected:
        yield "away"
    elif seat.blocked:
        yield "blocked"
    elif seat.ready:
        yield "ready"


def race_part(state: SessionState, symbols: PageSymbols, ink: Ink) -> RenderableType:
    """Return the settings of the next race, with their keys for the host, and the deal's fingerprint."""
    settings, is_host = state.table.settings, state.is_host
    race = race_of_match(state.table, state.match)
    rows = (
        ("g", game_title(settings.game)),
        ("c", cap_words(settings.cap)),
        ("p", "public" if settings.public else "private, by code"),
        ("+-", f"{settings.seats} seats"),
        ("m", f"match, {race}" if race else match_words(settings.races)),
        ("l", "locked to newcomers" if state.table.locked else "open to newcomers"),
    )
    number = state.table.race.rpartition("/")[2]
    grid = ink.grid(1, 3, None)
    for key, text in rows:
        mark = ink.text(key, Role.KEY) if is_host else ink.text(symbols.waiting, Role.DIM)
        grid.add_row("", mark, ink.text(text))
    return Group(
        ink.text(f" {(race or f'race {number}').upper()}", Role.LABEL),
        grid,
        "",
        ink.text(" THE DEAL IS FIXED", Role.LABEL),
        ink.text(f" {short_hash(state.table.commitment, symbols.dots)}"),
        ink.indented("its fingerprint, checked after the race", Role.DIM),
        *voided_part(state, ink),
    )


def alarms_part(state: SessionState, ink: Ink) -> Iterator[RenderableType]:
    """Return the latest alarms at this table, and an empty line; nothing without an alarm."""
    if not state.alarms:
        return
    earlier = len(state.alarms) - MOST_ALARMS
    heading = f" ALARM, and {counted(earlier, 'earlier alarm')}" if earlier > 0 else " ALARM"
    yield ink.text(heading, Role.ALARM)
    for alarm in state.alarms[-MOST_ALARMS:]:
        yield ink.indented(alarm, Role.ALARM)
    yield ""


def voided_part(state: SessionState, ink: Ink) -> Iterator[RenderableType]:
    """Return the race before this one if the server voided it, else nothing."""
    voided = state.table.previous
    if voided is None or not voided.reason:
        return
    yield ""
    yield ink.text(" VOIDED BY THE SERVER", Role.WARNING)
    number = voided.race.rpartition("/")[2]
    reason = void_reason(voided, state.table.seats)
    what = "counts for nothing" if voided.reason == CLOSED else "did not start"
    yield ink.indented(f"Race {number} {what}: {reason}.", Role.TEXT)
    yield ink.indented(check_line(voided.race, state.server), Role.DIM)
