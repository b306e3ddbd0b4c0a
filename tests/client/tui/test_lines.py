"""The title line, the message line and the key line."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult

from saratoga_client.board_view.roles import Role
from saratoga_client.board_view.text_width import cells_of
from saratoga_client.tui.lines import KeyLine, MessageLine, key_line, message_lines, title_line

KEYS = (("space", "draw 3"), ("1-4 w r", "pick"), ("f", "bank"), ("tab", "moves"))
ALWAYS = (("x", "cash out"), ("?", "help"), ("q", "leave"))


def test_the_title_leaves_out_its_last_facts_and_cuts_none() -> None:
    facts = ["CANFIELD", "mint-otter-42", "pass 3/3", "base 6"]
    right = [("●", Role.MONEY_UP), ("9:58", Role.TITLE)]
    assert title_line(facts, right, 80).text().split() == [*" ".join(facts).split(), "●", "9:58"]
    assert title_line(facts, right, 40).text().split() == [*facts[:2], "●", "9:58"]


@given(width=st.integers(40, 120))
def test_the_key_line_shows_keys_whole_or_not_at_all_and_some_always(width: int) -> None:
    text = key_line(KEYS, ALWAYS, width).text()
    assert cell_len(text) <= width
    for key, does in ALWAYS:
        assert f"{key} {does}" in text
    rest = text
    for key, does in (*KEYS, *ALWAYS):
        rest = rest.replace(f"{key} {does}", "")
    assert rest.strip() == ""


@given(st.text(max_size=300), st.integers(20, 120))
def test_no_word_of_a_message_is_lost_when_it_breaks_into_lines(text: str, width: int) -> None:
    lines = message_lines(text, width)
    assert all(cells_of(line) <= width - 2 for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


async def test_the_message_line_takes_the_rows_it_needs_and_gives_them_back() -> None:
    class Lines(App[None]):
        def compose(self) -> ComposeResult:
            yield MessageLine()
            yield KeyLine()

    app = Lines()
    async with app.run_test(size=(80, 24)) as pilot:
        line = app.query_one(MessageLine)
        for text, at_80, at_60 in (("One line.", 1, 2), ("word " * 20, 2, 2), ("word " * 40, 3, 4)):
            line.say(text)
            await pilot.pause()
            await pilot.pause()
            assert line.size.height == at_80
            await pilot.resize_terminal(60, 24)
            await pilot.pause()
            await pilot.pause()
            assert line.size.height == at_60
            shown = " ".join(
                "".join(piece.text for piece in line.render_line(y)).strip() for y in range(at_60)
            )
            assert shown.split() == text.split()
            await pilot.resize_terminal(80, 24)
            await pilot.pause()
