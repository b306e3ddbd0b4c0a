"""Every command that the client prints is one that its command line accepts."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click
import pytest

from kit.positions import banking, wandering
from kit.races import Entrant, race, void_record, voided_race
from kit.session_states import CODE, board, snapshot, standings, state_after, table
from saratoga_client.__main__ import saratoga
from saratoga_client.cli.frame import COMMANDS
from saratoga_client.local.printed_command import host_command
from saratoga_client.net.errors import Redirected, Unreachable
from saratoga_client.practice.deals import from_seed
from saratoga_client.practice.practice_session import PracticeSession
from saratoga_client.review.boards import open_boards
from saratoga_client.review.share_text import race_text
from saratoga_client.session.invitation import Inviter
from saratoga_client.session.open_connection import problem_for, seat_lost_problem
from saratoga_client.session.result_text import voided_problem, voided_words
from saratoga_rules.games import GAMES

ROOT = Path(__file__).parents[2]
OF_THE_SERVER = {"--owner", "--durability", "--ranked"}
"""Options of `saratoga-server` that the pages of the client mention."""
LAN = "ws://192.168.1.7:7470"
HERE = "ws://127.0.0.1:8123"

COMMAND = re.compile(rf"saratoga (?:{'|'.join(COMMANDS)})\b(?: (?:'[^']*'|\"[^\"]*\"|[^\s'\"])+)*")


def parse(command: str) -> None:
    """Parse a command line as the program does, without running it; raises `click.UsageError`."""
    _, verb, *words = shlex.split(command)
    found: click.Command | None = saratoga.get_command(click.Context(saratoga), verb)
    assert found is not None, command
    while isinstance(found, click.Group):
        verb, *words = words
        found = found.get_command(click.Context(found), verb)
        assert found is not None, command
    with found.make_context(verb, words):
        pass


def own_options_of(command: click.Command) -> set[str]:
    """Return the options of one command, such as `--plain` and `--no-plain`."""
    options = (each for each in command.params if isinstance(each, click.Option))
    return {word for each in options for word in (*each.opts, *each.secondary_opts)}


def options_of(command: click.Command) -> set[str]:
    """Return the options of a command and of all commands below it."""
    found = own_options_of(command) | {"--help"}
    if isinstance(command, click.Group):
        context = click.Context(command)
        for verb in command.list_commands(context):
            below = command.get_command(context, verb)
            assert below is not None, verb
            found |= options_of(below)
    return found


def printed() -> Iterator[str]:
    """Yield texts with commands, from everything that makes such texts."""
    record = race("canfield", 2, [Entrant("Anna", banking), Entrant("Otto", wandering, bot=True)])
    lost = state_after(standings("a5 y3 r1"), first=snapshot("a5 y1", board()))
    yield PracticeSession(from_seed(GAMES["canfield"], "it's me")).share
    yield host_command(HERE)
    yield str(problem_for(HERE, Unreachable(HERE, "no server listens there")))
    for server in ("", LAN):
        away = replace(lost, seat_lost="Away.", server=server)
        yield str(seat_lost_problem(away))
        yield str(seat_lost_problem(away, is_watching=True))
        yield voided_words(voided_race(), (), server)
        yield str(voided_problem(void_record(), "", server))
    yield race_text(record, open_boards(record), record.racers[0].player)
    yield "\n".join(Inviter(server=LAN).lines(table()))


def test_the_commands_in_messages_and_texts_are_accepted() -> None:
    for text in printed():
        found = COMMAND.findall(text)
        assert found, text
        for command in found:
            parse(command)


def test_a_command_for_another_server_names_it() -> None:
    texts = [text for text in printed() if "192.168.1.7" in text]
    assert len(texts) == 5
    assert all(LAN in command for text in texts for command in COMMAND.findall(text))


@pytest.mark.parametrize("verb", COMMANDS)
def test_the_examples_in_the_help_are_accepted(verb: str) -> None:
    command = saratoga.get_command(click.Context(saratoga), verb)
    for example, _ in getattr(command, "examples", ()):
        if "$(" not in example:
            parse(re.split(r" \| ", example)[0])


def test_the_commands_on_the_first_page_are_accepted() -> None:
    """A command stands in a line of its own, before its explanation, or with its arguments between backticks."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").replace("/CODE", f"/{CODE}")
    found = [line.partition("  ")[0] for line in text.splitlines() if line.startswith("saratoga ")]
    found += re.findall(r"`(saratoga [a-z]+ [^`A-Z]+)`", " ".join(text.split()))
    assert len(found) > 10
    for command in filter(lambda command: command.strip() != "saratoga", found):
        parse(command)


@pytest.mark.parametrize("page", ["client/README.md", "client/saratoga_client/plain/FORM.md"])
def test_the_options_on_the_client_s_pages_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))
    assert named - options_of(saratoga) - OF_THE_SERVER == set()


@pytest.mark.parametrize("verb", ["", "host", "join"])
def test_the_options_in_the_table_of_settings_are_accepted_where_a_table_is_played(
    verb: str,
) -> None:
    page = (ROOT / "client" / "README.md").read_text(encoding="utf-8")
    rows = [row.split("|")[3] for row in page.splitlines() if "| `SARATOGA_" in row]
    flags = set(re.findall(r"`(--[a-z-]+)`", " ".join(rows)))
    assert {"--theme", "--no-background"} <= flags
    command = saratoga.get_command(click.Context(saratoga), verb) if verb else saratoga
    assert command is not None
    assert flags <= own_options_of(command)


def test_a_redirect_names_a_command_that_needs_only_the_code() -> None:
    text = str(problem_for(LAN, Redirected(LAN, "wss://cards.example.org/")))
    (command,) = re.findall(r"saratoga join \S+/CODE", text)
    parse(command.replace("CODE", CODE))
