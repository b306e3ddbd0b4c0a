"""A talk: orders in, and how the answers are to be said."""

from kit.talks import talk_of
from saratoga_client.plain.card_names import Tongue
from saratoga_client.plain.grammar import Where


async def test_empty_lines_are_no_orders_and_after_the_last_line_there_are_none() -> None:
    talk, _ = talk_of("", "   ", "look", "")
    said = await talk.order(Where.TABLE)
    assert said is not None
    assert said.order is not None
    assert said.order.name == "look"
    assert await talk.order(Where.TABLE) is None
    assert await talk.order(Where.TABLE) is None


async def test_cards_are_said_as_they_are_asked_for() -> None:
    talk, listener = talk_of()
    for words in ("", "words", "", "loud", "letters"):
        talk.choose_cards(words)
    assert listener.said == [
        "ok: cards are said in letters",
        "ok: cards are said in words",
        "ok: cards are said in words",
        "no: Say cards letters, or cards words.",
        "ok: cards are said in letters",
    ]
    assert talk.tongue == Tongue()


async def test_how_much_is_said_can_be_chosen_and_turned_over() -> None:
    talk, listener = talk_of()
    for words in ("on", "off", "", "much"):
        talk.choose_verbose(words)
    assert talk.is_verbose
    assert [line.split(":")[0] for line in listener.said] == ["ok", "ok", "ok", "no"]


async def test_help_tells_what_can_be_said_here() -> None:
    talk, listener = talk_of()
    talk.help(Where.LOBBY)
    assert any(line.startswith("help create GAME") for line in listener.said)
    assert not any(line.startswith("help cash out") for line in listener.said)
