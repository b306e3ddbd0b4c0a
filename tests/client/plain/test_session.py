"""A plain session: commands as lines, and the number of lines written."""

from kit.plain_sessions import scripted_session
from saratoga_client.plain.grammar import Context


async def test_empty_lines_are_skipped_and_the_end_of_the_input_stays_the_end() -> None:
    session, _ = scripted_session("", "   ", "look", "")
    parsed = await session.command(Context.TABLE)
    assert parsed is not None
    assert parsed.command is not None
    assert parsed.command.name == "look"
    assert await session.command(Context.TABLE) is None
    assert await session.command(Context.TABLE) is None


async def test_verbose_can_be_chosen_and_toggled() -> None:
    session, output = scripted_session()
    for words in ("on", "off", "", "much"):
        session.choose_verbose(words)
    assert session.output.style.is_verbose
    assert [line.split(":")[0] for line in output.lines] == ["ok", "ok", "ok", "no"]
