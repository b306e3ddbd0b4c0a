"""`saratoga bot CODE`: run a bot that sits at a table and races."""

import asyncio
from functools import partial

import click
from msgspec import Struct

from saratoga_client.bots.choose import Strength
from saratoga_client.bots.seat import seated_bot
from saratoga_client.cli.frame import ExampleCommand
from saratoga_client.cli.options import TABLE, output_options, server_of, server_option
from saratoga_client.cli.watch import WatchedRecord
from saratoga_client.output import OutputFormat, output_format, say, write_json, write_line
from saratoga_client.problems import Exit, told_alarms
from saratoga_client.session.invitation import Destination
from saratoga_client.session.state import Verification
from saratoga_client.wording import (
    dollars,
    state_words,
)
from saratoga_protocol import events
from saratoga_protocol.commands import JoinTable


class BotOut(Struct, frozen=True, kw_only=True):
    """The object that `--json` prints for each race, after the check of its record."""

    schema: str = "saratoga.bot.v1"
    race: str
    game: str
    name: str
    player: str
    place: int
    banked: int
    net: int
    state: str
    moves: int
    verification: WatchedRecord | None
    """The check of the race's record; `None` if the bot ended before it."""
    alarms: list[str]
    """Sentences on how the server contradicted itself since the program has started."""


@click.command(
    cls=ExampleCommand,
    examples=(
        ("saratoga bot mint-otter-42", "a strong bot, until the table closes"),
        ("saratoga bot mint-otter-42 --strength weak --races 1", "a weak bot, for one race"),
        ("saratoga bot mint-otter-42 --name Gus --pace 6", "a fast bot with this name"),
    ),
)
@click.argument("table", type=TABLE, metavar="CODE|URL")
@click.option(
    "--strength",
    type=click.Choice([each.value for each in Strength]),
    default="strong",
    show_default=True,
    help="The bot's strength.",
)
@click.option("--name", help="The bot's name.  [default: a free one]")
@click.option(
    "--races", type=click.IntRange(1), help="Leave after this number of races.  [default: stay]"
)
@click.option(
    "--pace",
    type=click.FloatRange(0.1, 40),
    help="Moves per second, evenly.  [default: like a person]",
)
@output_options
@server_option
def command(
    table: Destination,
    strength: str,
    name: str | None,
    races: int | None,
    pace: float | None,
    as_json: bool,
    plain: bool,
    server: str,
) -> int:
    """Send a bot to the table CODE.

    All players see that it is a bot. It sees only what a player in its seat sees. Without --races it
    races until the table closes. Press Ctrl-C to end it. If the server contradicts itself, the bot says so
    on stderr, and the exit code is 7.
    """
    shown_in = output_format(as_json=as_json, plain=plain)
    sending = _send(server_of(table, server), table.code, strength, name, races, pace, shown_in)
    has_alarm = asyncio.run(sending)
    return Exit.NOT_VERIFIED if has_alarm else Exit.DONE


async def _send(
    server: str,
    code: str,
    strength: str,
    name: str | None,
    races: int | None,
    pace: float | None,
    shown_in: OutputFormat,
) -> bool:
    """Run the bot; return whether it has raised an alarm."""
    async with seated_bot(server, partial(JoinTable, table=code), strength, name=name) as bot:
        say(f"{bot.shown_name} has sat down at {code}.")
        printer = ResultPrinter(bot.player, bot.name, shown_in)
        try:
            report = await bot.play(
                races=races,
                pace=pace,
                on_event=printer.see,
                alarm=printer.warn,
                on_checked=printer.checked,
            )
        finally:
            printer.print_unchecked()
    return bool(report.alarms)


class ResultPrinter:
    """A printer of a bot's results: lines at the end of a race, JSON after the check of its record."""

    def __init__(self, player: str, name: str, shown_in: OutputFormat) -> None:
        self._player = player
        self._name = name
        self._shown_in = shown_in
        self._unchecked: dict[str, tuple[events.Outcome, events.Result]] = {}
        self._alarms: list[str] = []

    def see(self, event: events.Event) -> None:
        """Print the bot's result of a race that is over, or keep it until the check."""
        if not isinstance(event, events.RaceOver):
            return
        outcome = event.outcome
        for result in outcome.results:
            if result.player == self._player and self._shown_in is OutputFormat.JSON:
                self._unchecked[outcome.race] = outcome, result
            elif result.player == self._player:
                write_line(
                    f"{outcome.race}: place {result.place} of {len(outcome.results)}, "
                    f"{result.banked} banked, {dollars(result.net)}, {state_words(result.state)}"
                )

    def warn(self, alarm: str) -> None:
        """Print on stderr how the server contradicts itself."""
        self._alarms.append(alarm)
        say(told_alarms([alarm])[0])

    def checked(self, race: str, found: Verification) -> None:
        """Print the result of a race whose record was checked."""
        verification = WatchedRecord(race=race, verified=found.ok, sentence=found.sentence)
        self._print(race, verification)

    def print_unchecked(self) -> None:
        """Print the results of the races whose records were not checked before the bot ended."""
        for race in list(self._unchecked):
            self._print(race, None)

    def _print(self, race: str, verification: WatchedRecord | None) -> None:
        if race not in self._unchecked:
            return
        outcome, result = self._unchecked.pop(race)
        write_json(
            BotOut(
                race=outcome.race,
                game=outcome.game,
                name=self._name,
                player=result.player,
                place=result.place,
                banked=result.banked,
                net=result.net,
                state=result.state,
                moves=result.moves,
                verification=verification,
                alarms=self._alarms,
            )
        )
