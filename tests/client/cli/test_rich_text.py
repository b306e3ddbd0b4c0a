"""Cells of rich tables hold untrusted text without markup."""

from saratoga_client.cli.rich_text import cell, name_cell


def test_a_cell_ignores_markup() -> None:
    assert cell("[red]Anna[/red]").plain == "[red]Anna[/red]"
    assert cell("[red]Anna").spans == []


def test_a_bot_s_name_has_its_mark() -> None:
    assert name_cell("Otto\x1b[2J", True).plain == "Otto<U+001B>[2J [bot]"
    assert name_cell("Anna", False).plain == "Anna"
