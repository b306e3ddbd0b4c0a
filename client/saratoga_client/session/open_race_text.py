"""What is said about an open race, on the screen and in plain lines. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from saratoga_client.session.history import Raced
from saratoga_client.session.open_race import ended, own_result
from saratoga_client.wording import (
    counted,
    dollars,
    duration_text,
    game_title,
    ordinal,
    shown_name,
    state_words,
)
from saratoga_protocol.events import OpenRace, OpenResult
from saratoga_protocol.visible_text import sanitised

DOTTED: Final = 16
"""The most people of whom a histogram shows each as a dot."""
WIDEST: Final = 24
BIN: Final = 5
"""The number of counts in a line of the histogram."""
LAST: Final = 30
"""The number of last races whose average is shown."""

SEALED: Final = "The deal stays sealed until the race closes. Until then places and counts are the server's word."
PRACTICE_DAY: Final = "No server answers, so this is practice: a deal by date, which nobody judges."


def have_run(race: OpenRace) -> str:
    """Return how many have run the race."""
    if not race.entrants:
        return "nobody has run it yet"
    return "1 has run it" if race.entrants == 1 else f"{race.entrants} have run it"


def title(race: OpenRace) -> str:
    """Return what the race is: `Klondike of 2026-11-28`, or `Anna's challenge: Klondike`."""
    game = game_title(race.game)
    return (
        f"{game} of {race.id.rpartition('/')[2]}"
        if race.kind == "day"
        else f"{race.by}'s challenge: {game}"
    )


def about(race: OpenRace, player: str) -> str:
    """Return a line on the race before or after the player's run."""
    parts = [have_run(race)]
    if race.mine == "racing":
        parts = ["your run is on"]
    elif (own := own_result(race, player)) is not None:
        parts = [f"you: {placed(own)}{counted(own.banked)}", *parts]
    if race.streak > 1:
        parts.append(f"{race.streak} days in a row")
    return "; ".join(parts)


def placed(result: OpenResult) -> str:
    """Return the place of a result before other words; nothing for the unranked."""
    return f"{ordinal(result.place)} with " if result.place else ""


def headline(race: OpenRace, player: str) -> str:
    """Return how the player's run went."""
    own, ranked = own_result(race, player), [each for each in ended(race) if each.place]
    if own is None:
        return f"{len(ended(race))} runs" if race.digest else "Your run has not ended."
    place = (
        f" {ordinal(own.place)} of {len(ranked)}{'' if race.digest else ' so far'}."
        if own.place
        else ""
    )
    return f"You banked {counted(own.banked)}, {dollars(own.net)}.{place}"


def notes(race: OpenRace, player: str) -> Iterator[str]:
    """Yield sentences below the results."""
    own = own_result(race, player)
    if own is not None and own.young:
        yield "You are new here today, so you have no place; from tomorrow on you have."
    if race.kind == "day" and race.streak:
        yield f"Your streak: {counted(race.streak, 'day')}."
    if not race.digest:
        yield SEALED


def histogram(counts: Sequence[int], own: int | None) -> list[tuple[str, str, bool]]:
    """Return the lines of a histogram of banked cards: counts, signs, and whether the own count is among them.

    A sign is a person up to sixteen people; above, the longest line has `WIDEST` signs.
    """
    bins = [sum(counts[first : first + BIN]) for first in range(0, len(counts), BIN)]
    scale = 1.0 if sum(counts) <= DOTTED else min(1.0, WIDEST / max(bins))
    sign = "●" if sum(counts) <= DOTTED else "▇"
    return [
        (
            f"{at * BIN}-{at * BIN + BIN - 1}",
            sign * max(round(number * scale), min(number, 1)),
            own is not None and own // BIN == at,
        )
        for at, number in enumerate(bins)
    ]


def result_line(result: OpenResult) -> str:
    """Return a result in a line of text."""
    place = f"{result.place}." if result.place else "-"
    name = shown_name(result.name, result.bot)
    if result.state == "racing":
        return f"{place} {name}: still running"
    return f"{place} {name}: {counted(result.banked)}, {dollars(result.net)}, {state_words(result.state)} after {duration_text(result.elapsed)}"


def share(race: OpenRace, player: str, link: str) -> str:
    """Return three lines for friends, without a card of the deal."""
    own, ranked = own_result(race, player), [each for each in ended(race) if each.place]
    if own is None:
        return f"{title(race)}\n{link}"
    top = max((each.banked for each in ended(race)), default=0) or 1
    bar = "▇" * -(-10 * own.banked // top)
    place = f", {ordinal(own.place)} of {len(ranked)}" if own.place and len(ranked) > 1 else ""
    streak = f", {race.streak} days in a row" if race.streak > 1 else ""
    lines = (f"Saratoga, {title(race)}", f"{own.banked} {bar}{place}{streak}", link)
    return "\n".join(map(sanitised, lines))


def link(race: OpenRace, server: str) -> str:
    """Return the address of the race's page."""
    path = race.id if race.kind == "day" else f"c/{race.id}"
    return f"http{server.removeprefix('ws').rstrip('/')}/{path}"


def own_history(races: Sequence[Raced]) -> list[tuple[str, ...]]:
    """Return the player's history on this machine, a row a game: title, races, won, best, average of the last."""
    rows: list[tuple[str, ...]] = []
    for game in dict.fromkeys(each.game for each in races):
        mine = [each for each in races if each.game == game]
        won = sum(each.place == 1 and bool(each.rivals) for each in mine)
        last = [each.banked for each in mine[:LAST]]
        rows.append(
            (
                game_title(game),
                f"{len(mine)}",
                f"{won}",
                f"{max(each.banked for each in mine)}",
                f"{sum(last) / len(last):.1f}",
            )
        )
    return rows
