"""`saratoga replay RACE|FILE`: step through a finished race."""

from pathlib import Path

import click

from saratoga_client.cli.commands import ExampleCommand
from saratoga_client.cli.options import begin, in_lines, viewing_options
from saratoga_client.cli.verify import record_of
from saratoga_client.local.settings import Settings
from saratoga_client.problems import Exit, Problem
from saratoga_rules.records.lines import RecordError
from saratoga_rules.records.record import RaceRecord, parse_record


@click.command(
    cls=ExampleCommand,
    examples=(
        ("saratoga replay mint-otter-42/3", "every board of the race, move by move"),
        ("saratoga replay evening.record", "from a file that was kept"),
        ("saratoga replay mint-otter-42/3 --plain", "one move a line"),
    ),
)
@click.argument("race_or_file", metavar="RACE|FILE")
@viewing_options
def command(race_or_file: str, settings: Settings) -> None:
    """Step through a finished race: all boards are open now, yours and the winner's.

    RACE is a race's id such as mint-otter-42/3; FILE is a record kept before. Races that you
    were in are kept on this machine and need no house.
    """
    record = _playable(_record(race_or_file, settings), race_or_file)
    if in_lines(settings):
        from saratoga_client.output import write_line
        from saratoga_client.plain.review import replay_lines

        for line in replay_lines(record):
            write_line(line)
        return
    from saratoga_client.tui.flows import open_screen, review_flow

    begin(open_screen(review_flow(record, _own(record)), settings))


def _own(record: RaceRecord) -> str:
    """The racer who played on this machine, as far as it knows; empty: none of them."""
    from saratoga_client.session.record_store import RecordStore

    kept = RecordStore()
    players = (racer.player for racer in record.racers if not racer.bot)
    return next((player for player in players if kept.best(record.game, player)), "")


def _playable(record: RaceRecord, race_or_file: str) -> RaceRecord:
    """The same record, if all its boards can be played again; raises `Problem`."""
    from saratoga_client.review.boards import open_boards
    from saratoga_rules.records.replay import ReplayError, game_of

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
    from saratoga_client.session.record_store import RecordStore

    kept = None if Path(race_or_file).is_file() else RecordStore().text(race_or_file.lower())
    text = record_of(race_or_file, settings.server_url) if kept is None else kept.encode()
    try:
        return parse_record(text.decode("utf-8"))
    except (RecordError, UnicodeDecodeError) as fault:
        raise Problem(
            f"{race_or_file} is no record of a race: {fault}.", "", Exit.NOT_VERIFIED
        ) from None
