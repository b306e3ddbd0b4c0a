"""`saratoga-server admin`: administrative commands for a running server.

They work on the store, beside the running server, and take effect at once. The embedded store is
found by its data folder; any other store is given with --redis, as for the server.
"""

import asyncio
import dataclasses
import functools
import json
import os
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, TypeVar

import click
import msgspec

from saratoga_protocol.visible_text import sanitised
from saratoga_server.admin.acts import Administration, NotDone, TableLine
from saratoga_server.config import EXPOSURE_WARNING, Config, InvalidConfig, exposes_password
from saratoga_server.embedded_store.embedded import running_store
from saratoga_server.embedded_store.store_folder import user_name
from saratoga_server.node import Node
from saratoga_server.ports import Durability, StoreRefused, StoreUnavailable
from saratoga_server.store.opening import open_store

CLOSED: Final = "The host of this server has closed the table."
RESTORED: Final = "The server's data were restored from a backup. Open a new table."
AUDIT_LINES: Final = 50

_P = ParamSpec("_P")
_T = TypeVar("_T")


# Answers: text of players cannot control the terminal or hide in it


def say(line: str) -> None:
    """Write one line to the standard output."""
    click.echo(sanitised(line))


def say_json(answer: object) -> None:
    """Write an answer to the standard output as one line of JSON in ASCII."""
    click.echo(json.dumps(msgspec.to_builtins(answer)))


def failure(reason: object) -> click.ClickException:
    """Return the error that ends a command with the reason (exit code 1)."""
    return click.ClickException("\n".join(map(sanitised, str(reason).split("\n"))))


@dataclasses.dataclass(frozen=True, slots=True)
class StoreAccess:
    """The address of the store for administrative commands."""

    redis: str | None
    folder: Path

    def do(self, act: Callable[[Administration], Awaitable[_T]]) -> _T:
        """Run one action and return its result; if it fails, exit with the reason (exit code 1)."""
        try:
            return asyncio.run(self._do(act))
        except (NotDone, StoreRefused, StoreUnavailable) as fault:
            raise failure(fault) from None

    async def _do(self, act: Callable[[Administration], Awaitable[_T]]) -> _T:
        async with AsyncExitStack() as opened:
            url = self.redis
            if url is None:
                url = await opened.enter_async_context(running_store(self.folder))
            # the server has checked the store already, for its own level
            store = await opened.enter_async_context(
                open_store(url, Durability.FAST, trust_store=True, is_guarded=False)
            )
            table_cache = (await Node.for_administration(store)).tables
            return await act(
                Administration(stores=store, table_cache=table_cache, who=administrator())
            )


def administrator() -> str:
    """Return the user of this process for the audit log, from the system."""
    return f"{user_name(os.getuid())}@{socket.gethostname()}"


@click.group(short_help="Manage a running server.")
@click.option("--redis", metavar="URL", help="The server's store.  [default: as for the server]")
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="The folder of its embedded store.  [default: as for the server]",
)
@click.pass_context
def admin(context: click.Context, redis: str | None, data: Path | None) -> None:
    """Manage a running server. Every action takes effect at once and is kept in an audit log."""
    server = context.find_object(Config) or Config()
    if server.is_password_exposed or exposes_password(context, redis):
        click.echo(f"Warning: {EXPOSURE_WARNING}", err=True)
    # a folder given here means the store in that folder and overrides the server's --redis
    url = redis or (None if data else server.redis)
    try:
        server = dataclasses.replace(server, redis=url, data=data or server.data)
    except InvalidConfig as error:
        raise click.UsageError(str(error)) from None
    context.obj = StoreAccess(server.redis, server.store_folder)


def _act(
    command: Callable[Concatenate[StoreAccess, bool, _P], None],
) -> Callable[_P, None]:
    """Return a command with an option --json that passes the store and the option to `command`."""

    @functools.wraps(command)
    def with_store(*args: _P.args, **kwargs: _P.kwargs) -> None:
        as_json = bool(kwargs.pop("as_json"))
        access = click.get_current_context().find_object(StoreAccess)
        assert access is not None, "`admin` has set the object"
        command(access, as_json, *args, **kwargs)

    return click.option("--json", "as_json", is_flag=True, help="Answer as JSON.")(with_store)


def _sure(question: str) -> Callable[[Callable[_P, None]], Callable[_P, None]]:
    """Return a decorator: the command asks the question before it acts, unless --yes is given."""

    def asking(command: Callable[_P, None]) -> Callable[_P, None]:
        @functools.wraps(command)
        def when_sure(*args: _P.args, **kwargs: _P.kwargs) -> None:
            if not kwargs.pop("yes"):
                click.confirm(sanitised(question.format(**kwargs)), abort=True, err=True)
            command(*args, **kwargs)

        return click.option("--yes", is_flag=True, help="Do not ask for confirmation.")(when_sure)

    return asking


def _answer(as_json: bool, sentence: str, **facts: str | int) -> None:
    if as_json:
        say_json(facts)
    else:
        say(sentence)


@admin.command()
@_act
def tables(access: StoreAccess, as_json: bool) -> None:
    """List every table, the busiest first."""
    lines = access.do(Administration.tables)
    if as_json:
        say_json(lines)
    elif not lines:
        say("There are no tables.")
    else:
        for row in _columns([_HEADINGS, *map(_cells, lines)]):
            say(row)


_HEADINGS: Final = (
    *("TABLE", "PHASE", "GAME", "RACE", "SEATS"),
    *("HERE", "HOST", "PUBLIC", "LAST USED"),
)  # fmt: skip


def _cells(line: TableLine) -> tuple[str, ...]:
    return (
        *(line.code, line.phase, line.game, str(line.race), f"{line.seated}/{line.seats}"),
        *(str(line.connected), line.host or "-", "yes" if line.public else "no", line.touched),
    )


def _columns(texts: Sequence[Sequence[str]]) -> list[str]:
    rows = [[sanitised(text) for text in row] for row in texts]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


@admin.command("close")
@click.argument("code")
@click.option("--reason", default=CLOSED, show_default=True, help="The sentence that players see.")
@_act
@_sure("Close the table {code}, and any race that runs there?")
def close_table(access: StoreAccess, as_json: bool, code: str, reason: str) -> None:
    """Close the table CODE permanently."""
    seats = access.do(lambda administration: administration.close(code, reason))
    _answer(as_json, f"{code} is closed. Seats that were taken: {seats}.", table=code, seats=seats)


@admin.command("close-all")
@click.option(
    "--reason", default=RESTORED, show_default=True, help="The sentence that players see."
)
@_act
@_sure("Close every open table, and all races that run there?")
def close_all(access: StoreAccess, as_json: bool, reason: str) -> None:
    """After you have restored an external store: close all tables, so no race is dealt twice."""
    closed, faults = access.do(lambda administration: administration.close_all(reason))
    for fault in faults:
        click.echo(f"Not closed: {sanitised(fault)}", err=True)
    _answer(as_json, f"Tables closed: {closed}.", closed=closed)


@admin.command()
@click.argument("player")
@click.argument("new")
@_act
def rename(access: StoreAccess, as_json: bool, player: str, new: str) -> None:
    """Change the name of PLAYER (a name or an id) to NEW."""
    old, name = access.do(lambda administration: administration.rename(player, new))
    _answer(as_json, f"{old} is now called {name}.", old=old, new=name)


@admin.command()
@click.argument("player")
@_act
@_sure("Ban {player}, and close all of their connections?")
def ban(access: StoreAccess, as_json: bool, player: str) -> None:
    """Ban PLAYER (a name or an id) until unbanned."""
    banned = access.do(lambda administration: administration.ban(player))
    _answer(as_json, f"{player} is banned.", player=banned)


@admin.command()
@click.argument("player")
@_act
def unban(access: StoreAccess, as_json: bool, player: str) -> None:
    """Unban PLAYER (a name or an id)."""
    unbanned = access.do(lambda administration: administration.unban(player))
    _answer(as_json, f"{player} is unbanned.", player=unbanned)


@admin.command()
@click.argument("race")
@_act
@_sure("Remove the results of {race} from every leaderboard?")
def void(access: StoreAccess, as_json: bool, race: str) -> None:
    """Remove the results of RACE (such as mint-otter-42/3) from the leaderboards."""
    game = access.do(lambda administration: administration.void(race))
    _answer(
        as_json, f"{race} no longer counts on the leaderboards of {game}.", race=race, game=game
    )


@admin.command()
@click.argument("text")
@_act
def announce(access: StoreAccess, as_json: bool, text: str) -> None:
    """Send TEXT to every connected player."""
    nodes = access.do(lambda administration: administration.announce(text))
    servers = "1 server" if nodes == 1 else f"{nodes} servers"
    _answer(as_json, f"Sent to the players on {servers}.", nodes=nodes)


@admin.command()
@click.argument("player")
@_act
@_sure("Delete the name and all results of {player}? This cannot be undone.")
def forget(access: StoreAccess, as_json: bool, player: str) -> None:
    """Delete the name and the results of PLAYER (a name or an id)."""
    forgotten = access.do(lambda administration: administration.forget(player))
    _answer(as_json, f"The name and the results of {forgotten} are deleted.", player=forgotten)


@admin.command()
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=AUDIT_LINES,
    show_default=True,
    help="Number of entries.",
)
@_act
def audit(access: StoreAccess, as_json: bool, limit: int) -> None:
    """Show the audit log of administrators' actions, newest first."""
    acts = access.do(lambda administration: administration.audit(limit))
    if as_json:
        say_json(acts)
    elif not acts:
        say("The audit log is empty.")
    else:
        for row in _columns([[act.get(name, "") for name in _NOTED] for act in acts]):
            say(row)


_NOTED: Final = ("time", "who", "act", "target", "detail")
