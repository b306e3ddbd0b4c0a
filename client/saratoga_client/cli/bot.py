"""`saratoga bot CODE`: run a bot that sits at a table and races."""

import asyncio
from collections.abc import AsyncIterator

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
from saratoga_client.session.state import SessionState, Verification
from saratoga_client.wording import dollars, state_words
from saratoga_protocol import events

RESULT_FIELDS = ("player", "place", "banked", "net", "state", "moves")
"""The fields of `BotOut` that come from the result."""


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
    async with seated_bot(
        server, lambda session: session.sit_down(code), strength, name=name
    ) as bot:
        say(f"{bot.shown_name} has sat down at {code}.")
        states = bot.session.states(every=True)
        printing = asyncio.create_task(print_results(states, bot.player, bot.name, shown_in))
        try:
            await bot.play(races=races, pace=pace)
        finally:
            await asyncio.wait([printing])
    return bool(bot.session.state and bot.session.state.alarms)


async def print_results(
    states: AsyncIterator[SessionState], player: str, name: str, shown_in: OutputFormat
) -> None:
    """Print a bot's result of each race, as JSON after the check of its record; and alarms on stderr."""
    unchecked: dict[str, tuple[events.Outcome, events.Result]] = {}
    known, alarms = "", list[str]()
    async for state in states:
        for alarm in state.alarms:
            if alarm not in alarms:
                alarms.append(alarm)
                say(told_alarms([alarm])[0])
        outcome = state.table_view.outcome
        if outcome is not None and outcome.race != known:
            known = outcome.race
            for result in outcome.results:
                if result.player == player and shown_in is OutputFormat.JSON:
                    unchecked[known] = outcome, result
                elif result.player == player:
                    write_line(_line(outcome, result))
        for race in unchecked.keys() & state.verifications.keys():
            _print_json(name, *unchecked.pop(race), state.verifications[race], alarms)
    for outcome, result in unchecked.values():
        _print_json(name, outcome, result, None, alarms)


def _line(outcome: events.Outcome, result: events.Result) -> str:
    return (
        f"{outcome.race}: place {result.place} of {len(outcome.results)}, "
        f"{result.banked} banked, {dollars(result.net)}, {state_words(result.state)}"
    )


def _print_json(
    name: str,
    outcome: events.Outcome,
    result: events.Result,
    found: Verification | None,
    alarms: list[str],
) -> None:
    write_json(
        BotOut(
            race=outcome.race,
            game=outcome.game,
            name=name,
            verification=None if found is None else WatchedRecord.of(outcome.race, found),
            alarms=alarms,
            **{field: getattr(result, field) for field in RESULT_FIELDS},
        )
    )
