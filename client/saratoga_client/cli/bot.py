"""`saratoga bot CODE`: run a bot that sits at a table and races; `--serve` offers bots to all tables."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from typing import Any, Final

import click

from saratoga_client.bots.player import first_result
from saratoga_client.bots.seat import seated_bot, serve
from saratoga_client.cli.frame import example_command
from saratoga_client.cli.options import TABLE, at_server_of, output_options, server_option
from saratoga_client.cli.watch import record_fields
from saratoga_client.local.settings import Settings
from saratoga_client.output import OutputFormat, output_format, say, write_json, write_line
from saratoga_client.problems import Exit, Problem, told_alarms
from saratoga_client.session.invitation import Destination
from saratoga_client.session.open_race import day_id
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.wording import BOT_LEVELS, dollars, state_words
from saratoga_protocol.events import Table
from saratoga_rules.games import GAMES

SCHEMA: Final = "saratoga.bot.v1"

BOT_HOST_TOKEN: Final = "SARATOGA_BOT_HOST_TOKEN"  # noqa: S105 - a variable's name
"""The environment variable with the token of a bot host that a server has started."""

RESULT_FIELDS: Final = ("player", "place", "banked", "net", "state", "moves")
"""The fields of the JSON object that come from the bot's result."""


@example_command(
    ("saratoga bot mint-otter-42", "a strong bot, until the table closes"),
    ("saratoga bot mint-otter-42 --strength weak --races 1", "a weak bot, for one race"),
    ("saratoga bot mint-otter-42 --name Gus --pace 6", "a fast bot with this name"),
    ("saratoga bot --daily", "today's deal of every game, among the people"),
    ("saratoga bot --serve", "bots that the hosts at your own server can add"),
)
@click.argument("table", type=TABLE, metavar="[CODE|URL]", required=False)
@click.option(
    "--strength",
    type=click.Choice(BOT_LEVELS),
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
@click.option(
    "--serve", "serves", is_flag=True, help="Offer bots to all tables of your own server instead."
)
@click.option("--daily", is_flag=True, help="Run today's deal of every game instead.")
@click.option("--until-eof", is_flag=True, hidden=True, help="With --serve: end with the input.")
@output_options
@server_option
def command(
    table: Destination | None,
    serves: bool,
    daily: bool,
    until_eof: bool,
    as_json: bool,
    plain: bool,
    settings: Settings,
    **bot: Any,
) -> int:
    """Send a bot to the table CODE.

    All players see that it is a bot. It sees only what a player in its seat sees. Without --races
    it races until the table closes. Press Ctrl-C to end it. If the server contradicts itself, the
    bot says so on stderr, and the exit code is 7.
    """
    if [serves, daily, table is not None].count(True) != 1:
        raise click.UsageError("Name a table, or choose one of --serve and --daily.")
    if daily:
        asyncio.run(_run_days(settings.server_url, bot["strength"], bot["name"], bot["pace"]))
        return Exit.DONE
    if table is None:
        asyncio.run(_serve(settings.server_url, until_eof))
        return Exit.DONE
    shown_in = output_format(as_json=as_json, plain=plain)
    server = at_server_of(table, settings).server_url
    has_alarm = asyncio.run(_send(server, table.code, shown_in, **bot))
    return Exit.NOT_VERIFIED if has_alarm else Exit.DONE


async def _run_days(server: str, strength: str, name: str | None, pace: float | None) -> None:
    """Run today's deal of every game, one after another; skip those that this bot has run."""
    for game in GAMES:

        async def enter(session: TableSession, game: str = game) -> Table:
            return await session.enter_open(day_id(game, session.now()))

        try:
            async with seated_bot(server, enter, strength, name=name) as bot:
                await bot.run_open(pace=pace)
                if (state := bot.session.state) is not None and state.own is not None:
                    write_line(f"{game}: {bot.shown_name} banked {state.own.banked}")
        except Problem as problem:
            if problem.refusal != "entered":
                raise
            say(f"{game}: {name} has run today's deal.")


async def _serve(server: str, until_eof: bool) -> None:
    """Offer bots until Ctrl-C, or until the input ends."""
    serving = serve(server, os.environ.get(BOT_HOST_TOKEN, ""))
    await (first_result(serving, _end_of_input()) if until_eof else serving)


async def _end_of_input() -> None:
    """Wait until the standard input, a pipe from the program that started this one, is closed."""
    input_ = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(input_), sys.stdin
    )
    while await input_.read(1024):
        pass


async def _send(
    server: str,
    code: str,
    shown_in: OutputFormat,
    *,
    strength: str,
    name: str | None,
    races: int | None,
    pace: float | None,
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
    unchecked: dict[str, dict[str, object]] = {}
    known, alarms = "", list[str]()
    async for state in states:
        for alarm in state.alarms:
            if alarm not in alarms:
                alarms.append(alarm)
                say(told_alarms([alarm])[0])
        outcome = state.table_view.outcome
        if outcome is not None and outcome.race != known:
            known = outcome.race
            for result in (each for each in outcome.results if each.player == player):
                if shown_in is OutputFormat.JSON:
                    raced = {key: getattr(result, key) for key in RESULT_FIELDS}
                    unchecked[known] = {"race": known, "game": outcome.game, "name": name, **raced}
                else:
                    write_line(
                        f"{known}: place {result.place} of {len(outcome.results)}, {result.banked} "
                        f"banked, {dollars(result.net)}, {state_words(result.state)}"
                    )
        for race in unchecked.keys() & state.verifications.keys():
            found = {"verification": record_fields(race, state.verifications[race])}
            write_json(SCHEMA, {**unchecked.pop(race), **found, "alarms": alarms})
    for fields in unchecked.values():
        write_json(SCHEMA, {**fields, "verification": None, "alarms": alarms})
