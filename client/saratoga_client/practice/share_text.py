"""The text about a practice run for friends; it names no card."""

from saratoga_client.local.printed_command import printed_command
from saratoga_client.practice.game import PracticeGame
from saratoga_client.sanitised import sanitised
from saratoga_client.wording import dollars, minutes_and_seconds


def practice_text(practice: PracticeGame, end: int) -> str:
    """Return the text about a run of `end` milliseconds, with the command that practises the same deal."""
    deal = practice.deal
    clean = "no undo, no hint" if practice.is_clean else _aids(practice.undos, practice.hints)
    lines = [
        f"Saratoga practice, {deal.game.title}, {deal.title}",
        f"{practice.banked} banked, {dollars(practice.net)} if it counted,"
        f" {'won ' if practice.is_won else ''}in {minutes_and_seconds(end)}, {clean}",
    ]
    if deal.seed:
        lines.append(f"Try it: {printed_command('practice', deal.game.name, '--seed', deal.seed)}")
    return "\n".join(map(sanitised, lines))


def _aids(undos: int, hints: int) -> str:
    parts = [
        f"{number} {noun}{'' if number == 1 else 's'}"
        for number, noun in ((undos, "undo"), (hints, "hint"))
        if number
    ]
    return " and ".join(parts)
