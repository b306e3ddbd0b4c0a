"""`saratoga replay RACE|FILE`: step through a finished race."""

from pathlib import Path

import click

from saratoga_client.commands.group import ExampleCommand
from saratoga_client.commands.options import sight_options
from saratoga_client.commands.verify import record_of
from saratoga_client.problems import Exit, Problem
from saratoga_client.settings import Settings
from saratoga_rules.lines import RecordError
from saratoga_rules.record import RaceRecord, parse_record


@click.command(
    cls=ExampleCommand,
    examples=(
        ("saratoga replay mint-otter-42/3", "every board of the race, move by move"),
        ("saratoga replay evening.record", "from a file that was kept"),
        ("saratoga replay mint-otter-42/3 --plain", "one move a line"),
    ),
)
@click.argument("race_or_file", metavar="RACE|FILE")
@sight_options
def command(race_or_file: str, settings: Settings) -> None:
    """Step through a finished race: all boards are open now, yours and the winner's.

    RACE is a race's id such as mint-otter-42/3; FILE is a record kept before. Races that you
    were in are kept on this machine and need no house.
    """
    record = _playable(_record(race_or_file, settings), race_or_file)
    from saratoga_client.commands.playing import in_lines

    if in_lines(settings):
        from saratoga_client.lines.replaying import replay_lines
        from saratoga_client.output import write_line

        for line in replay_lines(record):
            write_line(line)
        return
    from saratoga_client.tui.arrivals import looking_back, open_screen

    open_screen(looking_back(record, _own(record)), settings)


def _own(record: RaceRecord) -> str:
    """The racer who played on this machine, as far as it knows; empty: none of them."""
    from saratoga_client.racing.keepsakes import Keepsakes

    kept = Keepsakes()
    players = (racer.player for racer in record.racers if not racer.bot)
    return next((player for player in players if kept.best(record.game, player)), "")


def _playable(record: RaceRecord, race_or_file: str) -> RaceRecord:
    """The same record, if all its boards can be played again; raises `Problem`."""
    from saratoga_client.review.boards import open_boards
    from saratoga_rules.replay import ReplayError, game_of

    remedy = "A newer saratoga may know these rules."
    try:
        game_of(record)
        remedy = f"See what is wrong: saratoga verify {race_or_file}"
        open_boards(record)
    except ReplayError as fault:
        reason = str(fault).removesuffix(".")
        raise Problem(
            f"This race cannot be seen again: {reason}.", remedy, Exit.NOT_VERIFIED
        ) from None
    return record


def _record(race_or_file: str, settings: Settings) -> RaceRecord:
    from saratoga_client.racing.keepsakes import Keepsakes

    kept = None if Path(race_or_file).is_file() else Keepsakes().text(race_or_file.lower())
    text = record_of(race_or_file, settings.house) if kept is None else kept.encode()
    try:
        return parse_record(text.decode("utf-8"))
    except (RecordError, UnicodeDecodeError) as fault:
        raise Problem(
            f"{race_or_file} is no record of a race: {fault}.", "", Exit.NOT_VERIFIED
        ) from None
