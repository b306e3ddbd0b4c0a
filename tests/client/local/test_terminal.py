"""The capabilities of a terminal, found from the environment variables."""

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from saratoga_client.local.terminal import Capabilities, Colours, capabilities


def judged(
    environment: Mapping[str, str] = MappingProxyType({}),
    *,
    encoding: str = "utf-8",
    is_terminal: bool = True,
) -> Capabilities:
    return capabilities(
        {"TERM": "xterm-256color", "LANG": "en_GB.UTF-8", **environment},
        is_terminal=is_terminal,
        size=(80, 24),
        encoding=encoding,
    )


@pytest.mark.parametrize(
    ("environment", "colours"),
    [
        ({}, Colours.MANY),
        ({"COLORTERM": "truecolor"}, Colours.ALL),
        ({"COLORTERM": "24bit", "TERM": "tmux-256color"}, Colours.ALL),
        ({"TERM": "xterm"}, Colours.SIXTEEN),
        ({"TERM": "linux"}, Colours.SIXTEEN),
        ({"TERM": "xterm-direct"}, Colours.ALL),
        ({"TERM": "vt100"}, Colours.NONE),
        ({"TERM": "xterm-mono"}, Colours.NONE),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, Colours.NONE),
        ({"NO_COLOR": "1", "COLORTERM": "truecolor"}, Colours.NONE),
        ({"NO_COLOR": ""}, Colours.MANY),
    ],
)
def test_colours_are_what_the_environment_says(
    environment: dict[str, str], colours: Colours
) -> None:
    assert judged(environment).colours is colours


@pytest.mark.parametrize(
    ("environment", "unicode"),
    [
        ({}, True),
        ({"LANG": "", "LC_CTYPE": ""}, True),
        ({"LANG": "", "LC_CTYPE": "UTF-8"}, True),
        ({"LC_ALL": "C"}, False),
        ({"LC_ALL": "POSIX"}, False),
        ({"LC_ALL": "C.utf8"}, True),
        ({"LANG": "de_DE.ISO-8859-1@euro"}, False),
        ({"LANG": "de_DE.UTF-8@euro"}, True),
        ({"LANG": "de_DE"}, False),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, True),
        ({"TERM": "linux"}, False),
    ],
)
def test_suits_are_signs_only_where_they_arrive(environment: dict[str, str], unicode: bool) -> None:
    assert judged(environment).unicode is unicode


def test_an_output_of_another_encoding_gets_letters() -> None:
    assert not judged(encoding="latin-1").unicode


@pytest.mark.parametrize(
    ("why", "terminal"),
    [
        ("", judged()),
        ("input or output is not a terminal", judged(is_terminal=False)),
        ("the terminal cannot redraw (TERM=dumb)", judged({"TERM": "dumb"})),
        ("the terminal cannot redraw (TERM=unset)", judged({"TERM": ""})),
    ],
)
def test_lines_of_text_have_a_reason(why: str, terminal: Capabilities) -> None:
    assert terminal.why_plain == why
    assert terminal.is_full_screen is not bool(why)


def test_windows_has_no_term_and_redraws_all_the_same() -> None:
    windows = capabilities({}, is_terminal=True, size=(120, 40), is_windows=True)
    assert windows.is_full_screen
    assert windows.unicode
    assert windows.colours is Colours.MANY


@pytest.mark.parametrize(
    ("size", "roomy"), [((80, 24), True), ((79, 24), False), ((80, 23), False)]
)
def test_the_whole_picture_needs_eighty_by_twenty_four(size: tuple[int, int], roomy: bool) -> None:
    assert capabilities({}, is_terminal=True, size=size).is_roomy is roomy
