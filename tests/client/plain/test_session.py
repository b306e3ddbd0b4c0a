"""A talk: orders in, and how the answers are to be said."""

from kit.recorded_output import scripted_session
from saratoga_client.plain.card_names import CardNames
from saratoga_client.plain.grammar import Context


async def test_empty_lines_are_no_orders_and_after_the_last_line_there_are_none() -> None:
    session, _ = scripted_session("", "   ", "look", "")
    parsed = await session.command(Context.TABLE)
    assert parsed is not None
    assert parsed.command is not None
    assert parsed.command.name == "look"
    assert await session.command(Context.TABLE) is None
    assert await session.command(Context.TABLE) is None


async def test_cards_are_said_as_they_are_asked_for() -> None:
    session, output = scripted_session()
    for words in ("", "words", "", "loud", "letters"):
        session.choose_cards(words)
    assert output.lines == [
        "ok: cards are written in letters",
        "ok: cards are written in words",
        "ok: cards are written in words",
        "no: Type cards letters, or cards words.",
        "ok: cards are written in letters",
    ]
    assert session.card_names == CardNames()


async def test_how_much_is_said_can_be_chosen_and_turned_over() -> None:
    session, output = scripted_session()
    for words in ("on", "off", "", "much"):
        session.choose_verbose(words)
    assert session.output.style.is_verbose
    assert [line.split(":")[0] for line in output.lines] == ["ok", "ok", "ok", "no"]


async def test_help_tells_what_can_be_said_here() -> None:
    session, output = scripted_session()
    session.help(Context.LOBBY)
    assert any(line.startswith("help create GAME") for line in output.lines)
    assert not any(line.startswith("help cash out") for line in output.lines)
