"""`saratoga bot CODE`: run a bot that sits at a table and races."""

import asyncio
from functools import partial

import click
from msgspec import Struct

from saratoga_client.bots.bot_connection import seated_bot
from saratoga_client.cli.commands import ExampleCommand
from saratoga_client.cli.options import TABLE, output_options, server_of, server_option
from saratoga_client.output import OutputFormat, output_format, say, write_json, write_line
from saratoga_client.problems import Exit
from saratoga_client.session.invitation import Destination
from saratoga_client.wording import dollars, shown_name
from saratoga_protocol import events
from saratoga_protocol.commands import JoinTable


class BotOut(Struct, frozen=True, kw_only=True):
    """The object that `--json` prints for each race."""

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
    tie: str


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
    type=click.Choice(["strong", "weak"]),
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
    default=3.0,
    show_default=True,
    help="Moves per second.",
)
@output_options
@server_option
def command(
    table: Destination,
    strength: str,
    name: str | None,
    races: int | None,
    pace: float,
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
    pace: float,
    shown_in: OutputFormat,
) -> bool:
    """Run the bot; return whether it has raised an alarm."""

    def tell(event: events.AnyEvent) -> None:
        if isinstance(event, events.RaceOver):
            for result in event.outcome.results:
                if result.player == bot.player:
                    show(event.outcome, result, shown_in)

    async with seated_bot(server, partial(JoinTable, table=code), name=name) as bot:
        say(f"{shown_name(bot.name, True)} has sat down at {code}.")
        report = await bot.play(strength, races=races, pace=pace, on_event=tell, alarm=warn)
    return bool(report.alarms)


def warn(race: str, sentences: tuple[str, ...]) -> None:
    """Print on stderr how the server contradicted itself about a race."""
    for sentence in sentences:
        say(f"ALARM: Race {race}: {sentence}.")


def show(outcome: events.Outcome, result: events.Result, shown_in: OutputFormat) -> None:
    """Print the bot's result of a race."""
    if shown_in is OutputFormat.JSON:
        write_json(
            BotOut(
                race=outcome.race,
                game=outcome.game,
                name=result.name,
                player=result.player,
                place=result.place,
                banked=result.banked,
                net=result.net,
                state=result.state,
                moves=result.moves,
                tie=result.tie,
            )
        )
        return
    write_line(
        f"{outcome.race}: place {result.place} of {len(outcome.results)}, "
        f"{result.banked} banked, {dollars(result.net)}, {result.state}"
    )
