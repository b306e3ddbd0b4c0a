"""The symbols that pages use."""

from dataclasses import asdict

from rich.cells import cell_len

from saratoga_client.tui.pages.symbols import page_symbols


def test_every_symbol_is_one_cell_and_ascii_where_the_terminal_has_only_that() -> None:
    for ascii_only in (False, True):
        for name, sign in asdict(page_symbols(ascii_only)).items():
            assert cell_len(sign) == 1, name
            assert sign.isascii() or not ascii_only, name
