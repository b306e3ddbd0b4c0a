import pytest

from saratoga_client.plain.grammar import COMMANDS, Context, help_lines, not_understood, parse_line


def named(line: str, context: Context = Context.TABLE) -> tuple[str, str]:
    parsed = parse_line(line, context)
    return ("" if parsed.command is None else parsed.command.name), parsed.arguments


@pytest.mark.parametrize(
    ("line", "command", "arguments"),
    [
        ("look", "look", ""),
        ("  Look  ", "look", ""),
        ("state", "look", ""),
        ("where 7C", "where", "7C"),
        ("cash out", "cash out", ""),
        ("cash  out  yes", "cash out", "yes"),
        ("cashout yes", "cash out", "yes"),
        ("not ready", "not ready", ""),
        ("kick Anna Lee", "kick", "Anna Lee"),
        ("next race", "next", ""),
    ],
)
def test_a_command_is_split_from_its_arguments(line: str, command: str, arguments: str) -> None:
    assert named(line) == (command, arguments)


@pytest.mark.parametrize("line", ["w 3", "t3>t5:4", "3 f", "7C 8D", "gibberish"])
def test_a_line_without_a_command_is_a_move(line: str) -> None:
    parsed = parse_line(line, Context.TABLE)
    assert parsed.command is None
    assert parsed.is_move
    assert parsed.line == line


@pytest.mark.parametrize("line", ["draw", "redeal", "bank w"])
def test_commands_that_are_moves_are_parsed_as_moves(line: str) -> None:
    parsed = parse_line(line, Context.TABLE)
    assert parsed.is_move
    assert parsed.line == line


def test_a_command_of_another_context_is_refused_with_its_context() -> None:
    assert named("undo") == ("", "undo")
    assert not_understood("undo", Context.TABLE) == ("no: undo works only in practice. Type help.")


def test_a_misspelt_command_is_guessed() -> None:
    assert not_understood("standigs", Context.TABLE) == (
        "no: 'standigs' is neither a command nor a move. Did you mean standings? Type help."
    )
    assert not_understood("xyzzy", Context.LOBBY) == (
        "no: 'xyzzy' is not a command here. Type help."
    )


@pytest.mark.parametrize(
    "context", [Context.LOBBY, Context.TABLE, Context.PRACTICE, Context.WATCHING]
)
def test_the_help_has_a_line_for_every_command(context: Context) -> None:
    lines = list(help_lines(context))
    assert all(line.startswith("help ") and ": " in line for line in lines)
    commands = [command for command in COMMANDS if context in command.context]
    assert len([line for line in lines if not line.startswith("help a move")]) == len(commands)


def test_no_word_means_two_commands() -> None:
    names = [name for command in COMMANDS for name in (command.name, *command.aliases)]
    assert len(names) == len(set(names))
